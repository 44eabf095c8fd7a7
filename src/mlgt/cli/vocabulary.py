"""Options about vocabularies, shared by the verbs."""

from argparse import Namespace
from typing import Any

from .console import limits_of


def add_vocabulary(parser: Any, help: str) -> None:
    """Add the options that name a vocabulary and its language."""
    parser.add_argument("--vocabulary", metavar="FILE", help=help)
    parser.add_argument(
        "--vocabulary-language",
        metavar="CODE",
        help="language of the names, as fi, if the vocabulary has several; further ones after a comma",
    )


def read_given(options: Namespace) -> Any:
    """Return the vocabulary that the options name, or None."""
    from ..vocabulary import read_vocabulary

    if options.vocabulary is None:
        if options.vocabulary_language is not None:
            raise ValueError("--vocabulary-language is about a vocabulary: pass --vocabulary FILE too.")
        return None
    return read_vocabulary(options.vocabulary, options.vocabulary_language, limits_of(options))
