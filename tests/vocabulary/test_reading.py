"""Vocabularies are read from lines, TSV, CSV and SKOS; what is unusual is found, with counts."""

import gzip

import pytest

from mlgt.data import Limits
from mlgt.errors import DataFormatError, MLGTError
from mlgt.vocabulary import as_vocabulary, read_label_vocabulary, read_vocabulary

TURTLE = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix v: <http://example.org/v/> .
v:cats a skos:Concept ; skos:prefLabel "cats"@en, "kissat"@fi, "Katzen"@de ;
    skos:altLabel "felines"@en, "kissaeläimet"@fi ; skos:hiddenLabel "catz"@en ; skos:notation "636.8" .
v:dogs a skos:Concept ; skos:prefLabel "Hunde"@de ; skos:altLabel "Köter"@de, "hounds"@en .
v:fish a skos:Concept ; skos:prefLabel "fish" ; skos:altLabel "sea food" .
v:xl a skos:Concept ; xl:prefLabel v:xlname . v:xlname xl:literalForm "birds"@en .
v:old a skos:Concept ; skos:prefLabel "pussycats"@en ; owl:deprecated true ; dct:isReplacedBy v:older .
v:older a skos:Concept ; skos:prefLabel "house cats"@en ; owl:deprecated true ; dct:isReplacedBy v:cats .
v:gone a skos:Concept ; skos:prefLabel "dodos"@en ; owl:deprecated true .
"""
V = "http://example.org/v/"


def written(tmp_path, name, text):
    path = tmp_path / name
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def said(vocabulary):
    return [str(finding) for finding in vocabulary.findings]


def test_lines_are_names_as_they_stand(tmp_path):
    vocabulary = read_vocabulary(
        written(tmp_path, "v.txt", 'law, old\n"quoted"\nid\n\n a | b \nlaw, old\n')
    )
    assert vocabulary.names == ("law, old", '"quoted"', "id", "a | b")
    assert [ids[0] for ids in vocabulary.ids] == list(vocabulary.names)  # the name is the id
    assert said(vocabulary) == ["names that occur more than once: 1 (law, old)"]


@pytest.mark.parametrize("name", ["v.tsv", "v.txt.gz"])
def test_lines_with_a_tab_have_ids(tmp_path, name):
    text = "<http://e.org/1>\tlaw\tlaws|rights\tjustice\np2\thistory\na name alone\np3\t\n"
    vocabulary = read_vocabulary(written(tmp_path, name, text))
    assert vocabulary.names == ("law", "history", "a name alone")
    assert vocabulary.ids == (("http://e.org/1",), ("p2",), ("a name alone",))
    assert vocabulary.all_names() == [["law", "laws", "rights", "justice"], ["history"], ["a name alone"]]
    assert said(vocabulary) == ["concepts without name, left out: 1 (p3)"]


def test_header_chooses_columns(tmp_path):
    text = (
        "prefLabel,uri,notation,altLabel,definition\nlaw,http://e.org/1,340,laws|rights,rules of a state\n"
    )
    vocabulary = read_vocabulary(written(tmp_path, "v.csv", text))
    assert (vocabulary.names, vocabulary.ids) == (("law",), (("http://e.org/1", "340"),))
    assert vocabulary.further_names == (("laws", "rights"),)
    assert said(vocabulary) == ["columns of the vocabulary that are not used: 1 (definition)"]


def test_columns_of_a_table_have_languages(tmp_path):
    path = written(tmp_path, "v.csv", "uri;label_en;label_fi\nu1;law;laki\nu2;;historia\n")
    assert read_vocabulary(path).names == ("law", "historia")
    finnish = read_vocabulary(path, "fi,en")
    assert finnish.all_names() == [["laki", "law"], ["historia"]]


def test_csv_without_header(tmp_path):
    vocabulary = read_vocabulary(written(tmp_path, "v.csv.gz", 'p1,"law, old",laws\np2,history\n'))
    assert vocabulary.all_names() == [["law, old", "laws"], ["history"]]
    assert vocabulary.ids == (("p1",), ("p2",))


def test_shared_names_are_one_label_and_repeated_ids_too(tmp_path):
    vocabulary = read_vocabulary(written(tmp_path, "v.tsv", "a\tlaw\nb\tlaw\nc\tart\nc\tarts\nd\ta\n"))
    assert vocabulary.all_names() == [["law"], ["art", "arts"], ["a"]]
    assert vocabulary.ids == (("a", "b"), ("c",), ("d",))
    assert said(vocabulary) == [
        "names that several ids share, each one label: 1 (law (a, b))",
        "ids that occur more than once, with other names: 1 (c (art; arts))",
        "names that are ids of other labels, and are read as ids: 1 (a)",
    ]


@pytest.fixture(scope="module", params=["ttl", "rdf", "nt", "ttl.gz"])
def skos(request, tmp_path_factory):
    """The same vocabulary in all formats."""
    rdflib = pytest.importorskip("rdflib")
    ending, folder = request.param, tmp_path_factory.mktemp("skos")
    if ending.startswith("ttl"):
        return written(folder, f"v.{ending}", TURTLE)
    form = {"rdf": "xml", "nt": "ntriples"}[ending]
    text = rdflib.Graph().parse(data=TURTLE, format="turtle").serialize(format=form, encoding="utf-8")
    return written(folder, f"v.{ending}", text)


def names(vocabulary):
    """All names by the id to show, whatever the order of the file."""
    found = zip(vocabulary.ids, vocabulary.all_names())
    return {ids[0].removeprefix(V): [name, *sorted(more)] for ids, (name, *more) in found}


def test_skos_names_by_language(skos):
    assert names(read_vocabulary(skos)) == {
        "cats": ["cats", "catz", "felines"], "dogs": ["Hunde", "Köter"], "fish": ["fish", "sea food"],
        "xl": ["birds"],
    }  # fmt: skip
    finnish = names(read_vocabulary(skos, "fi"))
    assert (finnish["cats"], finnish["dogs"], finnish["fish"]) == (
        ["kissat", "kissaeläimet"], ["Hunde", "Köter"], ["fish", "sea food"],
    )  # fmt: skip
    both = names(read_vocabulary(skos, "de,en"))
    assert both["cats"] == ["Katzen", "cats", "catz", "felines"]
    assert both["dogs"] == ["Hunde", "Köter", "hounds"]


def test_skos_ids_and_retired_concepts(skos):
    vocabulary = read_vocabulary(skos)
    cats = vocabulary.find(f"<{V}cats>")
    assert [vocabulary.find(label) for label in ("636.8", "CATS", "catz", f"{V}old", "pussycats")] == [
        cats
    ] * 5
    assert vocabulary.find("dodos") is None
    assert vocabulary.is_retired("dodos")
    assert not vocabulary.is_retired("pussycats")
    assert "dodos" not in vocabulary.names


def test_regional_languages(tmp_path):
    pytest.importorskip("rdflib")
    text = '<u:1> <http://www.w3.org/2004/02/skos/core#prefLabel> "a"@en-GB, "b"@en, "c"@pt-BR .'
    path = written(tmp_path, "v.ttl", text)
    found = [read_vocabulary(path, code).names[0] for code in (None, "en", "en-GB", "pt", "sv")]
    assert found == ["a", "b", "a", "c", "a"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("v.ttl", '@prefix a: <b:> .\n\na:x a:y "open', "v.ttl, line 3: this is not Turtle"),
        ("v.ttl", "[" * 20_000, "v.ttl.*: this is not Turtle"),
        ("v.rdf", "<?xml version='1.0'?>\n<rdf:RDF>", "v.rdf, line 2: this is not RDF/XML"),
        ("v.nt", '<u:a> <u:b> "c" .\n<u:a> <u:b \n', "v.nt, line 2: this is not Turtle"),
        ("v.ttl", '<u:a> <u:b> "c" .', "has no skos:prefLabel"),
        ("v.csv", 'p1,law\np2,"art\np3,x\n', "v.csv, line 2: the quotes of this row do not match"),
        ("v.txt", b"law\n\xff\xfe\n", "v.txt, line 2: this is not UTF-8"),
        ("v.txt", "\n\n", "v.txt: the vocabulary has no name"),
        ("v.txt", "x" * 3000, "v.txt, line 1: this line has more than 0.002 MB"),
        ("v.ttl.gz", " " * 6_000_000, "bytes of gzip data unpack to more than"),
    ],
)
def test_errors_name_file_and_line(tmp_path, name, text, message):
    if ".ttl" in name or name.endswith((".rdf", ".nt")):
        pytest.importorskip("rdflib")
    with pytest.raises(DataFormatError, match=message):
        read_vocabulary(written(tmp_path, name, text), limits=Limits(0.002))


def test_xml_entities_do_not_explode(tmp_path):
    pytest.importorskip("rdflib")
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20 if i else "lol"}">' for i in range(12))
    rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    text = f'<?xml version="1.0"?><!DOCTYPE r [{entities}]><rdf:RDF {rdf}>&e11;</rdf:RDF>'
    with pytest.raises(DataFormatError, match="this is not RDF/XML"):
        read_vocabulary(written(tmp_path, "v.rdf", text))


def test_missing_rdflib_is_explained(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdflib", None)
    with pytest.raises(MLGTError, match=r'pip install "mlgt\[skos\]"'):
        read_vocabulary(written(tmp_path, "v.ttl", TURTLE))


def test_wrong_languages_are_refused(tmp_path):
    path = written(tmp_path, "v.txt", "law\n")
    with pytest.raises(ValueError, match="no language code"):
        read_vocabulary(path, "Finnish!")
    with pytest.raises(ValueError, match="applies to a vocabulary in a file"):
        as_vocabulary(["law"], "fi")


def test_vocabularies_from_python():
    assert as_vocabulary(None) is None
    assert as_vocabulary(["law", "art"]).names == ("law", "art")
    given = as_vocabulary({1: "law", "2": ["art", "arts"]})
    assert (given.ids, given.further_names) == ((("1",), ("2",)), ((), ("arts",)))
    assert as_vocabulary(given) is given
    with pytest.raises(ValueError, match="where a name is expected"):
        as_vocabulary({"p1": 3})
    with pytest.raises(ValueError, match="vocabulary is a int"):
        as_vocabulary(3)


def test_one_line_per_label_keeps_shared_names_apart(tmp_path):
    path = written(tmp_path, "v.txt", "p1\tlaw\tlaws\np2\tlaw\n")
    vocabulary = read_label_vocabulary(path, 2)
    assert (vocabulary.names, vocabulary.ids) == (("law", "law"), (("p1",), ("p2",)))
    with pytest.raises(DataFormatError, match="2 lines, but there are 3 labels"):
        read_label_vocabulary(path, 3)


@pytest.mark.slow
def test_thirty_thousand_concepts(tmp_path):
    """All concepts of a large vocabulary are read, in an order that does not change; see
    `research/micro/vocabulary.py` for the time."""
    pytest.importorskip("rdflib")
    lines = [
        f'<u:{i}> s:prefLabel "name {i}"@en, "nimi {i}"@fi ; s:notation "{i}" .' for i in range(30_000)
    ]
    text = "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n" + "\n".join(lines)
    vocabulary = read_vocabulary(written(tmp_path, "v.ttl", text), "fi")
    assert vocabulary.names == tuple(f"nimi {i}" for i in range(30_000))
