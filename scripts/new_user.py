"""The path of a new user, by the shell and by Python, each step with its time.

    MLGT_DATA=... python scripts/new_user.py ENVIRONMENT [--rows 3000]

ENVIRONMENT is a folder of `python -m venv` with mlgt[serve] installed; nothing else of this repository is
used. The texts are titles and summaries of library records with subject headings (YSO-Finna-en), the
vocabulary has all 21,603 of these. Both passes begin without compiled code, so that their steps compile
what they use first.
"""

import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

SHELL = (
    ("demo", "mlgt demo --quiet"),
    ("train with a vocabulary", "mlgt train train.csv --labels labels --label-separator | "
     "--vocabulary labels.txt.gz --model subjects"),
    ("label new texts", "mlgt predict subjects new.csv --format csv --show id,name -o predicted.csv"),
    ("report, errors", "mlgt evaluate subjects test.csv --html report.html --errors errors.csv"),
    ("serve the page", None),
    ("teach five corrected texts", "mlgt update subjects corrected.csv --out subjects2"),
    ("evaluate again", "mlgt evaluate subjects2 test.csv"),
    ("compare", "mlgt compare subjects subjects2 test.csv --html compare.html"),
)  # fmt: skip

PYTHON = """
import csv, time
start = time.perf_counter()
def step(name):
    global start
    print(f"STEP {name}\\t{time.perf_counter() - start:.1f}", flush=True)
    start = time.perf_counter()
def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["labels"].split("|") for row in rows]

import mlgt
train, test = mlgt.datasets.load_debtags()
model = mlgt.MLGTClassifier(random_state=0).fit(train.X, train.Y)
best, _ = model.predict_topk(test.X, 5)
print("P@1 of the demo's data:", round(mlgt.metrics.precision_at(test.Y, best, 1), 4))
step("demo")
texts, labels = read("train.csv")
tagger = mlgt.TextTagger(vocabulary="labels.txt.gz", random_state=0).fit(texts, labels)
step("train with a vocabulary")
held, truth = read("test.csv")
found = tagger.predict(held)
step("label new texts")
right = sum(len(a & set(b)) for a, b in zip(found, truth))
print("right labels before:", right, "of", sum(map(len, found)))
tagger.save("subjects")
tagger = mlgt.load("subjects")
step("save and load")
from mlgt.data import Record
from mlgt.evaluation import evaluate_model, label_texts
from mlgt.report import evaluation_page
model = mlgt.Predictor(tagger)
report, _ = evaluate_model(model, label_texts(model, [Record(*pair) for pair in zip(held, truth)]))
with open("subjects.html", "w", encoding="utf-8") as file:
    file.write(evaluation_page("by Python", report))
print({name: round(report[name], 3) for name in ("P@1", "P@5", "F1", "calibration_error")})
step("report, errors")
print(tagger.explain(held[0], k=1))
step("explain")
wrong = [i for i in range(len(held)) if found[i] != set(truth[i])][:5]
tagger.extend([held[i] for i in wrong], [truth[i] for i in wrong])
print(tagger.checkup_)
step("teach five corrected texts")
found = tagger.predict(held)
right = sum(len(a & set(b)) for a, b in zip(found, truth))
print("right labels after:", right, "of", sum(map(len, found)))
learnt = sum(found[i] >= set(truth[i]) for i in wrong)
print("corrected texts with all their labels:", learnt, "of", len(wrong))
step("evaluate again")
"""

SERVE = "from mlgt.serve import Models, serve; serve(Models(['subjects']), port=0)"


