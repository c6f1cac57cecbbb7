"""Limits, callbacks, warm starts, threads, memory, storage."""

import io
import math
import subprocess
import sys
import threading
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, Status
from maxmargin.gram import Gram
from maxmargin.gram.budget import Residence
from maxmargin.kernels import RBF
from tests import helpers
from tests.clocks import every_look_takes_time


def fit_quietly(machine, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(X, y)


def test_iteration_limit_keeps_the_model_and_warns():
    X, y = helpers.overlapping(300)
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_iter.*The model is kept: relative gap"):
        machine = SVC(max_iter=10, C=100).fit(X, y)
    assert machine.status_ is Status.ITERATION_LIMIT
    assert machine.n_iter_[0] == 10
    assert machine.fit_status_ == 1
    assert 0 < machine.certificate_.relative_gap <= 1
    assert machine.predict(X).shape == (300,)


def test_time_limit_keeps_the_model(monkeypatch):
    every_look_takes_time(monkeypatch)
    X, y = helpers.overlapping(6000, 10)
    machine = fit_quietly(SVC(C=1000, time_limit=0.01), X, y)
    assert machine.status_ is Status.TIME_LIMIT
    assert math.isfinite(machine.certificate_.gap)
    assert machine.predict(X[:5]).shape == (5,)
    several = fit_quietly(SVC(C=1000, time_limit=1e-3), np.vstack([X, X + 1]), np.concatenate([y, y + 5]))
    assert several.status_ is Status.TIME_LIMIT
    assert several.predict(X[:5]).shape == (5,)


def test_callback_sees_progress_and_stops():
    X, y = helpers.overlapping(2600)
    seen = []
    machine = fit_quietly(SVC(C=1000, callback=lambda progress: seen.append(progress) or len(seen) == 3), X, y)
    assert machine.status_ is Status.STOPPED
    assert [p.iteration for p in seen] == sorted(p.iteration for p in seen)
    assert seen[-1].objective > seen[0].objective
    assert tuple(seen) == machine.trace_


def test_verbose_prints_progress():
    out = io.StringIO()
    with redirect_stdout(out):
        SVC(verbose=1).fit(*helpers.iris_pair())
    assert "[maxmargin]" in out.getvalue()
    assert "violation" in out.getvalue()


def test_warm_start_reuses_multipliers():
    X, y = helpers.overlapping(2600)
    cold = SVC(C=1.2, gamma=0.2).fit(X, y)
    warm = SVC(C=1.0, gamma=0.2, warm_start=True).fit(X, y).set_params(C=1.2).fit(X, y)
    assert warm.n_iter_[0] < cold.n_iter_[0]
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)
    with pytest.warns(UserWarning, match="starts afresh"):
        warm.fit(X[:100], y[:100])
    many = SVC(warm_start=True, C=1.0).fit(np.vstack([X[:90], X[:90]]), np.arange(180) % 3)
    first = many.decision_function(X[:50])
    np.testing.assert_allclose(
        many.fit(np.vstack([X[:90], X[:90]]), np.arange(180) % 3).decision_function(X[:50]), first, atol=1e-6
    )


def test_random_feasible_starts_give_one_objective():
    from maxmargin import soft_margin
    from maxmargin.certificates import feasible_point
    from maxmargin.problems.solution import Point
    from maxmargin.solvers import Options, solve

    X, y = helpers.overlapping(150)
    problem = soft_margin(Gram(RBF(0.2), X), y, 2.0)
    best = solve(problem, Options(tol=1e-3)).certificate.dual
    for seed in range(5):
        guess = feasible_point(problem, y * np.random.default_rng(seed).random(150) * 2.0)
        assert solve(problem, Options(tol=1e-3, start=Point(beta=guess))).certificate.dual == pytest.approx(
            best, rel=1e-9
        )


def test_random_state_and_shrinking_change_the_path_not_the_answer():
    X, y = helpers.overlapping(7000, 8)
    runs = [SVC(random_state=s, shrinking=k).fit(X, y) for s in (None, 0, 1) for k in (True, False)]
    assert len({int(run.n_iter_[0]) for run in runs}) > 2
    duals = [run.certificate_.dual for run in runs]
    np.testing.assert_allclose(duals, duals[0], rtol=1e-4)


