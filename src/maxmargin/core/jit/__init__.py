"""Compiled loops: the only room that imports numba.

``jit`` compiles a function (without the GIL unless it is brief) and keeps the machine code on disk (``disk``). Numba
keys what it keeps by the source of the function's own file alone, so a change in a function that it *calls* would
silently run old machine code. Every name on disk therefore carries ``STAMP``, a hash of all our sources.

``larger``, ``smaller``, ``fetch``, ``one_by_one`` and the powers of two are instructions that Python has no word for
(``instructions``). ``generic`` gives one name to several implementations, picked by the type of the first argument, in
plain Python and inside compiled loops alike. It is how dense and CSR rows share every loop, written once.
"""

from maxmargin.core.signals import signals_deferred

with signals_deferred():  # a module of numba that Ctrl-C cuts off cannot be imported again in the same process
    from maxmargin.core.jit.compiled import (
        CACHE,
        STAMP,
        Announcement,
        Compiled,
        generic,
        generic_of_numbers,
        get_ready,
        jit,
        load_ahead,
        source_stamp,
    )
    from maxmargin.core.jit.instructions import double_power_of_two, fetch, larger, one_by_one, power_of_two, smaller

    get_ready()

__all__ = [
    "CACHE",
    "STAMP",
    "Announcement",
    "Compiled",
    "double_power_of_two",
    "fetch",
    "generic",
    "generic_of_numbers",
    "jit",
    "larger",
    "load_ahead",
    "one_by_one",
    "power_of_two",
    "smaller",
    "source_stamp",
]
