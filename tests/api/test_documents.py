"""The examples in the documents run, and the command line does what the README says."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from maxmargin.cli.main import main

ROOT = pathlib.Path(__file__).parents[2]
RUN_EACH = """
import json, sys
for number, example in enumerate(json.load(sys.stdin), 1):  # in one process, but none sees the names of another
    exec(compile(example, f"{sys.argv[1]}, example {number}", "exec"), {"__name__": "__main__"})
"""
PAGES = ["README.md", "docs/linear.md", "docs/multiclass.md", "docs/bayes.md"]


@pytest.mark.parametrize("page", PAGES)
def test_each_example_of_a_page_runs_by_itself(page, tmp_path):
    examples = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, "-W", "error", "-c", RUN_EACH, page]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, input=json.dumps(examples), text=True)


def test_demo_prints_accuracy_and_proof_and_draws(tmp_path, capsys):
    picture = tmp_path / "folder" / "machines.png"
    assert main(["demo", "--picture", str(picture)]) == 0
    said = capsys.readouterr().out
    assert float(re.search(r"held-out rows: ([\d.]+)", said)[1]) > 0.95
    assert "gap" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in picture.parent.iterdir()] == ["machines.png"]


def test_contributing_example_is_a_kernel():
    import numpy as np

    source = re.search(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    names = {}
    exec(
        "from dataclasses import dataclass\nimport numpy as np\nfrom maxmargin.kernels.vectors import ProductKernel\n"
        + source,
        names,
    )
    X = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(np.diag(names["Cosine"]()(X)), 1.0)


def test_only_two_classes_in_the_plane_are_drawn():
    from sklearn.datasets import load_iris

    from maxmargin import SVC
    from maxmargin.report.plots import draw_machine

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="3 classes and 4 features"):
        draw_machine(SVC().fit(X, y), X, y, None, "")


def test_the_reference_shows_inherited_methods_once():
    where = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    reference = importlib.util.module_from_spec(where)
    where.loader.exec_module(reference)
    headings = re.findall(r"^### (\w+)\.(\w+)$", reference.page("maxmargin"), re.MULTILINE)
    assert len(set(headings)) == len(headings)
    for name in ("GaussianNB", "CategoricalNB", "MultinomialNB"):
        shown = {method for owner, method in headings if owner == name}
        assert shown >= {"fit", "partial_fit", "predict", "predict_proba", "predict_log_proba"}
        assert not shown & {"get_params", "set_params", "score"}  # scikit-learn's
