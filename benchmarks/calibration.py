"""Probabilities against those of scikit-learn: log-loss on rows kept apart, and the time to learn them.

SVC(probability=True) and CalibratedClassifierCV of scikit-learn's SVC get the same rows, parameters and folds, each in
a process of its own. What counts is the best of several first fits, the peers taking turns.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks import sets
from benchmarks.comparison import US, geometric_mean
from benchmarks.worker import save_arrays

PEERS = ["maxmargin", "ensemble", "one machine"]  # CalibratedClassifierCV averages a machine per fold, or keeps one
FOLDS = 5
SETS: dict[str, tuple[str, dict[str, float]]] = {  # how features are scaled, parameters
    "svmguide1": ("standard", {"C": 10.0, "gamma": 0.5}),
    "spambase": ("standard", {"C": 10.0, "gamma": 0.01}),
    "higgs_lightgbm_7k": ("standard", {"C": 1.0, "gamma": 0.02}),
    "pendigits": ("unit", {"C": 10.0, "gamma": 1.0}),
    "letter": ("unit", {"C": 10.0, "gamma": 8.0}),
    "ijcnn1": ("", {"C": 10.0, "gamma": 2.0}),
    "usps": ("", {"C": 10.0, "gamma": 0.0078125}),
}


def arrays(name: str, folder: pathlib.Path | None) -> dict[str, Any]:
    """Rows, labels and the fold of each row, and rows kept apart with their labels."""
    if folder is None:
        X, y = sets.generated(3000, 20)
        X_test, y_test = None, None
    else:
        with np.load(folder / f"{name}.npz") as z:
            X, y, X_test = sets.stored_rows(z, "X"), z["y"], sets.stored_rows(z, "X_test")
            y_test = z["y_test"] if X_test is not None else None
    if X_test is None:
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    X, X_test = sets.scaled(X, X_test, SETS[name][0] if folder else "")
    folds = np.empty(len(y), np.int64)
    for k, (_, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)):
        folds[test] = k
    return {"X": X, "y": y, "X_test": X_test, "y_test": y_test, "folds": folds}


def measure(peer: str, path: pathlib.Path, parameters: dict[str, float]) -> dict[str, float]:
    """One fit in a new process."""
    command = [sys.executable, "-m", "benchmarks.calibration_worker", peer, json.dumps(parameters), path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{peer} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def run(names: list[str] | None, folder: pathlib.Path | None, out: pathlib.Path, repeats: int) -> None:
    """Compare on every set; print as it goes and write JSON into ``out``."""
    print(f"{'set':<20}{'method':<13}{'log-loss':>10}{'error':>9}{'fit':>10}{'ratio':>8}{'predict':>10}")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in names or (list(SETS) if folder else ["generated"]):
        parameters = SETS[name][1] if folder else {"C": 1.0, "gamma": 0.05}
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "case.npz"
            save_arrays(arrays(name, folder), path)
            measure(US, path, parameters)  # compiles what is not on disk yet; not counted
            results: dict[str, dict[str, float]] = {}
            for _ in range(repeats):
                for peer in PEERS:
                    seen = measure(peer, path, parameters)
                    best = results.setdefault(peer, seen)
                    best |= {what: min(best[what], seen[what]) for what in ("fit", "predict")}
        found[name] = results
        for peer, seen in results.items():
            print(
                f"{name:<20}{peer:<13}{seen['loss']:>10.4f}{seen['error']:>9.4f}{seen['fit']:>9.3f}s"
                f"{seen['fit'] / results[US]['fit']:>8.2f}{seen['predict']:>9.3f}s",
                flush=True,
            )
    for peer in PEERS[1:]:
        ratios = [results[peer]["fit"] / results[US]["fit"] for results in found.values()]
        print(f"against {peer}: {geometric_mean(ratios):.2f}x (least {min(ratios):.2f}, {len(ratios)} sets)")
    out.mkdir(parents=True, exist_ok=True)
    (out / "calibration.json").write_text(json.dumps(found, indent=1))
