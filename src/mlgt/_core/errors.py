"""The exceptions and warnings of mlgt. Each message says what was wrong, what was expected and how to fix
it."""

from typing import Any


class MLGTError(ValueError):
    """Base of every error mlgt raises about its input."""


class DataFormatError(MLGTError):
    """A data file does not follow its format; the message names file and line."""


class HeaderMismatchError(DataFormatError):
    """The first line of a data file has another number of features or labels than expected."""

    def __init__(self, message: str, what: str, counted: int, expected: int):
        super().__init__(message)
        self.what, self.counted, self.expected = what, counted, expected


class ModelFileError(MLGTError):
    """A model folder is missing, incomplete, altered or in an unknown format."""


class NotReproducibleWarning(UserWarning):
    """The result depends on the clock, so another run with the same seed may differ."""


class NoSeparatorError(MLGTError):
    """The label graph cannot be split as requested; train without blocks, or use `partition`.

    `partition` is the closest split found, with fewer or larger blocks than requested, or None.
    """

    def __init__(self, message: str, partition: Any = None):
        super().__init__(message)
        self.partition = partition


class NoSeparatorWarning(UserWarning):
    """The labels could not be split as requested; the model has fewer blocks, or one."""


class PartitionerMissingError(MLGTError, ImportError):
    """The package of the chosen partitioner is not installed."""


class UncalibratedWarning(UserWarning):
    """The numbers beside labels are scores that order them: the model has no probabilities."""


class MissingTextWarning(UserWarning):
    """Some texts are None or NaN, and are treated as empty."""


class OneBlockWarning(UserWarning):
    """`HierarchicalMLGTClassifier` trains one block, where its other settings have no effect."""


class VocabularyWarning(UserWarning):
    """Labels of a file and its vocabulary do not fit together in all places; the message has counts."""
