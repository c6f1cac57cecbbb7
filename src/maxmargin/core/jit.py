"""Compiled loops: the only file that imports numba.

``jit`` compiles a function (without the GIL unless it is brief) and caches the machine code on disk. Numba keys that
cache by the source of the function's own file alone, so a change in a function that it *calls* would silently run old
machine code. Every cached name therefore carries ``STAMP``, a hash of all our sources. What numba would write to that
cache goes through ``machine_code`` instead, because numba runs whatever it finds there.

A first fit loads some twenty loops, and numba takes 4 ms for each: it parses the bitcode that only other compilations
need, to list the names that it defines. Here the names are stored, and the bitcode is parsed when it is asked for.

``larger``, ``smaller``, ``fetch`` and the powers of two are instructions that Python has no word for. LLVM turns a loop
with ``a if a > b else b`` into vector code only if the *comparison* carries the flags of ``REDUCTION_FLAGS``, and numba
does not put them there: a running maximum over 2,048 values took 4.3 us that way, and 0.4 us as one instruction.

``generic`` gives one name to several implementations, picked by the type of the first argument, in plain Python and
inside compiled loops alike. It is how dense and CSR rows share every loop, written once.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.machine_code import MachineCode, warn_not_kept
from maxmargin.core.signals import signals_deferred

with signals_deferred():  # a module of numba that Ctrl-C cuts off cannot be imported again in the same process
    import numba
    from llvmlite import binding, ir
    from numba import types
    from numba.core import config, sigutils
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompileResult
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import CPUDispatcher, cpu_target
    from numba.core.serialize import dumps
    from numba.extending import intrinsic, overload
    from numba.np.arrayobj import make_array

    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        # numba imports a part of itself (0.35 s) when it first compiles or loads a function. That belongs to the import
        # of this package: inside a fit it would be most of what a first fit of a few thousand rows takes.
        cpu_target.typing_context.refresh()  # type: ignore[attr-defined]
        cpu_target.target_context.refresh()  # type: ignore[attr-defined]


def source_stamp(root: pathlib.Path) -> str:
    """Hash of every Python source under ``root``: eight hexadecimal digits that change when any file does."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


STAMP = source_stamp(pathlib.Path(__file__).parents[1])
LONG = 1.0  # seconds of compiling from which on it is announced
ANNOUNCED = (
    "maxmargin: compiling loops for this machine, which takes some seconds and is kept for later runs. "
    "(The command 'maxmargin warmup' does it ahead of time.)"
)
CACHE = os.environ.get("MAXMARGIN_CACHE", "1") != "0"

# What LLVM needs to vectorise a max or sum reduction. No `ninf`: bounds may be infinite (the hard margin).
REDUCTION_FLAGS = {"nnan", "nsz", "reassoc", "contract"}


