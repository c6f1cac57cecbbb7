"""The examples in the documents run, and the command line does what the README says."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import maxmargin
from maxmargin.cli.main import main

ROOT = pathlib.Path(__file__).parents[2]
RUN_EACH = """
import json, sys
for number, example in enumerate(json.load(sys.stdin), 1):  # in one process, but none sees the names of another
    exec(compile(example, f"{sys.argv[1]}, example {number}", "exec"), {"__name__": "__main__"})
"""
PAGES = ["README.md", "docs/index.md", "docs/linear.md", "docs/multiclass.md", "docs/bayes.md", "docs/decomposition.md"]
PAGES += ["docs/coming_from_sklearn.md"]


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


@pytest.mark.parametrize(
    ("block", "source"),
    [("def regression", "src/maxmargin/models/regressor.py"), ("class Tube", "tests/contract/test_new_estimator.py")],
)
def test_contributing_shows_the_code_as_it_is(block, source):
    """Every line of an example stands in the file that it is taken from (signatures are shortened)."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    (shown,) = [code for code in blocks if code.startswith(block)]
    lines = {line.split("  #")[0].strip() for line in (ROOT / source).read_text().splitlines()}
    wanted = [line.split("  #")[0].strip() for line in shown.splitlines()]
    assert [
        line for line in wanted if line not in lines and not line.startswith(("def regression", "def __init__"))
    ] == []


def test_only_two_classes_in_the_plane_are_drawn():
    from sklearn.datasets import load_iris

    from maxmargin import SVC
    from maxmargin.report.plots import draw_machine

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="3 classes and 4 features"):
        draw_machine(SVC().fit(X, y), X, y, None, "")


def reference():
    where = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    return module


def test_the_reference_shows_inherited_methods_once():
    headings = re.findall(r"^### (\w+)\.(\w+)$", reference().page("maxmargin"), re.MULTILINE)
    assert len(set(headings)) == len(headings)
    for name in ("GaussianNB", "CategoricalNB", "MultinomialNB"):
        shown = {method for owner, method in headings if owner == name}
        assert shown >= {"fit", "partial_fit", "predict", "predict_proba", "predict_log_proba"}
        assert not shown & {"get_params", "set_params", "score"}  # scikit-learn's


def documented():
    """K_ij of ``x_i``, with ||w||^2.

        f(x) =    w'x

    Parameters
    ----------
    x : array of ``float``, \
        default=None
        The *rows*.
    y
        Labels.

    Examples
    --------
    >>> 1 + 1
    2
    """


def test_docstrings_as_markdown():
    assert reference()._text(documented) == (
        "K\\_ij of `x_i`, with \\|\\|w\\|\\|^2.\n\n```text\nf(x) =    w'x\n```\n\n**Parameters**\n\n"
        "- `x : array of float, default=None`\\\n  The \\*rows\\*.\n- `y`\\\n  Labels.\n\n"
        "**Examples**\n\n```python\n>>> 1 + 1\n2\n```"
    )


def test_the_reference_has_estimators_first_and_no_marks_of_docstrings():
    module = reference()
    names = re.findall(r"^## (\w+)$", module.page("maxmargin"), re.MULTILINE)
    first = [name for name in names if hasattr(getattr(maxmargin, name), "fit")]
    assert names[: len(first)] == first == sorted(first, key=str.lower)
    for name in module.MODULES:
        outside = re.sub(r"^```.*?^```$", "", module.page(name), flags=re.MULTILINE | re.DOTALL)
        assert not re.search(r"(?<!`)``(?!`)|-----", outside), name


def test_the_example_of_the_start_page_prints_what_the_page_says(capsys):
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {})
    said, printed = capsys.readouterr().out.split(), re.search(r"```text\n(.*?)```", page, re.DOTALL)[1].split()
    assert said[:6] == printed[:6]  # accuracy, primal and dual value; the gap is rounding


@pytest.mark.parametrize("page", ["index", "linear", "multiclass", "bayes", "decomposition"])
def test_code_fits_the_page(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:python|text)?\n(.*?)```", text, re.DOTALL)
    assert [line for block in blocks for line in block.splitlines() if len(line) > 86] == []
