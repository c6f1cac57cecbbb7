"""Plans carried out without any estimator."""

import numpy as np
import pytest

from maxmargin import machines
from maxmargin.core import limits
from maxmargin.kernels import RBF, Linear, PairFunction
from maxmargin.machines import Caller, Effort, Job, KernelPlan
from maxmargin.models import Bias, nu_classifier, soft_margin
from maxmargin.problems.solution import Point, Status, unproved
from maxmargin.solvers import Clarabel, Options, Stage, solve
from maxmargin.solvers.box.interior import InteriorPoint
from tests import helpers

X, Y = helpers.overlapping(200)
SIGNS = helpers.signs(Y)
GAUSSIAN = RBF(0.2)


def two_sides(gram):
    return soft_margin(gram, SIGNS, 1.0)


def plan(kernel=GAUSSIAN, bias=Bias.FREE, job=None, **parts):
    job = job or Job(None, (len(Y),), lambda gram: soft_margin(gram, SIGNS, 1.0, bias=bias))
    return KernelPlan(kernel, X, [job], bias, parts.pop("effort", Effort(Options(1e-3))), usual_bound=1.0, **parts)


@pytest.mark.parametrize("bias", list(Bias))
@pytest.mark.parametrize("kernel", [RBF(0.2), Linear()], ids=str)
@pytest.mark.large
def test_a_machine_decides_as_its_certificate_says(kernel, bias):
    fitted = machines.solve(plan(kernel, bias))
    (machine,), (solution,) = fitted.machines, fitted.solutions
    assert solution.status is Status.CONVERGED
    K = kernel.block(kernel.prepare(X), kernel.prepare(X))
    f = K @ machine.coef[0] + machine.biases[0]
    if bias is Bias.FREE and machine.weights is not None:  # its rows were moved, and sum(coef) is zero
        np.testing.assert_allclose(X @ machine.weights[0] + machine.biases[0], f, atol=1e-9)
    norm = machine.coef[0] @ K @ machine.coef[0] + (machine.biases[0] ** 2 if bias is Bias.REGULARIZED else 0.0)
    primal = 0.5 * norm + np.maximum(0.0, 1.0 - SIGNS * f).sum()
    assert primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    assert (machine.weights is None) == isinstance(kernel, RBF)


def test_kernel_rows_are_kept_and_used_again_only_when_asked_for():
    assert machines.solve(plan()).kept is None
    first = machines.solve(plan(keep=True))
    again = machines.solve(plan(keep=True, kept=first.kept))
    assert first.kernel_values > 0
    assert again.kernel_values == 0
    np.testing.assert_array_equal(again.machines[0].coef, first.machines[0].coef)


@pytest.mark.parametrize(
    ("cause", "status"), [(limits.OutOfTime, Status.TIME_LIMIT), (KeyboardInterrupt, Status.INTERRUPTED)]
)
def test_a_job_stopped_before_its_problem_is_stated_is_a_machine_of_zeros(cause, status):
    def state(gram):
        raise cause

    found = machines.solve(plan(job=Job(None, (200,), state), effort=Effort(Options(1e-3, interrupt="keep"))))
    assert found.solutions[0].status is status
    np.testing.assert_array_equal(found.machines[0].coef, np.zeros((1, 200)))
    np.testing.assert_array_equal(found.machines[0].biases, [0.0])


@pytest.mark.large
@pytest.mark.parametrize(
    ("stop", "status"), [(limits.OutOfTime, Status.TIME_LIMIT), (KeyboardInterrupt, Status.INTERRUPTED)]
)
def test_what_float32_found_is_kept_where_the_second_try_is_stopped(stop, status, monkeypatch):
    found = []

    def stalled(problem, options, solver):
        if found:
            raise stop
        found.append(solve(problem, options, solver)._replace(status=Status.STALLED))
        return found[0]

    monkeypatch.setattr("maxmargin.machines.kernel.solve", stalled)
    many, labels = helpers.overlapping(1200)
    job = Job(None, (1200,), lambda gram: soft_margin(gram, helpers.signs(labels), 1.0))
    effort = Effort(Options(1e-3, interrupt="keep"))
    kept = machines.solve(KernelPlan(GAUSSIAN, many, [job], Bias.FREE, effort, usual_bound=1.0))
    assert kept.solutions[0].status is status
    np.testing.assert_array_equal(kept.machines[0].coef[0], found[0].beta)


