"""``python -m benchmarks WHAT``: measure and print.

kernel      us and the peers on the same data: times, ratios, dual values, gaps, support vectors, memory
family      SVR, NuSVC, OneClassSVM and KernelPCA against the peers: first fits in fresh processes
calibration probabilities against CalibratedClassifierCV of scikit-learn's SVC: log-loss and time
linear      linear machines: certificates, and time to a suboptimality of 1e-4, ours and the peers'
multiclass  joint machines and reductions: certificates, and time against scikit-learn
online      online learners: time and rows to the exact machine's accuracy
bayes       naive Bayes: time to fit and predict against scikit-learn, and differences of log probabilities
scaling     time against the number of rows, with exponents and a plot
memory, linear_memory
            growth of resident memory within two budgets; beside X for linear machines
signatures  for how many combinations of types each loop is compiled on this disk
composed, limits, interrupts, small, startup
"""

import argparse
import pathlib
import warnings

from benchmarks import (
    bayes,
    behaviour,
    calibration,
    comparison,
    family,
    linear,
    linear_worker,
    memory,
    multiclass,
    online,
    scaling,
    sets,
)
from benchmarks.worker import PEERS

KERNEL_PEERS = ["maxmargin", "sklearn", "sklearnex"]
BEHAVIOUR = {
    f.__name__: f
    for f in (
        behaviour.composed,
        behaviour.limits,
        behaviour.interrupts,
        behaviour.small,
        behaviour.startup,
        behaviour.signatures,
    )
}


def main() -> None:
    """Run what was asked for; without a name the comparison with the peers and the scaling."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", nargs="*", default=["kernel", "scaling"], help="what to measure: kernel and scaling if omitted"
    )
    parser.add_argument("--data", help=f"folder of .npz files (or the variable {sets.FOLDER_VARIABLE})")
    parser.add_argument(
        "--sets", nargs="+", help="names of data sets; 'held_out' stands for those no constant was chosen on"
    )
    every = dict.fromkeys([*PEERS, *linear_worker.PEERS])
    parser.add_argument("--peers", nargs="+", choices=list(every), help="all that are installed if omitted")
    parser.add_argument("--cap", type=float, default=600.0, help="seconds after which a linear peer's run is ended")
    parser.add_argument("--repeats", type=int, default=comparison.REPEATS)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = sets.folder_of(given.data)
    for what in given.what:
        print(f"\n== {what}")
        if what == "kernel":
            chosen = given.sets or sets.names(folder)
            names = [name for item in chosen for name in (sets.HELD_OUT if item == "held_out" else (item,))]
            comparison.run(names, given.peers or KERNEL_PEERS, folder, given.out, given.repeats)
        elif what == "family":
            family.run(given.sets, given.peers or family.PEERS, folder, given.out, given.repeats)
        elif what == "calibration":
            calibration.run(given.sets, folder, given.out, given.repeats)
        elif what == "linear":
            chosen = given.sets or sets.linear_names(folder)
            peers = given.peers or list(linear_worker.PEERS)
            linear.run(chosen, peers, folder, given.out, given.repeats, given.cap)
        elif what == "multiclass":
            multiclass.run(given.sets, folder, given.out, given.repeats, given.cap)
        elif what == "scaling":
            scaling.run(given.peers or KERNEL_PEERS, given.out, given.repeats)
        elif what == "online":
            online.run(folder, given.sets)
        elif what == "bayes":
            bayes.run(folder, given.repeats)
        elif what == "linear_memory":
            online.memory(folder)
        elif what == "memory":
            memory.run(folder, given.sets or (["a9a"] if folder else ["generated20k"]))
        elif what in BEHAVIOUR:
            BEHAVIOUR[what]()
        else:
            parser.error(
                f"nothing is called {what}: choose kernel, family, calibration, linear, multiclass, online, bayes, "
                + ", ".join(["linear_memory", "scaling", "memory", *BEHAVIOUR])
            )


if __name__ == "__main__":
    main()
