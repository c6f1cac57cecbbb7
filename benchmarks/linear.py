"""Linear machines: what we certify, and the time to a relative gap of 1e-4, ours and the peers'.

Everyone minimises the same objective (the bias is part of the norm). Ours is the time of a fit with tol = 1e-4, at the
end of which the gap is proved. A peer proves nothing: it runs over tol = 1e-1, 1e-2, ... until its model is within 1e-4
of the certified optimum, and only that run counts. Times are those of the first fit in a fresh process, after a tiny
one that loads libraries and starts threads, and the best of several processes where they are short. They begin with
arrays; what LIBLINEAR's users spend on its data structure is part of its time, and ``summary`` says what remains
without it. A run that exceeds the cap, its data structure apart, is ended and counts with the cap, marked ">"; so does
one that takes ``AHEAD`` times as long as ours, or ``LONG_AHEAD`` times beyond ``SHORT``: a limit can only make our lead
look smaller.
"""

import json
import math
import pathlib
import select
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks import comparison, sets, worker

TOLS = [10.0**-k for k in range(1, 9)]
GOAL = 1e-4
CERTIFIED = 1e-6
COSTS = (0.01, 1.0, 100.0)
LOSSES = ("hinge", "squared_hinge")
SHORT = 2.0  # seconds: runs up to here are measured in fresh processes, several times
AHEAD, LONG_AHEAD, LEAST_CAP = 12.0, 4.0, 3.0  # of our time, and seconds: enough to know how far ahead we are
LONGEST_BESIDE = 60.0  # seconds that a tiny fit, a data structure, or the objective of a model may take
DENSE = ("covtype", "skin_nonskin", "mnist", "madelon", "generated")
US = comparison.US


class Peer:
    """A worker process that is ended when a run exceeds the cap, and started again for the next one."""

    def __init__(self, name: str, path: pathlib.Path) -> None:
        self.name, self.path = name, path
        self.missing: str | None = None
        self._start()

    def _start(self) -> None:
        command = [sys.executable, "-m", "benchmarks.linear_worker", self.name, str(self.path)]
        # Without a buffer, in which ``select`` would not see an answer.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        answer = self._answer(None)
        assert answer is not None
        self.missing = answer.get("missing")

    def first_fit(self, cap: float, **told: Any) -> tuple[float, float]:
        """Seconds of the first fit in a process of its own, after the tiny one, and those for the data structure.

        Infinite where it exceeds the cap.
        """
        fresh = Peer(self.name, self.path)
        fresh._tell(tiny=True, **told)
        answer = fresh._answer(LONGEST_BESIDE)
        if answer is None or "failed" in answer:
            fresh.process.kill()
        else:
            answer = fresh.fit(cap, **told)
        fresh.close()
        return (answer["seconds"], answer["structure"]) if answer and "failed" not in answer else (math.inf, 0.0)

    def _tell(self, **told: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(told).encode() + b"\n")

    def _answer(self, cap: float | None) -> dict[str, Any] | None:
        """What the worker says: None where it says nothing in time, a failure where it ended."""
        out = self.process.stdout
        assert out is not None
        ready, _, _ = select.select([out], [], [], cap)
        if not ready:
            return None
        line = out.readline()
        return json.loads(line) if line else {"failed": True, "missing": "it ended at once"}

    def fit(self, cap: float, **told: Any) -> dict[str, Any] | None:
        """The answers together; None where the run, without its data structure, exceeded the cap.

        A peer that failed is started again.
        """
        self._tell(**told)
        answers: dict[str, Any] = {}
        for limit in (LONGEST_BESIDE, cap, LONGEST_BESIDE):
            answer = self._answer(limit)
            if answer is None or "failed" in answer:
                self.process.kill()
                self.close()
                self._start()
                return answer
            answers |= answer
        return answers

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def time_to_goal(peer: Peer, optimum: float, cap: float, **told: Any) -> dict[str, Any]:
    """The earliest run over ``TOLS`` whose objective is within ``GOAL`` of the optimum. Ours is one that proves it."""
    seen: dict[str, Any] = {"seconds": cap, "capped": True, "suboptimality": math.inf}
    for tol in [GOAL] if peer.name == US else TOLS:
        answer = peer.fit(cap, tol=tol, **told)
        if answer is None or "failed" in answer:
            return seen | (answer or {})
        seen["suboptimality"] = answer["objective"] / optimum - 1.0
        if seen["suboptimality"] <= GOAL:
            measured = {what: answer[what] for what in ("seconds", "structure", "memory")}
            return seen | measured | {"tol": tol, "capped": False}
    return seen


