"""Tables as streams of Arrow batches, pulled by other libraries."""

import datetime
import gc
import threading

import numpy as np
import pytest

import hedgerow

pl = pytest.importorskip("polars", reason="polars cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="PyArrow cannot be installed here")


def fill(db: hedgerow.Database) -> None:
    db.define_kind("page", keys="str")
    db.define_label("saw", src="", dst="page", multi=True)
    db.add_vertices([1, 2, 3], properties={"id": ["x", None, ""], "age": [30, 31, None]})
    pages = [("page", "a"), ("page", "b")]
    at = [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), None, None]
    db.add_edges([1, 2, 1], [pages[0], pages[1], pages[1]], label="saw", ranks=[5, 0, 7], properties={"at": at, "raw": [b"\0", None, b""]})
    db.add_edges([1, 3], [2, 3], label="knows", properties={"since": [2001, None]})


def test_a_stream_has_the_rows_of_the_table(db: hedgerow.Database) -> None:
    fill(db)
    g = db.snapshot()
    saw = pa.table(g.edge_stream("saw"))
    assert saw.column_names == ["src", "dst", "rank", "at", "raw"]
    assert [str(kind) for kind in saw.schema.types] == ["uint64", "large_string", "uint64", "timestamp[us, tz=UTC]", "large_binary"]
    rows = sorted(zip(*(saw[name].to_pylist() for name in ("src", "dst", "rank", "raw")), strict=True))
    assert rows == [(1, "a", 5, b"\0"), (1, "b", 7, b""), (2, "b", 0, None)]
    knows = pl.DataFrame(g.edge_stream("knows"))
    assert knows.columns == ["src", "dst", "src_kind", "dst_kind", "since"]
    assert knows.rows() == [("1", "2", "", "", 2001), ("3", "3", "", "", None)]
    people = pa.table(g.vertex_stream())
    assert people.to_pydict() == {"id": [1, 2, 3], "id:utf8": ["x", None, ""], "age": [30, 31, None]}
    assert pa.table(g.vertex_stream("page")).to_pydict() == {"id": ["a", "b"]}
    assert repr(g.vertex_stream("page")) == "TableStream(id: LargeUtf8)"


def test_a_stream_is_read_as_often_as_it_is_asked(db: hedgerow.Database) -> None:
    n = 150_000
    db.add_edges(np.arange(n), np.arange(n) + 1)
    stream = db.snapshot().edge_stream("")
    db.add_edges([7], [9])
    for _ in range(2):
        reader = pa.RecordBatchReader.from_stream(stream)
        batches = [batch.num_rows for batch in reader]
        assert sum(batches) == n and max(batches) <= 65_536 and len(batches) >= 3
    assert pa.table(stream).schema == pa.schema(stream)
    assert pa.table(db.snapshot().edge_stream("")).num_rows == n + 1


def test_several_threads_pull_streams_beside_a_writer(db: hedgerow.Database) -> None:
    n = 100_000
    db.add_edges(np.arange(n), np.arange(n) + 1)
    g, found = db.snapshot(), []
    threads = [threading.Thread(target=lambda: found.append(pa.table(g.edge_stream("")).num_rows)) for _ in range(4)]
    for thread in threads:
        thread.start()
    db.add_edges(np.arange(n), np.arange(n) + 2)
    for thread in threads:
        thread.join()
    assert found == [n] * 4


def test_a_stream_of_what_is_not_there_is_refused(db: hedgerow.Database) -> None:
    fill(db)
    g = db.snapshot()
    with pytest.raises(hedgerow.ProgrammingError, match="nope"):
        g.edge_stream("nope")
    with pytest.raises(hedgerow.ProgrammingError, match="nope"):
        g.vertex_stream("nope")
    with pytest.raises(hedgerow.ProgrammingError, match="several labels|saw"):
        g.edge_stream()
    stream = g.vertex_stream()
    g.close()
    with pytest.raises(hedgerow.ClosedError):
        pa.table(stream)
    assert repr(stream) == "TableStream(closed)"


def test_a_reader_that_is_left_alone_does_not_keep_the_store_open(db: hedgerow.Database) -> None:
    db.add_edges([1], [2])
    reader = pa.RecordBatchReader.from_stream(db.snapshot().edge_stream(""))
    db.close()
    try:
        rows = reader.read_all().num_rows
    except Exception as error:
        assert "closed" in str(error)
    else:
        assert rows == 1
    del reader
    gc.collect()


