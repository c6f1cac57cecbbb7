"""Fitted attributes are set in one place, checks/transaction.py: read from the sources."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import maxmargin

SOURCE = Path(maxmargin.__file__).parent
NO_ESTIMATORS = ("core", "gram", "kernels")
PUBLIC = [getattr(maxmargin, name) for name in maxmargin.__all__]
ESTIMATORS = [thing for thing in PUBLIC if isinstance(thing, type) and issubclass(thing, BaseEstimator)]


def attributes_set(node):
    """The attributes that a statement sets or deletes."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    inner = (part for target in targets if target is not None for part in ast.walk(target))
    return [part for part in inner if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load)]


STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.For, ast.NamedExpr)


def test_fitted_attributes_are_set_in_one_place():
    """No name that ends with an underscore, no __dict__, and above the rooms that know no estimators no setattr."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path == SOURCE / "checks" / "transaction.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, STATEMENTS):
                names = [part.attr for part in attributes_set(node)]
                found += [(path, name) for name in names if name == "__dict__" or re.search(r"[^_]_$", name)]
            elif isinstance(node, ast.Call) and path.relative_to(SOURCE).parts[0] not in NO_ESTIMATORS:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                found += [(path, name)] if name in ("setattr", "delattr", "__setattr__", "__delattr__") else []
    assert found == []


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_set_parameters_alone(kind):
    """Private state, too: only __init__ assigns to self."""
    for part in kind.__mro__:
        if not part.__module__.startswith("maxmargin."):
            continue
        methods = [
            node for node in ast.parse(inspect.getsource(part)).body[0].body if isinstance(node, ast.FunctionDef)
        ]
        for method in methods:
            statements = [node for node in ast.walk(method) if isinstance(node, STATEMENTS)]
            targets = [target for node in statements for target in attributes_set(node)]
            names = [target.attr for target in targets if getattr(target.value, "id", "") == "self"]
            assert not names or method.name == "__init__", (part, method.name, names)
