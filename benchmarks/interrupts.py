"""Ctrl-C at random moments of a fit: prints one line per moment. Run in a process of its own by ``behaviour``."""

import os
import signal
import sys
import threading
import time
import warnings

import numpy as np

from maxmargin import SVC


def main(n: int, moments: int, interrupt: str) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background inherits that it is ignored
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)).astype(np.float32)
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.5).astype(int)
    machine = SVC(gamma=0.03, interrupt=interrupt)
    machine.fit(X, y)  # compiles, and touches memory for the first time
    whole = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        machine.fit(X, y)
        whole = min(whole, time.perf_counter() - begun)
    print("whole", round(whole, 3), flush=True)
    for moment in range(moments):
        delay = rng.uniform(0.02, 0.8) * whole
        sent = []

        def send(sent=sent):
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(delay, send)
        outcome = "finished"
        try:
            timer.start()
            machine.fit(X, y)
            outcome = machine.status_.name if sent else "finished"
            usable = machine.predict(X[:10]).shape == (10,)
            timer.cancel()
            timer.join()  # no signal can come after this
        except KeyboardInterrupt:
            outcome, usable = "raised", True
        late = time.perf_counter() - sent[0] if sent else 0.0
        print(moment, round(delay, 3), outcome, usable, round(late, 3), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
