"""Machine code that is loaded with the package is what fits ask for."""

import numpy as np
import pytest
from numba import typeof
from scipy import sparse

from maxmargin import SVC, LinearSVC
from maxmargin.core.jit import Compiled, jit, load_ahead
from maxmargin.estimators.kernel import ahead as kernel_ahead
from maxmargin.estimators.linear import ahead as linear_ahead


@pytest.mark.large
def test_what_is_loaded_ahead_is_what_fits_ask_for(monkeypatch):
    """Types that no fit brings would be on no disk, and so would not be among those a loop is ready for."""
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(1500, 3)), np.where(rng.random((1500, 64)) < 0.05, 1.0, 0.0)
    label, three = (X[:, 0] > 0.3 * X[:, 1]).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
    many = rng.normal(size=(7000, 2))
    for rows, y in (
        (X, label),
        (X, three),
        (np.r_[counts, counts[:9]], np.r_[label, label[:9]]),
        (many, many[:, 0] > 1),
    ):
        SVC().fit(rows.astype(np.float32), y).predict(np.tile(rows.astype(np.float32), (3, 1)))
    all_are_ready(kernel_ahead, monkeypatch)


@pytest.mark.large
def test_what_is_loaded_ahead_is_what_linear_fits_ask_for(monkeypatch):
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(1500, 3)), sparse.random_array((1500, 64), density=0.1, rng=rng, format="csr")
    wide = sparse.hstack([counts, sparse.csr_array((1500, 2500))], format="csr")
    y = (X[:, 0] > 0.3 * X[:, 1]).astype(int)
    for dtype in (np.float32, np.float64):
        for rows in (X.astype(dtype), counts.astype(dtype), wide.astype(dtype)):
            LinearSVC().fit(rows, y)
            LinearSVC(loss="hinge").fit(rows, y)
            LinearSVC(loss="hinge", C=1e-4).fit(rows, y)
        LinearSVC(solver="newton", fit_intercept=False).fit(wide.astype(dtype), y)  # conjugate gradients: squares
        LinearSVC(loss="hinge", solver="alm").fit(X.astype(dtype), y)  # damped: squares
    narrow = rng.normal(size=(20_000, 2))
    LinearSVC(loss="hinge").fit(narrow, narrow[:, 0] > narrow[:, 1] ** 2)  # started from a sample
    all_are_ready(linear_ahead, monkeypatch)


def all_are_ready(ahead, monkeypatch):
    """Whether fits have brought all types that are loaded ahead."""
    asked = []
    monkeypatch.setattr(ahead, "load_ahead", lambda loop, *examples: asked.append((loop, examples)))
    ahead.load_loops()
    assert len(asked) > 20
    for loop, examples in asked:
        assert tuple(map(typeof, examples)) in loop.overloads, (loop.py_func.__name__, *map(typeof, examples))


def test_what_is_on_no_disk_is_left_to_the_first_call():
    loop = jit()(lambda x: x + 1.0)
    made = Compiled.made
    load_ahead(loop, 1.0)
    assert Compiled.made == made
    assert not loop.overloads
    load_ahead(abs, 1.0)  # what is not compiled needs no loading
