"""The certificate sees the problem and the point, nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import Bias, Status, certify, soft_margin
from maxmargin.certificates import feasible_point
from maxmargin.certificates.proof import prove
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Precomputed
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.models import one_class
from maxmargin.problems.solution import Point, Scores
from maxmargin.solvers import Options, solve
from maxmargin.solvers.box.smo import SMO
from tests import helpers

X, Y = helpers.moons(80)
GRAM = Gram(RBF(1.0), X)
OPTIMUM = helpers.dual_by_clarabel(RBF(1.0)(X), Y, 2.0)
CASES = [
    (loss, kernel, bias)
    for loss in (Hinge(), SquaredHinge())
    for kernel, bias in ((RBF(1.0), Bias.FREE), (RBF(1.0), Bias.NONE), (RBF(1.0) + 1.0, Bias.REGULARIZED))
]


def primal(w_norm_square, decision, C, loss):
    slack = np.maximum(0, 1 - Y * decision)
    return 0.5 * w_norm_square + C * np.sum(slack if isinstance(loss, Hinge) else slack**2)


@pytest.mark.parametrize(("loss", "kernel", "bias"), CASES)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_values_are_those_of_the_formulas(loss, kernel, bias, C):
    """With random feasible multipliers: primal, dual and gap as the notes write them."""
    problem = soft_margin(Gram(kernel, X), Y, C, loss, bias)
    rng = np.random.default_rng(0)
    alpha = rng.random(80) * C
    if bias is Bias.FREE:
        alpha = np.abs(feasible_point(problem, Y * alpha))
    proof = certify(problem, alpha)
    K = kernel(X)
    f = K @ (Y * alpha)
    norm = (Y * alpha) @ f
    dual = alpha.sum() - 0.5 * norm - (np.sum(alpha**2) / (4 * C) if isinstance(loss, SquaredHinge) else 0.0)
    assert proof.dual == pytest.approx(dual, rel=1e-9)
    b = proof.bias if bias is Bias.FREE else 0.0  # K + 1 holds a regularised bias already
    value = primal(norm, f + b, C, loss)
    assert proof.primal == pytest.approx(value, rel=1e-9)
    assert proof.gap == pytest.approx(value - dual, rel=1e-9)
    if bias is Bias.REGULARIZED:
        assert proof.bias == pytest.approx(np.sum(Y * alpha))
        assert proof.norm == pytest.approx(math.sqrt((Y * alpha) @ RBF(1.0)(X) @ (Y * alpha)))
    else:
        assert proof.norm == pytest.approx(math.sqrt(norm))
    assert proof.moved < 1e-9


@pytest.mark.parametrize(("loss", "kernel", "bias"), CASES)
def test_the_optimum_has_no_gap_and_any_perturbation_shows(loss, kernel, bias):
    problem = soft_margin(Gram(kernel, X), Y, 1.0, loss, bias)
    solution = solve(problem, Options(tol=1e-3))
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
    proof = certify(problem, rng.normal(size=80) * 3)  # outside the box, unbalanced
    assert proof.dual <= OPTIMUM + 1e-7
    assert proof.primal >= OPTIMUM - 1e-7
    assert proof.moved > 0
    assert proof.violation > 0.01  # no such point is near the optimum


def test_the_violation_is_that_of_the_feasible_point():
    """Of multipliers that had to be moved far, not of those that were given: these may all seem to be at bounds."""
    only_one_side = np.where(Y > 0, 2.0, 0.0)
    proof = certify(soft_margin(GRAM, Y, 2.0), only_one_side)
    assert proof.gap > 1.0
    assert proof.violation > 0.1
    nothing = certify(one_class(GRAM, 0.3), Point(beta=np.zeros(80)))
    assert nothing.gap > 1.0
    assert nothing.violation > 0.1


@pytest.mark.large
def test_exact_and_mixed_precision_agree():
    many, labels = helpers.overlapping(2600)
    gram = Gram(RBF(0.2), many, accuracy=1e-3)
    assert gram.dtype == np.float32
    problem = soft_margin(gram, labels, 1.0)
    alpha = labels * solve(problem, Options(tol=1e-3)).beta
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


@pytest.mark.large
def test_float32_scores_at_large_costs_are_recomputed_where_they_matter():
    """At C = 1000 the error bound of float32 scores exceeds the margin: every row is doubtful, and is recomputed."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=(5000, 10))
    labels = np.where(many[:, 0] + 0.5 * rng.normal(size=5000) > 0, 1.0, -1.0)
    gram = Gram(RBF(0.01), many, accuracy=1e-3)
    assert gram.dtype == np.float32
    solution = solve(soft_margin(gram, labels, 1000.0), Options(tol=1e-3))
    assert solution.status is Status.CONVERGED
    exact = certify(soft_margin(gram, labels, 1000.0), labels * solution.beta, exact=True)
    assert exact.violation <= 1e-3 * (1 + 1e-6)
    assert solution.certificate.gap == pytest.approx(exact.gap, rel=1e-3)


@pytest.fixture(scope="module")
def solved():
    """A problem with float32 kernel values, and the point of a solver that kept its scores."""
    X, y = helpers.moons(1500)
    problem = soft_margin(Gram(RBF(1.0), X, accuracy=1e-3), y, 2.0, Hinge(), Bias.FREE)
    assert problem.gram.dtype == np.float32
    solver = SMO(problem, problem.start(), Options(tol=1e-3, working_rows=200))
    while solver.optimality_error > 1e-3:
        solver.step()
    return problem, solver.point


@pytest.mark.large
def test_kept_scores_are_within_their_bounds(solved):
    problem, point = solved
    exact = problem.gram.scores(point.beta, exact=True)[0]
    assert np.all(np.abs(point.scores.f - exact) <= point.scores.errors)
    assert point.scores.errors.max() < 1e-3


@pytest.mark.large
def test_kept_scores_prove_what_the_point_alone_proves(solved):
    problem, point = solved
    kept, alone = prove(problem, point).certificate, prove(problem, point._replace(scores=None)).certificate
    exact = prove(problem, point, exact=True).certificate
    for name in ("primal", "dual"):
        assert getattr(kept, name) == pytest.approx(getattr(alone, name), rel=1e-6)
        assert getattr(kept, name) == pytest.approx(getattr(exact, name), rel=1e-5)
    assert kept.gap == pytest.approx(exact.gap, rel=0.05)


@pytest.mark.large
def test_wrong_scores_are_found_out(solved):
    problem, point = solved
    wrong = Scores(1.01 * point.scores.f, point.scores.errors)
    alone = prove(problem, point._replace(scores=None)).certificate
    assert prove(problem, point._replace(scores=wrong)).certificate == alone


@pytest.mark.large
def test_multipliers_that_were_moved_are_scored_afresh(solved):
    problem, point = solved
    moved = point._replace(beta=1.5 * point.beta)
    assert prove(problem, moved).certificate == prove(problem, moved._replace(scores=None)).certificate