def test_a_stream_has_only_the_named_columns(db: hedgerow.Database) -> None:
    fill(db)
    g = db.snapshot()
    whole, some = pa.table(g.edge_stream("saw")), pa.table(g.edge_stream("saw", columns=["raw", "dst"]))
    assert some.equals(whole.select(["raw", "dst"]))
    assert pa.table(g.edge_stream("saw", columns=[])).num_rows == 3
    assert pa.table(g.edge_stream("knows", columns=["dst_kind"])).to_pydict() == {"dst_kind": ["", ""]}
    assert pa.table(g.vertex_stream(columns=["age"])).to_pydict() == {"age": [30, 31, None]}
    for call in (g.edge_stream, g.vertex_stream):
        with pytest.raises(hedgerow.DataError, match="column nope: there is none; the columns are"):
            call("page" if call == g.vertex_stream else "saw", columns=["nope"])
    with pytest.raises(hedgerow.DataError, match="column dst: is named twice"):
        g.edge_stream("saw", columns=["dst", "dst"])


def test_a_stream_has_only_the_chosen_edges(db: hedgerow.Database) -> None:
    fill(db)
    g = db.snapshot()
    assert pa.table(g.edge_stream("saw", rank_range=(5, 7))).to_pydict()["dst"] == ["a"]
    assert pa.table(g.edge_stream("saw", where=("raw", "is", None))).to_pydict()["rank"] == [0]
    assert pa.table(g.edge_stream("saw", where=("at", "is not", None), columns=["rank"])).to_pydict() == {"rank": [5]}
    with pytest.raises(hedgerow.DataError, match="has no property nope"):
        g.edge_stream("saw", where=("nope", "==", 1))


def test_parts_have_each_row_once(db: hedgerow.Database) -> None:
    n = 20_000
    db.add_edges(np.arange(n) % 977, np.arange(n))
    g = db.snapshot()
    edges, vertices = pl.DataFrame(g.edge_stream()), pl.DataFrame(g.vertex_stream())
    for count in (1, 4, 16):
        parts = g.partitions(count)
        assert 1 <= len(parts) <= count
        found = pl.concat([pl.DataFrame(g.edge_stream(part=part)) for part in parts])
        assert found.equals(edges)
        assert pl.concat([pl.DataFrame(g.vertex_stream(part=part)) for part in parts]).equals(vertices)
    for refused, error in ((0, hedgerow.DataError), ("2", TypeError), (-1, hedgerow.DataError)):
        with pytest.raises(error):
            g.partitions(refused)
    for part in (3, (1, 2), (5, 2, g.timestamp), (-1, 2, 3), ("a", "b", "c")):
        with pytest.raises(TypeError, match=r"part must be one of Snapshot\.partitions"):
            g.edge_stream(part=part)
    assert hedgerow.open().snapshot().partitions(3) == []


def test_parts_are_of_one_snapshot_and_at_most_as_many_as_asked(db: hedgerow.Database) -> None:
    empty = db.snapshot()
    db.add_edges(np.arange(3000), np.arange(3000) + 1)
    full = db.snapshot()
    db.remove_vertices(np.arange(1000, 3001))
    half = db.snapshot()
    db.add_edges(np.arange(10_000, 20_000), np.arange(10_000, 20_000))
    for g, rows in ((empty, 0), (full, 3000), (half, 999)):
        for count in (1, 2, 5):
            parts = g.partitions(count)
            assert len(parts) <= count
            assert sum(pa.table(g.edge_stream("", part=part)).num_rows for part in parts) == rows
            assert sum(pa.table(g.vertex_stream(part=part)).num_rows for part in parts) == g.vertex_count
    with pytest.raises(hedgerow.DataError, match="part is of another snapshot"):
        half.edge_stream(part=full.partitions(2)[0])
    for call in (half.edge_stream, half.vertex_stream):
        with pytest.raises(TypeError, match="columns must be a sequence of names, found str"):
            call(columns="dst")


def test_parts_columns_and_conditions_go_together() -> None:
    db = hedgerow.open(directed=False)
    db.define_label("met", multi=True)
    n = 5000
    db.add_edges(np.arange(n) % 601, np.arange(n) % 977, label="met", ranks=np.arange(n), properties={"x": np.arange(n) % 7})
    g = db.snapshot()
    found = [pl.DataFrame(g.edge_stream("met", part=part, columns=["rank"], where=("x", ">", 4), rank_range=(100, None))) for part in g.partitions(4)]
    assert sorted(pl.concat(found)["rank"].to_list()) == [rank for rank in range(100, n) if rank % 7 > 4]
