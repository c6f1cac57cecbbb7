"""Every solver on every loss it claims, for every bias and both kinds of storage; and every hand-over."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    HuberHinge,
    Logistic,
    PowerHinge,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.problems.solution import Point, Status
from maxmargin.solvers import Options, Stage, drive, solve
from maxmargin.solvers.choose import choose
from maxmargin.solvers.linear import choose as chooser
from maxmargin.solvers.linear import descent, l1
from maxmargin.solvers.linear.choose import NAMED
from maxmargin.solvers.linear.newton import Newton
from tests.clocks import every_look_takes_time
from tests.linear_helpers import BIASES, CLASS_LOSSES, LOSSES, data, name_of, problem

EXACT = ["newton", "alm", "dual_cd"]


def claimed(solver):
    X, y = data(Hinge())
    return [loss for loss in LOSSES if not NAMED[solver].refuses(problem(X, y, loss))]


@pytest.mark.parametrize("bias", BIASES, ids=name_of)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("solver", "loss"), [(s, loss) for s in EXACT for loss in claimed(s)], ids=str)
def test_exact_solvers_prove_their_gap(solver, loss, bias, kind):
    X, y = data(loss, n=120, d=5)
    stored = sparse.csr_array(X) if kind == "sparse" else X
    for C in (0.01, 1.0 if solver == "dual_cd" else 10.0):  # coordinate descent slows down with C
        task = problem(stored, y, loss, bias, C)
        found = solve(task, Options(tol=1e-6), solver)
        assert found.status is Status.CONVERGED
        assert found.certificate.relative_gap <= 1e-6
        assert found.solver == solver
        auto = solve(problem(stored, y, loss, bias, C), Options(tol=1e-8))
        assert found.certificate.primal == pytest.approx(auto.certificate.primal, rel=2e-6)


@pytest.mark.parametrize("solver", ["gd", "sgd"])
@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
def test_descent_says_how_far_it_got(solver, loss, bias):
    X, y = data(loss, n=200, d=3)
    task = problem(X, y, loss, bias, 0.05)
    best = solve(problem(X, y, loss, bias, 0.05), Options(tol=1e-8)).certificate.primal
    found = solve(task, Options(tol=1e-9, max_iter=60), solver)
    assert found.status in (Status.CONVERGED, Status.ITERATION_LIMIT, Status.STALLED)
    assert (found.status is Status.CONVERGED) == (found.certificate.relative_gap <= 1e-9)
    assert best - 1e-9 <= found.certificate.primal <= 1.3 * best
    assert found.certificate.gap >= found.certificate.primal - best - 1e-9


@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic()], ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("wide", [False, True])
def test_l1_is_solved_on_working_sets_too(loss, bias, kind, wide, monkeypatch):
    monkeypatch.setattr(l1, "NEW_FEATURES", 2)
    if wide:
        monkeypatch.setattr(l1, "DENSE_WIDTH", 3)
    X, y = data(loss, n=150, d=12)
    stored = sparse.csr_array(X) if kind == "sparse" else X
    found = solve(problem(stored, y, loss, bias, 0.05, "l1"), Options(tol=1e-7))
    assert found.status is Status.CONVERGED
    assert found.certificate.relative_gap <= 1e-7
    assert 0 < np.count_nonzero(found.point.v) < 12


@pytest.mark.parametrize("loss", CLASS_LOSSES, ids=name_of)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
@pytest.mark.parametrize("solver", ["newton", "alm"])
def test_conjugate_gradients_replace_the_factor_where_there_are_many_features(loss, bias, solver, monkeypatch):
    X, y = data(loss, n=150, d=12)
    if NAMED[solver].refuses(problem(X, y, loss)):
        pytest.skip("not claimed")
    factored = solve(problem(X, y, loss, bias, 1.0), Options(tol=1e-7), solver)
    monkeypatch.setattr(descent, "DENSE_WIDTH", 3)
    found = solve(problem(X, y, loss, bias, 1.0), Options(tol=1e-7), solver)
    assert found.status is Status.CONVERGED
    assert found.certificate.primal == pytest.approx(factored.certificate.primal, rel=1e-6)


def stages(task, monkeypatch, **constants):
    for name, number in constants.items():
        monkeypatch.setattr(chooser, name, number)
    return choose(task)


def test_the_chooser_goes_by_loss_and_shape(monkeypatch):
    X, y = data(Hinge(), n=40)
    dense, stored = problem(X, y, Hinge()), problem(sparse.csr_array(X), y, Hinge(), C=1e-3)
    assert [stage.solver.name for stage in choose(dense)] == ["alm", "dual_cd"]
    assert [stage.solver.name for stage in stages(stored, monkeypatch, SMALL_ROWS=10)] == ["dual_cd", "alm"]
    assert [stage.solver.name for stage in choose(problem(X, y, SquaredHinge()))] == ["newton", "alm"]
    assert [stage.solver.name for stage in choose(problem(X, y, SquaredHinge(), penalty="l1"))] == ["newton"]
    assert [stage.solver.name for stage in choose(problem(X, y, PowerHinge(1.5)))] == ["newton", "alm"]
    assert [stage.solver.name for stage in choose(problem(X, y, PowerHinge(1.4)))] == ["alm", "dual_cd"]
    assert [stage.solver.name for stage in stages(dense, monkeypatch, COSTLY_WIDTH=2)] == ["dual_cd", "alm"]
    for loss in (SquaredHinge(), Logistic()):
        for C, solvers in ((1e-3, ["dual_cd", "newton", "alm"]), (10.0, ["newton", "alm"])):
            assert [stage.solver.name for stage in choose(problem(X, y, loss, C=C))] == solvers
        assert choose(problem(sparse.csr_array(X), y, loss, C=1e-3))[0].solver is Newton
    assert [stage.solver.name for stage in stages(dense, monkeypatch, DENSE_WIDTH=3)] == ["dual_cd", "alm"]
    assert [stage.solver.name for stage in choose(problem(X, y, SquaredHinge()))] == ["dual_cd", "newton"]
    assert [stage.solver.name for stage in choose(problem(X, y, Logistic()))] == ["newton", "dual_cd"]
    assert all(stage.reason for stage in choose(dense))


@pytest.mark.large
@pytest.mark.parametrize(
    "loss", [SquaredHinge(), Logistic(), HuberHinge(), SquaredEpsilonInsensitive(0.1)], ids=name_of
)
@pytest.mark.parametrize("bias", BIASES, ids=name_of)
def test_wide_dense_rows_with_a_small_cost_need_no_hessian(loss, bias):
    X, y = data(loss, n=1100, d=chooser.COSTLY_WIDTH + 4)
    task = problem(X, y, loss, bias, C=3e-3)
    found, newton = solve(task, Options(tol=1e-6)), solve(task, Options(tol=1e-9), "newton")
    assert (found.solver, newton.solver) == ("dual_cd", "newton")
    assert found.certificate.relative_gap <= 1e-6
    assert found.certificate.primal == pytest.approx(newton.certificate.primal, rel=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "loss"),
    [
        ("dual_cd", "alm", Hinge()),
        ("dual_cd", "newton", SquaredHinge()),
        ("newton", "alm", SquaredHinge()),
        ("newton", "dual_cd", Logistic()),
        ("alm", "dual_cd", Hinge()),
    ],
)
def test_every_hand_over(first, second, loss):
    plan = [Stage(NAMED[first], "first", patience=0.0), Stage(NAMED[second], "the first made too little progress")]
    X, y = data(loss, n=100, d=5)
    for bias in BIASES:
        found = drive.run(problem(X, y, loss, bias, 5.0), plan, Options(tol=1e-7))
        assert found.status is Status.CONVERGED
        assert found.solver == second
        assert found.reason.startswith("took over")
        assert found.certificate.relative_gap <= 1e-7


def test_a_named_solver_runs_alone_or_raises():
    X, y = data(Hinge())
    with pytest.raises(ValueError, match="no second derivative"):
        solve(problem(X, y, Hinge()), solver="newton")
    with pytest.raises(ValueError, match="proximal"):
        solve(problem(X, y, SquaredHinge(), penalty="l1"), solver="dual_cd")
    with pytest.raises(ValueError, match="solved by 'auto'"):
        solve(problem(X, y, Hinge()), solver="simplex")
    assert len(choose(problem(X, y, Hinge()), "dual_cd")) == 1


def test_limits_keep_the_point_and_its_gap(monkeypatch):
    X, y = data(Hinge(), n=2000, d=30)
    stopped = solve(problem(X, y, Hinge(), C=100.0), Options(tol=1e-10, max_iter=3), "alm")
    assert stopped.status is Status.ITERATION_LIMIT
    assert stopped.iterations == 3
    best = solve(problem(X, y, Hinge(), C=100.0), Options(tol=1e-6)).certificate
    assert stopped.certificate.dual <= best.primal
    assert stopped.certificate.primal - best.primal <= stopped.certificate.gap
    assert stopped.certificate.primal >= best.dual
    with monkeypatch.context() as patch:
        every_look_takes_time(patch)
        at_once = solve(problem(X, y, Hinge(), C=100.0), Options(tol=1e-10, time_limit=1e-6), "dual_cd")
    assert at_once.status is Status.TIME_LIMIT
    assert np.isfinite(at_once.certificate.gap)
    nothing = solve(problem(X, y, Hinge()), Options(max_iter=0))
    assert nothing.status is Status.ITERATION_LIMIT
    told = []
    watch = Options(tol=1e-10, watch=lambda seen, point: told.append(seen) or len(told) == 3)
    watched = solve(problem(X, y, Hinge(), C=100.0), watch, "alm")
    assert watched.status is Status.STOPPED
    assert [seen.iteration for seen in told] == [0, 1, 2] == watched.trace.column("iteration")


def test_an_interrupt_keeps_the_point_or_is_raised():
    X, y = data(Hinge(), n=2000, d=30)

    def interrupt(seen, point):
        if seen.iteration:
            raise KeyboardInterrupt

    for solver in ("alm", "dual_cd", "sgd"):
        options = Options(tol=1e-9, watch=interrupt, interrupt="keep")
        kept = solve(problem(X, y, Hinge(), C=10.0), options, solver)
        assert kept.status is Status.INTERRUPTED
        assert kept.iterations >= 1
        assert np.isfinite(kept.certificate.gap)
        with pytest.raises(KeyboardInterrupt):
            solve(problem(X, y, Hinge(), C=10.0), Options(tol=1e-9, watch=interrupt), solver)


@pytest.mark.parametrize("bias", BIASES, ids=name_of)
@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_without_entries(bias, solver, kind):
    loss = SquaredHinge()
    X, y = data(loss, n=80, d=4)
    X[::5] = 0.0
    stored = sparse.csr_array(X) if kind == "sparse" else X
    found = solve(problem(stored, y, loss, bias), Options(tol=1e-7), solver)
    assert found.status is Status.CONVERGED
    assert found.certificate.relative_gap <= 1e-7


def test_numbers_that_overflow_are_an_error():
    X, y = data(SquaredHinge(), n=50, d=3)
    with pytest.raises(ValueError, match="scale the features"):
        solve(problem(X * 1e160, y, SquaredHinge()), solver="newton")


def test_large_costs_do_not_pass_for_a_perfect_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += 0.5 * y
    for C in (1e6, 1e10):
        found = solve(problem(X, y, Hinge(), C=C), Options(tol=1e-6), "alm")
        assert (found.status is Status.CONVERGED) == (found.certificate.relative_gap <= 1e-6)
        assert found.certificate.relative_gap <= 1e-2


def test_a_good_start_needs_fewer_steps():
    X, y = data(Hinge(), n=3000, d=10)
    cold = solve(problem(X, y, Hinge(), C=10.0), Options(tol=1e-7), "alm")
    warm = solve(problem(X, y, Hinge(), C=10.0), Options(tol=1e-7, start=cold.point), "alm")
    assert warm.iterations < cold.iterations / 2
    assert warm.certificate.relative_gap <= 1e-7


def test_a_perfect_fit_is_recognised():
    X, y = data(EpsilonInsensitive(0.1), n=1)
    found = solve(problem(X, y, EpsilonInsensitive(0.1)))
    assert found.status is Status.CONVERGED
    assert found.certificate.gap <= 1e-12


def test_points_are_copied_when_asked():
    point = Point(np.zeros(2), np.zeros(3))
    other = point.copied()
    other.v[0] = 1.0
    assert point.v[0] == 0.0
    assert Point(np.zeros(2)).copied().beta is None
