"""SKOS concepts from Turtle, which N-Triples are part of, or RDF/XML; by rdflib (pip install "mlgt[skos]").

Read are skos:prefLabel, altLabel and hiddenLabel by language, also as SKOS-XL labels, skos:notation, and
owl:deprecated with dct:isReplacedBy. Other statements are skipped as they are parsed: no graph with indexes
is made, which would take longer.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._core.errors import DataFormatError, MLGTError
from .._core.files import PathLike, name_of, read_bytes
from .._core.limits import Limits
from .build import Concept
from .languages import choose_names

SKOS, SKOSXL = "http://www.w3.org/2004/02/skos/core#", "http://www.w3.org/2008/05/skos-xl#"
DEPRECATED = "http://www.w3.org/2002/07/owl#deprecated"
REPLACED_BY = "http://purl.org/dc/terms/isReplacedBy"
LITERAL_FORM = f"{SKOSXL}literalForm"
LABELS = {f"{SKOS}{kind}": kind for kind in ("prefLabel", "altLabel", "hiddenLabel", "notation")}
XL_LABELS = {f"{SKOSXL}{kind}": kind for kind in ("prefLabel", "altLabel", "hiddenLabel")}
USED = {*LABELS, *XL_LABELS, LITERAL_FORM, DEPRECATED, REPLACED_BY}


def read_skos(path: PathLike, form: str, languages: Sequence[str], limits: Limits) -> list[Concept]:
    """Return the concepts of a file in a format of rdflib, in their order."""
    statements = parse(path, form, limits)
    forms = {str(s): o for s, p, o in statements if str(p) == LITERAL_FORM}
    facts: dict[str, dict[str, list[Any]]] = {}
    for subject, predicate, value in statements:
        predicate = str(predicate)
        kind = LABELS.get(predicate)
        if predicate in XL_LABELS:
            kind, value = XL_LABELS[predicate], forms.get(str(value))
        elif predicate in (DEPRECATED, REPLACED_BY):
            kind = predicate
        if kind is not None and value is not None:
            facts.setdefault(str(subject), {}).setdefault(kind, []).append(value)
    concepts = [_concept(uri, found, languages) for uri, found in facts.items()]
    if not any(concept.name for concept in concepts):
        raise DataFormatError(
            f"{name_of(path)} has no skos:prefLabel; expected a SKOS vocabulary, with a name per concept."
        )
    return concepts


def _concept(uri, found, languages):
    notations = [str(value).strip() for value in found.get("notation", ())]
    further = _tagged(found, "altLabel") + _tagged(found, "hiddenLabel")
    name, more = choose_names(_tagged(found, "prefLabel"), further, languages)
    retired = any(str(value).strip().lower() in ("true", "1") for value in found.get(DEPRECATED, ()))
    after = found.get(REPLACED_BY)
    return Concept((uri, *filter(None, notations)), name, more, retired, str(after[0]) if after else None)


def _tagged(found, kind):
    """(name, language or "") of all labels of a kind."""
    pairs = [(str(value).strip(), getattr(value, "language", None) or "") for value in found.get(kind, ())]
    return [pair for pair in pairs if pair[0]]


def parse(path: PathLike, form: str, limits: Limits) -> list[tuple[Any, Any, Any]]:
    """Return the statements about names, in their order; raise with file and line if there is an error."""
    try:
        from rdflib import Graph
    except ImportError:
        raise MLGTError(
            f'Reading {name_of(path)} needs rdflib, which is not installed: pip install "mlgt[skos]". Or '
            "write the vocabulary as TSV: id, tab, name."
        ) from None
    content = bytes(read_bytes(path, limits)).removeprefix(b"\xef\xbb\xbf")
    store = _make_store()
    try:
        with _without_log():
            Graph(store=store, bind_namespaces="none").parse(data=content, format=form, publicID="")
    except MemoryError:
        raise
    except Exception as error:  # rdflib raises many kinds
        expected = "RDF/XML" if form == "xml" else "Turtle"
        raise DataFormatError(
            f"{name_of(path)}{_line_of(error)}: this is not {expected} ({_first_line(error)}); "
            "expected a SKOS vocabulary in Turtle, N-Triples or RDF/XML, as the ending of its name says."
        ) from None
    return store.statements


def _make_store():
    from rdflib.store import Store

    class Statements(Store):
        """A store of rdflib that keeps the statements about names in a list."""

        def __init__(self):
            super().__init__()
            self.statements = []

        def add(self, triple, context=None, quoted=False):
            if str(triple[1]) in USED:
                self.statements.append(triple)

        def bind(self, *_, **__):
            """Prefixes are not kept."""

        def namespace(self, prefix):
            return None

        def prefix(self, namespace):
            return None

        def namespaces(self):
            return iter(())

    return Statements()


@contextmanager
def _without_log() -> Iterator[None]:
    """Silence rdflib's log of odd URIs and literals."""
    log = logging.getLogger("rdflib")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


def _line_of(error):
    """`, line N` if the error has a line."""
    if hasattr(error, "getLineNumber"):
        return f", line {error.getLineNumber()}"
    place, lines = error.__traceback__, None  # rdflib's parser of Turtle counts lines from 0
    while place is not None:
        own = getattr(place.tb_frame.f_locals.get("self"), "lines", None)
        place, lines = place.tb_next, own if isinstance(own, int) else lines
    return "" if lines is None else f", line {lines + 1}"


def _first_line(error):
    text = getattr(error, "_why", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:200]
