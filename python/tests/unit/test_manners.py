"""Snapshots in Python's own operations, tables in notebooks, and copies and pickles of results and handles."""

from __future__ import annotations

import copy
import html
import io
import pickle
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow
from hedgerow import _manners, _result


def test_lengths_and_truth(db: hedgerow.Database) -> None:
    empty = db.snapshot()
    assert len(empty) == 0 and bool(empty) and list(empty) == []
    db.add_edges([5, 5, 1], [7, 5, 7])
    g = db.snapshot()
    assert len(g) == 3 == g.vertex_count and g
    assert len(empty) == 0


def test_look_ups(db: hedgerow.Database) -> None:
    db.define_kind("page", "str")
    db.define_label("calls", multi=True)
    db.add_edges([1, 1, 2], [2, 2, 1], label="calls", ranks=[1, 2, 3])
    db.add_edges([1], [("page", "a")], label="saw")
    g = db.snapshot()
    assert 1 in g and ("page", "a") in g and 9 not in g and ("page", "b") not in g and "a" not in g
    for other in (None, -1, 2**64, 1.5, b"a", [], {}, (1, 2, 3), object()):
        assert other not in g
    assert g[1] == g.neighbors(1) == [2, 2, ("page", "a")] and g[2] == [1] and g[("page", "a")] == []
    for unknown in (9, -1, 2**64, "a", ("page", "b")):
        with pytest.raises(KeyError) as error:
            g[unknown]
        assert error.value.args == (unknown,)
    for call in (lambda: ("nope", 1) in g, lambda: g["nope", 1]):
        with pytest.raises(hedgerow.ProgrammingError, match="no kind nope"):
            call()
    for other in (None, 1.5, slice(1)):
        with pytest.raises(TypeError):
            g[other]  # type: ignore[index]


@pytest.mark.parametrize("keys", ["u64", "str", "dense"])
def test_iteration_is_in_the_order_of_ids(keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_manners, "_BATCH", 7)
    with hedgerow.open(keys=keys) as db:
        ids = list(range(50)) if keys != "str" else [f"n{n}" for n in range(50)]
        db.add_vertices(ids[::-1] if keys != "dense" else ids)
        g = db.snapshot()
        begun = iter(g)
        assert next(begun) == g.vertices().tolist()[0]
        db.remove_vertices(ids[:20])
        assert list(g) == g.vertices().tolist() and len(list(begun)) == 49
        assert sorted(db.snapshot()) == sorted(ids[20:])
        assert {type(key) for key in g} == {str if keys == "str" else int}


def test_a_closed_snapshot_is_true_and_answers_nothing(db: hedgerow.Database) -> None:
    g = db.snapshot()
    g.close()
    assert g
    for call in (len, iter, lambda g: 1 in g, lambda g: g[1]):
        with pytest.raises(hedgerow.ClosedError):
            call(g)


# Notebooks --------------------------------------------------------------------------------------------------------------


def cells(shown: str) -> list[list[str]]:
    rows = re.findall("<tr>(.*?)</tr>", shown)
    return [[html.unescape(cell) for cell in re.findall("<t[dh]>(.*?)</t[dh]>", row)] for row in rows]


def test_snapshots_show_their_schema(db: hedgerow.Database) -> None:
    db.define_kind("page <1>", "str")
    db.define_label("a & b", multi=True, properties={"<x>": int})
    db.define_property("name", str)
    db.add_edges([1], [2])
    g = db.snapshot()
    shown = g._repr_html_()
    assert html.escape(repr(g)) in shown and "2 vertices and 1 edges" in shown
    assert cells(shown) == [
        ["label", "multi", "properties"],
        ["", "no", ""],
        ["a & b", "yes", "<x>: i64"],
        ["kind", "properties"],
        ["", "name: utf8"],
        ["page <1>", ""],
    ]
    for n in range(50):
        db.define_label(f"label {n}")
    assert len(cells(db.snapshot()._repr_html_())) == 1 + 20 + 3 and "… and 32 more" in db.snapshot()._repr_html_()
    g.close()
    assert g._repr_html_() == "<p>&lt;hedgerow.Snapshot closed&gt;</p>"


