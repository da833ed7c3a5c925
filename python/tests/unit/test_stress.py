"""Python's own ways to disturb a store: forks beside busy threads, interrupts inside calls, any order of closing and
collecting, second openings, and closing under every call."""

import gc
import itertools
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
from support import FOR_EVER, in_child, wait_until

import hedgerow

DURABILITIES = ["sync", "manual", ("group", 0.005)]

# Interrupts -----------------------------------------------------------------------------------------------------------

# Runs in a process of its own. SIGINT comes at any moment of the calls; each call is a transaction that moves a counter.
INTERRUPTED = """
import os, random, signal, sys, threading, time
import hedgerow

# A shell that starts the tests in the background has interrupts ignored, in its children too.
signal.signal(signal.SIGINT, signal.default_int_handler)
path, call, durability, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
db = hedgerow.open(path, durability=durability)
rng = random.Random(7)
at = acknowledged = interrupts = 0


def commit(n):
    tx = db.write()
    tx.put_edge(n, n + 1)
    tx.put_edge(n + 1, n)
    tx.commit()


def block(n):
    with db.write() as tx:
        tx.put_edge(n, n + 1)
        tx.put_edge(n + 1, n)


def body(tx, n):
    tx.put_edge(n, n + 1)
    tx.put_edge(n + 1, n)


def submit(n):
    tx = db.write()
    body(tx, n)
    tx.submit().wait()


calls = {
    "commit": commit,
    "block": block,
    "transact": lambda n: db.transact(lambda tx: body(tx, n)),
    "bulk": lambda n: db.add_edges([n, n + 1] * 50, [n + 1, n] * 50),
    "submit": submit,
    "checkpoint": lambda n: (commit(n), db.checkpoint()),
}
run = calls[call]


def interrupt(after):
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGINT)


while interrupts < rounds:
    thread = threading.Thread(target=interrupt, args=(rng.random() * 0.004,))
    try:
        thread.start()
        while True:
            # Each number once: what an interrupted call did with its number is known at the next opening.
            n, at = at, at + 2
            run(n)
            acknowledged += 1
    except KeyboardInterrupt:
        interrupts += 1
    thread.join()
    # The store is usable at once, whatever was interrupted.
    g = db.snapshot()
    assert g.edge_count == g.vertex_count, (g.edge_count, g.vertex_count)
    assert acknowledged * 2 <= g.edge_count <= (acknowledged + interrupts) * 2
assert db.check().ok
db.close()
print(acknowledged, interrupts, at)
"""


