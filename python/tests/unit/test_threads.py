"""Several threads, and forked processes."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import FOR_EVER, in_child

import hedgerow


def run_all(*jobs: Callable[[], None]) -> None:
    """Runs every job in a thread of its own and raises what one of them raised."""
    failures: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(FOR_EVER)
        assert not thread.is_alive(), "a thread does not end"
    if failures:
        raise failures[0]


def test_writers_count_together(db: hedgerow.Database) -> None:
    writers, times = 4, 50

    def add_one(tx: hedgerow.Transaction) -> None:
        # Each transaction depends on all before it: lost updates would leave fewer edges.
        degree = tx.degree(0) if tx.has_vertex(0) else 0
        assert tx.insert_edge(0, degree + 1)

    def write() -> None:
        for _ in range(times):
            db.transact(add_one, retries=10_000)

    run_all(*[write] * writers)
    assert db.snapshot().neighbors(0) == list(range(1, writers * times + 1))
    assert db.check().ok


def test_readers_see_whole_transactions(db: hedgerow.Database) -> None:
    done = threading.Event()

    def write() -> None:
        try:
            for at in range(300):
                with db.write() as tx:
                    tx.put_edge(at, 1_000_000)
                    tx.put_edge(1_000_000, at)
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            with db.snapshot() as g:
                if g.vertex_count:
                    assert g.degree(1_000_000) == g.degree(1_000_000, "in") == g.edge_count // 2
                    assert set(g.wcc().values.tolist()) <= set(g.vertices().tolist())

    run_all(write, read, read)


def test_one_transaction_in_two_threads(db: hedgerow.Database) -> None:
    ids = np.arange(400_000)
    refused: list[str] = []
    deadline = time.monotonic() + FOR_EVER
    # Once is enough, unless this thread is kept from running while the other one adds.
    while not refused and time.monotonic() < deadline:
        tx = db.write()
        adding = threading.Thread(target=tx.add_edges, args=(ids, ids))
        adding.start()
        while adding.is_alive() and not refused:
            try:
                tx.has_vertex(1)
            except hedgerow.ProgrammingError as error:
                refused.append(str(error))
        adding.join()
        # The thread that had it first is not disturbed, and afterwards any thread may use it.
        assert tx.has_edge(5, 5)
        tx.rollback()
    assert refused == ["the transaction is in use by another thread"]


# The kernel would run for days. The main thread runs beside it, again and again until the kernel had a processor for a while, or the
# program hangs.
LONG_CALL = """
import os, threading, time
import numpy as np
import hedgerow

db, rng = hedgerow.open(), np.random.default_rng(1)
db.add_edges(rng.integers(0, 50_000, 500_000), rng.integers(0, 50_000, 500_000))
g, ticks, before = db.snapshot(), 0, time.process_time()
threading.Thread(target=lambda: g.pagerank(iterations=2**32 - 1), daemon=True).start()
while ticks < 20 or time.process_time() - before < 0.2:
    time.sleep(0.001)
    ticks += 1
print("ticked", flush=True)
os._exit(0)
"""


def test_long_calls_release_the_interpreter() -> None:
    command = [sys.executable, "-I", "-c", LONG_CALL]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert (ended.returncode, ended.stdout) == (0, "ticked\n"), ended.stderr


def test_close_while_others_work(store: Path) -> None:
    db = hedgerow.open(store, durability="manual")
    started = threading.Barrier(4)

    def write() -> None:
        started.wait()
        at = 0
        try:
            while True:
                db.insert_edge(at, at + 1)
                at += 1
        except hedgerow.ClosedError:
            pass

    def read() -> None:
        started.wait()
        try:
            while True:
                with db.snapshot() as g:
                    assert g.edge_count <= g.vertex_count
        except hedgerow.ClosedError:
            pass

    def close() -> None:
        started.wait()
        time.sleep(0.05)
        db.close()

    run_all(write, write, read, close)
    with hedgerow.open(store) as again:
        assert again.published_ts == db.published_ts
        assert again.check().ok


def test_a_forked_child_cannot_use_a_store_with_files(store: Path) -> None:
    db = hedgerow.open(store)
    db.insert_edge(1, 2)
    tx, g = db.write(), db.snapshot()
    tx.put_edge(2, 3)
    g.wcc()

    def body() -> None:
        calls = [
            db.write,
            db.snapshot,
            db.close,
            db.flush,
            db.stats,
            db.check,
            db.checkpoint,
            lambda: db.insert_edge(5, 6),
            lambda: db.add_edges([1], [2]),
            lambda: db.transact(lambda tx: None),
            lambda: tx.put_edge(1, 2),
            tx.commit,
            tx.rollback,
            lambda: g.timestamp,
            lambda: g.has_edge(1, 2),
            lambda: g.neighbors(1),
            g.wcc,
            g.edges,
        ]
        for call in calls:
            with pytest.raises(hedgerow.ForkedError):
                call()
        # Leaving a block, or the collection of what the parent still has, touches nothing.
        db.__exit__(None, None, None)
        tx.__exit__(KeyError, KeyError(), None)
        g.__exit__(None, None, None)
        with pytest.raises(hedgerow.LockedError):
            hedgerow.open(store)

    assert in_child(body) == 0
    # The parent still holds the directory and goes on.
    with pytest.raises(hedgerow.LockedError):
        hedgerow.open(store)
    tx.commit()
    db.close()
    with hedgerow.open(store) as again:
        assert again.snapshot().edge_count == 2


def test_a_forked_child_drops_everything(store: Path) -> None:
    things = [hedgerow.open(store)]
    things[0].insert_edge(1, 2)
    things += [things[0].write(), things[0].snapshot()]
    assert in_child(things.clear) == 0
    with pytest.raises(hedgerow.LockedError):
        hedgerow.open(store)
    assert things[0].insert_edge(2, 3)


def test_a_forked_child_cannot_use_a_store_without_files(db: hedgerow.Database) -> None:
    db.insert_edge(1, 2)
    g = db.snapshot()
    g.wcc()

    def body() -> None:
        for call in (lambda: g.neighbors(1), lambda: g.bfs(1), lambda: db.insert_edge(2, 3), db.snapshot, db.check, db.close):
            with pytest.raises(hedgerow.ForkedError):
                call()
        # The child makes its own.
        with hedgerow.open() as own:
            own.insert_edge(2, 3)
            assert own.snapshot().wcc().counts() == {2: 2}

    assert in_child(body) == 0
    assert db.snapshot().edge_count == 1


def test_a_child_opens_its_own(store: Path, db: hedgerow.Database) -> None:
    with hedgerow.open(store) as own:
        own.add_edges(range(1000), range(1, 1001))
        own.checkpoint()
    db.insert_edge(1, 2)
    db.snapshot().wcc()

    def body() -> None:
        with hedgerow.open(store) as own:
            assert len(own.snapshot().wcc().counts()) == 1
            own.insert_edge(5, 3)

    assert in_child(body) == 0
    with hedgerow.open(store) as own:
        assert own.snapshot().edge_count == 1001
