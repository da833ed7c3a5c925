"""Forked children beside busy parents: every method of every handle in the stubs says in a child that the store is its
parent's, and nothing that the parent acknowledged is lost."""

import ast
import gc
import os
import random
import select
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import FOR_EVER

import hedgerow

STUBS = Path(hedgerow.__file__).with_name("_native.pyi")
FORKS = 5
SEED = int(os.environ.get("HEDGEROW_SEED", "1"))
DEEP_SECONDS = float(os.environ.get("HEDGEROW_DEEP_SECONDS", "0"))

# What is called ---------------------------------------------------------------------------------------------------------


@dataclass
class Handles:
    """One of each handle, and what some methods take."""

    Database: hedgerow.Database
    Transaction: hedgerow.Transaction
    Ticket: hedgerow.Ticket
    Pipeline: hedgerow.Pipeline
    Snapshot: hedgerow.Snapshot
    Maintained: hedgerow.Maintained
    TableStream: hedgerow.TableStream
    more: list[object] = field(default_factory=list)


def open_handles(db: hedgerow.Database) -> Handles:
    tx, submitted, p, g = db.write(), db.write(), db.pipeline(), db.snapshot()
    tx.put_edge(70, 71)
    submitted.put_edge(72, 73)
    p.insert_edges(range(100, 120), range(101, 121))
    g.wcc()
    kept = db.maintain("wcc")
    kept.at(g)
    return Handles(db, tx, submitted.submit(), p, g, kept, g.edge_stream(""), [db.snapshot(), db.write()])


EXIT = (None, None, None)
# The arguments of every method in the stubs; none of a method that has no entry here must be missing. A property is read.
ARGUMENTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "Database": {
        "write": (),
        "snapshot": (),
        "maintain": ("wcc",),
        "transact": (lambda tx: None,),
        "put_edge": (1, 2),
        "insert_edge": (1, 2),
        "remove_edge": (1, 2),
        "pipeline": (),
        "define_kind": ("other",),
        "define_label": ("other",),
        "define_property": ("age", int),
        "labels": (),
        "schema": (),
        "add_edges": ([1], [2]),
        "add_vertices": ([1],),
        "set_vertex_properties": ([1], {}),
        "remove_vertices": ([1],),
        "update_edges": ([1], [2], {}),
        "remove_edges_where": ("",),
        "load": ("/nowhere/a.csv",),
        "remove_edges": ([1], [2]),
        "checkpoint": (),
        "compact": (),
        "backup": ("/nonexistent/backup",),
        "flush": (),
        "settle": (),
        "stats": (),
        "check": (),
        "close": (),
        "__enter__": (),
    },
    "Transaction": {
        "put_edge": (1, 2),
        "add_edge": (1, 2),
        "insert_edge": (1, 2),
        "update_edge": (1, 2),
        "remove_edge": (1, 2),
        "add_vertex": (1,),
        "update_vertex": (1,),
        "insert_vertex": (1,),
        "remove_vertex": (1,),
        "remove_edges_of": (1, 1),
        "add_edges": ([1], [2]),
        "add_vertices": ([1],),
        "set_vertex_properties": ([1], {}),
        "remove_vertices": ([1],),
        "update_edges": ([1], [2], {}),
        "remove_edges": ([1], [2]),
        "has_vertex": (1,),
        "has_edge": (1, 2),
        "edge_properties": (1, 2),
        "vertex_properties": (1,),
        "weight": (1, 2),
        "neighbors": (1,),
        "degree": (1,),
        "commit": (),
        "submit": (),
        "rollback": (),
        "__enter__": (),
        "__exit__": EXIT,
    },
    "Ticket": {"done": (), "wait": ()},
    "Pipeline": {
        "insert_edge": (1, 2),
        "put_edge": (1, 2),
        "remove_edge": (1, 2),
        "insert_edges": ([1], [2]),
        "put_edges": ([1], [2]),
        "remove_edges": ([1], [2]),
        "flush": (),
        "close": (),
        "__exit__": EXIT,
    },
    "Snapshot": {
        "__len__": (),
        "__contains__": (1,),
        "__iter__": (),
        "__getitem__": (1,),
        "has_vertex": (1,),
        "has_edge": (1, 2),
        "edge_properties": (1, 2),
        "vertex_properties": (1,),
        "weight": (1, 2),
        "neighbors": (1,),
        "newest_neighbors": (1, "", 1),
        "find": (None, {"age": 1}),
        "degree": (1,),
        "contains_edges": ([1], [2]),
        "degrees": ([1],),
        "k_hop": ([1], 1),
        "neighbors_of": ([1],),
        "csr": (),
        "vertex_table": (),
        "vertices": (),
        "edges": (),
        "edge_count_of": ("",),
        "edge_table": (),
        "edge_stream": (),
        "vertex_stream": (),
        "expand": ([1],),
        "partitions": (2,),
        "export": ("/nowhere/exported",),
        "sql": ("SELECT count(*) FROM edges",),
        "scan_edges": (),
        "scan_vertices": (),
        "edge_dataset": (),
        "vertex_dataset": (),
        "to_networkx": (),
        "to_igraph": (),
        "to_scipy": (),
        "vertex_property": ("age",),
        "labels": (),
        "schema": (),
        "bfs": (1,),
        "run": ("wcc",),
        "pagerank": (),
        "sssp": (1,),
        "triangle_count": (),
        "wcc": (),
        "close": (),
        "__enter__": (),
    },
    "Maintained": {"at": (None,), "release": ()},
    "TableStream": {},
}
# These answer in a child, and reach nothing of the parent's: constants, and leaving a block that has nothing to finish.
ANSWERS = {
    "Database": {"closed", "path", "read_only", "directed", "weighted", "keys", "__exit__"},
    "Transaction": set[str](),
    "Ticket": set[str](),
    "Pipeline": {"__enter__"},
    "Snapshot": {"__exit__", "__bool__", "directed"},
    "Maintained": {"name", "label"},
    "TableStream": set[str](),
}


