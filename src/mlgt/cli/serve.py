"""Serve models over HTTP, with a page to tag texts by hand.

Opens http://127.0.0.1:8000/, a page that ranks labels as you type, marks the
words behind each, and collects corrections for `mlgt update`. Programs send
requests to /v1/models/NAME/tag; /docs describes them. Annif's `http` backend
and clients of Hugging Face's text classification work with it too. A model is
served under the name of its folder.

SIGTERM and Ctrl-C answer what is under way and stop; SIGHUP reads the models
again. Needs: pip install "mlgt[serve]"
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from .console import compile_for_prediction, make_narrator, positive, whole


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("models", metavar="DIR", nargs="+", help="model folder, as written by `mlgt train`")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine alone)"
    )
    parser.add_argument("--port", type=_port, default=8000, help="port; 0 takes a free one (default: 8000)")
    parser.add_argument(
        "--workers", type=whole, default=1, metavar="N", help="number of processes (default: 1)"
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="answer only requests with the token in FILE: Authorization: Bearer TOKEN",
    )
    parser.add_argument(
        "--reload", action="store_true", help="read a model again when its folder is replaced"
    )
    limits = parser.add_argument_group("limits of a request")
    limits.add_argument(
        "--max-body", type=positive, default=32.0, metavar="MB", help="size of its body (default: 32)"
    )
    limits.add_argument(
        "--max-texts", type=whole, default=10_000, metavar="N", help="texts or rows (default: 10000)"
    )
    limits.add_argument(
        "--max-characters",
        type=whole,
        default=1_000_000,
        metavar="N",
        help="of one text (default: 1000000)",
    )
    limits.add_argument(
        "--max-labels", type=whole, default=1_000, metavar="K", help="labels per text (default: 1000)"
    )
    limits.add_argument(
        "--max-seconds",
        type=positive,
        default=30.0,
        metavar="S",
        help="for a request to arrive, and for its answer (default: 30)",
    )


def run(options: Namespace) -> int:
    """Run the verb."""
    token = None if options.token_file is None else _read_token(options.token_file)
    try:
        from ..serve import Models, RequestLimits, serve
    except ImportError as error:
        if error.name not in ("starlette", "uvicorn", "httptools"):
            raise
        raise ValueError(
            f'`mlgt serve` needs {error.name}, which is not installed. Run: pip install "mlgt[serve]"'
        ) from None
    models = Models(options.models)
    for model in models:
        compile_for_prediction(make_narrator(options), model.predictor)
    limits = RequestLimits(
        body=options.max_body,
        texts=options.max_texts,
        characters=options.max_characters,
        labels=options.max_labels,
        seconds=options.max_seconds,
    )
    return serve(
        models,
        host=options.host,
        port=options.port,
        workers=options.workers,
        token=token,
        limits=limits,
        reload=options.reload,
        quiet=options.quiet,
    )


def _read_token(file):
    """Return the first line of the file."""
    token = (Path(file).read_text("utf-8", "replace").splitlines() or [""])[0].strip()
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(
            f"{file} holds no token; expected at least 16 ASCII characters without spaces in its first "
            "line. Make one: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token


def _port(text):
    return whole(text, 0) if text.isdigit() and int(text) < 65536 else whole("-", 0)
