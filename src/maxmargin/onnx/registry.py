"""Our estimators for skl2onnx: shapes of their outputs, and converters."""

from __future__ import annotations

from typing import Any

from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

from maxmargin.estimators import (
    SGDSVC,
    SGDSVR,
    SVC,
    SVR,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
)
from maxmargin.estimators.uncertain import is_logistic
from maxmargin.multiclass import OneVsOne
from maxmargin.onnx import decisions
from maxmargin.onnx.graph import DOUBLE, FLOAT, INT64, Graph

CLASSIFIERS = (SVC, NuSVC, LinearSVC, SGDSVC)
REGRESSORS = (SVR, NuSVR, LinearSVR, SGDSVR)
OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
}


def register_all() -> None:
    """Every estimator that has a form in ONNX."""
    for cls in CLASSIFIERS:
        update_registered_converter(cls, f"Maxmargin{cls.__name__}", _class_shapes, _classifier, options=OPTIONS)
    for cls in REGRESSORS:
        update_registered_converter(cls, f"Maxmargin{cls.__name__}", _number_shapes, _regressor)
    update_registered_converter(OneClassSVM, "MaxmarginOneClassSVM", _novelty_shapes, _novelty)


def _numbers(operator: Any) -> Any:
    """The type of numbers that a graph returns: that of its input, or float."""
    return DoubleTensorType if isinstance(operator.inputs[0].type, DoubleTensorType) else FloatTensorType


def _rows(operator: Any) -> Any:
    """The number of rows, None where it is open."""
    return operator.inputs[0].get_first_dimension()


def _class_shapes(operator: Any) -> None:
    n, classes = _rows(operator), operator.raw_operator.classes_
    kind = Int64TensorType if classes.dtype.kind in "biu" else StringTensorType
    if classes.dtype.kind == "f":
        raise ValueError("ONNX has labels that are integers or text; give the classes such names.")
    operator.outputs[0].set_type(kind([n]))
    operator.outputs[1].set_type(_numbers(operator)([n, len(classes)]))


def _number_shapes(operator: Any) -> None:
    operator.outputs[0].set_type(_numbers(operator)([_rows(operator), 1]))


def _novelty_shapes(operator: Any) -> None:
    n = _rows(operator)
    operator.outputs[0].set_type(Int64TensorType([n, 1]))
    operator.outputs[1].set_type(_numbers(operator)([n, 1]))


def _begun(scope: Any, operator: Any, container: Any) -> tuple[Graph, str, int]:
    """The graph, its input in float64, and the type of its numbers."""
    graph = Graph(scope, container)
    kind = DOUBLE if _numbers(operator) is DoubleTensorType else FLOAT
    return graph, graph.cast(operator.inputs[0].full_name, DOUBLE), kind


def _classifier(scope: Any, operator: Any, container: Any) -> None:
    model = operator.raw_operator
    graph, X, kind = _begun(scope, operator, container)
    raw = container.get_options(model, {"raw_scores": False})["raw_scores"]
    D = decisions.decisions(model, graph, X)
    reduction = model.reduction_
    if hasattr(model, "calibration_"):
        shares = winning = decisions.probabilities(model, graph, D)
    else:
        winning = decisions.scores(reduction, graph, D)
        shares = (
            decisions.logistic(reduction, graph, D)
            if is_logistic(model) and hasattr(model, "predict_proba")
            else winning
        )
        if isinstance(reduction, OneVsOne) and reduction.n_classes > 2 and not getattr(model, "break_ties", True):
            winning = decisions.votes(reduction, graph, D)
    index = _winners(graph, winning, reduction, hasattr(model, "calibration_"))
    graph.apply("Gather", graph.constant(model.classes_), index, axis=0, output=operator.outputs[0].full_name)
    shown = decisions.scores(reduction, graph, D) if raw else shares
    graph.cast(shown, kind, output=operator.outputs[1].full_name)


def _winners(graph: Graph, winning: str, reduction: Any, probable: bool) -> str:
    """The place of the largest entry: the first one, but of two decisions that are equal (zero) the second."""
    last = int(reduction.n_classes == 2 and not probable)
    return graph.apply("ArgMax", winning, axis=1, keepdims=0, select_last_index=last)


def _regressor(scope: Any, operator: Any, container: Any) -> None:
    graph, X, kind = _begun(scope, operator, container)
    f = decisions.decisions(operator.raw_operator, graph, X)
    graph.cast(f, kind, output=operator.outputs[0].full_name)


def _novelty(scope: Any, operator: Any, container: Any) -> None:
    graph, X, kind = _begun(scope, operator, container)
    f = decisions.decisions(operator.raw_operator, graph, X)
    inside = graph.cast(graph.apply("GreaterOrEqual", f, 0.0), DOUBLE)
    signs = graph.subtract(graph.multiply(inside, 2.0), 1.0)
    graph.cast(signs, INT64, output=operator.outputs[0].full_name)
    graph.cast(f, kind, output=operator.outputs[1].full_name)
