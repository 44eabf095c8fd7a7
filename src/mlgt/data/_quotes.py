"""Lines of a table, where a quote may join any number of lines to one row: its size, and open quotes."""

import csv


class QuotedLines:
    """Numbered lines for `csv.reader`: raises csv.Error if a row over many has more than `max_bytes`."""

    def __init__(self, lines, max_bytes):
        self.number, self.size, self.too_long = 0, 0, False
        self.opened = self.opened_before = None
        self._lines, self._max_bytes = lines, max_bytes

    def begin_row(self):
        """Forget quotes before this row; returns the number of the next line."""
        self.opened = self.opened_before = None
        return self.number + 1

    def __iter__(self):
        """Yield the lines; `opened` is the number of the line whose quote is still open, or None, and
        `opened_before` the same before the last line."""
        for number, line in self._lines:
            self.number = number
            if line == "\n" and self.opened is None:
                yield line
                continue
            if self.opened is not None:
                self.size += len(line)
                if self.size > self._max_bytes:
                    self.too_long = True
                    raise csv.Error("the row is too long")
            odd = line.count('"') % 2
            if odd or self.opened is not None:
                self._follow(line, odd)
            yield line

    def _follow(self, line, odd):
        """Set `opened` after a line that opens a quote or has one open; a quote in a field is doubled."""
        self.opened_before = self.opened
        if self.opened is None:
            self.opened, self.size = self.number, len(line)
        elif odd:
            self.opened = None
        elif '"' in line.replace('""', ""):  # one quote closes, another one opens
            self.opened = self.number
