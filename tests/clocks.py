"""A clock that the tests set, so that none waits for time to pass or races it."""

import itertools

from maxmargin.core import limits

LOOK = 1e-4  # seconds


def every_look_takes_time(monkeypatch, seconds=LOOK):
    """The clock of all deadlines goes on by ``seconds`` whenever it is looked at, and at no other time."""
    looks = itertools.count()
    monkeypatch.setattr(limits, "now", lambda: next(looks) * seconds)
