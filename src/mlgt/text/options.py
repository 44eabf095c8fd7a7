"""Checks of the options of text features."""

from typing import Any

import numpy as np

from .._core.validation import check_count, check_unused
from .languages import check_languages


def check_term_options(
    words: Any,
    characters: Any,
    min_df: Any,
    max_features: Any,
    hashing: Any,
    language: Any = None,
    max_characters: Any = None,
) -> None:
    """Raise unless the options of `learn_features` are right and go together; `min_df` may be "auto"."""
    if words != 0:
        check_count("words", words)
    if min_df != "auto":
        check_count("min_df", min_df)
    for name, count in (("max_features", max_features), ("max_characters", max_characters)):
        if count is not None:
            check_count(name, count)
    if language != "auto":
        check_languages(language)
    if characters is not None:
        try:
            shortest, longest = (check_count("characters", length) for length in characters)
            if shortest > longest:
                raise ValueError
        except (TypeError, ValueError):
            raise ValueError(
                f"characters={characters!r} must be two whole numbers, the shortest and the longest run, "
                "like (3, 5); or None."
            ) from None
    if not words and characters is None:
        raise ValueError("words=0 and characters=None leave no terms; give one of them.")
    if not isinstance(hashing, (bool, np.bool_)):
        check_count("hashing", hashing)
    if hashing:
        check_unused("with hashing", min_df=min_df, max_features=max_features)
