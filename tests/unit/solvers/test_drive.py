"""The one loop, driven by solvers that do as the test says: none is believed without a proof."""

import math
import threading

import numpy as np
import pytest

from maxmargin.certificates import prove
from maxmargin.core import limits
from maxmargin.problems.solution import Certificate, Point, Proof, Status
from maxmargin.solvers import Options, Stage, drive
from maxmargin.solvers.contract import Overflow, Solver, refused
from tests.clocks import LOOK, every_look_takes_time

SMALL, LARGE = 10, 5000


class Parabola:
    """1 + x^2 from x = 8 on. What of a certificate counts is |x|."""

    def __init__(self, n=LARGE, proof_seconds=0.0):
        self.n, self.seconds, self.passes, self.proofs = n, proof_seconds, 0.0, 0
        self.out_of_time = False

    def start(self, near=None):
        return near or Point(np.array([8.0]))

    def optimality_error(self, certificate):
        return certificate.violation

    def bias_of(self, point):
        return point.biases[0]

    def proof_seconds(self, point, elapsed):
        return self.seconds


@prove.register
def _(problem: Parabola, point: Point, *, exact=False, seconds=math.inf):
    problem.proofs += 1
    if problem.out_of_time:
        raise limits.OutOfTime
    x = float(point.v[0])
    return Proof(point, Certificate(1.0 + x**2, 1.0, x**2, abs(x), math.nan, abs(x)), point.v.copy())


class Walker(Solver):
    """Multiplies x by ``factor`` at every step; ``honesty`` times |x| is what it says is left."""

    name = "walker"

    def __init__(self, problem, start, options, factor=0.5, honesty=1.0, lasts=math.inf):
        self.problem, self.options, self.factor, self.honesty = problem, options, factor, honesty
        self.x, self.lasts, self.goals = start.v.copy(), lasts, []
        self._look()

    @property
    def point(self):
        return Point(self.x, biases=[3.0])

    def step(self, most):
        self.x *= self.factor
        self.iterations += 1
        self.problem.passes += 1.0
        self._look()

    def refine(self, goal, proof):
        self.goals.append(goal)
        np.testing.assert_array_equal(proof.scores, self.x)
        self._look()

    def _look(self):
        self.optimality_error = self.honesty * abs(float(self.x[0]))
        self.objective = -self.optimality_error
        self.exhausted = self.iterations >= self.lasts


class Refinable(Walker):
    name = "refinable"
    refinable = True


class Finishing(Walker):
    name = "finishing"
    finishes = True


class Inexact(Walker):
    name = "inexact"
    exact = False


class Overflowing(Walker):
    name = "overflowing"

    def step(self, most):
        super().step(most)
        if self.iterations == 2:
            raise Overflow


class Impossible(Walker):
    name = "impossible"

    def __init__(self, problem, start, options):
        raise Overflow


class Choosy(Walker):
    name = "choosy"

    def __init__(self, problem, start, options):
        raise refused(self.name, "it likes none.")


def run(*stages, problem=None, **options):
    return drive.run(problem or Parabola(), list(stages), Options(**({"tol": 0.1} | options)))


def stage(solver=Walker, patience=math.inf, **settings):
    return Stage(solver, f"to see {solver.name}", patience, settings)


def test_an_honest_solver_converges_and_its_history_begins_at_the_start():
    found = run(stage())
    assert found.status is Status.CONVERGED
    assert found.trace.column("iteration") == list(range(8))
    assert found.trace.column("violation") == [8.0 * 0.5**k for k in range(8)]
    assert (found.solver, found.reason, found.iterations, found.passes) == ("walker", "to see walker", 7, 7.0)
    assert found.certificate.violation == found.point.v[0] == 0.0625


@pytest.mark.parametrize("solver", [Walker, Refinable, Finishing, Inexact])
@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("lasts", [math.inf, 0, 3])
@pytest.mark.parametrize("honesty", [0.0, 1e-30])
def test_a_solver_that_lies_is_never_believed(solver, n, lasts, honesty):
    found = run(stage(solver, factor=1.0, honesty=honesty, lasts=lasts), problem=Parabola(n))
    assert found.status is Status.STALLED
    assert found.certificate.violation == 8.0


