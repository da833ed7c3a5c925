"""Opening, options, closing, and what happens afterwards."""

import gc
import os
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from support import FOR_EVER

import hedgerow


def test_without_files() -> None:
    for db in (hedgerow.open(), hedgerow.open(None), hedgerow.open(":memory:")):
        assert db.path is None
        assert (db.directed, db.keys, db.weighted, db.read_only, db.closed) == (True, "u64", False, False, False)
        assert db.insert_edge(1, 2)
        assert db.published_ts == db.durable_ts > 0
        with pytest.raises(hedgerow.NotSupportedError, match="checkpoint"):
            db.checkpoint()
        db.close()


@pytest.mark.parametrize("kind", [str, Path])
def test_content_outlives_the_handle(store: Path, kind: type) -> None:
    with hedgerow.open(kind(store), directed=False, keys="str", weighted=True) as db:
        assert db.path == str(store)
        with db.write() as tx:
            tx.put_edge("ann", "bob", 0.25)
        ts = db.published_ts
        assert db.durable_ts == ts
    with hedgerow.open(store) as db:
        assert (db.directed, db.keys, db.weighted) == (False, "str", True)
        with db.snapshot() as g:
            assert g.timestamp == ts
            assert g.weight("bob", "ann") == 0.25


def test_checkpoint_and_read_only(store: Path) -> None:
    with hedgerow.open(store) as db:
        db.add_edges(range(1000), range(1, 1001))
        written = db.checkpoint()
        assert written.timestamp == db.published_ts
        assert written.bytes > 0
        assert db.stats().segment_bytes == written.bytes
        assert db.check() == hedgerow.CheckReport(vertices=1001, edges=1000, segments=1, problems=[])
    with hedgerow.open(store, read_only=True) as db:
        assert db.read_only
        assert db.snapshot().edge_count == 1000
        assert db.check().ok
        with pytest.raises(hedgerow.ProgrammingError, match="reading only"):
            db.write()


@pytest.mark.parametrize("durability", ["sync", "manual", ("group", 0.01)])
@pytest.mark.parametrize("isolation", ["serializable", "snapshot"])
def test_modes(store: Path, durability: object, isolation: str) -> None:
    with hedgerow.open(store, durability=durability, isolation=isolation) as db:
        db.insert_edge(1, 2)
        db.flush()
        assert db.durable_ts == db.published_ts
    with hedgerow.open(store) as db:
        assert db.snapshot().has_edge(1, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        {"keys": "int"},
        {"durability": "never"},
        {"durability": ("group", 0)},
        {"durability": ("group", -1.0)},
        {"durability": ("group", float("nan"))},
        {"durability": ("group", float("inf"))},
        {"durability": ("group", 9e-7)},
        {"durability": ("group", 86_400.001)},
        {"durability": ("group", 1e300)},
        {"checkpoint_log_bytes": -1},
        {"checkpoint_log_bytes": 2**64},
        {"log_segment_bytes": 4095},
        {"log_segment_bytes": 2**64 - 1},
        {"durability": ("sync", 1.0)},
        {"durability": 3},
        {"isolation": "none"},
        {"path": ""},
        {"read_only": True},
    ],
)
def test_arguments_without_meaning(arguments: dict) -> None:
    with pytest.raises(hedgerow.DataError):
        hedgerow.open(**arguments)


def test_arguments_of_wrong_types() -> None:
    with pytest.raises(TypeError):
        hedgerow.open(17)
    with pytest.raises(TypeError):
        hedgerow.open(directed="yes")
    with pytest.raises(TypeError):
        hedgerow.open(memory=True)
    with pytest.raises(TypeError):
        hedgerow.open(checkpoint_log_bytes="1")
    with pytest.raises(TypeError):
        hedgerow.open(checkpoint_log_bytes=1.5)
    with pytest.raises(TypeError):
        hedgerow.open(views_by_reads="no")