@pytest.mark.parametrize("durability", ["sync", "manual"])
@pytest.mark.parametrize("call", ["commit", "block", "transact", "bulk", "submit", "checkpoint"])
def test_interrupts_inside_a_call(store: Path, call: str, durability: str) -> None:
    rounds = 25
    command = [sys.executable, "-c", INTERRUPTED, str(store), call, durability, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert done.returncode == 0, done.stderr
    acknowledged, interrupts, _ = map(int, done.stdout.split())
    assert interrupts == rounds
    with hedgerow.open(store) as db:
        g = db.snapshot()
        # Each transaction wholly or not at all: both directions of its edge.
        edges = g.edges()
        pairs = set(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
        assert all((dst, src) in pairs for src, dst in pairs)
        assert acknowledged <= len(pairs) // 2 <= acknowledged + interrupts
        assert db.check().ok


def test_an_interrupt_before_the_commit_rolls_back(db: hedgerow.Database) -> None:
    with pytest.raises(KeyboardInterrupt):
        with db.write() as tx:
            tx.put_edge(1, 2)
            raise KeyboardInterrupt
    assert not tx.active
    assert db.snapshot().edge_count == 0

    def body(tx: hedgerow.Transaction) -> None:
        tx.put_edge(1, 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.transact(body)
    assert db.snapshot().edge_count == 0


# Forks ----------------------------------------------------------------------------------------------------------------


def busy(db: hedgerow.Database, stop: threading.Event) -> list[threading.Thread]:
    """Threads that write, read and make checkpoints until told to stop."""

    def write(first: int) -> None:
        at = first
        while not stop.is_set():
            with db.write() as tx:
                tx.put_edge(at, at + 1)
                tx.put_edge(at + 1, at)
            at += 2

    def read() -> None:
        while not stop.is_set():
            g = db.snapshot()
            assert g.edge_count == g.vertex_count

    def keep_house() -> None:
        while not stop.is_set():
            if db.path is not None:
                db.checkpoint()
            db.settle()

    jobs = [lambda: write(0), lambda: write(10_000_000), read, keep_house]
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    # Whatever else runs on the machine: nothing is done beside them before they have begun.
    wait_until("a commit", lambda: db.published_ts > 0)
    return threads


@pytest.mark.parametrize("durability", DURABILITIES)
def test_forks_beside_busy_threads(store: Path, durability: object) -> None:
    db = hedgerow.open(store, durability=durability)
    stop = threading.Event()
    threads = busy(db, stop)

    def child() -> None:
        # A latch or lock may be held by a thread that the child does not have: every call must say so, none may hang.
        for call in (db.snapshot, db.write, db.flush, db.checkpoint, db.stats, lambda: db.insert_edge(1, 2)):
            with pytest.raises(hedgerow.ForkedError):
                call()

    for _ in range(8):
        time.sleep(0.01)
        assert in_child(child) == 0
    stop.set()
    for thread in threads:
        thread.join(FOR_EVER)
        assert not thread.is_alive()
    count = db.snapshot().edge_count
    assert count > 0 and db.check().ok
    db.close()
    with hedgerow.open(store) as again:
        assert again.snapshot().edge_count == count


def test_children_that_end_beside_busy_threads(store: Path) -> None:
    db = hedgerow.open(store, durability="manual")
    # More than there are slots for: some are in the table of those that stay, behind a lock.
    held: list[object] = [db.write(), *(db.snapshot() for _ in range(100))]
    stop = threading.Event()
    threads = busy(db, stop)
    for _ in range(8):
        time.sleep(0.005)
        # What the child collects is the parent's.
        assert in_child(held.clear) == 0
    stop.set()
    for thread in threads:
        thread.join(FOR_EVER)
    assert len(held) == 101 and db.check().ok


def pool_job(n: int) -> str:
    try:
        POOL_STORE[0].insert_edge(n, n)
    except hedgerow.ForkedError:
        return "forked"
    return "written"


POOL_STORE: list[hedgerow.Database] = []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_workers_of_a_pool(store: Path) -> None:
    with hedgerow.open(store) as db:
        POOL_STORE[:] = [db]
        try:
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert set(pool.map(pool_job, range(8))) == {"forked"}
        finally:
            POOL_STORE.clear()
        assert db.snapshot().edge_count == 0


def test_a_grandchild_opens_the_store_once_the_parent_closed_it(store: Path) -> None:
    db = hedgerow.open(store)
    db.insert_edge(1, 2)

    def child() -> None:
        def grandchild() -> None:
            with hedgerow.open(store) as own:
                assert own.snapshot().has_edge(1, 2)

        assert in_child(grandchild) == 0

    db.close()
    assert in_child(child) == 0


# Orders ---------------------------------------------------------------------------------------------------------------

ORDERS = list(itertools.permutations(range(4)))


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_every_order_of_collection(store: Path, order: tuple[int, ...]) -> None:
    db = hedgerow.open(store)
    db.insert_edge(1, 2)
    tx = db.write()
    tx.put_edge(70, 80)
    other = db.write()
    other.put_edge(2, 3)
    held: list[object] = [db, tx, db.snapshot(), other.submit()]
    seen = [weakref.ref(thing) for thing in held[:3]]
    del db, tx, other
    for at in order:
        with pytest.raises(hedgerow.LockedError):
            hedgerow.open(store)
        held[at] = None
        gc.collect()
    assert all(ref() is None for ref in seen)
    with hedgerow.open(store) as again:
        g = again.snapshot()
        assert (g.has_edge(1, 2), g.has_edge(2, 3), g.has_edge(70, 80)) == (True, True, False)


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_every_order_of_closing(store: Path, order: tuple[int, ...]) -> None:
    db = hedgerow.open(store)
    tx, other, g = db.write(), db.write(), db.snapshot()
    tx.put_edge(70, 80)
    other.put_edge(2, 3)
    ticket = other.submit()
    ends: list[Callable[[], object]] = [db.close, tx.rollback, g.close, ticket.wait]
    for at in order:
        ends[at]()
    assert ticket.done() and not tx.active and g.closed
    with hedgerow.open(store) as again:
        assert again.snapshot().edges().src.tolist() == [2]


def test_a_cycle_of_references_is_collected(store: Path) -> None:
    class Holder:
        pass

    holder = Holder()
    holder.db = hedgerow.open(store)
    holder.tx, holder.g, holder.me = holder.db.write(), holder.db.snapshot(), holder
    holder.tx.put_edge(1, 2)
    del holder
    gc.collect()
    with hedgerow.open(store) as db:
        assert db.snapshot().edge_count == 0


def test_results_outlive_everything(store: Path) -> None:
    db = hedgerow.open(store)
    db.add_edges(range(100), range(1, 101))
    g = db.snapshot()
    edges, parts, ids = g.edges(), g.wcc(), g.vertices()
    g.close()
    db.close()
    del g, db
    gc.collect()
    assert edges.src.sum() == 4950 and ids.size == 101 and parts.values.size == 101


# Second openings ------------------------------------------------------------------------------------------------------


def by_a_link(store: Path) -> Path:
    link = store.parent / "link"
    link.symlink_to(store)
    return link


WAYS: dict[str, Callable[[Path], object]] = {
    "same": lambda store: store,
    "dots": lambda store: store.parent / "x" / ".." / store.name if (store.parent / "x").mkdir() is None else store,
    "slash": lambda store: str(store) + "/",
    "link": by_a_link,
    "relative": lambda store: os.path.relpath(store),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_second_opening_by_another_name(store: Path, way: str) -> None:
    with hedgerow.open(store) as db:
        with pytest.raises(hedgerow.Error) as raised:
            hedgerow.open(WAYS[way](store))
        assert isinstance(raised.value, hedgerow.OperationalError)
        assert db.insert_edge(1, 2)


def test_a_second_opening_from_threads_and_processes(store: Path) -> None:
    code = "import hedgerow, sys\ntry:\n hedgerow.open(sys.argv[1])\nexcept hedgerow.LockedError:\n sys.exit(3)"
    with hedgerow.open(store):
        outcomes: list[str] = []

        def attempt() -> None:
            try:
                hedgerow.open(store)
            except hedgerow.LockedError:
                outcomes.append("locked")

        threads = [threading.Thread(target=attempt) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(FOR_EVER)
        assert outcomes == ["locked"] * 4
        assert subprocess.run([sys.executable, "-c", code, str(store)], check=False).returncode == 3
    assert subprocess.run([sys.executable, "-c", code, str(store)], check=False).returncode == 0


def test_openings_race_and_one_wins(store: Path) -> None:
    hedgerow.open(store).close()
    for _ in range(10):
        barrier, opened = threading.Barrier(4), []

        def attempt(barrier: threading.Barrier = barrier, opened: list = opened) -> None:
            barrier.wait()
            try:
                opened.append(hedgerow.open(store))
            except hedgerow.LockedError:
                pass

        threads = [threading.Thread(target=attempt) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(FOR_EVER)
        assert len(opened) == 1
        opened[0].close()


# Closing under calls --------------------------------------------------------------------------------------------------

UNDER: dict[str, Callable[[hedgerow.Database, int], object]] = {
    "insert": lambda db, n: db.insert_edge(n, n + 1),
    "transact": lambda db, n: db.transact(lambda tx: tx.put_edge(n, n + 1)),
    "bulk": lambda db, n: db.add_edges(range(n, n + 50), range(n + 1, n + 51)),
    "kernel": lambda db, n: db.snapshot().wcc(),
    "checkpoint": lambda db, n: db.checkpoint(),
    "settle": lambda db, n: db.settle(),
    "flush": lambda db, n: (db.insert_edge(n, n), db.flush()),
    "check": lambda db, n: db.check(),
    "stats": lambda db, n: db.stats(),
}


@pytest.mark.parametrize("call", UNDER)
def test_closing_under_a_call(store: Path, call: str) -> None:
    for round_ in range(3):
        db = hedgerow.open(store, durability="manual")
        db.add_edges(range(500), range(1, 501))
        wrong: list[BaseException] = []
        started = threading.Barrier(3)

        def work(first: int, db: hedgerow.Database = db, wrong: list = wrong, started: threading.Barrier = started) -> None:
            started.wait()
            try:
                for n in range(first, first + 10_000_000):
                    UNDER[call](db, n)
            except hedgerow.ClosedError:
                pass
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(t * 10_000_000,), daemon=True) for t in range(2)]
        for thread in threads:
            thread.start()
        started.wait()
        time.sleep(0.01 * (round_ + 1))
        db.close()
        for thread in threads:
            thread.join(FOR_EVER)
            assert not thread.is_alive(), "a call does not return"
        assert not wrong, wrong
        with hedgerow.open(store) as again:
            assert again.check().ok
