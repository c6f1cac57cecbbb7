"""Fits while the interpreter shuts down, when thread pools take no more work."""

import subprocess
import sys

import pytest

AT_EXIT = """
import atexit
import numpy as np
from maxmargin import SVC, LinearSVC

rng = np.random.default_rng(0)
y = np.arange({rows}) % 4
X = rng.normal(size=(4, 3))[y] + rng.normal(size=({rows}, 3))

def fit():
    for machine in (SVC(n_jobs=2), LinearSVC(n_jobs=2)):
        print(machine.fit(X, y).status_.name, machine.predict(X).shape)

if {before}:
    fit()
atexit.register(fit)
"""


@pytest.mark.parametrize("before", [False, True], ids=["first fit", "the pool has worked before"])
def test_fits_at_exit(before):
    rows = 3000
    text = AT_EXIT.format(rows=rows, before=before)
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("maxmargin: compiling loops")]
    assert not said
    assert ended.stdout.splitlines() == [f"CONVERGED ({rows},)"] * (4 if before else 2)


def test_a_system_that_refuses_threads(monkeypatch):
    import threading

    from maxmargin.core import threads

    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pool", None)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert threads.thread_map(lambda item: 2 * item, range(5), 3) == [0, 2, 4, 6, 8]
    assert threads.task_map(lambda item: 2 * item, range(5), 3, keep=False) == [0, 2, 4, 6, 8]
