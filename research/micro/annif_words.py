"""The words of an Annif project: texts as they are, stems of mlgt, or those of Annif's analyzer.

    pip install -e . ./integrations/annif
    MLGT_DATA=... python research/micro/annif_words.py [--out FILE]

4,000 training texts of YSO-Finna-en are held out, the others are trained on, with the names of all labels.
F1@5 and NDCG@10 are Annif's: means over texts. Annif's words are joined by blanks, in texts and in names.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

from annif_eval import read_subjects, read_texts
from common import machine, table
from mlgt import TextTagger
from mlgt.vocabulary import Vocabulary

HELD = 4_000


def vocabulary(names, prepare):
    """Labels u0, u1, ... with these names, each prepared; Annif tells subjects of one name apart."""
    uris = [f"u{l}" for l in range(len(names))]
    return Vocabulary(uris, [(uri,) for uri in uris], [(prepare(name) or name,) for name in names])


def measure(found, labels):
    """(F1@5, NDCG@10, P@1), each (n,)."""
    discount = 1 / np.log2(np.arange(2, 12))
    figures = []
    for row, own in zip(found, labels):
        hit = np.isin(row, own)
        f1 = 2 * hit[:5].sum() / (5 + len(own))
        figures.append((f1, (hit * discount).sum() / discount[: len(own)].sum(), hit[0]))
    return np.array(figures).T


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    data = Path(os.environ["MLGT_DATA"]) / "YSO-Finna-en"
    names = [name for _, name in read_subjects(data)]
    texts, labels = zip(*read_texts(data / "train"))
    order = np.random.RandomState(1).permutation(len(texts))
    held, fit = order[:HELD], order[HELD:]
    import annif.analyzer

    analyzer = annif.analyzer.get_analyzer("snowball(english)")
    began = time.process_time()
    joined = [" ".join(analyzer.tokenize_words(text)) for text in texts]
    tokenising = time.process_time() - began

    def trained(texts, prepare=str, **settings):
        began = time.process_time()
        tagger = TextTagger(vocabulary=vocabulary(names, prepare), random_state=0, **settings)
        tagger.fit([texts[i] for i in fit], [[f"u{l}" for l in labels[i]] for i in fit])
        cpu = time.process_time() - began
        found, _ = tagger.predict_topk([texts[i] for i in held], 10)
        return measure(found, [labels[i] for i in held]), cpu

    runs = {
        "words of the text": trained(texts),
        "mlgt's stems": trained(texts, language="en"),
        "mlgt's stems, ngram 2": trained(texts, language="en", words=2),
        "Annif's snowball(english)": trained(joined, lambda name: " ".join(analyzer.tokenize_words(name))),
    }
    first = runs["words of the text"][0]
    rows = []
    for name, (figures, cpu) in runs.items():
        shown = [f"{mean:.4f}" for mean in figures.mean(axis=1)]
        if figures is not first:
            change = 100 * (figures - first)
            error = change.std(axis=1) / HELD**0.5
            shown = [f"{mean:+.2f} ±{own:.2f}" for mean, own in zip(change.mean(axis=1), error)]
        rows.append((name, *shown, f"{cpu + tokenising * name.startswith('Annif'):.0f}"))
    text = f"# Words of an Annif project\n\n{machine()}.\n\n" + table(
        ("words", "F1@5", "NDCG@10", "P@1", "CPU s"), rows
    )
    print(text)
    if options.out:
        options.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
