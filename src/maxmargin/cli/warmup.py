"""Compile ahead of time what first fits would compile: ``maxmargin warmup``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core.jit import Compiled
from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR, NuSVC, OneClassSVM

FEW, MANY, MORE = 200, 1500, 7000  # rows: float64 kernel values, float32 ones, and working sets of some rows
LARGE = 20_000  # rows: linear machines start from a sample
WIDE = 3000  # features: coordinate descent


def warm_up() -> str:
    """Fit and predict with every kind of machine and of data, and say what that compiled."""
    known, begun = Compiled.made, time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for machine, X, y in _fits():
            machine.fit(X, y).predict(X)
    new, seconds = Compiled.made - known, time.perf_counter() - begun
    if not new:
        return f"Nothing was left to compile: all code was loaded in {seconds:.1f} s."
    return f"Compiled {new} loops in {seconds:.0f} s. The next first fit, in any process, loads them."


def _fits() -> Iterator[tuple[Any, Any, Any]]:
    """Machines and data whose first fits need other code than those before."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MANY, 8))
    number = X[:, 0] + np.sin(X[:, 1]) + 0.3 * rng.normal(size=MANY)
    label, three = (number > 0).astype(int), np.digitize(number, [-0.5, 0.5])
    counts = np.where(rng.random((MANY, 64)) < 0.1, 1.0, 0.0)
    for dtype in (np.float64, np.float32):
        for rows in (X.astype(dtype), counts.astype(dtype), sparse.csr_array(counts.astype(dtype))):
            yield SVC(), rows[:FEW], three[:FEW]
            yield SVC(), rows, label
            yield SVC(), rows, three
            yield LinearSVC(), rows, three
            yield LinearSVC(loss="hinge"), rows, label
            yield LinearSVC(loss="hinge", C=1e-4), rows, label
            yield LinearSVR(), rows, number
        wide = sparse.hstack([counts, sparse.csr_array((MANY, WIDE))], format="csr").astype(dtype)
        yield LinearSVC(), wide, label
        yield LinearSVC(loss="hinge"), wide, label
        yield SVR(), X.astype(dtype), number
        yield NuSVC(), X.astype(dtype), label
        yield OneClassSVM(), X.astype(dtype), label
    yield LinearSVC(), X[:FEW], label[:FEW]
    yield LinearSVC(loss="hinge"), X[:FEW], label[:FEW]
    yield LinearSVR(), X[:FEW], number[:FEW]
    yield SVC(), rng.normal(size=(MORE, 2)).astype(np.float32), rng.integers(0, 2, MORE)
    narrow = rng.normal(size=(LARGE, 2))
    yield LinearSVC(loss="hinge"), narrow, narrow[:, 0] > narrow[:, 1] ** 2
    yield LinearSVR(), narrow, narrow[:, 0] + narrow[:, 1] ** 2
    yield SVC(probability=True), X, label
    yield SVC(kernel="linear"), X[:FEW], label[:FEW]
    yield LinearSVC(loss="logistic"), X, label
    yield LinearSVC(penalty="l1"), X, label
