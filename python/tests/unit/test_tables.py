"""Answers in columns: degrees and neighbors of many vertices, compressed rows, tables, and what other packages read of them."""

import gc
import weakref
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest

import hedgerow

pd = pytest.importorskip("pandas", reason="pandas cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be installed here")


def read(table: Any) -> Any:
    """Through the stream alone: `Edges` is a tuple too."""
    return pa.RecordBatchReader.from_stream(table).read_all()


KINDS = ["u64", "str", "dense"]


def key(kind: str, n: int) -> Any:
    return f"v{n * 7919 % 1000:03}" if kind == "str" else n if kind == "dense" else n * 7919 % 1000 << 40


def random_graph(kind: str, directed: bool = True, weighted: bool = False) -> hedgerow.Database:
    """Edges of two labels between 60 vertices, some of which are gone; parts of it settled, the last ones not."""
    rng = np.random.default_rng(3)
    db = hedgerow.open(keys=kind, directed=directed, weighted=weighted)
    db.define_label("calls", multi=True)
    for round in range(2):
        src, dst = ([key(kind, int(n)) for n in rng.integers(0, 60, 150)] for _ in range(2))
        db.add_edges(src, dst, rng.integers(1, 9, 150).astype(float) if weighted else None)
        db.add_edges(src[:40], dst[:40], label="calls", ranks=rng.integers(0, 3, 40))
        with db.write() as tx:
            tx.remove_vertex(key(kind, 7 + round))
        if round == 0:
            db.settle()
    return db


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False])
def test_many_are_as_one_by_one(kind: str, directed: bool) -> None:
    with random_graph(kind, directed).snapshot() as g:
        everyone = g.vertices().tolist()
        for keys in (everyone, everyone[:1], everyone[::-1] * 3, []):
            for direction in ("out", "in"):
                for label in (None, "", "calls"):
                    lists = g.neighbors_of(keys, direction, label=label)
                    expected = [g.neighbors(k, direction, label=label) for k in keys]
                    assert [found.tolist() for found in lists] == expected
                    assert lists.ids.tolist() == keys
                    assert len(lists) == len(keys)
                    degrees = g.degrees(keys, direction, label=label)
                    assert degrees.dtype == np.int64
                    assert degrees.tolist() == [len(found) for found in expected]


def test_keys_come_from_any_library() -> None:
    with hedgerow.open() as db:
        db.add_edges([5, 5, 2**63], [2**63, 6, 6])
        g = db.snapshot()
        for keys in (
            np.array([5, 2**63], np.uint64),
            [5, 2**63],
            (5, 2**63),
            pd.Series([5, 2**63], dtype="uint64"),
            pl.Series([5, 2**63], dtype=pl.UInt64),
            pa.array([5, 2**63], pa.uint64()),
            pa.chunked_array([[5], [2**63]], pa.uint64()),
        ):
            assert g.degrees(keys).tolist() == [2, 1]
            assert g.neighbors_of(keys)[0].tolist() == [6, 2**63]
    with hedgerow.open(keys="str") as db:
        db.add_edges(["a", "a"], ["b", ""])
        g = db.snapshot()
        for texts in (["a", ""], np.array(["a", ""]), pl.Series(["a", ""]), pa.array(["a", ""]), pd.Series(["a", ""])):
            assert g.degrees(texts).tolist() == [2, 0]
            assert g.neighbors_of(texts)[0].tolist() == ["", "b"]


