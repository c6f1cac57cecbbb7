"""How much memory this process may still take.

The least of three: what the machine has free, what the control groups of the process leave (containers and batch
systems set their limits there), and what is left of its address space (``ulimit -v``). Beyond the second the system
kills the process, beyond the third no memory is given.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

try:
    import resource
except ImportError:  # a system without such limits
    resource = None

PROCESSES = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")
# Version 1 of control groups has a folder for each controller, version 2 one for all; both at once is possible.
GROUP_ROOTS = {"memory": ("memory",), "": (".", "unified")}
LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")  # above memory.high a process is slowed to a crawl
USES = ("memory.current", "memory.usage_in_bytes")
RECLAIMABLE = ("total_inactive_file", "inactive_file")  # the first is version 1's sum over all groups below
MEGABYTE = 1 << 20


def available() -> float:
    """Bytes that this process may take now; infinity where nothing tells."""
    return max(0.0, min(_free(), _left_by_groups(), _left_of_addresses()))


@contextmanager
def explained(budget: int) -> Iterator[None]:
    """Where memory cannot be had: say what was asked for, and which parameter asks for less."""
    try:
        yield
    except MemoryError as problem:
        left = available()
        most = f"about {left / MEGABYTE:.0f} MB are left" if math.isfinite(left) else "how much is left is unknown"
        raise MemoryError(
            f"This fit could not get the memory it needs: {problem or 'the system gave none'}. It may use "
            f"{budget / MEGABYTE:.0f} MB for kernel values, and {most} to this process. Lower cache_size (megabytes "
            "for kernel values), raise the limit of the process, or fit on fewer rows."
        ) from problem


def _free() -> float:
    """What the machine could give without swapping."""
    try:
        report = dict(line.split(":", 1) for line in (PROCESSES / "meminfo").read_text().splitlines())
        return 1024.0 * int(report["MemAvailable"].split()[0])
    except (OSError, KeyError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return math.inf


def _left_by_groups() -> float:
    """The least that is left in any control group that holds this process."""
    try:
        lines = (PROCESSES / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return math.inf
    left = math.inf
    for line in lines:  # "4:memory:/user/job" in version 1, "0::/user/job" in version 2
        _, controllers, group = line.split(":", 2)
        for controller in controllers.split(","):
            for root in GROUP_ROOTS.get(controller, ()):
                left = min(left, *map(_left_in, _levels(GROUPS / root, group)))
    return left


def _levels(root: Path, group: str) -> list[Path]:
    """The folders of a group and of all groups around it. Within a container only some of them are to be seen."""
    inner = PurePosixPath(group.lstrip("/"))
    return [root / level for level in (inner, *inner.parents)]


def _left_in(group: Path) -> float:
    """Limit minus use in one group; files that the system kept in memory and can drop do not count as used."""
    limit = min(_number(group / name) for name in LIMITS)
    if math.isinf(limit):
        return limit
    used = min(_number(group / name) for name in USES)
    return limit - used + _reclaimable(group) if math.isfinite(used) else limit


def _number(file: Path) -> float:
    """The number in a file; infinity for "max", and where there is no such file."""
    try:
        return float(file.read_text())
    except (OSError, ValueError):
        return math.inf


def _reclaimable(group: Path) -> float:
    try:
        report = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return 0.0
    return next((float(report[name]) for name in RECLAIMABLE if name in report), 0.0)


def _left_of_addresses() -> float:
    """What the limit of the address space leaves; what is mapped counts, touched or not."""
    if resource is None:
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return math.inf
    try:
        pages = int((PROCESSES / "self" / "statm").read_text().split()[0])
    except (OSError, ValueError):
        return float(limit)
    return float(limit - pages * resource.getpagesize())
