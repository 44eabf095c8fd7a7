"""The shortlist against its definition, written out over all labels."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.rows import scale_rows
from mlgt._core.sparse import without_rows
from mlgt.decoding import decode_soft, search
from mlgt.decoding.index import LabelIndex
from mlgt.groups import constant_weight_groups
from mlgt.ranking import _shortlist_kernels as kernels
from mlgt.ranking import insert, shortlist
from mlgt.ranking._shortlist_kernels import FEW_FACTOR
from mlgt.ranking.centroids import (
    FREQUENT,
    MAX_ADDITIONS,
    MAX_DROPPED,
    WEIGHT,
    CentroidIndex,
    are_light,
    label_centroids,
    thin,
)
from mlgt.ranking.shortlist import LONGER, MIN_SHORTLIST, PRIOR, SHORTLIST_FACTOR


def problem(rng, n=60, p=300, d=900, m=40):
    words = rng.random((n, p), dtype=np.float32) * (rng.random((n, p)) < 0.05)
    X = scale_rows(sp.csr_array(words.astype(np.float32)))
    Y = sp.csr_array((rng.random((n, d)) < 0.01).astype(np.float32))
    A = constant_weight_groups(m, d, 4, rng)
    decoder = decode_soft(A, np.asarray(Y.sum(axis=0)).ravel(), prior=0.1)
    values = decoder.values(rng.normal(size=(n, m)).astype(np.float32))
    return X, Y, values, LabelIndex(A), decoder, A


def dense(index, p, d):
    """The centroids (d, p) as the index has them."""
    scale = np.repeat(index.scale, np.diff(index.indptr))
    by_feature = sp.csr_array((index.values * scale, index.labels, index.indptr), shape=(p, d))
    return by_feature.toarray().T


@pytest.mark.parametrize("count", [1, 50, 120])
def test_the_best_by_words_and_of_these_the_best_by_all(count, rng):
    X, Y, values, index, decoder, A = problem(rng)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    labels, scores, near = shortlist(X, values, centroids, index, decoder, PRIOR * decoder.offset, count)
    similar = X.toarray() @ dense(centroids, X.shape[1], Y.shape[1]).T
    by_words = WEIGHT * similar + PRIOR * decoder.offset
    by_groups = decoder.scale * (values @ A) + decoder.offset
    by_all = by_groups + WEIGHT * similar
    size = max(MIN_SHORTLIST, SHORTLIST_FACTOR * count)
    for i in range(X.shape[0]):
        bar = np.sort(by_words[i])[-size]
        found = labels[i]
        assert (by_words[i, found] >= bar - 1e-5).all()
        np.testing.assert_allclose(scores[i], by_groups[i, found], atol=1e-4)
        np.testing.assert_allclose(near[i], similar[i, found], atol=1e-5)
        total = scores[i] + WEIGHT * near[i]
        assert (np.diff(total) <= 1e-5).all()
        left_out = np.setdiff1d(np.flatnonzero(by_words[i] > bar + 1e-5), found)
        assert by_all[i, left_out].max(initial=-np.inf) <= total[-1] + 1e-4


def test_a_row_does_not_depend_on_its_neighbours(rng):
    X, Y, values, index, decoder, _ = problem(rng)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    together = shortlist(X, values, centroids, index, decoder, PRIOR * decoder.offset, 30)
    for i in (0, 17, 59):
        alone = shortlist(X[[i]], values[[i]], centroids, index, decoder, PRIOR * decoder.offset, 30)
        for one, many in zip(alone, together):
            assert (one[0] == many[i]).all()


def test_labels_without_a_common_word_need_not_be_looked_at(rng):
    X, Y, values, index, decoder, _ = problem(rng, d=3000)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    frequent = np.argsort(-decoder.offset, kind="stable")
    for rows in (X, -X):
        plain = shortlist(rows, values, centroids, index, decoder, PRIOR * decoder.offset, 90)
        quick = shortlist(rows, values, centroids, index, decoder, PRIOR * decoder.offset, 90, frequent)
        for one, other in zip(plain[1:], quick[1:]):
            np.testing.assert_allclose(one, other, rtol=1e-6)
        assert (plain[0] == quick[0]).mean() > 0.99  # but for ties


def test_a_row_without_words_gets_frequent_labels(rng):
    X, Y, values, index, decoder, _ = problem(rng)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    nothing = sp.csr_array((1, X.shape[1]), dtype=np.float32)
    labels, _, near = shortlist(
        nothing, np.zeros_like(values[:1]), centroids, index, decoder, PRIOR * decoder.offset, 5
    )
    assert (near == 0).all()
    assert decoder.offset[labels].min() == np.sort(decoder.offset)[-5]


def test_labels_in_no_group_are_never_named(rng):
    X, Y, values, _, _, A = problem(rng, d=450)
    A = sp.csr_array(A.toarray() * (np.arange(450) % 2))
    decoder = decode_soft(A, np.asarray(Y.sum(axis=0)).ravel(), prior=0.1)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    labels, scores, _ = shortlist(X, values, centroids, LabelIndex(A), decoder, PRIOR * decoder.offset, 450)
    assert (np.isfinite(scores) == (labels >= 0)).all()
    assert ((labels >= 0).sum(axis=1) == 225).all()
    assert (labels[labels >= 0] % 2 == 1).all()


def test_centroids_in_two_arrays_make_the_same_index(rng):
    X, Y, *_ = problem(rng)
    centers = label_centroids(X, Y)
    some = np.flatnonzero(rng.random(Y.shape[1]) < 0.3)
    rest = np.setdiff1d(np.arange(Y.shape[1]), some)
    whole = CentroidIndex.build(centers, X)
    parts = CentroidIndex.build(without_rows(centers, some), X, others=without_rows(centers, rest))
    for name in CentroidIndex.ARRAYS.values():
        assert (getattr(whole, name) == getattr(parts, name)).all()


def test_heavy_centroids_are_thinned_until_they_are_light(rng, monkeypatch):
    X, Y, *_ = problem(rng)
    centers = label_centroids(X, Y)
    work, module = CentroidIndex.build(centers, X).work(X), sys.modules["mlgt.ranking.centroids"]
    for sampled in (2000, Y.shape[1] // 5):  # all labels, or one in five
        monkeypatch.setattr(module, "SAMPLED_LABELS", sampled)
        monkeypatch.setattr(module, "MAX_ADDITIONS", 3 * work)
        assert are_light(X, Y)
        monkeypatch.setattr(module, "MAX_ADDITIONS", work / 3)
        assert not are_light(X, Y)
    thinned, thinning = CentroidIndex.build(centers, X), thin([centers], X)
    assert 0 < thinned.work(X) <= work / 3
    kept = centers.data * thinning.typical[centers.indices] >= thinning.threshold
    assert thinned.values.shape[0] == kept.sum()
    assert MAX_ADDITIONS > work


def test_the_entries_that_add_least_are_dropped(rng):
    X, Y, *_ = problem(rng)
    centers = label_centroids(X, Y)
    thinning, used = thin([centers], X), np.bincount(X.indices, minlength=X.shape[1])
    squares = np.bincount(X.indices, X.data**2, minlength=X.shape[1])
    assert np.allclose(thinning.typical[used > 0] ** 2 * used[used > 0], squares[used > 0])
    value = centers.data * thinning.typical[centers.indices]
    weighed = value**2 * used[centers.indices]
    dropped = weighed[value < thinning.threshold].sum() / weighed.sum()
    assert 0.7 * MAX_DROPPED < dropped <= MAX_DROPPED
    assert thinning.light


def test_frequent_features_leave_a_heavy_index_first(rng, monkeypatch):
    """A word of every second text is an entry of nearly every centroid, and says little about any."""
    X, Y, *_ = problem(rng)
    often = sp.csr_array((rng.random((X.shape[0], 3)) < 0.5).astype(np.float32) * np.float32(0.1))
    X = sp.csr_array(sp.hstack([X, often]), dtype=np.float32)
    centers = label_centroids(X, Y)
    assert (thin([centers], X).typical > 0).all()
    rare = np.bincount(X.indices, minlength=X.shape[1]) <= FREQUENT * X.shape[0]
    assert not rare[-3:].any()
    monkeypatch.setattr(sys.modules["mlgt.ranking.centroids"], "MAX_ADDITIONS", 1)
    monkeypatch.setattr(sys.modules["mlgt.ranking.centroids"], "MIN_RARE_SHARE", 0.0)
    assert ((thin([centers], X).typical > 0) == rare).all()
    monkeypatch.setattr(sys.modules["mlgt.ranking.centroids"], "MIN_RARE_SHARE", 1.0)
    assert (thin([centers], X).typical > 0).all()  # where frequent features are all there is


def with_dense_features(rng, X, q):
    """X with q dense features at random places, and which these are."""
    both = sp.hstack([rng.normal(size=(X.shape[0], q)), X], "csr")
    order = rng.permutation(both.shape[1])
    return scale_rows(sp.csr_array(both[:, order], dtype=np.float32)), np.flatnonzero(order < q)


def test_no_entry_of_dense_features_is_dropped(rng, monkeypatch):
    """Embeddings beside a few words, in any order of the columns, however many entries there are."""
    X, Y, values, index, decoder, _ = problem(rng)
    monkeypatch.setattr(sys.modules["mlgt.ranking.centroids"], "MAX_ADDITIONS", 50)
    X, columns = with_dense_features(rng, X, 42)
    seen, d = np.asarray(Y.sum(axis=0)).ravel() > 0, Y.shape[1]
    assert 0 < seen.sum() < d
    centers = label_centroids(X, Y)
    thinning, centroids = thin([centers], X), CentroidIndex.build(centers, X)
    assert thinning.dense.nonzero()[0].tolist() == centroids.dense.tolist() == columns.tolist()
    assert not thinning.light
    assert not np.diff(centroids.indptr)[columns].any()
    assert np.diff(centroids.indptr).max() > 0
    kept = centroids.centroids(d).toarray()
    np.testing.assert_allclose(np.linalg.norm(kept, axis=1), seen, atol=0.02)
    whole = centers[:, columns].toarray()
    factor = np.linalg.norm(kept[:, columns], axis=1) / np.linalg.norm(whole, axis=1).clip(1e-9)
    np.testing.assert_allclose(kept[:, columns], whole * factor[:, None], atol=0.01)
    labels, _, near = shortlist(X, values, centroids, index, decoder, PRIOR * decoder.offset, 50)
    similar = X.toarray() @ kept.T
    np.testing.assert_allclose(near, np.take_along_axis(similar, labels, axis=1), atol=1e-5)
    some = rng.permutation(d)[:7]
    np.testing.assert_allclose(centroids.similarity(X, some), similar[:, some], atol=1e-5)


@pytest.mark.parametrize("light", [False, True])
def test_rows_with_dense_features_are_alike_in_pieces_of_any_size(rng, monkeypatch, light):
    X, Y, values, index, decoder, _ = problem(rng)
    X, _ = with_dense_features(rng, X, 42)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    extra = rng.integers(0, Y.shape[1], (X.shape[0], 3))
    rows = X, values, centroids, index, decoder, PRIOR * decoder.offset, 20, decoder.by_offset, 30, extra
    if light:
        kernels = sys.modules["mlgt.ranking._shortlist_kernels"], sys.modules["mlgt.ranking._dense_kernels"]
        for module, name in zip(kernels, ("shortlist", "add_dense")):
            monkeypatch.setattr(module, name, getattr(module, f"_{name}"))
        monkeypatch.setattr(sys.modules["mlgt.ranking.shortlist"], "add_dense", kernels[1]._add_dense)
    whole = shortlist(*rows)
    monkeypatch.setattr(sys.modules["mlgt.ranking.shortlist"], "START_ENTRIES", 7 * Y.shape[1])
    for one, two in zip(whole, shortlist(*rows)):
        assert (one == two).all()


def test_the_heaviest_dense_features_are_kept_where_there_are_too_many(rng, monkeypatch):
    X, Y, *_ = problem(rng)
    X, columns = with_dense_features(rng, X, 42)
    X = sp.csr_array(X @ sp.diags_array(1 + np.arange(X.shape[1], dtype=np.float32)))
    monkeypatch.setattr(sys.modules["mlgt.ranking.centroids"], "MAX_DENSE_ENTRIES", 40 * Y.shape[1])
    centers = label_centroids(X, Y)
    assert CentroidIndex.build(centers, X).dense.tolist() == columns[-40:].tolist()
    assert CentroidIndex.build(centers, X, dense=columns).dense.tolist() == columns.tolist()


def test_stop_words_are_not_dense_features(rng):
    """They hold most of the length of rows of counts, but not most of their entries."""
    counts = sp.random(400, 2000, density=0.02, format="csr", random_state=rng)
    X = scale_rows(sp.csr_array(sp.hstack([9 + rng.random((400, 12)), counts]), dtype=np.float32))
    Y = sp.csr_array(rng.random((400, 30)) < 0.1, dtype=np.float32)
    assert not thin([label_centroids(X, Y)], X).dense.any()


def test_centroids_of_some_labels_are_those_of_all(rng):
    """Training centroids again where rows were added relies on it."""
    X, Y, *_ = problem(rng)
    some = np.arange(0, Y.shape[1], 3)
    weight = (np.arange(X.shape[0]) % 2).astype(np.float32)
    for weights in (None, weight):
        own = label_centroids(X, sp.csr_array(Y[:, some]), weights)
        every = label_centroids(X, Y, weights)[some]
        assert (own.indptr == every.indptr).all()
        assert (own.data == every.data).all()


def test_centroids_in_the_index_have_length_one(rng):
    X, Y, *_ = problem(rng)
    index = CentroidIndex.build(label_centroids(X, Y), X)
    values = index.values * np.repeat(index.scale, np.diff(index.indptr))
    lengths = np.sqrt(np.bincount(index.labels, values**2))
    np.testing.assert_allclose(lengths[lengths > 0], 1, atol=0.02)  # bytes


@pytest.mark.parametrize("count", [3, 40])
def test_further_candidates_follow_the_first_ones(rng, count):
    X, Y, values, index, decoder, _ = problem(rng)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    extra = np.stack([rng.choice(index.n_labels, 5, replace=False) for _ in range(X.shape[0])])
    extra[::3, 2:] = -1
    rows = X, values, centroids, index, decoder, PRIOR * decoder.offset, count
    plain, more = shortlist(*rows, beyond=20), shortlist(*rows, beyond=15, extra=extra)
    for i, (without, labels) in enumerate(zip(plain[0], more[0])):
        known = [l for l in extra[i] if l >= 0 and l not in without[:count]]
        assert labels[: count + len(known)].tolist() == [*without[:count], *known]
        assert len(set(labels.tolist())) == len(labels)
    V = values @ decoded(index).T * decoder.scale + decoder.offset
    place = more[0][:, count]
    np.testing.assert_allclose(more[1][:, count], V[np.arange(len(V)), place], rtol=1e-4, atol=1e-4)
    searched = search(values, index, decoder, count + 20)
    joined, scores = insert(*searched, count, extra, values, index, decoder)
    for i, labels in enumerate(joined):
        known = [l for l in extra[i] if l >= 0 and l not in searched[0][i, :count]]
        rest = [l for l in searched[0][i, count:] if l not in known]
        assert labels.tolist() == [*searched[0][i, :count], *known, *rest][: len(labels)]
    np.testing.assert_allclose(scores, np.take_along_axis(V, joined, axis=1), rtol=1e-4, atol=1e-4)


def decoded(index):
    """The groups of each label as a matrix (d, m)."""
    labels = np.repeat(np.arange(index.n_labels), np.diff(index.indptr))
    ones = np.ones(len(labels), np.float32)
    return sp.csr_array((ones, (labels, index.groups)), shape=(index.n_labels, index.n_groups)).toarray()


def test_words_that_add_nothing_lift_no_label(rng):
    """Products of tiny values are 0 in float32; a label is then met with every word, and never rises."""
    X, Y, values, index, decoder, _ = problem(rng, n=20, p=20, d=12_000)
    p, d = X.shape[1], Y.shape[1]
    some_labels = np.tile(np.arange(0, d, d // 50, dtype=np.int32), p)
    ends = np.arange(p + 1) * (len(some_labels) // p)
    ones, scale = np.ones(len(some_labels), np.int8), np.full(p, 1e-45, np.float32)
    no_dense = np.empty(0, np.int32), np.empty((0, d), np.int8)
    centroids = CentroidIndex(ends, some_labels, ones, scale, *no_dense)
    X = sp.csr_array((X.data * np.float32(0.01), X.indices, X.indptr), shape=X.shape)
    assert FEW_FACTOR * (centroids.work(X) + MIN_SHORTLIST) < d
    some = shortlist(X, values, centroids, index, decoder, PRIOR * decoder.offset, 50, decoder.by_offset)
    full = shortlist(X, values, centroids, index, decoder, PRIOR * decoder.offset, 50)
    for one, two in zip(some, full):
        assert (one == two).all()


def test_an_index_with_a_negative_scale_lists_all_labels(rng):
    """Sums would fall and rise again above the prior of the last frequent label."""
    X, Y, values, index, decoder, _ = problem(rng, n=20, d=12_000)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    signs = np.where(np.arange(X.shape[1]) % 2, -1, 1).astype(np.float32)
    odd = replace(centroids, scale=centroids.scale * signs)
    assert centroids.nonnegative
    assert not odd.nonnegative
    rows = X, values, odd, index, decoder, PRIOR * decoder.offset, 50
    for one, two in zip(shortlist(*rows, decoder.by_offset), shortlist(*rows)):
        assert (one == two).all()


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.parametrize("beyond", [0, 300])
def test_labels_without_a_word_of_the_row_are_skipped_where_they_are_most(rng, count, beyond):
    X, Y, values, index, decoder, _ = problem(rng, n=40, p=2000, d=16_000)
    keep = X.indices % 40 == 0  # some rows have hardly any word, so that few labels are read
    keep |= np.repeat(np.arange(40) % 2 == 0, np.diff(X.indptr))
    X = sp.csr_array((X.data * keep, X.indices, X.indptr), shape=X.shape)
    X.eliminate_zeros()
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    met = np.diff(centroids.indptr)[X.indices]
    work = np.add.reduceat(np.append(met, 0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
    frequent = LONGER[0][1] + count if beyond else max(MIN_SHORTLIST, SHORTLIST_FACTOR * count)
    few = FEW_FACTOR * (work + frequent) < Y.shape[1]
    assert few.any()
    assert not few.all()
    rows = X, values, centroids, index, decoder, PRIOR * decoder.offset, count
    some = shortlist(*rows, decoder.by_offset, beyond)
    full = shortlist(*rows, beyond=beyond)
    for one, two in zip(some, full):
        assert (one == two).all()


@pytest.mark.parametrize("d", [450, 900, 9000])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("in_groups", [1, 2], ids=["all in groups", "half in groups"])
def test_numpy_finds_what_the_kernels_find(rng, monkeypatch, d, named, in_groups):
    X, Y, values, _, _, A = problem(rng, n=40, d=d)
    X = sp.csr_array(X * (rng.random(X.shape) < np.arange(40)[:, None] / 40))  # some have hardly any word
    A = sp.csr_array(A * (np.arange(d) % in_groups == 0))
    decoder, index = decode_soft(A, np.asarray(Y.sum(axis=0)).ravel(), prior=0.1), LabelIndex(A)
    centroids = CentroidIndex.build(label_centroids(X, Y), X)
    extra = rng.integers(-d // 2, d, (40, 20 if named else 0))
    extra = np.where((extra >= 0) & (extra % in_groups == 0), extra, -1)
    monkeypatch.setattr(kernels, "CHUNK", 7 * d)

    def answers():
        for count in (1, 50, 300):
            for frequent in (decoder.by_offset, decoder.by_offset[:0]):
                for beyond in (0, 200):
                    options = count, frequent, beyond, extra
                    yield shortlist(X, values, centroids, index, decoder, PRIOR * decoder.offset, *options)
            found = search(values, index, decoder, min(d, count + 20))
            yield insert(*found, count, extra, values, index, decoder)

    compiled = list(answers())
    for name, light in (("shortlist", kernels._shortlist), ("insert", kernels._insert_all)):
        monkeypatch.setattr(kernels, name, light)
    for one, other in zip(compiled, answers()):
        assert all((part == twin).all() for part, twin in zip(one, other))
