"""One first fit with probabilities, in this process; what it took and how good it is goes to standard output as JSON.

python -m benchmarks.calibration_worker PEER PARAMETERS CASE.npz
"""

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import log_loss


def make(peer: str, parameters: dict[str, float], folds: np.ndarray) -> Any:
    """The classifier of a peer, with the folds to learn from."""
    cv = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in np.unique(folds)]
    if peer == "maxmargin":
        from maxmargin import SVC

        return SVC(**parameters, probability=True, cv=cv)
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC as PeerSVC

    return CalibratedClassifierCV(PeerSVC(**parameters, cache_size=2000), cv=cv, ensemble=peer == "ensemble")


def main() -> None:
    """Fit, predict, judge."""
    warnings.simplefilter("ignore")
    peer, given, path = sys.argv[1:4]
    with np.load(path, allow_pickle=False) as z:
        case = {name: z[name] for name in z.files}
    model = make(peer, json.loads(given), case["folds"])
    begun = time.perf_counter()
    model.fit(case["X"], case["y"])
    fitted = time.perf_counter()
    P = model.predict_proba(case["X_test"])
    ended = time.perf_counter()
    error = float(np.mean(model.classes_[P.argmax(axis=1)] != case["y_test"]))
    loss = float(log_loss(case["y_test"], P, labels=model.classes_))
    print(json.dumps({"fit": fitted - begun, "predict": ended - fitted, "loss": loss, "error": error}))


if __name__ == "__main__":
    main()
