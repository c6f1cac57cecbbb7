"""Ctrl-C at moments all through a fit. How long the answer takes is measured: ``python -m benchmarks interrupts``."""

import signal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, LinearSVC, LinearSVR, Status
from tests import helpers, signals

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of POSIX")

MACHINES = [
    SVC(gamma=0.1, C=10),
    SVC(kernel="sigmoid", loss="squared_hinge"),
    SVC(multi_class="weston_watkins"),
    LinearSVC(loss="hinge"),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVR(),
]
SEVERAL = [SVC(), SVC(multi_class="ovr"), LinearSVC(loss="hinge"), LinearSVC(multi_class="ovo")]
MOMENTS = 6


def moments(machine, X, y, monkeypatch):
    """Numbers of checkpoints from the first to that half way through a fit: on threads not all fits have as many."""
    with monkeypatch.context() as patch:
        passed = signals.at_checkpoint(patch, None)
        clone(machine).fit(X, y)
    return np.unique(np.linspace(1, max(1, passed() // 2), MOMENTS).astype(int))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_ctrl_c_all_through_a_fit(machine, n_jobs, monkeypatch):
    X, y = helpers.overlapping(1500)
    machine = clone(machine).set_params(n_jobs=n_jobs).fit(X[:, :3], y)
    known = machine.predict(X[:, :3])
    for moment in moments(machine, X, y, monkeypatch):
        with signals.handled(), monkeypatch.context() as patch:
            signals.at_checkpoint(patch, moment)
            with pytest.raises(KeyboardInterrupt):
                machine.fit(X, y)
        np.testing.assert_array_equal(machine.predict(X[:, :3]), known)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_ctrl_c_keeps_the_model_so_far(machine, n_jobs, monkeypatch):
    X, y = helpers.overlapping(1500)
    machine = clone(machine).set_params(n_jobs=n_jobs, interrupt="keep")
    for moment in moments(machine, X, y, monkeypatch):
        with signals.handled(), monkeypatch.context() as patch:
            signals.at_checkpoint(patch, moment)
            with pytest.warns(ConvergenceWarning, match="interrupted"):
                machine.fit(X, y)
        assert machine.status_ is Status.INTERRUPTED
        assert machine.predict(X[:3]).shape == (3,)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("machine", SEVERAL, ids=str)
def test_ctrl_c_in_one_of_several_machines_ends_all(machine, n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 10)), rng.integers(0, 4, size=2000)
    machine = clone(machine).set_params(n_jobs=n_jobs, callback=lambda progress: not signals.send_and_wait())
    with signals.handled(), pytest.warns(ConvergenceWarning, match="interrupted"):
        machine.set_params(interrupt="keep").fit(X, y)
    assert machine.status_ is Status.INTERRUPTED
    assert machine.predict(X[:3]).shape == (3,)
    with signals.handled(), pytest.raises(KeyboardInterrupt):
        machine.set_params(interrupt="raise").fit(X, y)
