"""How much memory a fit may take: of the machine, of its control groups, of its address space."""

import numpy as np
import pytest

from maxmargin.core import memory

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


def test_a_system_that_tells_nothing_sets_no_limit(system, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "PROCESSES", tmp_path / "nowhere")
    monkeypatch.delattr("os.sysconf")
    assert memory.available() == np.inf
