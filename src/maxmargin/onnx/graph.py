"""A graph of ONNX operators, written as expressions: each call adds a node and returns the name of what it computes."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx.proto import onnx_proto

from maxmargin.core.rows import Array

DOUBLE, FLOAT, INT64 = (getattr(onnx_proto.TensorProto, name) for name in ("DOUBLE", "FLOAT", "INT64"))
STRING = onnx_proto.TensorProto.STRING


class Graph:
    """Adds nodes and constants to the model that skl2onnx builds."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def constant(self, values: Any) -> str:
        """Numbers in float64, integers, or text."""
        array = np.asarray(values)
        name = self._scope.get_unique_variable_name("constant")
        if array.dtype.kind in "biu":
            kind, flat = INT64, array.astype(np.int64).ravel().tolist()
        elif array.dtype.kind in "OUS":
            kind, flat = STRING, [str(word).encode() for word in array.ravel()]
        else:
            kind, flat = DOUBLE, array.astype(np.float64).ravel().tolist()
        self._container.add_initializer(name, kind, list(array.shape), flat)
        return name

    def apply(self, kind: str, *inputs: str | Array | float, output: str | None = None, **attributes: Any) -> str:
        """The result of an operator; arrays and numbers among its inputs become constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        name = output or self._scope.get_unique_variable_name(kind.lower())
        self._container.add_node(
            kind, names, name, name=self._scope.get_unique_operator_name(kind), op_version=13, **attributes
        )
        return name

    def cast(self, value: str, kind: int, output: str | None = None) -> str:
        """The same numbers in another type."""
        return self.apply("Cast", value, to=kind, output=output)

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def add(self, a: Any, b: Any) -> str:
        """a + b."""
        return self.apply("Add", a, b)

    def subtract(self, a: Any, b: Any) -> str:
        """a - b."""
        return self.apply("Sub", a, b)

    def multiply(self, a: Any, b: Any) -> str:
        """a * b, entry by entry."""
        return self.apply("Mul", a, b)

    def divide(self, a: Any, b: Any) -> str:
        """a / b."""
        return self.apply("Div", a, b)

    def product(self, a: Any, b: Any) -> str:
        """a @ b."""
        return self.apply("MatMul", a, b)

    def row_sums(self, a: str) -> str:
        """Sums along the last axis, which stays as one column."""
        return self.apply("ReduceSum", a, self.constant(np.array([-1])), keepdims=1)

    def reshaped(self, a: str, shape: tuple[int, ...]) -> str:
        """Other axes; -1 is what is left."""
        return self.apply("Reshape", a, self.constant(np.array(shape)))

    def at(self, a: str, index: int, axis: int) -> str:
        """One entry along an axis, which stays."""
        return self.apply("Gather", a, self.constant(np.array([index])), axis=axis)
