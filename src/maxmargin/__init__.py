"""maxmargin: support vector machines for Python, complete, fast and proven optimal.

Names load when first used, so that ``import maxmargin`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.bayes import CategoricalNB as CategoricalNB
    from maxmargin.bayes import GaussianNB as GaussianNB
    from maxmargin.bayes import MultinomialNB as MultinomialNB
    from maxmargin.certificates import Margins as Margins
    from maxmargin.certificates import certify as certify
    from maxmargin.certificates import margins as margins
    from maxmargin.decomposition import KernelPCA as KernelPCA
    from maxmargin.estimators import SGDSVC as SGDSVC
    from maxmargin.estimators import SGDSVR as SGDSVR
    from maxmargin.estimators import SVC as SVC
    from maxmargin.estimators import SVDD as SVDD
    from maxmargin.estimators import SVR as SVR
    from maxmargin.estimators import LinearSVC as LinearSVC
    from maxmargin.estimators import LinearSVR as LinearSVR
    from maxmargin.estimators import NuSVC as NuSVC
    from maxmargin.estimators import NuSVR as NuSVR
    from maxmargin.estimators import OneClassSVM as OneClassSVM
    from maxmargin.kernels import mercer as mercer
    from maxmargin.models import soft_margin as soft_margin
    from maxmargin.preprocessing import Whitener as Whitener
    from maxmargin.problems.box import Bias as Bias
    from maxmargin.problems.box import BoxQP as BoxQP
    from maxmargin.problems.solution import Certificate as Certificate
    from maxmargin.problems.solution import Progress as Progress
    from maxmargin.problems.solution import Status as Status
    from maxmargin.selection import Path as Path
    from maxmargin.selection import l1_min_c as l1_min_c
    from maxmargin.selection import regularization_path as regularization_path

__version__ = "0.1.0"

_HOMES = {
    "SVC": "maxmargin.estimators",
    "SGDSVC": "maxmargin.estimators",
    "SGDSVR": "maxmargin.estimators",
    "Path": "maxmargin.selection",
    "l1_min_c": "maxmargin.selection",
    "regularization_path": "maxmargin.selection",
    "SVDD": "maxmargin.estimators",
    "SVR": "maxmargin.estimators",
    "NuSVC": "maxmargin.estimators",
    "NuSVR": "maxmargin.estimators",
    "OneClassSVM": "maxmargin.estimators",
    "LinearSVC": "maxmargin.estimators",
    "LinearSVR": "maxmargin.estimators",
    "CategoricalNB": "maxmargin.bayes",
    "GaussianNB": "maxmargin.bayes",
    "MultinomialNB": "maxmargin.bayes",
    "KernelPCA": "maxmargin.decomposition",
    "Whitener": "maxmargin.preprocessing",
    "Bias": "maxmargin.problems.box",
    "BoxQP": "maxmargin.problems.box",
    "Certificate": "maxmargin.problems.solution",
    "Margins": "maxmargin.certificates",
    "Progress": "maxmargin.problems.solution",
    "Status": "maxmargin.problems.solution",
    "certify": "maxmargin.certificates",
    "margins": "maxmargin.certificates",
    "mercer": "maxmargin.kernels",
    "soft_margin": "maxmargin.models",
}
_FOLDERS = (
    "bayes", "calibration", "certificates", "checks", "core", "decomposition", "estimators", "gram", "kernels",
    "lectures", "losses", "machines", "models", "multiclass", "onnx", "preprocessing", "problems", "report",
    "selection", "solvers", "textbook",
)  # fmt: skip
__all__ = [
    "SGDSVC",
    "SGDSVR",
    "SVC",
    "SVDD",
    "SVR",
    "Bias",
    "BoxQP",
    "CategoricalNB",
    "Certificate",
    "GaussianNB",
    "KernelPCA",
    "LinearSVC",
    "LinearSVR",
    "Margins",
    "MultinomialNB",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Path",
    "Progress",
    "Status",
    "Whitener",
    "certify",
    "l1_min_c",
    "margins",
    "mercer",
    "regularization_path",
    "soft_margin",
]


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return importlib.import_module(f"maxmargin.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_FOLDERS})
