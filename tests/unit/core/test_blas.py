"""BLAS at one thread while anyone works, in every thread, and afterwards as it was."""

import os
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager, suppress

import numpy as np
import pytest
import threadpoolctl
from threadpoolctl import threadpool_info

from maxmargin import SVC, LinearSVC
from maxmargin.core import threads
from maxmargin.core.blas import blas_held
from tests.signals import PATIENCE

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="fork of POSIX")
BLAS = threadpoolctl.ThreadpoolController().select(user_api="blas")


def test_blas_is_held_while_anyone_works_and_then_restored():
    def blas():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = blas()
    with threads.blas_held():
        with threads.blas_held():
            assert set(blas()) == {1}
        assert set(blas()) == {1}
    assert blas() == before


def numbers():
    return [library.num_threads for library in BLAS.lib_controllers]


@pytest.fixture
def two_threads():
    """BLAS has two threads, also on one core. The main thread set them, so threadpoolctl obeys no other."""
    with BLAS.limit(limits=2):
        yield [2] * len(BLAS)


def in_thread(act):
    worker = threading.Thread(target=act)
    worker.start()
    worker.join(PATIENCE)
    assert not worker.is_alive()


@contextmanager
def held_by_another_thread():
    """Another thread holds BLAS; the function ends that."""
    begun, end = threading.Event(), threading.Event()

    def hold():
        with blas_held():
            begun.set()
            end.wait(PATIENCE)

    worker = threading.Thread(target=hold)

    def leave():
        end.set()
        worker.join()

    worker.start()
    begun.wait(PATIENCE)
    try:
        yield leave
    finally:
        leave()


def three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))  # more rows than a fit solves inline
    return X, np.digitize(X[:, 0] + rng.normal(size=1500), [-0.5, 0.5])


def test_any_thread_holds_blas(two_threads):
    seen = []

    def hold():
        with blas_held():
            seen.append(numbers())
        seen.append(numbers())

    hold()
    in_thread(hold)
    in_thread(hold)
    hold()
    assert seen == [[1] * len(BLAS), two_threads] * 4


def test_blas_is_held_until_the_last_one_leaves(two_threads):
    with held_by_another_thread() as leave:
        with blas_held():
            pass
        assert set(numbers()) == {1}
        leave()
        assert numbers() == two_threads
    with blas_held(), held_by_another_thread() as leave:
        leave()
        assert set(numbers()) == {1}
    assert numbers() == two_threads


@pytest.mark.large
@pytest.mark.parametrize("machine", [SVC, LinearSVC])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_in_four_threads_see_one_blas_thread(two_threads, machine, n_jobs):
    X, y = three_classes()
    seen, together = [], threading.Barrier(4)

    def fit():
        together.wait(PATIENCE)
        machine(n_jobs=n_jobs, callback=lambda progress: seen.extend(numbers())).fit(X, y)

    machine().fit(X, y)
    workers = [threading.Thread(target=fit) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(seen) == {1}
    assert numbers() == two_threads


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_blas_is_restored_after_an_exception(two_threads, error):
    def fail():
        with suppress(error), blas_held():
            raise error

    fail()
    assert numbers() == two_threads
    in_thread(fail)
    assert numbers() == two_threads


class FakeLibrary:
    """A number of threads for the process, or for every thread; Ctrl-C strikes when it is set, where wanted."""

    def __init__(self, place):
        self.place, self.interrupted = place, False
        self.place.number = 4

    def get_num_threads(self):
        return getattr(self.place, "number", 4)

    def set_num_threads(self, number):
        if self.interrupted:
            raise KeyboardInterrupt
        self.place.number = number


@pytest.fixture
def fake_libraries(monkeypatch):
    shared, own = FakeLibrary(type("Place", (), {})()), FakeLibrary(threading.local())
    monkeypatch.setattr("maxmargin.core.blas.find_libraries", lambda: ([shared], [own]))
    return shared, own


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("moment", ["taking", "leaving"])
def test_an_interrupt_while_numbers_are_set_does_not_lose_them(fake_libraries, place, moment):
    library = fake_libraries[place]
    library.interrupted = moment == "taking"
    with suppress(KeyboardInterrupt), blas_held():
        library.interrupted = True
    library.interrupted = False
    with blas_held():
        pass
    assert [library.get_num_threads() for library in fake_libraries] == [4, 4]


def test_numbers_that_belong_to_a_thread_are_held_in_every_worker(fake_libraries):
    _, own = fake_libraries
    together = threading.Barrier(2)

    def work(_):
        together.wait(PATIENCE)  # so that each of two threads has one item
        return own.get_num_threads()

    assert threads.thread_map(work, range(2), 2) == [1, 1]
    pool = threads._shared_pool()
    assert own.get_num_threads() == pool.submit(own.get_num_threads).result() == 4


def test_a_number_that_others_set_meanwhile_stays(fake_libraries):
    shared, _ = fake_libraries
    with blas_held():
        shared.set_num_threads(3)
    assert shared.get_num_threads() == 3


def exit_code_of_child(act):
    """What ``act`` returns in a forked child."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads are what this is about
        child = os.fork()
    if child == 0:
        code = 100
        try:
            code = act()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@needs_fork
def test_a_forked_child_gives_back_what_other_threads_held(two_threads):
    with held_by_another_thread():
        assert exit_code_of_child(lambda: numbers() != two_threads) == 0
        assert set(numbers()) == {1}
    assert numbers() == two_threads


@needs_fork
def test_a_forked_child_goes_on_holding(two_threads):
    def leave(hold):
        held = set(numbers()) == {1}
        hold.__exit__(None, None, None)
        return not (held and numbers() == two_threads)

    hold = blas_held()
    hold.__enter__()
    with held_by_another_thread():
        assert exit_code_of_child(lambda: leave(hold)) == 0
    hold.__exit__(None, None, None)
    assert numbers() == two_threads


FORKS = """
import os, threading, numpy as np, threadpoolctl, warnings
from maxmargin import SVC

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 60))
y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=2000), [-0.5, 0.5])
blas = threadpoolctl.ThreadpoolController().select(user_api="blas")
with blas.limit(limits=2):
    done = threading.Event()

    def fit():
        while not done.is_set():
            SVC(n_jobs=2).fit(X, y)

    workers = [threading.Thread(target=fit) for _ in range(2)]
    SVC(n_jobs=2).fit(X, y)
    for worker in workers:
        worker.start()
    codes = []
    for _ in range(40):
        child = os.fork()
        if child == 0:
            os._exit(any(library.num_threads != 2 for library in blas.lib_controllers))
        codes.append(os.waitpid(child, 0)[1])
    done.set()
    for worker in workers:
        worker.join()
    print(set(codes), {library.num_threads for library in blas.lib_controllers})
"""


@pytest.mark.large
@needs_fork
def test_forks_while_threads_fit():
    """A fork shuts the threads of OpenBLAS down and froze where they were at work."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, check=True, timeout=5 * PATIENCE
    )
    assert done.stdout == "{0} {2}\n"
