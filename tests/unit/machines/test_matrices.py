"""Kernel matrices of a plan: memory that the system refuses is an error that names the parameter."""

import subprocess
import sys

import pytest

from maxmargin import SVC

LIMITED = """
import resource
import numpy as np
from maxmargin import SVC
from maxmargin.core import memory

X = np.random.default_rng(0).normal(size=(12_000, 5))
y = X[:, 0] > 0
SVC(gamma=0.2).fit(X[:1100], y[:1100])
with open("/proc/self/statm") as report:
    mapped = int(report.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + 2**28, resource.RLIM_INFINITY))
assert memory.available() <= 2**28
print(SVC(gamma=0.2).fit(X[:4000], y[:4000]).status_.name)
try:
    SVC(gamma=0.2, cache_size=10_000).fit(X, y)
except MemoryError as problem:
    print(problem)
"""


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="address spaces are limited and measured elsewhere in other ways")
def test_a_limited_address_space_lowers_the_default_and_an_error_names_the_parameter():
    ended = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
    status, error = ended.stdout.splitlines()
    assert status == "CONVERGED"
    assert "MB for kernel values cannot be allocated. It may use 10000 MB for kernel values" in error
    assert "Lower cache_size" in error


def test_an_error_of_numpy_names_the_parameter_too(monkeypatch):
    def full(*_):
        raise MemoryError("Unable to allocate 7.28 TiB for an array")

    monkeypatch.setattr("maxmargin.machines.matrices.Gram", full)
    with pytest.raises(MemoryError, match=r"7.28 TiB for an array. It may use 20 MB .* Lower cache_size"):
        SVC(cache_size=20).fit([[0.0], [1.0]], [0, 1])
