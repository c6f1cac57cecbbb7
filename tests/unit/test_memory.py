"""How much memory a fit may take: of the machine, of its control groups, of its address space."""

import errno
import mmap
import subprocess
import sys

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.core import buffers, memory
from maxmargin.gram.budget import default_budget

MB, GB = 1 << 20, 1 << 30
NO_LIMIT = str(2**63 - 4096)  # what version 1 of control groups writes


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine with 8 GB free, whose other files the test writes."""
    monkeypatch.setattr(memory, "PROCESSES", tmp_path / "proc")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "cgroup")

    def write(files):
        for name, text in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(str(text))

    write({"proc/meminfo": f"MemTotal: 99999999 kB\nMemAvailable:  {8 * GB // 1024} kB\n"})
    return write


def version_2(folder, limit, used, inactive=0):
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.current": f"{used}\n",
        f"{folder}/memory.stat": f"anon {used - inactive}\ninactive_file {inactive}\n",
    }


def version_1(folder, limit, used, inactive=0):
    return {
        f"{folder}/memory.limit_in_bytes": f"{limit}\n",
        f"{folder}/memory.usage_in_bytes": f"{used}\n",
        f"{folder}/memory.stat": f"inactive_file 0\ntotal_inactive_file {inactive}\n",
    }


GROUPS = {
    "none": ({}, 8 * GB),
    "its own": ({"proc/self/cgroup": "0::/job\n"} | version_2("cgroup/job", GB, 300 * MB, 100 * MB), GB - 200 * MB),
    "one around it": (
        {"proc/self/cgroup": "0::/user/job/step\n"}
        | version_2("cgroup/user/job/step", "max", 300 * MB)
        | version_2("cgroup/user", GB, 600 * MB),
        GB - 600 * MB,
    ),
    "the tightest of several": (
        {"proc/self/cgroup": "0::/user/job\n"}
        | version_2("cgroup/user/job", 2 * GB, GB)
        | version_2("cgroup/user", 3 * GB, 2.5 * GB),
        GB // 2,
    ),
    "a container's, seen as the root": ({"proc/self/cgroup": "0::/\n"} | version_2("cgroup", GB, 0), GB),
    "throttled": (
        {"proc/self/cgroup": "0::/job\n", "cgroup/job/memory.high": GB, "cgroup/job/memory.current": 0},
        GB,
    ),
    "version 1": (
        {"proc/self/cgroup": "5:cpu,cpuacct:/other\n4:memory:/user/job\n"}
        | version_1("cgroup/memory/user/job", NO_LIMIT, 300 * MB)
        | version_1("cgroup/memory/user", GB, 500 * MB, 300 * MB),
        GB - 200 * MB,
    ),
    "version 1, a container's": (
        {"proc/self/cgroup": "4:memory:/docker/1234\n0::/\n"} | version_1("cgroup/memory", GB, 0),
        GB,
    ),
    "version 1, no limit": (
        {"proc/self/cgroup": "4:memory:/\n"} | version_1("cgroup/memory", NO_LIMIT, 300 * MB),
        8 * GB,
    ),
    "used up": ({"proc/self/cgroup": "0::/\n"} | version_2("cgroup", GB, GB + MB), 0),
}


@pytest.mark.parametrize(("files", "left"), GROUPS.values(), ids=GROUPS)
def test_limits_of_control_groups_are_kept(files, left, system):
    system(files)
    assert memory.available() == left


def test_the_default_is_a_quarter_of_what_is_left_and_at_most_a_gigabyte(system):
    assert default_budget() == GB
    system({"proc/self/cgroup": "0::/\n"} | version_2("cgroup", GB, 200 * MB))
    assert default_budget() == pytest.approx((GB - 200 * MB) / 4, abs=1)


def test_a_system_that_tells_nothing_has_the_largest_default(system, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "PROCESSES", tmp_path / "nowhere")
    monkeypatch.delattr("os.sysconf")
    assert memory.available() == np.inf
    assert default_budget() == GB


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


def test_memory_that_lies_unused_goes_before_the_system_is_said_to_have_none(monkeypatch):
    pool, given = buffers.Buffers(), []
    pool.give(pool.take((1024, 1024), np.float32))

    def scarce(size):
        given.append(size)
        if len(given) == 1:
            raise MemoryError
        return np.empty(size, np.uint8)

    monkeypatch.setattr(buffers, "_fresh", scarce)
    assert pool.take((4096, 4096), np.float32).shape == (4096, 4096)
    assert len(given) == 2
    pool.take((1024, 1024), np.float32)
    assert len(given) == 3  # the unused memory is gone


@pytest.mark.skipif(not buffers.CAN_MARK, reason="NumPy's own memory is used")
def test_what_the_system_refuses_is_said_in_megabytes(monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(MemoryError, match="64 MB for kernel values cannot be allocated"):
        buffers.Buffers().take((4096, 4096), np.float32)
