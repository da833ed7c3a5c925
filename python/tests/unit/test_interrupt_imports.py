"""Ctrl-C in imports: calls import nothing, and the import of the package can be tried again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Calls everything of a package that was just imported; whatever is imported from then on is interrupted.
CALLS = """
import builtins, sys
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
import numpy as np
import hedgerow

folder = sys.argv[1]
called, wrong = set(), []
imported = builtins.__import__


class Interrupts:
    def find_spec(self, name, *_):
        interrupt(name)


def interrupt(name, *others):
    # NumPy imports parts of itself when it needs them, some each time. They are there: no code of Python runs.
    if name.startswith(("numpy._core._", "numpy.core._")) and name in sys.modules:
        return imported(name, *others)
    raise KeyboardInterrupt(f"import of {name}")


def note(frame, event, argument):
    if event == "c_call":
        called.add(argument.__qualname__)


def tried(step):
    try:
        step()
    except BaseException as error:
        wrong.append(f"{step.__name__}: {type(error).__name__}: {error}")


def refused(kind, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except Exception as error:
        assert type(error) is kind, repr(error)
        str(error)
    else:
        raise AssertionError(f"{call} is not refused")


if "numpy.ma" not in sys.modules:
    wrong.append("numpy.ma is imported when it is used first")
TIMES = np.array(["2020-01-01", "NaT", "2021-01-01"], "datetime64[ms]")
WHEN = datetime(2020, 1, 2, tzinfo=timezone(timedelta(hours=1)))
COLUMNS = {
    "bool": np.array([True, False, True]),
    "int": np.array([1, 2, 3]),
    "unsigned": np.array([1, 2, 3], "uint32"),
    "float": np.array([0.5, np.nan, 1.5]),
    "text": ["a", None, "c"],
    "words": np.array(["a", "b", "c"]),
    "raw": [b"a", None, b"c"],
    "time": TIMES,
    "times": [WHEN, None, np.datetime64("2021-01-01")],
    "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "scalars": [np.int64(1), np.float64(0.5), None],
}

# NumPy 1 looks itself up for its first sum.
np.zeros(1).sum()
sys.unraisablehook = lambda it: wrong.append(f"unraisable: {it.exc_value!r}")
sys.meta_path.insert(0, Interrupts())
builtins.__import__ = interrupt
sys.setprofile(note)


@tried
def vertices():
    with hedgerow.open() as db:
        assert db.add_vertices([1, 2, 3], properties=COLUMNS) == 3
        assert db.set_vertex_properties(range(1, 4), MappingProxyType({"int": [4, 5, 6]})) == 3
        db.add_vertices(np.array([7, 7]), duplicates="first")
        with db.write() as tx:
            tx.add_vertices(np.array([4], "uint8"), properties={"time": TIMES[:1]})
            tx.set_vertex_properties([4], {"text": ["d"]})
            tx.add_vertex(5, properties={"time": WHEN}, text="e", int=np.int64(9), raw=b"x", bool=True, float=1)
            tx.update_vertex(5, properties=MappingProxyType({"times": datetime(1969, 1, 1, tzinfo=timezone.utc)}))
            tx.insert_vertex(6)
            assert tx.has_vertex(5) and tx.vertex_properties(5)["time"] == WHEN
            tx.remove_vertices(np.array([4]))
            tx.remove_vertex(6)
        db.remove_vertices([7])
        g = db.snapshot()
        assert g.vertex_properties(1)["time"] == datetime(2020, 1, 1, tzinfo=timezone.utc)
        assert g.vertex_property("time").values[1] is np.ma.masked
        assert g.vertices().tolist() == [1, 2, 3, 5] and g.has_vertex(1)
        table = g.vertex_table()
        assert table.properties["int"].tolist() == [4, 5, 6, 9]
        table.__arrow_c_stream__(), table.__arrow_c_schema__()
        for name in COLUMNS:
            g.vertex_property(name).__arrow_c_stream__()
        assert g.find(time=WHEN, limit=1) == [5] and g.find(properties={"int": np.int8(9)})
        # Times that datetime does not know.
        db.add_vertices([8], properties={"time": np.array([2**62], "datetime64[us]")})
        assert isinstance(db.snapshot().vertex_properties(8)["time"], np.datetime64)


@tried
def edges():
    with hedgerow.open(weighted=True) as db:
        types = {"i": int, "t": datetime, "f": "f64", "b": bool, "s": str, "r": bytes}
        db.define_label("l", multi=True, properties=types)
        db.define_property("n", int, label="l")
        assert db.add_edges(np.array([1, 2]), np.array([2, 3]), np.array([0.5, 1.5])) == 2
        db.add_edges([1, 2], [3, 1], [1, 2])
        db.add_edges(range(3), [4, 5, 6], label="l", ranks=np.array([0, 1, 2]), properties=COLUMNS)
        db.update_edges([0], [4], {"int": [7]}, label="l", ranks=[0])
        db.remove_edges(np.array([2]), np.array([1]))
        assert db.insert_edge(8, 9) and not db.put_edge(8, 9, 0.5, s="x") and db.remove_edge(8, 9)
        db.add_edges([1], [2], on_conflict="merge", properties={"s": "x"})
        with db.write() as tx:
            tx.add_edges(np.array([10, 11]), [11, 12], np.array([1, 2]))
            tx.update_edges([1], [5], {"i": np.array([8])}, label="l", ranks=[1])
            tx.remove_edges([10], np.array([11]))
            tx.put_edge(1, 4, 0.25), tx.insert_edge(1, 5, weight=0.5), tx.remove_edge(1, 5)
            tx.add_edge(2, 9, "l", 3, t=WHEN, i=np.int8(1))
            tx.update_edge(2, 9, label="l", rank=3, f=np.float32(0.5), s=np.str_("x"))
            assert tx.has_edge(1, 4) and tx.weight(1, 4) == 0.25
            assert tx.edge_properties(2, 9, label="l", rank=3)["t"] == WHEN
            assert tx.degree(1, label="") == 3 and len(tx.neighbors(2, label="l", ranks=True)) == 2
            tx.remove_edges_of(12, 5)
        g = db.snapshot()
        assert g.has_edge(1, 2) and g.weight(1, 2) == 0.5 and g.edge_count_of("l") == 4
        assert g.edge_properties(2, 9, label="l", rank=3)["t"] == WHEN
        assert g.neighbors(2, label="l", properties=True)[1][1]["t"] == WHEN
        g.newest_neighbors(2, "l", 5, properties=True), g.neighbors(2, label="l", limit=1, properties=True)
        assert g.k_hop([1], 2, limit=2, partial=True).more
        g.neighbors(2, label=("", "l"), labels=True)
        assert g.degree(2, "both", label=["", "l"]) == 4
        assert g.degrees(np.array([1, 2]), label="l").tolist() == [1, 2]
        assert g.degrees([1, 2], "both", label=["", "l"]).tolist() == [g.degree(v, "both", label=["", "l"]) for v in (1, 2)]
        for time in ("2020-01-01", "2020-01-01T00:00:00Z", datetime(2020, 1, 1), datetime(2020, 1, 1).date(), np.datetime64("2020-01-01")):
            assert len(g.edge_table("l", where=("t", ">=", time))) == 1
        assert g.contains_edges([1, 2], np.array([2, 9]), label="").tolist() == [True, False]
        lists, rows, all_edges = g.neighbors_of([1, 2], label=""), g.csr("l", order="key"), g.edges()
        assert lists[0].tolist() == [2, 3, 4] and rows is not g.csr("l") and len(all_edges.src) == 8
        refused(hedgerow.DataError, g.csr, "l", weight="f")
        some_edges, tables = g.edges(label="l", where=("i", ">", 0)), [g.edge_table("l"), g.edge_table("")]
        streams = [repr(g.edge_stream("l", where=("i", ">", 0), columns=["dst"], part=g.partitions(2)[0])), repr(g.vertex_stream()), repr(g.expand([1], label="l"))]
        other = hedgerow.open(weighted=True)
        other.define_label("l", multi=True)
        assert other.add_edges(g.edge_stream("l"), label="l") == g.edge_count_of("l") and other.add_vertices(g.vertex_stream()) == g.vertex_count
        refused(hedgerow.DataError, g.export, "", format="x")
        path = folder + "/a.csv"
        with open(path, "w") as file:
            print("1,2", "x,3", sep="\\n", file=file)
        assert other.load(path, on_error="skip").rejected == 1
        refused(hedgerow.DataError, other.load, path)
        for answer in (lists, rows, all_edges, some_edges, *tables, g.k_hop([1], 2)):
            answer.__arrow_c_stream__(), answer.__arrow_c_schema__()
        assert [len(list(table)) for table in tables] == [len(table.src) for table in tables] and len(np.asarray(g.pagerank())) == g.vertex_count
        assert db.remove_edges_where("l", rank_range=(2, None), where=("i", ">", 0)) > 0
        g.labels(), db.labels(), g.schema(), db.schema(), repr(g), repr(db)


KERNELS = {
    **dict.fromkeys(("pagerank", "wcc", "tc", "betweenness", "louvain", "leiden", "lcc", "cdlp", "scc", "kcore"), {}),
    **dict.fromkeys(("degrees", "msf", "closeness", "matching", "wbetweenness", "wcloseness", "wpagerank"), {}),
    **dict.fromkeys(("bfs", "sssp", "bfs_parents", "cycles"), {"source": 1}),
    **dict.fromkeys(("path", "wpath", "kpaths"), {"source": 1, "target": 4}),
    **dict.fromkeys(("jaccard", "adamic_adar", "ppr", "walks", "wwalks"), {"sources": [1, 2]}),
    "khop": {"source": 1, "hops": 2},
}


@tried
def kernels():
    for keys in ("u64", "str", "dense"):
        with hedgerow.open(directed=False, weighted=True, keys=keys) as db:
            name = str if keys == "str" else int
            ids = [name(n) for n in (1, 2, 3, 4, 1, 5)]
            db.add_edges(ids, ids[1:] + ids[:1], [1.0, 2, 3, 4, 5, 6])
            # One that no edge leads to or from has no value here and there.
            db.add_vertices([name(9)])
            g = db.snapshot()
            for kernel, parameters in KERNELS.items():
                named = {k: [name(n) for n in v] if isinstance(v, list) else v for k, v in parameters.items()}
                named |= {k: name(named[k]) for k in ("source", "target") if k in named}
                answer = g.run(kernel, progress=lambda done, total: None, **named)
                if not isinstance(answer, int):
                    answer.__arrow_c_stream__(), len(answer), list(answer)
            g.bfs(name(1)).to_dict(), g.sssp(name(1)).top(3), g.wcc().counts()
            g.pagerank(tolerance=1e-6)[name(1)], g.csr().weights
            assert g.triangle_count() == 0 and g.run("bfs_parents", source=name(1))[name(9)] is None
            for kept in ("wcc", "tc", "pagerank", "degrees"):
                kept = db.maintain(kept)
                kept.at(db.snapshot()), kept.release()
    refused(hedgerow.DataError, hedgerow.open().snapshot().run, "no such kernel")


@tried
def stores():
    with hedgerow.open(folder + "/store") as db:
        db.transact(lambda tx: tx.put_edge(1, 2))
        tx = db.write()
        tx.put_edge(2, 3)
        ticket = tx.submit()
        ticket.wait(), ticket.done(), ticket.timestamp
        tx = db.write()
        tx.put_edge(3, 4), tx.rollback()
        tx = db.write()
        tx.put_edge(3, 4), tx.commit()
        with db.pipeline() as p:
            p.insert_edge(1, 9), p.put_edge(2, 9), p.remove_edge(1, 9)
            p.insert_edges([1, 2], np.array([3, 4])), p.put_edges([3], [4]), p.remove_edges([3], [4])
            assert p.flush().size == 7
        p.close()
        db.flush(), db.settle(), db.checkpoint(), db.compact(), db.stats(), db.check()
        db.backup(folder + "/backup")
        refused(hedgerow.LockedError, hedgerow.open, folder + "/store")
    hedgerow.salvage(folder + "/store", folder + "/saved")
    refused(hedgerow.OperationalError, hedgerow.open, folder, create=False)


@tried
def kinds():
    with hedgerow.open() as db:
        db.define_kind("user", "str")
        db.define_kind("page")
        db.define_label("edited", src="user", dst="page", properties={"minor": bool})
        db.add_vertices(["ann", "bob"], kind="user", properties={"born": [WHEN, None]})
        db.add_edges(["ann", "bob"], np.array([7, 8]), label="edited", properties={"minor": [True, None]})
        g = db.snapshot()
        assert g.neighbors(("user", "ann"), label="edited") == [("page", 7)] and ("user", "bob") in g.wcc(label="edited")
        for answer in (g.edges(), g.vertex_table("user"), g.neighbors_of(["ann"], label="edited", kind="user")):
            answer.__arrow_c_stream__()
        refused(hedgerow.DataError, g.has_vertex, ("user", 7))
        refused(TypeError, g.has_vertex, ("user", "ann", 7))


@tried
def conflicts():
    with hedgerow.open() as db:
        db.insert_edge(1, 2)
        one, other = db.write(), db.write()
        for tx, to in ((one, 3), (other, 4)):
            tx.degree(1), tx.put_edge(1, to)
        one.commit()
        refused(hedgerow.ConflictError, other.commit)


@tried
def refusals():
    db = hedgerow.open(weighted=True)
    db.define_label("l", properties={"i": int, "t": datetime})
    tx = db.write()
    for ids in (np.array([0.5]), np.array(["x"]), np.array([1j]), np.array([[1]]), TIMES[:1], [object()], [-1]):
        refused(hedgerow.DataError, db.add_edges, ids, ids)
    for column in (np.array([1j]), [object()], [1, "a"], np.array([2**63], "uint64"), np.array([1], "m8[s]")):
        ends = [1] * len(column)
        refused(hedgerow.DataError, db.add_edges, ends, ends, label="l", properties={"x": column})
    refused(hedgerow.DataError, db.add_edges, [1], [2], np.array(["x"]))
    refused(hedgerow.DataError, db.add_edges, [1], [2], [[1]])
    refused(hedgerow.DataError, db.add_edges, [1, 2], [2])
    refused(hedgerow.DataError, db.add_vertices, [1], properties={"t": np.array([1], "datetime64[ps]")})
    refused(hedgerow.DataError, tx.put_edge, 1, 2, label="l", t=datetime(2020, 1, 1))
    refused(hedgerow.DataError, tx.put_edge, -1, 2)
    refused(hedgerow.DataError, tx.put_edge, "a", 2)
    refused(TypeError, tx.put_edge, None, 2)
    refused(TypeError, tx.put_edge, 1, 2, label="l", i=object())
    refused(TypeError, tx.put_edge, 1, 2, label="l", properties=[1])
    refused(hedgerow.DataError, db.add_edges, [1], [2], label="l", properties=[1])
    refused(hedgerow.DataError, db.add_edges, 1, 2)
    refused(hedgerow.DataError, db.add_edges, "ab", "cd")
    refused(TypeError, db.snapshot().vertex_table, properties=7)
    refused(TypeError, db.snapshot().edges, label=7)
    refused(TypeError, db.snapshot().edges, where=7)
    refused(hedgerow.DataError, db.define_property, "x", complex)
    refused(hedgerow.DataError, hedgerow.open, keys="x")
    refused(hedgerow.DataError, db.snapshot().degree, 1, "x")
    refused(hedgerow.IntegrityError, db.snapshot().degree, 77)
    refused(hedgerow.IntegrityError, db.snapshot().bfs, 77)
    refused(hedgerow.ProgrammingError, db.snapshot().edges, label="none")
    refused(hedgerow.NotSupportedError, db.checkpoint)
    g = db.snapshot()
    g.close(), tx.rollback(), db.close()
    refused(hedgerow.ClosedError, db.write)
    refused(hedgerow.ClosedError, g.vertices)


sys.setprofile(None)
for kind in ("Database", "Transaction", "Snapshot", "Maintained", "Ticket", "Pipeline"):
    for name, member in vars(getattr(hedgerow, kind)).items():
        if not name.startswith("_") and type(member).__name__ == "method_descriptor":
            assert wrong or member.__qualname__ in called, f"add a call of {member.__qualname__}"
print(*wrong, sep="\\n", end="")
"""

# Imports the package in forked children. In each of them one call of a Python function is interrupted; then the
# package is imported once more.
TRIES = """
import os, sys, traceback
import numpy, numpy.ma, numpy.typing

every = int(sys.argv[1])


def attempt(at):
    left = at

    def interrupt(frame, event, argument):
        nonlocal left
        left -= event == "call"
        if left == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(interrupt)
    try:
        import hedgerow
    except BaseException as error:
        # Python hides it where a class is made.
        assert left == 0 and KeyboardInterrupt in (type(error), type(error.__cause__)), repr(error)
    sys.setprofile(None)
    import hedgerow
    with hedgerow.open() as db:
        db.add_edges(numpy.array([1, 2]), [2, 3])
        edges = db.snapshot().edges()
        edges.__arrow_c_stream__()
        assert isinstance(edges, hedgerow.Edges) and edges.src.tolist() == [1, 2]
    return left > 0


at, code = 1, 0
while code == 0:
    child = os.fork()
    if child == 0:
        try:
            code = 3 if attempt(at) else 0
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stderr.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    at += every
print(at, code)
"""


def run(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_calls_import_nothing(tmp_path: Path) -> None:
    assert run(CALLS, str(tmp_path)) == ""


def test_an_interrupted_import_is_tried_again() -> None:
    # Of a few thousand functions that are called, each fortieth.
    assert run(TRIES, "40").split()[1] == "3"
