"""Data sets of other kinds from those at hand, to see whether precision and cost hold on them.

    MLGT_DATA=... python research/micro/variants.py FOLDER

FOLDER then has data sets for `default.py`. From the texts of YSO-Finna-en, with TF-IDF and logarithmic
counts: yso-binary (no weights), yso-bigrams, yso-chars (runs of 3 to 5 characters, 20,000 rows),
yso-2000rows, and yso-one-label (the first heading of each text alone). From the rows of other sets: the
most frequent labels with all rows (NAME-top1000), and EURLex-svd256, EURLex-4K's rows as 256 numbers.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

from mlgt.data.datasets import load
from short_rows import texts_of, tf_idf, write, write_texts

TOP = (("YSO-Finna-en", 1000), ("YSO-Finna-en", 3000), ("WordNet-hypernyms", 2000), ("EURLex-4K", 300))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    train, test = texts_of("train"), texts_of("test")
    characters = tf_idf(analyzer="char_wb", ngram_range=(3, 5), max_features=300_000)
    one_label = ([(text, labels[:1]) for text, labels in part] for part in (train, test))
    write_texts(folder / "yso-binary", train, test, CountVectorizer(binary=True, min_df=3))
    write_texts(folder / "yso-chars", train[:20_000], test[:5_000], characters)
    write_texts(folder / "yso-bigrams", train, test, tf_idf(ngram_range=(1, 2)))
    write_texts(folder / "yso-2000rows", train[:2_000], test[:5_000], tf_idf(min_df=2))
    write_texts(folder / "yso-one-label", *one_label, tf_idf())
    for name, count in TOP:
        parts = load(name)
        frequent = np.argsort(-np.asarray(parts[0].Y.sum(axis=0)).ravel(), kind="stable")[:count]
        own = ((part.X, part.Y[:, np.sort(frequent)]) for part in parts)
        write(folder / f"{name}-top{count}", *own)
    rows, other = load("EURLex-4K")
    numbers = TruncatedSVD(256, random_state=0).fit(rows.X)
    write(folder / "EURLex-svd256", *((numbers.transform(part.X), part.Y) for part in (rows, other)))


if __name__ == "__main__":
    main()
