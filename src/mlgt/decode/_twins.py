"""`_kernels.peel` and `_kernels.soft_peel` in plain NumPy, same signatures: read these first.

Digit by digit, where the kernels have words; every label looked up, where they have tables; and no bin left
out for its bound.
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


def peel(T, tests, min_support, labels, scores, operations):
    m1 = len(T.bin_ptr) - 1
    for i, row in enumerate(tests):
        shown = (row > 0).astype(np.int64).reshape(m1, 3, 2, T.n_bits)
        D, P, operations[i] = [], [], len(row)

        def read(b, known, shown=shown, D=D, P=P, i=i):
            operations[i] += 6
            address = _named(T, shown[b], known)
            label = NO_LABEL if address == NO_LABEL else _label_at(T, b, address)
            if label != NO_LABEL:
                own = [shown[at][_signature(T, address) > 0] for at, address in _bins_of(T, label)]
                operations[i] += 6 * len(own)
                if np.mean(own) >= min_support:
                    D.append((label, np.float32(np.mean(own))))

        def n_known(b, D=D, P=P):
            return sum(b == at for label, _ in D + P for at, _ in _bins_of(T, label))

        for b in range(m1):
            if n_known(b) == 0:
                read(b, None)
        while D:
            P.append(D.pop(0))
            for b, address in _bins_of(T, P[-1][0]):
                if n_known(b) == 1:
                    read(b, address)
        _write(dict(P), labels[i], scores[i])


def _write(found, ids, top):
    best = sorted(found, key=lambda label: (-found[label], label))[: len(ids)]
    ids[: len(best)] = best
    top[: len(best)] = [found[label] for label in best]


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
    return sorted(found, key=lambda label: (-found[label], label))[:1]


def soft_peel(T, margins, values, offset, n_doubtful, labels, scores, operations):
    """Fills no operations: it does more of them."""
    shape, k = (len(T.bin_ptr) - 1, 3, 2, T.n_bits), labels.shape[1]
    for i, (m, v) in enumerate(zip(margins.reshape(-1, *shape), values.reshape(-1, *shape))):
        found, P = {}, []

        def read(b, known, m=m, v=v, found=found):
            for label in _proposed(T, m[b], v[b], b, known, n_doubtful):
                own = [v[at][_signature(T, address) > 0] for at, address in _bins_of(T, label)]
                found[label] = np.float32(np.mean(own, dtype=np.float64)) + offset[label]

        for b in range(shape[0]):
            read(b, None)
        while True:
            best = sorted(found, key=lambda label, found=found: (-found[label], label))[:k]
            D = [label for label in best if label not in P]
            if not D:
                break
            P.append(D[0])
            for b, address in _bins_of(T, D[0]):
                read(b, address)
        _write(found, labels[i], scores[i])