def test_unknown_keys() -> None:
    with hedgerow.open() as db:
        db.add_edges([1, 2], [2, 3])
        g = db.snapshot()
        for call in (g.degrees, g.neighbors_of):
            with pytest.raises(hedgerow.IntegrityError, match=r"^keys\[2\]: no vertex 9$"):
                call([1, 2, 9, 8])
            with pytest.raises(hedgerow.DataError, match="missing must be"):
                call([1], missing="skip")
            with pytest.raises(hedgerow.DataError, match="direction must be"):
                call([1], "up")
            with pytest.raises(hedgerow.ProgrammingError, match="no label x"):
                call([1], label="x")
            with pytest.raises(hedgerow.DataError, match=r"keys\[0\]: vertex id -1"):
                call([-1])
            with pytest.raises(hedgerow.DataError, match="keys"):
                call(["a"])
        assert g.degrees([9, 1], missing="empty").tolist() == [0, 1]
        lists = g.neighbors_of([9, 1], missing="empty")
        assert [found.tolist() for found in lists] == [[], [2]]
        with pytest.raises(IndexError, match="row 2 of 2 lists"):
            lists[2]
        assert lists[-1].tolist() == [2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False])
def test_compressed_rows(kind: str, directed: bool) -> None:
    with random_graph(kind, directed, weighted=True).snapshot() as g:
        for direction in ("out", "in"):
            for order in ("id", "key"):
                csr = g.csr("", direction=direction, order=order)
                ids = csr.ids.tolist()
                assert ids == (sorted(ids) if order == "key" else g.vertices().tolist())
                assert (csr.offsets.dtype, csr.targets.dtype) == (np.int64, np.uint32)
                assert csr.weights is not None
                for row, k in enumerate(ids):
                    part = slice(csr.offsets[row], csr.offsets[row + 1])
                    found = dict(zip(csr.ids[csr.targets[part]].tolist(), csr.weights[part].tolist(), strict=True))
                    ends = [(k, n) if direction == "out" else (n, k) for n in g.neighbors(k, direction, label="")]
                    expected = {n[direction == "out"]: g.weight(*n) for n in ends}
                    assert found == expected
        calls = g.csr("calls", order="key")
        assert calls.weights is None
        assert len(calls.targets) == g.degrees(calls.ids, label="calls").sum()


def test_compressed_rows_are_shared_while_they_are_used() -> None:
    with hedgerow.open() as db, hedgerow.open() as other:
        for store in (db, other):
            store.add_edges([3, 1], [1, 2])
        g = db.snapshot()
        csr = g.csr()
        assert g.csr() is db.snapshot().csr("") is csr
        assert csr is not g.csr(order="key")
        assert csr is not g.csr(direction="in")
        assert csr is not other.snapshot().csr()
        with pytest.raises(ValueError, match="read-only"):
            csr.targets[0] = 1
        db.insert_edge(3, 2)
        assert len(db.snapshot().csr().targets) == 3
        assert g.csr() is csr
        g.close()
        gone = weakref.ref(csr)
        targets = csr.targets
        del csr
        gc.collect()
        assert gone() is None
        assert targets.tolist() in ([0, 2], [1, 2], [2, 0], [0, 1], [1, 0], [2, 1])


def test_a_property_is_a_weight() -> None:
    with hedgerow.open() as db:
        db.add_edges([1, 1, 2], [2, 3, 3], label="road", properties={"miles": [5.0, 1.0, 2.0], "name": ["a", "b", "c"]})
        g = db.snapshot()
        csr = g.csr(weight="miles", order="key")
        assert csr.weights is not None
        assert (csr.targets.tolist(), csr.weights.tolist()) == ([1, 2, 2], [5.0, 1.0, 2.0])
        assert g.csr().weights is None
        db.add_edges([1, 2], [2, 3], label="rail", weights=[5.0, 2.0])
        weights = db.snapshot().csr("rail").weights
        assert weights is not None and weights.tolist() == [5.0, 2.0]
        for wrong in ({"weight": "name"}, {"weight": "none"}, {"order": "rank"}, {"direction": "both"}):
            with pytest.raises(hedgerow.DataError):
                g.csr(**wrong)


