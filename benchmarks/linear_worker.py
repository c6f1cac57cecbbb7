"""One linear peer in its own process: reads a set once, then fits with the settings it is told.

    python -m benchmarks.linear_worker PEER SET.npz

Settings come as JSON lines on standard input. Three answers go as JSON lines to standard output, each as soon as it is
known: the seconds that a data structure of the peer's own took, those from arrays to a model, and the objective of the
model, computed here for everyone by the same formula in float64. Settings with "tiny" ask for a fit of a few rows,
which is not measured and has one answer.
"""

import json
import os
import pathlib
import sys
import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import worker

PEERS_FOLDER = pathlib.Path(__file__).parent / ".peers"
MAX_ITER = 10**6
CHUNK = 65536


def objective(X, signs: np.ndarray, C: float, loss: str, w: np.ndarray, b: float) -> float:
    """1/2 (||w||^2 + b^2) + C sum_i max(0, 1 - y_i (w'x_i + b))^p: the bias is the weight of a constant feature 1."""
    total = 0.0
    for first in range(0, X.shape[0], CHUNK):
        part = X[first : first + CHUNK]
        z = part @ w if sparse.issparse(part) else part.astype(np.float64) @ w
        slack = np.maximum(0.0, 1.0 - signs[first : first + CHUNK] * (z + b))
        total += float((slack if loss == "hinge" else slack**2).sum())
    return 0.5 * float(w @ w + b * b) + C * total


class Maxmargin:
    """This library."""

    def __init__(self, X, y) -> None:
        self.X, self.y = X, y

    def prepare(self) -> None:
        """Make the data structure that ``fit`` reads, where a peer leaves that to its user."""

    def fit(self, loss: str, C: float, tol: float) -> None:
        from maxmargin import LinearSVC

        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.model = LinearSVC(loss=loss, C=C, tol=tol, fit_intercept="regularized", random_state=0)
            self.model.fit(self.X, self.y)
        self.warnings = [str(w.message) for w in said]

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        return self.model.coef_, self.model.intercept_

    def extra(self) -> dict[str, Any]:
        m = self.model
        proofs = m.certificate_.parts or (m.certificate_,)
        solvers = dict.fromkeys(part.split(":")[0] for part in m.solver_.split("; "))
        return {
            "gap": max(proof.relative_gap for proof in proofs),
            "solver": "+".join(solvers),
            "passes": m.n_passes_,
            "status": m.status_.name,
            "warnings": self.warnings,
        }


class Sklearn(Maxmargin):
    """scikit-learn's LinearSVC."""

    def fit(self, loss: str, C: float, tol: float) -> None:
        from sklearn.svm import LinearSVC

        self.model = LinearSVC(loss=loss, C=C, tol=tol, max_iter=MAX_ITER, random_state=0)
        self.model.fit(self.X, self.y)

    def extra(self) -> dict[str, Any]:
        return {}


class Liblinear(Maxmargin):
    """LIBLINEAR's own package: arrays are made into its list of entries first."""

    folder, threads = "liblinear-official", ""

    def __init__(self, X, y) -> None:
        if (PEERS_FOLDER / self.folder).is_dir():
            sys.path.insert(0, str(PEERS_FOLDER / self.folder))
        from liblinear import liblinearutil

        self.util, self.X, self.shape = liblinearutil, X, X.shape
        self.classes, self.labels = np.unique(y, return_inverse=True)

    def prepare(self) -> None:
        self.problem = self.util.problem(self.labels.astype(float), sparse.csr_matrix(self.X, dtype=np.float64))

    def fit(self, loss: str, C: float, tol: float) -> None:
        n, d = self.shape
        kind = 3 if loss == "hinge" else (2 if n >= d else 1)  # scikit-learn's dual="auto"
        self.model = self.util.train(self.problem, f"-q -s {kind} -c {C} -e {tol} -B 1 {self.threads}")

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        model, k = self.model, len(self.classes)
        labels = [int(label) for label in model.get_labels()]
        machines = range(k) if k > 2 else [1]
        pairs = []
        for number in machines:
            w, b = model.get_decfun(labels.index(number))
            pairs.append((np.array(w[: self.shape[1]]), b))
        return np.stack([w for w, _ in pairs]), np.array([b for _, b in pairs])

    def extra(self) -> dict[str, Any]:
        return {}


class LiblinearMulticore(Liblinear):
    """LIBLINEAR with threads."""

    folder, threads = "liblinear-multicore", f"-m {os.cpu_count()}"

    def __init__(self, X, y) -> None:
        if not (PEERS_FOLDER / self.folder).is_dir():
            raise ImportError(f"pip install --no-deps --target {PEERS_FOLDER / self.folder} {self.folder}")
        super().__init__(X, y)


class Snapml(Maxmargin):
    """IBM's Snap ML."""

    def __init__(self, X, y) -> None:
        from snapml import SupportVectorMachine

        self.make, self.X = SupportVectorMachine, sparse.csr_matrix(X) if sparse.issparse(X) else X
        self.labels = np.unique(y, return_inverse=True)[1].astype(np.float32)
        self.classes = np.unique(y)

    def fit(self, loss: str, C: float, tol: float) -> None:
        self.model = self.make(
            loss=loss, regularizer=1.0 / C, tol=tol, max_iter=MAX_ITER, n_jobs=os.cpu_count(), fit_intercept=True,
            random_state=0,
        )  # fmt: skip
        self.model.fit(self.X, self.labels)

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        rows = 1 if len(self.classes) == 2 else len(self.classes)
        coef = np.asarray(self.model.coef_, np.float64).reshape(rows, -1)
        return coef, np.asarray(self.model.intercept_, np.float64).reshape(rows)

    def extra(self) -> dict[str, Any]:
        return {}


PEERS = {
    "maxmargin": Maxmargin,
    "sklearn": Sklearn,
    "liblinear": Liblinear,
    "liblinear_multicore": LiblinearMulticore,
    "snapml": Snapml,
}


def main() -> None:
    """Serve settings until standard input ends."""
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    case = worker.load(sys.argv[2])
    X, y = case["X"], case["y"]
    try:
        peer = PEERS[sys.argv[1]](X, y)
    except ImportError as missing:
        say({"missing": str(missing)})
        return
    say({"ready": True})
    for line in sys.stdin:
        told = json.loads(line)
        if told.pop("tiny", False):
            rows = worker.tiny(case)
            few = type(peer)(X[rows], y[rows])
            few.prepare()
            few.fit(**told)
            say({"done": True})
            continue
        before = worker.peak_reset()
        begun = time.perf_counter()
        peer.prepare()
        structure = time.perf_counter() - begun
        say({"structure": structure})
        begun = time.perf_counter()
        peer.fit(**told)
        say({"seconds": structure + time.perf_counter() - begun, "memory": worker.peak() - before})
        say({"objective": total_objective(peer, X, y, told["C"], told["loss"])} | peer.extra())


def total_objective(peer: Maxmargin, X, y: np.ndarray, C: float, loss: str) -> float:
    """The objective of the fitted machine; several classes are set against the rest one by one, and added up."""
    coef, intercept = peer.weights()
    classes = np.unique(y)
    positives = classes[1:] if len(classes) == 2 else classes
    return sum(
        objective(X, np.where(y == c, 1.0, -1.0), C, loss, w, b)
        for c, w, b in zip(positives, coef, intercept, strict=True)
    )


if __name__ == "__main__":
    main()
