"""Files that would fill the memory are refused, with file, line, limit and option."""

import gzip

import pytest

from mlgt._core import files, memory
from mlgt._core.errors import DataFormatError, MLGTError
from mlgt._core.files import read_text
from mlgt.data import Columns, Limits, RecordFile, read_xmc
from mlgt.groups.files import read_groups
from mlgt.labels.partition import read_places, read_reordering

FORMS = ("lines", "jsonl", "csv", "tsv", "parquet")
READERS = {
    "rows": lambda path, limits: read_xmc(path, limits=limits),
    "text": read_text,
    "groups": lambda path, limits: read_groups(path, 9, limits=limits),
    "places": lambda path, limits: read_places(path, limits=limits),
    "reordering": lambda path, limits: read_reordering(path, path, limits=limits),
    **{form: lambda path, limits, form=form: list(RecordFile(path, form, limits=limits)) for form in FORMS},
}


@pytest.fixture(scope="module")
def packed_zeros(tmp_path_factory):
    """A file of 32 KB that unpacks to 32 MB."""
    path = tmp_path_factory.mktemp("packed") / "zeros.gz"
    path.write_bytes(gzip.compress(bytes(32 << 20)))
    return path


@pytest.mark.parametrize("name", READERS)
def test_little_gzip_that_unpacks_to_much(name, packed_zeros):
    if name == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    said = r"zeros.gz: \d+ bytes of gzip data unpack to more than \d+ MB; expected .*pass max_ratio=1000"
    with pytest.raises(DataFormatError, match=said):
        READERS[name](packed_zeros, Limits())


def test_a_ratio_that_is_allowed(packed_zeros):
    assert len(read_text(packed_zeros, Limits(max_ratio=2000))) == 32 << 20
    small = packed_zeros.with_name("small.gz")
    small.write_bytes(gzip.compress(b"0\n" * (1 << 20)))
    assert len(read_text(small)) == 2 << 20


@pytest.mark.parametrize("name", ["rows", "lines", "jsonl", "csv", "tsv"])
def test_long_lines(name, tmp_path):
    path = tmp_path / "long"
    first = b"text" if name in ("csv", "tsv") else b""
    path.write_bytes(first + b'\n\n"' + b"1" * (3 << 20) + b'"')
    said = "long, line 3: this line has more than 0.5 MB.*max_line=1"
    with pytest.raises(DataFormatError, match=said):
        READERS[name](path, Limits(max_line=0.5))


def test_a_row_over_many_lines_is_a_line(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("text\na\n" + '"' + "one line of a text\n" * 1000 + '"\nb\n')
    assert [len(record.text) for record in RecordFile(path, "csv")] == [1, 19_000, 1]
    said = "line 3: the quote that opens here is not closed .the row is too long.; this row has more"
    with pytest.raises(DataFormatError, match=said):
        list(RecordFile(path, "csv", limits=Limits(max_line=0.01)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('text,labels\na,x\n"b\nc,y\nd,z\n', "line 3: the quote that opens here is not closed"),
        ('text,labels\n"a ""b"" \nc","x\nd,y\n', "line 3: the quote that opens here is not closed"),
        ('text,labels\n"a,x\nb,y\n"c",z\n', "line 2: the quote that opens here is not closed"),
        ('text,labels\n"a\nb"c,x\n', "line 2: the quote that opens here is not closed .',' expected"),
        ('text,labels\na,x\n"a"b,x\n', "line 3: the quotes of this row do not match .',' expected"),
    ],
)
def test_the_place_of_a_quote(content, said, tmp_path):
    (tmp_path / "rows.csv").write_text(content)
    with pytest.raises(DataFormatError, match=said):
        list(RecordFile(tmp_path / "rows.csv", "csv", labelled=True))


@pytest.mark.parametrize("limits", [{"max_line": 0}, {"max_ratio": -1}, {"max_line": float("nan")}])
def test_limits_are_above_zero(limits):
    with pytest.raises(ValueError, match=r"max_\w+=.* must be a finite number above 0"):
        Limits(**limits)


def test_a_file_that_would_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CHECK_BYTES", 1000)
    monkeypatch.setattr("mlgt.data.records.CHECK_BYTES", 1000)
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    path = tmp_path / "rows"
    path.write_text("3 1:2 2:3 3:4\n" * 1000)
    text = Columns(("3 1:2 2:3 3:4",))
    path_of_lines = tmp_path / "more"
    path_of_lines.write_bytes(b"x" * (2 << 20))
    readers = [
        lambda: read_xmc(path),
        lambda: RecordFile(path, "csv", text).read(),
        lambda: read_text(path_of_lines),
    ]
    for read in readers:
        with pytest.raises(MLGTError, match=r"what follows after .* GB of memory are free"):
            read()
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000_000)
    for read in readers:
        assert read() is not None
