"""How the library behaves: composed kernels, time limits, interrupts, small fits, startup, compiled signatures."""

import pathlib
import subprocess
import sys
import time

import numpy as np

from benchmarks.sets import generated

REPEATS = 3


def best(actions, repeats=REPEATS):
    """Smallest time of each action, taken in turns so that a noisy moment hits all of them."""
    times = {name: [] for name in actions}
    for _ in range(repeats):
        for name, act in actions.items():
            begun = time.perf_counter()
            act()
            times[name].append(time.perf_counter() - begun)
    return {name: min(seen) for name, seen in times.items()}


def composed():
    """Blocks of composed kernels against the dearest of their parts."""
    from maxmargin.core.blas import blas_held
    from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial

    X, _ = generated(4096, 50)
    rbf, poly, line, laplace = RBF(0.02), Polynomial(3, 0.1, 1.0), Linear(), Laplacian(0.02)
    cases = {
        "RBF + polynomial": (rbf + poly, (rbf, poly)),
        "RBF * polynomial": (rbf * poly, (rbf, poly)),
        "0.5 RBF + 1": (0.5 * rbf + 1.0, (rbf,)),
        "normalised polynomial": (poly.normalized(), (poly,)),
        "RBF * linear + polynomial": (rbf * line + poly, (rbf, line, poly)),
        "RBF + Laplacian": (rbf + laplace, (rbf, laplace)),
    }
    for dtype in (np.float32, np.float64):
        print(f"{'kernel, ' + dtype.__name__:<36}{'composed':>12}{'dearest part':>14}{'ratio':>8}")
        for name, (whole, parts) in cases.items():
            some = whole.prepare(X[:256], dtype)
            columns = [whole.prepare(X[a : a + 1024], dtype) for a in range(0, 4096, 1024)]

            def sweep(k, some=some, columns=columns):
                for column in columns:
                    k.block(some, column)

            with blas_held():
                actions = {str(i): (lambda k=k, s=sweep: s(k)) for i, k in enumerate((whole, *parts))}
                best(actions, 3)
                seconds = best(actions, 30)
            dearest = max(seconds[str(i + 1)] for i in range(len(parts)))
            print(f"{name:<36}{1e3 * seconds['0']:>9.2f} ms{1e3 * dearest:>11.2f} ms{seconds['0'] / dearest:>8.2f}")


def limits():
    """How well a time limit is kept on 50,000 rows, certificate included."""
    from maxmargin import SVC

    X, y = generated(50_000, 20)
    SVC(gamma=0.03).fit(X[:3000], y[:3000])
    print(f"{'time_limit':>12}{'took':>10}{'allowed':>10}  status")
    for limit in (0.3, 0.5, 1.0, 2.0, 4.0):
        begun = time.perf_counter()
        machine = SVC(gamma=0.03, time_limit=limit).fit(X, y)
        took = time.perf_counter() - begun
        print(f"{limit:>10.1f} s{took:>8.2f} s{1.1 * limit + 0.2:>8.2f} s  {machine.status_.name}", flush=True)


def interrupts():
    """Time from Ctrl-C to the exception (or, with interrupt="keep", to the model) at 20 moments of a fit."""
    script = pathlib.Path(__file__).with_name("interrupts.py")
    for mode in ("raise", "keep"):
        lines = subprocess.run(
            [sys.executable, str(script), "50000", "20", mode], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        late = [float(line.split()[4]) for line in lines[1:] if line.split()[2] != "finished"]
        print(f"interrupt={mode!r}: fit {lines[0].split()[1]} s; {len(late)} interrupts, latest {max(late):.3f} s")


def startup():
    """Import and first fit on iris in new processes, with a warm and with an empty cache of compiled code."""
    import os
    import tempfile

    script = """
import time
t0 = time.perf_counter(); import sklearn.svm
t1 = time.perf_counter(); import maxmargin; t2 = time.perf_counter(); from maxmargin import SVC
t3 = time.perf_counter()
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
t4 = time.perf_counter(); SVC().fit(X, y); t5 = time.perf_counter()
print(t1 - t0, t2 - t1, t3 - t1, t5 - t4)
"""
    print(f"{'':<8}{'sklearn.svm':>12}{'+ maxmargin':>12}{'+ SVC':>8}{'first fit on iris':>20}")
    with tempfile.TemporaryDirectory() as cache:
        for state in ("cold", "warm", "warm", "warm"):
            done = subprocess.run(
                [sys.executable, "-c", script],
                capture_output=True,
                text=True,
                check=True,
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
            )
            base, package, name, fit = map(float, done.stdout.split())
            print(f"{state:<8}{base:>10.2f} s{package:>10.3f} s{name:>6.2f} s{fit:>18.2f} s")


def small():
    """Fits and predictions of 150 rows (iris) against scikit-learn's, in milliseconds."""
    from sklearn.datasets import load_iris
    from sklearn.svm import SVC as LibSVM

    from maxmargin import SVC

    X, y = load_iris(return_X_y=True)
    ours, theirs = SVC().fit(X, y), LibSVM().fit(X, y)
    seconds = best(
        {
            "fit": lambda: ours.fit(X, y),
            "fit, sklearn": lambda: theirs.fit(X, y),
            "predict one": lambda: ours.predict(X[:1]),
            "predict one, sklearn": lambda: theirs.predict(X[:1]),
        },
        50,
    )
    for name, taken in seconds.items():
        print(f"{name:<24}{1e3 * taken:>8.3f} ms")


def signatures():
    """For how many combinations of types each loop is compiled on this disk, by the sources as they are now."""
    import collections
    import os

    import maxmargin
    from maxmargin.core.jit import STAMP

    folder = pathlib.Path(os.environ.get("NUMBA_CACHE_DIR") or pathlib.Path(maxmargin.__file__).parent)
    counts = collections.Counter(file.name.split("-")[0] for file in folder.rglob(f"*-{STAMP}-*.nbc"))
    print(f"{len(counts)} loops, {counts.total()} combinations of types")
    for name, count in counts.most_common():
        print(f"{count:>5} {name}")
