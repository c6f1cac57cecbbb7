"""Online learners: seasons, schedules, batches, averages, held-out scores, partial_fit."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import SGDSVC, SGDSVR, LinearSVC, LinearSVR
from maxmargin.core.rows import rows_of
from maxmargin.losses import Hinge
from maxmargin.losses.base import slope
from maxmargin.solvers.linear.sgd import Descent, Iterates
from tests import helpers
from tests.estimator_checks import assert_passes_all_checks

CHECKED = [
    *[SGDSVC(loss=loss) for loss in ("hinge", "logistic")],
    SGDSVC(fit_intercept=False),
    SGDSVC(batch_size=5),
    *[SGDSVR(loss=loss) for loss in ("epsilon_insensitive", "huber")],
]


@pytest.mark.parametrize("estimator", CHECKED, ids=str)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of many kinds on purpose
def test_check_estimator(estimator):
    assert_passes_all_checks(estimator)


def plain_descent(X, y, order, lam, eta, batch):
    """The notes' steps, written out: the last weights and bias and their means over the second half."""
    w, b = np.zeros(X.shape[1]), 0.0
    past = []
    for first in range(0, len(order), batch):
        rows = order[first : first + batch]
        slopes = np.array([slope(Hinge(), y[i], X[i] @ w + b) for i in rows])
        w, b = (1.0 - eta * lam) * w - eta * slopes @ X[rows] / len(rows), b - eta * slopes.mean()
        past.append(np.append(w, b))
    return past[-1], np.mean(past[len(order) // batch // 2 :], axis=0)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_steps_are_those_of_the_notes(kind, batch, lam):
    X, y = helpers.overlapping(200)
    order = np.random.default_rng(0).permutation(200)
    stored = sparse.csr_array(X) if kind == "sparse" else X
    descent = Descent(rows_of(stored, np.float64), y, np.ones(200), Hinge(), lam)
    iterates = Iterates(X.shape[1])
    descent.run(order, iterates, 0.3, False, batch)
    last, mean = plain_descent(X, y, order, lam, 0.3, batch)
    if kind == "dense":
        np.testing.assert_allclose(np.append(*iterates.last), last, atol=1e-9)
        np.testing.assert_allclose(np.append(*iterates.average), mean, atol=1e-9)
    else:  # the bias of sparse rows takes shorter steps
        assert np.abs(iterates.last[0] - last[:-1]).max() < 1.0


def test_the_scale_of_the_weights_may_underflow():
    X, y = helpers.overlapping(200)
    descent = Descent(rows_of(X, np.float64), y, np.ones(200), Hinge(), 1.0)
    order = np.tile(np.arange(200), 5)
    iterates = Iterates(X.shape[1])
    descent.run(order, iterates, 0.5, False, 1)
    last, mean = plain_descent(X, y, order, 1.0, 0.5, 1)
    np.testing.assert_allclose(np.append(*iterates.last), last, atol=1e-9)
    np.testing.assert_allclose(np.append(*iterates.average), mean, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_seasons_come_close_to_the_exact_machine(kind, loss):
    X, y = helpers.overlapping(4000)
    X = X.astype(np.float32)
    stored = sparse.csr_array(X) if kind == "sparse" else X
    exact = LinearSVC(loss=loss, lam=1e-3).fit(X, y)
    online = SGDSVC(loss=loss, lam=1e-3, max_iter=20, random_state=0).fit(stored, y)
    assert online.score(stored, y) > exact.score(X, y) - 0.01
    assert online.n_iter_ == len(online.seasons_) == 20
    assert online.t_ == 20 * 4000


def test_a_schedule_of_seasons():
    X, y = helpers.overlapping(1500)
    machine = SGDSVC(schedule=[(1000, 1e-3), (1000, 1e-4)], batch_size=4, monitor=True, random_state=0).fit(X, y)
    assert [season.steps for season in machine.seasons_] == [1000, 2000]
    assert [season.step_length for season in machine.seasons_] == [1e-3, 1e-4]
    assert all(0.5 < season.score <= 1.0 for season in machine.seasons_)
    again = SGDSVC(schedule=[(1000, 1e-3), (1000, 1e-4)], batch_size=4, monitor=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(machine.coef_, again.coef_)
    last = SGDSVC(schedule=[(1000, 1e-3)], average=False, random_state=0).fit(X, y)
    mean = SGDSVC(schedule=[(1000, 1e-3)], average=True, random_state=0).fit(X, y)
    assert np.abs(last.coef_ - mean.coef_).max() > 1e-6


class OwnHinge:
    """The hinge as a loss of one's own: two functions of arrays."""

    def value(self, y, z):
        return np.maximum(0.0, 1.0 - y * z)

    def slope(self, y, z):
        return np.where(y * z < 1.0, -y, 0.0)


class LogCosh:
    """log cosh(y - z), which is nowhere built in."""

    def value(self, y, z):
        return np.logaddexp(y - z, z - y) - np.log(2.0)

    def slope(self, y, z):
        return np.tanh(z - y)


class Exponential:
    """AdaBoost's loss, whose slopes know no bound."""

    def value(self, y, z):
        return np.exp(-y * z)

    def slope(self, y, z):
        return -y * np.exp(-y * z)


class Pinball:
    """The loss of the 0.9 quantile."""

    def value(self, y, z):
        return np.maximum(0.9 * (y - z), 0.1 * (z - y))

    def slope(self, y, z):
        return np.where(y > z, -0.9, 0.1)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("batch", [1, 7])
def test_a_loss_of_ones_own_takes_the_same_steps(kind, batch):
    X, y = helpers.overlapping(300)
    stored = sparse.csr_array(X) if kind == "sparse" else X
    for settings in ({"max_iter": 3}, {"schedule": [(100, 1e-2), (50, 1e-3)], "fit_intercept": False, "lam": 1.0}):
        mine, built_in = (
            SGDSVC(loss=loss, batch_size=batch, random_state=0, **settings).fit(stored, y)
            for loss in (OwnHinge(), "hinge")
        )
        np.testing.assert_allclose(mine.coef_, built_in.coef_, rtol=1e-9)
        np.testing.assert_allclose(mine.intercept_, built_in.intercept_, rtol=1e-9)
        assert mine.seasons_[-1].steps == built_in.seasons_[-1].steps
    streams = [SGDSVC(loss=loss, batch_size=batch, random_state=0) for loss in (OwnHinge(), "hinge")]
    for stream in streams:
        stream.partial_fit(stored, y, classes=[-1, 1]).partial_fit(stored, y)
    np.testing.assert_allclose(streams[0].coef_, streams[1].coef_, rtol=1e-9)


def test_losses_that_are_nowhere_built_in():
    X, y = helpers.overlapping(1500)
    smooth = SGDSVC(loss=LogCosh(), lam=1e-2, batch_size=20, max_iter=20, random_state=0, n_jobs=2).fit(X, y)
    assert smooth.score(X, y) > LinearSVC(loss="logistic", lam=1e-2).fit(X, y).score(X, y) - 0.02
    several = SGDSVC(loss=LogCosh(), lam=1e-2, batch_size=20, random_state=0).fit(X, y + (X[:, 0] > 0.5))
    assert several.coef_.shape == (len(several.classes_), X.shape[1])
    with pytest.raises(ValueError, match="the weights grew without bound in season 0"):
        SGDSVC(loss=Exponential(), schedule=[(100, 1e3)]).fit(X, y)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 3))
    numbers = rows @ [1.0, -2.0, 0.5] + rng.normal(size=2000)
    quantile = SGDSVR(loss=Pinball(), lam=1e-4, batch_size=10, max_iter=20, random_state=0).fit(rows, numbers)
    assert np.mean(numbers < quantile.predict(rows)) == pytest.approx(0.9, abs=0.03)
    with pytest.raises(ValueError, match="CustomLoss, value"):
        SGDSVC(loss=object()).fit(X, y)
    with pytest.raises(ValueError, match="CustomLoss, value"):
        SGDSVR(loss=Hinge()).fit(rows, numbers)


def test_early_stopping_keeps_the_best_season(capsys):
    X, y = helpers.overlapping(3000)
    machine = SGDSVC(max_iter=200, early_stopping=True, n_iter_no_change=3, random_state=0, verbose=1).fit(X, y)
    assert 4 <= machine.n_iter_ < 200
    assert "season 0" in capsys.readouterr().out
    with pytest.raises(ValueError, match="too few rows"):
        SGDSVC(early_stopping=True).fit(X[:2], [0, 1])


def test_partial_fit_learns_from_a_stream():
    X, y = helpers.overlapping(6000)
    names = np.where(y > 0, "yes", "no")
    stream = SGDSVC(lam=1e-3, random_state=0)
    with pytest.raises(ValueError, match="first call needs classes"):
        stream.partial_fit(X[:10], names[:10])
    for first in range(0, 6000, 500):
        stream.partial_fit(X[first : first + 500], names[first : first + 500], classes=["no", "yes"])
    assert stream.t_ == 6000
    assert stream.score(X, names) > LinearSVC(loss="hinge", lam=1e-3).fit(X, names).score(X, names) - 0.02
    with pytest.raises(ValueError, match="did not name"):
        stream.partial_fit(X[:2], ["yes", "maybe"])
    with pytest.raises(ValueError, match="not what the first call said"):
        stream.partial_fit(X[:2], ["yes", "no"], classes=["no", "maybe"])
    with pytest.raises(ValueError, match="features"):
        stream.partial_fit(X[:2, :3], ["yes", "no"])
    with pytest.raises(ValueError, match="cannot balance"):
        SGDSVC(class_weight="balanced").partial_fit(X, names, classes=["no", "yes"])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_arrays_of_a_stream_are_still_checked(convert):
    """Batches of plain arrays skip validation; what is wrong with one is said all the same."""
    X, y = helpers.overlapping(200)
    labels = (y > 0).astype(int)
    plain, asked = SGDSVC(random_state=0), SGDSVC(random_state=0)
    for first in range(0, 200, 50):
        rows = slice(first, first + 50)
        plain.partial_fit(convert(X[rows]), labels[rows], classes=[0, 1])
        asked.partial_fit(convert(X[rows]), labels[rows].tolist(), classes=[0, 1])
    np.testing.assert_array_equal(plain.coef_, asked.coef_)
    with pytest.raises(ValueError, match="features"):
        plain.partial_fit(convert(X[:, :2]), labels)
    with pytest.raises(ValueError, match="NaN"):
        plain.partial_fit(convert(np.where(X > 1.0, np.nan, X)), labels)


def test_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = X @ np.arange(5.0) + 2.0 + 0.1 * rng.normal(size=4000)
    online = SGDSVR(lam=1e-5, max_iter=20, monitor=True, random_state=0).fit(X, y)
    assert online.score(X, y) > LinearSVR(lam=1e-5).fit(X, y).score(X, y) - 0.01
    assert online.seasons_[-1].score > 0.9
    stream = SGDSVR(lam=1e-5, random_state=0)
    for _ in range(10):
        stream.partial_fit(X, y)
    assert stream.score(X, y) > 0.9
    assert SGDSVR(C=1.0, loss="squared_epsilon_insensitive", epsilon=0.1, random_state=0).fit(X, y).score(X, y) > 0.9


def test_warm_start_threads_and_several_classes():
    X, y = helpers.overlapping(3000)
    y = y + (X[:, 0] > 0.5)
    one, two = (SGDSVC(n_jobs=jobs, random_state=0, max_iter=3).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.coef_.shape == (len(np.unique(y)), X.shape[1])
    warm = SGDSVC(warm_start=True, random_state=0, max_iter=2).fit(X, y)
    steps = warm.t_
    assert warm.fit(X, y).t_ == 2 * steps
    assert SGDSVC(loss="logistic", random_state=0).fit(X, y).predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_bad_input_says_what_was_wrong():
    X, y = helpers.overlapping(100)
    for parameters, words in (
        ({"schedule": [(10, -1.0)]}, "schedule must be 'auto' or a list of seasons"),
        ({"schedule": 3}, "schedule must be"),
        ({"batch_size": 0}, "batch_size must be an integer > 0"),
        ({"loss": "log"}, "loss must be one of 'hinge'"),
        ({"validation_fraction": 1.5}, "validation_fraction must be a number between 0 and 1"),
        ({"monitor": "yes"}, "monitor must be True or False"),
    ):
        with pytest.raises(ValueError, match=words):
            SGDSVC(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="epsilon must be"):
        SGDSVR(epsilon=-1).fit(X, y)


def test_weights_pull_the_boundary_in_large_sets_too():
    X, y = helpers.overlapping(3000)
    heavy = SGDSVC(class_weight={-1: 1.0, 1: 20.0}, random_state=0).fit(X, y)
    even = SGDSVC(random_state=0).fit(X, y)
    assert np.mean(heavy.predict(X) == 1) > np.mean(even.predict(X) == 1) + 0.1
