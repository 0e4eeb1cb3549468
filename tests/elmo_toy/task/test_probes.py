"""The linear probe, classifiers by group, static vectors."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.gradient_check import central_difference
from elmo_toy.similarity import nearest_mean
from elmo_toy.task import probes
from elmo_toy.task.lbfgs import minimise
from elmo_toy.task.probes import LinearProbe


def draw(n: int = 60, dim: int = 5, scale: float = 1.0) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(0)
    vectors = scale * rng.normal(size=(n, dim))
    noise = rng.gumbel(size=(n, 3))
    scores = vectors @ rng.normal(size=(dim, 3)) / scale + noise
    return vectors, ["abc"[k] for k in scores.argmax(axis=1)]


def loss_of(probe: LinearProbe, vectors: np.ndarray, labels: list[str], strength: float) -> float:
    scores = vectors @ probe.weights + probe.bias
    own = scores[np.arange(len(labels)), [probe.labels.index(label) for label in labels]]
    cross_entropy = np.log(np.exp(scores).sum(axis=1)) - own
    return float(cross_entropy.mean() + strength / 2 * (probe.weights**2).sum())


@pytest.mark.parametrize("strength", [1e-3, 0.1, 3.0])
def test_the_fitted_probe_is_a_minimum(strength: float) -> None:
    """Its slope is 0 along every weight and bias (the loss is convex, so that is enough)."""
    vectors, labels = draw()
    probe = LinearProbe.fit(vectors, labels, strength)
    assert probe.labels == ("a", "b", "c")

    def at(weights: np.ndarray, bias: np.ndarray) -> np.float64:
        moved = LinearProbe(probe.labels, weights, bias)
        return np.float64(loss_of(moved, vectors, labels, strength))

    by_weights = central_difference(lambda w: at(w, probe.bias), probe.weights, 1e-4)
    by_bias = central_difference(lambda b: at(probe.weights, b), probe.bias, 1e-4)
    assert np.abs(by_weights).max() < 1e-6
    assert np.abs(by_bias).max() < 1e-6


def test_two_points_have_their_solution_in_closed_form() -> None:
    """Vectors -1 and 1: ``strength * w = p``, where p is the other label's probability."""
    probe = LinearProbe.fit(np.array([[-1.0], [1.0]]), ["a", "b"], 0.1)
    w = probe.weights[0, 1]
    assert probe.weights[0, 0] == pytest.approx(-w, abs=1e-6)
    other = 1 / (1 + np.exp(2 * w))
    assert 0.1 * w == pytest.approx(other, abs=1e-6)
    assert np.exp(probe.log_probabilities(np.array([[1.0]])))[0, 0] == pytest.approx(other)


def test_more_penalty_makes_smaller_weights_and_the_limit_counts_labels() -> None:
    vectors, labels = draw()
    norms = [np.abs(LinearProbe.fit(vectors, labels, s).weights).sum() for s in (0.01, 1.0, 100.0)]
    assert norms[0] > norms[1] > norms[2]
    rigid = LinearProbe.fit(vectors, labels, 1e6)
    shares = [labels.count(name) / len(labels) for name in rigid.labels]
    np.testing.assert_allclose(np.exp(rigid.log_probabilities(vectors[:1]))[0], shares, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 300.0])
def test_it_converges_whatever_the_scale_separable_or_not(scale: float) -> None:
    for dim in (5, 80):  # 60 vectors of 80 dimensions can always be separated
        vectors, labels = draw(dim=dim, scale=scale)
        strength = 1e-4 * scale**2
        again = [LinearProbe.fit(vectors.astype(np.float32), labels, strength) for _ in range(2)]
        assert np.array_equal(again[0].weights, again[1].weights)
        right = np.mean([p == q for p, q in zip(again[0].predict(vectors), labels, strict=True)])
        assert right == 1.0 if dim == 80 else right > 0.4


def test_one_label_alone_is_always_the_answer() -> None:
    assert probes.linear(np.eye(2), ["a", "a"], np.eye(2)) == ["a", "a"]


def test_the_minimiser_says_when_it_gives_up() -> None:
    def hollow(x: np.ndarray) -> tuple[float, np.ndarray]:  # exp has no minimum
        return float(np.exp(x).sum()), np.exp(x)

    with pytest.raises(RuntimeError, match="3 steps taken: the largest entry of the gradient"):
        minimise(hollow, np.zeros(2), tolerance=1e-12, steps=3)

    def lying(x: np.ndarray) -> tuple[float, np.ndarray]:  # the gradient points downhill
        return float((x**2).sum()), -2 * x

    with pytest.raises(RuntimeError, match="no lower loss in sight"):
        minimise(lying, np.ones(2))


