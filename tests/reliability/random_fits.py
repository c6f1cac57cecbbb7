"""Fits random small problems and checks what each fit says of itself. ``python -m tests.reliability.random_fits``.

A number is a problem: an estimator with its parameters, data over many decades of scales, offsets, weights and costs,
and a container for them. Each fit is checked for exceptions, for values that are not finite, for a status that
disagrees with its certificate, for a certificate that disagrees with a recomputation in long double, and for CPU time.
"""

from __future__ import annotations

import argparse
import collections
import json
import time
import traceback
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SGDSVC, SGDSVR, SVC, CategoricalNB, GaussianNB, LinearSVC, LinearSVR, MultinomialNB, Status
from maxmargin.core.rows import as_dense
from maxmargin.losses import PowerHinge, SquaredHinge
from tests.reliability import stored_models
from tests.reliability.stored_models import JOINT

CPU_SECONDS = 5.0
SLACK = 1e-9  # of the objective: by so much the true gap may exceed the certified one, which is summed in float64
TOLERATED = 1.0 + 1e-6
REDUCTIONS = ("ovo", "ovr", "codes", *JOINT)
CONTAINERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "csr": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{k}" for k in range(X.shape[1])]),
}


class Trial(NamedTuple):
    """One random problem: ``X`` holds the numbers, ``given`` the same in its container."""

    number: int
    estimator: Any
    container: str
    X: Any
    given: Any
    y: Any
    weights: Any

    def __str__(self) -> str:
        weights = "none" if self.weights is None else f"{self.weights.min():.2g} ... {self.weights.max():.2g}"
        largest = float(np.abs(self.X).max())
        return (
            f"{self.number}: {self.estimator} on {self.X.shape} {self.X.dtype} as {self.container}, |X| up to "
            f"{largest:.3g}, weights {weights}"
        )


# --- drawing ---------------------------------------------------------------------------------------------------------


def draw(number: int) -> Trial:
    """The problem of that number."""
    rng = np.random.default_rng([number, 13])
    made = [_svc, _svc, _linear_svc, _linear_svc, _linear_svr, _online, _bayes]
    estimator = made[rng.integers(len(made))](rng)
    X = _points(rng, isinstance(estimator, MultinomialNB | CategoricalNB))
    y = _numbers(rng, X) if isinstance(estimator, LinearSVR | SGDSVR) else _labels(rng, X)
    container = "C" if isinstance(estimator, CategoricalNB | GaussianNB) else str(rng.choice(list(CONTAINERS)))
    weights = None
    if rng.random() < 0.3:
        weights = 10.0 ** rng.uniform(-3, 3, len(X)) if rng.random() < 0.5 else rng.integers(1, 4, len(X)).astype(float)
    return Trial(number, estimator, container, X, CONTAINERS[container](X), y, weights)


def _cost(rng: np.random.Generator) -> float:
    return float(f"{10.0 ** rng.uniform(-4, 6):.3g}")


def _common(rng: np.random.Generator) -> dict[str, Any]:
    return {"C": _cost(rng), "fit_intercept": [True, False, "regularized"][rng.integers(3)]}


def _balanced(rng: np.random.Generator) -> str | None:
    return "balanced" if rng.random() < 0.2 else None


def _svc(rng: np.random.Generator) -> SVC:
    kernel = str(rng.choice(["rbf", "rbf", "rbf", "linear", "poly", "laplacian", "sigmoid"]))
    gamma: Any = "scale" if rng.random() < 0.5 else float(f"{10.0 ** rng.uniform(-6, 3):.3g}")
    reduction = str(rng.choice(REDUCTIONS if kernel != "sigmoid" else REDUCTIONS[:3]))
    losses: list[Any] = ["hinge", "hinge", "squared_hinge", "squared_hinge"]
    if kernel != "sigmoid" and reduction not in JOINT:
        losses += ["logistic", PowerHinge(float(rng.choice([1.05, 1.5, 1.9])))]
    return SVC(
        kernel=kernel,
        gamma="scale" if kernel == "poly" else gamma,
        degree=int(rng.integers(1, 4)),
        coef0=float(rng.integers(2)),
        loss=losses[rng.integers(len(losses))],
        multi_class=reduction,
        class_weight=_balanced(rng),
        **_common(rng),
    )


