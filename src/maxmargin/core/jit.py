"""Compiled loops: the only file that imports numba.

``kernel`` compiles a function without the GIL and caches the machine code on disk. Numba keys that cache by the
source of the kernel's own file alone, so a change in a function that the kernel *calls* would silently run old
machine code. Every cached name therefore carries ``STAMP``, a hash of all our sources.

``generic`` gives one name to several implementations, picked by the type of the first argument, in plain Python and
inside kernels alike. It is how dense and CSR rows share every loop without twins.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import overload


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
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        if reductions:
            options["fastmath"] = REDUCTION_FLAGS
        try:
            return numba.njit(fn, cache=CACHE, **options)
        except RuntimeError:  # "no locator available": nowhere to write the cache, so compile in every process
            return numba.njit(fn, **options)

    return compile_lazily


def generic(stub: Callable[..., Any]) -> Any:
    """A function whose implementation is chosen by the type (a NamedTuple) of its first argument."""
    table: dict[type, Callable[..., Any]] = {}

    def call(first: Any, *rest: Any) -> Any:
        return table[type(first)](first, *rest)

    def register(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return lambda implementation: table.setdefault(cls, implementation)

    call.__name__, call.__doc__ = stub.__name__, stub.__doc__
    call.register = register  # type: ignore[attr-defined]
    # Inlining avoids reference counting of the arrays inside the NamedTuple: 21 % of a CSR loop when measured.
    overload(call, strict=False, inline="always")(lambda first, *rest: table[first.instance_class])
    return call
