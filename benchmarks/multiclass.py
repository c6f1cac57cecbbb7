"""Machines for many classes: certificates of the joint ones, and time against scikit-learn on the same work.

Linear machines minimise the same objective (the bias is the weight of a constant feature). Each side runs over
tol = 1e-1, 1e-2, ... until its model is within 1e-4 of the certified optimum; that run counts, the best of several
where it is short, both sides in turn. Kernel machines run at tol = 1e-3, as both define it.
"""

import json
import math
import pathlib
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import multiclass as sklearn_multiclass
from sklearn import svm

from benchmarks import comparison, sets
from maxmargin import SVC, LinearSVC
from maxmargin.losses.multiclass import JointLoss

TOLS = [10.0**-k for k in range(1, 8)]
GOAL = 1e-4
OPTIMUM_TOL = 1e-6
SHORT = 5.0  # seconds: runs up to here are repeated
EPOCHS = 100_000  # scikit-learn's 1,000 end before its tol on most sets
JOINT = [(name, loss) for name in ("crammer_singer", "weston_watkins") for loss in ("hinge", "squared_hinge")]
LINEAR_TOL, KERNEL_TOL = 1e-4, 3e-5  # with which a relative gap of 1e-4 is certified
CERTIFIED = ("letter", "usps", "mnist10k")
JOINT_SPEED = ("digits", "letter", "usps", "20news")
REST_SPEED = ("mnist", "20news")
KERNEL_SPEED, PREDICTED = "letter", "mnist10k"


def case_of(name: str, folder: pathlib.Path | None) -> sets.Case:
    """Text and mnist as linear machines read them, the others as kernel machines do."""
    return sets.linear_case(name, folder) if name in sets.LINEAR else sets.case(name, folder)


def objective(case: sets.Case, multi_class: str, loss: str, coef: Any, bias: Any, C: float = 1.0) -> float:
    """What both sides minimise, recomputed from the weights."""
    scores = np.asarray(case.X @ np.asarray(coef, np.float64).T) + bias
    labels = np.unique(case.y, return_inverse=True)[1]
    norm = 0.5 * (float(np.sum(np.square(coef))) + float(np.sum(np.square(bias))))
    if multi_class == "ovr":
        signs = np.where(labels[:, None] == np.arange(scores.shape[1]), 1.0, -1.0)
        missed = np.maximum(0.0, 1.0 - signs * scores)
        return norm + C * float(np.sum(missed**2 if loss == "squared_hinge" else missed))
    return norm + C * float(
        JointLoss(multi_class == "crammer_singer", loss == "squared_hinge").value(scores, labels).sum()
    )


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result."""
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def linear_makers(multi_class: str, loss: str) -> dict[str, Callable[[float], Any]]:
    """Both sides' machines, by tol."""
    return {
        comparison.US: lambda tol: LinearSVC(
            multi_class=multi_class, loss=loss, tol=tol, fit_intercept="regularized", random_state=0
        ),
        "sklearn": lambda tol: svm.LinearSVC(
            multi_class=multi_class, loss=loss, tol=tol, max_iter=EPOCHS, dual="auto", random_state=0
        ),
    }


def to_the_goal(case: sets.Case, multi_class: str, loss: str, repeats: int, cap: float) -> dict[str, Any]:
    """Each side's time to the goal; a side that takes longer than the cap at one tol is not asked for the next."""
    makers = linear_makers(multi_class, loss)
    makers[comparison.US](1e-1).set_params(max_iter=3).fit(case.X, case.y)  # compiled
    proof = makers[comparison.US](OPTIMUM_TOL).fit(case.X, case.y)
    best = proof.certificate_.primal
    line: dict[str, Any] = {"set": case.name, "multi_class": multi_class, "loss": loss, "optimum": best, "times": {}}
    for side, make in makers.items():
        seen = {"seconds": math.inf, "tol": math.nan, "suboptimality": math.inf}
        for tol in TOLS:
            seconds, model = timed(lambda make=make, tol=tol: make(tol).fit(case.X, case.y))
            above = objective(case, multi_class, loss, model.coef_, model.intercept_) / best - 1.0
            seen = {"seconds": seconds, "tol": tol, "suboptimality": above}
            if above <= GOAL or seconds > cap:
                break
        line["times"][side] = seen
    for _ in range(repeats - 1):
        for side, make in makers.items():
            seen = line["times"][side]
            if seen["seconds"] <= SHORT:
                seconds, _ = timed(lambda make=make, seen=seen: make(seen["tol"]).fit(case.X, case.y))
                seen["seconds"] = min(seen["seconds"], seconds)
    return line


