"""Hooks of MkDocs: the pages of the site that are not in docs/.

The README is the front page, other files of the repository are pages too, and the references of the command
and of Python are made from the code, so that they are never out of date.
"""

import contextlib
import importlib
import inspect
import io
import json
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
_SAME_NAME = (
    "ARCHITECTURE CONTRIBUTING CHANGELOG SECURITY research/README research/results/README "
    "integrations/annif/README"
).split()
PAGES = {"index.md": "README.md"} | {f"{name}.md": f"{name}.md" for name in _SAME_NAME}
"""Pages of the site and the files they come from."""
API = {
    "mlgt": None,
    "mlgt.estimators": ["make_estimator"],
    "mlgt.metrics": "precision_at recall_at ndcg_at psp_at evaluate reliability".split(),
    "mlgt.metrics.diagnosis": "diagnose label_table by_frequency coverage surest_errors".split(),
    "mlgt.data": "read_xmc write_xmc Dataset".split(),
    "mlgt.datasets": "load load_debtags".split(),
    "mlgt.vocabulary": "Vocabulary read_vocabulary".split(),
    "mlgt.data.synth": ["make"],
    "mlgt.classifiers": ["solve"],
    "mlgt.labels.partition": (
        "Partition partition_labels read_places write_places read_reordering write_reordering".split()
    ),
    "mlgt.mlflow": None,
    "mlgt.errors": None,
}
"""Modules of the Python reference and their members; None is all that a module exports."""


def on_files(files, config):
    """Add the pages that are not in docs/, and the results of research/."""
    for name, source in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text("utf-8")))
    research = ROOT / "research"
    for file in sorted([*research.glob("micro/results/*"), *research.glob("results/*/figure.png")]):
        name = file.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(file)))
    for file in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{file.stem}.md", content=notebook_page(file)))
    files.append(File.generated(config, "api.md", content=api_page()))
    files.append(File.generated(config, "command.md", content=command_page()))
    return files


def on_page_markdown(markdown, page, **_):
    """Rewrite links between files of the repository to the pages of the site."""
    if page.file.src_uri in PAGES:
        return re.sub(r"\]\(((?:\.\./)*)docs/", r"](\1", markdown)
    return re.sub(r"\]\(\.\./(?=research/|integrations/|[A-Z]+\.md)", "](", markdown)


def notebook_page(path):
    """Return a notebook as Markdown: its texts, code, and outputs with their pictures."""
    parts = [f"<small>This page is a notebook: [{path.name}]({path.name}).</small>"]
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_shown(output) for output in cell.get("outputs", [])]
    parts[:2] = parts[1::-1]  # the title comes first
    return "\n\n".join(parts) + "\n"


def _shown(output):
    """Return an output of a notebook as Markdown."""
    data = output.get("data", {})
    if "image/png" in data:
        return f"![picture](data:image/png;base64,{''.join(data['image/png']).strip()})"
    if "text/html" in data and "dataframe" not in "".join(data["text/html"]):
        return "<div>" + "".join(data["text/html"]).replace("\n", " ") + "</div>"
    return _block("".join(output.get("text", data.get("text/plain", ""))))


def command_page():
    """Return the page with `mlgt --help` and the help of every verb."""
    from mlgt.cli.main import VERBS, main

    parts = ["# The command", _block(_output(main, ["--help"]))]
    for verb in VERBS:
        parts += [f"## mlgt {verb}", _block(_output(main, [verb, "--help"]))]
    return "\n\n".join(parts) + "\n"


def _output(main, arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(arguments)
    return out.getvalue()


def api_page():
    """Return the page of all members in `API`, whose docstrings mkdocstrings shows."""
    parts = ["# Python"]
    for name, chosen in API.items():
        module = importlib.import_module(name)
        parts.append(f"## {name}")
        for member in chosen or [m for m in module.__all__ if not m.startswith("_")]:
            value = getattr(module, member)
            if not inspect.ismodule(value):
                parts.append(
                    f"::: {value.__module__}.{value.__qualname__}\n    options:\n      heading_level: 3"
                )
    return "\n\n".join(parts) + "\n"


def _block(text):
    return f"```text\n{text.strip()}\n```"
