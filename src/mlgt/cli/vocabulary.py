"""Options about vocabularies, shared by the verbs."""

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from .console import limits_of, refuse


def add_vocabulary(parser: Any, help: str) -> None:
    """Add the options that name a vocabulary and its language."""
    parser.add_argument("--vocabulary", metavar="FILE", help=help)
    parser.add_argument(
        "--vocabulary-language",
        metavar="CODE",
        help="language of the names, as fi, if the vocabulary has several; further ones after a comma",
    )


def add_show(parser: Any) -> None:
    """Add the option that chooses what is shown of a label."""
    parser.add_argument(
        "--show",
        choices=("name", "id", "id,name"),
        help="what to print of each label of a vocabulary (default: name)",
    )


def label_text(options: Namespace, model: Any) -> Callable[[int], str]:
    """Return a function from the position of a label to what is printed of it: `id name` or one of both.

    Blanks within each are single; - stands for a label without id.
    """
    fitted, parts = model.fitted_model(), (options.show or "name").split(",")
    vocabulary = fitted.vocabulary
    if "id" in parts and (vocabulary is None or not any(vocabulary.ids)):
        raise ValueError(
            f"the labels of {options.model} have no ids to show; leave out --show id, or train with "
            "--vocabulary FILE."
        )
    text = {"id": lambda l: vocabulary.id_of(l) or "-", "name": lambda l: str(fitted.name_of(l))}
    return lambda label: " ".join(" ".join(text[part](label).split()) for part in parts)


def read_given(options: Namespace) -> Any:
    """Return the vocabulary that the options name, or None."""
    from ..vocabulary import read_vocabulary

    if options.vocabulary is None:
        refuse("without --vocabulary FILE", options, "vocabulary_language", "vocabulary_only")
        return None
    return read_vocabulary(options.vocabulary, options.vocabulary_language, limits_of(options))
