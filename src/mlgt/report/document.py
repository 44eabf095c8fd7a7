"""Frame of a self-contained HTML page."""

from html import escape


def document(title: str, style: str, body: str) -> str:
    """Return the page; `style` is CSS, `body` is HTML, and the title is escaped."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{body}</main></body></html>\n"
    )
