"""The comparison itself: peers run in their own processes and are judged by the same formula."""

import json

import numpy as np
import pytest
from benchmarks import calibration, calibration_worker, comparison, family, linear, linear_worker, scaling, sets, worker

from maxmargin import SVC, LinearSVC


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_dual_values_are_those_of_the_certificate(name):
    case = sets.case(name, None)
    machine = SVC(C=case.C, gamma=case.gamma).fit(case.X, case.y)
    model = worker.Machine(machine.support_, machine.n_support_, machine.dual_coef_)
    data = {"X": case.X, "gamma": case.gamma}
    assert worker.dual_value(data, model) == pytest.approx(machine.certificate_.dual, rel=1e-9)


def test_a_run_writes_its_tables(tmp_path, capsys):
    comparison.run(["iris"], ["maxmargin", "sklearn"], None, tmp_path, 1)
    report = json.loads((tmp_path / "kernel.json").read_text())
    assert report["summary"]["sklearn"]["sets"] == 1
    assert report["results"]["iris"]["maxmargin"]["status"] == "CONVERGED"
    assert abs(report["summary"]["sklearn"]["dual_behind"]) < 1e-4
    assert "| iris | sklearn |" in (tmp_path / "kernel.md").read_text()
    assert "against sklearn" in capsys.readouterr().out


def test_linear_objectives_are_those_of_the_certificate():
    case = sets.linear_case("breast_cancer", None)
    signs = np.where(case.y == 1, 1.0, -1.0)
    for loss in linear.LOSSES:
        machine = LinearSVC(loss=loss, C=0.1, fit_intercept="regularized").fit(case.X, case.y)
        found = linear_worker.objective(case.X, signs, 0.1, loss, machine.coef_[0], machine.intercept_[0])
        assert found == pytest.approx(machine.certificate_.primal, rel=1e-9)


def test_a_linear_run_writes_its_tables(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(linear, "COSTS", (0.01,))
    linear.run(["breast_cancer"], ["maxmargin", "sklearn"], None, tmp_path, 1, 20.0)
    report = json.loads((tmp_path / "linear.json").read_text())
    assert [line["loss"] for line in report["lines"]] == ["hinge", "squared_hinge"]
    assert all(line["proof"]["gap"] <= 1e-6 for line in report["lines"])
    assert all(not seen["capped"] for line in report["lines"] for seen in line["times"].values())
    assert "| breast_cancer | hinge |" in (tmp_path / "linear.md").read_text()
    assert "against sklearn" in capsys.readouterr().out


def test_first_fits_of_the_family_are_compared(tmp_path, capsys):
    family.run(["OneClassSVM"], ["maxmargin", "sklearn"], None, tmp_path, 1)
    (results,) = json.loads((tmp_path / "family.json").read_text()).values()
    ours, theirs = results["maxmargin"], results["sklearn"]
    assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-3)
    assert "against sklearn, fit" in capsys.readouterr().out


@pytest.mark.parametrize("peer", ["maxmargin", "one machine"])
def test_probabilities_are_learned_on_the_same_folds(peer):
    case = calibration.arrays("generated", None)
    rows = slice(0, 400)
    model = calibration_worker.make(peer, {"C": 1.0, "gamma": 0.05}, case["folds"][rows])
    assert [len(test) for _, test in model.cv] == list(np.bincount(case["folds"][rows]))
    assert model.fit(case["X"][rows], case["y"][rows]).predict_proba(case["X_test"][:5]).shape == (5, 2)


def test_crashes_are_no_times():
    ours = {"seconds": 1.0, "capped": False}
    line = {"times": {"maxmargin": ours, "sklearn": {"seconds": 600.0, "capped": True, "failed": True}}}
    assert linear.ratios([line], ["sklearn"]) == []
    assert linear.mark(line["times"]["sklearn"], 1.0) == "failed"
    assert linear.mark({"seconds": 3.0, "capped": True}, 1.5) == ">2.00x"


def test_limits_of_peers_grow_with_our_time():
    times = np.linspace(0.0, 60.0, 601)
    limits = np.array([linear.enough_for(ours) for ours in times])
    assert limits[0] == linear.LEAST_CAP
    assert (np.diff(limits) >= 0.0).all()
    assert (limits[times > 0.3] / times[times > 0.3]).min() > linear.LONG_AHEAD
    assert np.abs(np.diff(limits)).max() <= 0.1 * linear.AHEAD + 1e-9


def test_data_structures_are_left_out_where_that_is_said():
    peer = {"seconds": 3.0, "structure": 2.0, "capped": False}
    ended = {"seconds": 4.0, "capped": True}
    lines = [{"times": {"maxmargin": {"seconds": 0.5}, "liblinear": one}} for one in (peer, ended)]
    assert linear.ratios(lines, ["liblinear"]) == [6.0, 8.0]
    assert linear.ratios(lines, ["liblinear"], structure=False) == [2.0, 8.0]


def test_exponents_and_plot(tmp_path):
    sizes = (1000, 2000, 4000)
    assert scaling.exponent(sizes, [n**1.7 for n in sizes]) == pytest.approx(1.7)
    scaling.plot(sizes, {"us": [0.1, 0.3, 0.9]}, {"us": 1.6}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_generated_sets_are_the_same_every_time():
    first, second = sets.case("generated5k", None), sets.case("generated5k", None)
    np.testing.assert_array_equal(first.X, second.X)
    assert first.X.dtype == np.float32
    with pytest.raises(SystemExit, match="needs a data folder"):
        sets.case("a9a", None)
    with pytest.raises(SystemExit, match="No set"):
        sets.case("nonsense", None)
