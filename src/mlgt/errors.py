"""`mlgt.errors`: the exceptions and warnings that mlgt raises."""

from ._core.errors import (
    DataFormatError,
    HeaderMismatchError,
    MissingTextWarning,
    MLGTError,
    ModelFileError,
    NoSeparatorError,
    NoSeparatorWarning,
    NotReproducibleWarning,
    OneBlockWarning,
    PartitionerMissingError,
    UncalibratedWarning,
    VocabularyWarning,
)

__all__ = [
    "DataFormatError",
    "HeaderMismatchError",
    "MLGTError",
    "MissingTextWarning",
    "ModelFileError",
    "NoSeparatorError",
    "NoSeparatorWarning",
    "NotReproducibleWarning",
    "OneBlockWarning",
    "PartitionerMissingError",
    "UncalibratedWarning",
    "VocabularyWarning",
]