def test_what_the_last_step_reached_counts() -> None:
    def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(x @ x) / 2, x.copy()

    start = np.array([0.6, 0.8])  # of length 1, which the first step takes whole
    np.testing.assert_array_equal(minimise(bowl, start, steps=1), 0)
    with pytest.raises(RuntimeError, match="0 steps taken"):
        minimise(bowl, start, steps=0)
    assert minimise(bowl, np.zeros(2), steps=0).tolist() == [0, 0]


def test_the_minimiser_is_not_stopped_by_a_loss_that_rounds() -> None:
    """So near the minimum a step gains 1e-16 of the loss, and rounding may hide it."""
    looks = 0

    def rounding(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal looks
        looks += 1
        return 1 + float(x @ x) + looks * 3e-16, 2 * x

    found = minimise(rounding, np.array([2e-8]), tolerance=1e-9)
    assert abs(found.item()) < 1e-9


def test_the_minimiser_finds_a_narrow_valley() -> None:
    scales = 10.0 ** np.arange(6)

    def valley(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float((scales * (x - 1) ** 2).sum()), 2 * scales * (x - 1)

    np.testing.assert_allclose(minimise(valley, np.zeros(6)), 1, atol=1e-6)


# By group


@pytest.mark.parametrize("classify", [probes.linear, nearest_mean])
def test_each_group_has_a_classifier_of_its_own(classify: probes.Classify) -> None:
    """The same vector has opposite labels in the two groups, which one classifier can't learn."""
    known = np.array([[0.0], [1.0], [0.0], [1.0]])
    labels, groups = ["low", "high", "high", "low"], ["bank", "bank", "bass", "bass"]
    asked, names = np.array([[0.1], [0.1], [0.9]]), ["bass", "bank", "bass"]
    assert probes.by_group(classify, known, labels, groups, asked, names) == ["high", "low", "low"]


def test_groups_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match=r"groups that are known, got \['bat'\]"):
        probes.by_group(probes.linear, np.eye(1), ["a"], ["bank"], np.eye(1), ["bat"])
    with pytest.raises(ValueError, match="expected one a vector, got 1, 2 for 1, 1 for 1"):
        probes.by_group(probes.linear, np.eye(1), ["a"], ["b", "b"], np.eye(1), ["b"])
    with pytest.raises(ValueError, match=r"labels: expected one .* got 1 for shape \(2, 2\)"):
        LinearProbe.fit(np.eye(2), ["a"])
    with pytest.raises(ValueError, match="strength: expected above 0, got 0"):
        LinearProbe.fit(np.eye(2), ["a", "b"], 0)


# Static vectors


def test_mean_by_word_is_the_mean_of_its_occurrences() -> None:
    rng = np.random.default_rng(0)
    words = np.array([[2, 1, 2], [2, 0, 0]])
    mask = words > 0
    layers = np.where(mask[:, None, :, None], rng.normal(size=(2, 3, 3, 4)), np.nan)
    table = probes.mean_by_word(layers, mask, words, 3)
    expected = (layers[0, :, 0] + layers[0, :, 2] + layers[1, :, 0]) / 3
    np.testing.assert_allclose(table[1], expected, atol=1e-12)
    np.testing.assert_allclose(table[0], layers[0, :, 1], atol=1e-12)
    assert not table[2].any()
    found = probes.look_up(table, words)
    assert found.shape == layers.shape
    assert np.array_equal(found[0, :, 2], table[1])
    assert not found[1, :, 1:].any()


def test_a_mean_over_words_that_are_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"words: expected 1 to 2 .* got 1 to 3"):
        probes.mean_by_word(
            np.zeros((1, 1, 2, 1)), np.ones((1, 2), dtype=bool), np.array([[1, 3]]), 2
        )


@pytest.mark.parametrize("word", [-1, 3])
def test_a_word_beyond_the_table_is_not_looked_up(word: int) -> None:
    """-1 would be the last word's vector."""
    with pytest.raises(ValueError, match="words: expected 0 to 2, got"):
        probes.look_up(np.ones((2, 1, 1)), np.array([[1, word]]))


def test_a_probe_refuses_what_is_no_number_and_another_width() -> None:
    with pytest.raises(ValueError, match="vectors: expected finite numbers"):
        LinearProbe.fit(np.array([[0.0], [np.nan]]), ["a", "b"])
    probe = LinearProbe.fit(np.array([[0.0], [1.0]]), ["a", "b"])
    with pytest.raises(ValueError, match="vectors: expected finite numbers"):
        probe.predict(np.array([[np.nan]]))
    with pytest.raises(ValueError, match=r"vectors: expected \(m, 1\), got shape \(1, 2\)"):
        probe.predict(np.ones((1, 2)))
