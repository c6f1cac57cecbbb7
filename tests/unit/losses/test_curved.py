"""Curved conjugates: their derivatives against differences, slopes to within rounding, and models that reach far."""

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.losses import EpsilonInsensitive, Hinge, Huber, Logistic, PowerHinge, SquaredHinge, curved
from maxmargin.losses.base import conjugate, dual_step, slope
from maxmargin.losses.curved import Terms, dual_curvature, dual_slope, is_curved, is_loss_of_kernels, usual_multiplier
from maxmargin.losses.power_hinge import simplest
from tests.linear_helpers import name_of

CURVED = [PowerHinge(1.05), PowerHinge(1.5), PowerHinge(1.9), Logistic()]


@pytest.mark.parametrize("loss", CURVED, ids=name_of)
@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("c", [0.3, 2.0])
def test_slope_and_curvature_are_derivatives_of_the_conjugate(loss, y, c):
    for share in (0.05, 0.3, 0.5, 0.8, 0.97):
        beta, h = y * c * share, 1e-5 * c
        differences = [conjugate(loss, y, c, beta + side * h) for side in (-1, 0, 1)]
        first, second = (
            (differences[2] - differences[0]) / (2 * h),
            (differences[2] - 2 * differences[1] + differences[0]) / h**2,
        )
        assert dual_slope(loss, y, c, beta) == pytest.approx(first, rel=1e-5, abs=1e-5)
        assert dual_curvature(loss, y, c, beta) == pytest.approx(second, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("loss", CURVED, ids=name_of)
def test_the_slope_of_a_multiplier_is_minus_its_score(loss):
    for y in (-1.0, 1.0):
        for z in (-3.0 * y, -0.5, 0.2, 0.9 * y):
            assert dual_slope(loss, y, 1.7, -1.7 * slope(loss, y, z)) == pytest.approx(-z, rel=1e-9, abs=1e-9)
        assert dual_slope(loss, y, 1.7, -0.1 * y) == -y * np.inf
        assert np.isfinite(dual_slope(loss, y, 1.7, 0.0))
    assert dual_slope(Logistic(), 1.0, 2.0, 2.1) == np.inf
    assert np.isfinite(dual_slope(Logistic(), 1.0, 2.0, 2.0))
    np.testing.assert_array_equal(Logistic().bound(np.array([0.5, 0.0])), [0.5, 0.0])
    np.testing.assert_array_equal(PowerHinge(1.5).bound(np.array([0.5, 0.0])), [np.inf, 0.0])


def rows(loss, seed=0, n=40):
    rng = np.random.default_rng(seed)
    y, c = np.where(rng.random(n) > 0.5, 1.0, -1.0), rng.uniform(0.1, 3.0, n)
    z = rng.normal(size=n)
    beta = np.array([-c[i] * slope(loss, y[i], z[i]) for i in range(n)])
    return Terms(y, c, rng.uniform(0.5, 2.0, n)), z, beta


@pytest.mark.parametrize("loss", CURVED, ids=name_of)
def test_slopes_of_the_dual_vanish_where_multipliers_belong_to_their_scores(loss):
    terms, z, beta = rows(loss)
    bias = 0.25
    v = curved.dual_slopes(loss, terms, z - bias, bias, beta)
    at_zero = beta == 0.0  # beyond the margin the slope inwards is less than the bias
    np.testing.assert_allclose(v[~at_zero], bias, atol=1e-9)
    assert np.all((v * terms.y)[at_zero] <= (bias * terms.y)[at_zero])
    other = curved.dual_slopes(loss, terms, z - bias + 0.1, bias, beta)
    np.testing.assert_allclose(other[~at_zero], bias - 0.1, atol=1e-9)


def test_a_row_that_numbers_cannot_content_is_content():
    """A logistic loss of 60 asks for 1 - alpha / c = 1e-26; and one of 1e-26 for alpha / c = 1e-26."""
    terms = Terms(np.ones(3), np.ones(3), np.ones(3))
    v = curved.dual_slopes(Logistic(), terms, np.array([-60.0, 60.0, 0.0]), 0.0, np.array([1.0, 1e-20, 0.5]))
    np.testing.assert_allclose(v, 0.0, atol=1e-9)
    v = curved.dual_slopes(Logistic(), terms, np.array([-5.0, 5.0, 1.0]), 0.0, np.array([1.0, 0.0, 0.5]))
    assert v[0] < -20.0  # at its bound although its loss is small: it ought to shrink
    assert v[1] > 20.0  # at zero although its loss is not: it ought to grow
    assert v[2] == pytest.approx(-1.0)


@pytest.mark.parametrize("loss", CURVED, ids=name_of)
def test_models_reach_to_the_rows_own_steps(loss):
    """The secant from beta to where the row's own step ends; the second derivative where that is here."""
    terms, z, beta = rows(loss)
    for moved in (0.0, 0.7):
        ridge, reach = np.empty(len(z)), np.empty(len(z))
        curved.quadratics(loss, terms, z + moved, beta, ridge, reach)
        for i, (y, c, K) in enumerate(zip(*terms, strict=True)):
            aim = dual_step(loss, y, c, z[i] + moved, beta[i], 1.0 / K)
            assert reach[i] == aim
            if abs(aim - beta[i]) > 0.01 * abs(beta[i]):
                change = dual_slope(loss, y, c, aim) - dual_slope(loss, y, c, beta[i])
                assert ridge[i] == pytest.approx(change / (aim - beta[i]))
            elif aim != 0.0 and moved == 0.0:
                assert ridge[i] == pytest.approx(dual_curvature(loss, y, c, beta[i]))
        assert np.all(ridge >= 0.0)


@pytest.mark.parametrize("loss", CURVED, ids=name_of)
def test_loops_equal_their_python_text(loss):
    terms, z, beta = rows(loss)
    found = []
    for name in ("compiled", "py_func"):
        slopes, fill, along = (
            getattr(loop, name, loop) for loop in (curved._dual_slopes, curved.quadratics, curved.slope_along)
        )
        v, ridge, reach = np.empty((3, len(z)))
        slopes(loss, terms, z, 0.1, beta, 1e-9, v)
        fill(loss, terms, z + 0.3, beta, ridge, reach)
        found.append(np.concatenate([v, ridge, reach, [along(loss, terms, beta, 0.1 * terms.y, 0.5)]]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_which_losses_kernel_machines_take():
    assert all(is_curved(loss, of_labels=True) and is_loss_of_kernels(loss, of_labels=True) for loss in CURVED)
    assert all(is_loss_of_kernels(loss, of_labels=True) for loss in (Hinge(), SquaredHinge()))
    assert is_loss_of_kernels(Huber(), of_labels=False)
    for wrong in (PowerHinge(2.5), PowerHinge(0.5), PowerHinge("a"), EpsilonInsensitive(), Logistic, Hinge, 3, "log"):
        assert not is_loss_of_kernels(wrong, of_labels=True)
    assert not is_curved(Hinge(), of_labels=True)
    assert isinstance(simplest(PowerHinge(1)), Hinge)
    assert isinstance(simplest(PowerHinge(2.0)), SquaredHinge)
    assert simplest(PowerHinge(1.5)) == PowerHinge(1.5)
    assert isinstance(simplest(Logistic()), Logistic)
    np.testing.assert_allclose(usual_multiplier(PowerHinge(1.5), np.array([2.0])), 3.0)
    np.testing.assert_allclose(usual_multiplier(Logistic(), np.array([2.0])), 1.0)
    with pytest.raises(ValueError, match="for labels; got PowerHinge"):
        SVC(loss=PowerHinge(3.0)).fit([[0.0], [1.0]], [0, 1])
