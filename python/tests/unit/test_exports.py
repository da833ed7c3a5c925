"""Exports of snapshots into directories: what other libraries read from the files, and what is left after a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.feather
import pytest

import hedgerow

ROOT = Path(__file__).resolve().parents[3]


def _fill(db: hedgerow.Database) -> None:
    db.define_kind("page", keys="str")
    db.define_label("saw", src="", dst="page", multi=True)
    db.add_edges(np.arange(3000), np.arange(3000) * 7 % 1000, label="knows", properties={"since": np.arange(3000) % 50})
    db.add_edges([1, 2], ["a", "b"], label="saw", ranks=[5, 0], properties={"at": np.array(["2020-01-01", "NaT"], "M8[D]")})
    db.add_vertices(["a"], kind="page", properties={"title": ["Owls"]})


def _read(files: list[str], begin: str) -> pl.DataFrame:
    found = [file for file in files if Path(file).name.startswith(begin)]
    read = {".parquet": pl.read_parquet, ".csv": pl.read_csv, ".arrow": lambda file: pl.DataFrame(pyarrow.feather.read_table(file))}
    return pl.concat([read[Path(file).suffix](file) for file in found])


@pytest.mark.parametrize("format", ["parquet", "arrow", "csv"])
def test_files_have_the_rows_of_the_streams(db: hedgerow.Database, tmp_path: Path, format: str) -> None:
    _fill(db)
    g = db.snapshot()
    db.add_edges([7], [8], label="knows")
    exported = g.export(tmp_path / "out", format=format)  # type: ignore[arg-type]
    assert (exported.vertices, exported.edges) == (g.vertex_count, g.edge_count)
    assert sorted(os.listdir(tmp_path / "out")) == sorted(Path(file).name for file in exported.files)
    assert Path(exported.files[-1]).name == "schema.json"
    knows = _read(exported.files, "edges-2-knows")
    assert knows.height == 3000
    if format == "csv":
        rows = pl.DataFrame(g.edge_stream("knows")).select("src", "dst", "since").cast(pl.Int64).rows()
        assert knows.select("src", "dst", knows.columns[-1]).cast(pl.Int64).rows() == rows
    else:
        assert knows.equals(pl.DataFrame(g.edge_stream("knows")))
        assert _read(exported.files, "vertices-1-page").equals(pl.DataFrame(g.vertex_stream("page")))


def test_parts_have_each_row_once_and_load_again(db: hedgerow.Database, tmp_path: Path) -> None:
    _fill(db)
    g = db.snapshot()
    exported = g.export(tmp_path / "out", partitions=4)
    assert len([file for file in exported.files if "knows" in file]) == len(g.partitions(4)) > 1
    assert _read(exported.files, "edges-2-knows").equals(pl.DataFrame(g.edge_stream("knows")))
    described = json.loads(Path(exported.files[-1]).read_text())
    assert described["version"] == 3 and sum(part["rows"] for part in described["labels"][2]["parts"]) == 3000
    program = Path(os.environ.get("HEDGEROW_PROGRAM") or ROOT / "target/debug/hedgerow")
    if not program.exists():
        pytest.skip("the command line is not built")
    subprocess.run([program, "load", tmp_path / "store", tmp_path / "out"], check=True, capture_output=True)
    with hedgerow.open(tmp_path / "store") as other:
        after = other.snapshot()
        assert after.labels() == g.labels()
        for label in g.labels():
            one, two = pl.DataFrame(g.edge_stream(label)), pl.DataFrame(after.edge_stream(label))
            assert one.sort(one.columns).equals(two.sort(two.columns))
        one, two = pl.DataFrame(g.vertex_stream("page")), pl.DataFrame(after.vertex_stream("page"))
        assert one.sort("id").equals(two.sort("id"))


def test_small_graphs_have_the_same_names(tmp_path: Path) -> None:
    with hedgerow.open() as db:
        files = [Path(file).name for file in db.snapshot().export(tmp_path / "none", partitions=3).files]
        assert files == ["vertices.0.parquet", "edges.0.parquet", "schema.json"]
        db.add_edges([1], [2])
        files = [Path(file).name for file in db.snapshot().export(tmp_path / "few", partitions=3).files]
        assert files == ["vertices.0.parquet", "edges.0.parquet", "schema.json"]
        assert Path(db.snapshot().export(tmp_path / "one").files[1]).name == "edges.parquet"


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_an_interrupted_export_leaves_no_directory(tmp_path: Path, format: str) -> None:
    code = f"""
import os, signal, threading, numpy as np, hedgerow
# A process in the background may have been started without this handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
db = hedgerow.open()
db.add_edges(np.arange(400_000), np.arange(400_000) * 7 % 399_989, properties={{"x": np.arange(400_000)}})
g = db.snapshot()
started = threading.Event()
def interrupt():
    while not os.path.isdir({str(tmp_path / "out")!r}):
        pass
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    g.export({str(tmp_path / "out")!r}, format={format!r}, partitions=1)
except KeyboardInterrupt:
    print("interrupted", os.path.exists({str(tmp_path / "out")!r}))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "interrupted False\n", ran


def test_an_export_runs_beside_writers(db: hedgerow.Database, tmp_path: Path) -> None:
    _fill(db)
    g, stop = db.snapshot(), threading.Event()

    def write() -> None:
        at = 10_000
        while not stop.is_set():
            db.add_edges(np.arange(at, at + 500), np.arange(at, at + 500) + 1, label="knows")
            at += 500

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for at in range(3):
            exported = g.export(tmp_path / str(at), partitions=3)
            assert _read(exported.files, "edges-2-knows").equals(pl.DataFrame(g.edge_stream("knows")))
    finally:
        stop.set()
        writer.join()


def test_what_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hedgerow.open(tmp_path / "store") as db:
        _fill(db)
        g = db.snapshot()
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "file").touch()
        (tmp_path / "empty").mkdir()
        for path, arguments, error, message in (
            ("full", {}, hedgerow.DataError, "is not empty: an export goes into a new directory or an empty one"),
            ("full/file", {}, hedgerow.DataError, "is not a directory"),
            ("store/out", {}, hedgerow.DataError, "is inside the store"),
            ("no/where", {}, hedgerow.OperationalError, "No such file"),
            ("out", {"format": "xml"}, hedgerow.DataError, 'format must be "parquet", "arrow" or "csv", found "xml"'),
            ("out", {"partitions": 0}, hedgerow.DataError, "partitions"),
            ("out", {"partitions": "2"}, TypeError, "integer"),
            ("out", {"format": "csv", "partitions": 2}, hedgerow.DataError, "parts are files of parquet or arrow"),
        ):
            with pytest.raises(error, match=message):
                g.export(tmp_path / path, **arguments)
        assert sorted(os.listdir(tmp_path)) == ["empty", "full", "store"]
        assert not (tmp_path / "store" / "out").exists() and os.listdir(tmp_path / "full") == ["file"]
        g.export(tmp_path / "empty")
        monkeypatch.chdir(tmp_path / "store")
        with pytest.raises(hedgerow.DataError, match="is inside the store"):
            g.export("out")
        g.close()
        with pytest.raises(hedgerow.ClosedError):
            g.export(tmp_path / "out")
