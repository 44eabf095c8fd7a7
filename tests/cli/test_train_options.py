"""Every option of `mlgt train` changes the model or is refused, for rows and for texts alike."""

import json

import numpy as np
import pytest

from mlgt.cli import main
from mlgt.cli.main import make_parser

N_LABELS = 24
ABOUT_THE_RUN = {
    "--help", "--quiet", "--jobs", "--model", "--force", "--max-line", "--max-ratio", "--keep-work",
    "--scheduler",
}  # fmt: skip
"""Options that say where, how fast and within which limits, not what is trained."""
BLOCKS = ("--blocks", "2", "--budget", "0.4")
CASES = {  # option: (its arguments, what it needs beside it)
    "--seed": (["7"], ["--n-groups", "8"]),
    "--first-label": (["1"], []),
    "--first-feature": (["1"], []),
    "--label-names": (["names.txt"], []),
    "--feature-names": (["features.txt"], []),
    "--vocabulary": (["vocabulary.csv"], []),
    "--vocabulary-language": (["fi"], ["--vocabulary", "vocabulary.csv"]),
    "--vocabulary-only": ([], ["--vocabulary", "vocabulary.csv"]),
    "--text": (["title"], []),
    "--labels": (["other"], []),
    "--label-separator": (["|"], []),
    "--input": (["jsonl"], []),
    "--words": (["2"], []),
    "--characters": (["2-3"], []),
    "--min-df": (["3"], []),
    "--hashing": ([], []),
    "--language": (["en"], []),
    "--max-characters": (["12"], []),
    "--method": (["nmf-gt"], []),
    "--n-groups": (["8"], []),
    "--tail": (["1"], []),
    "--quality": (["high"], []),
    "--no-sample": ([], []),
    "--column-weight": (["2"], ["--n-groups", "8"]),
    "--groups": (["groups.txt"], []),
    "--blocks": (["2"], ["--budget", "0.4"]),
    "--budget": (["0.4"], ["--blocks", "2"]),
    "--partitioner": (["propagation"], BLOCKS),
    "--route": (["0.9"], BLOCKS),
    "--reordering": (["perm.txt", "blocks.txt"], []),
    "--partition": (["places.txt"], []),
}
REFUSED = {
    "rows": {"--text", "--labels", "--label-separator", "--input", "--words", "--characters", "--min-df"}
    | {"--hashing", "--language", "--max-characters"}
    | {"--vocabulary", "--vocabulary-language", "--vocabulary-only"},
    "texts": {"--first-label", "--first-feature", "--label-names", "--feature-names", "--input"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows and texts of 24 labels in two worlds, and the files that options name."""
    folder = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(0)
    rows, table = [], ["text,title,labels,other"]
    for _ in range(240):
        world = rng.integers(2)
        labels = np.sort(world * 12 + rng.choice(12, rng.integers(1, 4), replace=False))
        words = sorted({int(l) * 3 + int(rng.integers(3)) for l in labels} | {72 + int(rng.integers(8))})
        rows.append(
            f"{','.join(str(label + 1) for label in labels)} " + " ".join(f"{word + 1}:1" for word in words)
        )
        text = " ".join(f"word{word}" for word in words)
        names = ";".join(f"L{label:02d}" for label in labels)
        table.append(f"{text},{text.split()[0]} {text},{names},{names.split(';')[0]}")
    (folder / "rows.txt").write_text("\n".join([f"240 82 {N_LABELS + 1}", *rows]) + "\n")
    (folder / "texts.csv").write_text("\n".join(table) + "\n")
    (folder / "names.txt").write_text("\n".join(f"name {i}" for i in range(N_LABELS + 1)) + "\n")
    for kind, d in (("rows", N_LABELS + 1), ("texts", N_LABELS)):
        own = folder / kind
        own.mkdir()
        (own / "names.txt").write_text("\n".join(f"name {i}" for i in range(d)) + "\n")
        (own / "features.txt").write_text("\n".join(f"word {i}" for i in range(82)) + "\n")
        lines = [f"L{i:02d},english {i},suomi {i}" for i in range(5, 30)]
        (own / "vocabulary.csv").write_text("\n".join(["id,label_en,label_fi", *lines]) + "\n")
        (own / "groups.txt").write_text("\n".join(f"{i} {(i + 5) % d}" for i in range(d)) + "\n")
        (own / "places.txt").write_text("".join(f"{'left' if i < 12 else 'right'}\n" for i in range(d)))
        (own / "perm.txt").write_text("\n".join(str(i + 1) for i in range(d)) + "\n")
        (own / "blocks.txt").write_text(f"set1 = [1:12];\nset2 = [13:{d}];\n")
    return folder


def train(folder, kind, model, *options):
    """(exit status, the model as bytes)."""
    file = folder / {"rows": "rows.txt", "texts": "texts.csv"}[kind]
    status = main(["train", str(file), "--model", str(model), "--quiet", "--jobs", "1", *options])
    if status:
        return status, None
    header = json.loads((model / "model.json").read_text("utf-8"))
    arrays = {file.name: file.read_bytes() for file in sorted(model.rglob("*.npy"))}
    facts = (header[name] for name in ("params", "label_names", "feature_names", "n_groups"))
    return 0, (*facts, header.get("text"), arrays)


def test_every_option_is_here():
    options = make_parser("train")._subparsers._group_actions[0].choices["train"]._actions
    names = {action.option_strings[-1] for action in options if action.option_strings}
    assert names == set(CASES) | ABOUT_THE_RUN


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["rows", "texts"])
@pytest.mark.parametrize("option", CASES)
def test_an_option_changes_the_model_or_is_refused(option, kind, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(folder / kind)
    arguments, beside = CASES[option]
    status, changed = train(folder, kind, tmp_path / "with", option, *arguments, *beside)
    if option in REFUSED[kind]:
        assert status == 2
        assert "mlgt: " in capsys.readouterr().err
        return
    assert status == 0, capsys.readouterr().err
    before, plain = train(folder, kind, tmp_path / "without", *beside)
    if before == 0:  # an option that another one needs is compared with nothing
        assert changed != plain


@pytest.mark.parametrize("kind", ["rows", "texts"])
@pytest.mark.parametrize("option", ["--groups", "--partition", "--label-names"])
def test_files_that_do_not_exist_are_refused(option, kind, folder, tmp_path, capsys):
    status, _ = train(folder, kind, tmp_path / "m", option, str(tmp_path / "absent.txt"))
    assert status == 2
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("kind", ["rows", "texts"])
def test_a_partition_of_other_labels_is_refused(kind, folder, tmp_path, capsys):
    (tmp_path / "places.txt").write_text("left\nright\n")
    assert train(folder, kind, tmp_path / "m", "--partition", str(tmp_path / "places.txt"))[0] == 2
    assert "has 2 lines, but there are" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["rows", "texts"])
def test_very_many_labels_are_split_into_blocks(kind, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("mlgt.training.settings.MAX_FLAT_LABELS", 10)
    monkeypatch.setattr("mlgt.training.settings.LABELS_PER_BLOCK", 12)
    status, _ = train(folder, kind, tmp_path / "m")
    assert status == 0
    assert json.loads((tmp_path / "m" / "model.json").read_text())["class"] == "HierarchicalMLGTClassifier"


def test_he_nmfgt_needs_two_blocks(folder, tmp_path, capsys):
    assert train(folder, "rows", tmp_path / "m", "--method", "he-nmfgt", "--blocks", "1")[0] == 2
    assert "needs at least two blocks; with one it is --method nmf-gt" in capsys.readouterr().err


def test_messages_name_options_of_the_command(folder, tmp_path, capsys):
    assert train(folder, "rows", tmp_path / "m", "--blocks", "1", "--route", "0.1")[0] == 2
    assert "--route 0.1 has no effect with --blocks 1" in capsys.readouterr().err
