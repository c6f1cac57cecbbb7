"""Compiled code on disk: what is damaged, full or read-only costs a compilation at most."""

import os
import pickle
import shutil
import subprocess
import sys

import pytest

from maxmargin.core.jit import machine_code
from maxmargin.core.jit.machine_code import MachineCode, Unreadable

DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "flipped": lambda content: (
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
    ),
}
LOOPS = list(DAMAGES)

USE = "from maxmargin.core.jit import jit\nloops = []\n"
USE += "".join(f"@jit()\ndef {name}(x):\n    return 2.0 * x\nloops.append({name})\n" for name in LOOPS)
USE += "assert all(loop(21.0) == 42.0 for loop in loops)\n"
USE += "print('misses', sum(sum(loop.stats.cache_misses.values()) for loop in loops))\n"

FULL_DISK = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"  # every write is an OSError

READ_ONLY = """
import numba.core.caching
def refuse(self): raise PermissionError("read-only")
numba.core.caching._CacheLocator.ensure_cache_path = refuse
"""


class Cache:
    """A script with a loop per damage, and a folder with what it compiled."""

    def __init__(self, script, folder):
        self.script, self.folder = script, folder

    def run(self, before=""):
        """Compilations and our warnings of a process that uses all loops."""
        done = subprocess.run(
            [sys.executable, "-c", f"{before}\nimport runpy; runpy.run_path({str(self.script)!r})"],
            capture_output=True,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(self.folder), "NUMBA_DISABLE_JIT": "0", "PYTHONWARNINGS": ""},
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[1]), [line for line in done.stderr.splitlines() if "RuntimeWarning: max" in line]

    def files(self, pattern="*"):
        return [path for path in self.folder.rglob(pattern) if path.is_file()]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    script = folder / "use.py"
    script.write_text(USE)
    cache = Cache(script, folder / "cache")
    assert cache.run() == (len(LOOPS), [])
    return cache


def first_part(path):
    """Where the code ends, and what only other compilations need begins."""
    content = path.read_bytes()
    return 24 + int.from_bytes(content[16:24], "little")


@pytest.fixture
def cache(filled, tmp_path):
    """A copy of the filled one to play with."""
    return Cache(filled.script, shutil.copytree(filled.folder, tmp_path / "cache"))


def test_damaged_files_are_compiled_again_with_one_warning(cache):
    for loop, damage in DAMAGES.items():
        (path,) = cache.files(f"*{loop}*.nbc")
        path.write_bytes(damage(path.read_bytes()[: first_part(path)]))
    misses, warnings = cache.run()
    assert misses == len(LOOPS)
    assert len(warnings) == 1
    assert "NUMBA_CACHE_DIR" in warnings[0]
    assert cache.run() == (0, [])


def test_a_full_disk_costs_the_cache_and_one_warning(filled, tmp_path):
    pytest.importorskip("resource")
    cache = Cache(filled.script, tmp_path)
    misses, warnings = cache.run(before=FULL_DISK)
    assert misses == len(LOOPS)
    assert len(warnings) == 1
    assert "MAXMARGIN_CACHE=0" in warnings[0]
    assert cache.files() == []


def test_a_filled_cache_that_cannot_be_written_is_used(cache):
    assert cache.run(before=READ_ONLY) == (0, [])


@pytest.fixture
def told(monkeypatch):
    """The messages, not only the first of a process."""
    messages = []
    monkeypatch.setattr(machine_code, "warn_once", messages.append)
    return messages


def test_no_damaged_byte_is_overlooked(tmp_path, told):
    store = MachineCode([tmp_path], "loop", pickle.dumps)
    store.save("float64", b"instructions", b"bitcode")
    (path,) = tmp_path.iterdir()
    whole, end = path.read_bytes(), first_part(path)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        told.clear()
        found = store.load("float64")
        if place < end:
            assert found is None
            assert path.name in told[0]
        else:
            assert found[0] == b"instructions"
            with pytest.raises(Unreadable, match="damaged"):
                found[1]()
    path.write_bytes(whole)
    code, more = store.load("float64")
    assert (code, more()) == (b"instructions", b"bitcode")
    path.unlink()
    with pytest.raises(Unreadable, match="cannot be read"):
        more()


def test_code_is_read_from_all_folders_and_written_to_the_last(tmp_path, told):
    installed, own = tmp_path / "installed", tmp_path / "own"
    MachineCode([installed], "loop", pickle.dumps).save("float64", "installed", b"")
    both = MachineCode([installed, own], "loop", pickle.dumps)
    both.save("float32", "own", b"")
    assert both.load("int64") is None
    assert (both.load("float64")[0], both.load("float32")[0]) == ("installed", "own")
    next(installed.glob("*.nbc")).write_bytes(b"damaged")
    assert both.load("float64") is None
    assert both.load("float32")[0] == "own"
    assert told
    both.flush()
    assert both.load("float32") is None


def test_code_with_classes_of_another_program_is_not_used(tmp_path, told):
    store = MachineCode([tmp_path], "loop", lambda content: b"cno_such_module\nname\n.")
    store.save("float64", "code", b"")
    assert store.load("float64") is None
    assert "no_such_module" in told[0]