def _linear_svc(rng: np.random.Generator) -> LinearSVC:
    reduction = str(rng.choice(REDUCTIONS))
    penalty = "l1" if reduction not in JOINT and rng.random() < 0.15 else "l2"
    smooth = ["squared_hinge", "logistic"]
    losses = smooth if penalty == "l1" else ["hinge", "squared_hinge"] if reduction in JOINT else _CLASS_LOSSES
    loss = str(rng.choice(losses))
    return LinearSVC(
        loss=SquaredHinge() if reduction in JOINT and loss == "squared_hinge" else loss,
        penalty=penalty,
        multi_class=reduction,
        class_weight=_balanced(rng),
        random_state=0,
        **_common(rng),
    )


_CLASS_LOSSES = ["hinge", "squared_hinge", "logistic", "huber_hinge"]


def _linear_svr(rng: np.random.Generator) -> LinearSVR:
    loss = str(rng.choice(["epsilon_insensitive", "squared_epsilon_insensitive", "huber"]))
    return LinearSVR(loss=loss, epsilon=float(rng.choice([0.0, 0.1, 1.0])), random_state=0, **_common(rng))


def _online(rng: np.random.Generator) -> SGDSVC | SGDSVR:
    return SGDSVC(random_state=0) if rng.random() < 0.6 else SGDSVR(random_state=0)


def _bayes(rng: np.random.Generator) -> Any:
    return [GaussianNB(), MultinomialNB(), CategoricalNB()][rng.integers(3)]


