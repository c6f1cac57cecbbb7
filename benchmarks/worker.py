"""One peer in its own process: reads a case, then fits or predicts when told to, and says how long it took.

    python -m benchmarks.worker PEER CASE.npz

Commands come as lines on standard input (``warm_up``, ``fit``, ``predict``, ``judge``), answers go as JSON lines to
standard output.
"""

import json
import resource
import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

CACHE_MB = 2000
TOL = 1e-3
TILE = 1024
WARM_ROWS = 400


class Machine(NamedTuple):
    """What an OvO machine consists of, in scikit-learn's layout."""

    support: np.ndarray
    n_support: np.ndarray
    dual_coef: np.ndarray


def save(case, path) -> None:
    """Write a case for the workers."""
    save_arrays({"y": case.y, "C": case.C, "gamma": case.gamma, "X": case.X, "X_test": case.X_test}, path)


def save_arrays(arrays: dict[str, Any], path) -> None:
    """Write arrays, sparse ones in their parts."""
    parts = {}
    for name, X in arrays.items():
        if sparse.issparse(X):
            parts |= {f"{name}_{field}": getattr(X, field) for field in ("data", "indices", "indptr", "shape")}
        else:
            parts[name] = X
    np.savez(path, **parts)


def load(path) -> dict[str, Any]:
    """What ``save`` wrote."""
    with np.load(path) as z:
        case = {name: z[name] for name in z.files}
    for name in ("X", "X_test"):
        if name not in case:
            data, indices, indptr, shape = (case[f"{name}_{field}"] for field in ("data", "indices", "indptr", "shape"))
            case[name] = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    return case


def tiny(case) -> np.ndarray:
    """Rows spread over the training set, of every class."""
    y = case["y"]
    spread = np.linspace(0, len(y) - 1, min(WARM_ROWS, len(y))).astype(int)
    return np.union1d(spread, np.unique(y, return_index=True)[1])


class Sklearn:
    """scikit-learn's SVC, and everything with its interface."""

    def __init__(self, case) -> None:
        self.case = case
        self.machine = self._class()(C=float(case["C"]), gamma=float(case["gamma"]), tol=TOL, cache_size=CACHE_MB)

    def _class(self):
        from sklearn.svm import SVC

        return SVC

    def warm_up(self) -> None:
        """What every peer does before it is measured: libraries are loaded and threads started by a tiny fit."""
        rows = tiny(self.case)
        self.machine.fit(self.case["X"][rows], self.case["y"][rows])
        self.machine.predict(self.case["X_test"][:WARM_ROWS])

    def fit(self) -> None:
        self.machine.fit(self.case["X"], self.case["y"])

    def predict(self) -> np.ndarray:
        return self.machine.predict(self.case["X_test"])

    def model(self) -> Machine:
        m = self.machine
        coef = m.dual_coef_.toarray() if sparse.issparse(m.dual_coef_) else m.dual_coef_
        return Machine(m.support_, m.n_support_, np.asarray(coef, np.float64))

    def extra(self) -> dict[str, Any]:
        return {}


class Sklearnex(Sklearn):
    """scikit-learn-intelex (oneDAL)."""

    def _class(self):
        from sklearnex.svm import SVC

        return SVC


class Maxmargin(Sklearn):
    """This library."""

    def _class(self):
        from maxmargin import SVC

        return SVC

    def extra(self) -> dict[str, Any]:
        proof = self.machine.certificate_
        return {
            "gap": proof.relative_gap,
            "violation": proof.violation,
            "status": self.machine.status_.name,
            "kernel_values": self.machine.kernel_values_,
        }


