"""docs/serve.md: from a table to a served page, with the commands as they are printed."""

import json
import re
import sys
from pathlib import Path

import pytest

from references.shell import run_shell

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"
pytestmark = pytest.mark.skipif(
    not PAGE.exists() or sys.platform == "win32", reason="the docs are not beside the tests"
)


def test_from_a_table_to_a_page(started, tmp_path):
    text = PAGE.read_text("utf-8")
    for code in re.findall(r"^```sh\n(.*?)^```", text, flags=re.S | re.M):
        run_shell(code, tmp_path)
    (folder,) = re.findall(r"^    mlgt serve (\w+)$", text, flags=re.M)
    server = started(tmp_path / folder)
    assert "<textarea" in server.ask("/")[1]
    (path, body) = re.search(r"curl http://127.0.0.1:8000(\S+) -d '(.*)'", text).groups()
    status, answer = server.ask(path, body)
    assert status == 200
    assert len(answer["results"][0]) == json.loads(body)["k"]
    assert server.ask(re.search(r"endpoint=http://127.0.0.1:8000(\S+)", text)[1], "text=chess")[0] == 200
    facts = server.ask(f"/v1/models/{folder}")[1]
    assert (facts["text_columns"], facts["label_column"]) == (["words"], "tags")
    row = {"words": "a chess program", "tags": ["game::board:chess", "game::fun"]}
    (tmp_path / "corrected.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    run_shell(re.search(r"mlgt update .*", text)[0], tmp_path)
    assert (tmp_path / "tags-2" / "model.json").exists()