def test_tables_show_their_first_rows(db: hedgerow.Database) -> None:
    db.define_kind("page", "str")
    texts = ["<b>", None, "é" * 100, *["t"] * 97]
    db.add_edges(np.arange(100), np.arange(100) + 1, label="e", properties={"<t>": texts, "at": np.array(["2024-01-01"] * 100, "M8[D]")})
    db.add_vertices(["&"], kind="page", properties={"raw": [b"<"]})
    g = db.snapshot()
    shown = g.edge_table("e")._repr_html_()
    assert shown.startswith("<p>EdgeTable: 100 rows</p><table>") and shown.endswith("<p>… and 90 more</p>") and "<b>" not in shown
    table = cells(shown)
    assert len(table) == 11 and table[0] == ["src_kind", "src", "dst_kind", "dst", "<t>", "at"]
    assert table[1] == ["", "0", "", "1", "<b>", "2024-01-01 00:00:00+00:00"] and table[2][4] == "None" and table[3][4] == "é" * 60 + "…"
    assert cells(g.vertex_table("page")._repr_html_()) == [["id", "raw"], ["&", "b'<'"]]
    assert cells(g.edges(label="e")._repr_html_())[:2] == [["src", "dst", "label"], ["0", "1", "e"]]
    assert cells(g.wcc()._repr_html_())[:2] == [["id", "value"], ["0", "0"]]
    of_kinds = hedgerow.VertexResult(g.vertices()[-1:], np.array([0.5]))
    assert cells(of_kinds._repr_html_()) == [["id_kind", "id", "value"], ["page", "&", "0.5"]]
    with hedgerow.open() as empty:
        for of in (empty.snapshot().edges(), empty.snapshot().edge_table(), empty.snapshot().vertex_table(), empty.snapshot().wcc()):
            assert "0 rows" in of._repr_html_() and "more" not in of._repr_html_()


def test_only_shown_rows_are_read() -> None:
    class Column(np.ndarray[Any, Any]):
        def tolist(self) -> Any:
            assert len(self) <= 10
            return super().tolist()

    ids = np.arange(1000, dtype=np.uint64).view(Column)
    text = np.array(["x"] * 1000, object).view(Column)
    edges = hedgerow.EdgeTable(ids, ids, None, {"t": text}, {"t": "utf8"}, kinds=True, key_types=("u64", "u64"))
    for table in (edges, hedgerow.Edges(ids, ids, None), hedgerow.VertexResult(ids, ids), hedgerow.VertexTable(ids, {"t": text}, {"t": "utf8"})):
        assert len(cells(table._repr_html_())) == 11


# Copies -----------------------------------------------------------------------------------------------------------------