class Libsvm(Sklearn):
    """LIBSVM's own package."""

    def __init__(self, case) -> None:
        from libsvm import svmutil

        self.case, self.svmutil = case, svmutil
        self.labels = np.searchsorted(np.unique(case["y"]), case["y"]).astype(float)
        self.problem = svmutil.svm_problem(self.labels, self._sparse(case["X"]))
        self.options = f"-q -s 0 -t 2 -c {case['C']} -g {case['gamma']} -e {TOL} -m {CACHE_MB}"
        self.rows = self._sparse(case["X_test"])

    def _sparse(self, X):
        return sparse.csr_matrix(X, dtype=np.float64)

    def warm_up(self) -> None:
        rows = tiny(self.case)
        self.svmutil.svm_train(self.svmutil.svm_problem(self.labels[rows], self._sparse(self.case["X"][rows])), "-q")

    def fit(self) -> None:
        self.machine = self.svmutil.svm_train(self.problem, self.options)

    def predict(self) -> np.ndarray:
        return np.array(self.svmutil.svm_predict([], self.rows, self.machine, "-q")[0])

    def model(self) -> Machine:
        """Support vectors are grouped by class as in scikit-learn, though the classes are in order of appearance."""
        support = np.array(self.machine.get_sv_indices()) - 1
        counts = np.array(self.machine.nSV[: self.machine.get_nr_class()])
        return Machine(support, counts, np.array(self.machine.get_sv_coef()).T)


PEERS = {"maxmargin": Maxmargin, "sklearn": Sklearn, "sklearnex": Sklearnex, "libsvm": Libsvm}


def dual_value(case, machine: Machine) -> float:
    """sum_pairs sum |beta| - 1/2 beta'K beta with K in float64, over the pairs of a one-versus-one machine."""
    X = case["X"][machine.support]
    X = X.toarray() if sparse.issparse(X) else X
    X = X.astype(np.float64)
    X -= X.mean(axis=0)
    squares, gamma = (X**2).sum(axis=1), float(case["gamma"])
    edges = np.cumsum([0, *machine.n_support])
    k = len(machine.n_support)
    norms = np.zeros((k, k))
    for first in range(0, len(X), TILE):
        part = slice(first, first + TILE)
        K = np.exp(-gamma * np.maximum(squares[part, None] + squares - 2.0 * X[part] @ X.T, 0.0))
        owner = np.searchsorted(edges, np.arange(first, min(first + TILE, len(X))), side="right") - 1
        for b in range(k):
            columns = slice(edges[b], edges[b + 1])
            products = K[:, columns] @ machine.dual_coef[:, columns].T  # (rows, k - 1): each machine of class b
            for a in np.unique(owner):
                mine = owner == a
                weights = machine.dual_coef[:, part][:, mine]
                if a == b:  # row r of class a is its machine against the r-th other class
                    for r in range(k - 1):
                        norms[a, r if r < a else r + 1] += weights[r] @ products[mine, r]
                else:
                    norms[a, b] += weights[b - (b > a)] @ products[mine, a - (a > b)]
    # Cells (a, b) and (b, a) together hold beta'K beta of their pair.
    return float(np.abs(machine.dual_coef).sum() - 0.5 * norms.sum())


def peak_reset() -> float:
    """Forget the highest resident memory so far; the present one in MB."""
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        return 0.0
    return _resident("VmRSS")


def _resident(field: str) -> float:
    with open("/proc/self/status") as status:
        return next(float(line.split()[1]) / 1024 for line in status if line.startswith(field))


def peak() -> float:
    """Highest resident memory since ``peak_reset``, in MB."""
    try:
        return _resident("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cpu_since(before: resource.struct_rusage) -> dict[str, float]:
    """User and system seconds of all threads of this process since ``before``."""
    now = resource.getrusage(resource.RUSAGE_SELF)
    return {"user": now.ru_utime - before.ru_utime, "system": now.ru_stime - before.ru_stime}


def main() -> None:
    """Serve commands until standard input ends."""
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # what peers print must not mix with the answers
    peer_name, path = sys.argv[1:3]
    case = load(path)
    try:
        peer = PEERS[peer_name](case)
    except ImportError as missing:
        print(json.dumps({"missing": str(missing)}), file=answers, flush=True)
        return
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        command = line.strip()
        before, used = peak_reset(), resource.getrusage(resource.RUSAGE_SELF)
        begun = time.perf_counter()
        if command == "judge":
            machine = peer.model()
            answer = {"dual": dual_value(case, machine), "support": len(machine.support)}
            answer |= {"classes": len(machine.n_support), **peer.extra()}
        else:
            getattr(peer, command)()
            answer = {"seconds": time.perf_counter() - begun, "memory": peak() - before} | cpu_since(used)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
