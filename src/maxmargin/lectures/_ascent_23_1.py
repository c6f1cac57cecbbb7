"""Algorithm 23.1 of note 004 on the breast cancer data: as printed, and without its line 13."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates import certify
from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.lectures import data
from maxmargin.problems.box import Bias, Loss, soft_margin
from maxmargin.problems.solution import Certificate
from maxmargin.textbook import dual_ascent, kernels


class Run(NamedTuple):
    """One run: its multipliers, their certificate, the dual after each pass, and the optimum by another solver."""

    name: str
    C: float
    alpha: Array
    history: list[dict[str, Any]]
    proof: Certificate
    best: float


def run(name: str, loss: Loss, C: float, literal: bool, passes: int) -> Run:
    """The algorithm with the linear kernel; ``literal`` keeps line 13 for the quadratic loss too."""
    X, y = data.cancer()
    word = "hinge" if loss is Loss.HINGE else "quadratic"
    alpha, history = dual_ascent.svm_dual(X, y, kernels.linear, C, loss=word, literal=literal, max_iter=passes)
    problem = soft_margin(Gram(Linear(), dual_ascent.append_one(X)), y, np.float64(C), loss, Bias.NONE)
    machine = LinearSVC(loss=loss.value, C=C, fit_intercept="regularized", tol=1e-7).fit(X, y)
    return Run(name, C, alpha, history, certify(problem, alpha), machine.certificate_.dual)


def decided_apart(run: Run) -> float:
    """The largest difference, on all rows, of f by the algorithm's multipliers and by ``LinearSVC`` (hinge loss)."""
    X, y = data.cancer()
    f = dual_ascent.decide(X, X, y, run.alpha, kernels.linear)
    machine = LinearSVC(loss="hinge", C=run.C, fit_intercept="regularized", tol=1e-10).fit(X, y)
    return float(np.abs(f - machine.decision_function(X)).max())


def change_by_appended_one(sigma: float = 3.0) -> float:
    """The largest change of a Gaussian kernel's matrix when line 1 appends a 1 to every example."""
    X, _ = data.cancer()
    K, longer = kernels.gaussian(sigma), dual_ascent.append_one(X)
    return float(np.abs(K(X, X) - K(longer, longer)).max())
