"""More data sets with short rows, to see whether the ratios to PECOS hold on them.

    MLGT_DATA=... python research/micro/short_rows.py FOLDER [--packages FILE]

FOLDER/yso-11-words has the first 11 words of each text of YSO-Finna-en; FOLDER/yso-30000 has 30,000 of its
texts without stop words, and 8,000 to test on. FILE is what `apt-cache dumpavail` printed on a Debian
system: FOLDER/debian-depends has the words of each package's name and description, and the packages that
it depends on. Rows are tf-idf with logarithmic counts, words that occur three times or more.
"""

import argparse
import csv
import gzip
import os
import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer

from mlgt.data import write_xmc

TEST_SHARE = 0.2


def write(folder, *parts):
    """Write the training rows and the test rows, each (X, Y), without rows that have no feature."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, (X, Y) in zip(("train", "test"), parts):
        X, Y = (sp.csr_array(some, dtype=np.float32) for some in (X, Y))
        kept = np.diff(X.indptr) > 0
        write_xmc(folder / f"{part}.txt.gz", X[kept], Y[kept])
        print(folder.name, part, X.shape, Y.shape, f"{X.nnz / X.shape[0]:.1f} features per row", flush=True)


def write_texts(folder, train, test, words=None):
    """Write lists of (text, labels) with features by `words`, with `tf_idf()` if it is None."""
    words = tf_idf() if words is None else words
    words.fit(text for text, _ in train)
    names = MultiLabelBinarizer(sparse_output=True).fit(labels for _, labels in train)
    known = set(names.classes_)
    texts, labels = zip(*(zip(*rows) for rows in (train, test)))
    Y = [names.transform([known.intersection(own) for own in part]) for part in labels]
    write(folder, *zip(map(words.transform, texts), Y))


def tf_idf(**options):
    """TF-IDF with logarithmic counts of words that occur three times or more."""
    return TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **{"min_df": 3, **options})


def texts_of(part):
    """(text, labels) of YSO-Finna-en."""
    path = Path(os.environ["MLGT_DATA"]) / "YSO-Finna-en" / f"{part}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [(row["text"], row["labels"].split("|")) for row in csv.DictReader(file)]


def packages_of(path):
    """(words, dependencies) of Debian's packages."""
    rows = []
    for block in path.read_text("utf-8", errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Depends|Description): ?(.*)$", block, re.MULTILINE))
        names = {re.split(r"[ (|:]", one.strip())[0] for one in fields.get("Depends", "").split(",")} - {""}
        if names:
            text = f"{fields.get('Description', '')} {fields['Package'].replace('-', ' ')}"
            rows.append((text, sorted(names)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--packages", type=Path)
    options = parser.parse_args()
    train, test = texts_of("train"), texts_of("test")
    first = [[(" ".join(text.split()[:11]), labels) for text, labels in part] for part in (train, test)]
    write_texts(options.folder / "yso-11-words", *first)
    write_texts(options.folder / "yso-30000", train[:30_000], test[:8_000], tf_idf(stop_words="english"))
    if options.packages:
        rows = packages_of(options.packages)
        order = np.random.RandomState(0).permutation(len(rows))
        last = int((1 - TEST_SHARE) * len(rows))
        parts = [[rows[i] for i in some] for some in (order[:last], order[last:])]
        write_texts(options.folder / "debian-depends", *parts, tf_idf(stop_words="english"))


if __name__ == "__main__":
    main()
