"""`mlgt.errors`: the exceptions and warnings that mlgt raises."""

from ._core.errors import (
    DataFormatError,
    HeaderMismatchError,
    MLGTError,
    ModelFileError,
    NoSeparatorError,
    NoSeparatorWarning,
    NotReproducibleWarning,
    OneBlockWarning,
    PartitionerMissingError,
    VocabularyWarning,
)

__all__ = [
    "DataFormatError",
    "HeaderMismatchError",
    "MLGTError",
    "ModelFileError",
    "NoSeparatorError",
    "NoSeparatorWarning",
    "NotReproducibleWarning",
    "OneBlockWarning",
    "PartitionerMissingError",
    "VocabularyWarning",
]
