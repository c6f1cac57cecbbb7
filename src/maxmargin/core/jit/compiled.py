"""Functions that are compiled, or their machine code loaded, when arguments of new types come."""

from __future__ import annotations

import gc
import hashlib
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from numba import typeof
from numba.core import config, sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.extending import overload

from maxmargin.core.jit.disk import CheckedCache, NoBitcode
from maxmargin.core.jit.instructions import REDUCTION_FLAGS
from maxmargin.core.signals import signals_deferred


def get_ready() -> None:
    """Let numba import a part of itself (0.35 s), which it would do when it first compiles or loads a function.

    That belongs to the import of this package: inside a fit it would be most of what a first fit of a few thousand rows
    takes.
    """
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        cpu_target.typing_context.refresh()  # type: ignore[attr-defined]
        cpu_target.target_context.refresh()  # type: ignore[attr-defined]


def source_stamp(root: pathlib.Path) -> str:
    """Hash of every Python source under ``root``: eight hexadecimal digits that change when any file does."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


STAMP = source_stamp(pathlib.Path(__file__).parents[2])
LONG = 1.0  # seconds of compiling from which on it is announced
ANNOUNCED = (
    "maxmargin: compiling loops for this machine, which takes some seconds and is kept for later runs. "
    "(The command 'maxmargin warmup' does it ahead of time.)"
)
CACHE = os.environ.get("MAXMARGIN_CACHE", "1") != "0"


def jit(*, reductions: bool = False, inline: bool = False, brief: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop nest: no GIL, never parallel, cached under our stamp.

    ``brief=True`` keeps the GIL, for one pass over some vectors. A loop of microseconds that gives it up has to wait
    for it afterwards, 50 us on a virtual machine, where other pairs of classes are solved beside it. NumPy gives it up
    in every operation on more than 500 numbers, so one such pass in place of several of those pays twice.

    ``reductions=True`` lets LLVM reorder sums and assume that no value is NaN; the inputs of such a loop are checked
    to be finite by ``checks``. ``inline=True`` copies the body into the loops that call it: otherwise passing an array
    raises and lowers its reference count by two atomic instructions, and a step of SMO on 200 rows took 0.6 instead of
    0.36 us. Sums of such a function may be reordered where those of the loop around it may.
    """

    def compile_lazily(fn: Callable[..., Any]) -> Any:
        fn.__qualname__ += f"-{STAMP}"
        options: dict[str, Any] = {"nopython": True, "boundscheck": None, "nogil": not brief, "error_model": "numpy"}
        if reductions:
            options["fastmath"] = REDUCTION_FLAGS
        if inline:
            options["inline"] = "always"
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return fn
        compiled = Compiled(fn, targetoptions=options)
        if CACHE:
            compiled.enable_caching()
        return compiled

    return compile_lazily


class Compiled(CPUDispatcher):
    """A function that is compiled, or its machine code loaded, when arguments of new types come."""

    made: ClassVar[int] = 0  # functions that this process compiled, each time it was for new types

    def enable_caching(self) -> None:
        with suppress(RuntimeError):  # "no locator available": nowhere to look for files, so compile in every process
            self._cache = CheckedCache(self.py_func)

    def compile(self, sig: Any) -> Any:
        """Compile or load to the end: numba registers pieces on the way, and fails where one is registered already."""
        with signals_deferred():
            known = self._loaded(sig)
            if known is not None:
                return known
            with global_compiler_lock, ANNOUNCEMENT.of_long_work(), garbage_left():
                Compiled.made += 1
                while True:
                    try:
                        return super().compile(sig)
                    except NoBitcode as spoilt:
                        spoilt.owner.forget(spoilt.sig)

    def _loaded(self, sig: Any) -> Any:
        """The entry point of code on disk, or None. (Numba's way there tells listeners of every call of LLVM.)"""
        with global_compiler_lock:
            known = self.overloads.get(_arguments(sig))
            if known is not None:
                return known.entry_point
            result = self._cache.load_overload(sig, self.targetctx)
            if result is None:
                return None
            result.library.owner, result.library.sig = self, sig
            self._cache_hits[sig] += 1  # type: ignore[attr-defined]
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self.add_overload(result)
            return result.entry_point

    def load_for(self, *examples: Any) -> None:
        """Load the code for arguments of the types of these, if it is on disk."""
        with signals_deferred():
            self._loaded(tuple(typeof(example) for example in examples))

    def forget(self, sig: Any) -> None:
        """New code cannot call code whose bitcode is damaged: that is compiled again. Sets: overloads, code on disk."""
        self.overloads.pop(_arguments(sig), None)
        with suppress(OSError):
            self._cache.flush()


@contextmanager
def garbage_left() -> Iterator[None]:
    """No search for cycles among objects meanwhile: while numba makes millions of them, it took a sixth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _arguments(sig: Any) -> tuple[Any, ...]:
    """The types of the arguments; calls bring a tuple of them, others may bring a signature."""
    return sig if isinstance(sig, tuple) else sigutils.normalize_signature(sig)[0]


def load_ahead(loop: Any, *examples: Any) -> None:
    """Load the machine code of a loop for arguments like these, if an earlier process has left it on disk."""
    if isinstance(loop, Compiled):
        loop.load_for(*examples)


class Announcement:
    """One line on standard error where compiling takes long: a first fit would seem to hang."""

    def __init__(self) -> None:
        self._seconds, self._depth, self._told = 0.0, 0, False

    @contextmanager
    def of_long_work(self) -> Iterator[None]:
        """Around compilations, also of what others need. The compiler lock must be held. Sets: seconds, told."""
        begun = time.perf_counter()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            passed = time.perf_counter() - begun
            self._seconds += passed if self._depth == 0 else 0.0
            if max(self._seconds, passed) >= LONG and not self._told:
                self._told = True
                sys.stderr.write(f"{ANNOUNCED}\n")


ANNOUNCEMENT = Announcement()


def generic(stub: Callable[..., Any]) -> Any:
    """A function whose implementation is chosen by the type (a NamedTuple) of its first argument.

    For arguments that hold arrays: inlining avoids counting references to them, 21 % of a CSR loop when measured.
    """
    return _generic(stub, "always")


def generic_of_numbers(stub: Callable[..., Any]) -> Any:
    """``generic`` for functions of numbers that may branch: numba's inlining of branches is not sound (0.68 warns)."""
    return _generic(stub, "never")


def _generic(stub: Callable[..., Any], inline: Any) -> Any:
    table: dict[type, Callable[..., Any]] = {}

    def call(first: Any, *rest: Any) -> Any:
        return table[type(first)](first, *rest)

    def register(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return lambda implementation: table.setdefault(cls, implementation)

    call.__name__, call.__doc__ = stub.__name__, stub.__doc__
    call.register = register  # type: ignore[attr-defined]
    call.knows = table.__contains__  # type: ignore[attr-defined]
    options: Any = {"error_model": "numpy"}
    overload(call, strict=False, inline=inline, jit_options=options)(lambda first, *rest: table[first.instance_class])
    return call
