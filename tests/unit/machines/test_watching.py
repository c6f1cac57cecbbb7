"""Time shares, and the one watcher that tells everyone of every step."""

from contextlib import contextmanager

import numpy as np
import pytest

from maxmargin.core import limits
from maxmargin.machines import Caller, Machine, Observer, Printer
from maxmargin.machines.watching import TimeShares, observed, watcher
from maxmargin.problems.solution import Point, Progress

SEEN = Progress(3, 0.5, 0.25, -1.0)
MACHINE = Machine(None, np.zeros(1), np.ones((1, 2)))


@pytest.fixture
def clock(monkeypatch):
    time = [100.0]
    monkeypatch.setattr(limits, "now", lambda: time[0])
    return time


def test_without_a_limit_shares_have_no_end():
    assert TimeShares(None, [5, 5], 2).take(5) is None


def test_shares_go_by_the_square_of_the_rows(clock):
    shares = TimeShares(10.0, [10, 20, 20], workers=1)
    assert shares.take(10) == pytest.approx(10.0 * 1 / 9)
    clock[0] += 1.0  # less than its share: the others have more
    assert shares.take(20) == pytest.approx(9.0 * 4 / 8)
    clock[0] += 6.0  # more than its share: the last one has what is left
    assert shares.take(20) == pytest.approx(3.0)


def test_workers_share_the_clock(clock):
    shares = TimeShares(10.0, [10] * 4, workers=2)
    assert shares.take(10) == pytest.approx(5.0)
    assert shares.take(10) == pytest.approx(10.0 * 2 / 3)
    assert TimeShares(10.0, [10], workers=8).take(10) == pytest.approx(10.0)


def test_nothing_is_left_after_the_end(clock):
    shares = TimeShares(1.0, [10, 10], workers=1)
    clock[0] += 5.0
    assert shares.take(10) == 0.0


class Recorder(Observer):
    def __init__(self, answer=False):
        self.answer, self.heard = answer, []

    @contextmanager
    def solving(self, job):
        self.heard.append(("begin", job))
        yield
        self.heard.append(("end", job))

    def step(self, job, seen, machine):
        self.heard.append((job, seen, machine()))
        return self.answer


def test_everyone_hears_of_a_step_even_after_one_asked_to_stop():
    stops, listens = Recorder(True), Recorder()
    read = []
    watch = watcher([stops, listens], 7, lambda point: read.append(point) or MACHINE)
    assert watch(SEEN, lambda: Point(beta=1.0)) is True
    assert stops.heard == listens.heard == [(7, SEEN, MACHINE)]
    assert [point.beta for point in read] == [1.0, 1.0]
    assert watcher([listens], 7, lambda point: MACHINE)(SEEN, Point) is False
    assert watcher([], 0, lambda point: MACHINE) is None


def test_a_machine_is_made_only_for_those_who_look_at_it():
    def never(point):
        raise AssertionError

    assert watcher([Observer(), Caller(lambda seen: None)], 0, never)(SEEN, Point) is False


def test_everyone_hears_of_the_begin_and_the_end_of_a_job():
    both = Recorder(), Recorder()
    with observed([*both, Observer()], 2):
        assert both[1].heard == [("begin", 2)]
    assert both[0].heard == both[1].heard == [("begin", 2), ("end", 2)]


def test_a_function_is_called_with_progress_and_may_stop():
    seen = []
    assert watcher([Caller(seen.append)], 0, lambda point: MACHINE)(SEEN, Point) is False
    assert seen == [SEEN]
    assert watcher([Caller(lambda progress: True)], 0, lambda point: MACHINE)(SEEN, Point) is True


def test_printed_lines_name_the_job(capsys):
    watch = [watcher([Printer(["", "pair 2/3"])], job, lambda point: MACHINE) for job in (0, 1)]
    for each in watch:
        assert each(SEEN, Point) is False
    plain, named = capsys.readouterr().out.splitlines()
    assert plain.split() == ["[maxmargin]", "0.50", "s", "iteration", "3", "violation", "0.25", "objective", "-1"]
    assert named.split()[1:4] == ["pair", "2/3", "0.50"]
