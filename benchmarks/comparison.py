"""Us and the peers on the same arrays: what one fit in a new process takes, and what later ones take.

A measurement is a process of its own: a tiny fit and prediction, the same for every peer, load libraries and start
threads; then the first fit, the first prediction, later predictions and later fits. Peers take turns; the best of
several processes counts. Code that is compiled at the first fit of an installation (ours) is on disk before.
"""

import json
import math
import pathlib
import platform
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks import sets, worker

REPEATS = 5
LATER = 2  # later fits and predictions of each process
LONG = 10.0  # seconds: a peer whose fits of a set took longer, all processes together, is not measured again
US = "maxmargin"
TIMES = ("first_fit", "later_fit", "first_predict", "later_predict")


class Peer:
    """A worker process."""

    def __init__(self, name: str, path: pathlib.Path) -> None:
        command = [sys.executable, "-m", "benchmarks.worker", name, str(path)]
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.missing = self._answer().get("missing")

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"The worker of {self.name} ended with code {self.process.wait()}.")
        return json.loads(line)

    def ask(self, command: str) -> dict[str, Any]:
        """Run a command and wait for its answer."""
        assert self.process.stdin is not None
        print(command, file=self.process.stdin, flush=True)
        return self._answer()

    def best(self, command: str, times: int) -> float:
        """The least time of several runs of a command."""
        return min(self.ask(command)["seconds"] for _ in range(times))

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def measure(name: str, path: pathlib.Path, judged: bool) -> dict[str, Any]:
    """One process from its start to its end. ``judged`` asks for dual value, support vectors and certificate, too."""
    peer = Peer(name, path)
    if peer.missing:
        peer.close()
        return {"missing": peer.missing}
    peer.ask("warm_up")
    first = peer.ask("fit")
    found = {"first_fit": first["seconds"], "memory": first["memory"]}
    found |= {"user": first["user"], "system": first["system"], "first_predict": peer.ask("predict")["seconds"]}
    for what in ("predict", "fit"):
        seconds = found[f"first_{what}"]
        found[f"later_{what}"] = peer.best(what, LATER) if LATER * seconds < LONG else seconds
    if judged:
        found |= peer.ask("judge")
    peer.close()
    return found


def compare(case: sets.Case, peers: list[str], repeats: int = REPEATS) -> dict[str, dict[str, Any]]:
    """Times, dual value, gap, support vectors and memory of every peer that is installed."""
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.npz"
        worker.save(case, path)
        if US in peers:
            measure(US, path, judged=False)  # compiles what is not on disk yet; not counted
        for turn in range(repeats):
            for name in peers:
                seen = results.get(name)
                if seen and ("missing" in seen or (turn + 1) * seen["first_fit"] > LONG):
                    continue
                results[name] = _better(seen, measure(name, path, judged=not turn))
    for name, seen in results.items():
        if "missing" in seen:
            print(f"{name} is left out: {seen['missing']}", file=sys.stderr)
    return {name: seen for name, seen in results.items() if "missing" not in seen}


