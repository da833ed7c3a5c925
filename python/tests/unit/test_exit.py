"""Interpreters that end while daemon threads are inside the package: none may abort or hang.

HEDGEROW_EXITS says how many interpreters end; the deep form has 2,000.
"""

import collections
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import FOR_EVER

EXITS = int(os.environ.get("HEDGEROW_EXITS", "48"))
AT_ONCE = 4

# Ends at a moment of its own while four threads are in calls that run kernels, wait for commits and make Python objects.
PROGRAM = """
import sys, threading, time
import numpy as np
import hedgerow

at, kind = int(sys.argv[1]), sys.argv[2]
db = hedgerow.open(keys="u64")
rng = np.random.default_rng(at)
ids = rng.integers(0, 2000, 8000)
db.add_edges(ids[:4000], ids[4000:], label="k", properties={"t": ids[4000:], "s": ["x"] * 4000})
db.add_edges(ids[:4000], ids[4000:])
g = db.snapshot()

def kernels():
    g.pagerank(iterations=3, label=""), g.bfs(int(ids[0]), label="k"), g.wcc(label="").counts()

def tables():
    g.edge_table("k"), db.snapshot().edges(), db.stats(), db.schema(), g.neighbors(int(ids[0]), labels=True)

def writers():
    db.add_edges([1, 2], np.array([3, 4]), label="k", properties={"s": ["a", None], "t": np.ma.array([1, 2], mask=[0, 1])})
    db.transact(lambda tx: tx.put_edge(5, 6, label="k", properties={"t": np.int64(1)}))
    with db.pipeline() as p:
        p.insert_edges([1, 2], [3, 4])

def callbacks():
    # The function and the iterator block for as long as the interpreter lives.
    db.transact(lambda tx: (tx.put_edge(1, 2), time.sleep(0.001), [i * i for i in range(2000)]))

calls = {"kernels": [kernels], "tables": [tables], "writers": [writers], "mixed": [kernels, tables, writers, callbacks]}[kind]

def work(i):
    while True:
        calls[i % len(calls)]()

for i in range(4):
    threading.Thread(target=work, args=(i,), daemon=True).start()
time.sleep(at * 7 % 40 / 1000)
"""


def run(at: int, program: str, *arguments: str) -> tuple[int | str, str]:
    command = [sys.executable, "-I", "-c", program, str(at), *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    except subprocess.TimeoutExpired:
        return "hangs", ""
    return ended.returncode, ended.stderr[-500:]


@pytest.mark.parametrize("kind", ["kernels", "tables", "writers", "mixed"])
def test_interpreters_end_beside_busy_threads(kind: str) -> None:
    with ThreadPoolExecutor(AT_ONCE) as executor:
        ends = list(executor.map(lambda at: run(at, PROGRAM, kind), range(EXITS // 4)))
    assert collections.Counter(ends) == {(0, ""): EXITS // 4}


HOOKS = """
import atexit
# Registered before the package, so it runs after the package's own hook.
atexit.register(lambda: last())
import os, threading, time
import hedgerow

# Registered after it, so it runs before. The package's hook waits at most 10 seconds for threads in Python code that the package
# called; here one is done with that in a moment. A busy machine takes no 9 seconds more.
begun = []
atexit.register(lambda: begun.append(time.monotonic()))

def last():
    assert time.monotonic() - begun[0] < 9, "the hook waits for threads that it should not wait for"
    try:
        print(db.insert_edge(3, 4), db.snapshot().edges().src.tolist(), db.close())
    except hedgerow.ForkedError:
        print("forked")

db = hedgerow.open()
db.insert_edge(1, 2)

def blocked(tx):
    tx.put_edge(8, 9)
    time.sleep(1000)

def slow():
    yield 1
    time.sleep(0.3)
    yield 2

threading.Thread(target=db.transact, args=(blocked,), daemon=True).start()
threading.Thread(target=db.add_edges, args=(slow(), [5, 6]), daemon=True).start()
time.sleep(0.1)
if os.fork() == 0:
    # The child does not have these threads, and must not wait for them.
    raise SystemExit(7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
"""


def test_hooks_of_the_ending_thread_use_the_store() -> None:
    # Warnings of a fork beside threads would be in the way.
    command = [sys.executable, "-I", "-W", "ignore", "-c", HOOKS]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    # The child's line, then the parent's; what the iterator gave is there or not.
    assert ended.stdout.splitlines() in (["forked", "True [1, 3] None"], ["forked", "True [1, 1, 2, 3] None"])
