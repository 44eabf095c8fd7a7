"""The frame of an HTML page that needs no other file."""

from html import escape


def document(title, style, body):
    """The page; `body` and `style` are HTML and CSS already, the title is text."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{body}</main></body></html>\n"
    )