def _better(seen: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """The least times and the most memory of two processes; user and system seconds belong to the least first fit."""
    if seen is None:
        return new
    earlier = {what: min(seen[what], new[what]) for what in TIMES}
    quicker = new if new["first_fit"] < seen["first_fit"] else seen
    used = {what: quicker[what] for what in ("user", "system")}
    return seen | earlier | used | {"memory": max(seen["memory"], new["memory"])}


def geometric_mean(values: list[float]) -> float:
    """exp(mean(log))."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def _ratio(of_set: dict[str, dict[str, Any]], peer: str, what: str) -> float:
    """A peer's time over ours."""
    return of_set[peer][what] / of_set[US][what] if US in of_set else math.nan


HEADER = (
    f"{'set':<18}{'peer':<11}{'first fit':>10}{'ratio':>7}{'later':>9}{'ratio':>7}{'predict':>10}{'ratio':>7}"
    f"{'later':>9}{'ratio':>7}{'user':>7}{'system':>8}{'MB':>6}{'dual':>14}{'gap':>9}{'SVs':>7}"
)


def show(name: str, results: dict[str, dict[str, Any]]) -> None:
    """Print one set; ratios are a peer's time over ours."""
    for peer, seen in results.items():
        first, later, predict, predict_later = (_ratio(results, peer, what) for what in TIMES)
        gap = f"{seen['gap']:.1e}" if "gap" in seen else "-"
        print(
            f"{name:<18}{peer:<11}{seen['first_fit']:>9.3f}s{first:>7.2f}{seen['later_fit']:>8.3f}s{later:>7.2f}"
            f"{seen['first_predict']:>9.4f}s{predict:>7.2f}{seen['later_predict']:>8.4f}s{predict_later:>7.2f}"
            f"{seen['user']:>7.2f}{seen['system']:>8.2f}{seen['memory']:>6.0f}{seen['dual']:>14.7g}{gap:>9}"
            f"{seen['support']:>7}",
            flush=True,
        )


def summary(results: dict[str, dict[str, dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """Geometric means and smallest of the ratios, and how our dual values compare, per peer."""
    found: dict[str, dict[str, float]] = {}
    for peer in dict.fromkeys(peer for of_set in results.values() for peer in of_set if peer != US):
        both = [of_set for of_set in results.values() if peer in of_set and US in of_set]
        line: dict[str, float] = {"sets": len(both)}
        for what in TIMES:
            ratios = [_ratio(of_set, peer, what) for of_set in both]
            line[what], line[f"{what}_least"] = geometric_mean(ratios), min(ratios, default=math.nan)
        several = [of_set for of_set in both if of_set[US]["classes"] > 2]
        line["predict_multiclass"] = geometric_mean([_ratio(of_set, peer, "first_predict") for of_set in several])
        line["memory_most"] = max((of_set[US]["memory"] / of_set[peer]["memory"] for of_set in both), default=math.nan)
        worse = [(of_set[peer]["dual"] - of_set[US]["dual"]) / abs(of_set[peer]["dual"]) for of_set in both]
        line["dual_behind"] = max(worse, default=math.nan)
        found[peer] = line
    return found


def markdown(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The table of a run, and the means."""
    columns = ["set", "peer", "first fit s", "ratio", "later fits s", "ratio", "first predict s", "ratio", "later s"]
    columns += ["ratio", "user + system s", "MB", "dual", "relative gap", "SVs"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, of_set in results.items():
        for peer, seen in of_set.items():
            times = " | ".join(f"{seen[what]:.4g} | {_ratio(of_set, peer, what):.2f}" for what in TIMES)
            gap = f"{seen['gap']:.1e}" if "gap" in seen else ""
            lines.append(
                f"| {name} | {peer} | {times} | {seen['user']:.2f} + {seen['system']:.2f} | {seen['memory']:.0f} "
                f"| {seen['dual']:.8g} | {gap} | {seen['support']} |"
            )
    lines += [
        "",
        "| against | first fit: mean (least) | later fits | first predict | later | our dual behind by at most |",
        "|---" * 6 + "|",
    ]
    for peer, line in summary(results).items():
        means = " | ".join(f"{line[what]:.2f} ({line[f'{what}_least']:.2f})" for what in TIMES)
        lines.append(f"| {peer} | {means} | {line['dual_behind']:.1e} |")
    return "\n".join(lines) + "\n"


def run(names: list[str], peers: list[str], folder: pathlib.Path | None, out: pathlib.Path, repeats: int) -> None:
    """Compare on every set, print as it goes, and write JSON and a Markdown table into ``out``."""
    print(HEADER)
    results: dict[str, dict[str, dict[str, Any]]] = {}
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        case = sets.case(name, folder)
        results[name] = compare(case, peers, repeats)
        show(name, results[name])
        ours = results[name].get(US)
        if ours:
            ours["sharing"] = ours["kernel_values"] / (len(case.y) * ours["support"])
            print(f"{'':<18}kernel values computed / (rows x support vectors): {ours['sharing']:.2f}", flush=True)
        report = {"python": platform.python_version(), "results": results, "summary": summary(results)}
        (out / "kernel.json").write_text(json.dumps(report, indent=1))
        (out / "kernel.md").write_text(markdown(results))
    for peer, line in summary(results).items():
        print(f"against {peer}, geometric mean of {line['sets']} sets (least):")
        for what in TIMES:
            print(f"  {what.replace('_', ' '):<14}{line[what]:>7.2f}x ({line[f'{what}_least']:.2f})")
        print(f"  first predict with several classes {line['predict_multiclass']:.2f}x")
        print(f"  our memory at most {line['memory_most']:.2f} of theirs")
        print(f"  our dual value at most {line['dual_behind']:.1e} behind theirs")
    print(f"written: {out / 'kernel.json'}, {out / 'kernel.md'}")
