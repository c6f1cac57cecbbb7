"""Proximal Newton for ||v||_1 + sum_i c_i l(z_i) on a working set of features.

A step models the losses by their Hessian on the working set W, minimises the model with the l1 norm by coordinate
descent (one number per feature: soft thresholding), and searches along the result. W holds the features in use and
those whose bound |a_j'beta| <= 1 is violated most; the end is judged on all of them (Yuan et al. 2012; Massias 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core import limits
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array, CsrRows, as_csr
from maxmargin.losses.base import fenchel_young, multipliers, total
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.descent import relative
from maxmargin.solvers.linear.descent import DENSE_WIDTH
from maxmargin.solvers.linear.refusals import needs_curvature

NEW_FEATURES = 100  # that enter the working set at least
SWEEPS = 1000
MODEL = 1e-2  # accuracy of a model's minimum, relative to the violation it starts from
HALVINGS = 40


class ProximalNewton(Solver):
    """State and steps of one solve."""

    name = "newton"
    idle_steps = 100

    def __init__(self, problem: LinearProblem, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        self.v = start.v.copy()
        self.z = problem.design.scores(self.v)
        self.beta, self.kappa = np.empty(problem.n), np.empty(problem.n)
        self.penalty = np.ones(problem.d)
        if problem.free_bias:
            self.penalty[-1] = 0.0
        self._columns: Any = None
        if problem.d > DENSE_WIDTH:  # then some columns are taken out at each step: sparse ones from a copy by columns
            rows = problem.design.rows
            self._columns = as_csr(rows).tocsc() if isinstance(rows, CsrRows) else rows.values
        self._look()

    @classmethod
    def refuses(cls, problem: LinearProblem) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        return needs_curvature(problem)

    @property
    def point(self) -> Point:
        """Weights and the multipliers of their scores."""
        return Point(self.v, self.beta)

    def refine(self, goal: float, proof: Proof) -> None:
        """Scores anew, without the rounding of many updates."""
        self.z = self.problem.design.scores(self.v)
        self._look()

    def step(self, most: float = np.inf) -> None:
        """One proximal Newton step on the working set."""
        work = self._working_set()
        H = self._hessian(work)
        u = self.v[work].copy()
        g = -self.q[work]
        most = float(self._violation()[work].max(initial=0.0))
        _minimise_model(H, g - H @ u, self.penalty[work], u, MODEL * most, SWEEPS)
        dv = np.zeros(self.problem.d)
        dv[work] = u - self.v[work]
        before = self.objective
        self._search(dv)
        self.iterations += 1
        self._look()
        self.exhausted = self.objective >= before

    def _violation(self) -> Array:
        """How far each feature is from optimal: |q_j - sign(v_j)| in use, max(0, |q_j| - 1) out of use."""
        out = np.maximum(np.abs(self.q) - self.penalty, 0.0)
        return np.where(self.v != 0, np.abs(self.q - self.penalty * np.sign(self.v)), out)

    def _working_set(self) -> Array:
        """Features in use, the bias, and the most violated others."""
        if self.problem.d <= DENSE_WIDTH:
            return np.arange(self.problem.d)
        used = (self.v != 0) | (self.penalty == 0)
        violation = np.where(used, 0.0, self._violation())
        room = max(NEW_FEATURES, int(used.sum()))
        others = np.argsort(-violation, kind="stable")[:room]
        return np.sort(np.concatenate([np.flatnonzero(used), others[violation[others] > 0]]))

    def _hessian(self, work: Array) -> Array:
        """A_W' diag(kappa) A_W plus a trace of the identity, for features that no curved row has."""
        design = self.problem.design
        index = np.flatnonzero(self.kappa)
        if self._columns is not None:
            H = self._gram_of_columns(work, index)
        else:
            upper = np.triu(design.gram(index, self.kappa))
            H = upper + np.triu(upper, 1).T
        H[np.diag_indices_from(H)] += 1e-12 * (1.0 + float(np.diagonal(H).max(initial=0.0)))
        return H

    def _gram_of_columns(self, work: Array, index: Array) -> Array:
        limits.checkpoint()
        features = work[work < self.problem.design.features]
        some = self._columns[:, features][index].astype(np.float64)
        root = np.sqrt(self.kappa[index])
        scaled: Any = sparse.diags_array(root) @ some if sparse.issparse(some) else some * root[:, None]
        if self.problem.design.scale and len(features) < len(work):
            constant = (root * self.problem.design.scale)[:, None]
            beside: Any = sparse.hstack if sparse.issparse(scaled) else np.hstack
            scaled = beside([scaled, constant])
        H: Any = scaled.T @ scaled
        return H.toarray() if sparse.issparse(H) else H

    def _search(self, dv: Array) -> None:
        """Halve the step until the objective falls by a share of what the model promises. Sets: v, z."""
        problem = self.problem
        dz = problem.design.scores(dv)
        norm = float(self.penalty @ np.abs(self.v))
        promised = -float(self.q @ dv) + float(self.penalty @ np.abs(self.v + dv)) - norm
        t = 1.0
        for _ in range(HALVINGS):
            v, z = self.v + t * dv, self.z + t * dz
            objective = float(self.penalty @ np.abs(v)) + total(problem.loss, problem.y, problem.costs, z)
            if objective <= self.objective + 1e-3 * t * promised:
                self.v, self.z = v, z
                return
            t *= 0.5

    def _look(self) -> None:
        """Multipliers, sums and the gap at the present point. Sets: beta, kappa, q, objective, optimality_error."""
        problem = self.problem
        multipliers(problem.loss, problem.y, problem.costs, self.z, self.beta, self.kappa)
        self.q = problem.design.combine(self.beta)
        excess = max(1.0, float(np.abs(self.q[problem.penalized]).max(initial=0.0)))
        losses, _, rows, _ = fenchel_young(problem.loss, problem.y, problem.costs, self.z, self.beta / excess)
        norm = float(self.penalty @ np.abs(self.v))
        self.objective = norm + losses
        bias = abs(float(self.q[-1])) * (1.0 + abs(float(self.v[-1]))) if problem.free_bias else 0.0
        slack = max(0.0, norm - float((self.penalty * self.v) @ self.q) / excess)
        self.optimality_error = relative(slack + rows + bias, self.objective)


@jit()
def _minimise_model(H, g, penalty, u, goal, sweeps):
    """Coordinate descent on g'u + u'Hu / 2 + sum_j penalty_j |u_j|, until no step is worth ``goal``. Writes: u."""
    slope = g + H @ u
    for _ in range(sweeps):
        worst = 0.0
        for j in range(len(u)):
            aim = u[j] - slope[j] / H[j, j]
            new = np.sign(aim) * max(abs(aim) - penalty[j] / H[j, j], 0.0)
            step = new - u[j]
            if step != 0.0:
                worst = max(worst, abs(step) * H[j, j])
                u[j] = new
                for k in range(len(u)):
                    slope[k] += step * H[j, k]
        if worst <= goal:
            break
