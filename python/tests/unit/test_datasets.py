"""`Snapshot.edge_dataset` and `Snapshot.vertex_dataset`: what DuckDB, Polars and PyArrow read of datasets, and what they leave out."""

from __future__ import annotations

import builtins
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hedgerow
from hedgerow import _expression

duckdb = pytest.importorskip("duckdb", reason="DuckDB cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="PyArrow cannot be installed here")
pc = pytest.importorskip("pyarrow.compute", reason="PyArrow cannot be installed here")
ds = pytest.importorskip("pyarrow.dataset", reason="PyArrow cannot be installed here")

ROWS = 200_000
f = ds.field


@pytest.fixture(scope="module")
def graph() -> Iterator[hedgerow.Snapshot]:
    with hedgerow.open() as db:
        db.define_label("pays", multi=True)
        rows = np.arange(ROWS)
        at = np.datetime64("2024-01-01") + rows
        notes = [None if n % 3 else f"n{n % 10}" for n in range(ROWS)]
        columns = {"amount": rows % 97, "at": at, "note": notes, "share": rows / 7}
        db.add_edges(rows, rows * 7 % 1000, label="pays", ranks=rows, properties=columns)
        db.add_vertices(np.arange(1000), properties={"name": [f"v{n}" for n in range(1000)], "age": np.arange(1000) % 80})
        yield db.snapshot()


class Counted:
    """A stream that counts its rows."""

    def __init__(self, stream: Any, call: dict[str, Any]) -> None:
        self.stream, self.call, self._label = stream, call, stream._label

    def __arrow_c_schema__(self) -> Any:
        return self.stream.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        reader = pa.RecordBatchReader.from_stream(self.stream)

        def batches() -> Iterator[Any]:
            for batch in reader:
                self.call["rows"] += batch.num_rows
                yield batch

        self.call["rows"] = 0
        return pa.RecordBatchReader.from_batches(reader.schema, batches()).__arrow_c_stream__()


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments of each call of `edge_stream`, and the rows that were made for it."""
    calls: list[dict[str, Any]] = []
    stream = hedgerow.Snapshot.edge_stream

    def open_(self: hedgerow.Snapshot, label: str | None = None, **named: Any) -> Any:
        calls.append(named)
        return Counted(stream(self, label, **named), named)

    monkeypatch.setattr(hedgerow.Snapshot, "edge_stream", open_)
    return calls


def test_the_schema_comes_before_any_row(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    dataset = graph.edge_dataset()
    assert isinstance(dataset, ds.Dataset)
    assert dataset.schema == pa.schema(graph.edge_stream("pays"))
    assert graph.vertex_dataset().schema == pa.schema(graph.vertex_stream())
    assert not any("rows" in call for call in streams)


@pytest.mark.parametrize(
    "sql, where, ranks, columns",
    [
        ("amount > 90", [("amount", ">", 90)], None, ["src"]),
        ("amount > 90 AND rank >= 1000 AND rank < 2000", [("amount", ">", 90)], (1000, 2000), ["src"]),
        ("amount = 3 OR amount = 5", [("or", ("amount", "==", 3), ("amount", "==", 5))], None, ["src"]),
        ("amount IN (3, 5, 7)", [("amount", "in", [3, 5, 7])], None, ["src"]),
        ("note = 'n3'", [("note", "==", "n3")], None, ["src"]),
        ("note IS NULL", [("note", "is", None)], None, ["src"]),
        ("note IS NOT NULL AND amount <> 4", [("and", ("note", "is not", None), ("amount", "!=", 4))], None, ["src"]),
        ("share < 100", [("share", "<", 100.0)], None, ["src"]),
        ("\"at\" < TIMESTAMPTZ '2024-01-05 00:00:00+00'", None, None, None),
        # PyArrow tests conditions on ids, and DuckDB conditions that it does not pass.
        ("dst = 7", None, None, ["src", "dst"]),
        ("dst = 7 AND amount > 90", [("amount", ">", 90)], None, None),
        ("amount % 2 = 0", None, None, ["src", "amount"]),
    ],
)
def test_duckdb_passes_conditions_and_columns(
    graph: hedgerow.Snapshot, streams: list[dict[str, Any]], sql: str, where: Any, ranks: Any, columns: Any
) -> None:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'").fetchall()
    connection.register("pays", graph.edge_dataset("pays"))
    query = f"SELECT count(*), sum(src) FROM pays WHERE {sql}"
    found = connection.execute(query).fetchall()
    used = streams[-1]
    whole = pa.table(graph.edge_stream("pays"))
    connection.unregister("pays")
    connection.register("pays", whole)
    expected = connection.execute(query).fetchall()
    assert found == expected and expected[0][0] > 0
    if where is not None:
        assert sorted(map(repr, _flat(used["where"]))) == sorted(map(repr, _flat(where))), used
    assert used["rank_range"] == ranks
    if columns is not None:
        assert used["columns"] == columns
    if where is not None and "dst" not in sql:
        # The store makes the rows that pass, and no others.
        assert used["rows"] == expected[0][0]
    elif where is not None:
        assert used["rows"] < ROWS // 10
    elif "at" not in sql:
        assert used["rows"] == ROWS


def _flat(where: Any) -> list[Any]:
    """Returns the conditions that are joined by and, whose order is DuckDB's."""
    if isinstance(where, list) or where[0] == "and":
        return [leaf for part in where for leaf in (_flat(part) if isinstance(part, tuple) else [])]
    return [where]


def test_only_used_columns_are_made(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    dataset = graph.edge_dataset("pays")
    assert dataset.to_table(columns=["note", "src"]).column_names == ["note", "src"]
    assert streams[-1]["columns"] == ["src", "note"]
    doubled = dataset.to_table(columns={"twice": pc.multiply(f("amount"), 2)}, filter=f("dst") == 7)
    assert streams[-1]["columns"] == ["dst", "amount"] and doubled.column_names == ["twice"]
    assert dataset.count_rows() == ROWS and streams[-1]["columns"] == ["src"]
    assert dataset.count_rows(filter=f("amount") == 96) == streams[-1]["rows"] == ROWS // 97
    with pytest.raises(hedgerow.DataError, match="columns: there is no column 'x'"):
        dataset.to_table(columns=["x"])
    with pytest.raises(hedgerow.DataError, match="columns: there is no column 'x'"):
        dataset.to_table(columns=["src"], filter=f("x") == 1)


def test_all_methods_read_the_snapshot(graph: hedgerow.Snapshot) -> None:
    whole = pa.table(graph.edge_stream("pays"))
    dataset = graph.edge_dataset("pays")
    assert dataset.to_table().equals(whole) and dataset.to_table().equals(whole)
    assert dataset.head(5).equals(whole.slice(0, 5))
    assert dataset.take(pa.array([3, 70_000])).equals(whole.take(pa.array([3, 70_000])))
    assert sum(batch.num_rows for batch in dataset.to_batches(batch_size=1000)) == ROWS
    few = dataset.filter(f("amount") > 90).filter(f("rank") < 500)
    expected = whole.filter((f("amount") > 90) & (f("rank") < 500))
    assert few.to_table().equals(expected) and few.count_rows() == len(expected)
    assert few.sort_by([("rank", "descending")]).to_table()["rank"][0].as_py() == expected["rank"][-1].as_py()
    named = few.join(graph.vertex_dataset().to_table(), "dst", "id").to_table()
    assert len(named) == len(expected) and "name" in named.column_names
    cast = few.replace_schema(expected.schema.set(3, pa.field("amount", pa.float64())))
    assert cast.to_table()["amount"].type == pa.float64()
    part = [graph.edge_dataset("pays", part=part).count_rows() for part in graph.partitions(3)]
    assert len(part) > 1 and sum(part) == ROWS
    people = graph.vertex_dataset().to_table(columns=["name"], filter=f("age") == 79)
    assert people["name"].to_pylist() == [f"v{n}" for n in range(1000) if n % 80 == 79]
    polars = pytest.importorskip("polars", reason="polars cannot be installed here")
    lazy = polars.scan_pyarrow_dataset(dataset).filter(polars.col("amount") == 3).select(polars.len())
    assert lazy.collect().item() == whole.filter(f("amount") == 3).num_rows


def test_what_a_dataset_cannot_do_is_an_error(graph: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = graph.edge_dataset("pays")
    with pytest.raises(hedgerow.NotSupportedError, match="Snapshot.partitions"):
        dataset.get_fragments()
    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(dataset)
    # Code of PyArrow that does not ask the dataset for a scanner finds no file, and no empty table.
    with pytest.raises(FileNotFoundError, match="a dataset of Hedgerow has no files: use its scanner"):
        ds.Scanner.from_dataset(dataset).to_table()
    with pytest.raises(FileNotFoundError, match="a dataset of Hedgerow has no files"):
        ds.UnionDataset(dataset.schema, [dataset]).to_table()
    with pytest.raises(hedgerow.ProgrammingError, match="nolabel"):
        graph.edge_dataset("nolabel")
    imported = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return imported(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    for call in (graph.edge_dataset, graph.vertex_dataset):
        with pytest.raises(hedgerow.NotSupportedError, match=r"pip install hedgerow\[arrow\]"):
            call()


def test_the_dataset_belongs_to_its_snapshot(db: hedgerow.Database) -> None:
    db.add_edges([1], [2])
    g = db.snapshot()
    dataset = g.edge_dataset()
    db.add_edges([2], [3])
    assert dataset.count_rows() == 1 and db.snapshot().edge_dataset().count_rows() == 2
    g.close()
    with pytest.raises(hedgerow.ClosedError):
        dataset.to_table()


def test_an_expression_in_an_unknown_form_is_left_to_pyarrow(graph: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = graph.edge_dataset("pays").to_table(columns=["src"], filter=f("amount") == 3)
    # As if another version of PyArrow wrote other names.
    monkeypatch.setattr(_expression, "_schema_pairs", lambda _: [("function", "equal")])
    assert graph.edge_dataset("pays").to_table(columns=["src"], filter=f("amount") == 3).equals(expected)


def test_arrow_files_without_a_footer_are_refused() -> None:
    for data in (b"", b"ARROW1", b"\0" * 40, b"\xff\xff\xff\x7fARROW1", b"x" * 20 + b"\x14\0\0\0ARROW1", b"\xff\xff\xff\xffARROW1"):
        with pytest.raises(hedgerow.DataError, match="the bytes are no Arrow file"):
            hedgerow._native._schema_pairs(data)  # type: ignore[attr-defined]
