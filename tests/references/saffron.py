"""`peel` and `soft_peel` of `mlgt.decoding._saffron_kernels`.

Digit by digit where the kernels have words; dictionaries and lists where they have places in arrays.
"""

import numpy as np

NO_LABEL = -1


def _bins_of(T, label):
    """(bin, address) of a label."""
    e = slice(T.label_ptr[label], T.label_ptr[label + 1])
    return list(zip(T.label_bins[e], T.label_addresses[e]))


def _label_at(T, b, address):
    members = T.members[T.bin_ptr[b] : T.bin_ptr[b + 1]]
    if T.local:
        return members[address] if address < len(members) else NO_LABEL
    return address if address in members else NO_LABEL


def _digits(T, code):
    return code >> np.arange(T.n_bits) & 1


def _signature(T, address):
    """What a bin shows of an address alone: (3, 2, L), the sections' b and not b."""
    return np.array([[_digits(T, code), 1 - _digits(T, code)] for code in T.codes[:, address]])


def _number(digits):
    return int(digits @ (1 << np.arange(len(digits))))


def _named(T, shown, known):
    """The address that makes a bin, alone or with a known one, show just this; -1 if none does."""
    explained = np.zeros_like(shown) if known is None else _signature(T, known)
    if known is None:
        address = _number(shown[0, 0])
    else:
        address = _number(np.where(explained[0, 0], 1 - shown[0, 1], shown[0, 0]))
    if address >= T.codes.shape[1] or address == known:
        return NO_LABEL
    return address if (shown == (explained | _signature(T, address))).all() else NO_LABEL


def _tests_of(T, shown, label):
    """What a label's groups show, over all its bins; shown (m1, 3, 2, L)."""
    return np.concatenate([shown[b][_signature(T, address) > 0] for b, address in _bins_of(T, label)])


def _best(found, k):
    """The k best labels of a dictionary of scores, the lowest id first among equals."""
    return sorted(found, key=lambda label: (-found[label], label))[:k]


def _write(found, ids, top):
    best = _best(found, len(ids))
    ids[: len(best)] = best
    top[: len(best)] = [found[label] for label in best]


def _peel_row(T, shown, min_support):
    """(labels with the shares of their positive tests, words looked at)."""
    D: list[int] = []
    shares: dict[int, np.float32] = {}  # of the labels in D and P
    words = 0

    def read(b, known):
        nonlocal words
        words += 6
        address = _named(T, shown[b], known)
        label = NO_LABEL if address == NO_LABEL else _label_at(T, b, address)
        if label != NO_LABEL:
            share = _tests_of(T, shown, label).mean()
            words += 6 * len(_bins_of(T, label))
            if share >= min_support:
                D.append(label)
                shares[label] = np.float32(share)

    def n_known(b):
        return sum(b == at for label in shares for at, _ in _bins_of(T, label))

    for b in range(len(shown)):
        if n_known(b) == 0:
            read(b, None)
    while D:
        for b, address in _bins_of(T, D.pop(0)):
            if n_known(b) == 1:
                read(b, address)
    return shares, words


def peel(T, tests, min_support, labels, scores, operations):
    for i, row in enumerate(tests):
        shown = row.astype(np.int64).reshape(-1, 3, 2, T.n_bits)
        found, words = _peel_row(T, shown, min_support)
        operations[i] = len(row) + words
        _write(found, labels[i], scores[i])


def _proposed(T, margins, values, b, known, n_doubtful):
    """The best label that the sections of bin b name, in a list; margins, values (3, 2, L) of the bin."""
    found = {}
    for s in range(3):
        if known is None:
            lead = margins[s, 0] - margins[s, 1]
        else:
            lead = np.where(_digits(T, T.codes[s, known]), -margins[s, 1], margins[s, 0])
        doubtful = np.argsort(np.abs(lead), kind="stable")[:n_doubtful]
        for subset in range(2 ** len(doubtful)):
            digits = (lead > 0).astype(np.int64)
            digits[doubtful] ^= subset >> np.arange(len(doubtful)) & 1
            if _number(digits) < T.codes.shape[1]:
                address = T.addresses[s, _number(digits)]
                label = _label_at(T, b, address)
                if label != NO_LABEL and address != known:
                    found[label] = values[_signature(T, address) > 0].sum(dtype=np.float64)
    return _best(found, 1)


def _soft_peel_row(T, margins, values, offset, n_doubtful, k):
    """Labels with their scores; margins, values (m1, 3, 2, L)."""
    found: dict[int, np.float32] = {}

    def read(b, known):
        for label in _proposed(T, margins[b], values[b], b, known, n_doubtful):
            score = _tests_of(T, values, label).mean(dtype=np.float64)
            found[label] = np.float32(score) + (offset[label] if len(offset) else 0)

    for b in range(len(margins)):
        read(b, None)
    P: list[int] = []
    while D := [label for label in _best(found, k) if label not in P]:
        P.append(D[0])
        for b, address in _bins_of(T, D[0]):
            read(b, address)
    return found


def soft_peel(T, margins, values, offset, reach, n_doubtful, labels, scores, operations):
    """Counts no operations, and leaves out no bin for its reach."""
    shape = (-1, len(T.bin_ptr) - 1, 3, 2, T.n_bits)
    for i, (m, v) in enumerate(zip(margins.reshape(shape), values.reshape(shape))):
        _write(_soft_peel_row(T, m, v, offset, n_doubtful, labels.shape[1]), labels[i], scores[i])
