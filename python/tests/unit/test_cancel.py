"""Signals during kernels: Ctrl-C ends them, other handlers run, and a child that a handler forks does not hang.

Each program runs in a process of its own, which is killed if it hangs: the kernels in it would run for days.
"""

import subprocess
import sys

import pytest
from support import FOR_EVER

# All that is imported: what a program may not read as another user it would miss.
IMPORTS = """
import os, resource, signal, sys, threading, time
import numpy as np, numpy.ma, numpy.random
import hedgerow, hedgerow._columns, hedgerow._result

FOREVER = 2**32 - 1
# A shell starts what runs in its background with Ctrl-C ignored, and Python then leaves it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

DATA = """
r = np.random.default_rng(1)
db = hedgerow.open(directed=False, weighted=True)
db.add_edges(r.integers(0, 5000, 50_000), r.integers(0, 5000, 50_000), r.random(50_000))
g = db.snapshot()

def soon(number=signal.SIGINT):
    # By then the main thread is in the kernel, or at least where what a handler raises is caught: it may be kept from running.
    def send():
        time.sleep(0.05)
        os.kill(os.getpid(), number)
    threading.Thread(target=send, daemon=True).start()
"""

INTERRUPTED = """
try:
    soon()
    g.pagerank(iterations=FOREVER)
except KeyboardInterrupt:
    print("interrupted")
# Nothing is left of it: the next kernel runs, and the store is free.
assert g.pagerank(iterations=2).values.sum() > 0.99
g.close(), db.close()
"""

QUEUED = """
# The only thread of the pool is in a kernel of another thread.
busy = threading.Thread(target=lambda: g.pagerank(iterations=FOREVER), daemon=True)
busy.start()
time.sleep(0.05)
try:
    soon()
    g.pagerank(iterations=FOREVER)
except KeyboardInterrupt:
    print("interrupted", flush=True)
os._exit(0)
"""

GOES_ON = """
expected = g.pagerank(iterations=1000).values
seen, during = [], 0
signal.signal(signal.SIGALRM, lambda *_: seen.append(db.snapshot().edge_count))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
# A handler that waits for the end of the kernel runs once or twice.
while during < 5:
    before = len(seen)
    assert (g.pagerank(iterations=1000).values == expected).all()
    during = len(seen) - before
signal.setitimer(signal.ITIMER_REAL, 0)
print("went on")
"""

RAISES = """
class Enough(Exception):
    pass

def enough(*_):
    raise Enough
signal.signal(signal.SIGALRM, enough)
try:
    soon(signal.SIGALRM)
    g.pagerank(iterations=FOREVER)
except Enough:
    print("enough")
"""

FORKS = """
parent, children = os.getpid(), []

def fork(*_):
    child = os.fork()
    if child:
        children.append(child)
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, fork)
try:
    soon(signal.SIGALRM)
    g.pagerank(iterations=FOREVER)
except hedgerow.ForkedError:
    assert os.getpid() != parent
    with hedgerow.open() as own:
        own.insert_edge(1, 2)
        os._exit(0 if own.snapshot().wcc().counts() == {1: 2} else 1)
except KeyboardInterrupt:
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    print("forked")
"""

IN_A_THREAD = """
# The main thread gets the signal; the kernel is another thread's, and goes on.
results = []
thread = threading.Thread(target=lambda: results.append(g.pagerank(iterations=500)))
thread.start()
try:
    soon()
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    thread.join()
    print("finished" if len(results) == 1 else "lost")
"""


# No thread can be started, which the superuser can: the polls of the kernel look for signals.
LIMIT = """
if os.getuid() == 0:
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
try:
    threading.Thread(target=int).start()
    print("skipped")
    sys.exit()
except RuntimeError:
    pass
"""

ALONE = """
class Enough(Exception):
    pass

def enough(*_):
    raise Enough
signal.signal(signal.SIGALRM, enough)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    g.pagerank(iterations=FOREVER)
except Enough:
    print("enough")
"""


def run(program: str, **environment: str) -> str:
    command = [sys.executable, "-I", "-W", "ignore", "-c", IMPORTS + program]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.parametrize(
    ("program", "said", "threads"),
    [
        (INTERRUPTED, "interrupted", "3"),
        (QUEUED, "interrupted", "1"),
        (GOES_ON, "went on", "2"),
        (RAISES, "enough", "1"),
        (FORKS, "forked", "3"),
        (IN_A_THREAD, "finished", "2"),
    ],
)
def test_signals_during_a_kernel(program: str, said: str, threads: str) -> None:
    assert run(DATA + program, RAYON_NUM_THREADS=threads) == said


def test_a_signal_where_no_thread_can_be_started() -> None:
    said = run(LIMIT + DATA + ALONE)
    if said == "skipped":
        pytest.skip("threads can be started all the same")
    assert said == "enough"
