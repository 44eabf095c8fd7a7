"""Annif's own `http` backend, in a process of its own, suggests through the server."""

import os
import shutil
import subprocess

import pytest

ANNIF = os.environ.get("MLGT_ANNIF") or shutil.which("annif")
PROJECT = """[served]
name=served
language=en
backend=http
endpoint={address}/v1/projects/animals/suggest
vocab=animals
"""


@pytest.mark.slow
@pytest.mark.skipif(not ANNIF, reason="annif is not installed; MLGT_ANNIF may name its command")
def test_the_http_backend_of_annif(server, predictor, tmp_path):
    (tmp_path / "projects.cfg").write_text(PROJECT.format(address=server.address), "utf-8")
    names = zip(("p1", "p2", "p3", "p4"), predictor.classes_)
    (tmp_path / "vocabulary.tsv").write_text("".join(f"<{id}>\t{name}\n" for id, name in names), "utf-8")

    def annif(*arguments, given=None):
        done = subprocess.run(
            [ANNIF, *arguments], cwd=tmp_path, input=given, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    annif("load-vocab", "--language", "en", "animals", "vocabulary.tsv")
    assert "True" in annif("list-projects")
    best = annif("suggest", "served", given="the cat purrs meow").splitlines()[0].split("\t")
    name, probability = predictor.tag("the cat purrs meow", 1)[0]
    assert best[:2] == ["<p1>", name]
    assert float(best[2]) == pytest.approx(probability, abs=1e-3)