def test_n_jobs_changes_no_bit():
    X, y = helpers.overlapping(4500, 12)
    labels = np.where(X[:, 0] > 0.7, 5, y)
    for target in (y, labels):
        one, many = (SVC(n_jobs=n, gamma=0.1).fit(X, target) for n in (1, 4))
        np.testing.assert_array_equal(one.dual_coef_, many.dual_coef_)
        np.testing.assert_array_equal(one.intercept_, many.intercept_)
        np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))


def test_two_threads_at_once_equal_one_after_the_other():
    X, y = helpers.overlapping(3000, 10)
    settings = [{"C": 1.0}, {"C": 5.0}, {"C": 1.0, "loss": "squared_hinge"}, {"C": 2.0, "gamma": 0.3}]
    alone = [SVC(**s).fit(X, y).dual_coef_ for s in settings]
    together: list = [None] * len(settings)

    def run(i):
        together[i] = SVC(**settings[i]).fit(X, y).dual_coef_

    workers = [threading.Thread(target=run, args=(i,)) for i in range(len(settings))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for first, second in zip(alone, together, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_sparse_equals_dense(dtype, indices):
    for make, settings in (
        (helpers.cancer, {"C": 10}),
        (helpers.sparse_counts, {"gamma": 0.01}),
        (helpers.sparse_counts, {"kernel": "linear"}),
    ):
        X, y = make()
        dense = (X.toarray() if sparse.issparse(X) else X).astype(dtype)
        csr = sparse.csr_array(dense)
        csr.indices, csr.indptr = csr.indices.astype(indices), csr.indptr.astype(indices)
        a, b = SVC(**settings).fit(dense, y), SVC(**settings).fit(csr, y)
        np.testing.assert_allclose(a.decision_function(dense), b.decision_function(csr), atol=1e-6)
        np.testing.assert_allclose(a.decision_function(csr), b.decision_function(dense), atol=1e-6)
        assert sparse.issparse(b.support_vectors_)


def test_sparse_with_repeated_and_explicit_zero_entries():
    X = sparse.csr_matrix(
        (np.array([1.0, 2.0, 0.0, 1.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 3, 4, 4])), shape=(4, 2)
    )
    y = np.array([1, 0, 1, 0])
    a, b = SVC(kernel="laplacian").fit(X, y), SVC(kernel="laplacian").fit(X.toarray(), y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X.toarray()), atol=1e-9)


def test_read_only_and_memory_mapped_arrays(tmp_path):
    X, y = helpers.cancer()
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    np.save(tmp_path / "y.npy", y)
    mapped, labels = np.load(tmp_path / "X.npy", mmap_mode="r"), np.load(tmp_path / "y.npy", mmap_mode="r")
    weights = np.ones(len(y))
    weights.flags.writeable = False
    for kernel in ("rbf", "linear", "laplacian"):
        a = SVC(kernel=kernel).fit(mapped, labels, weights)
        b = SVC(kernel=kernel).fit(np.array(mapped), y)
        np.testing.assert_allclose(a.decision_function(mapped), b.decision_function(np.array(mapped)), atol=1e-9)
    fortran, reference = SVC().fit(np.asfortranarray(X), y), SVC().fit(X, y)
    np.testing.assert_allclose(fortran.decision_function(X), reference.decision_function(X), atol=1e-7)


def test_the_two_rows_that_hang_scikit_learn():
    for gamma in ("auto", "scale", 1.0):
        machine = fit_quietly(SVC(kernel="poly", degree=2, gamma=gamma), [[1, 99999], [2, 99999]], [0, 1])
        assert machine.n_iter_[0] < 1000
        assert math.isfinite(machine.certificate_.gap)


def test_indefinite_kernels_end():
    X, y = helpers.overlapping(300)
    for loss in ("hinge", "squared_hinge"):
        for fit_intercept in (True, False, "regularized"):
            machine = SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0, loss=loss, fit_intercept=fit_intercept, C=10).fit(
                X, y
            )
            assert machine.status_ is Status.CONVERGED
            assert math.isnan(machine.certificate_.gap)
            assert "not positive semidefinite" in machine.certificate_.reason
            assert machine.certificate_.violation <= 1.1e-3


