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


def start(P, q, G, h, A, d):
    """The least of 1/2 x'Px + q'x + 1/2 ||Gx - h||^2 with Ax = d; s = h - Gx and z = -s are lifted above zero."""
    system = np.block([[P + G.T @ G, A.T], [A, np.zeros((len(A), len(A)))]])
    x, v = np.split(np.linalg.lstsq(system, np.concatenate([G.T @ h - q, d]), rcond=None)[0], [len(q)])
    s = h - G @ x
    return x, v, *(t if t.min() > 0 else t + 1 - t.min() for t in (s, -s))


def longest_step(s, z, ds, dz):
    """The largest t <= 1 with s + t ds >= 0 and z + t dz >= 0."""
    at, along = np.append(s, z), np.append(ds, dz)
    falling = along < 0
    return min(1.0, np.min(-at[falling] / along[falling], initial=1.0))


def eliminated(P, G, A, s, z, residuals, complementarity):
    """(dx, dv, ds, dz) that takes the residuals to zero to first order and changes s_i z_i by -complementarity_i.

    ds is eliminated, and dz except at active constraints: there z_i / s_i grows without end, and rounding would hide P.
    """
    dual, inequality, equality = residuals
    change = (z * inequality - complementarity) / s  # dz = change + z/s G dx
    active = z > 1e6 * s
    loose, below = G[~active], np.vstack([A, G[active]])
    corner = np.diag(np.append(np.zeros(len(A)), -(s / z)[active]))
    system = np.block([[P + loose.T @ ((z / s)[~active, None] * loose), below.T], [below, corner]])
    right = np.concatenate([-dual - loose.T @ change[~active], -equality, -(s / z * change)[active]])
    scale = 1 / np.sqrt(np.abs(system).max(axis=1))
    trace = np.diag(np.repeat([1e-15, -1e-15], [len(P), len(below)]))  # of several solutions, one
    solution = scale * np.linalg.solve(scale[:, None] * system * scale + trace, scale * right)
    dx, dv, dz = np.split(solution, [len(P), len(P) + len(A)])
    along = change + z / s * (G @ dx)
    along[active] = dz
    return dx, dv, -inequality - G @ dx, along


def newton_step(P, G, A, s, z, residuals, complementarity):
    """The same, and once more for what rounding left of the residuals."""
    dual, inequality, equality = residuals
    dx, dv, ds, dz = eliminated(P, G, A, s, z, residuals, complementarity)
    left = dual + P @ dx + A.T @ dv + G.T @ dz, inequality + G @ dx + ds, equality + A @ dx
    more = eliminated(P, G, A, s, z, left, complementarity + z * ds + s * dz)
    return tuple(one + two for one, two in zip((dx, dv, ds, dz), more, strict=True))


def solve_qp(P, q, G, h, A=None, d=(), epsilon=1e-12, max_iter=100):
    """x, the multipliers z and v, and the history; an error where there is no solution.

    A row of history has the iteration, the objective, how far the equations are from holding, the gap s'z, and the
    distance that epsilon bounds: the larger of the two, the gap relative to the objective.
    """
    A = np.zeros((0, len(q))) if A is None else A
    (x, v, s, z), history = start(P, q, G, h, A, d), []
    sizes = [1 + np.abs(right).max(initial=0.0) for right in (q, h, np.asarray(d))]
    endless = 1e10 * (max(sizes) + np.abs(P).max() + np.abs(G).sum(axis=0).max())
    for t in range(max_iter):
        residuals = P @ x + q + G.T @ z + A.T @ v, G @ x + s - h, A @ x - d
        violation = max(np.abs(r).max(initial=0.0) / size for r, size in zip(residuals, sizes, strict=True))
        bent, straight, mu = 0.5 * x @ P @ x, q @ x, s @ z / len(h)
        distance = max(violation, s @ z / (1e-6 + bent + abs(straight)))
        row = {"iteration": t, "objective": bent + straight, "violation": violation, "gap": s @ z}
        history.append(row | {"distance": distance})
        rounding = distance <= 1e-8 and distance > 0.5 * history[max(t - 1, 0)]["distance"]
        if distance <= epsilon or rounding:
            return x, z, v, history
        if max(np.abs(x).max(), z.max()) > endless:
            raise ValueError(NO_SOLUTION)
        _, _, ds, dz = eliminated(P, G, A, s, z, residuals, s * z)  # predictor: straight to s_i z_i = 0
        step = longest_step(s, z, ds, dz)
        centre = ((s + step * ds) @ (z + step * dz) / len(h) / mu) ** 3 * mu  # the less it achieves, the nearer to it
        dx, dv, ds, dz = newton_step(P, G, A, s, z, residuals, s * z + step**2 * ds * dz - centre)  # corrector
        step = 0.99 * longest_step(s, z, ds, dz)
        x, v, s, z = x + step * dx, v + step * dv, s + step * ds, z + step * dz
    last = ", ".join(f"{name} {value:.3g}" for name, value in history[-1].items())
    raise ValueError(f"no solution after {max_iter} iterations ({last}); is the data of a sensible scale?")


def box(n, bound):
    """0 <= x <= bound as Gx <= h; no upper constraints where the bound is infinite."""
    if np.isinf(bound):
        return -np.eye(n), np.zeros(n)
    return np.vstack([-np.eye(n), np.eye(n)]), np.repeat([0.0, bound], n)


def at_bounds(x, z, bound, a):
    """An interior point touches no bound: x with entries near a bound on it, and a'x as before (a_i is -1 or +1).

    Near is: the multiplier is larger than the slack, and the slack is no more than rounding. What a'x lost goes to the
    entry with the most room.
    """
    n, small = len(x), 1e-6 * x.max()
    low = (z[:n] > x) & (x < small)
    high = np.zeros(n, bool) if np.isinf(bound) else (z[n:] > bound - x) & (bound - x < small)
    snapped = np.where(low, 0.0, np.where(high, bound, x))
    room = np.where(low | high, 0.0, np.minimum(x, bound - x))
    free = np.argmax(room)
    if room[free] > 0:
        snapped[free] += a[free] * (a @ x - a @ snapped)
    return snapped