def compare(name: str, peers: list[str], folder: pathlib.Path | None, cap: float, repeats: int) -> list[dict[str, Any]]:
    """One line per loss and C: our certificate, and everyone's time to the goal."""
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "set.npz"
        worker.save(sets.linear_case(name, folder), path)
        running = [peer for peer in (Peer(peer, path) for peer in peers) if not _left_out(peer)]
        for loss in LOSSES:
            for C in COSTS:
                lines.append(_one(name, loss, C, running, cap, repeats))
                show(lines[-1])
        for peer in running:
            peer.close()
    return lines


def _left_out(peer: Peer) -> bool:
    if peer.missing:
        print(f"{peer.name} is left out: {peer.missing}", file=sys.stderr)
        peer.close()
    return bool(peer.missing)


def _one(name: str, loss: str, C: float, running: list[Peer], cap: float, repeats: int) -> dict[str, Any]:
    us = next(peer for peer in running if peer.name == US)
    proof = us.fit(600.0, loss=loss, C=C, tol=CERTIFIED)
    if proof is None:
        raise SystemExit(f"{name}, {loss}, C = {C}: no certificate within 10 minutes.")
    optimum = proof["objective"]
    ours = time_to_goal(us, optimum, cap, loss=loss, C=C)
    enough = min(cap, enough_for(ours["seconds"]))
    others = [peer for peer in running if peer is not us]
    times = {US: ours} | {peer.name: time_to_goal(peer, optimum, enough, loss=loss, C=C) for peer in others}
    short = [peer for peer in running if not times[peer.name]["capped"] and times[peer.name]["seconds"] <= SHORT]
    first: dict[str, list[tuple[float, float]]] = {peer.name: [] for peer in short}
    for _ in range(repeats):
        for peer in short:
            first[peer.name].append(peer.first_fit(cap, loss=loss, C=C, tol=times[peer.name]["tol"]))
    for peer, runs in first.items():
        seconds, structure = min(runs)
        times[peer] |= {"later": times[peer]["seconds"], "seconds": seconds, "structure": structure}
    return {"set": name, "loss": loss, "C": C, "proof": proof, "times": times}


def enough_for(ours: float) -> float:
    """Seconds after which a peer is ended, where we took ``ours``."""
    return max(LEAST_CAP, AHEAD * min(ours, SHORT) + LONG_AHEAD * max(0.0, ours - SHORT))


def show(line: dict[str, Any]) -> None:
    """Print one line; ratios are a peer's time over ours."""
    proof, ours = line["proof"], line["times"][US]
    print(
        f"{line['set']:<13}{line['loss']:<14}C={line['C']:<6g}{proof['solver']:<12}passes {proof['passes']:>6.0f}  "
        f"gap {proof['gap']:.1e} in {proof['seconds']:>7.3f} s {proof['status'] if proof['warnings'] else ''}| "
        f"to 1e-4: {ours['seconds']:.4f} s"
        + "".join(f", {name} {mark(seen, ours['seconds'])}" for name, seen in line["times"].items() if name != US),
        flush=True,
    )


def mark(seen: dict[str, Any], ours: float) -> str:
    """A peer's time over ours: ">" where it was ended, "failed" where it crashed."""
    return "failed" if "failed" in seen else f"{'>' if seen['capped'] else ''}{seen['seconds'] / ours:.2f}x"


