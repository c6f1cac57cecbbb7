"""The certificate sees the problem and the point, nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import Bias, Loss, Status, certify, margins, soft_margin
from maxmargin.certificates import distances, feasible_point, hull_distance, separates
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Precomputed
from maxmargin.solvers.box.old_solve import SMO, solve
from tests import helpers

X, Y = helpers.moons(80)
GRAM = Gram(RBF(1.0), X)
CASES = [
    (loss, kernel, bias)
    for loss in Loss
    for kernel, bias in ((RBF(1.0), Bias.FREE), (RBF(1.0), Bias.NONE), (RBF(1.0) + 1.0, Bias.REGULARIZED))
]


def primal(w_norm_square, decision, C, loss):
    slack = np.maximum(0, 1 - Y * decision)
    return 0.5 * w_norm_square + C * np.sum(slack if loss is Loss.HINGE else slack**2)


@pytest.mark.parametrize(("loss", "kernel", "bias"), CASES)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_values_are_those_of_the_formulas(loss, kernel, bias, C):
    """With random feasible multipliers: primal and dual as the notes write them; gap is their difference."""
    problem = soft_margin(Gram(kernel, X), Y, C, loss, bias)
    rng = np.random.default_rng(0)
    alpha = rng.random(80) * C
    if bias is Bias.FREE:
        alpha = np.abs(feasible_point(problem, Y * alpha))
    proof = certify(problem, alpha)
    K = kernel(X)
    f = K @ (Y * alpha)
    norm = (Y * alpha) @ f
    dual = alpha.sum() - 0.5 * norm - (np.sum(alpha**2) / (4 * C) if loss is Loss.SQUARED_HINGE else 0.0)
    assert proof.dual == pytest.approx(dual, rel=1e-9)
    b = proof.bias if bias is Bias.FREE else 0.0  # K + 1 holds a regularised bias already
    assert proof.primal == pytest.approx(primal(norm, f + b, C, loss), rel=1e-9)
    assert proof.gap == pytest.approx(proof.primal - proof.dual, rel=1e-9)
    if bias is Bias.REGULARIZED:
        assert proof.bias == pytest.approx(np.sum(Y * alpha))
        assert proof.norm == pytest.approx(math.sqrt((Y * alpha) @ RBF(1.0)(X) @ (Y * alpha)))
    else:
        assert proof.norm == pytest.approx(math.sqrt(norm))
    assert proof.moved < 1e-9


@pytest.mark.parametrize(("loss", "kernel", "bias"), CASES)
def test_the_optimum_has_no_gap_and_any_perturbation_shows(loss, kernel, bias):
    problem = soft_margin(Gram(kernel, X), Y, 1.0, loss, bias)
    solution = solve(problem, SMO())
    alpha = Y * solution.beta
    proof = certify(problem, alpha)
    assert 0 <= proof.gap < 1e-9
    assert proof.violation < 1e-8
    for at in (0, 17, 40):
        moved = alpha.copy()
        moved[at] = 0.5 * moved[at] if moved[at] > 0 else 0.3
        worse = certify(problem, moved)
        assert worse.gap > proof.gap + 1e-6
        assert worse.violation > proof.violation
        assert worse.dual <= proof.dual + 1e-9


@given(st.integers(0, 10_000))
def test_weak_duality_for_any_multipliers(seed):
    rng = np.random.default_rng(seed)
    problem = soft_margin(GRAM, Y, 2.0)
    best = solve(problem, SMO()).certificate
    proof = certify(problem, rng.normal(size=80) * 3)  # outside the box, unbalanced
    assert proof.dual <= best.primal + 1e-9
    assert proof.primal >= best.dual - 1e-9
    assert proof.moved > 0


@pytest.mark.large
def test_exact_and_mixed_precision_agree():
    many, labels = helpers.overlapping(2600)
    gram = Gram(RBF(0.2), many, accuracy=1e-3)
    assert gram.dtype == np.float32
    problem = soft_margin(gram, labels, 1.0)
    alpha = labels * solve(problem, SMO()).beta
    mixed, exact = certify(problem, alpha), certify(problem, alpha, exact=True)
    assert mixed.gap == pytest.approx(exact.gap, rel=1e-3)
    assert mixed.gap >= exact.gap - 1e-9
    assert mixed.dual == pytest.approx(exact.dual, rel=1e-6)
    assert mixed.violation == pytest.approx(exact.violation, abs=1e-6)
    far = certify(problem, np.ones(len(labels)))
    assert far.gap >= certify(problem, np.ones(len(labels)), exact=True).gap - 1e-6


def test_indefinite_matrix_reports_the_conditions_only():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    problem = soft_margin(Gram(Precomputed(), K), np.array([1.0, -1.0]), 1.0)
    proof = certify(problem, np.array([0.5, 0.5]))
    assert math.isnan(proof.gap)
    assert math.isnan(proof.primal)
    assert proof.violation >= 0
    assert "not positive semidefinite" in proof.reason


def test_hard_margin_is_scaled_to_the_nearest_row():
    problem = soft_margin(Gram(Linear(), np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), np.inf)
    proof = certify(problem, np.array([0.25, 0.25]))  # w = 0.5 where w = 1 is optimal
    assert proof.primal == pytest.approx(0.5)
    assert proof.dual == pytest.approx(0.5 - 0.125)
    assert certify(problem, np.zeros(2)).primal == math.inf


def test_hulls_that_meet_are_recognised():
    inside = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.5, 0.5]])
    y = np.array([1.0, 1.0, 1.0, -1.0])
    problem = soft_margin(Gram(Linear(), inside), y, np.inf)
    beta = np.array([0.5, 0.25, 0.25, -1.0])
    scores = inside @ (inside.T @ beta)
    assert hull_distance(problem, beta, scores) == pytest.approx(0.0, abs=1e-8)
    assert not separates(problem, beta, scores)
    apart = np.array([1.0, 0.0, 0.0, -1.0])
    assert separates(problem, apart, inside @ (inside.T @ apart))
    assert hull_distance(problem, np.zeros(4), np.zeros(4)) == np.inf


def test_margins_and_distances():
    problem = soft_margin(GRAM, Y, 1.0)
    alpha = Y * solve(problem, SMO()).beta
    seen = margins(problem, alpha)
    K = RBF(1.0)(X)
    assert seen.norm == pytest.approx(math.sqrt((Y * alpha) @ K @ (Y * alpha)))
    np.testing.assert_allclose(seen.slacks, np.maximum(0, 1 - Y * (K @ (Y * alpha) + seen.bias)), atol=1e-9)
    np.testing.assert_allclose(distances(seen.decision, seen.norm), np.abs(seen.decision) / seen.norm)
    assert np.all(alpha[seen.bounded] == 1.0)
    assert np.all((alpha[seen.free] > 0) & (alpha[seen.free] < 1.0))
    squared = soft_margin(GRAM, Y, 1.0, Loss.SQUARED_HINGE)
    seen = margins(squared, Y * solve(squared, SMO()).beta)
    assert len(seen.bounded) == 0
    assert not seen.slack_multipliers.any()


def test_bias_is_the_midpoint_where_no_multiplier_is_free():
    x = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    problem = soft_margin(Gram(Linear(), x), y, 0.01)
    solution = solve(problem, SMO())
    assert set(np.abs(solution.beta)) <= {0.0, 0.01}
    assert solution.certificate.bias == pytest.approx(0.0, abs=1e-12)


def test_nonsense_is_refused():
    problem = soft_margin(GRAM, Y, 1.0)
    with pytest.raises(ValueError, match="one finite multiplier for each of the 80 rows"):
        certify(problem, np.full(80, np.nan))
    with pytest.raises(ValueError, match="one finite multiplier"):
        certify(problem, 0.5)
    with pytest.raises(ValueError, match="label -1 or \\+1"):
        soft_margin(GRAM, (Y > 0) * 1.0, 1.0)
    for bad in (-1.0, np.nan):
        with pytest.raises(ValueError, match="C must be >= 0"):
            soft_margin(GRAM, Y, bad)


def test_regularised_bias_in_margins():
    problem = soft_margin(Gram(RBF(1.0) + 1.0, X), Y, 1.0, bias=Bias.REGULARIZED)
    beta = solve(problem, SMO()).beta
    seen = margins(problem, Y * beta)
    assert seen.bias == pytest.approx(beta.sum())
    assert seen.norm == pytest.approx(math.sqrt(beta @ RBF(1.0)(X) @ beta))
    np.testing.assert_allclose(seen.decision, RBF(1.0)(X) @ beta + seen.bias)


@pytest.mark.large
def test_float32_scores_at_large_costs_are_recomputed_where_they_matter():
    """At C = 1000 the error bound of float32 scores exceeds the margin: every row is doubtful, and is recomputed."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=(5000, 10))
    labels = np.where(many[:, 0] + 0.5 * rng.normal(size=5000) > 0, 1.0, -1.0)
    gram = Gram(RBF(0.01), many, accuracy=1e-3)
    assert gram.dtype == np.float32
    solution = solve(soft_margin(gram, labels, 1000.0), SMO())
    assert solution.status is Status.CONVERGED
    exact = certify(soft_margin(gram, labels, 1000.0), labels * solution.beta, exact=True)
    assert exact.violation <= 1e-3 * (1 + 1e-6)
    assert solution.certificate.gap == pytest.approx(exact.gap, rel=1e-3)
