"""The files of the page, and the description of the API as a page; neither needs anything from outside."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.responses import HTMLResponse, Response

from .._core.markup import escape
from .errors import RequestError
from .guard import to_json

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def _files() -> dict[str, tuple[bytes, str, str]]:
    """(bytes, media type, tag of the content) by name."""
    found = {}
    for file in files(__package__).joinpath("static").iterdir():
        ending = file.name[file.name.rfind(".") :]
        if ending in MEDIA_TYPES:
            data = file.read_bytes()
            found[file.name] = data, MEDIA_TYPES[ending], f'"{hashlib.sha256(data).hexdigest()[:20]}"'
    return found


def static_file(name: str, headers: Mapping[str, str]) -> Response:
    """Return a file of the page; a browser that has it already gets 304."""
    if name not in _files():
        raise RequestError(404, "There is no such file.")
    data, media_type, tag = _files()[name]
    own = {"ETag": tag, "Cache-Control": "no-cache"}
    if headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=own)
    return Response(data, headers=own, media_type=media_type)


def docs_page(described: dict[str, Any]) -> Response:
    """Return the description of the API (OpenAPI) as a page."""
    parts = [
        f"<h1>{escape(described['info']['title'])}</h1><p>{escape(described['info']['description'])}</p>"
    ]
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            parts.append(f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(about['summary'])}</p>{_parameters(about)}")
            for media, content in about.get("requestBody", {}).get("content", {}).items():
                parts.append(_example(f"Request ({media})", content["example"]))
            for status, answer in about["responses"].items():
                for media, content in answer.get("content", {}).items():
                    if "example" in content:
                        parts.append(_example(f"Answer {status} ({media})", content["example"]))
            parts.append("</section>")
    return HTMLResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>API of mlgt serve</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="/static/icon.svg"><link rel="stylesheet" href="/static/page.css"></head>'
        f'<body class="docs"><main>{"".join(parts)}</main></body></html>\n'
    )


def _parameters(about):
    rows = [
        f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one.get('description', ''))}</td></tr>"
        for one in about.get("parameters", ())
        if one["in"] == "query"
    ]
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _example(title, example):
    text = example if isinstance(example, str) else to_json(example)
    return f'<h3>{escape(title)}</h3><pre tabindex="0">{escape(text)}</pre>'
