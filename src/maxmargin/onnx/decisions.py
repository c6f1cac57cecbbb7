"""From decision values to classes and probabilities, as nodes of a graph; the formulas are those of ``multiclass``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from maxmargin.calibration import Sigmoid
from maxmargin.calibration.coupling import DIGITS, LEAST
from maxmargin.core.rows import Array, as_dense
from maxmargin.multiclass import OneVsOne, OutputCodes
from maxmargin.multiclass.output_codes import LEAST_SHARE
from maxmargin.onnx import kernels
from maxmargin.onnx.graph import DOUBLE, Graph


def decisions(model: Any, graph: Graph, X: str) -> str:
    """Decision values (rows, machines) of a fitted model with a kernel or without."""
    if not hasattr(model, "kernel_"):
        weights = np.atleast_2d(as_dense(model.coef_))
        return graph.add(graph.product(X, weights.T), np.broadcast_to(model.intercept_, (1, len(weights))))
    w = model._linear_weights()
    if w is not None:
        return graph.add(graph.product(X, w.T), model.intercept_[None])
    K = kernels.values(model.kernel_, graph, X, np.asarray(as_dense(model.support_vectors_), np.float64))
    return graph.add(graph.product(K, _by_machine(model)), model.intercept_[None])


def _by_machine(model: Any) -> Array:
    """Coefficients (support vectors, machines): those of pairs of classes from scikit-learn's layout."""
    coef, groups = np.asarray(as_dense(model.dual_coef_)), model._groups()
    if groups is None:
        return coef.T
    owner, pairs = np.repeat(np.arange(len(groups)), groups), model.reduction_.pairs
    columns = [np.where(owner == a, coef[b - 1], np.where(owner == b, coef[a], 0.0)) for a, b in pairs]
    return np.stack(columns, axis=1)


def scores(reduction: Any, graph: Graph, D: str) -> str:
    """One value per class; the largest one wins."""
    k = reduction.n_classes
    if isinstance(reduction, OneVsOne) and k == 2:
        return graph.product(D, np.array([[-1.0, 1.0]]))
    if isinstance(reduction, OneVsOne):
        first, second = _sides(reduction)
        votes = graph.add(graph.product(_flags(graph, "GreaterOrEqual", D), first),
                          graph.product(_flags(graph, "Less", D), second))  # fmt: skip
        return graph.add(votes, _squeezed(graph, graph.product(D, first - second)))
    if isinstance(reduction, OutputCodes):
        bits = reduction.book.shape[1]
        signs = graph.subtract(graph.multiply(_flags(graph, "GreaterOrEqual", D), 2.0), 1.0)
        agreeing = graph.multiply(graph.add(graph.product(signs, reduction.book.T), float(bits)), 0.5)
        return graph.add(agreeing, _squeezed(graph, graph.product(D, reduction.book.T)))
    return D


def votes(reduction: OneVsOne, graph: Graph, D: str) -> str:
    """Number of pairs won by each class; a decision of zero is for the second."""
    first, second = _sides(reduction)
    return graph.add(graph.product(_flags(graph, "Greater", D), first),
                     graph.product(_flags(graph, "LessOrEqual", D), second))  # fmt: skip


def _sides(reduction: OneVsOne) -> tuple[Array, Array]:
    """(pairs, classes): one where a class is the first, and where it is the second of a pair."""
    pairs = np.array(reduction.pairs)
    return np.eye(reduction.n_classes)[pairs[:, 0]], np.eye(reduction.n_classes)[pairs[:, 1]]


def _flags(graph: Graph, relation: str, D: str) -> str:
    """1.0 where D has this relation to zero, else 0.0."""
    return graph.cast(graph.apply(relation, D, 0.0), DOUBLE)


def _squeezed(graph: Graph, s: str) -> str:
    return graph.divide(s, graph.multiply(graph.add(graph.apply("Abs", s), 1.0), 3.0))


def leads(graph: Graph, S: str, k: int) -> str:
    """The score of each class minus the largest of the others, (rows, classes)."""
    columns = [graph.at(S, c, 1) for c in range(k)]
    largest = [graph.apply("Max", *columns[:c], *columns[c + 1 :]) for c in range(k)]
    return graph.subtract(S, graph.apply("Concat", *largest, axis=1))


