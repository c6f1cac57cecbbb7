"""Level 6: models for ONNX runtimes, through skl2onnx (extra ``onnx``).

>>> from maxmargin import onnx
>>> onnx.register()  # doctest: +SKIP
>>> skl2onnx.to_onnx(model, X[:1].astype("float32"))  # doctest: +SKIP

``register`` makes SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC, LinearSVR, SGDSVC and SGDSVR known to skl2onnx, alone
and inside pipelines, with their probabilities. A graph computes in float64 whatever the type of its input, because
coefficients in float32 would cost digits.
"""

from __future__ import annotations


def register() -> None:
    """Make our estimators known to skl2onnx; once per process is enough."""
    try:
        import skl2onnx  # noqa: F401
    except ImportError as missing:
        raise ImportError("maxmargin.onnx needs skl2onnx: pip install 'maxmargin[onnx]'.") from missing
    from maxmargin.onnx.registry import register_all

    register_all()


__all__ = ["register"]