def test_nothing() -> None:
    with hedgerow.open() as db:
        g = db.snapshot()
        csr = g.csr(order="key")
        assert (csr.offsets.tolist(), csr.targets.tolist(), len(csr)) == ([0], [], 0)
        assert g.degrees([]).tolist() == []
        assert read(g.neighbors_of([])).num_rows == 0
        assert read(g.vertex_table()).column_names == ["id"]
        assert read(g.edges()).schema.names == ["src", "dst"]
        assert pl.DataFrame(csr).height == 0


@pytest.fixture
def people() -> hedgerow.Snapshot:
    """Properties of every type, each missing somewhere."""
    db = hedgerow.open()
    born = datetime(1990, 1, 2, 3, 4, 5, 6, tzinfo=timezone.utc)
    with db.write() as tx:
        tx.add_vertex(1, name="Ann", age=30, height=1.7, member=True, photo=b"\0\xff", born=born)
        tx.add_vertex(2, name="")
        tx.put_edge(1, 2, label="knows", rank=0, properties={"since": 2001, "how": "wörk"})
        tx.put_edge(2, 1, label="knows", rank=0)
    return db.snapshot()


EVERYTHING = {
    "id": [1, 2],
    "name": ["Ann", ""],
    "age": [30, None],
    "height": [1.7, None],
    "member": [True, None],
    "photo": [b"\0\xff", None],
    "born": [datetime(1990, 1, 2, 3, 4, 5, 6, tzinfo=timezone.utc), None],
}


def test_tables_of_vertices(people: hedgerow.Snapshot) -> None:
    table = people.vertex_table()
    assert len(table) == 2
    assert table.types == people.schema().vertex_properties
    found = read(table)
    assert found.to_pydict() == EVERYTHING
    assert {name: str(kind) for name, kind in zip(found.schema.names, found.schema.types, strict=True)} == {
        "id": "uint64",
        "name": "large_string",
        "age": "int64",
        "height": "double",
        "member": "bool",
        "photo": "large_binary",
        "born": "timestamp[us, tz=UTC]",
    }
    assert pa.schema(table) == found.schema
    assert pl.DataFrame(table).to_dict(as_series=False) == EVERYTHING
    some = people.vertex_table(properties=["age", "name"])
    assert list(some.properties) == ["age", "name"]
    assert read(some).column_names == ["id", "age", "name"]
    with pytest.raises(hedgerow.DataError, match="vertices have no property x"):
        people.vertex_table(properties=["x"])


def test_tables_of_edges(people: hedgerow.Snapshot) -> None:
    found = read(people.edge_table("knows"))
    assert found.to_pydict() == {"src": [1, 2], "dst": [2, 1], "since": [2001, None], "how": ["wörk", None]}
    edges = read(people.edges())
    assert edges.to_pydict() == {"src": [1, 2], "dst": [2, 1], "label": ["knows", "knows"]}
    with hedgerow.open(weighted=True, keys="str") as db:
        db.add_edges(["a"], ["b"], [0.5])
        db.define_label("calls", multi=True)
        db.add_edges(["a"], ["b"], label="calls", ranks=[7])
        g = db.snapshot()
        expected = {"src": ["a", "a"], "dst": ["b", "b"], "weight": [0.5, None], "label": ["", "calls"], "rank": [0, 7]}
        assert pl.DataFrame(read(g.edges())).fill_nan(None).to_dict(as_series=False) == expected
        assert read(g.edge_table("calls")).to_pydict() == {"src": ["a"], "dst": ["b"], "rank": [7]}
        # Columns without any value keep their types.
        db.define_property("raw", bytes, label="calls")
        db.define_property("text", str, label="calls")
        kinds = [str(kind) for kind in pa.schema(db.snapshot().edge_table("calls")).types]
        assert kinds[-2:] == ["large_binary", "large_string"]


