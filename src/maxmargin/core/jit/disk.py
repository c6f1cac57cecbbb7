"""What numba compiled, on disk.

What numba would write to its own files goes through ``machine_code`` instead, because numba runs whatever it finds
there. A first fit loads some twenty loops, and numba takes 4 ms for each: it parses the bitcode that only other
compilations need, to list the names that it defines. Here the names are stored, and the bitcode is read when it is
asked for.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pathlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numba
from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from maxmargin.core.jit.machine_code import MachineCode, Unreadable, warn_not_kept, warn_once


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

    def reduce(self, cres: Any) -> tuple[tuple[Any, ...], bytes]:
        """What numba stores, with the names that the code defines; and the bitcode."""
        (name, _, (code, bitcode)), *rest = cres._reduce()
        module = cres.library._get_module_for_linking()
        symbols = [*module.functions, *module.global_variables]
        return (LoadedCode(name, code, {each.name for each in symbols if not each.is_declaration}), *rest), bitcode

    def rebuild(self, target_context: Any, payload: tuple[tuple[Any, ...], Callable[[], bytes]]) -> Any:
        """What was stored, ready to run."""
        content, read_bitcode = payload
        stored, fndesc, env, signature, objectmode, lifted, annotation, initialisers, environments = content
        for initialise in initialisers:
            initialise()
        codegen: Any = target_context.codegen()
        library = LoadedLibrary(codegen, stored, read_bitcode)
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
    """Of a compiled function: its machine code, and the names that it defines."""

    name: str
    code: bytes
    symbols: set[str]


class NoBitcode(Exception):
    """Loaded code that another function is to call is damaged where only that one looks."""

    def __init__(self, owner: Any, sig: Any) -> None:
        super().__init__(f"the bitcode of {owner.py_func.__name__} is damaged")
        self.owner, self.sig = owner, sig


class LoadedLibrary(JITCodeLibrary):
    """Machine code from disk, of an overload of ``owner`` for the types ``sig``."""

    owner: Any
    sig: Any

    def __init__(self, codegen: Any, stored: LoadedCode, read_bitcode: Callable[[], bytes]) -> None:
        super().__init__(codegen, stored.name)
        self._read_bitcode = read_bitcode
        self.enable_object_caching()
        self._set_compiled_object(stored.code)
        self._finalize_final_module()
        codegen._engine._defined_symbols |= stored.symbols

    def _get_module_for_linking(self) -> Any:
        """The bitcode, for a function that calls this one and is compiled now."""
        if self._shared_module is None:
            try:
                self._shared_module = binding.parse_bitcode(self._read_bitcode())
            except Unreadable as damage:
                warn_once(f"{damage}. It is compiled again.")
                raise NoBitcode(self.owner, self.sig) from damage
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
        payload = self._cache_file.load(self._key(sig, target_context.codegen())) if self._enabled else None
        return None if payload is None else self._impl.rebuild(target_context, payload)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._enabled or not self._impl.check_cachable(data):
            return
        try:
            self._impl.locator.ensure_cache_path()
            self._cache_file.save(self._key(sig, data.codegen), *self._impl.reduce(data))
        except OSError as error:
            warn_not_kept(error)

    def _key(self, sig: Any, codegen: Any) -> str:
        """What the machine code depends on, beside the sources: types, processor, and the bytecode of this Python."""
        return repr((sig, _processor(codegen), self._py_func.__code__.co_code))


@functools.cache  # the same for all functions, and 0.2 ms each time
def _processor(codegen: Any) -> tuple[Any, ...]:
    """What numba compiles for."""
    return codegen.magic_tuple()
