"""The family of kernel machines against scikit-learn and scikit-learn-intelex: first fits in fresh processes.

Every measurement is a process of its own: it imports the library, reads the data, fits once and predicts once. What
counts is the best of several such first fits, the peers taking turns. Code that is compiled at the first fit of an
installation (ours) is on disk before the first measurement.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

import numpy as np

from benchmarks import sets
from benchmarks.comparison import LONG, US, geometric_mean
from benchmarks.worker import save_arrays

PEERS = ["maxmargin", "sklearn", "sklearnex"]
TEST_ROWS = 5000


class Line(NamedTuple):
    """One comparison: an estimator with its parameters on a set."""

    name: str
    estimator: str
    stored: str
    parameters: dict[str, Any]
    scaling: str = ""
    rows: int | None = None
    only: int | None = None  # rows of this class alone

    @property
    def lacks(self) -> tuple[str, ...]:
        """Peers without such an estimator."""
        return ("sklearnex",) if self.estimator in ("OneClassSVM", "KernelPCA") else ()


LINES = [
    Line("kin40k", "SVR", "kin40k", {"C": 10.0, "epsilon": 0.1, "gamma": 0.125}),
    Line("california", "SVR", "california_housing_cadata", {"C": 1.0, "epsilon": 0.1, "gamma": 0.125}, "standard"),
    Line("cpusmall", "SVR", "cpusmall", {"C": 10.0, "epsilon": 0.05, "gamma": 1 / 12}, "standard"),
    Line("abalone", "SVR", "abalone", {"C": 1.0, "epsilon": 0.1, "gamma": 0.125}, "standard"),
    Line("ijcnn1", "NuSVC", "ijcnn1", {"nu": 0.05, "gamma": 2.0}),
    Line("letter", "NuSVC", "letter", {"nu": 0.1, "gamma": 8.0}, "unit"),
    Line("covtype 2", "OneClassSVM", "covtype", {"nu": 0.1, "gamma": 8.0}, "unit", 20_000, only=2),
    Line("mnist 1", "OneClassSVM", "mnist", {"nu": 0.1, "gamma": 0.02}, "pixels", only=1),
    Line("usps", "KernelPCA", "usps", {"n_components": 50, "kernel": "rbf", "gamma": 1 / 128}),
    Line("mnist10k", "KernelPCA", "mnist", {"n_components": 50, "kernel": "rbf", "gamma": 0.02}, "pixels", 10_000),
]
WITHOUT_FOLDER = [
    Line("generated", "SVR", "", {"C": 1.0, "epsilon": 0.1, "gamma": 0.05}),
    Line("generated", "NuSVC", "", {"nu": 0.2, "gamma": 0.05}),
    Line("generated", "OneClassSVM", "", {"nu": 0.1, "gamma": 0.05}),
    Line("generated", "KernelPCA", "", {"n_components": 20, "kernel": "rbf", "gamma": 0.05}),
]


def arrays(line: Line, folder: pathlib.Path | None) -> dict[str, np.ndarray]:
    """Training rows, targets (standardised where they are numbers) and rows to predict, in float32."""
    regression = line.estimator == "SVR"
    if not line.stored:
        X, y = sets.generated(4000, 20)
        y = np.sin(2 * X[:, 0]) + X[:, 1] if regression else y
        return {"X": X, "y": y, "X_test": X[:TEST_ROWS]}
    assert folder is not None
    with np.load(folder / f"{line.stored}.npz") as z:
        X, y, X_test = sets.stored_rows(z, "X"), z["y"], sets.stored_rows(z, "X_test")
    X, X_test = sets.scaled(X, X_test, line.scaling)
    if line.only is not None:
        X, y = X[y == line.only], y[y == line.only]
    if line.rows is not None:
        order = np.random.default_rng(0).permutation(len(y))
        X_test = X[order[line.rows :]] if X_test is None else X_test
        X, y = X[order[: line.rows]], y[order[: line.rows]]
    X_test = X if X_test is None else X_test
    y = (y - y.mean()) / y.std() if regression else y
    return {"X": X, "y": y, "X_test": X_test[:TEST_ROWS]}


def measure(peer: str, path: pathlib.Path, line: Line) -> dict[str, Any]:
    """One fit and one prediction in a new process."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.family_worker",
        peer,
        line.estimator,
        json.dumps(line.parameters),
        path,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{peer} failed on {line.name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(line: Line, peers: list[str], folder: pathlib.Path | None, repeats: int) -> dict[str, dict[str, Any]]:
    """The best first fit and the best first prediction of every peer."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "case.npz"
        save_arrays(arrays(line, folder), path)
        results: dict[str, dict[str, Any]] = {}
        if US in peers:
            measure(US, path, line)  # compiles what is not on disk yet; not counted
        for _ in range(repeats):
            for peer in peers:
                seen = results.get(peer)
                if peer in line.lacks or (seen and seen["fit"] > LONG) or (seen and "missing" in seen):
                    continue
                found = measure(peer, path, line)
                if seen:
                    found |= {what: min(found[what], seen[what]) for what in ("fit", "predict", "cpu") if what in found}
                results[peer] = found
    return {peer: seen for peer, seen in results.items() if "missing" not in seen}


HEADER = f"{'estimator':<13}{'set':<12}{'peer':<11}{'fit':>9}{'ratio':>8}{'predict':>10}{'ratio':>8}{'cpu':>8}{'MB':>7}"
HEADER += f"{'objective':>17}{'rel. gap':>10}{'SVs':>8}"


def show(line: Line, results: dict[str, dict[str, Any]]) -> None:
    """Print one line for every peer; ratios are a peer's time over ours."""
    for peer, seen in results.items():
        fit, predict = (seen[what] / results[US][what] if US in results else math.nan for what in ("fit", "predict"))
        gap = f"{seen['gap']:.1e}" if "gap" in seen else "-"
        print(
            f"{line.estimator:<13}{line.name:<12}{peer:<11}{seen['fit']:>8.3f}s{fit:>8.2f}{seen['predict']:>9.4f}s"
            f"{predict:>8.2f}{seen['cpu']:>7.2f}s{seen['memory']:>7.0f}{seen['objective']:>17.9g}{gap:>10}"
            f"{seen['support']:>8}",
            flush=True,
        )


def summary(found: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Geometric means and smallest of the ratios, per peer."""
    lines = []
    for peer in PEERS[1:]:
        both = [results for results in found.values() if peer in results and US in results]
        for what in ("fit", "predict"):
            ratios = [results[peer][what] / results[US][what] for results in both]
            if ratios:
                mean, least = geometric_mean(ratios), min(ratios)
                lines.append(f"against {peer}, {what}: {mean:.2f}x (least {least:.2f}, {len(ratios)} sets)")
        of_machines = {name: results for name, results in found.items() if not name.startswith("KernelPCA")}
        both = [results for results in of_machines.values() if peer in results and US in results]
        ratios = [results[peer]["predict"] / results[US]["predict"] for results in both]
        if ratios:
            lines.append(f"against {peer}, predict without the transform of KernelPCA: {geometric_mean(ratios):.2f}x")
    return lines


def run(
    names: list[str] | None, peers: list[str], folder: pathlib.Path | None, out: pathlib.Path, repeats: int
) -> None:
    """Compare every line, or those whose set or estimator is named; print as it goes and write JSON into ``out``."""
    lines = LINES if folder else WITHOUT_FOLDER
    chosen = [line for line in lines if not names or line.name in names or line.estimator in names]
    print(HEADER)
    found = {}
    for line in chosen:
        results = compare(line, peers, folder, repeats)
        found[f"{line.estimator} {line.name}"] = results
        show(line, results)
    print("\n".join(summary(found)))
    out.mkdir(parents=True, exist_ok=True)
    (out / "family.json").write_text(json.dumps(found, indent=1))
    print(f"written: {out / 'family.json'}")
