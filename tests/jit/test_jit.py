"""The compiler's cache and the rules of compiled code."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import maxmargin
from maxmargin.core.jit import STAMP, Announcement, source_stamp

ROOT = pathlib.Path(maxmargin.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))

FIT = """
import sys
import numpy as np
from maxmargin import SVC
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
for bias in (True, False):
    SVC(fit_intercept=bias).fit(X, X[:, 0] > 0).predict(X)
from maxmargin.gram import tiles
from maxmargin.kernels import vectors
from maxmargin.solvers.box import steps
from maxmargin.solvers.small import box
kernels = [vectors.gaussian64, tiles.add_rows, box.solve_whole, steps.single_steps]
print(sum(sum(k.stats.cache_misses.values()) for k in kernels), sum(sum(k.stats.cache_hits.values()) for k in kernels))
"""

ONE_LOOP = """
import numpy as np
from maxmargin.problems.feasible import sums
print(*sums(np.array([1.0, -3.0])), len(sums.signatures))
"""

LOOKED_UP = """
import numpy as np
from numba import njit
from maxmargin.core.jit import one_by_one
@njit
def total(index, x):
    sum = 0.0
    for k in index:
        one_by_one()
        sum += x[k]
    return sum
total(np.zeros(3, np.int64), np.ones(1))
print(*("asm sideeffect" in code for code in total.inspect_llvm().values()))
"""


def run(script, **environment):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ | environment
    ).stdout.split()


def test_a_second_process_compiles_nothing(tmp_path):
    first = run(FIT, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0")
    second = run(FIT, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0")
    assert int(first[0]) >= 3
    assert int(second[0]) == 0
    assert int(second[1]) >= int(first[0])


def test_the_stamp_changes_with_any_source(tmp_path):
    copy = tmp_path / "maxmargin"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert source_stamp(copy) == STAMP
    with open(copy / "multiclass" / "one_vs_one.py", "a") as source:
        source.write("# changed\n")
    assert source_stamp(copy) != STAMP


def test_a_cache_without_a_place_falls_back_to_none(tmp_path):
    """Numba finds no place for the machine code of functions whose source is no file."""
    script = """
import numba.core.caching as caching
def refuse(*args, **kwargs): raise RuntimeError("cannot cache function: no locator available")
caching.FunctionCache.__init__ = refuse
"""
    assert run(script + ONE_LOOP, NUMBA_DISABLE_JIT="0", NUMBA_CACHE_DIR=str(tmp_path)) == ["-2.0", "4.0", "1"]


def test_the_mark_of_loops_that_stay_scalar_reaches_the_compiler(tmp_path):
    assert run(LOOKED_UP, NUMBA_DISABLE_JIT="0", NUMBA_CACHE_DIR=str(tmp_path)) == ["True"]


def test_the_cache_can_be_switched_off(tmp_path):
    settings = {"NUMBA_CACHE_DIR": str(tmp_path), "MAXMARGIN_CACHE": "0", "NUMBA_DISABLE_JIT": "0"}
    assert run(ONE_LOOP, **settings) == ["-2.0", "4.0", "1"]
    assert not list(tmp_path.rglob("*.nbc"))


def test_rules_of_compiled_code():
    for path in SOURCES:
        text = path.read_text()
        assert not re.search(r"\bprange\b(?!`)|parallel=True", text.replace("never parallel", "")), path
        if path.parent.name != "jit":
            assert not re.search(r"^\s*(import|from) numba", text, re.MULTILINE), path


def test_importing_the_package_loads_nothing_heavy():
    script = (
        "import sys, maxmargin; print(*[m for m in ('numba', 'sklearn', 'scipy', 'numpy') if m in sys.modules], 'end')"
    )
    assert run(script) == ["end"]
    assert set(dir(maxmargin)) >= set(maxmargin.__all__)
    assert all(getattr(maxmargin, name) is not None for name in maxmargin.__all__)


def test_bounds_are_checked_once(tmp_path):
    """The same fits with bounds checking: no loop reads or writes outside its arrays."""
    script = """
import numpy as np
from scipy import sparse
from maxmargin import SGDSVC, SVC, CategoricalNB, GaussianNB, LinearSVC, MultinomialNB
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = X[:, 0] > 0
for kernel in ("linear", "rbf", "laplacian"):
    for data in (X, sparse.csr_array(X)):
        for bias in (True, False):
            SVC(kernel=kernel, fit_intercept=bias).fit(data, y).predict(data)
for data in (X, sparse.csr_array(X)):
    for loss, solver in (("hinge", "alm"), ("hinge", "dual_cd"), ("squared_hinge", "newton")):
        LinearSVC(loss=loss, solver=solver).fit(data, y)
    SGDSVC().fit(data, y)
GaussianNB().fit(X, y).predict(X)
for data in (np.abs(X), sparse.csr_array(np.abs(X))):
    MultinomialNB().fit(data, y)
CategoricalNB(handle_unknown="ignore").fit(rng.integers(3, size=(40, 2)), y).predict(np.full((2, 2), 5))
print("done")
"""
    answer = run(script, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0")
    assert answer == ["done"]


LOADED = "from maxmargin.core.jit import jit\n@jit()\ndef double(x):\n    return 2.0 * x\n"
CALLER = (
    "from maxmargin.core.jit import jit\nfrom loaded import double\n@jit()\ndef more(x):\n    return double(x) + 1.0\n"
)


def test_what_is_compiled_later_may_call_what_was_loaded(tmp_path):
    """Of loaded code the bitcode is parsed only where another function needs it."""
    (tmp_path / "loaded.py").write_text(LOADED)
    (tmp_path / "caller.py").write_text(CALLER)
    known = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    assert run("from loaded import double; print(double(1.0))", **known) == ["2.0"]
    script = "from loaded import double; print(double(2.0)); from caller import more; print(more(3.0))"
    script += "; print(sum(double.stats.cache_hits.values()), sum(more.stats.cache_misses.values()))"
    assert run(script, **known) == ["4.0", "7.0", "1", "1"]
    assert run("from caller import more; print(more(4.0))", **known) == ["9.0"]


def test_damaged_bitcode_is_compiled_again(tmp_path):
    """Where loaded code is called by code that is compiled now, and only then."""
    (tmp_path / "loaded.py").write_text(LOADED)
    (tmp_path / "caller.py").write_text(CALLER)
    known = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    run("from loaded import double; double(1.0)", **known)
    (path,) = (tmp_path / "cache").rglob("*.nbc")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    script = "from loaded import double; print(double(2.0)); from caller import more; print(more(3.0), double(4.0))"
    assert run(script, PYTHONWARNINGS="ignore", **known) == ["4.0", "7.0", "8.0"]
    script = "from loaded import double; from caller import more; print(more(3.0), double(4.0))"
    script += "; print(sum(double.stats.cache_misses.values()), sum(more.stats.cache_misses.values()))"
    assert run(script, **known) == ["7.0", "8.0", "0", "0"]


def test_long_compilations_are_announced_once(capsys, monkeypatch):
    clock = iter([0.0, 0.4, 1.0, 1.7, 2.0, 9.0])
    monkeypatch.setattr("maxmargin.core.jit.compiled.time.perf_counter", lambda: next(clock))
    announcement = Announcement()
    said = []
    for _ in range(3):
        with announcement.of_long_work():
            pass
        said.append("maxmargin warmup" in capsys.readouterr().err)
    assert said == [False, True, False]  # after 0.4, after 1.1 and after 8.1 seconds
