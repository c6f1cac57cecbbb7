"""A certificate is that of the stored model: its values in long double from the fitted attributes and the data alone.

The primal value is that of the attributes as they are stored. The dual value of kernel machines follows from
``dual_coef_``; linear machines store no multipliers, so theirs is held against the primal value of a model solved far
more accurately, which no true lower bound exceeds.
"""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, LinearSVC, LinearSVR
from maxmargin.losses import PowerHinge
from tests.reliability.stored_models import JOINT, recomputed

TINY = 1e-12  # of the objective: sums of a certificate are float64
REDUCTIONS = ["ovo", "ovr", "codes"]
BIASES = [True, False, "regularized"]
CLASS_LOSSES = ["hinge", "squared_hinge", "huber_hinge"]
CURVED = ["logistic", PowerHinge(1.2)]
KERNELS = [{"kernel": "rbf"}, {"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}]
KERNELS += [{"kernel": "laplacian"}, {"kernel": "precomputed"}]
KERNEL_MACHINES = [
    *[SVC(loss=loss, **kernel) for loss, kernel in itertools.product([*CLASS_LOSSES, *CURVED], KERNELS)],
    *[SVC(loss=loss, fit_intercept=b, C=5.0) for loss, b in itertools.product([*CLASS_LOSSES, *CURVED], BIASES[1:])],
    *[SVC(multi_class=way, loss=loss) for way, loss in itertools.product(REDUCTIONS[1:], CLASS_LOSSES)],
    *[SVC(multi_class=way, fit_intercept="regularized", kernel="linear") for way in REDUCTIONS],
    *[
        SVC(multi_class=way, loss=loss, **kernel)
        for way, loss, kernel in itertools.product(JOINT, CLASS_LOSSES[:2], KERNELS)
    ],
    *[SVC(multi_class=way, fit_intercept=False) for way in JOINT],
]
LINEAR_MACHINES = [
    *[
        LinearSVC(loss=loss, fit_intercept=bias)
        for loss, bias in itertools.product([*CLASS_LOSSES, "logistic"], BIASES)
    ],
    *[
        LinearSVC(loss=loss, penalty="l1", fit_intercept=bias)
        for loss, bias in itertools.product(["squared_hinge", "logistic"], BIASES)
    ],
    *[LinearSVC(multi_class=way, loss="hinge", C=0.1) for way in REDUCTIONS],
    *[
        LinearSVC(multi_class=way, loss=loss, fit_intercept=bias)
        for way, loss, bias in itertools.product(JOINT, CLASS_LOSSES[:2], BIASES[:2])
    ],
    *[
        LinearSVR(loss=loss, fit_intercept=bias, epsilon=epsilon)
        for loss, bias in itertools.product(["epsilon_insensitive", "squared_epsilon_insensitive", "huber"], BIASES)
        for epsilon in (0.0, 0.1)
    ],
]
VARIANTS = ["two classes", "float32", "weights", "class weights", "repeated rows", "large costs"]


def drawn(model, variant):
    """Data of that kind for a model: its X, y and weights. Sets: what the variant asks of the model's parameters."""
    rng = np.random.default_rng(VARIANTS.index(variant))
    k = 2 if variant == "two classes" else 3
    X = rng.normal(size=(48, 4)) + 0.3
    line = X @ rng.normal(size=4) + 0.7 * rng.normal(size=48)
    weights = None
    if variant == "float32":
        X = X.astype(np.float32)
    elif variant == "weights":
        weights = 10.0 ** rng.uniform(-1, 1, 48)
        if model.get_params().get("multi_class") not in JOINT:  # these refuse rows without cost
            weights[:3] = 0.0
    elif variant == "class weights" and not isinstance(model, LinearSVR):
        model.set_params(class_weight={0: 3.0, 2: 0.2})
    elif variant == "repeated rows":
        source = rng.integers(0, 16, 48)
        X, line = X[source], line[source]
    elif variant == "large costs":
        model.set_params(C=300.0)
    if isinstance(model, LinearSVR):
        return X, line, weights
    y = np.searchsorted(np.quantile(line, np.arange(1, k) / k), line)
    if model.get_params().get("kernel") == "precomputed":
        X = np.exp(-0.4 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    return X, y, weights


def fitted(model, variant):
    """A fitted model and its data. (That a fit says so where it does not converge is tested elsewhere.)"""
    model = clone(model)
    X, y, weights = drawn(model, variant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=weights), (X, y, weights)


def assert_true(model, data):
    """What every part of the certificate says is so: the primal value, and no gap or violation beyond the stated."""
    proof = model.certificate_
    parts = proof.parts or (proof,)
    machines = recomputed(model, *data)
    assert len(machines) == len(parts)
    for part, true in zip(parts, machines, strict=True):
        slack = TINY * max(1.0, true.scale)
        assert true.primal <= part.primal + slack
        assert part.primal <= true.primal + part.rounding + slack
        assert true.gap <= part.gap + slack
        assert part.dual <= true.dual + slack
        assert np.isnan(true.violation) or true.violation <= part.violation + TINY
    for name in ("primal", "dual", "gap"):
        assert getattr(proof, name) == pytest.approx(sum(getattr(part, name) for part in parts), rel=1e-14)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("model", KERNEL_MACHINES, ids=str)
def test_kernel_machines(model, variant):
    assert_true(*fitted(model, variant))


@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *CURVED])
def test_kernel_machines_of_many_rows_in_float32(loss):
    """The gap and the violation are bounds, whatever float32 tiles made of the scores; the values share their error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1300, 4))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=1300) > 0).astype(int)
    model = SVC(loss=loss, C=3.0).fit(X, y)
    assert model._float32
    proof, (true,) = model.certificate_, recomputed(model, X, y, None)
    assert true.gap <= proof.gap + TINY * true.scale
    assert np.isnan(true.violation) or true.violation <= proof.violation + TINY
    assert proof.primal == pytest.approx(float(true.primal), rel=1e-6)
    assert proof.dual == pytest.approx(float(true.dual), rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("model", LINEAR_MACHINES, ids=str)
def test_linear_machines(model, variant):
    model, data = fitted(model, variant)
    assert_true(model, data)
    best, _ = fitted(clone(model).set_params(tol=1e-12), variant)
    parts = model.certificate_.parts or (model.certificate_,)
    for part, true, lowest in zip(parts, recomputed(model, *data), recomputed(best, *data), strict=True):
        slack = TINY * max(1.0, true.scale)
        assert part.dual <= lowest.primal + slack
        assert true.primal - lowest.primal <= part.gap + slack


def test_attributes_keep_the_dtype_that_they_are_certified_in():
    X, y = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32), np.arange(40) % 2
    model = SVC().fit(X, y)
    assert model.support_vectors_.dtype == np.float32
    assert model.dual_coef_.dtype == model.intercept_.dtype == np.float64
    assert LinearSVC().fit(X, y).coef_.dtype == np.float64


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (SVC(), "dual_coef_"),
        (SVC(), "intercept_"),
        (SVC(), "support_vectors_"),
        (SVC(loss="huber_hinge", multi_class="ovr"), "dual_coef_"),
        (SVC(loss=PowerHinge(1.5)), "dual_coef_"),
        (SVC(loss="logistic"), "dual_coef_"),
        (SVC(multi_class="crammer_singer"), "dual_coef_"),
        (SVC(multi_class="weston_watkins"), "intercept_"),
        (LinearSVC(), "coef_"),
        (LinearSVC(loss="logistic", penalty="l1"), "intercept_"),
        (LinearSVC(multi_class="crammer_singer"), "coef_"),
        (LinearSVR(), "coef_"),
    ],
    ids=str,
)
@pytest.mark.parametrize("change", [1e-3, -1e-3])
def test_a_stored_model_that_is_not_the_certified_one_is_found_out(model, name, change):
    model, data = fitted(model, "float32")
    assert_true(model, data)
    setattr(model, name, getattr(model, name) * (1.0 + change))
    with pytest.raises(AssertionError):
        assert_true(model, data)


@pytest.mark.parametrize("lie", ["primal", "dual", "gap", "violation"])
def test_a_certificate_that_lies_is_found_out(lie):
    model, data = fitted(SVC(C=10.0, max_iter=20), "two classes")
    proof = model.certificate_
    assert proof.gap > 1e-3
    false = {"primal": proof.primal - 0.1, "dual": proof.dual + 0.1, "gap": 0.5 * proof.gap, "violation": 0.0}[lie]
    model.certificate_ = proof._replace(**{lie: false})
    with pytest.raises(AssertionError):
        assert_true(model, data)