def same(one: Any, other: Any) -> None:
    """Compares two results, with the types and masks of their arrays."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and one.shape == other.shape
        if isinstance(one, np.ma.MaskedArray):
            assert np.ma.getmaskarray(one).tolist() == np.ma.getmaskarray(other).tolist()
        assert repr(one.tolist()) == repr(other.tolist())
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for name in one:
            same(one[name], other[name])
    elif is_dataclass(one):
        for of in fields(one):
            same(getattr(one, of.name), getattr(other, of.name))
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for of_one, of_other in zip(one, other, strict=True):
            same(of_one, of_other)
        same(getattr(one, "more", None), getattr(other, "more", None))
    elif isinstance(one, hedgerow.VertexResult):
        for name in ("ids", "values", "type", "estimate", "more", "modularity"):
            same(getattr(one, name), getattr(other, name))
    else:
        assert one == other and getattr(one, "__dict__", None) == getattr(other, "__dict__", None)


def results(folder: Path) -> dict[str, Any]:
    """Makes an object of each class of results."""
    db = hedgerow.open(folder / "store", weighted=True)
    db.define_kind("page", "str")
    db.define_label("calls", multi=True)
    columns = {"n": [1, None, 3], "t": ["a", None, "é"], "raw": [b"", b"\0", None], "at": np.array(["2024-01-01", "NaT", "1969-12-31"], "M8[D]")}
    db.add_edges([1, 1, 2], [2, 2, ("page", "x")], label="calls", ranks=[7, 8, 9], properties=columns)
    again = db.add_edges([1, 2, 1], [2, 3, 2], [0.5, 1.5, 2.5])
    db.add_vertices([1, 2], properties={"age": [30, None]}, on_conflict="merge")
    g = db.snapshot()
    exact = g.run("betweenness")
    found = {
        "Added": again,
        "Csr": g.csr("", order="key"),
        "EdgeTable": g.edge_table("calls"),
        "Edges": g.edges(),
        "Estimate": g.run("betweenness", samples=1).estimate,
        "Exported": g.export(folder / "out"),
        "Loaded": db.load(folder / "out"),
        "Kind": g.schema().kinds["page"],
        "Label": g.schema().labels["calls"],
        "Limited": g.neighbors(1, limit=1, properties=True),
        "NeighborLists": g.neighbors_of([1, 2]),
        "Pairs": g.run("msf", label=""),
        "Paths": g.run("k_shortest_paths", source=1, target=2, k=1, label=""),
        "Schema": g.schema(),
        "VertexResult": g.vertex_property("age"),
        "VertexTable": g.vertex_table(),
        "Checkpoint": db.checkpoint(),
        "CheckReport": db.check(),
        "Backup": db.backup(folder / "backup"),
        "Stats": db.stats(),
    }
    assert exact.estimate is None
    db.close()
    return found | {"SalvageReport": hedgerow.salvage(folder / "store", folder / "saved")}


def test_results_are_pickled_and_copied(tmp_path: Path) -> None:
    found = results(tmp_path)
    assert found.keys() == set(_result.__all__)
    for name, result in found.items():
        assert type(result).__name__ == name
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            same(pickle.loads(pickle.dumps(result, protocol)), result)
        for made in (copy.copy(result), copy.deepcopy(result), copy.deepcopy([result])[0]):
            same(made, result)


def test_copies_are_whole_results(db: hedgerow.Database) -> None:
    db.add_edges([1, 2], [2, 3])
    result = db.snapshot().wcc()
    assert result[1] == 1
    # The index of look-ups is made anew.
    size = len(pickle.dumps(result))
    assert size == len(pickle.dumps(hedgerow.VertexResult(result.ids, result.values)))
    made = pickle.loads(pickle.dumps(result))
    assert made[3] == 1 and made.to_dict() == result.to_dict() and "4" not in made
    whole = hedgerow.VertexResult(result.ids, result.values, "i64", hedgerow.Estimate(1, 2, 0.5), True, 0.25)
    for of_whole in (pickle.loads(pickle.dumps(whole)), copy.copy(whole), copy.deepcopy(whole)):
        same(of_whole, whole)
    made.values[0] = 9
    assert result[1] == 1


def test_handles_are_not_pickled_or_copied(db: hedgerow.Database) -> None:
    tx = db.write()
    handles = {
        "Database": (db, "send results, or close it and open its path in the other process"),
        "Snapshot": (db.snapshot(), "send a result of it, such as edges"),
        "Transaction": (tx, "a transaction belongs to its process"),
        "TableStream": (db.snapshot().edge_stream(), "read it, as polars"),
        "Ticket": (db.write().submit(), "wait for it, and send its timestamp"),
        "Pipeline": (db.pipeline(), "flush it, and send the result of flush"),
        "Maintained": (db.maintain("wcc"), "send a result of at"),
    }
    for name, (handle, message) in handles.items():
        for call in (copy.copy, copy.deepcopy, pickle.dumps, lambda it: pickle.Pickler(io.BytesIO(), 0).dump([it])):
            with pytest.raises(TypeError, match=f"^a {name} cannot be copied or pickled: {message}"):
                call(handle)
    tx.rollback()
