"""Instructions that Python has no word for, for compiled loops; in plain Python they are functions.

LLVM turns a loop with ``a if a > b else b`` into vector code only if the *comparison* carries the flags of
``REDUCTION_FLAGS``, and numba does not put them there: a running maximum over 2,048 values took 4.3 us that way, and
0.4 us as one instruction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

# What LLVM needs to vectorise a max or sum reduction. No `ninf`: bounds may be infinite (the hard margin).
REDUCTION_FLAGS = {"nnan", "nsz", "reassoc", "contract"}


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


@intrinsic
def _nothing(context):
    def generate(target, builder, signature, arguments):
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], side_effect=True)
        return target.get_dummy_value()

    return types.void(), generate


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


def one_by_one() -> None:
    """In a loop that looks numbers up, x[index[k]]: the compiler must not turn it into vector code.

    It is no instruction at all, but the compiler does not know. Vector loads from several places (gathers) take longer
    than loads one by one: with AVX-512 on an Intel Xeon a pass over the scores of imdb took 22 instead of 4.8 ms, of
    a9a 3.4 instead of 0.6 ms, of w8a, whose rows are short, 4.1 instead of 1.3 ms.
    """


overload(one_by_one)(lambda: lambda: _nothing())  # type: ignore[call-arg]
overload(fetch)(lambda array, place: lambda array, place: _fetched(array, place))  # type: ignore[call-arg]
overload(larger)(lambda a, b: lambda a, b: _maximum(a, b))
overload(smaller)(lambda a, b: lambda a, b: _minimum(a, b))
overload(power_of_two)(lambda exponent: lambda exponent: _power32(exponent))  # type: ignore[call-arg]
overload(double_power_of_two)(lambda exponent: lambda exponent: _power64(exponent))  # type: ignore[call-arg]