def stubs() -> dict[str, dict[str, bool]]:
    """The methods and properties of every handle class in the stubs, and whether each is a property."""
    classes: dict[str, dict[str, bool]] = {}
    for node in ast.parse(STUBS.read_text()).body:
        if not isinstance(node, ast.ClassDef) or any("Error" in ast.unparse(base) for base in node.bases):
            continue
        if node.name.endswith("Error"):
            continue
        classes[node.name] = {
            item.name: any(ast.unparse(decorator) == "property" for decorator in item.decorator_list)
            for item in node.body
            if isinstance(item, ast.FunctionDef)
        }
    return classes


CLASSES = stubs()


def call(handles: Handles, kind: str, name: str) -> object:
    handle = getattr(handles, kind)
    if CLASSES[kind][name]:
        return getattr(handle, name)
    return getattr(handle, name)(*ARGUMENTS[kind].get(name, EXIT if name == "__exit__" else ()))


def test_the_table_has_every_method_of_the_stubs() -> None:
    assert set(CLASSES) == set(ARGUMENTS) == set(ANSWERS)
    for kind, members in CLASSES.items():
        methods = {name for name, is_property in members.items() if not is_property}
        assert methods == set(ARGUMENTS[kind]) | (ANSWERS[kind] & methods), kind
        assert ANSWERS[kind] <= set(members), kind
        # What the class has and the stubs lack would be tried by no test.
        public = {name for name in vars(getattr(hedgerow, kind)) if not name.startswith("_")}
        assert public == {name for name in members if not name.startswith("_")}, kind