def ratios(lines: list[dict[str, Any]], peers: list[str], structure: bool = True) -> list[float]:
    """The fastest of the peers over us, for every line that has one of them, with or without their data structure."""
    found = []
    for line in lines:
        seen = [line["times"][peer] for peer in peers if peer in line["times"]]
        theirs = [
            one["seconds"] - (0.0 if structure else one.get("structure", 0.0))
            for one in seen
            if "failed" not in one  # a crash is no time at all
        ]
        if theirs:
            found.append(min(theirs) / line["times"][US]["seconds"])
    return found


def summary(lines: list[dict[str, Any]]) -> list[str]:
    """What the whole run says."""
    mean = comparison.geometric_mean
    said = []
    names = dict.fromkeys(line["set"] for line in lines)
    if ratios(lines, ["sklearn"]):
        dense = [line for line in lines if line["set"].startswith(DENSE) and line["C"] == 100.0]
        each = {name: mean(ratios([line for line in lines if line["set"] == name], ["sklearn"])) for name in names}
        worst = min(each, key=each.__getitem__)
        said += [
            f"against sklearn: {mean(ratios(lines, ['sklearn'])):.2f}x (geometric mean over sets, C and losses)",
            f"against sklearn, dense sets at C = 100: {mean(ratios(dense, ['sklearn'])):.2f}x",
            f"against sklearn, least set: {worst} {each[worst]:.2f}x",
            f"against sklearn, least line: {min(ratios(lines, ['sklearn'])):.2f}x",
        ]
    others = ["liblinear", "liblinear_multicore", "snapml"]
    for peer in others:
        if ratios(lines, [peer]):
            said.append(f"against {peer}: {mean(ratios(lines, [peer])):.2f}x")
    for structure, note in ((True, ""), (False, ", their data structure made before")):
        best = ratios(lines, others, structure)
        if best:
            said.append(f"against the best of these on each line{note}: {mean(best):.2f}x, least line {min(best):.2f}x")
    certified = sum(line["proof"]["gap"] <= CERTIFIED and not line["proof"]["warnings"] for line in lines)
    slowest = max(line["proof"]["seconds"] for line in lines)
    said.append(f"certified to {CERTIFIED:g} without a warning: {certified} of {len(lines)}; longest {slowest:.1f} s")
    return said


def markdown(lines: list[dict[str, Any]]) -> str:
    """The table of a run."""
    peers = list(dict.fromkeys(name for line in lines for name in line["times"] if name != US))
    table = [
        f"| set | loss | C | solver | passes | gap | s to 1e-6 certified | s to 1e-4 certified | {' | '.join(peers)} |",
        "|---" * (8 + len(peers)) + "|",
    ]
    for line in lines:
        proof, ours = line["proof"], line["times"][US]["seconds"]
        cells = []
        for peer in peers:
            seen = line["times"].get(peer)
            cells.append("" if seen is None else mark(seen, ours))
        table.append(
            f"| {line['set']} | {line['loss']} | {line['C']:g} | {proof['solver']} | {proof['passes']:.0f} "
            f"| {proof['gap']:.1e} | {proof['seconds']:.3f} | {ours:.4f} | {' | '.join(cells)} |"
        )
    return "\n".join([*table, "", *(f"- {said}" for said in summary(lines))]) + "\n"


def run(
    names: list[str], peers: list[str], folder: pathlib.Path | None, out: pathlib.Path, repeats: int, cap: float
) -> None:
    """Compare on every set, print as it goes, and write JSON and a Markdown table into ``out``."""
    lines: list[dict[str, Any]] = []
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        lines += compare(name, peers, folder, cap, repeats)
        (out / "linear.json").write_text(json.dumps({"cap": cap, "lines": lines}, indent=1))
        (out / "linear.md").write_text(markdown(lines))
    print("\n".join(summary(lines)))
    print(f"written: {out / 'linear.json'}, {out / 'linear.md'}")
