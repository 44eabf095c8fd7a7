"""Texts with marked words: as HTML, with colours of a terminal, or plain."""

import html
from collections.abc import Iterator, Sequence

from .terminal import visible

FOR, AGAINST = (27, 120, 55), (178, 24, 43)
FAINT = 0.08
"""Smallest share, relative to the largest, that is marked on a terminal."""
STRONG = 0.4
"""Smallest share, relative to the largest, that is bold on a terminal."""

Marks = Sequence[tuple[int, int, float]]
"""First character, the one after the last, and the share of each marked word, in their order."""


def escape(text: str) -> str:
    """Return a text as HTML; control characters are shown as escapes."""
    return html.escape(visible(text))


def segments(text: str, marks: Marks) -> Iterator[tuple[str, float]]:
    """Yield (piece of the text, share relative to the largest; 0 between the marked words)."""
    largest = max((abs(share) for _, _, share in marks), default=1.0) or 1.0
    done = 0
    for a, b, share in marks:
        if a < done:  # overlaps the mark before
            continue
        if a > done:
            yield text[done:a], 0.0
        yield text[a:b], share / largest
        done = b
    if done < len(text):
        yield text[done:], 0.0


def marked_html(text: str, marks: Marks) -> str:
    """Return the text as HTML: words for a label on green, words against it on red and underlined."""
    pieces = []
    for piece, share in segments(text, marks):
        shown = html.escape(visible(piece, keep="\n\t"))
        if share:
            colour = ",".join(map(str, FOR if share > 0 else AGAINST))
            style = f"background:rgba({colour},{0.08 + 0.42 * abs(share):.2f});border-radius:3px"
            style += "" if share > 0 else ";text-decoration:underline dotted"
            shown = f'<span style="{style}">{shown}</span>'
        pieces.append(shown)
    return "".join(pieces)


def marked_text(text: str, marks: Marks, *, colours: bool) -> str:
    """Return the text for a terminal; without colours, as `a [+cat] and a [-dog]`."""
    pieces = []
    for piece, share in segments(text, marks):
        shown = visible(piece, keep="\n")
        if abs(share) >= FAINT and colours:
            shown = f"\x1b[{'1;' if abs(share) >= STRONG else ''}{32 if share > 0 else 31}m{shown}\x1b[0m"
        elif abs(share) >= FAINT:
            shown = f"[{'+' if share > 0 else '-'}{shown}]"
        pieces.append(shown)
    return "".join(pieces)


def excerpt(
    text: str, marks: Marks, *, count: int = 12, around: int = 60, longest: int = 800
) -> tuple[str, Marks]:
    """Return the parts of a long text around the `count` words with the largest shares, and their marks."""
    if len(text) <= longest:
        return text, marks
    kept: list[list[int]] = []
    for a, b, _ in sorted(sorted(marks, key=lambda mark: -abs(mark[2]))[:count]):
        first, last = _to_blank(text, a - around, -1), _to_blank(text, b + around, 1)
        if kept and first <= kept[-1][1]:
            kept[-1][1] = max(last, kept[-1][1])
        else:
            kept.append([first, last])
    pieces, moved, length = [], [], 0
    for first, last in kept:
        before = "… " if first > 0 else ""
        piece = before + text[first:last] + (" …" if last < len(text) and last == kept[-1][1] else " ")
        shift = length + len(before) - first
        moved += [(a + shift, b + shift, share) for a, b, share in marks if a >= first and b <= last]
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces), moved


def _to_blank(text, at, step):
    """Move a position to the next blank, or to the end of the text."""
    at = min(max(at, 0), len(text))
    while 0 < at < len(text) and not text[at - 1 if step < 0 else at].isspace():
        at += step
    return at