def test_results_of_kernels_and_lists(people: hedgerow.Snapshot) -> None:
    assert read(people.bfs(1)).to_pydict() == {"id": [1, 2], "value": [0, 1]}
    assert read(people.vertex_property("name")).to_pydict() == {"id": [1, 2], "value": ["Ann", ""]}
    assert read(people.vertex_property("photo")).to_pydict() == {"id": [1, 2], "value": [b"\0\xff", None]}
    lists = read(people.neighbors_of([2, 1, 9], missing="empty"))
    assert lists.to_pydict() == {"id": [2, 1, 9], "neighbors": [[1], [2], []]}
    csr = pl.DataFrame(people.csr())
    assert csr.to_dict(as_series=False) == {"id": [1, 2], "targets": [[1], [0]]}


def test_streams_come_in_batches() -> None:
    count = 200_000
    with hedgerow.open(keys="dense") as db:
        db.add_edges(np.arange(count), np.arange(count) + 1)
        g = db.snapshot()
        reader = pa.RecordBatchReader.from_stream(g.edges())
        sizes = [batch.num_rows for batch in reader]
        assert sum(sizes) == count
        assert max(sizes) == 65_536
        lists = read(g.neighbors_of(np.arange(count)))
        assert lists["neighbors"].to_pylist() == [[n + 1] for n in range(count)]


