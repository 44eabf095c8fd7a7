"""Annif's own commands on the texts of YSO-Finna-en: mlgt beside omikuji Bonsai, MLLM and their ensemble.

    pip install -e . ./integrations/annif "annif[omikuji]"
    MLGT_DATA=... python research/micro/annif_eval.py --folder WORK [--out FILE] [STEP ...]

writes a vocabulary, corpora and projects.cfg into WORK and runs `annif load-vocab`, `train`, `hyperopt`,
`learn` and `eval` there. Annif's analyzers need NLTK's punkt_tab, which they fetch when first used.

The last HELD training documents, in random order, are held out. The projects are trained on the others. The
weights of an ensemble are those of `annif hyperopt` on TUNED of those held out. All are evaluated on the
same TEST random test documents. MLLM is trained on the first MLLM_DOCUMENTS: Annif's documentation advises
a few thousand. `learn` teaches mlgt 500 of the held-out documents; `limit` asks it for 1000 suggestions
instead of 100. CPU is that of the command with all its processes. Each step keeps its figures in
WORK/figures.json, so that steps may be run one at a time.
"""

import argparse
import csv
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import machine, table

HELD, TUNED, TEST, MLLM_DOCUMENTS, LEARNT = 4_000, 1_500, 5_000, 5_000, 500
URI = "http://example.org/yso/{}"
CONFIG = """
[mlgt]
name=mlgt
language=en
backend=mlgt
analyzer=snowball(english)
vocab=yso
limit=100
allow_learn=true

[bonsai]
name=omikuji Bonsai
language=en
backend=omikuji
analyzer=snowball(english)
vocab=yso
limit=100
cluster_balanced=False
cluster_k=100
max_depth=3
min_df=2

[mllm]
name=MLLM
language=en
backend=mllm
analyzer=snowball(english)
vocab=yso
limit=100

[ensemble]
name=Bonsai and MLLM
language=en
backend=ensemble
vocab=yso
limit=100
sources={sources}

[mlgt-mllm]
name=mlgt and MLLM
language=en
backend=ensemble
vocab=yso
limit=100
sources={sources_mlgt}
"""
MEASURES = ("F1@5", "NDCG", "Precision@1", "Precision@3", "Precision@5")