def show(line: dict[str, Any]) -> None:
    """Print one comparison."""
    ours, theirs = line["times"][comparison.US], line["times"]["sklearn"]
    late = "" if theirs["suboptimality"] <= GOAL else f", there only {theirs['suboptimality']:.1e} above"
    print(
        f"{line['set']:<10}{line['multi_class']:<16}{line['loss']:<14} "
        f"ours {ours['seconds']:8.3f} s (tol {ours['tol']:g}, {ours['suboptimality']:.1e} above)  "
        f"sklearn {theirs['seconds']:8.3f} s (tol {theirs['tol']:g}{late})  "
        f"{theirs['seconds'] / ours['seconds']:.2f}x",
        flush=True,
    )


def certify(names: list[str], folder: pathlib.Path | None) -> list[dict[str, Any]]:
    """The certificates of all joint machines, linear and with the RBF kernel."""
    lines = []
    for name in names:
        case = sets.case(name, folder)
        kernel = {"C": case.C, "gamma": case.gamma, "tol": KERNEL_TOL}
        for kind, settings in ((LinearSVC, {"tol": LINEAR_TOL, "random_state": 0}), (SVC, kernel)):
            for multi_class, loss in JOINT:
                model = kind(multi_class=multi_class, loss=loss, **settings)
                seconds, _ = timed(lambda model=model, case=case: model.fit(case.X, case.y))
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
                line = {
                    "set": name, "machine": kind.__name__, "multi_class": multi_class, "loss": loss,
                    "gap": model.certificate_.relative_gap, "status": model.status_.name, "seconds": seconds,
                    "peak_gb": memory,
                }  # fmt: skip
                lines.append(line)
                print(
                    f"{name:<10}{kind.__name__:<10}{multi_class:<16}{loss:<14} {line['status']:<10} "
                    f"gap {line['gap']:.1e} in {seconds:7.2f} s, peak {memory:.2f} GB",
                    flush=True,
                )
    return lines


def kernel_speed(folder: pathlib.Path | None, repeats: int) -> list[dict[str, Any]]:
    """One versus the rest with a kernel, and predictions one versus one."""
    case = sets.case(KERNEL_SPEED if folder else "digits", folder)
    settings = {"C": case.C, "gamma": case.gamma}
    fits = {
        comparison.US: lambda: SVC(multi_class="ovr", **settings).fit(case.X, case.y),
        "sklearn": lambda: sklearn_multiclass.OneVsRestClassifier(svm.SVC(**settings)).fit(case.X, case.y),
    }
    lines = [_in_turns(f"{case.name}: fit, kernel, one versus the rest", fits, repeats)]
    pairs = sets.case(PREDICTED if folder else "digits", folder)
    settings = {"C": pairs.C, "gamma": pairs.gamma}
    ours, theirs = SVC(**settings).fit(pairs.X, pairs.y), svm.SVC(**settings).fit(pairs.X, pairs.y)
    predictions = {comparison.US: lambda: ours.predict(pairs.X_test), "sklearn": lambda: theirs.predict(pairs.X_test)}
    lines.append(_in_turns(f"{pairs.name}: predict, one versus one", predictions, repeats))
    return lines


def _in_turns(what: str, work: dict[str, Callable[[], Any]], repeats: int) -> dict[str, Any]:
    times = dict.fromkeys(work, math.inf)
    work[comparison.US]()  # compiled
    for _ in range(repeats):
        for side, run in work.items():
            times[side] = min(times[side], timed(run)[0])
    ours, theirs = times[comparison.US], times["sklearn"]
    print(f"{what}: ours {ours:.3f} s, sklearn {theirs:.3f} s, {theirs / ours:.1f}x", flush=True)
    return {"what": what, "times": times}


def run(names: list[str] | None, folder: pathlib.Path | None, out: pathlib.Path, repeats: int, cap: float) -> None:
    """Print everything and write it to ``multiclass.json``."""
    report: dict[str, Any] = {"joint": [], "rest": [], "certificates": []}
    small = ["iris", "digits"]
    for name in names or (JOINT_SPEED if folder else small):
        report["joint"].append(to_the_goal(case_of(name, folder), "crammer_singer", "hinge", repeats, cap))
        show(report["joint"][-1])
    ratios = [line["times"]["sklearn"]["seconds"] / line["times"][comparison.US]["seconds"] for line in report["joint"]]
    print(f"Crammer-Singer against sklearn: {comparison.geometric_mean(ratios):.2f}x, least {min(ratios):.2f}x")
    for name in [] if names else (REST_SPEED if folder else small):
        for loss in ("squared_hinge", "hinge"):
            report["rest"].append(to_the_goal(case_of(name, folder), "ovr", loss, repeats, cap))
            show(report["rest"][-1])
    report["kernel"] = [] if names else kernel_speed(folder, repeats)
    report["certificates"] = [] if names else certify(list(CERTIFIED if folder else small), folder)
    out.mkdir(parents=True, exist_ok=True)
    (out / "multiclass.json").write_text(json.dumps(report, indent=1))
