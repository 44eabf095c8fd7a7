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
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer

from mlgt.data import write_xmc

TEST_SHARE = 0.2


def write(folder, train, test, **options):
    """Write both parts, lists of (text, labels), without rows that have none of the words."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=3, dtype=np.float32, **options)
    words.fit(text for text, _ in train)
    names = MultiLabelBinarizer(sparse_output=True).fit(labels for _, labels in train)
    known = set(names.classes_)
    folder.mkdir(parents=True, exist_ok=True)
    for part, rows in (("train", train), ("test", test)):
        X = words.transform(text for text, _ in rows)
        Y = names.transform([known.intersection(labels) for _, labels in rows])
        kept = np.diff(X.indptr) > 0
        write_xmc(folder / f"{part}.txt.gz", X[kept], Y.astype(np.float32)[kept])
        print(folder.name, part, X[kept].shape, len(known), flush=True)


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
    write(options.folder / "yso-11-words", *first)
    write(options.folder / "yso-30000", train[:30_000], test[:8_000], stop_words="english")
    if options.packages:
        rows = packages_of(options.packages)
        order = np.random.RandomState(0).permutation(len(rows))
        last = int((1 - TEST_SHARE) * len(rows))
        parts = [[rows[i] for i in some] for some in (order[:last], order[last:])]
        write(options.folder / "debian-depends", *parts, stop_words="english")


if __name__ == "__main__":
    main()
