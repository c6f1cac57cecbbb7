"""The examples in the documents run, and the command line does what the README says."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from maxmargin.cli.main import main

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ["README.md", "docs/linear.md", "docs/multiclass.md", "docs/bayes.md"]


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page_run_one_after_the_other(page, tmp_path):
    examples = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, "-W", "error", "-c", "\n".join(examples)]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)


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
