"""Kernel models on more rows than one working set: float32 tiles, chunks, several groups, little memory."""

import numpy as np
import pytest
from sklearn.svm import SVR, NuSVC, NuSVR, OneClassSVM

from maxmargin import Status
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses import EpsilonInsensitive
from maxmargin.models import ball, class_margin, nu_classifier, nu_regression, one_class, regression, svdd, tube
from maxmargin.solvers import Options, solve
from maxmargin.solvers.box import smo

N, GAMMA, TOL = 1500, 0.3, 1e-3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
NUMBERS = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * RNG.normal(size=N)
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=N) > 0, 1.0, -1.0)
K = RBF(GAMMA)(X)
WHOLE = 4 * N * N  # bytes of all kernel values in float32

pytestmark = pytest.mark.large


def as_regression(solution):
    return K @ solution.beta + solution.certificate.bias


def as_sides(solution):
    machine = class_margin(solution.point)
    return K @ machine.coef + machine.bias


def as_tube(solution):
    machine = tube(solution.point)
    return K @ machine.coef + machine.bias


def as_distances(solution):
    sphere = ball(solution)
    return sphere.squared_radius - (1.0 - 2.0 * K @ sphere.coef + sphere.coef @ K @ sphere.coef)


PEERS = {
    "eps-SVR": (
        lambda gram: regression(gram, NUMBERS, 5.0, EpsilonInsensitive(0.1)),
        lambda: SVR(C=5.0, epsilon=0.1, gamma=GAMMA, tol=1e-5).fit(X, NUMBERS).predict(X),
        as_regression,
    ),
    "nu-SVC": (
        lambda gram: nu_classifier(gram, SIGNS, 0.4),
        lambda: NuSVC(nu=0.4, gamma=GAMMA, tol=1e-6).fit(X, SIGNS).decision_function(X),
        as_sides,
    ),
    "nu-SVR": (
        lambda gram: nu_regression(gram, NUMBERS, 0.4, 5.0),
        lambda: NuSVR(C=5.0, nu=0.4, gamma=GAMMA, tol=1e-5).fit(X, NUMBERS).predict(X),
        as_tube,
    ),
    "one-class": (
        lambda gram: one_class(gram, 0.2),
        lambda: OneClassSVM(nu=0.2, gamma=GAMMA, tol=1e-5).fit(X).decision_function(X),
        as_regression,
    ),
    "SVDD": (  # with a kernel of constant K_ii: the one-class machine divided by nu n, twice
        lambda gram: svdd(gram, 1.0 / (0.2 * N)),
        lambda: 2.0 * OneClassSVM(nu=0.2, gamma=GAMMA, tol=1e-5).fit(X).decision_function(X) / (0.2 * N),
        as_distances,
    ),
}


@pytest.mark.parametrize("budget", [None, WHOLE // 2, WHOLE // 16], ids=["ample", "half", "little"])
@pytest.mark.parametrize("model", PEERS)
def test_chunks_of_float32_rows_reach_what_a_peer_finds(model, budget, monkeypatch):
    state, peer, decisions = PEERS[model]
    monkeypatch.setattr(smo, "CHUNK", 300)
    monkeypatch.setattr(smo, "WHOLE_NS", 0.0)
    gram = Gram(RBF(GAMMA), X, TOL, budget)
    assert gram.dtype == np.float32
    found = solve(state(gram), Options(tol=TOL))
    assert found.status is Status.CONVERGED
    assert found.certificate.violation <= TOL * (1.0 + 1e-5)
    assert found.certificate.relative_gap < 1e-2
    np.testing.assert_allclose(decisions(found), peer(), atol=10.0 * TOL)


def test_tolerances_of_a_nu_classifier_are_those_of_the_machine():
    """f is divided by rho: a violation of f below tol would say little where rho is small."""
    found = solve(nu_classifier(Gram(RBF(GAMMA), X, TOL), SIGNS, 0.3), Options(tol=TOL))
    machine = class_margin(found.point)
    assert machine.width < 0.5
    assert found.status is Status.CONVERGED
    margins = SIGNS * (K @ machine.coef + machine.bias)
    alpha = SIGNS * found.beta
    assert margins[alpha == 0.0].min() >= 1.0 - 2.0 * TOL
    assert margins[alpha == 1.0].max() <= 1.0 + 2.0 * TOL
    assert margins[(alpha > 0.0) & (alpha < 1.0)] == pytest.approx(1.0, abs=2.0 * TOL)
    assert found.certificate.norm == pytest.approx(np.sqrt(machine.coef @ K @ machine.coef), rel=1e-3)
    assert found.certificate.bias == pytest.approx(machine.bias, abs=1e-12)