def test_a_solver_that_exaggerates_is_sent_back_with_lower_goals(monkeypatch):
    made = []
    monkeypatch.setattr(Walker, "_look", lambda self, look=Walker._look: (made.append(self), look(self)))
    found = run(stage(honesty=0.01))
    assert found.status is Status.CONVERGED
    assert found.certificate.violation <= 0.1
    np.testing.assert_allclose(made[0].goals, 0.1 * drive.TIGHTENED ** np.arange(1, len(made[0].goals) + 1))


def test_numbers_that_overflow_hand_over():
    found = run(stage(Overflowing), stage())
    assert found.status is Status.CONVERGED
    assert (found.solver, found.reason) == ("walker", "took over: to see walker")
    assert found.trace.column("iteration") == [0, 1, 3, 4, 5, 6, 7]
    assert found.trace.column("violation")[2] == 1.0  # from where the first one got
    also = run(stage(Impossible), stage())
    assert also.status is Status.CONVERGED
    assert also.trace.column("iteration") == list(range(8))


def test_who_finds_out_late_that_it_does_not_apply_is_passed_over_unless_it_is_alone():
    problem = Parabola()
    found = run(stage(lasts=2), stage(Choosy), stage(), problem=problem)
    assert (found.status, found.solver, found.reason) == (Status.CONVERGED, "walker", "took over: to see walker")
    assert found.trace.column("iteration") == list(range(8))
    assert problem.proofs == 3  # where the first one ended, that it is better than zero weights, and at the end
    for stages in ([stage(Choosy)], [stage(lasts=2), stage(Choosy)]):
        with pytest.raises(ValueError, match="solver='choosy' cannot be used here: it likes none"):
            run(*stages)


def test_the_next_solver_does_not_start_from_a_point_that_is_worse_than_zero():
    found = run(stage(factor=3.0, lasts=2), stage(), start=Point(np.array([9.0])))
    assert found.status is Status.CONVERGED
    assert found.trace.column("violation")[:4] == [9.0, 27.0, 81.0, 4.0]  # half of the problem's own start


def test_numbers_that_overflow_without_a_better_point_are_an_error():
    with pytest.raises(ValueError, match="scale the features"):
        run(stage(Impossible))
    with pytest.raises(ValueError, match="scale the features"):
        run(stage(Overflowing, factor=2.0))
    with pytest.raises(ValueError, match="scale the features"):
        run(stage(factor=1e200, lasts=3), start=Point(np.array([1e200])))
    kept = run(stage(Overflowing))  # better than zero
    assert kept.status is Status.STALLED
    assert kept.certificate.violation == 2.0


def test_watchers_stop_at_the_start_and_later():
    for when in range(3):
        seen = []

        def watch(progress, point, when=when, seen=seen):
            seen.append((progress, float(point().v[0])))
            return progress.iteration == when

        found = run(stage(), watch=watch)
        assert found.status is Status.STOPPED
        assert [progress for progress, _ in seen] == list(found.trace)
        assert [x for _, x in seen] == [8.0 * 0.5**k for k in range(when + 1)]
        assert found.certificate.violation == seen[-1][1]


def test_iterations_are_limited_over_all_solvers():
    assert run(stage(), max_iter=0).status is Status.ITERATION_LIMIT
    found = run(stage(factor=0.9, lasts=2), stage(factor=0.9), max_iter=5)
    assert (found.status, found.iterations) == (Status.ITERATION_LIMIT, 5)
    assert found.certificate.violation == pytest.approx(8.0 * 0.9**5)
    endless = run(stage(Inexact, factor=1.0))
    assert (endless.status, endless.iterations) == (Status.ITERATION_LIMIT, drive.UNPROMISING)
    there = run(stage(honesty=100.0), max_iter=9)  # too modest: the proof says that it is within tol
    assert there.status is Status.CONVERGED


