"""Texts of made-up words in several Parquet files, for `peak.py`.

    python research/micro/parts.py OUT [--rows 60000] [--words 400] [--labels 1000] [--parts 8]

The words of a text are the features of a row of `mlgt synth`. `pip install pyarrow` first.
"""

import argparse
from pathlib import Path

from mlgt.data.synth import make


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    for name, value in {"rows": 60_000, "words": 400, "labels": 1000, "parts": 8}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    import pyarrow as pa  # an extra of mlgt
    from pyarrow import parquet

    given.out.mkdir(parents=True)
    sizes = {"rows": given.rows, "test_rows": 1, "features": 20_000, "labels": given.labels}
    train, _ = make(**sizes, words_per_row=given.words)
    X, Y = train.X, train.Y
    words, labels = [f"w{j}" for j in range(X.shape[1])], [f"l{j}" for j in range(Y.shape[1])]
    for part in range(given.parts):
        span = range(part * given.rows // given.parts, (part + 1) * given.rows // given.parts)
        texts = [" ".join(words[j] for j in X.indices[X.indptr[i] : X.indptr[i + 1]]) for i in span]
        lists = [[labels[j] for j in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]] for i in span]
        table = pa.table({"text": texts, "labels": lists})
        parquet.write_table(table, given.out / f"part-{part}.parquet", row_group_size=1024)


if __name__ == "__main__":
    main()
