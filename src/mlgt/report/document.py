"""Frame of a self-contained HTML page."""

import html

from .._core.terminal import visible


def escape(text: str) -> str:
    """Return a text as HTML; control characters are shown as escapes."""
    return html.escape(visible(text))


def document(title: str, style: str, body: str) -> str:
    """Return the page; `style` is CSS, `body` is HTML, and the title is escaped."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{body}</main></body></html>\n"
    )
