"""The machine of the online learners: seasons, draws, places in a schedule, patience; ``start`` stays as it is."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from maxmargin import SGDSVC
from maxmargin.losses import Hinge
from maxmargin.machines.online import Learnt, OnlinePlan, Patience, learn
from tests import helpers


def plan(n=60, **others):
    X, y = helpers.overlapping(n)
    settings = {
        "name": "Test", "X": X, "targets": [y], "weights": np.ones(n), "loss": Hinge(), "lam": 0.01, "bias": True,
        "batch": 1, "schedule": None, "passes": 3, "stream": False, "average": True, "seed": 0, "n_jobs": 1,
    }  # fmt: skip
    return OnlinePlan(**(settings | others))


def nothing(some):
    return Learnt.nothing(len(some.targets), some.X.shape[1])


def test_a_pass_is_a_season_and_a_run_is_repeatable():
    some = plan()
    one, other = (learn(some, nothing(some)) for _ in range(2))
    assert [season.number for season in one.seasons] == [0, 1, 2]
    assert [season.steps for season in one.seasons] == [60, 120, 180]
    assert one.steps == 180
    assert np.isnan(one.seasons[0].score)
    np.testing.assert_array_equal(one.weights(True, True)[0], other.weights(True, True)[0])


def test_the_start_stays_as_it_is():
    some = plan()
    start = learn(some, nothing(some))
    before = copy.deepcopy(start)
    further = learn(some, start)
    assert further.steps == 2 * start.steps
    assert further.first_lengths is start.first_lengths  # found once
    assert start.seasons == before.seasons
    for mine, its in zip(start.iterates, before.iterates, strict=True):
        for name in ("u", "m", "numbers"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(its, name))


def test_what_was_learnt_fits_the_same_machines_and_features():
    known = Learnt.nothing(2, 5)
    assert known.fits(2, 5)
    assert not known.fits(1, 5)
    assert not known.fits(2, 4)
    coef, biases = known.weights(average=True, bias=True)
    np.testing.assert_array_equal(coef, np.zeros((2, 5)))
    np.testing.assert_array_equal(biases, np.zeros(2))


def test_a_schedule_and_its_places_in_a_stream():
    schedule = ((10, 0.1), (20, 0.01))
    some = plan(schedule=schedule, batch=3)
    assert [(s.steps, s.step_length) for s in learn(some, nothing(some)).seasons] == [(10, 0.1), (30, 0.01)]
    stream = plan(n=8, schedule=schedule, stream=True, passes=1)
    rows = learn(stream, nothing(stream)).iterates[0].numbers[4]
    learnt = nothing(stream)
    lengths = []
    for _ in range(6):
        learnt = learn(stream, learnt)
        lengths.append(learnt.seasons[-1].step_length)
    assert lengths == [0.1 if k * rows < 10 else 0.01 for k in range(6)]  # and the last one goes on


def test_weights_of_few_rows_are_repetitions():
    some = plan(n=30)
    counts = np.arange(30) % 3 + 1
    repeated = replace(
        some,
        X=np.repeat(some.X, counts, axis=0),
        targets=[np.repeat(some.targets[0], counts)],
        weights=np.ones(counts.sum()),
    )
    weighted = replace(some, weights=counts.astype(float))
    one, other = (learn(p, nothing(p)).weights(True, True) for p in (weighted, repeated))
    np.testing.assert_allclose(one[0], other[0], rtol=1e-12)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-12)


def test_patience_ends_the_run_and_the_best_weights_count():
    scores = iter([0.5, 0.7, 0.7005, 0.6, 0.9])
    seen = []

    def score(coef, biases):
        seen.append(coef)
        return next(scores)

    some = plan(passes=10, score=score, patience=Patience(tol=0.01, seasons=2))
    learnt = learn(some, nothing(some))
    assert [season.score for season in learnt.seasons] == [0.5, 0.7, 0.7005, 0.6]
    np.testing.assert_array_equal(learnt.weights(True, True)[0], seen[2])
    assert learnt.steps == 3 * 60


def test_the_watcher_sees_every_season():
    seen = []
    some = plan(watch=lambda number, season: seen.append((number, season)))
    learnt = learn(some, learn(some, nothing(some)))
    assert [number for number, _ in seen] == [0, 1, 2, 0, 1, 2]
    assert [season for _, season in seen] == learnt.seasons


def test_weights_without_bound_are_an_error():
    some = plan(schedule=((100, 1e300),))
    overflows = np.errstate(over="ignore", invalid="ignore")  # of which plain Python would warn
    with (
        overflows,
        pytest.raises(ValueError, match="Test: the weights grew without bound in season 0: the step"),
    ):
        learn(replace(some, X=some.X * 1e10), nothing(some))


def test_the_estimator_is_the_machine():
    X, y = helpers.overlapping(60)
    model = SGDSVC(lam=0.01, max_iter=3, random_state=0).fit(X, y)
    some = plan(seed=int(np.random.RandomState(0).randint(2**31 - 1)))
    coef, biases = learn(some, nothing(some)).weights(True, True)
    np.testing.assert_array_equal(model.coef_, coef)
    np.testing.assert_array_equal(model.intercept_, biases)
