"""A new kernel machine with one problem on all rows: what it needs beside its parameters is here, and nothing else."""

import pickle

import numpy as np
import pytest
from sklearn.base import RegressorMixin, clone
from sklearn.callback import with_callbacks
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVR

from maxmargin import checks
from maxmargin.core import limits
from maxmargin.estimators.fitting import Lesson, OneProblem, fit_one_problem
from maxmargin.estimators.kernel.machine import KERNEL_RULES, KernelMachine
from maxmargin.estimators.plans.folds import no_folds
from maxmargin.estimators.plans.kernel import read_rows, usual_bound_of
from maxmargin.estimators.progress import Given
from maxmargin.kernels import RBF
from maxmargin.kernels.choice import taken_by
from maxmargin.losses import EpsilonInsensitive
from maxmargin.models import Bias, regression
from maxmargin.problems.solution import Status

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=120)


class TubeRegressor(RegressorMixin, KernelMachine):
    """Support vector regression: 1/2 ||w||^2 + sum_i C_i max(0, |y_i - f(x_i) - b| - epsilon)."""

    def __init__(self, C=1.0, epsilon=0.1, kernel="rbf", degree=3, gamma="scale", coef0=0.0, fit_intercept=True,
                 solver="auto", shrinking=True, tol=1e-3, cache_size=None, max_iter=-1, time_limit=None,
                 warm_start=False, random_state=None, n_jobs=None, verbose=0, callback=None,
                 interrupt="raise"):  # fmt: skip
        checks.keep(self, locals())

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        begun = limits.now()
        checks.check_parameters(self, RULES)
        draft = checks.draft(self)
        items, targets = checks.regression_data(draft, X, y, taken_by(self.kernel))
        weights = checks.sample_weights(sample_weight, items.shape[0])
        rows = read_rows(self, items, weights, target_ids=np.unique(targets, return_inverse=True)[1])
        numbers, C, bias, loss = rows.of(targets), self.C, Bias.of(self.fit_intercept), EpsilonInsensitive(self.epsilon)

        def problem(weights, gram):
            return regression(gram, numbers, C * weights, loss, bias)

        lesson = Lesson(Given(X, y, sample_weight), rows, no_folds(len(numbers)), begun)
        return fit_one_problem(self, draft, lesson, OneProblem(problem, bias, usual_bound_of(loss, C * rows.weights)))

    def predict(self, X):
        return self._decisions(X).ravel()


RULES = KERNEL_RULES | {
    "C": checks.Rule("a finite number > 0", lambda C: checks.positive(C) and checks.number(C)),
    "epsilon": checks.Rule("a number >= 0", lambda epsilon: checks.number(epsilon) and epsilon >= 0),
}


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_it_solves(kernel):
    machine = TubeRegressor(kernel=kernel, C=2.0).fit(X, Y)
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.relative_gap < 1e-8
    other = SVR(kernel=kernel, C=2.0, epsilon=0.1, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(machine.predict(X), other.predict(X), atol=1e-4)
    assert machine.dual_coef_.shape == (1, len(machine.support_))
    assert np.all(np.diff(machine.support_) > 0)
    assert (kernel == "linear") == hasattr(machine, "coef_")


def test_it_takes_kernel_values_and_objects():
    plain = TubeRegressor(gamma=0.5).fit(X, Y)
    given = TubeRegressor(kernel="precomputed").fit(RBF(0.5)(X), Y)
    np.testing.assert_allclose(given.predict(RBF(0.5)(X)), plain.predict(X), atol=1e-8)
    words = ["".join("ab"[int(value > 0)] for value in row) for row in X]
    lengths = np.array([float(word.count("a")) for word in words])
    machine = TubeRegressor(kernel=lambda a, b: float(a.count("a") * b.count("a")), C=10.0).fit(words, lengths)
    np.testing.assert_allclose(machine.predict(words), lengths, atol=0.1 + 1e-6)  # within the tube
    with pytest.raises(ValueError, match="y contains NaN"):
        machine.fit(words, np.where(lengths > 1, np.nan, lengths))
    with pytest.raises(ValueError, match="square matrix"):
        TubeRegressor(kernel="precomputed").fit(X, Y)


def test_weights_are_repetitions_and_zero_weights_no_rows():
    often = RNG.integers(0, 3, size=120)
    weighted = TubeRegressor().fit(X, Y, sample_weight=often)
    repeated = TubeRegressor().fit(np.repeat(X, often, axis=0), np.repeat(Y, often))
    assert repeated.certificate_.dual == pytest.approx(weighted.certificate_.dual, rel=1e-9)
    assert not set(weighted.support_) & set(np.flatnonzero(often == 0))


def test_it_is_a_transaction_that_pickles_and_starts_warm():
    machine = TubeRegressor(warm_start=True)
    with pytest.raises(NotFittedError):
        machine.predict(X)
    before = machine.fit(X, Y).predict(X)
    with pytest.raises(ValueError, match="Negative values"):
        machine.fit(X[:, :2], Y, sample_weight=-np.ones(120))
    np.testing.assert_array_equal(machine.predict(X), before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(machine)).predict(X), before)
    again = machine.fit(X, Y)
    assert again.kernel_values_ == 0
    assert clone(machine).get_params() == machine.get_params()
