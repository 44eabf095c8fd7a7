from dataclasses import asdict

import numpy as np
import pytest

from mlgt.ranking import Blend, Candidates, learn_blend


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def evidence(margins, scores, similarities=None):
    labels = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return Candidates(labels, scores, similarities).evidence(margins)


def drawn(rng, n=4000, K=5):
    """Candidates whose log-odds are a known blend of what is said of them."""
    terms = evidence(
        rng.normal(size=(n, K)).astype(np.float32),
        -rng.exponential(size=(n, K)).astype(np.float32),
        rng.random((n, K)).astype(np.float32),
    )
    true = {"ranker": 1.5, "matcher": 0.7, "similarity": 2.0}
    logits = sum(true[name] * value for name, value in terms.items()) + 0.4
    return terms, true, rng.random((n, K)) < sigmoid(logits)


def test_a_blend_is_a_sum_of_its_terms():
    margins, scores = np.float32([[0.5, -1.0, -np.inf]]), np.float32([[-0.2, -0.1, -np.inf]])
    blend = Blend(ranker=2.0, matcher=0.5, intercept=1.0)
    expected = 1 + 2 * np.log(sigmoid(2 * margins[:, :2].astype(float))) + 0.5 * scores[:, :2]
    mixed = blend(evidence(margins, scores))
    np.testing.assert_allclose(mixed[:, :2], expected, rtol=1e-5)
    assert mixed[0, 2] == -np.inf


def test_margins_come_back_from_log_probabilities():
    margins = np.linspace(-5, 5, 21, dtype=np.float32)[None]
    found = evidence(None, np.log(sigmoid(margins)))["margin"]
    np.testing.assert_allclose(found, margins, atol=1e-3)


def test_coefficients_are_found_again(rng):
    terms, true, right = drawn(rng)
    blend = learn_blend(terms, right)
    assert blend.calibrated
    for name, value in true.items():
        assert getattr(blend, name) == pytest.approx(value, abs=0.2)
    assert blend.intercept == pytest.approx(0.4, abs=0.2)


def test_probabilities_mean_what_they_say(rng):
    terms, _, right = drawn(rng)
    blend = learn_blend({name: value[:2000] for name, value in terms.items()}, right[:2000])
    logits = blend.intercept + sum(getattr(blend, name) * value[2000:] for name, value in terms.items())
    p, right = sigmoid(logits).ravel(), right[2000:].ravel()
    for low in (0.1, 0.3, 0.5, 0.7):
        some = (p >= low) & (p < low + 0.2)
        assert right[some].mean() == pytest.approx(p[some].mean(), abs=4 * 0.5 / np.sqrt(some.sum()))


def test_too_little_to_learn_from_leaves_the_defaults(rng):
    terms, _, right = drawn(rng, n=20)
    right[:] = False
    right[0, :3] = True
    assert learn_blend(terms, right) == Blend()
    assert not Blend().calibrated


def test_separable_evidence_stays_finite(rng):
    terms, _, _ = drawn(rng, n=200)
    blend = learn_blend(terms, terms["similarity"] > 0.5)
    assert np.isfinite(list(asdict(blend).values())).all()


def test_evidence_that_says_nothing_has_no_weight(rng):
    """Names that never match would otherwise get any weight, and outweigh all others once they do."""
    terms, _, right = drawn(rng, n=1000)
    nothing = np.zeros_like(terms["matcher"])
    blend, plain = (
        learn_blend(terms | {"name": nothing, "phrase": nothing}, right),
        learn_blend(terms, right),
    )
    assert blend == plain
    assert blend.name == blend.phrase == 0.0


def test_facts_survive_and_are_checked():
    blend = Blend(ranker=1.0, matcher=2.0, calibrated=True)
    assert Blend.from_facts(asdict(blend)) == blend
    with pytest.raises(ValueError, match="the blend is not"):
        Blend.from_facts({"ranker": 1.0})
    with pytest.raises(ValueError, match="all finite"):
        Blend.from_facts(asdict(blend) | {"matcher": np.nan})