@pytest.mark.parametrize("may_make", [True, False])
def test_many_reads_make_the_view_unless_they_may_not(may_make: bool) -> None:
    with hedgerow.open(keys="dense", views_by_reads=may_make) as db:
        with db.write() as tx:
            tx.add_edges([0, 1, 2], [1, 2, 0])
        snapshot = db.snapshot()
        for _ in range(2000):
            assert (snapshot.degree(1), snapshot.neighbors(1), snapshot.has_edge(0, 1)) == (1, [2], True)
        assert (db.stats().view_bytes > 0) == may_make


@pytest.mark.parametrize(
    "options",
    [
        {"durability": ("group", 1e-6)},
        {"durability": ("group", 86_400)},
        {"checkpoint_log_bytes": 0},
        {"checkpoint_log_bytes": 1},
        {"checkpoint_log_bytes": 2**64 - 1},
        {"log_segment_bytes": 4096},
        {"log_segment_bytes": 16 << 30},
    ],
)
def test_extremes_of_options_open_again(store: Path, options: dict) -> None:
    for n in range(3):
        with hedgerow.open(store, **options) as db:
            assert db.snapshot().edge_count == n
            assert db.insert_edge(n, n + 1)


def test_a_store_of_few_edges_takes_little_of_the_disk(store: Path) -> None:
    with hedgerow.open(store) as db:
        db.add_edges([1, 2, 3], [2, 3, 1])
        assert sum(file.stat().st_size for file in store.iterdir()) < 1 << 20


def test_ranges_are_named() -> None:
    with pytest.raises(hedgerow.DataError, match="group durability must be 0.000001 to 86400 seconds, found 0"):
        hedgerow.open(durability=("group", 0.0))
    with pytest.raises(hedgerow.DataError, match="checkpoint_log_bytes must be 0 to 18446744073709551615, found -1"):
        hedgerow.open(checkpoint_log_bytes=-1)


def test_second_open_is_locked(store: Path) -> None:
    with hedgerow.open(store):
        with pytest.raises(hedgerow.LockedError, match="this process has it open already"):
            hedgerow.open(store)
    hedgerow.open(store).close()


