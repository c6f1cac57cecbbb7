"""Growth of resident memory during a fit, for two budgets."""

import pathlib
import subprocess
import sys
import tempfile

from benchmarks import sets, worker

BUDGETS_MB = (256, 4096)

SCRIPT = """
import sys, time
from benchmarks.worker import load, peak, peak_reset
from maxmargin import SVC
case = load(sys.argv[1])
model = SVC(C=float(case["C"]), gamma=float(case["gamma"]), cache_size=float(sys.argv[2]))
SVC(gamma=1.0).fit(case["X"][:1500], case["y"][:1500])  # compiled code, thread pool
before = peak_reset()
begun = time.perf_counter()
model.fit(case["X"], case["y"])
print(f"budget {sys.argv[2]:>5} MB: grew by {peak() - before:6.0f} MB in {time.perf_counter() - begun:6.2f} s, "
      f"{model.status_.name}, relative gap {model.certificate_.relative_gap:.1e}")
"""


def run(folder: pathlib.Path | None, names: list[str]) -> None:
    """Print the growth for each set and budget, each in a new process."""
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "case.npz"
            worker.save(sets.case(name, folder), path)
            for budget in BUDGETS_MB:
                command = [sys.executable, "-c", SCRIPT, str(path), str(budget)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                print(f"{name:<12}{done.stdout.strip()}", flush=True)
