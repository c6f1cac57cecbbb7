"""Blocks of rows of joint machines: deadlines, and which row is worst."""

import numpy as np
import pytest

from maxmargin.certificates.joint import inside
from maxmargin.core import limits
from maxmargin.kernels import RBF
from maxmargin.losses.multiclass import row_violation
from maxmargin.solvers import Options
from maxmargin.solvers.joint.blocks import JointBlocks, _worst
from tests.joint_helpers import (
    JOINT_LOSSES,
    blobs,
    kernel_problem,
    linear_problem,
    name_of,
)


def test_a_deadline_within_a_block_keeps_what_was_reached(monkeypatch):
    X, labels = blobs(n=60)
    task = kernel_problem(X, labels, JOINT_LOSSES[0], RBF(0.3) + 1.0)
    solver = JointBlocks(task, task.start(), Options(tol=1e-6))
    solver._choose()  # kernel values are there before the clock runs

    def over():
        if limits.current() is not None:
            raise limits.OutOfTime

    monkeypatch.setattr(limits, "checkpoint", over)
    with limits.limits(), pytest.raises(limits.OutOfTime):
        solver.step()
    assert solver.B.any()
    np.testing.assert_allclose(solver.F, task.gram.whole() @ solver.B, atol=1e-12)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_the_worst_row_of_a_block(loss):
    X, labels = blobs(n=30)
    task, rng = linear_problem(X, labels, loss), np.random.default_rng(0)
    B, scores = inside(task, rng.normal(size=(30, 4))), rng.normal(size=(4, 30))
    slow = max(row_violation(loss, 1.0, labels[i], scores[:, i].copy(), B[i]) for i in range(30))
    assert _worst(labels, task.costs, loss, scores, B) == slow > 0.0
