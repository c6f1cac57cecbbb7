"""The box of a loss says the same as the loss: its conjugate, and by the maximum over the box its value."""

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.losses.base import conjugate
from maxmargin.losses.box import box_of, has_box

LABELS = [Hinge(), SquaredHinge(), HuberHinge(0.5), HuberHinge(0.05)]
NUMBERS = [EpsilonInsensitive(0.0), EpsilonInsensitive(0.3), SquaredEpsilonInsensitive(0.3), Huber(0.5, 0.2)]
CASES = [(loss, y) for loss in LABELS for y in (-1.0, 1.0)] + [(loss, y) for loss in NUMBERS for y in (-2.0, 0.7)]


def of(loss, y, c):
    return [float(part[0]) for part in box_of(loss, np.array([y]), np.array([c]), loss.one_sided)]


@pytest.mark.parametrize(("loss", "y"), CASES)
@pytest.mark.parametrize("c", [0.25, 3.0])
def test_the_box_is_the_conjugate(loss, y, c):
    p, lower, upper, kink, ridge = of(loss, y, c)
    for beta in np.linspace(-4.0, 4.0, 161):
        expected = -p * beta + kink * abs(beta) + 0.5 * ridge * beta**2 if lower <= beta <= upper else np.inf
        assert conjugate(loss, y, c, beta) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("loss", "y"), CASES)
def test_the_maximum_over_the_box_is_the_loss(loss, y):
    """c l(y, z) = max over the box of beta (p - z) - kink |beta| - ridge beta^2 / 2, on a fine grid."""
    c = 1.5
    p, lower, upper, kink, ridge = of(loss, y, c)
    betas = np.linspace(max(lower, -60.0), min(upper, 60.0), 48_001)
    for z in np.linspace(-4.0, 4.0, 33):
        best = np.max(betas * (p - z) - kink * np.abs(betas) - 0.5 * ridge * betas**2)
        assert best == pytest.approx(c * float(loss.value(y, z)), abs=1e-4)


@pytest.mark.parametrize("loss", LABELS + NUMBERS)
def test_a_row_without_cost_keeps_its_multiplier_at_zero(loss):
    _, lower, upper, _, ridge = of(loss, 1.0, 0.0)
    assert lower == upper == ridge == 0.0


def test_what_has_no_box_is_refused():
    assert all(has_box(loss, of_labels=True) for loss in LABELS)
    assert all(has_box(loss, of_labels=False) for loss in NUMBERS)
    assert not has_box(Logistic(), of_labels=True)
    assert not has_box(Hinge, of_labels=True)
    assert not has_box(HuberHinge(-1.0), of_labels=True)
    assert not has_box(Hinge(), of_labels=False)
    for wrong in (Logistic(), HuberHinge(-1.0), HuberHinge(np.inf), HuberHinge("a"), EpsilonInsensitive(0.1), 3):
        assert not has_box(wrong, of_labels=True)
        with pytest.raises(ValueError, match="needs a piecewise quadratic loss"):
            box_of(wrong, np.ones(1), np.ones(1), of_labels=True)
    with pytest.raises(ValueError, match="'logistic', 'huber_hinge', or a loss of maxmargin"):
        SVC(loss=EpsilonInsensitive(0.1)).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), HuberHinge(0.25)])
def test_kernel_machines_take_loss_objects(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=60) > 0, 1, -1)
    found = SVC(loss=loss, C=2.0).fit(X, y)
    scores = found.decision_function(X)
    primal = 0.5 / found.margin_**2 + 2.0 * float(np.sum(loss.value(y.astype(float), scores)))
    assert found.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert found.certificate_.relative_gap < 1e-9