@pytest.mark.parametrize("megabytes", [1.0, 8.0])
def test_small_budgets_reach_the_same_objective(megabytes):
    X, y = helpers.overlapping(4000, 10)
    kernel = RBF(0.1)
    wanted = Residence.STREAMED if megabytes == 1.0 else Residence.CACHED
    assert Gram(kernel, X, 1e-3, int(megabytes * 2**20)).residence is wanted
    small, large = SVC(kernel=kernel, cache_size=megabytes).fit(X, y), SVC(kernel=kernel, cache_size=500).fit(X, y)
    assert small.certificate_.dual == pytest.approx(large.certificate_.dual, rel=1e-4)


GROWTH = """
import resource, threading, numpy as np

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()

def growth(work):
    before, peak, done = resident(), [0], threading.Event()

    def sample():
        while not done.wait(0.002):
            peak[0] = max(peak[0], resident())

    sampler = threading.Thread(target=sample)
    sampler.start()
    result = work()
    done.set()
    sampler.join()
    return (peak[0] - before) / 2**20, result

rng = np.random.default_rng(0)
"""
ONE_PROBLEM = """
from maxmargin.models import soft_margin
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.solvers import Options, solve

X = rng.normal(size=(20_000, 10)).astype(np.float32)
y = np.where(np.sin(X[:, 0] * 2) + X[:, 1] + 0.5 * rng.normal(size=20_000) > 0, 1.0, -1.0)

def run(n, budget):
    gram = Gram(RBF(0.05), X[:n], 1e-3, budget, 2)
    gram.hesitant = False  # all rows are stored that the budget allows
    return solve(soft_margin(gram, y[:n], 1.0), Options(tol=1e-3)), gram

run(3000, 1 << 26)
grown, (small, gram) = growth(lambda: run(20_000, 64 << 20))
whole, full = run(20_000, 4 << 30)
print(grown, small.certificate.dual, whole.certificate.dual, *gram.counters)
print(full.residence.name, full.counters.evicted)
"""
MANY_CLASSES = """
from maxmargin import SVC

X, y = rng.normal(size=(9000, 5)), rng.permutation(np.arange(9000) % 10)
machine = SVC(C=0.1, gamma=0.1, cache_size=40)
machine.fit(X[:3000], y[:3000])
print(growth(lambda: machine.fit(X, y))[0])
"""


