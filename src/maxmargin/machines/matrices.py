"""The kernel matrices of a plan, within its memory: one for all rows, and a part of it for each pair of classes.

Pairs of classes are parts of the matrix and share the values within a class. Machines on all rows share the whole
matrix: where it fits the budget it is computed once and they run side by side; where not, one machine after the other,
on the rows that the store still has.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from maxmargin.core import limits
from maxmargin.core.buffers import POOL
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.core.threads import available_cores
from maxmargin.gram import Gram
from maxmargin.gram.budget import Residence, granted
from maxmargin.gram.sharing import SharedBlocks, affordable
from maxmargin.kernels import Linear
from maxmargin.kernels.points import centre_of, shifted
from maxmargin.machines.plan import Job, KernelPlan
from maxmargin.machines.warm import KeptRows, fingerprint
from maxmargin.problems.box import Bias
from maxmargin.solvers.box.smo import STEP_ROUNDING

SHARED_PART = 4  # one part in this many of the budget is for values that several pairs of classes share


def bytes_for_values(plan: KernelPlan) -> int:
    """Memory for all kernel values."""
    return granted(plan.memory, plan.n)


class Matrices:
    """Makes, hands out and puts away, within ``budget`` bytes for all kernel values.

    ``computed`` counts kernel values, ``float32`` is the type of all of them.
    """

    def __init__(self, plan: KernelPlan, budget: int) -> None:
        self.plan = plan
        self.n_jobs = 1 if plan.kernel.of_objects else plan.effort.n_jobs  # the user's functions: from one thread
        self.kernel = plan.kernel + 1.0 if plan.bias is Bias.REGULARIZED else plan.kernel
        # With a free bias a linear machine does not depend on the origin; centred rows spare it cancellation.
        movable = isinstance(plan.kernel, Linear) and plan.bias is Bias.FREE and plan.movable
        self.shift = centre_of(plan.X) if movable else None
        self.X = plan.X if self.shift is None else shifted(plan.X, self.shift, np.float64)
        # Divided by what does not depend on n_jobs: the budget decides the path of the solver.
        part = budget // SHARED_PART
        shares = bool(plan.segments) and affordable(list(plan.segments), part, 8)
        self._blocks = SharedBlocks(list(plan.segments), part) if shares else None
        self._budget = (budget - part * shares) // (min(len(plan.jobs), available_cores()) if plan.segments else 1)
        # What values must be good for; 0 asks for float64: no slack, or costs whose rounding would exceed tol.
        tol = plan.effort.each.tol
        self._accuracy = 0.0 if STEP_ROUNDING * plan.usual_bound > tol else tol
        self._lock = threading.Lock()
        self.computed, self.float32 = 0, True
        self.kept = plan.kept

    @property
    def several_on_all_rows(self) -> bool:
        """Whether jobs share one matrix."""
        return len(self.plan.jobs) > 1 and not self.plan.segments

    @property
    def side_by_side(self) -> bool:
        """Whether jobs may run at the same time: each has a matrix of its own, or they read one that is complete."""
        return bool(self.plan.segments) or self.shared.complete

    def open(self) -> None:
        """Make the matrix of all rows, or take that of the last fit where it serves. Sets: shared."""
        plan = self.plan
        # What is kept already counts as memory in use where the budget is a part of what is free.
        allowed = math.inf if plan.memory is None else self._budget
        if plan.kept is not None:
            if plan.keep and plan.kept.serves(self.kernel, self.X, self._accuracy, allowed, plan.segments):
                self._blocks, self.shared = plan.kept.blocks, plan.kept.gram
                self.shared.n_jobs = self.n_jobs
                return
            plan.kept.release()
        with limits.limits(plan.effort.deadline):  # the user's function is called
            self.shared = Gram(self.kernel, self.X, self._accuracy, self._budget, self.n_jobs)
        # The next fit, a fold or another machine will ask for the same rows again.
        self.shared.hesitant = not (plan.keep or self.several_on_all_rows or plan.jobs[0].folds)

    def prepare(self) -> None:
        """What jobs that share one matrix need of it, before they run side by side."""
        with limits.limits(self.plan.effort.deadline):
            self.shared.definiteness(NO_ROWS)
            if self.shared.residence is Residence.WHOLE:
                self.shared.whole()

    def of(self, job: Job) -> Gram:
        """The matrix of a job's rows."""
        if job.parts:
            part = self.shared.part(list(job.parts), self._budget, self._blocks)
            part.hesitant = self.shared.hesitant
            return part
        return self.shared.beside() if self.several_on_all_rows and self.shared.complete else self.shared

    def some(self, rows: Array) -> Gram:
        """The matrix of some rows by themselves, for what needs one beside that of all rows."""
        share = 1 + (available_cores() if self.several_on_all_rows else 1)
        return Gram(self.kernel, self.kernel.rows(self.X, rows), self._accuracy, self._budget // share, self.n_jobs)

    def in_float64(self, job: Job) -> Gram:
        """The same matrix in float64; other jobs go on with the one that they share."""
        X = self.X if job.rows is None else self.kernel.rows(self.X, job.rows)
        share = 1 + available_cores() if self.several_on_all_rows else 1
        return Gram(self.kernel, X, 0.0, self._budget // share, self.n_jobs)

    def done_with(self, gram: Gram) -> None:
        """After a solve: give working memory back, and all of it where no other job needs the rows. Sets: counters."""
        with self._lock:
            self.computed += gram.values_computed
            gram.values_computed = 0
            self.float32 &= gram.dtype == np.float32
        gram.tidy()
        if gram is not self.shared or (len(self.plan.jobs) == 1 and not self.plan.keep):
            gram.release()

    def close(self) -> None:
        """After the last job: rows are kept for the next fit, or their memory is given back. Sets: kept, computed."""
        self.computed += self.shared.values_computed + (self._blocks.take_count() if self._blocks else 0)
        self.shared.values_computed = 0
        self.kept = None
        if self.plan.keep and not self.plan.kernel.of_objects:
            mark = fingerprint(self.X)
            self.kept = KeptRows(self.shared, self._blocks, mark, self._accuracy, self._budget, self.plan.segments)
        else:
            self.shared.release()
            if self._blocks:
                self._blocks.release()
        POOL.rest()

    def weights(self, job: Job, coef: Array) -> Array | None:
        """sum_i coef_mi x_i of every machine of a job, for the linear kernel; rows may have been moved."""
        if not isinstance(self.plan.kernel, Linear):
            return None
        X: Any = self.X if job.rows is None else self.X[job.rows]
        return np.stack([np.asarray(row @ X, np.float64).ravel() for row in coef])

    def unmoved(self, biases: Array, weights: Array) -> Array:
        """Biases for rows as they are: f(x) = w'(x - shift) + b, with the very w that predicts, or rounding doubles."""
        if self.shift is None:
            return biases
        return np.array([b - float(w @ self.shift) for w, b in zip(weights, biases, strict=True)])
