"""Draft and commit, the two ends of a fit, and that fitted attributes are set nowhere else: read from the sources."""

import ast
import copy
import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import maxmargin
from maxmargin.checks import commit, draft

SOURCE = Path(maxmargin.__file__).parent
NO_ESTIMATORS = ("core", "gram", "kernels")
PUBLIC = [getattr(maxmargin, name) for name in maxmargin.__all__]
ESTIMATORS = [thing for thing in PUBLIC if isinstance(thing, type) and issubclass(thing, BaseEstimator)]
STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.For, ast.NamedExpr)


class Model(BaseEstimator):
    def __init__(self, size=1):
        self.size = size


def test_what_is_noted_on_a_draft_stays_there():
    model = Model()
    noted = draft(model)
    noted.n_features_in_ = 3
    noted.size = 2
    assert vars(model) == {"size": 1}


def test_a_draft_knows_the_parameters_and_the_last_fit():
    model = Model(size=5)
    commit(model, draft(model), {"coef_": [1]})
    noted = draft(model)
    assert type(noted) is Model
    assert noted.size == 5
    assert noted.coef_ is model.coef_


def test_commit_takes_what_validation_noted_and_nothing_else_of_the_draft():
    model = Model()
    noted = draft(model)
    noted.n_features_in_, noted.feature_names_in_, noted.size = 2, ["a", "b"], 9
    commit(model, noted, {"coef_": [1, 2], "_sums": [3]})
    assert (model.n_features_in_, model.feature_names_in_, model.coef_, model._sums) == (2, ["a", "b"], [1, 2], [3])
    assert model.size == 1


def test_attributes_of_an_earlier_fit_go_and_those_of_others_stay():
    model = Model()
    first = draft(model)
    first.n_features_in_, first.feature_names_in_ = 1, ["a"]
    commit(model, first, {"coef_": [1], "_sums": [1]})
    model._of_scikit_learn = "stays"
    second = draft(model)
    second.n_features_in_ = 2
    del second.feature_names_in_
    commit(model, second, {"coef_": [2, 3]})
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "_sums")
    assert (model.n_features_in_, model.coef_, model._of_scikit_learn, model.size) == (2, [2, 3], "stays", 1)


def test_the_attributes_change_in_one_step():
    steps = []

    class Watched(Model):
        def __setattr__(self, name, value):
            steps.append(name)
            super().__setattr__(name, value)

    model = Watched()
    steps.clear()
    commit(model, draft(model), {"coef_": [1], "intercept_": 0.0, "_sums": [2]})
    assert steps == ["__dict__"]


def test_copies_of_a_fitted_model_forget_the_same_attributes():
    model = Model()
    commit(model, draft(model), {"coef_": [1]})
    twin = copy.deepcopy(model)
    commit(twin, draft(twin), {"scale_": 2.0})
    assert not hasattr(twin, "coef_")
    assert model.coef_ == [1]


def test_a_mapping_that_fails_leaves_the_model():
    model = Model()
    commit(model, draft(model), {"coef_": [1]})

    def attributes():
        yield "coef_", [2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        commit(model, draft(model), dict(attributes()))
    assert model.coef_ == [1]


def attributes_set(node):
    """The attributes that a statement sets or deletes."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    inner = (part for target in targets if target is not None for part in ast.walk(target))
    return [part for part in inner if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load)]


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
