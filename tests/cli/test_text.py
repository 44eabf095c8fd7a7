"""The command line on texts: names out, streams answered line by line, unknown labels counted."""

import gzip
import io
import json
import re
import subprocess
import sys

import pytest

import mlgt
from mlgt.cli import main
from mlgt.data import write_xmc


@pytest.fixture(scope="module")
def folder(stories, tmp_path_factory):
    """train.jsonl, test.csv with other columns and labels, and a model."""
    folder = tmp_path_factory.mktemp("texts")
    texts, lists = stories
    rows = [json.dumps({"text": text, "labels": labels}) for text, labels in zip(texts[:600], lists)]
    (folder / "train.jsonl").write_text("\n".join(rows))
    lines = [f'{i},{text},"{"|".join([*labels, "new"][: 3 - i % 2])}"' for i, (text, labels) in
             enumerate(zip(texts[600:], lists[600:]))]  # fmt: skip
    (folder / "test.csv").write_text("id,title,subjects\n" + "\n".join(lines))
    assert main(["train", str(folder / "train.jsonl"), "--model", str(folder / "model")]) == 0
    return folder


CSV = ["--text", "title", "--labels", "subjects", "--label-separator", "|"]


def test_train_makes_the_librarys_tagger(folder, stories):
    ours = mlgt.TextTagger(random_state=0).fit(stories[0][:600], stories[1][:600])
    theirs = mlgt.load(folder / "model")
    assert theirs.tag(stories[0][600:]) == ours.tag(stories[0][600:])


def test_predict_prints_names(folder, capsys, tmp_path):
    (tmp_path / "new.txt").write_text("our cat\n\nStraße, dog\n", "utf-8")
    assert main(["predict", str(folder / "model"), str(tmp_path / "new.txt"), "-k", "auto"]) == 0
    first, empty, both = capsys.readouterr().out.split("\n")[:-1]
    assert re.fullmatch(r"cats:0\.\d+", first)
    assert empty == ""
    assert sorted(pair.rsplit(":", 1)[0] for pair in both.split("\t")) == ["Füße & Maße", "dogs"]

    out = tmp_path / "out.jsonl"
    arguments = ["--format", "jsonl", "-k", "99", "-o", str(out)]
    assert (
        main(["predict", str(folder / "model"), str(folder / "test.csv"), "--text", "title", *arguments])
        == 0
    )
    rows = [json.loads(line)["predicted"] for line in out.read_text("utf-8").splitlines()]
    assert len(rows) == 100
    assert {label["name"] for label in rows[0]} == {"cats", "dogs", "law, civil", "Füße & Maße"}


def test_predicting_texts_does_not_wait_for_scikit_learn(folder, tmp_path):
    (tmp_path / "new.txt").write_text("our cat\nStraße\n", "utf-8")
    code = (
        "import sys; from mlgt.cli import main; main(sys.argv[1:]); "
        "print([m for m in ('sklearn', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, "predict", folder / "model", tmp_path / "new.txt"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "[]"


def test_evaluate_counts_unknown_labels_as_missed(folder, capsys, stories):
    arguments = ["evaluate", str(folder / "model"), str(folder / "test.csv"), *CSV]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    lists = [[*labels, "new"][: 3 - i % 2] for i, labels in enumerate(stories[1][600:])]
    unknown = sum("new" in labels for labels in lists)
    assert (report["n_unknown_labels"], report["n_unknown_occurrences"]) == (1, unknown)
    assert report["unknown_labels"] == ["new"]
    found = mlgt.load(folder / "model").tag(stories[0][600:], k=4)
    hits = [len({name for name, _ in row} & set(labels)) / len({*labels}) if labels else 0
            for row, labels in zip(found, lists)]  # fmt: skip
    assert report["recall@5"] == pytest.approx(sum(hits) / 100)
    assert main(arguments) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        f"1 labels of the file are unknown to the model and count as missed, {unknown} times: new." in said
    )


