"""Kernel values between the rows of a graph's input and support vectors."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.kernels.base import Kernel, Normalized, Product, Scaled, Shifted, Sum
from maxmargin.kernels.vectors import RBF, Laplacian, Linear, Polynomial, Sigmoid
from maxmargin.onnx.graph import Graph


@singledispatch
def values(kernel: Kernel, graph: Graph, X: str, vectors: Array) -> str:
    """K(x, v), (rows, vectors)."""
    raise ValueError(
        f"The kernel {kernel!r} has no form in ONNX: kernels of vectors have one, functions of yours and given "
        "matrices do not."
    )


@values.register
def _(kernel: Linear, graph: Graph, X: str, vectors: Array) -> str:
    return graph.product(X, vectors.T)


@values.register
def _(kernel: Polynomial, graph: Graph, X: str, vectors: Array) -> str:
    products = graph.multiply(graph.product(X, vectors.T), kernel.gamma)
    return graph.apply("Pow", graph.add(products, kernel.coef0), float(kernel.degree))


@values.register
def _(kernel: Sigmoid, graph: Graph, X: str, vectors: Array) -> str:
    return graph.apply("Tanh", graph.add(graph.multiply(graph.product(X, vectors.T), kernel.kappa), kernel.theta))


@values.register
def _(kernel: RBF, graph: Graph, X: str, vectors: Array) -> str:
    """About the mean of the vectors: distances from inner products then cancel less."""
    centre = vectors.mean(axis=0)
    moved = vectors - centre
    rows = graph.subtract(X, centre)
    squares = graph.add(graph.row_sums(graph.multiply(rows, rows)), (moved**2).sum(axis=1)[None])
    distances = graph.subtract(squares, graph.multiply(graph.product(rows, moved.T), 2.0))
    return graph.apply("Exp", graph.multiply(graph.apply("Max", distances, 0.0), -float(kernel.gamma or 0.0)))


@values.register
def _(kernel: Laplacian, graph: Graph, X: str, vectors: Array) -> str:
    rows = graph.apply("Unsqueeze", X, graph.constant(np.array([1])))
    apart = graph.apply("Abs", graph.subtract(rows, vectors[None]))
    distances = graph.apply("ReduceSum", apart, graph.constant(np.array([-1])), keepdims=0)
    return graph.apply("Exp", graph.multiply(distances, -float(kernel.gamma or 0.0)))


@values.register
def _(kernel: Sum, graph: Graph, X: str, vectors: Array) -> str:
    return graph.add(values(kernel.left, graph, X, vectors), values(kernel.right, graph, X, vectors))


@values.register
def _(kernel: Product, graph: Graph, X: str, vectors: Array) -> str:
    return graph.multiply(values(kernel.left, graph, X, vectors), values(kernel.right, graph, X, vectors))


@values.register
def _(kernel: Scaled, graph: Graph, X: str, vectors: Array) -> str:
    return graph.multiply(values(kernel.kernel, graph, X, vectors), kernel.factor)


@values.register
def _(kernel: Shifted, graph: Graph, X: str, vectors: Array) -> str:
    return graph.add(values(kernel.kernel, graph, X, vectors), kernel.constant)


@values.register
def _(kernel: Normalized, graph: Graph, X: str, vectors: Array) -> str:
    inner: Any = kernel.kernel
    lengths = np.sqrt(inner.diagonal(inner.prepare(vectors)))
    own = graph.apply("Sqrt", squares(inner, graph, X))
    return graph.divide(graph.divide(values(inner, graph, X, vectors), own), np.where(lengths > 0, lengths, 1.0)[None])


@singledispatch
def squares(kernel: Kernel, graph: Graph, X: str) -> str:
    """K(x, x) in one column, for kernels of inner products."""
    raise ValueError(f"The kernel {kernel!r} inside a normalised one has no form in ONNX.")


@squares.register
def _(kernel: Linear, graph: Graph, X: str) -> str:
    return graph.row_sums(graph.multiply(X, X))


@squares.register
def _(kernel: Polynomial, graph: Graph, X: str) -> str:
    products = graph.multiply(graph.row_sums(graph.multiply(X, X)), kernel.gamma)
    return graph.apply("Pow", graph.add(products, kernel.coef0), float(kernel.degree))