class Pulled:
    """A stream, of which an array counts the batches that were made."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.made = 0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    def __getitem__(self, rows: slice) -> np.ndarray:
        self.made += 1
        return self.values[rows]


def test_batches_of_results_are_made_when_they_are_pulled() -> None:
    count = 150_000
    result = hedgerow.VertexResult(np.arange(count, dtype=np.uint64), np.zeros(count))
    counted = Pulled(result.ids)
    capsule = hedgerow._native._arrow_stream([("id", counted, False), ("value", result.values, False)], None)  # type: ignore[attr-defined]
    reader = pa.RecordBatchReader._import_from_c_capsule(capsule)
    assert reader.schema.names == ["id", "value"] and counted.made == 0
    assert reader.read_next_batch()["id"][-1].as_py() == 65_535 and counted.made == 1
    result.values[-1] = 7
    rest = reader.read_all()
    assert counted.made == 3 and rest.num_rows == count - 65_536 and rest["value"][-1].as_py() == 7


def test_paths_are_lists_of_ids_and_of_edges() -> None:
    with hedgerow.open(keys="str") as db:
        db.add_edges(["a", "b", "a"], ["b", "c", "c"])
        found = db.snapshot().run("k_shortest_paths", source="a", target="c", k=5)
        assert found.to_lists() == [["a", "c"], ["a", "b", "c"]] == [path.tolist() for path in found]
        assert found.edge_lists() == [[("a", "c")], [("a", "b"), ("b", "c")]]
        assert [len(edges) for edges in found.edge_lists()] == found.lengths.tolist()
        none = db.snapshot().run("k_shortest_paths", source="c", target="a", k=5)
        assert none.to_lists() == none.edge_lists() == []


def test_ids_of_results_become_objects_only_when_they_are_read() -> None:
    with hedgerow.open(keys="str") as db:
        count = 70_000
        db.add_edges([f"v{n}" for n in range(count)], [f"v{n + 1 - (n % 3)}" for n in range(count)])
        g = db.snapshot()
        result = g.wcc()
        assert not isinstance(result._ids, np.ndarray) and not isinstance(result._values, np.ndarray)
        before = pl.DataFrame(result)
        assert repr(result) == f"<hedgerow.VertexResult of {len(result)} vertices, object>"
        assert "v0" in result._repr_html_() and not isinstance(result._values, np.ndarray)
        assert before["id"].to_list() == result.ids.tolist() and before["value"].to_list() == result.values.tolist()
        assert result.ids is g.vertices() and result.values is result.values
        result.values[0] = "written"
        assert pl.DataFrame(result)["value"][0] == "written" and g.wcc().values[0] != "written"
        with pytest.raises(ValueError, match="read-only"):
            result.ids[0] = "x"


def test_missing_ids_and_kinds_of_results_are_null() -> None:
    with hedgerow.open(keys="str", directed=False) as db:
        db.add_edges(["a"], ["b"])
        db.add_vertices(["c"])
        mates = db.snapshot().run("matching")
        assert pl.DataFrame(mates).rows() == [("a", "b"), ("b", "a"), ("c", None)]
        assert mates.to_dict() == {"a": "b", "b": "a", "c": None} and mates["c"] is None
    with hedgerow.open(directed=False) as db:
        db.define_kind("page", keys="str")
        db.add_edges([1], [("page", "x")])
        db.add_vertices([2])
        mates = db.snapshot().run("matching")
        expected = [("", "1", "page", "x"), ("page", "x", "", "1"), ("", "2", None, None)]
        assert sorted(pl.DataFrame(mates).rows()) == sorted(expected)
        assert pl.DataFrame(mates).columns == ["id_kind", "id", "value_kind", "value"]
        assert mates[("page", "x")] == 1 and mates[2] is None


def test_a_stream_has_the_types_that_were_requested_if_nothing_is_lost(people: hedgerow.Snapshot) -> None:
    wanted = pa.schema([("id", pa.int64()), ("value", pa.string())])
    for table in (people.vertex_property("name"), hedgerow.VertexResult(np.array([1, 2], np.uint64), np.array(["Ann", ""], object))):
        found = pa.RecordBatchReader.from_stream(table, schema=None)
        capsule = table.__arrow_c_stream__(wanted.__arrow_c_schema__())
        found = pa.RecordBatchReader._import_from_c_capsule(capsule)
        # A number that is an id may exceed what a signed one holds, so the consumer converts it.
        assert found.schema == pa.schema([("id", pa.uint64()), ("value", pa.string())])
        assert found.read_all().to_pydict() == {"id": [1, 2], "value": ["Ann", ""]}
        assert pa.table(table, schema=wanted).schema == wanted
    view = pa.schema([("photo", pa.binary_view()), ("name", pa.string_view())])
    capsule = people.vertex_stream(columns=["name", "photo"]).__arrow_c_stream__(view.__arrow_c_schema__())
    found = pa.RecordBatchReader._import_from_c_capsule(capsule).read_all()
    assert found.schema == pa.schema([("name", pa.string_view()), ("photo", pa.binary_view())])
    assert found.to_pydict() == {"name": ["Ann", ""], "photo": [b"\0\xff", None]}


def test_a_stream_outlives_what_it_was_made_of() -> None:
    with hedgerow.open() as db:
        db.add_edges([1, 2], [2, 3])
        g = db.snapshot()
        reader = pa.RecordBatchReader.from_stream(g.edges())
        never_read = g.edges().__arrow_c_stream__()
        g.close()
    del db, g, never_read
    gc.collect()
    assert reader.read_all().to_pydict() == {"src": [1, 2], "dst": [2, 3]}


def test_broken_columns_are_refused() -> None:
    lists = hedgerow.NeighborLists(np.array([1]), np.array([0, 5]), np.array([1, 2]))
    with pytest.raises(hedgerow.DataError):
        read(lists)
    lists = hedgerow.NeighborLists(np.array([1, 2]), np.array([0, 2, 1]), np.array([1, 2]))
    with pytest.raises(hedgerow.DataError, match="offsets do not ascend"):
        read(lists)
    with pytest.raises(hedgerow.DataError):
        read(hedgerow.VertexResult(np.array([1, 2]), np.array([0.5])))
    with pytest.raises(hedgerow.DataError, match="value has no type of Arrow: it is of complex128"):
        read(hedgerow.VertexResult(np.array([1]), np.array([1j])))
    # An element is looked at when its batch is pulled.
    reader = pa.RecordBatchReader.from_stream(hedgerow.VertexResult(np.array([1, 2]), np.array(["a", 5], object)))
    with pytest.raises(pa.ArrowInvalid, match=r"value\[1\] is not a str"):
        reader.read_all()