def _points(rng: np.random.Generator, counts: bool) -> Any:
    """2 to 200 rows of 1 to 12 features: normal, 0/1, counts or rounded, some of them equal, moved and scaled."""
    n, d = int(rng.integers(2, 200) if rng.random() < 0.8 else rng.integers(2, 8)), int(rng.integers(1, 13))
    X = rng.normal(size=(n, d))
    kind = rng.random()
    if counts or kind < 0.1:
        return rng.integers(0, 2 if kind < 0.1 else 6, (n, d)).astype(np.float64)
    if kind < 0.25:
        X = np.round(X)
    if rng.random() < 0.2:
        X[rng.integers(0, n, n // 3)] = X[0]
    if rng.random() < 0.15:
        X[:, rng.integers(d)] = 1.0
    X *= 10.0 ** rng.uniform(-4, 4) if rng.random() < 0.5 else 10.0 ** rng.uniform(-3, 3, d)
    if rng.random() < 0.4:
        X += np.abs(X).max() * 10.0 ** rng.uniform(-2, 6) * rng.normal(size=d)
    return X.astype(np.float32) if rng.random() < 0.3 else X


def _labels(rng: np.random.Generator, X: Any) -> Any:
    """2 to 5 classes along a direction, or at random; every class has a row."""
    n, k = len(X), int(min(rng.integers(2, 6), len(X)))
    standard = (X - X.mean(axis=0, dtype=np.float64)) / (X.std(axis=0, dtype=np.float64) + 1e-300)
    line = standard @ rng.normal(size=X.shape[1]) + rng.choice([0.0, 0.1, 1.0, 100.0]) * rng.normal(size=n)
    ranks = np.argsort(np.argsort(line, kind="stable"), kind="stable")
    return ranks * k // n if rng.random() < 0.5 else np.array(["a", "b", "c", "d", "e"])[ranks * k // n]


def _numbers(rng: np.random.Generator, X: Any) -> Any:
    """Targets that depend on X, or not; sometimes all the same."""
    n = len(X)
    if rng.random() < 0.1:
        return np.full(n, float(rng.normal()))
    standard = (X - X.mean(axis=0, dtype=np.float64)) / (X.std(axis=0, dtype=np.float64) + 1e-300)
    y = standard @ rng.normal(size=X.shape[1]) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=n)
    return 10.0 ** rng.uniform(-2, 3) * y + rng.choice([0.0, 1.0, 1e3])


# --- checking --------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What a trial showed: how it ended, its CPU seconds and what was wrong, if anything."""

    trial: Trial
    status: str
    seconds: float
    defects: list[str]


def run(trial: Trial) -> Outcome:
    """Fit and check."""
    begun = time.process_time()
    model = trial.estimator
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            model.fit(trial.given, trial.y, sample_weight=trial.weights)
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        said = f"{type(problem).__name__}: {problem} ({where.name}, line {where.lineno})"
        return Outcome(trial, type(problem).__name__, time.process_time() - begun, [said])
    seconds = time.process_time() - begun
    defects = [f"warned {w.category.__name__}: {w.message}" for w in raised if w.category is not ConvergenceWarning]
    defects += not_finite(trial)
    status = getattr(model, "status_", None)
    if status is not None:
        warned = any(w.category is ConvergenceWarning for w in raised)
        defects += disagreements(trial, status, warned) + false_proofs(trial)
    return Outcome(trial, "fitted" if status is None else status.name, seconds, defects)


def not_finite(trial: Trial) -> list[str]:
    """Attributes and predictions that hold infinities or NaN."""
    model = trial.estimator
    names = ("coef_", "intercept_", "dual_coef_")
    values = {name: getattr(model, name) for name in names if name in vars(model)}
    method = "decision_function" if hasattr(model, "decision_function") else "predict"
    values[method] = getattr(model, method)(trial.given)
    numeric = {name: as_dense(value) for name, value in values.items()}
    numeric = {name: value for name, value in numeric.items() if np.asarray(value).dtype.kind == "f"}
    return [f"{name} is not finite" for name, value in numeric.items() if not np.isfinite(value).all()]


def disagreements(trial: Trial, status: Status, warned: bool) -> list[str]:
    """Converged means that every machine has proved ``tol``, and only then is there no warning."""
    model, proof = trial.estimator, trial.estimator.certificate_
    parts = proof.parts or (proof,)
    measured = [part.violation if isinstance(model, SVC) else part.relative_gap for part in parts]
    proved = all(value <= model.tol * TOLERATED for value in measured)
    found = []
    if proved != (status is Status.CONVERGED):
        found.append(f"{status.name}, but {max(measured):.3g} is proved for tol {model.tol:g}")
    if warned == (status is Status.CONVERGED):
        found.append(f"{status.name} {'with' if warned else 'without'} a warning")
    if any(part.gap < 0 or part.dual > part.primal * (1 + SLACK) + SLACK * abs(part.dual) for part in parts):
        found.append("a dual value above the primal one")
    return found


def false_proofs(trial: Trial) -> list[str]:
    """Where a recomputation in long double finds another primal value, a larger gap or a larger violation."""
    proof, found = trial.estimator.certificate_, []
    machines = stored_models.recomputed(trial.estimator, trial.X, trial.y, trial.weights)
    for part, true in zip(proof.parts or (proof,), machines, strict=True):
        if np.isnan(part.gap):  # an indefinite kernel: its conditions are all that is claimed
            continue
        slack = SLACK * max(true.scale, abs(part.primal))
        if abs(part.primal - true.primal) > part.gap + slack:
            found.append(f"primal {part.primal:.10g} is {true.primal:.10g}")
        if true.gap > part.gap + slack:
            found.append(f"gap {part.gap:.3g} is {true.gap:.3g} of {true.primal:.3g}")
        if true.violation > part.violation + SLACK:
            found.append(f"violation {part.violation:.3g} is {true.violation:.3g}")
    return found


# --- the command -----------------------------------------------------------------------------------------------------


def main() -> int:
    """Run trials and print what was found; the exit code is 1 where something was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    chosen = parser.parse_args()
    outcomes, bad = [], 0
    for number in range(chosen.first, chosen.first + chosen.count):
        outcome = run(draw(number))
        if outcome.seconds > CPU_SECONDS:  # again: what was compiled for it does not count as the time of a fit
            outcome = run(draw(number))
        if outcome.seconds > CPU_SECONDS:
            outcome.defects.append(f"{outcome.seconds:.1f} CPU seconds")
        outcomes.append(outcome)
        if outcome.defects:
            bad += 1
            print(
                f"{outcome.trial}\n    {outcome.status}, {outcome.seconds:.2f} s: {'; '.join(outcome.defects)}",
                flush=True,
            )
    seconds = np.array([outcome.seconds for outcome in outcomes])
    summary = {
        "fits": len(outcomes),
        "defects": bad,
        "ended": dict(collections.Counter(outcome.status for outcome in outcomes)),
        "cpu_seconds": {
            "median": float(np.median(seconds)),
            "99 %": float(np.quantile(seconds, 0.99)),
            "most": float(seconds.max()),
        },
    }
    print(json.dumps(summary) if chosen.json else summary)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