def wrong_answers(handles: Handles) -> list[str]:
    """Names what does not say in a child that the store is its parent's. Drops all handles."""
    wrong = []
    for kind, members in CLASSES.items():
        for name in members:
            try:
                value = call(handles, kind, name)
            except hedgerow.ForkedError:
                if name in ANSWERS[kind]:
                    wrong.append(f"{kind}.{name} raises ForkedError")
            except BaseException as error:
                wrong.append(f"{kind}.{name}: {error!r}")
            else:
                if name not in ANSWERS[kind]:
                    wrong.append(f"{kind}.{name} -> {value!r}")
        repr(getattr(handles, kind))
        try:
            # Leaving a block because of an exception goes on with that exception.
            assert not getattr(getattr(handles, kind), "__exit__", lambda *_: False)(KeyError, KeyError(), None)
        except BaseException as error:
            wrong.append(f"{kind}.__exit__ of a KeyError: {error!r}")
    vars(handles).clear()
    gc.collect()
    return wrong


# Children ---------------------------------------------------------------------------------------------------------------


class Child:
    """A forked child that runs a function and says what it returns."""

    def __init__(self, body: Callable[[], object], *, exits: bool = False) -> None:
        self.said, say = os.pipe()
        with warnings.catch_warnings():
            # Later Pythons warn of a fork beside other threads; that is what is tested here.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            os.close(self.said)
            try:
                text = body() or ""
            except SystemExit as exit_:
                text = "" if exits and not exit_.code else repr(exit_)
            except BaseException:
                text = traceback.format_exc()
            os.write(say, str(text).encode())
            os._exit(0)
        os.close(say)

    def wait(self) -> str:
        """What the child said. Kills one that hangs."""
        text, deadline = b"", time.monotonic() + FOR_EVER
        while True:
            ready, _, _ = select.select([self.said], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                os.kill(self.pid, signal.SIGKILL)
                text = b"the child hangs"
                break
            if not (part := os.read(self.said, 1 << 16)):
                break
            text += part
        os.close(self.said)
        _, status = os.waitpid(self.pid, 0)
        return text.decode() or ("" if status == 0 else f"ended with status {status}")


@contextmanager
def busy(db: hedgerow.Database) -> Iterator[list[int]]:
    """Threads of a parent that write, sync, write checkpoints and run kernels. Gives the number of acknowledged commits."""
    stop, acknowledged, failures = threading.Event(), [0], list[BaseException]()
    rng = np.random.default_rng(SEED)
    bulk = rng.integers(10_000, 11_000, (2, 2000), dtype=np.uint64)

    def write() -> None:
        db.insert_edge(5_000, 20_000 + acknowledged[0])
        acknowledged[0] += 1

    def keep_house() -> None:
        if db.path is not None:
            db.checkpoint()
        db.settle()
        db.flush()

    def analyse() -> None:
        with db.snapshot() as g:
            g.wcc()
            g.pagerank(iterations=3)

    def submit() -> None:
        with db.pipeline() as p:
            p.insert_edges(bulk[0][:500], bulk[1][:500])

    def again_and_again(job: Callable[[], object]) -> None:
        try:
            while not stop.is_set():
                job()
        except BaseException as error:
            failures.append(error)

    jobs = [write, keep_house, analyse, submit, lambda: db.add_edges(bulk[0], bulk[1], batch=1000)]
    threads = [threading.Thread(target=again_and_again, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield acknowledged
    finally:
        stop.set()
        for thread in threads:
            thread.join(FOR_EVER)
            assert not thread.is_alive(), "a thread of the parent does not end"
    assert not failures, failures


def assert_all_there(db: hedgerow.Database, acknowledged: int) -> None:
    with db.snapshot() as g:
        assert len(set(g.neighbors(5_000)) & set(range(20_000, 20_000 + acknowledged))) == acknowledged
    assert db.check().ok


def rounds(least: int) -> Iterator[random.Random]:
    """So many rounds, or rounds for as long as a deep run asks."""
    end, n = time.monotonic() + DEEP_SECONDS, 0
    while n < least or time.monotonic() < end:
        yield random.Random(SEED * 1_000_003 + n)
        n += 1


@pytest.mark.parametrize("durability", ["sync", "manual", ("group", 0.002), None], ids=str)
def test_every_call_in_a_child(tmp_path: Path, durability: Any) -> None:
    path = tmp_path / "store"
    db = hedgerow.open() if durability is None else hedgerow.open(path, durability=durability)
    with busy(db) as acknowledged:
        for rng in rounds(FORKS):
            handles = open_handles(db)
            time.sleep(rng.random() * 0.01)
            said = Child(lambda handles=handles: ", ".join(wrong_answers(handles))).wait()
            assert said == ""
            # The parent's handles are as good as before.
            handles.Pipeline.close()
            handles.Ticket.wait()
            handles.Transaction.rollback()
            handles.Snapshot.close()
    db.flush()
    assert_all_there(db, acknowledged[0])
    if durability is not None:
        # As after a kill of the parent.
        shutil.copytree(path, tmp_path / "copy")
        with hedgerow.open(tmp_path / "copy") as again:
            assert_all_there(again, acknowledged[0])
            assert again.published_ts == db.published_ts
    db.close()


def test_a_child_of_a_parent_inside_a_pipeline() -> None:
    db = hedgerow.open()
    src, dst = np.arange(20_000, dtype=np.uint64) % 1000, np.arange(20_000, dtype=np.uint64)
    stop = threading.Event()
    held = [db.pipeline()]

    def submit(p: hedgerow.Pipeline) -> None:
        # Once at least, however late the thread comes to it.
        while True:
            p.insert_edges(src, dst)
            if stop.is_set():
                return

    def child() -> None:
        for name in ("flush", "close", "__exit__"):
            with pytest.raises(hedgerow.ForkedError):
                getattr(held[0], name)(*ARGUMENTS["Pipeline"][name])
        held.clear()
        gc.collect()

    thread = threading.Thread(target=submit, args=(held[0],), daemon=True)
    thread.start()
    for rng in rounds(3 * FORKS):
        time.sleep(rng.random() * 0.005)
        assert Child(child).wait() == ""
    stop.set()
    thread.join(FOR_EVER)
    assert not thread.is_alive()
    held[0].close()
    assert db.snapshot().edge_count == 20_000


# Blocks that a child leaves ---------------------------------------------------------------------------------------------

BLOCKS: dict[str, Callable[[hedgerow.Database], Any]] = {
    "pipeline": hedgerow.Database.pipeline,
    "write": hedgerow.Database.write,
    "snapshot": hedgerow.Database.snapshot,
    "database": lambda db: db,
}


@pytest.mark.parametrize("ending", ["exit", "error", "end"])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("files", [True, False], ids=["files", "memory"])
def test_a_child_leaves_a_block(tmp_path: Path, files: bool, block: str, ending: str) -> None:
    path = tmp_path / "store"
    db = hedgerow.open(path if files else None)
    go_r, go_w = os.pipe()

    def leave() -> str:
        """Forks in the block; the child leaves it in its way, while the parent stays in it."""
        with BLOCKS[block](db) as inner:
            if block in ("pipeline", "write"):
                inner.put_edge(1, 2)

            def body() -> None:
                os.read(go_r, 1)
                if ending == "exit":
                    sys.exit(0)
                elif ending == "error":
                    raise KeyError

            def child() -> str:
                # As the child's own frames: the block is left in the child.
                try:
                    with inner:
                        body()
                except KeyError:
                    return "" if ending == "error" else "a KeyError"
                except hedgerow.ForkedError:
                    return "" if ending == "end" or block in ("write", "database", "snapshot") else "a ForkedError"
                except SystemExit as exit_:
                    return "" if ending == "exit" and exit_.code == 0 else "a SystemExit"
                return ""

            waiting = Child(child)
            if block != "database":
                for n in range(5):
                    assert db.insert_edge(100, 200 + n)
            os.write(go_w, b"x")
            return waiting.wait()

    assert leave() == ""
    if block == "database":
        assert db.closed
        db = hedgerow.open(path if files else None)
    elif files:
        db.flush()
        shutil.copytree(path, tmp_path / "copy")
        with hedgerow.open(tmp_path / "copy") as again:
            g = again.snapshot()
            assert g.neighbors(100) == [200, 201, 202, 203, 204]
            assert g.has_edge(1, 2) == (block in ("pipeline", "write"))
    db.close()


# Runs in a process of its own: what its child does at its end is what an interpreter does at its end.
ENDING = """
import os, sys, threading, time
import hedgerow
block, path = sys.argv[1], sys.argv[2] or None
db = hedgerow.open(path)
stop = threading.Event()
def write():
    # Once at least, however late the thread comes to it.
    n = 0
    while n == 0 or not stop.is_set():
        db.insert_edge(100, 200 + n)
        n += 1
threads = [threading.Thread(target=write) for _ in range(2)]
for thread in threads:
    thread.start()
blocks = {"pipeline": db.pipeline, "write": db.write, "snapshot": db.snapshot, "database": lambda: db}
try:
    with blocks[block]() as inner:
        if block in ("pipeline", "write"):
            inner.put_edge(1, 2)
        time.sleep(0.02)
        pid = os.fork()
        if pid == 0:
            sys.exit(7)
        # A child that takes longer hangs: an end takes some milliseconds, and on a busy machine a second or two.
        end = time.monotonic() + 120
        while time.monotonic() < end:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.005)
        else:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            status = "hangs"
        stop.set()
        for thread in threads:
            thread.join()
finally:
    stop.set()
print(status if isinstance(status, str) else os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("files", [True, False], ids=["files", "memory"])
def test_a_child_ends_its_interpreter_inside_a_block(tmp_path: Path, files: bool, block: str) -> None:
    import subprocess

    command = [sys.executable, "-W", "ignore", "-c", ENDING, block, str(tmp_path / "store") if files else ""]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
    if files:
        with hedgerow.open(tmp_path / "store") as db:
            assert db.check().ok and db.snapshot().degree(100) > 0


# Locks ------------------------------------------------------------------------------------------------------------------


def test_the_store_of_a_killed_parent_opens_though_its_child_lives(tmp_path: Path) -> None:
    path = tmp_path / "store"
    told_r, told_w = os.pipe()
    # Both live until this process closes its end, or ends.
    lives_r, lives_w = os.pipe()

    def parent() -> None:
        os.close(lives_w)
        db = hedgerow.open(path)
        db.insert_edge(1, 2)
        if os.fork() == 0:
            # It gave up the lock before it runs.
            os.write(told_w, str(os.getpid()).encode())
            os.read(lives_r, 1)
            os._exit(0)
        os.read(lives_r, 1)

    owner = Child(parent)
    grandchild = int(os.read(told_r, 20))
    try:
        with pytest.raises(hedgerow.LockedError, match=f"process {owner.pid} has it open"):
            hedgerow.open(path)
        os.kill(owner.pid, signal.SIGKILL)
        os.waitpid(owner.pid, 0)
        with hedgerow.open(path) as db:
            assert db.snapshot().has_edge(1, 2)
    finally:
        os.kill(grandchild, signal.SIGKILL)
        os.close(lives_w)


def test_a_second_opening_names_this_process(tmp_path: Path) -> None:
    with hedgerow.open(tmp_path / "store"):
        with pytest.raises(hedgerow.LockedError, match="this process has it open already"):
            hedgerow.open(tmp_path / "store")


def test_children_use_stores_of_their_own(tmp_path: Path) -> None:
    db = hedgerow.open(tmp_path / "parent")

    def use(path: Path | None) -> str:
        for count in (1, 2):
            with hedgerow.open(path) as own:
                for n in range(20):
                    own.insert_edge(n, 1000 * count)
                with own.pipeline() as p:
                    p.insert_edges(range(100), [7] * 100)
                g = own.snapshot()
                if path is not None:
                    own.checkpoint()
                assert len(g.wcc().values) == g.vertex_count and own.check().ok
                if path is not None:
                    assert g.edge_count == 100 + 20 * count
        return ""

    with busy(db) as acknowledged:
        for rng in rounds(FORKS // 2):
            time.sleep(rng.random() * 0.01)
            assert Child(lambda rng=rng: use(tmp_path / f"child-{rng.random()}")).wait() == ""
            assert Child(lambda: use(None)).wait() == ""
    assert_all_there(db, acknowledged[0])
    db.close()
