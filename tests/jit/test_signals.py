"""Signals wait until compiled code is loaded, and are not lost."""

import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from maxmargin.core.signals import signals_deferred

# Ctrl-C right after the module named on the command line was imported, then a second try in the same process.
INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name != sys.argv[1]:
            return None
        sys.meta_path.remove(self)
        spec = next(spec for finder in sys.meta_path if (spec := finder.find_spec(name, path, target)))
        run = spec.loader.exec_module
        def exec_module(module):
            run(module)
            signal.raise_signal(signal.SIGINT)
        spec.loader.exec_module = exec_module
        return spec

def use():
    from loop import double
    assert double(21.0) == 42.0
    return double.stats

sys.meta_path.insert(0, Interrupt())
try:
    use()
except KeyboardInterrupt:
    print("interrupted")
print("hits", sum(use().cache_hits.values()))
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""

LOOP = "from maxmargin.core.jit import jit\n@jit()\ndef double(x):\n    return 2.0 * x\n"

AT_EXIT = "import atexit\nfrom loop import double\natexit.register(lambda: print(double(21.0)))\n"

FORKED = """
import os, signal
from maxmargin.core.signals import signals_deferred
signal.signal(signal.SIGINT, lambda *_: os._exit(7))
with signals_deferred():
    child = os.fork()
    if child == 0:
        signal.raise_signal(signal.SIGINT)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def output(script, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def with_loop(tmp_path):
    """An environment that knows a module with a compiled loop, and an empty cache."""
    (tmp_path / "loop.py").write_text(LOOP)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}


@pytest.mark.parametrize(
    "module", ["numba.core.typing.templates", "numba.typed.typeddict"], ids=["import numba", "first loop"]
)
def test_a_process_can_go_on_after_ctrl_c_while_numba_gets_ready(module, with_loop):
    compiling, loading = (output(INTERRUPTED, module, **with_loop) for _ in range(2))
    assert compiling == ["interrupted", "hits", "0"]
    assert loading == ["interrupted", "hits", "1"]


def test_loops_can_be_loaded_while_the_interpreter_ends(with_loop):
    assert output(AT_EXIT, **with_loop) == ["42.0"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_meanwhile_handles_signals_at_once():
    assert output(FORKED) == ["7"]


@pytest.fixture
def handle():
    """Install a handler for the time of a test; SIGINT may be ignored when a test run starts in the background."""
    before = {}

    def install(number, handler):
        before.setdefault(number, signal.getsignal(number))
        signal.signal(number, handler)

    yield install
    for number, handler in before.items():
        signal.signal(number, handler)


def test_ctrl_c_is_raised_when_the_body_has_ended(handle):
    handle(signal.SIGINT, signal.default_int_handler)
    done = []

    def step():
        with signals_deferred():
            signal.raise_signal(signal.SIGINT)
            done.append("inner")
        done.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        step()
    assert done == ["inner"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_innermost_of_nested_bodies_leaves_signals_to_the_outermost(handle):
    handle(signal.SIGINT, signal.default_int_handler)
    done = []

    def step():
        with signals_deferred():
            with signals_deferred():
                signal.raise_signal(signal.SIGINT)
            done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        step()
    assert done == ["outer"]


def test_all_handlers_run_in_order_though_the_first_raises(handle):
    seen = []

    def note_and_raise(number, frame):
        seen.append(number)
        raise TimeoutError(number)

    handle(signal.SIGTERM, note_and_raise)
    handle(signal.SIGINT, lambda number, frame: seen.append(number))

    def step():
        with signals_deferred():
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT):
                signal.raise_signal(number)
            assert seen == []

    with pytest.raises(TimeoutError):
        step()
    assert seen == [signal.SIGTERM, signal.SIGINT, signal.SIGINT]
    assert signal.getsignal(signal.SIGTERM) is note_and_raise


def test_an_error_of_the_body_is_kept_beside_the_signal(handle):
    handle(signal.SIGINT, signal.default_int_handler)

    def step():
        with signals_deferred():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("body")

    with pytest.raises(KeyboardInterrupt) as caught:
        step()
    assert isinstance(caught.value.__context__, ValueError)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_signal_stays_ignored(handle):
    handle(signal.SIGINT, signal.SIG_IGN)
    with signals_deferred():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_event_loops_hear_of_a_signal_once(handle):
    handle(signal.SIGINT, lambda number, frame: None)
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        before = signal.set_wakeup_fd(writer.fileno())
        try:
            with signals_deferred():
                signal.raise_signal(signal.SIGINT)
        finally:
            signal.set_wakeup_fd(before)
        assert reader.recv(10) == bytes([signal.SIGINT])


def test_other_threads_change_no_handler(handle):
    handle(signal.SIGINT, signal.default_int_handler)
    seen = []

    def work():
        with signals_deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
