"""Weights that prove that no hyperplane separates the classes."""

import numpy as np
import pytest

from maxmargin import soft_margin
from maxmargin.certificates import hull_distance, separates
from maxmargin.gram import Gram
from maxmargin.kernels import Linear


def test_hulls_that_meet_are_recognised():
    inside = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.5, 0.5]])
    y = np.array([1.0, 1.0, 1.0, -1.0])
    problem = soft_margin(Gram(Linear(), inside), y, np.inf)
    beta = np.array([0.5, 0.25, 0.25, -1.0])
    scores = inside @ (inside.T @ beta)
    assert hull_distance(problem, beta, scores) == pytest.approx(0.0, abs=1e-8)
    assert not separates(problem, beta, scores)
    apart = np.array([1.0, 0.0, 0.0, -1.0])
    assert separates(problem, apart, inside @ (inside.T @ apart))
    assert hull_distance(problem, np.zeros(4), np.zeros(4)) == np.inf
