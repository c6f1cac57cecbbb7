"""The inner problem of the l1 penalty."""

import numpy as np
import pytest

from maxmargin.solvers.linear import l1


def both(kernel):
    return kernel, getattr(kernel, "py_func", kernel)


def test_models_of_the_l1_penalty_are_minimised():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 5))
    H, g, penalty = A.T @ A, rng.normal(size=5) * 5, np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    for run in both(l1._minimise_model):
        u = np.zeros(5)
        run(H, g, penalty, u, 1e-12, 10_000)
        slope = g + H @ u
        assert abs(slope[4]) < 1e-9
        for j in range(4):
            assert abs(slope[j]) <= 1.0 + 1e-9
            if u[j]:
                assert slope[j] == pytest.approx(-np.sign(u[j]))
