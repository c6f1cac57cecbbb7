"""Every loss: slopes against differences, conjugates and dual steps against brute force."""

import numpy as np
import pytest

from maxmargin.losses import CustomLoss, EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from maxmargin.losses.base import conjugate, curvature, dual_step, slope, step_slope, value
from tests.linear_helpers import CLASS_LOSSES, LOSSES, NUMBER_LOSSES, name_of

SCORES = np.linspace(-3.1, 3.3, 33)


def targets(loss):
    return [-1.0, 1.0] if loss in CLASS_LOSSES else [-0.7, 1.3]


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_slope_and_curvature_are_derivatives(loss):
    h = 1e-6
    for y in targets(loss):
        for z in SCORES:
            slopes = [slope(loss, y, z - h), slope(loss, y, z + h)]
            if abs(slopes[1] - slopes[0]) < 0.1:  # not at a kink
                assert slope(loss, y, z) == pytest.approx(
                    (value(loss, y, z + h) - value(loss, y, z - h)) / (2 * h), abs=1e-5
                )
            curved = [curvature(loss, y, z - h), curvature(loss, y, z + h)]
            if loss.smooth and abs(curved[1] - curved[0]) < 0.01:
                assert curvature(loss, y, z) == pytest.approx((slopes[1] - slopes[0]) / (2 * h), abs=1e-4)


def test_the_subgradient_at_the_kink_is_zero():
    assert slope(Hinge(), 1.0, 1.0) == 0.0
    assert slope(Hinge(), -1.0, -1.0) == 0.0
    assert slope(EpsilonInsensitive(0.25), 1.0, 1.25) == 0.0
    assert slope(NUMBER_LOSSES[1], 1.0, 1.0) == 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_conjugate_is_the_largest_distance_below_a_line(loss):
    grid = np.linspace(-60, 60, 240_001)
    c = 0.7
    for y in targets(loss):
        values = np.array([value(loss, y, z) for z in grid[::50]])
        for beta in (-0.5, -0.2, 0.0, 0.1, 0.45):
            found = conjugate(loss, y, c, beta)
            if not np.isfinite(found):
                continue
            coarse = np.max(-beta * grid[::50] - c * values)
            assert found >= coarse - 1e-9
            assert found == pytest.approx(coarse, abs=0.02)


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_fenchel_young_is_tight_at_the_slope_and_nonnegative_elsewhere(loss):
    c = 1.7
    for y in targets(loss):
        for z in SCORES:
            beta = -c * slope(loss, y, z)
            assert c * value(loss, y, z) + conjugate(loss, y, c, beta) + beta * z == pytest.approx(0.0, abs=1e-12)
            for other in (0.3 * beta, 0.9 * beta):
                assert c * value(loss, y, z) + conjugate(loss, y, c, other) + other * z >= -1e-12


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
@pytest.mark.parametrize("sigma", [0.05, 1.0, 40.0])
def test_dual_step_minimises_its_model(loss, sigma):
    c, h = 1.3, 1e-6
    for y in targets(loss):
        for z in SCORES[::4]:
            for old in (0.0, 0.4 * y):
                best = dual_step(loss, y, c, z, old, sigma)

                def model(beta, y=y, z=z, old=old):
                    return conjugate(loss, y, c, beta) + z * (beta - old) + (beta - old) ** 2 / (2 * sigma)

                here = model(best)
                assert np.isfinite(here)
                for step in (1e-3, -1e-3, 0.1, -0.1, 1.0, -1.0):
                    assert model(best + step) >= here - 1e-9
                sides = [dual_step(loss, y, c, z + s, old, sigma) for s in (-h, h)]
                kappa = [step_slope(loss, y, c, z + s, old, sigma) for s in (-h, h)]
                if abs(kappa[0] - kappa[1]) < 1e-3 * sigma:
                    assert step_slope(loss, y, c, z, old, sigma) == pytest.approx(
                        (sides[0] - sides[1]) / (2 * h), abs=1e-3 * sigma
                    )


def test_dual_step_of_the_logistic_loss_never_leaves_its_domain():
    for z in (-1e6, -800.0, 0.0, 800.0, 1e6):
        for sigma in (1e-9, 1.0, 1e9):
            alpha = dual_step(Logistic(), 1.0, 2.0, z, 0.0, sigma)
            assert 0.0 <= alpha <= 2.0
            assert np.isfinite(conjugate(Logistic(), 1.0, 2.0, alpha))


def test_losses_are_also_functions_of_arrays():
    y, z = np.array([1.0, -1.0, 1.0]), np.array([0.2, 0.3, 2.0])
    np.testing.assert_allclose(SquaredHinge().value(y, z), [0.64, 1.69, 0.0])
    np.testing.assert_allclose(SquaredHinge().slope(y, z), [-1.6, 2.6, 0.0])
    np.testing.assert_allclose(SquaredHinge().curvature(y, z), [2.0, 2.0, 0.0])
    np.testing.assert_allclose(Hinge().conjugate(y, np.array([-0.5, 0.5, -1.0])), [-0.5, -0.5, -1.0])
    assert all(isinstance(loss, CustomLoss) for loss in LOSSES)
