"""Rows, threads, limits, twins, solutions."""

import itertools
import math
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from maxmargin.core import limits, rows, threads
from maxmargin.core.twins import find_twins
from maxmargin.problems.solution import Certificate, Progress, Status, Trace, combine

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 6)) * (RNG.random((4, 6)) < 0.5)
B = RNG.normal(size=(3, 6)) * (RNG.random((3, 6)) < 0.5)
STORES = [np.asarray, sparse.csr_array]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(STORES, STORES)))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_loops_for_every_storage(left, right, dtype):
    P, Q = rows.rows_of(left(A), dtype), rows.rows_of(right(B), dtype)
    wanted = {
        rows.inner_products: A @ B.T,
        rows.l1_distances: np.abs(A[:, None] - B[None]).sum(axis=2),
    }
    for loop, answer in wanted.items():
        for run in (loop, getattr(loop, "py_func", loop)):
            scratch, out = np.zeros(6), np.empty((4, 3), dtype)
            run(P, Q, scratch, out)
            np.testing.assert_allclose(out, answer, rtol=1e-5, atol=1e-6)
            assert not scratch.any()


@pytest.mark.parametrize("store", STORES)
def test_rows_are_views_that_cannot_be_written(store):
    view = rows.rows_of(store(A), np.float64)
    assert rows.count(view) == 4
    assert rows.width(view) == 6
    np.testing.assert_allclose(rows.squared_norms(view), (A**2).sum(axis=1))
    some = rows.take_rows(view, np.array([2, 0]))
    np.testing.assert_allclose(rows.squared_norms(some), (A[[2, 0]] ** 2).sum(axis=1))
    with pytest.raises(ValueError, match="read-only"):
        view[0][0] = 1.0
    assert A.flags.writeable


def test_thread_map_keeps_order_and_runs_nested_work_inline():
    def outer(i):
        return threads.thread_map(lambda j: (i, j, threading.get_ident()), range(3), 4)

    nested = threads.thread_map(outer, range(5), 4)
    assert [[pair[:2] for pair in row] for row in nested] == [[(i, j) for j in range(3)] for i in range(5)]
    assert all(len({pair[2] for pair in row}) == 1 for row in nested)


def test_an_error_in_a_worker_arrives():
    def fail(i):
        if i == 3:
            raise RuntimeError("three")
        return i

    with pytest.raises(RuntimeError, match="three"):
        threads.thread_map(fail, range(10), 2)


def test_blas_is_held_while_anyone_works_and_then_restored():
    def blas():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = blas()
    with threads.blas_held():
        with threads.blas_held():
            assert set(blas()) == {1}
        assert set(blas()) == {1}
    assert blas() == before


def test_jobs(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = threads.available_cores()
    assert threads.effective_jobs(None) == threads.effective_jobs(-1) == cores
    assert threads.effective_jobs(3) == 3
    assert threads.effective_jobs(-1000) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.effective_jobs(None) == 1
    with pytest.raises(ValueError, match="n_jobs == 0"):
        threads.effective_jobs(0)


def test_a_deadline_stops_work_between_items():
    done = []
    for n_jobs in (1, 2):
        with limits.limits(time.monotonic() - 1.0), pytest.raises(limits.OutOfTime):
            threads.thread_map(done.append, range(10), n_jobs)
    assert done == []
    limits.checkpoint()  # no limits in force any more
    with limits.limits() as active:
        active.cancel.set()
        with pytest.raises(limits.Cancelled):
            limits.checkpoint()
        with limits.limits(), pytest.raises(limits.Cancelled):
            limits.checkpoint()
        with limits.unlimited():
            limits.checkpoint()


def test_cancelled_tasks_raise_or_return():
    def task(_):
        active = limits.current()
        assert active is not None
        active.cancel.set()
        limits.checkpoint()

    with limits.limits(), pytest.raises(KeyboardInterrupt):
        threads.task_map(task, range(3), 1, keep=False)
    with limits.limits() as active:
        active.cancel.set()
        assert threads.task_map(lambda i: i, range(3), 2, keep=True) == [0, 1, 2]


@pytest.mark.parametrize("store", STORES)
def test_twins_are_found_and_ordered_by_content(store):
    base = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [0.0, 2.0], [1.0, 0.0]])
    labels, weights = np.array([0, 1, 0, 0, 0]), np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    twins = find_twins(store(base), labels, weights)
    assert twins.group[0] == twins.group[2] == twins.group[4]
    assert len(set(twins.group[[0, 1, 3]])) == 3
    np.testing.assert_allclose(twins.share, [0.25, 1, 0.5, 1, 0.25])
    shuffled = np.array([3, 0, 4, 1, 2])
    again = find_twins(store(base[shuffled]), labels[shuffled], weights[shuffled])
    np.testing.assert_array_equal(base[twins.first], base[shuffled][again.first])


def test_certificate_reads_well():
    proof = Certificate(2.0, 1.5, 0.5, 1e-4, 0.3, 1.0)
    assert proof.relative_gap == 0.25
    assert "primal     2" in repr(proof)
    assert "gap        0.5 (relative 0.25)" in repr(proof)
    assert "<table>" in proof._repr_html_()
    unproven = Certificate(math.nan, math.nan, math.nan, 1e-4, 0.0, 1.0, reason="a < b & c")
    assert "primal" not in repr(unproven)
    assert "a &lt; b &amp; c" in unproven._repr_html_()
    both = combine([proof, proof])
    assert both.gap == 1.0
    assert both.parts == (proof, proof)
    assert combine([proof]) is proof
    assert Certificate(0.0, 0.0, 0.0, 0.0, 0.0, 0.0).relative_gap == 0.0
    assert Certificate(math.inf, 1.0, math.inf, 0.0, 0.0, 0.0).relative_gap == math.inf
    full = combine([proof._replace(moved=0.1, rounding=0.2, reason="why"), proof])
    assert all(word in repr(full) for word in ("moved", "rounding", "problems", "why"))


def test_status_and_trace():
    assert Status.CONVERGED.severity == 0 < Status.TIME_LIMIT.severity < Status.INFEASIBLE.severity
    assert str(Status.TIME_LIMIT).startswith("stopped at time_limit")
    trace = Trace([Progress(0, 0.0, 2.0, 0.0), Progress(9, 0.5, 1e-3, 4.0)])
    assert trace.column("violation") == [2.0, 1e-3]
    assert "9 iterations" in repr(trace)
    assert "empty" in repr(Trace())
