"""Us and the peers on the same arrays: each in its own process, taking turns, the best of several times counting."""

import json
import math
import pathlib
import platform
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks import sets, worker

REPEATS = 4  # the first turn also warms up: compiled code, thread pools, memory of the machine
LONG = 20.0  # seconds: what takes longer is measured once
US = "maxmargin"


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

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def compare(case: sets.Case, peers: list[str], repeats: int = REPEATS) -> dict[str, dict[str, Any]]:
    """Times, dual value, gap, support vectors and memory of every peer that is installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.npz"
        worker.save(case, path)
        running = []
        for name in peers:
            peer = Peer(name, path)
            if peer.missing:
                print(f"{name} is left out: {peer.missing}", file=sys.stderr)
                peer.close()
            else:
                running.append(peer)
        results: dict[str, dict[str, Any]] = {peer.name: {} for peer in running}
        for what in ("fit", "predict"):
            _take_turns(running, what, repeats, results)
        for peer in running:
            results[peer.name] |= peer.ask("judge")
            peer.close()
    return results


def _take_turns(running: list[Peer], what: str, repeats: int, results: dict[str, dict[str, Any]]) -> None:
    """Writes: the best time of ``what`` and the memory it took at first."""
    for turn in range(repeats):
        for peer in running:
            seen = results[peer.name]
            if turn and seen[what] > LONG:
                continue
            answer = peer.ask(what)
            seen[what] = min(seen.get(what, math.inf), answer["seconds"])
            seen.setdefault(f"{what}_memory", answer["memory"])


def geometric_mean(values: list[float]) -> float:
    """exp(mean(log))."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


HEADER = (
    f"{'set':<14}{'peer':<11}{'fit':>10}{'ratio':>8}{'predict':>10}{'ratio':>8}"
    f"{'dual':>16}{'rel. gap':>10}{'SVs':>8}{'MB':>7}"
)


def show(name: str, results: dict[str, dict[str, Any]]) -> None:
    """Print one set; ratios are a peer's time over ours."""
    for peer, seen in results.items():
        ratios = {what: seen[what] / results[US][what] if US in results else math.nan for what in ("fit", "predict")}
        gap = f"{seen['gap']:.1e}" if "gap" in seen else "-"
        print(
            f"{name:<14}{peer:<11}{seen['fit']:>9.3f}s{ratios['fit']:>8.2f}{seen['predict']:>9.4f}s"
            f"{ratios['predict']:>8.2f}{seen['dual']:>16.8g}{gap:>10}{seen['support']:>8}{seen['fit_memory']:>7.0f}",
            flush=True,
        )


def summary(results: dict[str, dict[str, dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """Geometric means and smallest of the ratios, and how our dual values compare, per peer."""
    found: dict[str, dict[str, float]] = {}
    for peer in dict.fromkeys(peer for of_set in results.values() for peer in of_set if peer != US):
        both = [of_set for of_set in results.values() if peer in of_set and US in of_set]
        line: dict[str, float] = {"sets": len(both)}
        for what in ("fit", "predict"):
            ratios = [of_set[peer][what] / of_set[US][what] for of_set in both]
            line[what], line[f"{what}_least"] = geometric_mean(ratios), min(ratios, default=math.nan)
        several = [of_set for of_set in both if of_set[US]["classes"] > 2]
        line["predict_multiclass"] = geometric_mean([s[peer]["predict"] / s[US]["predict"] for s in several])
        worse = [(of_set[peer]["dual"] - of_set[US]["dual"]) / abs(of_set[peer]["dual"]) for of_set in both]
        line["dual_behind"] = max(worse, default=math.nan)
        found[peer] = line
    return found


def markdown(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The table of a run."""
    lines = [
        "| set | peer | fit s | ratio | predict s | ratio | dual | relative gap | SVs | MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, of_set in results.items():
        for peer, seen in of_set.items():
            fit, predict = (
                f"{seen[what] / of_set[US][what]:.2f}" if US in of_set else "" for what in ("fit", "predict")
            )
            gap = f"{seen['gap']:.1e}" if "gap" in seen else ""
            lines.append(
                f"| {name} | {peer} | {seen['fit']:.3f} | {fit} | {seen['predict']:.4f} | {predict} "
                f"| {seen['dual']:.8g} | {gap} | {seen['support']} | {seen['fit_memory']:.0f} |"
            )
    lines += [
        "",
        "| peer | fit, geometric mean | least | predict, geometric mean | least | our dual behind by at most |",
    ]
    lines += ["|---|---|---|---|---|---|"]
    for peer, line in summary(results).items():
        lines.append(
            f"| {peer} | {line['fit']:.2f} | {line['fit_least']:.2f} | {line['predict']:.2f} "
            f"| {line['predict_least']:.2f} | {line['dual_behind']:.1e} |"
        )
    return "\n".join(lines) + "\n"


def run(names: list[str], peers: list[str], folder: pathlib.Path | None, out: pathlib.Path, repeats: int) -> None:
    """Compare on every set, print as it goes, and write JSON and a Markdown table into ``out``."""
    print(HEADER)
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for name in names:
        case = sets.case(name, folder)
        results[name] = compare(case, peers, repeats)
        show(name, results[name])
        ours = results[name].get(US)
        if ours:
            ours["sharing"] = ours["kernel_values"] / (len(case.y) * ours["support"])
            print(f"{'':<14}kernel values computed / (rows x support vectors): {ours['sharing']:.2f}", flush=True)
    for peer, line in summary(results).items():
        print(
            f"against {peer}: fit {line['fit']:.2f}x (least {line['fit_least']:.2f}), predict {line['predict']:.2f}x "
            f"(least {line['predict_least']:.2f}, several classes {line['predict_multiclass']:.2f}x); "
            f"our dual at most {line['dual_behind']:.1e} behind"
        )
    out.mkdir(parents=True, exist_ok=True)
    report = {"python": platform.python_version(), "results": results, "summary": summary(results)}
    (out / "kernel.json").write_text(json.dumps(report, indent=1))
    (out / "kernel.md").write_text(markdown(results))
    print(f"written: {out / 'kernel.json'}, {out / 'kernel.md'}")
