"""Time against the number of rows, with the exponent of a power law through the points."""

import json
import pathlib

import numpy as np

from benchmarks import comparison, sets

SIZES = (2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000)
FEATURES, C, GAMMA = 20, 1.0, 0.03
TEST_ROWS = 1000


def run(peers: list[str], out: pathlib.Path, repeats: int, sizes: tuple[int, ...] = SIZES) -> None:
    """Fit generated data of growing size; print times and exponents; write JSON and a plot into ``out``."""
    times: dict[str, list[float]] = {}
    for n in sizes:
        X, y = sets.generated(n, FEATURES)
        case = sets.Case(f"generated{n}", X, y, X[:TEST_ROWS], C, GAMMA)
        for peer, seen in comparison.compare(case, peers, repeats).items():
            times.setdefault(peer, []).append(seen["first_fit"])
        print(f"n = {n:>6}  " + "  ".join(f"{peer} {seconds[-1]:.3f} s" for peer, seconds in times.items()), flush=True)
    exponents = {peer: exponent(sizes, seconds) for peer, seconds in times.items()}
    for peer, power in exponents.items():
        print(f"{peer}: time ~ n^{power:.2f}")
    out.mkdir(parents=True, exist_ok=True)
    (out / "scaling.json").write_text(json.dumps({"n": sizes, "seconds": times, "exponents": exponents}, indent=1))
    plot(sizes, times, exponents, out / "scaling.png")
    print(f"written: {out / 'scaling.json'}, {out / 'scaling.png'}")


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Slope of log(time) over log(n), by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def plot(sizes: tuple[int, ...], times: dict[str, list[float]], exponents: dict[str, float], path) -> None:
    """One line per peer, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for peer, seconds in times.items():
        axes.loglog(sizes, seconds, "o-", label=f"{peer}: n^{exponents[peer]:.2f}")
    axes.set(xlabel="rows", ylabel="fit, seconds", title=f"RBF machine, {FEATURES} features, C = {C:g}, tol = 1e-3")
    axes.set_xticks(sizes, [f"{n // 1000}k" for n in sizes])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