def test_small_problems_are_solved_to_the_end():
    ends = {name: run(stage(solver), problem=Parabola(SMALL)).point.v[0] for name, solver in kinds().items()}
    assert ends["walker"] == 0.0
    assert ends["finishing"] == ends["inexact"] == 0.0625
    assert run(stage(), problem=Parabola(SMALL), to_the_end=False).point.v[0] == 0.0625
    assert run(stage(), problem=Parabola(LARGE), to_the_end=True).point.v[0] == 0.0
    slow = run(stage(factor=0.97), problem=Parabola(SMALL))
    assert slow.status is Status.CONVERGED
    assert 0.05 < slow.point.v[0] < 0.1  # not halved in some steps


def kinds():
    return {solver.name: solver for solver in (Walker, Finishing, Inexact)}


class Stuck(Refinable):
    """Comes no further every third step, until its scores are worked out afresh."""

    name = "stuck"

    def _look(self):
        super()._look()
        self.exhausted = self.iterations % 3 == 0 and self.iterations > 0 and not self.goals[self.iterations // 3 :]

    def refine(self, goal, proof):
        super().refine(goal, proof)
        self.exhausted = False


def test_scores_worked_out_afresh_free_a_solver_that_is_stuck():
    problem = Parabola()
    found = run(stage(Stuck), problem=problem)
    assert found.status is Status.CONVERGED
    assert problem.proofs == 3  # after three steps, after six, and at the end
    plain = run(stage(lasts=3))
    assert (plain.status, plain.iterations) == (Status.STALLED, 3)


class Immovable(Refinable):
    """Cannot move, and knows it as soon as it tries."""

    name = "immovable"

    def step(self, most):
        self.exhausted = True


def test_a_solver_that_does_not_move_after_a_refinement_is_given_up():
    problem = Parabola()
    found = run(stage(Immovable), problem=problem)
    assert (found.status, problem.proofs) == (Status.STALLED, 2)


def test_a_solver_without_hope_takes_no_step_after_a_refinement():
    found = run(stage(Refinable, factor=0.9, lasts=3))
    assert (found.status, found.iterations) == (Status.STALLED, 3)


def test_the_best_point_is_kept():
    found = run(stage(lasts=3), stage(factor=2.0, lasts=2))
    assert found.status is Status.STALLED
    assert found.certificate.violation == found.point.v[0] == 1.0


def test_slow_solvers_hand_over():
    found = run(stage(factor=0.99, patience=20.0), stage())
    assert found.status is Status.CONVERGED
    assert found.reason.startswith("took over")

    class Idle(Walker):
        name = "idle"
        idle_steps = 30

    idle = run(stage(Idle, factor=1.0))
    assert (idle.status, idle.iterations) == (Status.STALLED, 31)


def test_time_limits_leave_time_for_the_proof(monkeypatch):
    every_look_takes_time(monkeypatch)
    found = run(stage(factor=1.0), time_limit=0.05)
    assert found.status is Status.TIME_LIMIT
    assert found.certificate.violation == 8.0
    half = run(stage(factor=1.0), problem=Parabola(proof_seconds=100.0), time_limit=0.1)
    assert half.status is Status.TIME_LIMIT
    assert half.trace[-1].seconds == pytest.approx(0.05, abs=10 * LOOK)  # at most half of the limit is set aside


def test_a_proof_that_runs_out_of_time_is_said_to_be_missing():
    problem = Parabola()
    problem.out_of_time = True
    found = run(stage(), problem=problem, time_limit=10.0)
    assert found.status is Status.TIME_LIMIT
    assert found.certificate.reason == drive.NO_TIME
    assert math.isnan(found.certificate.gap)
    assert found.certificate.bias == 3.0  # of the solver itself
    assert found.point.v[0] == 0.0625


@pytest.mark.parametrize("error", [KeyboardInterrupt, limits.Cancelled])
def test_interrupts_are_raised_or_keep_the_point(error):
    def watch(progress, point):
        if progress.iteration == 2:
            raise error

    with pytest.raises(error):
        run(stage(), watch=watch)
    with limits.limits() as fit:
        found = run(stage(), watch=watch, interrupt="keep")
        assert isinstance(fit.cancel, threading.Event)
        assert fit.cancel.is_set()  # the other problems of the fit end too
    assert found.status is Status.INTERRUPTED
    assert found.certificate.violation == 2.0