def test_evaluate_names_labels_the_model_does_not_know(folder, capsys, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["evaluate", str(folder / "model"), str(folder / "test.csv"), *CSV]
    assert main([*arguments, "--json", "--html", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)["diagnosis"]
    (unknown,) = [label for label in found["worst_labels"] if label["id"] == 4]
    assert (unknown["name"], unknown["predicted"]) == ("new", 0)
    assert all("name" in label for error in found["errors"] for label in error["missed"])
    assert "<td>new</td>" in page.read_text("utf-8")
    assert main(arguments) == 0
    assert re.search(r"^ new +\d+ +0 +0 ", capsys.readouterr().out, flags=re.M)


def test_the_model_remembers_the_columns(folder, tmp_path, capsys):
    model = str(tmp_path / "m")
    assert main(["train", str(folder / "test.csv"), "--model", model, *CSV]) == 0
    assert main(["evaluate", model, str(folder / "test.csv"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["n_unknown_labels"] == 0
    assert main(["inspect", model, "--verify"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "columns text: title; labels: subjects" in said
    assert re.search(r"most frequent .*new \(\d+\)", said)
    assert re.search(r"words \d+ terms, runs of 1", said)


def test_a_stream_is_answered_line_by_line(folder):
    """The answer to a line arrives before the next line is sent."""
    command = [sys.executable, "-m", "mlgt", "predict", folder / "model", "-", "--format", "jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for text, name in (("a cat", "cats"), ("a dog", "dogs"), ("the judge", "law, civil")):
            process.stdin.write(json.dumps({"text": text}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["predicted"][0]["name"] == name
        process.stdin.close()
        assert process.wait() == 0


def test_a_bad_line_of_a_stream_comes_after_the_answers_before_it(folder):
    command = [sys.executable, "-m", "mlgt", "predict", folder / "model", "-"]
    done = subprocess.run(command, input='{"text": "cat"}\nnonsense\n', capture_output=True, text=True)
    assert done.returncode == 2
    assert "standard input, line 2: this is not JSON" in done.stderr
    assert 'expected an object like {"text": "..."} on each line' in done.stderr
    assert done.stderr.count("\n") == 1


def test_memory_does_not_grow_with_the_stream(folder, tmp_path):
    """40 MB of lines pass through; the process may not keep them."""
    pytest.importorskip("resource", reason="peak memory is measured on Unix")
    code = (
        "import resource, sys; from mlgt.cli import main; status = main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(status)"
    )
    command = [sys.executable, "-c", code, "predict", folder / "model", "-", "-k", "1", "--quiet"]
    peaks = []
    for count in (1000, 20_000):
        with open(tmp_path / "lines", "wb") as file:
            file.writelines([b"cat " + b"x" * 2000 + b"\n"] * count)
        with open(tmp_path / "lines", "rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True)
        assert done.stdout.count(b"cats:") == count
        peaks.append(int(done.stderr))
    assert peaks[1] - peaks[0] < 20_000


def test_training_from_standard_input_packed(folder, tmp_path):
    content = gzip.compress((folder / "train.jsonl").read_bytes())
    command = [sys.executable, "-m", "mlgt", "train", "-", "--model", tmp_path / "m", "--quiet"]
    done = subprocess.run(command, input=content, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "m" / "coef.npy").read_bytes() == (folder / "model" / "coef.npy").read_bytes()


def test_options_of_the_terms(folder, tmp_path):
    model = ["--model", str(tmp_path / "m")]
    options = ["--words", "2", "--characters", "2-3", "--min-df", "2"]
    assert main(["train", str(folder / "train.jsonl"), *model, *options]) == 0
    tagger = mlgt.load(tmp_path / "m")
    assert (tagger.words, tagger.characters, tagger.min_df) == (2, (2, 3), 2)
    assert main(["train", str(folder / "train.jsonl"), *model, "--hashing", "--force"]) == 0
    assert mlgt.load(tmp_path / "m").features_.parts[0].terms is None


def test_languages_are_reported_and_inspected(folder, tmp_path, capsys):
    train = ["train", str(folder / "train.jsonl"), "--model", str(tmp_path / "m")]
    assert main([*train, "--language", "auto", "--max-characters", "30"]) == 0
    assert main(["inspect", str(tmp_path / "m")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"stems of english \(\d+% of the texts\)", said)
    assert "characters of a text the first 30" in said
    assert main([*train, "--language", "de,en", "--force"]) == 0
    tagger = mlgt.load(tmp_path / "m")
    assert (tagger.language, tagger.features_.analyzer.languages) == (["de", "en"], ("german", "english"))


def test_a_wrong_separator_is_warned_about(tmp_path, capsys):
    rows = "".join(f'cat number {i},"pets,animals"\n' for i in range(9))
    (tmp_path / "x.csv").write_text("text,labels\n" + rows)
    assert main(["train", str(tmp_path / "x.csv"), "--model", str(tmp_path / "m")]) == 0
    assert "pass --label-separator ','" in capsys.readouterr().err


BAD_REQUESTS = {
    "no-column": (["train", "{test}", "--model", "{new}"], "Choose by name where the text is: --text NAME"),
    "no-label-column": (["train", "{test}", "--model", "{new}", "--text", "title"], "are: --labels NAME."),
    "names-of-labels": (["train", "{train}", "--model", "{new}", "--label-names", "x"],
                        "--label-names has no effect"),
    "first-label": (["predict", "{model}", "{train}", "--first-label", "1"], "--first-label has no effect"),
    "features-for-texts": (["evaluate", "{model}", "{xmc}"], "not recognised as texts with labels"),
    "features-to-tag": (["predict", "{model}", "{xmc}"], "holds rows of features, but the model in"),
    "texts-to-grow": (["update", "{rows}", "{train}", "--out", "{new}"], "was trained on rows of features"),
    "texts-for-features": (["predict", "{rows}", "{train}"], "was trained on rows of features"),
    "terms-of-features": (["train", "{xmc}", "--model", "{new}", "--words", "2"], "--words has no effect"),
    "columns-of-features": (["train", "{xmc}", "--model", "{new}", "--input", "xmc", "--text", "a"],
                            "--text has no effect"),
    "lines-to-learn": (["train", "{xmc}", "--model", "{new}", "--input", "lines"],
                       "lines of text have no labels"),
    "no-language": (["train", "{train}", "--model", "{new}", "--language", "xx"], "--language xx has no"),
    "no-terms": (["train", "{train}", "--model", "{new}", "--words", "0"], "--words 0 and --characters"),
    "rare-terms": (["train", "{train}", "--model", "{new}", "--min-df", "9999"], "Pass a smaller --min-df"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_gives_one_clear_message(name, folder, tmp_path, capsys):
    arguments, message = BAD_REQUESTS[name]
    (tmp_path / "xmc.txt").write_text("3 2 2\n0 0:1\n1 1:1\n0,1 0:1 1:1\n")
    if "{rows}" in arguments:
        assert main(["train", str(tmp_path / "xmc.txt"), "--model", str(tmp_path / "rows"), "--quiet"]) == 0
    places = {
        "train": folder / "train.jsonl", "test": folder / "test.csv", "model": folder / "model",
        "xmc": tmp_path / "xmc.txt", "rows": tmp_path / "rows", "new": tmp_path / "new",
    }  # fmt: skip
    assert main([argument.format(**places) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "new").exists()


# ---- explain, among ----


def test_explain_lists_words_that_add_up(folder, capsys):
    arguments = ["explain", str(folder / "model"), "our cat saw the judge", "-k", "2"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {label["name"] for label in found["labels"]} == {"cats", "law, civil"}
    for label in found["labels"]:
        assert label["bias"] + sum(share for _, share in label["words"]) == pytest.approx(label["margin"])
        parts = [evidence["contribution"] for evidence in label["evidence"]]
        assert label["intercept"] + sum(parts) == pytest.approx(label["score"], abs=1e-5)
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert re.search(r"cats: probability 0\.\d+\n    \[-our\] \[\+cat\] saw", said)
    assert "Parts of the score" not in said
    assert main([*arguments, "--verbose"]) == 0
    assert re.search(r"cats .* cat \+\d\.\d\d", capsys.readouterr().out)
    assert main(["explain", str(folder / "model"), "qqq"]) == 0
    assert "no word that the model knows" in capsys.readouterr().out


def test_explain_a_row_of_a_file(folder, capsys, tmp_path, topics):
    row = ["--row", f"{folder / 'test.csv'}:1", "--text", "title", "--json"]
    assert main(["explain", str(folder / "model"), *row]) == 0
    assert json.loads(capsys.readouterr().out)["labels"]
    write_xmc(tmp_path / "rows.txt", *topics[0])
    model = str(tmp_path / "m")
    settings = ["--n-groups", "20", "--column-weight", "5"]
    assert main(["train", str(tmp_path / "rows.txt"), "--model", model, *settings]) == 0
    assert main(["explain", model, "--row", f"{tmp_path / 'rows.txt'}:400", "--verbose"]) == 0
    said = capsys.readouterr().out
    assert "feature " in said
    assert "labels in it" in said
    (tmp_path / "names.txt").write_text("\n".join(f"word-{j}" for j in range(120)))
    named = ["--row", f"{tmp_path / 'rows.txt'}:400", "--feature-names", str(tmp_path / "names.txt")]
    assert main(["explain", model, *named]) == 0
    assert re.search(r"for it: word-\d+", capsys.readouterr().out)
    assert main(["explain", str(folder / "model"), "cat", *named[2:]]) == 2
    assert "no effect with texts" in capsys.readouterr().err
    for wrong, message in {":1": "is not FILE:N", f"{tmp_path / 'rows.txt'}:401": "has no row 401"}.items():
        assert main(["explain", model, "--row", wrong]) == 2
        assert message in capsys.readouterr().err
    assert main(["explain", model, "a text"]) == 2
    assert "pass --row FILE:N" in capsys.readouterr().err
    assert main(["explain", model]) == 2


def test_explain_shows_where_words_stand(folder, capsys):
    text = "Our ＣＡＴ: saw the judge"
    assert main(["explain", str(folder / "model"), text, "--json"]) == 0
    spans = json.loads(capsys.readouterr().out)["spans"]
    assert [text[i:j] for i, j, _ in spans] == ["Our", "ＣＡＴ", "the", "judge"]
    assert [word for *_, word in spans] == ["our", "cat", "the", "judge"]


def test_a_page_explains_the_whole_text(folder, capsys, tmp_path):
    text = "our cat <i>purr</i> " + "and so on " * 200 + "the judge"
    page = tmp_path / "why.html"
    assert main(["explain", str(folder / "model"), text, "-k", "1", "--html", str(page)]) == 0
    said, written = capsys.readouterr().out, page.read_text("utf-8")
    assert len(said) < 1500
    assert "…" in said
    assert "&lt;i&gt;" in written
    assert "<i>" not in written
    assert written.count("so on") == 200


def test_a_text_to_explain_from_a_pipe(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"our cat\nsaw it"))))
    assert main(["explain", str(folder / "model"), "-", "-k", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"][0]["name"] == "cats"


def test_predict_among(folder, capsys, tmp_path):
    (tmp_path / "among.txt").write_text("dogs\nlaw, civil\n\n")
    (tmp_path / "new.txt").write_text("our cat and a dog\n")
    arguments = ["predict", str(folder / "model"), str(tmp_path / "new.txt"), "--among"]
    assert main([*arguments, str(tmp_path / "among.txt")]) == 0
    names = [pair.rsplit(":", 1)[0] for pair in capsys.readouterr().out.strip().split("\t")]
    assert names == ["dogs", "law, civil"]
    assert main([*arguments, str(tmp_path / "new.txt")]) == 2
    assert "'our cat and a dog' is no label of this model" in capsys.readouterr().err
