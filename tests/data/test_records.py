"""Texts and labels from files, and errors in such files."""

import csv
import gzip
import io
import json
import sys

import pytest

from mlgt._core.errors import DataFormatError, MLGTError
from mlgt.data import Columns, Record, RecordFile, looks_like_rows, recognise

ROWS = [("a cat\nand a dog", ["pets", "law, civil"]), ("", []), ('"quoted", naïve\ttext', ["x"])]


def written(form, rows=ROWS, columns=("text", "labels"), separator=";"):
    """The bytes of a file of this form."""
    if form == "jsonl":
        return "".join(json.dumps(dict(zip(columns, row))) + "\n" for row in rows).encode()
    if form == "parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
        from pyarrow import parquet

        out = io.BytesIO()
        text, labels = zip(*rows)
        parquet.write_table(pyarrow.table({columns[0]: text, columns[1]: labels}), out)
        return out.getvalue()
    out = io.StringIO()
    table = csv.writer(out, delimiter="\t" if form == "tsv" else ",")
    table.writerow(columns)
    table.writerows((text, separator.join(labels)) for text, labels in rows)
    return out.getvalue().encode()


def read(path, form=None, columns=None, labelled=True):
    return list(RecordFile(path, form or recognise(path, columns), columns, labelled=labelled))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "parquet"])
def test_every_form_gives_the_same_records(form, packed, tmp_path):
    content = written(form)
    path = tmp_path / (f"rows.{form}" + ".gz" * packed)
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read(path) == [Record(*row) for row in ROWS]
    assert read(path, labelled=False) == [Record(text, None) for text, _ in ROWS]
    nameless = tmp_path / "rows"
    path.rename(nameless)
    assert recognise(nameless) == form


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "parquet"])
def test_columns_by_name(form, tmp_path):
    columns = Columns(("title",), "subjects", "|" if form in ("csv", "tsv") else None)
    (tmp_path / "x").write_bytes(written(form, columns=("title", "subjects"), separator="|"))
    assert read(tmp_path / "x", columns=columns) == [Record(*row) for row in ROWS]


def test_several_columns_make_one_text(tmp_path):
    (tmp_path / "x.csv").write_text("title,id,abstract,labels\nA,1,B,x\nC,2,,\n")
    columns = Columns(("title", "abstract"))
    assert read(tmp_path / "x.csv", columns=columns) == [("A\nB", ["x"]), ("C", [])]
    (tmp_path / "x.jsonl").write_text(
        '{"title": "A", "abstract": null, "labels": null}\n\n{"abstract": 7, "labels": [1]}'
    )
    assert read(tmp_path / "x.jsonl", columns=columns) == [("A", []), ("7", ["1"])]


def test_columns_between_semicolons(tmp_path):
    (tmp_path / "x.csv").write_text('id;text;labels\n1;"a; b, c";"x;y"\n2;d, e;z\n')
    assert read(tmp_path / "x.csv", "csv") == [("a; b, c", ["x", "y"]), ("d, e", ["z"])]
    (tmp_path / "x.csv").write_text("text\none; two\n")
    found = list(RecordFile(tmp_path / "x.csv", "csv"))
    assert [record.text for record in found] == ["one; two"]


def test_plain_lines_are_texts_and_empty_ones_too(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"\xef\xbb\xbfa b\r\n\n{c\nd")
    assert recognise(tmp_path / "x.txt") is None
    assert [record.text for record in RecordFile(tmp_path / "x.txt", "lines")] == ["a b", "", "{c", "d"]


def test_rows_of_features_are_not_ours(tmp_path):
    (tmp_path / "x.txt").write_text("2 3 3\n0 1:1\n1 2:1\n")
    assert recognise(tmp_path / "x.txt") is None


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("2 3 4\n0,2 1:0.5\n", True),
        ("2 3 4\n 1:0.5\n", True),
        ("7 1:2 2:-1\n", True),
        ("2 3 4\nmore text\n", False),
        ("12 angry men at 10:30\n", False),
        ("", False),
    ],
)
def test_rows_are_distinguished_from_plain_texts(content, rows, tmp_path):
    (tmp_path / "x").write_text(content)
    assert looks_like_rows(tmp_path / "x") is rows


