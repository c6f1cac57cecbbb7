"""One first fit and one first prediction of one peer, in this process; what it took goes to standard output as JSON.

python -m benchmarks.family_worker PEER ESTIMATOR PARAMETERS CASE.npz
"""

import importlib
import json
import resource
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.worker import peak, peak_reset

CACHE_MB = 2000
TILE = 1024
HOMES = {
    "maxmargin": {},
    "sklearn": {"KernelPCA": "sklearn.decomposition"},
    "sklearnex": {},
}
MODULES = {"maxmargin": "maxmargin", "sklearn": "sklearn.svm", "sklearnex": "sklearnex.svm"}


def make(peer: str, estimator: str, parameters: dict[str, Any]) -> Any:
    """The estimator of a peer, with a large cache where it has none that adapts."""
    module = importlib.import_module(HOMES[peer].get(estimator, MODULES[peer]))
    machine = getattr(module, estimator)(**parameters)
    if peer != "maxmargin" and "cache_size" in machine.get_params():
        machine.set_params(cache_size=CACHE_MB)
    return machine


def weighted_square(X: np.ndarray, coef: np.ndarray, gamma: float) -> float:
    """beta'K beta of the RBF kernel in float64."""
    X = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    squares, total = (X**2).sum(axis=1), 0.0
    for first in range(0, len(X), TILE):
        part = slice(first, first + TILE)
        K = np.exp(-gamma * np.maximum(squares[part, None] + squares - 2.0 * X[part] @ X.T, 0.0))
        total += float(coef[part] @ (K @ coef))
    return total


def objective(estimator: str, machine: Any, case: dict[str, np.ndarray], parameters: dict[str, Any]) -> float:
    """Of the model as it is: the dual value, that of the pairs of a NuSVC as C-SVCs together, or the variance found."""
    if estimator == "KernelPCA":
        return float(np.sum(machine.eigenvalues_))
    X, gamma = case["X"], parameters["gamma"]
    coef = np.asarray(machine.dual_coef_, np.float64)
    if estimator == "NuSVC":
        return float(np.abs(coef).sum())
    beta = coef.ravel()
    half = 0.5 * weighted_square(X[machine.support_], beta, gamma)
    if estimator == "OneClassSVM":
        return -half
    return float(case["y"][machine.support_] @ beta - parameters["epsilon"] * np.abs(beta).sum() - half)


def main() -> None:
    """Fit, predict, judge."""
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr
    peer, estimator, given, path = sys.argv[1:5]
    parameters = json.loads(given)
    with np.load(path) as z:
        case = {name: z[name] for name in z.files}
    try:
        machine = make(peer, estimator, parameters)
    except (ImportError, AttributeError) as missing:
        print(json.dumps({"missing": str(missing)}), file=answers)
        return
    targets = () if estimator in ("OneClassSVM", "KernelPCA") else (case["y"],)
    before = peak_reset()
    used = resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    machine.fit(case["X"], *targets)
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    memory = peak() - before
    begun = time.perf_counter()
    (machine.transform if estimator == "KernelPCA" else machine.predict)(case["X_test"])
    predicting = time.perf_counter() - begun
    answer = {
        "fit": seconds,
        "predict": predicting,
        "cpu": after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime,
        "memory": memory,
        "objective": objective(estimator, machine, case, parameters),
        "support": 0 if estimator == "KernelPCA" else len(machine.support_),
    }
    if peer == "maxmargin" and hasattr(machine, "certificate_"):
        answer |= {"gap": machine.certificate_.relative_gap, "status": machine.status_.name}
    print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
