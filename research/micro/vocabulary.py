"""How long a vocabulary takes to read: SKOS in three formats, and TSV.

    python research/micro/vocabulary.py [--concepts 30000] [--out FILE]

Made-up concepts with names in three languages, two alternative names, a notation, a broader concept, a
scheme and a date: ten statements each. CPU seconds, best of --repeats; "graph" is rdflib's own graph, to
which mlgt's reading by the same parser is compared.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path

from common import machine, table
from mlgt.vocabulary import read_vocabulary

PREFIXES = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix v: <http://example.org/v/p> .
"""


def concepts(count):
    """Turtle of the concepts."""
    rng = random.Random(0)
    words = [f"word{i}" for i in range(5000)]

    def name(language):
        return f'"{" ".join(rng.sample(words, 2))}"@{language}'

    for i in range(count):
        yield (
            f"v:{i} a skos:Concept ; skos:prefLabel {name('en')}, {name('fi')}, {name('sv')} ; "
            f'skos:altLabel {name("en")}, {name("fi")} ; skos:notation "{i}" ; skos:broader v:{i // 10} ; '
            f'skos:inScheme v:s ; dct:modified "2020-01-01"^^xsd:date .\n'
        )


def cpu(work, repeats):
    """Least CPU seconds of a call."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def main():
    import rdflib

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--concepts", type=int, default=30_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "v.ttl").write_text(PREFIXES + "".join(concepts(options.concepts)), "utf-8")
        graph = rdflib.Graph().parse(folder / "v.ttl")
        (folder / "v.rdf").write_bytes(graph.serialize(format="xml", encoding="utf-8"))
        (folder / "v.nt").write_bytes(graph.serialize(format="ntriples", encoding="utf-8"))
        found = read_vocabulary(folder / "v.ttl")
        lines = ("\t".join((ids[0], *names)) for ids, names in zip(found.ids, found.all_names()))
        (folder / "v.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        rows = []
        for file in ("v.ttl", "v.rdf", "v.nt", "v.tsv"):
            path = folder / file
            seconds = cpu(lambda path=path: read_vocabulary(path), options.repeats)
            own = (
                None
                if file == "v.tsv"
                else cpu(lambda path=path: rdflib.Graph().parse(path), options.repeats)
            )
            ratio = "" if own is None else f"{own / seconds:.1f}"
            shown = "" if own is None else f"{own:.1f}"
            rows.append((file, f"{path.stat().st_size / 1e6:.1f}", f"{seconds:.2f}", shown, ratio))
    facts = f"{options.concepts} concepts; {machine()}, rdflib {rdflib.__version__}."
    text = f"# Reading a vocabulary\n\n{facts}\n\n" + table(
        ("file", "MB", "mlgt, CPU s", "graph, CPU s", "graph / mlgt"), rows
    )
    print(text)
    if options.out:
        options.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