def test_labels_in_one_json_text_need_a_separator(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": "a", "labels": "x, y,"}\n')
    assert read(tmp_path / "x.jsonl", columns=Columns(separator=",")) == [("a", ["x", "y"])]
    with pytest.raises(DataFormatError, match="'labels' is a text; expected a list of names"):
        read(tmp_path / "x.jsonl")


def test_standard_input_packed_or_not(monkeypatch):
    for content in (written("jsonl"), gzip.compress(written("jsonl"))):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", stream)
        assert recognise("-") == "jsonl"
        assert read("-") == [Record(*row) for row in ROWS]


def test_batches_hold_what_is_there(tmp_path):
    (tmp_path / "x").write_bytes(b"line\n" * 2500)
    sizes = [len(batch) for batch in RecordFile(tmp_path / "x", "lines").batches()]
    assert sum(sizes) == 2500
    assert 1 < max(sizes) <= 1024


BAD = {
    "no-json": (
        b'{"text": "a", "labels": []}\n{"text": \n',
        "line 2: this is not JSON (Expecting value",
        "jsonl",
    ),
    "a-list": (
        b'["a"]\n',
        'line 1: this is a list; expected an object like {"text": "...", "labels"',
        "jsonl",
    ),
    "no-text": (
        b'{"title": "a", "labels": []}',
        "no 'text' here, only title, labels. Choose by name",
        "jsonl",
    ),
    "no-labels": (b'{"text": "a"}', "line 1: there is no 'labels' here, only text.", "jsonl"),
    "text-is-a-list": (b'{"text": ["a"], "labels": []}', "'text' is a list; expected a text", "jsonl"),
    "labels-are-objects": (
        b'{"text": "a", "labels": [{}]}',
        "'labels' is a list; expected a list of n",
        "jsonl",
    ),
    "not-utf-8": (
        b'{"text": "a", "labels": []}\n{"text": "\xff"}',
        "line 2: this is not UTF-8 text",
        "jsonl",
    ),
    "columns": (b"title,tags\na,b\n", "line 1: there is no 'text' here, only title, tags.", "csv"),
    "fields": (b"text,labels\na,b\n\nc,d,e\n", "line 4: 3 fields; expected 2, as in the first line", "csv"),
    "old Mac line ends": (
        b"text,labels\ra cat,x\ra dog,y\r",
        "line 1: a carriage return (CR) stands alone in this row",
        "csv",
    ),
    "quotes": (b'text,labels\n"a\nb",x\n"c"d,x\n', "line 4: the quotes of this row do not match", "csv"),
    "open-quote": (b'text,labels\n"a,x\nb,x\n', "line 2: the quote that opens here is not closed", "csv"),
    "another-case": (
        b"Text,labels\na,b\n",
        "no 'text' here, only Text, labels. Is it 'Text'? Choose",
        "csv",
    ),
    "labels-are": (b"text,tags\na,b\n", "Choose by name where the labels are: labels=NAME.", "csv"),
    "latin-1": (b"text,labels\nT\xf6ne,x\n", "iconv -f latin1 -t utf-8", "csv"),
    "spreadsheet": (b"PK\3\4\x14\x85\n", "is a spreadsheet or an archive (zip)", "csv"),
    "long-list": (b'[\n{"text": "a", "labels": []}\n]\n', "a list over many lines; `jq -c '.[]'`", "jsonl"),
    "semicolons": (b"text;labels\na;b;c\n", "line 2: 3 fields; expected 2", "csv"),
    "empty": (b"", "is empty; expected a line of column names", "csv"),
    "cut-gzip": (gzip.compress(b"text,labels\n" * 99)[:-9], "the gzip data is cut short", "csv"),
    "no-parquet": (b"PAR1 nonsense", "is not a complete Parquet file", "parquet"),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_name_the_line(name, tmp_path):
    content, message, form = BAD[name]
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(DataFormatError) as error:
        read(tmp_path / "bad", form)
    assert message in str(error.value)
    assert str(tmp_path / "bad") in str(error.value)


def test_parquet_without_pyarrow_explains_how_to_install_it(tmp_path, monkeypatch):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MLGTError, match="pip install pyarrow"):
        read(tmp_path / "x.parquet")


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        recognise(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="no such file"):
        read(tmp_path / "none.csv")