def probabilities(model: Any, graph: Graph, D: str) -> str:
    """P(class | x) of a model with calibrated decisions."""
    reduction = model.reduction_
    if model._is_joint():
        D = leads(graph, D, reduction.n_classes)
    P = _calibrated(model.calibration_, graph, D)
    if isinstance(reduction, OneVsOne):
        if reduction.n_classes == 2:
            return graph.apply("Concat", graph.subtract(1.0, P), P, axis=1)
        return coupled(graph, P, reduction.n_classes)
    if isinstance(reduction, OutputCodes):
        P = graph.apply("Max", graph.apply("Min", P, 1.0 - LEAST_SHARE), LEAST_SHARE)
        ones, rest = graph.apply("Log", P), graph.apply("Log", graph.subtract(1.0, P))
        above, below = (reduction.book > 0).T.astype(float), (reduction.book < 0).T.astype(float)
        logs = graph.add(graph.product(ones, above), graph.product(rest, below))
        largest = graph.apply("Max", *(graph.at(logs, c, 1) for c in range(reduction.n_classes)))
        P = graph.apply("Exp", graph.subtract(logs, largest))
    return _normalised(graph, P)


def logistic(reduction: Any, graph: Graph, D: str) -> str:
    """P(class | x) of the logistic loss: of two classes 1 / (1 + exp(-f)), of more scaled to sum to one."""
    if reduction.n_classes == 2:
        return graph.apply("Sigmoid", graph.product(D, np.array([[-1.0, 1.0]])))
    return _normalised(graph, graph.apply("Sigmoid", D))


def _calibrated(rules: list[Any], graph: Graph, D: str) -> str:
    """Each machine's decisions as probabilities of its positive side."""
    if all(isinstance(rule, Sigmoid) for rule in rules):
        A, B = np.array([rule.A for rule in rules])[None], np.array([rule.B for rule in rules])[None]
        return graph.apply("Sigmoid", graph.multiply(graph.add(graph.multiply(D, A), B), -1.0))
    columns = [_interpolated(rule, graph, graph.at(D, k, 1)) for k, rule in enumerate(rules)]
    return graph.apply("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]


def _interpolated(rule: Any, graph: Graph, f: str) -> str:
    """A piecewise linear function: p_0 + sum_k slope_k times how far f is within piece k.

    Rounded to 12 digits: on a level stretch of exactly 1/2 the last digit of that sum would decide between two classes.
    """
    if isinstance(rule, Sigmoid):
        return _calibrated([rule], graph, f)
    if len(rule.scores) == 1:
        return graph.add(graph.multiply(f, 0.0), float(rule.probabilities[0]))
    widths, rises = np.diff(rule.scores), np.diff(rule.probabilities)
    within = graph.apply("Max", graph.subtract(f, rule.scores[None, :-1]), 0.0)
    within = graph.apply("Min", within, widths[None])
    p = graph.add(graph.product(within, (rises / widths)[:, None]), float(rule.probabilities[0]))
    return _rounded(graph, p)


def _rounded(graph: Graph, p: str) -> str:
    """To some digits after the point."""
    return graph.divide(graph.apply("Round", graph.multiply(p, 10.0**DIGITS)), 10.0**DIGITS)


def _normalised(graph: Graph, P: str) -> str:
    """Rows that add up to one; equal parts where all entries are zero."""
    sums = graph.row_sums(P)
    tiny = np.finfo(np.float64).tiny
    raised = graph.add(P, graph.cast(graph.apply("Less", sums, tiny), DOUBLE))
    return graph.divide(raised, graph.row_sums(raised))


def coupled(graph: Graph, r: str, k: int) -> str:
    """Probabilities of k classes from those of their pairs: (Q + ee') p = e, solved by Gauss and Jordan's elimination.

    The matrix is positive definite, so that no pivot has to be looked for (``calibration.coupling`` has the formula).
    """
    r = graph.apply("Max", graph.apply("Min", r, 1.0 - LEAST), LEAST)
    rest = graph.subtract(1.0, r)
    pairs = list(itertools.combinations(range(k), 2))
    across, first, second = (np.zeros((len(pairs), k, k)) for _ in range(3))
    for n, (i, j) in enumerate(pairs):
        across[n, i, j] = across[n, j, i] = -1.0
        first[n, i, i] = second[n, j, j] = 1.0
    Q = graph.product(graph.multiply(r, rest), across.reshape(len(pairs), -1))
    Q = graph.add(Q, graph.product(graph.multiply(rest, rest), first.reshape(len(pairs), -1)))
    Q = graph.add(Q, graph.product(graph.multiply(r, r), second.reshape(len(pairs), -1)))
    Q = graph.add(graph.reshaped(Q, (-1, k, k)), 1.0)
    ones = graph.add(graph.multiply(graph.at(Q, 0, 2), 0.0), 1.0)
    system = graph.apply("Concat", Q, ones, axis=2)
    for i in range(k):  # row i is divided by its pivot, and taken off every other row
        row, column = graph.at(system, i, 1), graph.at(system, i, 2)
        row = graph.divide(row, graph.at(row, i, 2))
        system = graph.subtract(system, graph.product(graph.subtract(column, np.eye(k)[None, :, i : i + 1]), row))
    p = graph.reshaped(graph.at(system, k, 2), (-1, k))
    return _normalised(graph, _rounded(graph, graph.apply("Max", p, 0.0)))