def write_tables(folder, source, n_rows):
    """train.csv, test.csv with a sixth as many rows, new.csv without labels, and the vocabulary."""
    csv.field_size_limit(1 << 30)
    with gzip.open(source / "train.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [row for row, _ in zip(csv.DictReader(file), range(n_rows + n_rows // 6))]
    for name, own in (("train", rows[:n_rows]), ("test", rows[n_rows:])):
        write(folder / f"{name}.csv", ["text", "labels"], own)
    write(folder / "new.csv", ["text"], rows[n_rows:])
    (folder / "labels.txt.gz").write_bytes((source / "labels.txt.gz").read_bytes())


def write(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)


def correct(folder, count=5):
    """Keep the first errors, whose column `labels` is right already."""
    with (folder / "errors.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row, _ in zip(csv.DictReader(file), range(count))]
    write(folder / "corrected.csv", list(rows[0]), rows)


def serve(words, folder, env):
    """Start the service, open its page, label one text, and stop it."""
    with subprocess.Popen(
        words, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            said, address = [], None
            while address is None:
                line = process.stdout.readline()
                if not line:
                    raise SystemExit("".join(said))
                said.append(line)
                address = next((word for word in line.split() if word.startswith("http://")), None)
            address = address.rstrip(".,/")
            with urllib.request.urlopen(address, timeout=60) as page:
                assert b"<html" in page.read().lower()
            body = json.dumps({"text": "A history of forestry in Finland", "k": 3}).encode()
            kind = {"content-type": "application/json"}
            request = urllib.request.Request(f"{address}/v1/models/subjects/tag", body, kind)
            with urllib.request.urlopen(request, timeout=60) as answer:
                said.append(answer.read().decode()[:300])
        finally:
            process.terminate()
    return "".join(said)


def new_folder(folder, name, source, n_rows):
    """(folder with the tables, environment without compiled code) of a pass."""
    own = folder / name
    own.mkdir()
    write_tables(own, source, n_rows)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("MLGT", "PYTHON"))}
    return own, env | {"NUMBA_CACHE_DIR": str(own / "compiled"), "XDG_CACHE_HOME": str(own / "cache")}


def by_shell(scripts, folder, env):
    """Yield (step, seconds) of the commands."""
    for step, command in SHELL:
        start = time.perf_counter()
        print(f"\n--- {step}: {command or 'mlgt serve subjects'}", flush=True)
        if command is None:
            print(serve([scripts / "mlgt", "serve", "subjects", "--port", "0"], folder, env))
            correct(folder)
        else:
            words = [str(scripts / "mlgt"), *command.split()[1:]]
            done = subprocess.run(words, cwd=folder, env=env, text=True, capture_output=True)
            print(done.stderr + "\n".join(done.stdout.splitlines()[:12]))
            if done.returncode:
                sys.exit(f"{command} ended with {done.returncode}")
        yield step, f"{time.perf_counter() - start:.1f}"


def by_python(scripts, folder, env):
    """Yield (step, seconds) of the program, and of a service that Python starts."""
    print("\n--- the same from Python", flush=True)
    done = subprocess.run(
        [scripts / "python", "-c", PYTHON], cwd=folder, env=env, text=True, capture_output=True
    )
    for line in (done.stdout + done.stderr).splitlines():
        if line.startswith("STEP "):
            yield tuple(line[5:].split("\t"))
        else:
            print(line)
    if done.returncode:
        sys.exit(f"Python ended with {done.returncode}")
    start = time.perf_counter()
    print(serve([scripts / "python", "-c", SERVE], folder, env))
    yield "serve the page", f"{time.perf_counter() - start:.1f}"


def main(environment, source, n_rows):
    scripts = environment.resolve() / ("Scripts" if os.name == "nt" else "bin")
    with tempfile.TemporaryDirectory() as name:
        times = [
            (by, *step)
            for by, steps in (("shell", by_shell), ("Python", by_python))
            for step in steps(scripts, *new_folder(Path(name), by, source, n_rows))
        ]
    print("\n| by | step | seconds |\n|---|---|---|")
    print("\n".join(f"| {by} | {step} | {seconds} |" for by, step, seconds in times))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("environment", type=Path)
    parser.add_argument("--rows", type=int, default=3000)
    options = parser.parse_args()
    main(options.environment, Path(os.environ["MLGT_DATA"]) / "YSO-Finna-en", options.rows)