def test_readers_share_a_store(store: Path) -> None:
    with hedgerow.open(store) as db:
        db.insert_edge(1, 2)
        with pytest.raises(hedgerow.LockedError, match="this process has it open already"):
            hedgerow.open(store, read_only=True)
    code = "import hedgerow, sys\nprint(hedgerow.open(sys.argv[1], read_only=sys.argv[2:] == ['read']).snapshot().edge_count)"

    def other(*arguments: str) -> tuple[str, str]:
        command = [sys.executable, "-I", "-c", code, str(store), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
        return ended.stdout.strip(), ended.stderr.strip().rpartition("is locked: ")[2]

    with hedgerow.open(store, read_only=True) as first, hedgerow.open(store, read_only=True) as second:
        assert first.snapshot().edge_count == second.snapshot().edge_count == 1
        assert other("read") == ("1", "")
        assert other() == ("", "another process has it open for reading")
        first.close()
        with pytest.raises(hedgerow.LockedError, match="this process has it open for reading"):
            hedgerow.open(store)
    hedgerow.open(store).close()


def test_a_closed_snapshot_keeps_no_lock(store: Path) -> None:
    db = hedgerow.open(store)
    db.insert_edge(1, 2)
    closed, left = db.snapshot(), db.snapshot()
    closed.pagerank()
    closed.close()
    with left:
        del db
        gc.collect()
        # An open one reads on, and the directory is not free for as long.
        assert left.neighbors(1) == [2]
        with pytest.raises(hedgerow.LockedError):
            hedgerow.open(store)
    with hedgerow.open(store) as again:
        assert again.insert_edge(2, 3)
    assert closed.closed and left.closed
    with pytest.raises(hedgerow.ClosedError, match="snapshot"):
        left.neighbors(1)


def test_not_a_store(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear reader")
    with pytest.raises(hedgerow.OperationalError, match="not a store"):
        hedgerow.open(tmp_path)
    with pytest.raises(hedgerow.OperationalError):
        hedgerow.open(tmp_path / "letter.txt")
    with pytest.raises(hedgerow.OperationalError):
        hedgerow.open(tmp_path / "absent", create=False)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["letter.txt"]


def test_other_configuration(store: Path) -> None:
    hedgerow.open(store, directed=False).close()
    for asked in ({"directed": True}, {"keys": "str"}, {"weighted": True}):
        with pytest.raises(hedgerow.ProgrammingError, match="was created .*: it cannot be opened"):
            hedgerow.open(store, **asked)


def test_damage_is_reported(store: Path) -> None:
    with hedgerow.open(store) as db:
        db.add_edges(range(5000), range(1, 5001))
        db.checkpoint()
    segment = max(store.glob("*.csr"), key=lambda p: p.stat().st_size)
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    for read_only in (False, True):
        # What is damaged is read when it is needed.
        with hedgerow.open(store, read_only=read_only) as db:
            report = db.check()
            assert not report.ok and any(segment.name in problem for problem in report.problems)
            assert (report.vertices, report.edges, report.segments) == (None, None, None)


def test_figures_of_a_store_that_is_only_read(store: Path) -> None:
    with hedgerow.open(store) as db:
        db.add_edges(range(1000), range(1, 1001))
        db.checkpoint()
        db.add_edges([1], [5])
        writing = db.stats()
    with hedgerow.open(store, read_only=True) as db:
        reading = db.stats()
        files = {kind: [path.stat().st_size for path in store.glob(f"*.{kind}")] for kind in ("wal", "csr")}
        assert (reading.log_bytes, reading.segment_bytes) == (sum(files["wal"]), sum(files["csr"]))
        assert (reading.segments, reading.segment_bytes) == (writing.segments, writing.segment_bytes)
        assert reading.log_bytes >= writing.log_bytes > 0


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    try:
        os.mkdir(raw)
    except OSError:
        return  # This file system has names in UTF-8 alone.
    with hedgerow.open(os.fsdecode(raw)) as db:
        db.add_edges([1], [2])
        assert db.path == os.fsdecode(raw) and os.fsencode(db.path) == raw
        assert "caf" in repr(db)
        db.backup(os.fsdecode(raw + b"2"))
    with hedgerow.open(os.fsdecode(raw + b"2"), read_only=True, create=False) as db:
        assert db.stats().edges == 1 and db.stats().log_bytes >= 0
    assert sorted(os.listdir(os.fsencode(tmp_path))) == [b"caf\xe9", b"caf\xe92"]
    with pytest.raises(TypeError):
        hedgerow.open(raw)  # type: ignore[arg-type]


def test_use_after_close() -> None:
    db = hedgerow.open()
    db.insert_edge(1, 2)
    tx, g = db.write(), db.snapshot()
    tx.put_edge(2, 3)
    db.close()
    db.close()
    assert db.closed
    calls = [
        db.write,
        db.snapshot,
        db.flush,
        db.settle,
        db.stats,
        db.check,
        db.checkpoint,
        db.__enter__,
        lambda: db.insert_edge(1, 2),
        lambda: db.remove_edge(1, 2),
        lambda: db.add_edges([1], [2]),
        lambda: db.transact(lambda tx: None),
        tx.commit,
        tx.__enter__,
        lambda: tx.put_edge(1, 2),
        lambda: tx.has_edge(1, 2),
        lambda: tx.add_edges([1], [2]),
    ]
    for call in calls:
        with pytest.raises(hedgerow.ClosedError):
            call()
    tx.rollback()
    # What a snapshot sees is in memory.
    assert g.neighbors(1) == [2]
    assert g.bfs(1).to_dict() == {1: 0, 2: 1}
    g.close()
    g.close()
    assert g.closed
    for call in (lambda: g.timestamp, lambda: g.has_edge(1, 2), g.wcc, g.edges, g.__enter__):
        with pytest.raises(hedgerow.ClosedError, match="snapshot"):
            call()


def test_closing_in_any_order(store: Path) -> None:
    for first in range(3):
        db = hedgerow.open(store)
        db.insert_edge(1, 2)
        tx, g = db.write(), db.snapshot()
        tx.put_edge(5, 6)
        ends = [db.close, tx.rollback, g.close]
        for at in range(3):
            ends[(first + at) % 3]()
    with hedgerow.open(store) as db:
        assert db.snapshot().edge_count == 1


def test_collected_in_any_order(store: Path) -> None:
    for first in range(3):
        db = hedgerow.open(store)
        db.insert_edge(first, first + 1)
        held = [db, db.write(), db.snapshot()]
        held[1].put_edge(70, 80)
        seen = [weakref.ref(thing) for thing in held]
        del db
        held = held[first:] + held[:first]
        while held:
            # The directory is locked for as long as anything of the store is alive.
            with pytest.raises(hedgerow.LockedError):
                hedgerow.open(store)
            held.pop(0)
            gc.collect()
        assert all(ref() is None for ref in seen)
    with hedgerow.open(store) as db:
        assert db.snapshot().edge_count == 3


def test_the_block_closes_even_if_it_raises(store: Path) -> None:
    with pytest.raises(KeyError):
        with hedgerow.open(store) as db:
            g = db.snapshot()
            raise KeyError
    assert db.closed
    hedgerow.open(store).close()
    assert g.vertex_count == 0


def test_no_pickling(db: hedgerow.Database) -> None:
    for handle in (db, db.snapshot()):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(handle)


def test_repr(store: Path) -> None:
    with hedgerow.open(store, directed=False, keys="str") as db:
        assert "store" in repr(db) and "open undirected" in repr(db)
        with db.write() as tx:
            tx.put_edge("a", "b")
            assert "1 operations" in repr(tx)
        assert "committed" in repr(tx)
        g = db.snapshot()
        assert "2 vertices and 1 edges" in repr(g)
        g.close()
        assert "closed" in repr(g)
    assert "closed" in repr(db)


def test_without_incoming_edges(store: Path) -> None:
    with hedgerow.open(store, reverse=False) as db:
        db.add_edges([1, 2, 3], [9, 9, 1])
        assert db.snapshot().neighbors(9, direction="in") == [1, 2]
        assert db.snapshot().wcc().values.size == 4
    with pytest.raises(hedgerow.ProgrammingError):
        hedgerow.open(store, reverse=True)


def test_an_old_format_is_refused_by_name(store: Path) -> None:
    # The header of a manifest of format 3, with its checksum.
    header = (
        "4845444745524f5703000300000000000000000000000000000000000000000042"
        "65c4352a75e2e5e091733a32053c210200000000000000a8dc2e5e06ed8313"
    )
    store.mkdir()
    (store / "manifest-0000000000000002.man").write_bytes(bytes.fromhex(header))
    for read_only in (True, False):
        with pytest.raises(hedgerow.NotSupportedError, match=r"manifest-0000000000000002\.man has format version 3, "):
            hedgerow.open(store, read_only=read_only)


def test_modes(tmp_path: Path) -> None:
    code = (
        "import os, sys, hedgerow; os.umask(0o077); db = hedgerow.open(sys.argv[1], mode=0o640); "
        "db.insert_edge(1, 2); db.checkpoint(); db.close()"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True)
    assert {oct(file.stat().st_mode & 0o777) for file in (tmp_path / "s").iterdir()} == {"0o640"}
    assert oct((tmp_path / "s").stat().st_mode & 0o777) == "0o750"
    with pytest.raises(hedgerow.ProgrammingError, match="mode asks for 0o600, but the files of .* have 0o640"):
        hedgerow.open(tmp_path / "s", mode=0o600)
    for mode in (0o755, 0o400, 2**40, -1):
        with pytest.raises(hedgerow.DataError, match="mode must"):
            hedgerow.open(tmp_path / "t", mode=mode)
    with pytest.raises(TypeError):
        hedgerow.open(tmp_path / "t", mode="640")