def output_of(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_budget_is_kept():
    growth, small, whole, computed, reused, evicted, residence, dropped = output_of(GROWTH + ONE_PROBLEM).split()
    print(f"resident memory grew by {growth} MB under a budget of 64 MB; {computed} rows computed, {evicted} evicted")
    assert float(growth) < 64 + 64  # the store, the data's copy and the tiles; the whole matrix would be 1,526 MB
    assert float(small) == pytest.approx(float(whole), rel=1e-5)
    assert int(evicted) > 0
    assert int(reused) > 0
    assert (residence, dropped) == ("WHOLE", "0")


def test_zero_weights_remove_rows_and_support_indices_stay():
    X, y = helpers.overlapping(120)
    weights = np.ones(120)
    weights[::4] = 0.0
    machine, removed = SVC().fit(X, y, weights), SVC().fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(machine.decision_function(X), removed.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(machine.support_, np.flatnonzero(weights)[removed.support_])
    np.testing.assert_array_equal(machine.support_vectors_, X[machine.support_])
    K = RBF(0.2)(X)
    given = SVC(kernel="precomputed").fit(K, y, weights)
    np.testing.assert_allclose(
        given.decision_function(K), SVC(kernel=RBF(0.2)).fit(X, y, weights).decision_function(X), atol=1e-7
    )


def test_a_fit_that_fails_leaves_the_last_model_alone():
    X, y = helpers.iris_pair()
    machine = SVC(kernel="linear").fit(X, y)
    before = machine.decision_function(X)
    with pytest.raises(ValueError, match="no hyperplane separates"):
        machine.set_params(C=float("inf")).fit(np.vstack([X, X[:1]]), np.append(y, -y[0]))
    np.testing.assert_array_equal(machine.decision_function(X), before)
    stop = machine.set_params(C=1.0, callback=lambda progress: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stop.fit(X, np.where(y > 0, 7, 5))
    np.testing.assert_array_equal(machine.decision_function(X), before)
    assert list(machine.classes_) == [-1, 1]


def test_numpy_booleans_are_booleans():
    X, y = helpers.iris_pair()
    for value in (True, False):
        plain, numpys = (SVC(fit_intercept=kind(value)).fit(X, y) for kind in (bool, np.bool_))
        np.testing.assert_array_equal(plain.intercept_, numpys.intercept_)


def test_multipliers_that_can_no_longer_rise_end_the_fit():
    """Values of size 1e14: the scores are rounded to 0.01, so tol is out of reach, and the fit says so."""
    rng = np.random.default_rng(0)
    X, y = 1e4 + rng.normal(size=(60, 2)), rng.integers(0, 2, size=60)
    with pytest.warns(ConvergenceWarning, match="stalled"):
        machine = SVC(kernel="poly", degree=4, gamma=0.1).fit(X, y)
    assert machine.status_ is Status.STALLED
    assert math.isfinite(machine.certificate_.gap)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_budget_is_kept_with_many_classes():
    growth = float(output_of(GROWTH + MANY_CLASSES))
    print(f"resident memory grew by {growth} MB under a budget of 40 MB")
    assert growth < 40 + 64


def test_a_callback_may_stop_before_the_first_step():
    X, y = helpers.overlapping(500)
    machine = fit_quietly(SVC(callback=lambda progress: True), X, y)
    assert machine.status_ is Status.STOPPED
    assert machine.n_iter_[0] == 0


def test_a_warm_start_that_is_interrupted_keeps_its_start():
    X, y = helpers.overlapping(3000)
    machine = SVC(gamma=0.2, warm_start=True).fit(X, y)
    support = len(machine.support_)
    fit_quietly(machine.set_params(callback=lambda progress: True, C=1.1), X, y)
    assert machine.status_ is Status.STOPPED
    assert len(machine.support_) == support


def test_a_warm_start_does_not_trust_an_array_that_was_changed():
    X, y = helpers.overlapping(1500)
    given, kept = X.astype(np.float32), X.astype(np.float32)
    machine = SVC(gamma=0.01, warm_start=True).fit(given, y)
    given[:] = given[::-1].copy()
    machine.fit(kept, y)
    beta, K = machine.dual_coef_[0], RBF(0.01)(machine.support_vectors_.astype(np.float64))
    np.testing.assert_allclose(machine.certificate_.dual, np.abs(beta).sum() - 0.5 * beta @ K @ beta, rtol=1e-6)


def test_results_do_not_depend_on_n_jobs_with_a_small_budget():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4500, 5))
    y = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0)
    one, many = (SVC(cache_size=20, n_jobs=n).fit(X, y) for n in (1, 4))
    np.testing.assert_array_equal(one.dual_coef_, many.dual_coef_)


def test_class_weight_zero_and_infinite_cost():
    X, y = helpers.separable()
    labels = np.where(X[:, 0] > 1.5, 2.0, y)
    machine = SVC(kernel="linear", C=float("inf"), class_weight={-1.0: 1, 1.0: 1, 2.0: 0}).fit(
        X[labels < 2], y[labels < 2]
    )
    assert machine.status_ is Status.CONVERGED


def test_raised_ridge_is_told():
    X, y = helpers.overlapping(300)
    machine = SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0, loss="squared_hinge", C=1e4).fit(X, y)
    assert "was added to 1/(2C)" in machine.certificate_.reason


def test_an_asymmetric_kernel_is_refused():
    X, y = helpers.iris_pair()
    with pytest.raises(ValueError, match="not symmetric, so it is no kernel"):
        SVC(kernel=lambda A, B: A @ B.T + np.abs(A[:, :1])).fit(X, y)
    with pytest.raises(ValueError, match="not symmetric"):
        SVC(kernel="precomputed").fit(np.random.default_rng(0).normal(size=(60, 60)), np.arange(60) % 2)
