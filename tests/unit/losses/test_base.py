"""Every loss: slopes against differences, conjugates and dual steps against brute force."""

import numpy as np
import pytest

from maxmargin.losses import CustomLoss, EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from maxmargin.losses import base as losses
from maxmargin.losses.base import conjugate, curvature, dual_step, slope, step_slope, value
from tests.linear_helpers import LOSSES, NUMBER_LOSSES, data, name_of
from tests.reliability.long_double import loss_of

SCORES = np.linspace(-3.1, 3.3, 33)


def targets(loss):
    return [-1.0, 1.0] if loss.one_sided else [-0.7, 1.3]


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


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_arrays_and_single_rows_have_the_same_values(loss):
    """What a loss of one's own must offer, every loss here offers too."""
    y = np.array([targets(loss)[i % 2] for i in range(len(SCORES))])
    own: CustomLoss = loss
    np.testing.assert_array_equal(own.value(y, SCORES), [value(loss, *row) for row in zip(y, SCORES, strict=True)])
    slopes = own.slope(y, SCORES)
    np.testing.assert_array_equal(slopes, [slope(loss, *row) for row in zip(y, SCORES, strict=True)])
    # The conjugate of a slope that is reached at z is the line's height: l*(l'(z)) = z l'(z) - l(z).
    np.testing.assert_allclose(own.conjugate(y, slopes), SCORES * slopes - own.value(y, SCORES), atol=1e-12)


NAMES = ["hinge", "squared_hinge", "logistic", "huber_hinge"]
NAMES += ["epsilon_insensitive", "squared_epsilon_insensitive", "huber"]


@pytest.mark.parametrize("name", NAMES)
def test_values_by_definition(name):
    """Of the losses with these names, as the long double formulas of the reliability tests have them."""
    loss = {type(loss).__name__: loss for loss in reversed(LOSSES)}["".join(part.title() for part in name.split("_"))]
    for y in targets(loss):
        expected = loss_of(name, np.longdouble(y), SCORES.astype(np.longdouble), getattr(loss, "epsilon", 0.0))
        np.testing.assert_allclose([value(loss, y, z) for z in SCORES], expected.astype(float), rtol=1e-12, atol=1e-14)


def both(kernel):
    return kernel, getattr(kernel, "py_func", kernel)


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_sums_over_rows(loss):
    X, y = data(loss, n=25)
    c, z, old = np.linspace(0.1, 2.0, 25), X @ np.ones(X.shape[1]), np.zeros(25)
    found = []
    loops = (losses._total, losses.multipliers_of, losses.dual_steps, losses.fenchel_young_of)
    for total, fill, step, gaps in zip(*map(both, loops), strict=True):
        beta, kappa, moved, slopes = (np.empty(25) for _ in range(4))
        fill(loss, y, c, z, beta, kappa)
        step(loss, y, c, z, old, 0.7, moved, slopes)
        found.append(np.concatenate([[total(loss, y, c, z)], beta, kappa, moved, slopes, gaps(loss, y, c, z, moved)]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_smoothed_multipliers_are_mean_slopes(loss):
    h, c = 0.4, 0.7
    between = np.linspace(-h, h, 1001)
    for y in targets(loss):
        beta = np.empty(len(SCORES))
        losses.smoothed_multipliers(loss, np.full(len(SCORES), y), np.full(len(SCORES), c), SCORES, h, beta)
        expected = [-c * np.mean([slope(loss, y, z + off) for off in between]) for z in SCORES]
        np.testing.assert_allclose(beta, expected, atol=2e-3)


def test_smoothed_multipliers_of_the_hinge_are_a_ramp():
    beta, ones = np.empty(len(SCORES)), np.ones(len(SCORES))
    for loop in (losses.smoothed_multipliers, getattr(losses.smoothed_multipliers, "py_func", None)):
        if loop:
            loop(Hinge(), ones, 3.0 * ones, SCORES, 0.25, beta)
    np.testing.assert_allclose(beta, 3.0 * np.clip(0.5 + 2.0 * (1.0 - SCORES), 0.0, 1.0), atol=1e-12)
