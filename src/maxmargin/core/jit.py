"""Compiled loops: the only file that imports numba.

``kernel`` compiles a function without the GIL and caches the machine code on disk. Numba keys that cache by the
source of the kernel's own file alone, so a change in a function that the kernel *calls* would silently run old
machine code. Every cached name therefore carries ``STAMP``, a hash of all our sources.

``larger``, ``smaller`` and ``power_of_two`` are instructions that Python has no word for. LLVM turns a loop with
``a if a > b else b`` into vector code only if the *comparison* carries the flags of ``REDUCTION_FLAGS``, and numba does
not put them there: a running maximum over 2,048 values took 4.3 us that way, and 0.4 us as one instruction.

``generic`` gives one name to several implementations, picked by the type of the first argument, in plain Python and
inside kernels alike. It is how dense and CSR rows share every loop without twins.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from maxmargin.core.signals import signals_deferred

with signals_deferred():  # a module of numba that Ctrl-C cuts off cannot be imported again in the same process
    from llvmlite import ir
    from numba import types
    from numba.core import config
    from numba.core.registry import CPUDispatcher
    from numba.extending import intrinsic, overload


def source_stamp(root: pathlib.Path) -> str:
    """Hash of every Python source under ``root``: eight hexadecimal digits that change when any file does."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


STAMP = source_stamp(pathlib.Path(__file__).parents[1])
CACHE = os.environ.get("MAXMARGIN_CACHE", "1") != "0"

# What LLVM needs to vectorise a max or sum reduction. No `ninf`: bounds may be infinite (the hard margin).
REDUCTION_FLAGS = {"nnan", "nsz", "reassoc", "contract"}


def kernel(*, reductions: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop nest: no GIL, never parallel, cached under our stamp.

    ``reductions=True`` lets LLVM reorder sums and assume that no value is NaN; the inputs of such a kernel are checked
    to be finite at the door.
    """

    def compile_lazily(fn: Callable[..., Any]) -> Any:
        fn.__qualname__ += f"-{STAMP}"
        options: dict[str, Any] = {"nopython": True, "boundscheck": None, "nogil": True, "error_model": "numpy"}
        if reductions:
            options["fastmath"] = REDUCTION_FLAGS
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return fn
        compiled = Compiled(fn, targetoptions=options)
        if CACHE:
            compiled.enable_caching()
        return compiled

    return compile_lazily


class Compiled(CPUDispatcher):
    """A function that is compiled, or its machine code loaded, when arguments of new types come."""

    def enable_caching(self) -> None:
        with suppress(RuntimeError):  # "no locator available": nowhere to write files, so compile in every process
            super().enable_caching()

    def compile(self, sig: Any) -> Any:
        """Compile or load to the end: numba registers pieces on the way and fails where it meets them again."""
        with signals_deferred():
            return super().compile(sig)


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


def _instruction(name: str) -> Any:
    """An LLVM instruction of two numbers of one type; mixed types meet in float64."""

    @intrinsic
    def instruction(context, a, b):
        kind = a if a == b else types.float64

        def generate(_, builder, signature, arguments):
            value = ir.DoubleType() if kind == types.float64 else ir.FloatType()
            function = builder.module.declare_intrinsic(name, [value], ir.FunctionType(value, [value, value]))
            return builder.call(function, arguments, fastmath=tuple(REDUCTION_FLAGS))

        return kind(kind, kind), generate

    return instruction


_maximum, _minimum = _instruction("llvm.maxnum"), _instruction("llvm.minnum")


@intrinsic
def _exponent_bits(context, exponent):
    """The float32 whose exponent this is: 2^exponent, by writing its bits."""

    def generate(_, builder, signature, arguments):
        biased = builder.add(arguments[0], ir.Constant(ir.IntType(32), 127))
        return builder.bitcast(builder.shl(biased, ir.Constant(ir.IntType(32), 23)), ir.FloatType())

    return types.float32(types.int32), generate


def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers, neither of which is NaN."""
    return max(a, b)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers, neither of which is NaN."""
    return min(a, b)


def power_of_two(exponent: Any) -> Any:
    """2^exponent in float32, for an int32 within -126 ... 127."""
    return np.ldexp(np.float32(1.0), exponent)


overload(larger)(lambda a, b: lambda a, b: _maximum(a, b))
overload(smaller)(lambda a, b: lambda a, b: _minimum(a, b))
overload(power_of_two)(lambda exponent: lambda exponent: _exponent_bits(exponent))  # type: ignore[call-arg]
