"""A solver by its name, as a class, or as a stage with settings."""

import pickle

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Precomputed
from maxmargin.losses import Hinge
from maxmargin.models import soft_margin
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, Stage, choose, solve
from maxmargin.solvers.box.interior import InteriorPoint
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.contract import Refused, refused
from tests import helpers, linear_helpers

X, Y = helpers.overlapping(60)


def problem():
    return soft_margin(Gram(RBF(0.2), X), Y, 1.0)


@pytest.mark.parametrize("solver", ["interior_point", InteriorPoint, Stage(InteriorPoint), Stage(SMO, "of mine")])
def test_who_is_asked_for_runs_alone(solver):
    (stage,) = choose.choose(problem(), solver)
    found = solve(problem(), Options(tol=1e-6), solver)
    assert found.status is Status.CONVERGED
    assert (found.solver, found.reason) == (stage.solver.name, stage.reason)
    assert stage.reason == ("of mine" if stage.solver is SMO else "as asked for")


def test_settings_reach_the_solver():
    seen = []

    class Curious(InteriorPoint):
        def __init__(self, problem, start, options, whole_rows=0, word=""):
            seen.append((whole_rows, word))
            super().__init__(problem, start, options)

    solve(problem(), Options(), Stage(Curious, settings={"whole_rows": 7, "word": "here"}))
    assert seen == [(7, "here")]


@pytest.mark.parametrize(
    ("solver", "said"), [("smoo", "'smoo'"), (3, "'int object'"), (SMO(problem(), problem().start(), Options()), "SMO")]
)
def test_who_is_unknown_is_told_whom_there_is(solver, said):
    with pytest.raises(ValueError, match="'auto' or 'smo' or 'interior_point', or by a class of yours") as error:
        solve(problem(), Options(), solver)
    assert said in str(error.value)


def test_linear_problems_have_names_of_their_own():
    with pytest.raises(ValueError, match="'newton'"):
        choose.choose(linear_helpers.problem(X, Y, Hinge()), "smo")


def test_who_does_not_apply_says_why():
    swap = soft_margin(Gram(Precomputed(), np.array([[0.0, 1.0], [1.0, 0.0]])), np.array([1.0, -1.0]), 1.0)
    for solver in ("interior_point", InteriorPoint, Stage(InteriorPoint)):
        with pytest.raises(Refused, match=r"solver='interior_point' cannot be used here: .*semidefinite.*'smo'"):
            solve(swap, Options(), solver)


def test_a_refusal_travels_between_processes():
    error = refused("smo", "no.")
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "solver='smo' cannot be used here: no."
