"""The process that `test_signals.py` interrupts, and the one whose children end with destructors that call the store.

`python signals.py interrupts FOLDER SEED` makes the call that each line of its input names: it prints `ready`, repeats
the call until SIGINT ends it, and prints a line with the outcome. `python signals.py exits COUNT SEED` forks children.
"""

import os
import random
import select
import signal
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Any

import numpy as np

import hedgerow
from test_forks import ANSWERS, ARGUMENTS, CLASSES, EXIT

KERNELS: dict[str, dict[str, Any]] = {
    "pagerank": {"iterations": 50},
    "betweenness": {},
    "closeness": {},
    "wcc": {},
    "louvain": {},
    "leiden": {},
    "cdlp": {},
    "tc": {},
    "msf": {},
    "matching": {},
    "path": {"source": 1, "target": 900},
    "walks": {"sources": [1, 2]},
}


class Zone(tzinfo):
    """A time zone whose `utcoffset` runs Python code."""

    def utcoffset(self, _time: datetime | None) -> timedelta:
        return sum((timedelta(0) for _ in range(20)), timedelta(0))


class Store:
    """A store, its handles, and the edges that it acknowledged."""

    def __init__(self, path: str, seed: int) -> None:
        self.path = path
        self.rng = random.Random(seed)
        self.open()
        ids = np.random.default_rng(seed)
        self.db.add_edges(ids.integers(0, 1000, 4000), ids.integers(0, 1000, 4000))
        self.next = 10_000
        self.acknowledged: list[int] = []

    def open(self) -> None:
        durability = self.rng.choice(["manual", ("group", 0.002)])
        self.db = hedgerow.open(self.path, durability=durability)

    def usable(self) -> hedgerow.Database:
        if self.db.closed:
            self.open()
        return self.db

    def method(self, kind: str, name: str) -> Callable[[], object]:
        """Returns a call of a method, or of a property, on a new handle."""
        arguments = ARGUMENTS[kind].get(name, EXIT if name == "__exit__" else ())

        def handle() -> Any:
            db = self.usable()
            if kind == "Transaction":
                tx = db.write()
                tx.put_edge(1, 2)
                return tx
            if kind == "Ticket":
                tx = db.write()
                tx.put_edge(1, 2)
                return tx.submit()
            if kind == "Maintained":
                return db.maintain("wcc")
            return {"Database": lambda: db, "Snapshot": db.snapshot, "Pipeline": db.pipeline}[kind]()

        if CLASSES[kind][name]:
            return lambda: getattr(handle(), name)
        if (kind, name) == ("Maintained", "at"):
            return lambda: handle().at(self.db.snapshot())
        return lambda: getattr(handle(), name)(*arguments)

    def calls(self) -> dict[str, Callable[[], object]]:
        """Returns all calls: methods and properties of handles, kernels, and calls that run Python code of their arguments."""
        found = {f"{kind}.{name}": self.method(kind, name) for kind, members in CLASSES.items() for name in members}
        for name, parameters in KERNELS.items():
            found[f"run({name})"] = lambda name=name, parameters=parameters: self.usable().snapshot().run(name, **parameters)
        when = datetime(2020, 1, 1, tzinfo=Zone())
        found |= {
            "open": lambda: hedgerow.open().insert_edge(1, 2),
            "iterator": lambda: self.usable().add_edges((n for n in range(50)), [n for n in range(50)]),
            "progress": lambda: self.usable().snapshot().run("pagerank", progress=lambda _done, _all: None),
            "time zone": lambda: self.usable().transact(lambda tx: tx.put_edge(1, 2, label="at", at=when)),
            "frame": lambda: self.usable().add_vertices(range(100), properties={"name": ["a"] * 100, "at": [when] * 100}),
            "arrow": lambda: self.usable().snapshot().edge_table("").__arrow_c_stream__(),
        }
        return found

    def kept(self) -> None:
        """Writes an edge that must be there from now on."""
        n = self.next
        self.next += 2
        self.usable().put_edge(n, n + 1, label="kept")
        self.acknowledged.append(n)

    def lost(self) -> list[int]:
        """Returns the acknowledged edges that are missing."""
        if not self.acknowledged:
            return []
        src = np.array(self.acknowledged)
        there = self.usable().snapshot().contains_edges(src, src + 1, label="kept")
        return src[~there].tolist()


