"""What the docs site holds beside docs/: the README as its front page, other files of the repository that
pages link to, and references made from the code itself, so that they are never out of date. For MkDocs.
"""

import contextlib
import importlib
import inspect
import io
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "index.md": "README.md",
    **{f"{n}.md": f"{n}.md" for n in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")},
}
API = {
    "mlgt": None,  # all it names
    "mlgt.metrics": "precision_at recall_at ndcg_at psp_at evaluate reliability".split(),
    "mlgt.metrics.diagnosis": "diagnose label_table by_frequency coverage surest_errors".split(),
    "mlgt.data": "read_xmc write_xmc Dataset".split(),
    "mlgt.datasets": "load load_debtags".split(),
    "mlgt.labels.partition": "Partition partition_labels read_reordering write_reordering".split(),
    "mlgt.data.synth": "make".split(),
}


def on_files(files, config):
    """Add the pages that are not in docs/, and the results of research/."""
    for name, source in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text("utf-8")))
    research = ROOT / "research"
    for file in sorted([*research.glob("micro/results/*"), *research.glob("results/*/figure.png")]):
        name = file.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(file)))
    files.append(File.generated(config, "api.md", content=api_page()))
    files.append(File.generated(config, "command.md", content=command_page()))
    return files


def on_page_markdown(markdown, page, **_):
    """Links as they are in the repository lead to the same files on the site."""
    if page.file.src_uri in PAGES:
        return re.sub(r"\]\(docs/", "](", markdown)
    return re.sub(r"\]\(\.\./(?=research/|[A-Z]+\.md)", "](", markdown)


def command_page():
    """`mlgt --help`, and that of every verb."""
    from mlgt.cli.main import VERBS, main

    parts = ["# The command", _block(_said(main, ["--help"]))]
    for verb in VERBS:
        parts += [f"## mlgt {verb}", _block(_said(main, [verb, "--help"]))]
    return "\n\n".join(parts) + "\n"


def _said(main, arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(arguments)
    return out.getvalue()


def api_page():
    """Signatures and docstrings."""
    parts = ["# Python"]
    for name, chosen in API.items():
        module = importlib.import_module(name)
        parts.append(f"## {name}")
        for member in chosen or [m for m in module.__all__ if not m.startswith("_")]:
            value = getattr(module, member)
            if not inspect.ismodule(value):
                parts += _described(member, value)
    return "\n\n".join(parts) + "\n"


def _described(name, value):
    yield f"### {name}"
    yield _block(f"{name}{_signature(value)}\n\n{inspect.getdoc(value) or ''}")
    if inspect.isclass(value):
        for method, function in _methods(value):
            yield f"#### {name}.{method}"
            yield _block(f"{method}{_signature(function)}\n\n{inspect.getdoc(function) or ''}")


def _methods(value):
    """What a class adds to its bases, and what it inherits within mlgt, its docstring taken as the sign."""
    for name, function in inspect.getmembers(value, callable):
        own = getattr(function, "__module__", "") or ""
        if not name.startswith("_") and own.startswith("mlgt") and inspect.getdoc(function):
            yield name, function


def _signature(value):
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"


def _block(text):
    return f"```text\n{text.strip()}\n```"
