"""The exceptions and warnings mlgt raises by name. Each message says what was wrong, what was
expected and how to fix it."""


class MLGTError(ValueError):
    """Base of every error mlgt raises about its input."""


class DataFormatError(MLGTError):
    """A data file does not follow its format; the message names file and line."""


class HeaderMismatchError(DataFormatError):
    """The first line of a data file counts other features or labels than were expected."""

    def __init__(self, message, what, counted, expected):
        super().__init__(message)
        self.what, self.counted, self.expected = what, counted, expected


class ModelFileError(MLGTError):
    """A model folder is missing, incomplete, altered or of an unknown format."""


class NotReproducibleWarning(UserWarning):
    """The result depends on the clock, so the same seed need not give it again."""


class NoSeparatorError(MLGTError):
    """The label graph cannot be split as asked; train without blocks, or use `partition`.

    `partition` is the split that came nearest, with fewer or larger blocks than asked for, or None.
    """

    def __init__(self, message, partition=None):
        super().__init__(message)
        self.partition = partition


class NoSeparatorWarning(UserWarning):
    """The labels could not be split as asked; the model has fewer blocks, or one."""


class PartitionerMissingError(MLGTError, ImportError):
    """The package of the chosen partitioner is not installed."""


class OneBlockWarning(UserWarning):
    """`HierarchicalMLGTClassifier` trains one block, where its other settings have no effect."""
