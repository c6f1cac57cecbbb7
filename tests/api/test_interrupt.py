"""Ctrl-C during a fit of 50,000 rows. Latencies are printed, not asserted: see ``python -m benchmarks interrupts``."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("interrupt_script.py")


@pytest.mark.slow
@pytest.mark.parametrize(("interrupt", "outcome"), [("raise", "raised"), ("keep", "INTERRUPTED")])
def test_interrupts_at_random_moments(interrupt, outcome):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "50000", "10", interrupt], capture_output=True, text=True, check=True
    )
    _, *lines = done.stdout.splitlines()
    print(done.stdout)
    outcomes = [line.split()[2] for line in lines]
    assert len(outcomes) == 10
    assert set(outcomes) <= {outcome, "finished"}  # the machine is noisy: a fit may end before its signal comes
    assert outcomes.count(outcome) >= 5
    assert all(line.split()[3] == "True" for line in lines)
