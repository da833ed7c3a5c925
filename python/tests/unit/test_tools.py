"""Backup, compaction, salvage, and checkpoints in the background."""

from pathlib import Path

import pytest

import hedgerow


def ring(path: Path, vertices: int = 1000) -> hedgerow.Database:
    db = hedgerow.open(path, directed=False)
    db.add_edges(range(vertices), [(v + 1) % vertices for v in range(vertices)])
    return db


def test_backup_is_a_store(tmp_path: Path) -> None:
    with ring(tmp_path / "store") as db:
        done = db.backup(tmp_path / "copy")
        assert (done.timestamp, done.vertices) == (db.published_ts, 1000)
        db.insert_edge(1, 500)
        with pytest.raises(hedgerow.Error, match="not empty"):
            db.backup(tmp_path / "copy")
    with hedgerow.open(tmp_path / "copy", create=False) as copy:
        assert copy.check().ok
        assert copy.snapshot().edge_count == 1000
    with hedgerow.open() as db:
        db.insert_edge(1, 2)
        db.backup(tmp_path / "memory")
    with hedgerow.open(tmp_path / "memory", create=False) as copy:
        assert copy.snapshot().edge_count == 1


def test_compact_and_incremental_checkpoints(tmp_path: Path) -> None:
    with ring(tmp_path / "store", 6400) as db:
        whole = db.checkpoint()
        db.insert_edge(1, 3)
        few = db.checkpoint()
        assert few.segments == 2
        assert few.bytes * 10 < whole.bytes
        assert db.compact().segments == 1
        assert db.stats().segments == 1
    with hedgerow.open() as db, pytest.raises(hedgerow.NotSupportedError):
        db.compact()


def test_the_log_is_bounded(tmp_path: Path) -> None:
    with hedgerow.open(tmp_path / "store", durability="manual", checkpoint_log_bytes=100_000) as db:
        for i in range(0, 100_000, 1000):
            db.add_edges(range(i, i + 1000), range(i + 1, i + 1001))
        assert db.stats().background_checkpoints >= 1
        assert db.checkpoint_error is None


def test_salvage(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with ring(store) as db:
        db.checkpoint()
        db.insert_edge(5, 700)
    whole = hedgerow.salvage(store, tmp_path / "whole")
    assert (whole.whole, whole.vertices, whole.edges, whole.losses, whole.damages) == (True, 1000, 1001, [], [])
    log = next(store.glob("*.wal"))
    log.write_bytes(b"x" * 100)
    with pytest.raises(hedgerow.CorruptionError):
        hedgerow.open(store)
    report = hedgerow.salvage(store, tmp_path / "new")
    assert not report.whole
    assert report.vertices == 1000
    with hedgerow.open(tmp_path / "new", create=False) as db:
        assert db.check().ok
        assert db.snapshot().edge_count == report.edges
    with pytest.raises(hedgerow.Error, match="not empty"):
        hedgerow.salvage(store, tmp_path / "new")


def test_salvage_goes_on_behind_a_lost_commit(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with hedgerow.open(store) as db:
        for v in range(1, 30):
            db.insert_edge(v, 100 + v)
    log = next(store.glob("*.wal"))
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    log.write_bytes(damaged)
    report = hedgerow.salvage(store, tmp_path / "new")
    assert (report.lost_commits, report.edges, report.lost_edges) == (1, 28, 0)
    assert 0 < report.doubtful_edges < 28
    assert 0 < report.doubtful_vertices < 56


def test_no_copy_goes_into_the_store_itself(tmp_path: Path) -> None:
    store = tmp_path / "store"
    (tmp_path / "link").symlink_to(store)
    with ring(store) as db:
        for path in (store, store / "copy", tmp_path / "link" / "copy"):
            with pytest.raises(hedgerow.Error, match="or below it"):
                db.backup(path)
    with pytest.raises(hedgerow.Error, match="or below it"):
        hedgerow.salvage(store, tmp_path / "link" / "copy")
    assert not (store / "copy").exists()


def test_damage_that_cost_nothing_is_no_loss(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with ring(store) as db:
        db.checkpoint()
    segment = next(store.glob("*.csr"))
    damaged = bytearray(segment.read_bytes())
    damaged[10] ^= 1
    segment.write_bytes(damaged)
    report = hedgerow.salvage(store, tmp_path / "new")
    assert report.whole
    assert (report.losses, len(report.damages), report.edges) == ([], 1, 1000)