def swallows(store: Store) -> None:
    """A call that loses an interrupt, as a negative control."""
    try:
        store.usable().snapshot().run("betweenness")
    except KeyboardInterrupt:
        pass


def interrupted(call: Callable[[], object], store: Store) -> str:
    """Makes a call until SIGINT comes. The supervisor writes a byte after the signal."""
    wrong = ""
    try:
        print("ready", flush=True)
        while not select.select([0], [], [], 0)[0]:
            try:
                store.kept()
                call()
            except Exception as error:
                # The package may refuse a call with an error of its own, but it must not turn the interrupt into an error.
                if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                    wrong = f"became {error!r}"
        # The signal came before the byte, so its handler has run, or runs in this loop.
        for _ in range(100):
            pass
        return wrong or "swallowed"
    except KeyboardInterrupt:
        return wrong or "interrupted"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def interrupts(folder: str, seed: int) -> None:
    # A shell that starts the tests in the background makes them and their children ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unraisable: list[str] = []
    # Python drops exceptions of destructors; those of the package run no Python code, so they must raise none.
    sys.unraisablehook = lambda it: unraisable.append(f"{it.exc_value!r} in {it.object!r}")
    store = Store(folder + "/store", seed)
    calls = store.calls()
    print(len(calls), flush=True)
    names = list(calls)
    for at in iter(lambda: os.read(0, 16).decode().strip(), "end"):
        name = names[int(at) % len(names)] if at != "-1" else "swallows"
        said = interrupted(calls[name] if at != "-1" else lambda: swallows(store), store)
        # Read the byte that follows the signal.
        os.read(0, 1)
        lost = store.lost()
        print(name, said if not lost else f"lost {lost}", unraisable or "", sep="\t", flush=True)
        unraisable.clear()
    store.usable().close()
    with hedgerow.open(folder + "/store") as db:
        store.db = db
        lost, sound = store.lost(), db.check().ok
    print("end" if sound and not lost else f"lost {lost}, sound {sound}", len(store.acknowledged), sep="\t", flush=True)


# Destructors at the end of the interpreter ----------------------------------------------------------------------------


class Last:
    """An object that lives until the interpreter ends, and whose destructor calls the store."""

    def __init__(self, at: int) -> None:
        rng = random.Random(at)
        self.db = hedgerow.open(keys=rng.choice(["u64", "dense"]))
        self.db.add_edges([1, 2, 3], [2, 3, 1])
        self.g, self.kept, self.pipe = self.db.snapshot(), self.db.maintain("wcc"), self.db.pipeline()
        self.handles = {"Database": self.db, "Snapshot": self.g, "Pipeline": self.pipe, "Maintained": self.kept}
        methods = [(kind, name) for kind, members in CLASSES.items() for name in members if kind in self.handles]
        self.calls = rng.sample(methods, 12)
        rng.shuffle(self.calls)
        # The destructor runs when the names of modules may be gone, so the object keeps what it needs.
        self.arguments, self.properties, self.exit_ = ARGUMENTS, CLASSES, EXIT
        self.five, self.write, self.base, self.error, self.of = np.int64(5), os.write, BaseException, Exception, type
        self.getattr, self.isinstance = getattr, isinstance

    def __del__(self) -> None:
        wrong = ""
        for kind, name in [*self.calls, ("Database", "numpy")]:
            try:
                if name == "numpy":
                    self.db.insert_edge(self.five, self.five, label="l", x=self.five)
                    self.g.run("pagerank"), self.g.edges(), self.g.edge_table("")
                    continue
                thing = self.getattr(self.handles[kind], name)
                if not self.properties[kind][name]:
                    thing(*self.arguments[kind].get(name, self.exit_ if name == "__exit__" else ()))
            except self.base as error:
                if not self.isinstance(error, self.error):
                    wrong += f"{kind}.{name}: {self.of(error).__name__}; "
        self.write(1, (f"wrong: {wrong}" if wrong else "collected").encode() + b"\n")


def exits(count: int, seed: int) -> None:
    for at in range(seed, seed + count):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            # A global lives until the interpreter ends; every second one is in a cycle of references.
            last = Last(at)
            globals()["last"] = last
            if at % 2:
                last.me = last  # type: ignore[attr-defined]
            return
        _, status = os.waitpid(child, 0)
        print("ended", os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "interrupts":
        interrupts(sys.argv[2], int(sys.argv[3]))
    else:
        exits(int(sys.argv[2]), int(sys.argv[3]))
