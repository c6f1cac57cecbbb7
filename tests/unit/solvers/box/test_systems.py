"""Systems with a border, by factors of the whole matrix and of low rank."""

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Precomputed
from maxmargin.models import nu_classifier, soft_margin
from maxmargin.solvers.box import systems
from maxmargin.solvers.box.systems import Bordered, LowRank, Whole, has_no_matrix, matrix_of

RNG = np.random.default_rng(0)
N = 60
G = RNG.normal(size=(N, 4))
GROUPS = {0: np.empty((N, 0)), 1: np.ones((N, 1)), 2: np.eye(2)[np.arange(N) % 2]}
MATRICES = {"whole": Whole(G @ G.T), "low rank": LowRank(G)}


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("spread", [0, 6, 12])
def test_solutions_satisfy_the_system(matrix, groups, spread):
    """Four rows may have next to no D, as free multipliers do: as many as the matrix has columns."""
    border, D = GROUPS[groups], 10.0 ** RNG.uniform(0, spread, N)
    D[:4] = 10.0**-spread
    right, sums = RNG.normal(size=N), RNG.normal(size=groups)
    x, b = Bordered(MATRICES[matrix], D, border).solve(right, sums)
    np.testing.assert_allclose(G @ (G.T @ x) + D * x + border @ b, right, atol=1e-9)
    np.testing.assert_allclose(border.T @ x, sums, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e9])
def test_several_columns_at_once_and_rows_of_zeros(scale):
    rows = G.copy()
    rows[5] = 0.0
    D, right = RNG.uniform(0.5, 2.0, N) * scale, RNG.normal(size=(N, 3))
    inverses = [matrix.inverse(D) for matrix in (Whole(rows @ rows.T), LowRank(rows))]
    for inverse in inverses:
        np.testing.assert_allclose(inverse(right)[:, 1], inverse(right[:, 1]), rtol=1e-6)
        np.testing.assert_allclose(rows @ (rows.T @ inverse(right)) + D[:, None] * inverse(right), right, atol=1e-6)


def test_a_matrix_without_a_factor_is_not_solvable():
    for matrix in MATRICES.values():
        assert not Bordered(matrix, np.full(N, np.nan), GROUPS[1]).solvable


def test_few_columns_are_found_and_others_kept_whole_while_they_are_small(monkeypatch):
    X, y = RNG.normal(size=(80, 3)), np.where(np.arange(80) % 2, 1.0, -1.0)
    rows = np.arange(80)
    linear, gaussian = soft_margin(Gram(Linear(), X), y, 1.0), soft_margin(Gram(RBF(1.0), X), y, 1.0)
    assert isinstance(matrix_of(linear, rows, 1e-3), LowRank)
    assert isinstance(matrix_of(gaussian, rows, 1e-3), Whole)
    np.testing.assert_allclose(
        matrix_of(linear, rows[::2], 1e-3).times(y[::2]), (X @ (X.T @ (y * (rows % 2 == 0))))[::2]
    )
    np.testing.assert_allclose(matrix_of(gaussian, rows[::2], 1e-3).K, RBF(1.0)(X[::2]), atol=1e-14)
    assert has_no_matrix(gaussian) == has_no_matrix(linear) == ""
    assert matrix_of(gaussian, rows, 1e-3, whole_rows=50) is None
    monkeypatch.setattr(systems, "MOST_WHOLE", 50)
    assert "up to 50 rows" in has_no_matrix(gaussian)
    assert has_no_matrix(linear) == ""


def test_an_indefinite_matrix_is_none():
    swap = soft_margin(Gram(Precomputed(), np.array([[0.0, 1.0], [1.0, 0.0]])), np.array([1.0, -1.0]), 1.0)
    assert matrix_of(swap, np.arange(2), 1e-3) is None
    assert "semidefinite" in has_no_matrix(swap)


@pytest.mark.large
def test_the_error_of_a_low_rank_follows_the_tolerance():
    X, y = RNG.normal(size=(1100, 2)), np.where(np.arange(1100) % 2, 1.0, -1.0)
    rows = np.arange(1100)
    gram = Gram(RBF(0.1), X)
    columns = [
        matrix_of(soft_margin(gram, y, C), rows, tol).G.shape[1] for C, tol in ((1.0, 1e-1), (1.0, 1e-4), (1e4, 1e-4))
    ]
    assert columns == sorted(set(columns))
    exacting = matrix_of(nu_classifier(gram, y, 0.5), rows, 1e-1).G.shape[1]  # its unit, rho, may be small
    assert exacting > columns[0]
