"""The box QP in standard form, and what packages share as solvers."""

import numpy as np
import pytest

from maxmargin import solvers
from maxmargin.certificates.box import prove_box
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Precomputed
from maxmargin.losses.box import Box
from maxmargin.models import soft_margin
from maxmargin.problems.box import BoxQP
from maxmargin.problems.solution import Point, Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.external import standard
from maxmargin.solvers.external.standard import Answer, PackageSolver, package, standard_form

RNG = np.random.default_rng(0)
N = 9
X = RNG.normal(size=(N, 2))


def problem(kinks=True):
    kink = np.where(np.arange(N) % 3 == 0, 0.4, 0.0) if kinks else np.zeros(N)
    box = Box(RNG.normal(size=N), np.full(N, -1.0), np.full(N, 2.0), kink, np.full(N, 0.1))
    return BoxQP(Gram(RBF(0.5), X), box, np.arange(N) % 2, np.array([0.5, -0.25]))


@pytest.mark.parametrize("kinks", [True, False])
def test_values_and_constraints_are_those_of_the_problem(kinks):
    made = problem(kinks)
    form = standard_form(made)
    split = np.flatnonzero(made.kink)
    P = form.P.toarray() + np.triu(form.P.toarray(), 1).T
    for _ in range(5):
        beta = RNG.uniform(-1.0, 2.0, N)
        x = np.concatenate([beta, np.maximum(-beta[split], 0.0)])
        value = made.p @ beta - 0.5 * beta @ (RBF(0.5)(X) + np.diag(made.ridge)) @ beta - made.kink @ np.abs(beta)
        assert -(0.5 * x @ P @ x + form.q @ x) == pytest.approx(value)
        inside = form.A @ x
        np.testing.assert_allclose(inside[:2], [beta[::2].sum(), beta[1::2].sum()])
        assert np.all((inside[2:] >= form.l[2:]) & (inside[2:] <= form.u[2:]))
    outside = form.A @ np.concatenate([np.full(N, 3.0), np.full(len(split), -1.0)])
    assert np.count_nonzero((outside < form.l) | (outside > form.u)) >= N + len(split)
    np.testing.assert_array_equal(form.l[:2], made.totals)
    np.testing.assert_array_equal(form.u[:2], made.totals)


class Oracle(PackageSolver):
    """Answers with what the test has put there."""

    name = "oracle"
    package = "math"

    def ask(self, package, form, most, seconds):
        assert package.pi > 3.0
        Oracle.limits = most, seconds
        Oracle.meanwhile()
        return Oracle.answer

    @staticmethod
    def meanwhile():
        """What happens while it works."""


def test_an_answer_is_put_to_its_bounds_and_judged():
    made = problem()
    best = solve(made, Options(tol=1e-9))
    noisy = best.beta + np.where((best.beta > made.lower) & (best.beta < made.upper) & (best.beta != 0.0), 0.0, 1e-9)
    biases = prove_box(made, best.point).point.biases
    Oracle.answer = Answer(np.append(noisy, np.zeros(3)), biases, 17)
    found = solve(made, Options(tol=1e-6, max_iter=40), Oracle)
    assert (found.status, found.iterations, found.solver) == (Status.CONVERGED, 17, "oracle")
    np.testing.assert_allclose(found.beta, best.beta, atol=1e-8)
    np.testing.assert_array_equal(found.beta == 0.0, best.beta == 0.0)


def test_limits_are_handed_on_and_said_to_have_been_met(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("maxmargin.core.limits.now", lambda: now[0])
    made = problem()
    Oracle.answer = Answer(np.zeros(N + 3), np.zeros(2), 5)
    assert solve(made, Options(max_iter=5), Oracle).status is Status.ITERATION_LIMIT
    assert Oracle.limits == (5, np.inf)
    monkeypatch.setattr(Oracle, "meanwhile", staticmethod(lambda: now.__setitem__(0, 10.0)))
    found = solve(made, Options(time_limit=10.0), Oracle)
    assert found.status is Status.TIME_LIMIT
    assert np.isfinite(found.certificate.gap)
    most, seconds = Oracle.limits
    assert most == np.inf
    assert 5.0 <= seconds <= 10.0  # some are left for the proof


@pytest.mark.parametrize("answer", [np.full(N, np.nan), np.full(N, 1e3)], ids=["nothing", "nonsense"])
def test_a_useless_answer_leaves_what_there_was(answer):
    made = problem()
    best = solve(made, Options(tol=1e-9))
    start = Point(beta=best.beta + np.where(np.arange(N) < 2, 1e-3, 0.0))
    Oracle.answer = Answer(answer, np.zeros(2), 1)
    found = solve(made, Options(tol=1e-6, start=start), Oracle)
    assert found.status is Status.STALLED
    np.testing.assert_allclose(found.beta, best.beta, atol=2e-3)


def test_what_it_refuses(monkeypatch):
    swap = soft_margin(Gram(Precomputed(), np.array([[0.0, 1.0], [1.0, 0.0]])), np.array([1.0, -1.0]), 1.0)
    with pytest.raises(ValueError, match=r"solver='oracle' cannot be used here: .*semidefinite"):
        solve(swap, Options(), Oracle)
    monkeypatch.setattr(standard, "MOST_WHOLE", N - 1)
    with pytest.raises(ValueError, match=f"{N} rows are more than the {N - 1}"):
        solve(problem(), Options(), Oracle)


def test_a_missing_package_names_what_to_install():
    class Missing(Oracle):
        name = "missing"
        package = "a_package_that_nobody_has"

    with pytest.raises(ImportError, match=r'a_package_that_nobody_has: pip install "maxmargin\[qp\]"'):
        solve(problem(), Options(), Missing)
    assert package("math").pi > 3.0


def test_names_load_when_they_are_used():
    assert solvers.Clarabel.name == "clarabel"
    assert solvers.OSQP.name == "osqp"  # the class; the package only when it solves
    with pytest.raises(AttributeError, match="no attribute 'Gurobi'"):
        solvers.Gurobi  # noqa: B018