def read_subjects(data):
    """(id, name) of each label."""
    with gzip.open(data / "labels.txt.gz", "rt", encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")[:2]) for line in file]


def read_texts(path):
    """Texts and their labels; those come from the rows of features, as a few names have two ids."""
    csv.field_size_limit(1 << 30)
    with (
        gzip.open(f"{path}.csv.gz", "rt", encoding="utf-8", newline="") as texts,
        gzip.open(f"{path}.txt.gz", "rt", encoding="utf-8") as rows,
    ):
        next(rows)
        for record, row in zip(csv.DictReader(texts), rows):
            yield record["text"], [int(label) for label in row.split(" ", 1)[0].split(",")]


def write_corpora(data, folder):
    """vocab.tsv, train.tsv, held.tsv, learnt.tsv and test.tsv in Annif's formats."""
    subjects = [(f"<{URI.format(id)}>", name) for id, name in read_subjects(data)]
    (folder / "vocab.tsv").write_text("".join(f"{uri}\t{name}\n" for uri, name in subjects), "utf-8")

    def shuffled(part):
        lines = [
            f"{' '.join(text.split())}\t{' '.join(subjects[label][0] for label in labels)}\n"
            for text, labels in read_texts(data / part)
        ]
        return [lines[i] for i in np.random.default_rng(0).permutation(len(lines))]

    train, test = shuffled("train"), shuffled("test")
    parts = {"train": train[:-HELD], "held": train[-HELD:], "learnt": train[-LEARNT:], "test": test[:TEST]}
    for part, own in parts.items():
        (folder / f"{part}.tsv").write_text("".join(own), "utf-8")
    return {part: len(own) for part, own in parts.items()}


class Runner:
    """Annif's command in a folder, with the figures of earlier steps."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "figures.json"
        self.figures = json.loads(self.file.read_text()) if self.file.is_file() else {}

    def keep(self, **figures):
        self.figures |= figures
        self.file.write_text(json.dumps(self.figures, indent=1))

    def configure(self):
        sources = {
            "sources": self.figures.get("ensemble weights", "bonsai,mllm"),
            "sources_mlgt": self.figures.get("mlgt-mllm weights", "mlgt,mllm"),
        }
        (self.folder / "projects.cfg").write_text(CONFIG.format(**sources))

    def annif(self, *arguments):
        """(output, CPU seconds) of a command."""
        command = [str(Path(sys.executable).with_name("annif")), *map(str, arguments)]
        print("$ annif", *arguments, flush=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def train(self, project, *options):
        _, cpu = self.annif("train", project, "train.tsv", *options)
        self.keep(**{f"{project} training CPU": cpu})

    def evaluate(self, project, name=None, *options):
        metrics = [part for measure in MEASURES for part in ("-m", measure)]
        target = f"{name or project}.json"
        _, cpu = self.annif("eval", project, "test.tsv", *metrics, "-M", target, *options)
        found = json.loads((self.folder / target).read_text())
        found = {key.replace("_at_", "@"): value for key, value in found.items()}
        self.keep(**{name or project: found, f"{name or project} evaluation CPU": cpu})
        print(json.dumps(found), flush=True)

    def weights(self, project):
        options = ("--docs-limit", TUNED, "--trials", 15, "--metric", "NDCG")
        output, cpu = self.annif("hyperopt", project, "held.tsv", *options)
        (line,) = [line for line in output.splitlines() if line.startswith("sources=")]
        self.keep(**{f"{project} weights": line.removeprefix("sources="), f"{project} hyperopt CPU": cpu})
        self.configure()


def steps(runner, data):
    """What can be done, by name, in this order."""

    def prepare():
        runner.keep(documents=write_corpora(data, runner.folder))
        runner.configure()
        runner.annif("load-vocab", "--language", "en", "yso", "vocab.tsv")

    def mlgt():
        runner.train("mlgt")
        runner.evaluate("mlgt")

    def bonsai():
        runner.train("bonsai")
        runner.evaluate("bonsai")

    def mllm():
        runner.train("mllm", "--docs-limit", MLLM_DOCUMENTS)
        runner.evaluate("mllm")

    def ensemble():
        runner.weights("ensemble")
        runner.evaluate("ensemble")

    def mlgt_mllm():
        runner.weights("mlgt-mllm")
        runner.evaluate("mlgt-mllm")

    def limit():
        runner.evaluate("mlgt", "mlgt, limit 1000", "-b", "mlgt.limit=1000")

    def learn():
        model = runner.folder / "data" / "projects" / "mlgt"
        shutil.rmtree(model.with_name("before"), ignore_errors=True)
        shutil.copytree(model, model.with_name("before"))
        _, cpu = runner.annif("learn", "mlgt", "learnt.tsv")
        runner.keep(**{"learn CPU": cpu})
        runner.evaluate("mlgt", f"mlgt, {LEARNT} documents learnt")
        shutil.rmtree(model)
        model.with_name("before").rename(model)

    def report():
        """Only the table of what was measured before."""

    found = (prepare, mlgt, bonsai, mllm, ensemble, mlgt_mllm, limit, learn, report)
    return {step.__name__: step for step in found}


def show(figures):
    """The figures as a Markdown table."""
    rows = []
    for name, found in figures.items():
        if isinstance(found, dict) and "NDCG" in found:
            values = [f"{found[measure]:.4f}".lstrip("0") for measure in MEASURES]
            cpu = figures.get(f"{name} training CPU")
            rows.append((name, *values, "" if cpu is None else f"{cpu:.0f}"))
    return table(("project", *MEASURES, "training, CPU s"), rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="default: all")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(options.folder)
    every = steps(runner, Path(os.environ["MLGT_DATA"]) / "YSO-Finna-en")
    for name in options.steps or every:
        every[name]()
    from importlib.metadata import version

    weights = [f"{name}: {value}" for name, value in runner.figures.items() if name.endswith(" weights")]
    counts = ", ".join(f"{count} {part}" for part, count in runner.figures["documents"].items())
    text = "\n\n".join(
        (
            "# Inside Annif, on the texts of YSO-Finna-en",
            f"Annif {version('annif')}, omikuji {version('omikuji')}; {machine()}. Documents: {counts}; "
            f"MLLM is trained on {MLLM_DOCUMENTS}.",
            show(runner.figures),
            "\n".join(f"- {line}" for line in weights),
        )
    )
    print(text)
    if options.out:
        options.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
