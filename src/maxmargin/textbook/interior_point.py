"""A primal-dual interior-point method for quadratic programs.

Note 004: "start with an initial solution that can violate the constraints, improve this solution by optimizing the
objective function and/or reducing the amount of constraint violation". For

minimise 1/2 x'Px + q'x   subject to   Gx <= h, Ax = d

with Mehrotra's predictor and corrector (Mehrotra 1992). s = h - Gx are the slacks, z >= 0 the multipliers of Gx <= h,
v those of Ax = d. Optimal are:  Px + q + G'z + A'v = 0,  Gx + s = h,  Ax = d,  s_i z_i = 0 for all i,  s, z >= 0.
"""

import numpy as np

NO_SOLUTION = (
    "no solution: x or the multipliers grow without end (unbounded, or constraints that contradict each other)"
)


def longest_step(at, direction):
    """The largest t <= 1 with at + t direction >= 0."""
    falling = direction < 0
    return min(1.0, np.min(-at[falling] / direction[falling], initial=1.0))


def newton_step(P, G, A, s, z, residuals, complementarity):
    """The step after which all conditions hold to first order and s_i z_i has changed by -complementarity_i.

    ds and dz are eliminated; what is left is scaled to a unit diagonal, since z_i / s_i reaches both 0 and infinity.
    """
    of_dual, of_inequality, of_equality = residuals
    lifted = (z * of_inequality - complementarity) / s
    block = P + G.T @ ((z / s)[:, None] * G)
    scale = np.append(1 / np.sqrt(np.diag(block)), np.ones(len(A)))
    system = scale[:, None] * np.block([[block, A.T], [A, np.zeros((len(A), len(A)))]]) * scale
    right = scale * np.concatenate([-of_dual - G.T @ lifted, -of_equality])
    try:
        solution = scale * np.linalg.solve(system, right)
    except np.linalg.LinAlgError as singular:
        raise ValueError(NO_SOLUTION) from singular
    dx, dv = solution[: len(P)], solution[len(P) :]
    return dx, dv, -of_inequality - G @ dx, lifted + z / s * (G @ dx)


def solve_qp(P, q, G, h, A=None, d=(), epsilon=1e-11, max_iter=200):
    """x, the multipliers z and v, and the history; an error where there is no solution."""
    A = np.zeros((0, len(q))) if A is None else A
    x, v, s, z = np.zeros(len(q)), np.zeros(len(d)), np.maximum(h, 1.0), np.ones(len(h))  # Gx + s = h need not hold
    size = 1 + max(
        np.abs(P).max(), np.abs(q).max(), np.abs(h).max(), np.abs(G).sum(axis=0).max()
    )  # of residuals' terms
    history = []
    for t in range(max_iter):
        residuals = P @ x + q + G.T @ z + A.T @ v, G @ x + s - h, A @ x - d
        violation = max(np.abs(r).max(initial=0.0) for r in residuals)
        value, mu = 0.5 * x @ P @ x + q @ x, s @ z / len(h)
        history.append({"iteration": t, "objective": value, "violation": violation, "gap": s @ z})
        rounding = violation <= 1e-6 * size and violation > 0.5 * history[max(t - 1, 0)]["violation"]
        if s @ z <= epsilon * (1 + abs(value)) and (violation <= epsilon * size or rounding):
            return x, z, v, history
        if max(np.abs(x).max(), z.max()) > 1e7 * size:
            raise ValueError(NO_SOLUTION)
        _, _, ds, dz = newton_step(P, G, A, s, z, residuals, s * z)  # predictor: straight to s_i z_i = 0
        step = min(longest_step(s, ds), longest_step(z, dz))
        centre = ((s + step * ds) @ (z + step * dz) / len(h) / mu) ** 3 * mu  # the less it achieves, the nearer to it
        dx, dv, ds, dz = newton_step(P, G, A, s, z, residuals, s * z + step**2 * ds * dz - centre)  # corrector
        step = 0.99 * min(longest_step(s, ds), longest_step(z, dz))
        x, v, s, z = x + step * dx, v + step * dv, s + step * ds, z + step * dz
    raise ValueError(f"no solution after {max_iter} iterations: {history[-1]}")


def box(n, bound):
    """0 <= x <= bound as Gx <= h; no upper constraints where the bound is infinite."""
    if np.isinf(bound):
        return -np.eye(n), np.zeros(n)
    return np.vstack([-np.eye(n), np.eye(n)]), np.repeat([0.0, bound], n)


def at_bounds(x, z, bound):
    """An interior point touches no bound: x with those entries at their bound whose multiplier exceeds their slack."""
    n = len(x)
    x = np.where(z[:n] > x, 0.0, x)
    return x if np.isinf(bound) else np.where(z[n:] > bound - x, bound, x)