@pytest.mark.large
def test_a_second_try_that_proves_less_changes_nothing_and_counts_on(monkeypatch):
    solved = []

    def without_time_for_a_proof(problem, options, solver):
        found = solve(problem, options, solver)
        status, proof = Status.STALLED, found.certificate
        if solved:
            status, proof = Status.TIME_LIMIT, unproved("no time")
        solved.append(found._replace(status=status, certificate=proof))
        return solved[-1]

    monkeypatch.setattr("maxmargin.machines.kernel.solve", without_time_for_a_proof)
    many, labels = helpers.overlapping(1200)
    job = Job(None, (1200,), lambda gram: soft_margin(gram, helpers.signs(labels), 1.0))
    seen = []
    asked = KernelPlan(GAUSSIAN, many, [job], Bias.FREE, Effort(Options(1e-3)), usual_bound=1.0)
    ((machine,), (solution,)) = machines.solve(asked, [Caller(seen.append)])[:2]
    assert solution.status is Status.TIME_LIMIT
    assert solution.certificate == solved[0].certificate
    np.testing.assert_array_equal(machine.coef[0], solved[0].beta)
    assert [one.iteration for one in seen] == [one.iteration for one in solution.trace]
    assert len(seen) == len(solved[0].trace) + len(solved[1].trace)
    assert np.all(np.diff(solution.trace.column("iteration")) >= 0)


def test_a_start_without_time_for_a_proof_is_a_machine(monkeypatch):
    """A warm start whose first step, and whose proof, the limit leaves no time for."""

    def late(*_, **__):
        raise limits.OutOfTime

    monkeypatch.setattr("maxmargin.solvers.small_solution", lambda *_: None)
    monkeypatch.setattr("maxmargin.solvers.drive.prove", late)
    monkeypatch.setattr("maxmargin.solvers.box.smo.SMO.__init__", late)
    beta = np.where(SIGNS > 0, 0.5, -0.25)
    job = Job(None, (200,), two_sides, start=Point(beta=beta))
    (machine,), (solution,) = machines.solve(plan(job=job))[:2]
    assert solution.status is Status.TIME_LIMIT
    assert solution.certificate.reason
    assert abs(machine.coef.sum()) < 1e-12  # moved to where it is feasible
    np.testing.assert_array_equal(np.sign(machine.coef[0]), np.sign(beta))
    np.testing.assert_array_equal(machine.biases, [0.0])


class Tired(InteriorPoint):
    """A solver of someone else's, which does not begin."""

    name = "tired"

    def step(self, most):
        self.exhausted = True


@pytest.mark.large
@pytest.mark.parametrize("solver", ["interior_point", InteriorPoint, Stage(InteriorPoint), Clarabel])
def test_a_plan_names_its_solver_or_brings_it(solver):
    usual = machines.solve(plan()).machines[0]
    (machine,), (solution,) = machines.solve(plan(effort=Effort(Options(1e-3), solver=solver)))[:2]
    assert solution.status is Status.CONVERGED
    assert solution.solver in ("interior_point", "clarabel")
    np.testing.assert_allclose(machine.coef, usual.coef, atol=1e-7)
    np.testing.assert_allclose(machine.biases, usual.biases, atol=1e-7)


def test_a_solver_that_is_brought_along_is_believed_no_more_than_others():
    (solution,) = machines.solve(plan(effort=Effort(Options(1e-3), solver=Tired))).solutions
    assert (solution.status, solution.solver) == (Status.STALLED, "tired")
    with pytest.raises(ValueError, match="solver='lazy' cannot be used here"):
        machines.solve(plan(effort=Effort(Options(1e-3), solver="lazy")))


def test_infeasible_problems_are_errors_before_a_function_is_called():
    calls = []
    kernel = PairFunction(lambda a, b: calls.append(1) or float(a @ b))
    job = Job(None, (200,), lambda gram: nu_classifier(gram, SIGNS, 1.0, np.where(SIGNS > 0, 1.0, 0.1)), groups=2)
    with pytest.raises(ValueError, match="nu=1 is infeasible"):
        machines.solve(plan(kernel, job=job))
    assert not calls


def test_ctrl_c_is_raised_unless_it_is_to_be_kept():
    def state(gram):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        machines.solve(plan(job=Job(None, (200,), state)))


def test_a_solution_is_judged_by_its_job():
    def refuse(problem, solution):
        assert problem.n == len(solution.beta) == 200
        raise ValueError("no machine")

    with pytest.raises(ValueError, match="no machine"):
        machines.solve(plan(job=Job(None, (200,), two_sides, finish=refuse)))


def test_coefficients_are_read_as_the_job_says():
    job = Job(None, (200,), two_sides, to_machine=lambda coef, biases: (2.0 * coef, 2.0 * biases))
    plain, doubled = (machines.solve(plan(job=each)).machines[0] for each in (None, job))
    np.testing.assert_array_equal(doubled.coef, 2.0 * plain.coef)
    np.testing.assert_array_equal(doubled.biases, 2.0 * plain.biases)


def test_whoever_returns_true_stops_a_job():
    stopped = machines.solve(plan(), [Caller(lambda seen: True)])
    assert stopped.solutions[0].status is Status.STOPPED