def jit(*, reductions: bool = False, inline: bool = False, brief: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop nest: no GIL, never parallel, cached under our stamp.

    ``brief=True`` keeps the GIL, for one pass over some vectors. A loop of microseconds that gives it up has to wait
    for it afterwards, 50 us on a virtual machine, where other pairs of classes are solved beside it. NumPy gives it up
    in every operation on more than 500 numbers, so one such pass in place of several of those pays twice.

    ``reductions=True`` lets LLVM reorder sums and assume that no value is NaN; the inputs of such a loop are checked
    to be finite by ``checks``. ``inline=True`` copies the body into the loops that call it: otherwise passing an array
    raises and lowers its reference count by two atomic instructions, and a step of SMO on 200 rows took 0.6 instead of
    0.36 us.
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
            with global_compiler_lock, ANNOUNCEMENT.of_long_work():
                Compiled.made += 1
                return super().compile(sig)

    def _loaded(self, sig: Any) -> Any:
        """The entry point of code on disk, or None. (Numba's way there tells listeners of every call of LLVM.)"""
        with global_compiler_lock:
            known = self.overloads.get(sigutils.normalize_signature(sig)[0])
            if known is not None:
                return known.entry_point
            result = self._cache.load_overload(sig, self.targetctx)
            if result is None:
                return None
            self._cache_hits[sig] += 1  # type: ignore[attr-defined]
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self.add_overload(result)
            return result.entry_point


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


class ReadableFolder:
    """Makes a locator of numba accept a folder that can only be read."""

    known: ClassVar[dict[str, bool]] = {}  # asking the disk for each of 61 kernels took 22 instead of 13 ms

    def ensure_cache_path(self) -> None:
        """Numba refuses a folder by an error here."""

    def writable(self) -> bool:
        """Whether numba would accept the folder."""
        folder = self.get_cache_path()  # type: ignore[attr-defined]
        if folder not in self.known:
            try:
                super().ensure_cache_path()  # type: ignore[misc]
            except OSError:
                self.known[folder] = False
            else:
                self.known[folder] = True
        return self.known[folder]


class ReadableFolders(CompileResultCacheImpl):
    """What numba's cache stores, and in which folders: also in those that can only be read."""

    _locator_classes: ClassVar[list[Any]] = [
        type(locator.__name__, (ReadableFolder, locator), {}) for locator in CompileResultCacheImpl._locator_classes
    ]

    def of(self, fn: Callable[..., Any]) -> list[pathlib.Path]:
        """Folders that can only be read, then numba's choice: the first that can be written."""
        if not isinstance(self.locator, ReadableFolder):  # the user's own, by NUMBA_CACHE_LOCATOR_CLASSES
            return [pathlib.Path(self.locator.get_cache_path())]
        folders = []
        for locator_class in self._locator_classes:
            locator = locator_class.from_function(fn, inspect.getfile(fn))
            if locator is not None:
                folders.append(pathlib.Path(locator.get_cache_path()))
                if locator.writable():
                    break
        return folders

    def reduce(self, cres: Any) -> tuple[Any, ...]:
        """What numba stores, and the names that the code defines."""
        (name, _, (code, bitcode)), *rest = cres._reduce()
        module = cres.library._get_module_for_linking()
        symbols = [*module.functions, *module.global_variables]
        return LoadedCode(name, code, bitcode, {each.name for each in symbols if not each.is_declaration}), *rest

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """What was stored, ready to run."""
        stored, fndesc, env, signature, objectmode, lifted, annotation, initialisers, environments = payload
        for initialise in initialisers:
            initialise()
        codegen: Any = target_context.codegen()
        library = LoadedLibrary(codegen, stored)
        result = CompileResult(
            typing_context=target_context.typing_context, target_context=target_context, library=library,
            entry_point=target_context.get_executable(library, fndesc, env), typing_error=None,
            type_annotation=annotation, signature=signature, objectmode=objectmode, lifted=lifted, fndesc=fndesc,
            call_helper=None, environment=env, metadata=None, reload_init=initialisers, referenced_envs=environments,
        )  # fmt: skip
        for env in environments:
            codegen.set_env(env.env_name, env)
        return result


class LoadedCode(NamedTuple):
    """Of a compiled function: its machine code, its bitcode, and the names that they define."""

    name: str
    code: bytes
    bitcode: bytes
    symbols: set[str]


class LoadedLibrary(JITCodeLibrary):
    """Machine code from disk."""

    def __init__(self, codegen: Any, stored: LoadedCode) -> None:
        super().__init__(codegen, stored.name)
        self._bitcode = stored.bitcode
        self.enable_object_caching()
        self._set_compiled_object(stored.code)
        self._finalize_final_module()
        codegen._engine._defined_symbols |= stored.symbols

    def _get_module_for_linking(self) -> Any:
        """The bitcode, for a function that calls this one and is compiled now."""
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return self._shared_module


class CheckedCache(FunctionCache):
    """Numba's cache of one function, on files that are checked before they are used."""

    _impl_class = ReadableFolders

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__(fn)
        made_from = repr((numba.__version__, self._impl.locator.get_source_stamp())).encode()
        name = f"{self._impl.filename_base}-{hashlib.sha256(made_from).hexdigest()[:8]}"
        self._cache_file = MachineCode(self._impl.of(fn), name, dumps)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As numba's, but what it knows of types is not brought up to date: that was done for the compilation."""
        return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_not_kept(error)


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
    """An LLVM instruction of two numbers of one type; mixed types are converted to float64."""

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


def _by_exponent(kind: Any, value: Any, bits: Any, bias: int, place: int) -> Any:
    """The number whose exponent this is: 2^exponent, by writing its bits."""

    @intrinsic
    def instruction(context, exponent):
        def generate(_, builder, signature, arguments):
            biased = builder.add(builder.sext(arguments[0], bits), ir.Constant(bits, bias))
            return builder.bitcast(builder.shl(biased, ir.Constant(bits, place)), value)

        return kind(types.int32), generate

    return instruction


@intrinsic
def _fetched(context, array, place):
    def generate(target, builder, signature, arguments):
        address = make_array(signature.args[0])(target, builder, arguments[0]).data
        word, anywhere = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [anywhere, word, word, word])
        here = builder.bitcast(builder.gep(address, [arguments[1]]), anywhere)
        how = word(0), word(3), word(1)  # to read, into every cache, data
        builder.call(builder.module.declare_intrinsic("llvm.prefetch", [anywhere], kind), [here, *how])
        return target.get_dummy_value()

    return types.void(array, types.intp), generate


_power32 = _by_exponent(types.float32, ir.FloatType(), ir.IntType(32), 127, 23)
_power64 = _by_exponent(types.float64, ir.DoubleType(), ir.IntType(64), 1023, 52)


def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers, neither of which is NaN."""
    return max(a, b)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers, neither of which is NaN."""
    return min(a, b)


def power_of_two(exponent: Any) -> Any:
    """2^exponent in float32, for an int32 within -126 ... 127."""
    return np.ldexp(np.float32(1.0), exponent)


def double_power_of_two(exponent: Any) -> Any:
    """2^exponent in float64, for an int32 within -1022 ... 1023."""
    return np.ldexp(1.0, exponent)


def fetch(array: Any, place: Any) -> None:
    """Begin to load the number at a place of a C-contiguous array, counted along its rows, and do not wait for it."""


overload(fetch)(lambda array, place: lambda array, place: _fetched(array, place))  # type: ignore[call-arg]
overload(larger)(lambda a, b: lambda a, b: _maximum(a, b))
overload(smaller)(lambda a, b: lambda a, b: _minimum(a, b))
overload(power_of_two)(lambda exponent: lambda exponent: _power32(exponent))  # type: ignore[call-arg]
overload(double_power_of_two)(lambda exponent: lambda exponent: _power64(exponent))  # type: ignore[call-arg]
