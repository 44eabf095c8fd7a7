"""Readers of any bytes: a result, or an error about the file; never another exception."""

import gzip
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgt._core.errors import DataFormatError
from mlgt.data import Columns, RecordFile, read_xmc, recognise
from mlgt.groups.files import read_groups
from mlgt.labels.partition import read_places, read_reordering

GOOD = {
    "xmc": b"3 5 4\n0,2 0:0.5 3:1.25\n 1:-2e-3\n3 4:1\n",
    "jsonl": b'{"text": "a \\u00e9\\ud83d\\ude00", "labels": ["x", 3, 1.5]}\n{"text": 7, "labels": null}\n',
    "csv": b'\xef\xbb\xbftext,labels\n"a, ""b""\nc",x;y\nd,\n',
    "tsv": b"text\tlabels\r\na b\tx;y\r\n",
    "lines": "one\n\ntwo é\n".encode(),
    "groups": b"0 1 2\n\n3\n",
    "places": b"law/tax\nlaw\n.\nart\n",
    "reordering": b"1\n2\nset1 = [1:1, 2:2]; tsize = 1;\n",
}


def read(form, path):
    """Read a file as the command does."""
    recognise(path)
    if form == "xmc":
        return read_xmc(path)
    if form == "groups":
        return read_groups(path, 4)
    if form == "places":
        return read_places(path)
    if form == "reordering":
        return read_reordering(path, path)
    return list(RecordFile(path, form, Columns(), labelled=form != "lines"))


ODD = [b"9" * 5000, b'"', b"\n", b"\\ud800"]


@st.composite
def damaged(draw, content):
    """The content with some bytes replaced, removed, inserted or repeated, perhaps packed."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at, size = draw(st.integers(0, len(content))), draw(st.integers(0, 6))
        new = draw(
            st.one_of(st.binary(max_size=4), st.sampled_from([b"9" * 5000, b'"', b"\n", b"\\ud800"]))
        )
        content[at : at + size] = new
    packed = gzip.compress(bytes(content), mtime=0)
    cut = draw(st.integers(0, len(packed)))
    return draw(st.sampled_from([bytes(content), packed, packed[:cut]]))


def check(form, content, tmp_path):
    path = tmp_path / "any"
    path.write_bytes(content)
    try:
        read(form, path)
    except DataFormatError as error:
        message = str(error)
    else:
        return
    assert message.startswith(str(path))
    assert "\n" not in message


SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("form", GOOD)
@given(data=st.data())
@SETTINGS
def test_damaged_files(form, data, tmp_path):
    check(form, data.draw(damaged(GOOD[form])), tmp_path)


@pytest.mark.parametrize("form", GOOD)
@given(content=st.binary(max_size=200))
@SETTINGS
def test_random_bytes(form, content, tmp_path):
    check(form, content, tmp_path)


def test_names_of_columns_in_a_message(tmp_path):
    check("tsv", b'"text\tlabels\r\na"\tx;y\r\n', tmp_path)
    (tmp_path / "wide").write_text(",".join(f"column{i}" for i in range(10_000)))
    with pytest.raises(DataFormatError) as error:
        read("csv", tmp_path / "wide")
    assert len(str(error.value)) < 1000


@pytest.fixture(scope="module")
def table():
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    rows = {"text": ["a b", None, "c"], "labels": [["x", "y"], [], None]}
    parquet.write_table(pyarrow.table(rows), out)
    return out.getvalue()


@given(data=st.data())
@SETTINGS
def test_damaged_parquet(data, tmp_path, table):
    check("parquet", data.draw(damaged(table)), tmp_path)


def odd_tables(pyarrow):
    """Columns of text or labels that are none."""
    far = pyarrow.array([2**40, 2**40], pyarrow.int64())
    bad = pyarrow.array([b"fine", b"\xff\xfe"]).view(pyarrow.string())
    return {
        "date": (
            {"text": far.cast(pyarrow.timestamp("s"))},
            r"row 1: 'text' has a value of type timestamp",
        ),
        "seconds": ({"text": pyarrow.array([1, 2]).cast(pyarrow.date64())}, "row 1: 'text' is a date;"),
        "nested": ({"text": [{"a": 1}, {"a": 2}]}, "row 1: 'text' is an object; expected a text"),
        "bytes": ({"text": [b"a", b"b"]}, "row 1: 'text' is a bytes; expected a text"),
        "UTF-8": ({"text": bad}, "row 2: 'text' has a value of type string that cannot be read"),
        "lists": ({"text": ["a", "b"], "labels": [[["x"]], []]}, "row 1: 'labels' is a list; expected"),
        "map": ({"text": ["a", "b"], "labels": [{"x": 1}, None]}, "row 1: 'labels' is an object"),
    }


@pytest.mark.parametrize("name", ["date", "seconds", "nested", "bytes", "UTF-8", "lists", "map"])
def test_odd_parquet(name, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    columns, said = odd_tables(pyarrow)[name]
    columns = {"labels": [["x"], ["y"]]} | columns
    parquet.write_table(pyarrow.table(columns), tmp_path / "odd.parquet")
    with pytest.raises(ValueError, match=f"odd.parquet, {said}"):
        list(RecordFile(tmp_path / "odd.parquet", "parquet", labelled=True))
