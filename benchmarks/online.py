"""Online learners: time to the exact machine's held-out accuracy, and how many rows that takes."""

import math
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn.linear_model import SGDClassifier

from benchmarks import sets, worker

NAMES = ("covtype", "imdb")
LAM = {"covtype": 1e-6, "imdb": 1e-5}
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
REPEATS = 3
PIECE = 0.1


def accuracy_in_time(make, X, y, X_test, y_test, goal: float) -> tuple[float, int, float]:
    """Best time of the fewest passes after which a learner has the wanted accuracy; passes; accuracy."""
    for passes in (1, 2, 3, 5, 8, 12, 20, 30):
        seconds = np.inf
        for _ in range(REPEATS):
            model = make(passes)
            begun = time.perf_counter()
            model.fit(X, y)
            seconds = min(seconds, time.perf_counter() - begun)
        score = model.score(X_test, y_test)
        if score >= goal:
            return seconds, passes, score
    return np.inf, passes, score


def run(folder: pathlib.Path | None, names: list[str] | None) -> None:
    """Print both comparisons for every set."""
    from maxmargin import SGDSVC, LinearSVC

    warnings.simplefilter("ignore")
    for name in names or (NAMES if folder else ["generated20k"]):
        case = sets.linear_case(name, folder)
        order = np.random.default_rng(1).permutation(len(case.y))
        cut = len(order) // 5
        test, train = np.sort(order[:cut]), order[cut:]
        X, y, X_test, y_test = case.X[train], case.y[train], case.X[test], case.y[test]
        lam = LAM.get(name, 1e-5)
        exact = LinearSVC(loss="hinge", lam=lam).fit(X, y).score(X_test, y_test)
        ours = accuracy_in_time(
            lambda k, lam=lam: SGDSVC(lam=lam, max_iter=k, random_state=0), X, y, X_test, y_test, exact - 0.005
        )
        print(f"{name}: exact machine (hinge, lam {lam:g}) {exact:.4f} on {cut} held-out rows")
        print(f"  SGDSVC          {ours[0]:.3f} s, {ours[1]} passes, {ours[2]:.4f}")
        for average in (False, True):
            theirs = accuracy_in_time(
                lambda k, average=average, lam=lam: SGDClassifier(
                    alpha=lam, max_iter=k, tol=None, average=average, random_state=0
                ),
                X, y, X_test, y_test, exact - 0.005,
            )  # fmt: skip
            print(
                f"  SGDClassifier{'*' if average else ' '}  {theirs[0]:.3f} s, {theirs[1]} passes, {theirs[2]:.4f}"
                f", ratio {theirs[0] / ours[0]:.2f}x"
            )
        print("  (* with averaging)")
        for share in SHARES:
            rows = slice(0, int(share * len(y)))
            stream = SGDSVC(lam=lam, random_state=0).partial_fit(X[rows], y[rows], classes=np.unique(y))
            print(f"  after {share:.0%} of the rows: {stream.score(X_test, y_test):.4f}", flush=True)
        streams = {
            "SGDSVC": lambda lam=lam: SGDSVC(lam=lam, random_state=0),
            "SGDClassifier": lambda lam=lam: SGDClassifier(alpha=lam, random_state=0),
            "SGDClassifier*": lambda lam=lam: SGDClassifier(alpha=lam, average=True, random_state=0),
        }
        print(f"  streamed in pieces of {PIECE:.0%} until within 0.5 %:")
        for label, make in streams.items():
            best = min(streamed(make(), X, y, X_test, y_test, exact - 0.005) for _ in range(REPEATS))
            print(f"    {label:<15} {best[0]:.3f} s, {best[1]:.0%} of the rows", flush=True)


def streamed(model, X, y, X_test, y_test, goal: float) -> tuple[float, float]:
    """Seconds of ``partial_fit`` and share of the rows (beyond 1: passes) until a learner has the wanted accuracy."""
    seconds, size, classes = 0.0, max(1, int(PIECE * len(y))), np.unique(y)
    for piece in range(3 * int(1 / PIECE)):
        first = piece * size % len(y)
        X_part, y_part = X[first : first + size], y[first : first + size]
        begun = time.perf_counter()
        model.partial_fit(X_part, y_part, classes=classes)
        seconds += time.perf_counter() - begun
        if model.score(X_test, y_test) >= goal:
            return seconds, (piece + 1) * PIECE
    return math.inf, 3.0


MEMORY = """
import sys
from benchmarks.worker import load, peak, peak_reset
from maxmargin import LinearSVC
case = load(sys.argv[1])
X, y = case["X"], case["y"]
LinearSVC(loss=sys.argv[2]).fit(X[:3000], y[:3000])  # compiled code, thread pool
before = peak_reset()
model = LinearSVC(loss=sys.argv[2]).fit(X, y)
grown = (peak() - before) * 2**20
size = f"X {X.nbytes / 2**20:.0f} MB ({X.dtype})"
print(f"{sys.argv[2]:<14} {size}, fit adds {grown / X.nbytes:.2f} of that, {model.status_.name}")
"""


def memory(folder: pathlib.Path | None) -> None:
    """Growth of resident memory while covtype (or a generated set) is fitted as float32."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "set.npz"
        worker.save(sets.linear_case("covtype" if folder else "generated20k", folder), path)
        for loss in ("hinge", "squared_hinge", "logistic"):
            command = [sys.executable, "-c", MEMORY, str(path), loss]
            print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), flush=True)
