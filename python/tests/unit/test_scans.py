"""`Snapshot.scan_edges` and `Snapshot.scan_vertices`: what lazy frames of Polars read, and what they leave out."""

from __future__ import annotations

import builtins
import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow import _lazy

ROWS = 200_000
c = pl.col


@pytest.fixture(scope="module")
def graph() -> Iterator[hedgerow.Snapshot]:
    with hedgerow.open() as db:
        db.define_label("pays", multi=True)
        at = np.datetime64("2024-01-01") + np.arange(ROWS)
        rows = np.arange(ROWS)
        columns = {"amount": rows % 97, "at": at, "note": [None if n % 3 else f"n{n % 10}" for n in range(ROWS)], "share": rows / 7}
        db.add_edges(rows, rows * 7 % 1000, label="pays", ranks=rows, properties=columns)
        db.add_edges([1, 2], [2, 3])
        db.add_vertices(np.arange(1000), properties={"name": [f"v{n}" for n in range(1000)], "age": np.arange(1000) % 80})
        yield db.snapshot()


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments of each call of `edge_stream`, and the rows of each stream that was read."""
    calls: list[dict[str, Any]] = []
    stream, batches = hedgerow.Snapshot.edge_stream, _lazy._batches

    def open_(self: hedgerow.Snapshot, label: str | None = None, **named: Any) -> Any:
        calls.append(named)
        return stream(self, label, **named)

    def read(*arguments: Any) -> Iterator[Any]:
        for frame in batches(*arguments):
            calls[-1].setdefault("batches", []).append(frame.shape)
            yield frame

    monkeypatch.setattr(hedgerow.Snapshot, "edge_stream", open_)
    monkeypatch.setattr(_lazy, "_batches", read)
    return calls


def test_the_schema_comes_before_any_row(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    frame = graph.scan_edges("pays")
    assert isinstance(frame, pl.LazyFrame)
    assert frame.collect_schema() == pl.DataFrame(graph.edge_stream("pays")).schema
    assert graph.scan_vertices().collect_schema() == pl.DataFrame(graph.vertex_stream()).schema
    assert not any("batches" in call for call in streams)


def test_frames_have_the_rows_of_the_streams(graph: hedgerow.Snapshot) -> None:
    for engine in ("in-memory", "streaming"):
        assert graph.scan_edges("pays").collect(engine=engine).equals(pl.DataFrame(graph.edge_stream("pays")))
        assert graph.scan_vertices().collect(engine=engine).equals(pl.DataFrame(graph.vertex_stream()))
    few = graph.scan_edges("pays", rank_range=(5, 90), where=("amount", ">", 40))
    assert few.collect().equals(pl.DataFrame(graph.edge_stream("pays", rank_range=(5, 90), where=("amount", ">", 40))))


@pytest.mark.parametrize(
    ("predicate", "where", "ranks"),
    [
        (c.amount > 90, [("amount", ">", 90)], None),
        (90 < c.amount, [("amount", ">", 90)], None),
        (c.share > 2.5, [("not", ("share", "<=", 2.5))], None),
        (c.share <= 2.5, [("share", "<=", 2.5)], None),
        (c.note.is_in(["n3", "n6"]), [("note", "in", ["n3", "n6"])], None),
        (c.note.str.starts_with("n3"), [("note", "prefix", "n3")], None),
        (c.note.is_null(), [("note", "is", None)], None),
        (c.amount.is_between(3, 5), [("and", ("amount", ">=", 3), ("amount", "<=", 5))], None),
        (c.amount.eq_missing(3), [("and", ("amount", "is not", None), ("amount", "==", 3))], None),
        (
            c.at >= datetime.datetime(2024, 1, 5, tzinfo=datetime.UTC),
            [("at", ">=", datetime.datetime(2024, 1, 5, tzinfo=datetime.UTC))],
            None,
        ),
        ((c.rank >= 10) & (c.rank < 20), None, (10, 20)),
        (c.rank == 7, None, (7, 8)),
        (c.rank.is_between(3, 9, closed="right"), None, (4, 10)),
        ((c.rank > 10) & (c.amount == 1) & (c.src + c.dst > 9), [("amount", "==", 1)], (11, None)),
        ((c.amount == 1) | (c.note == "n3"), [("or", ("amount", "==", 1), ("note", "==", "n3"))], None),
        ((c.amount == 1) | (c.src > 9), None, None),
        ((c.rank > 10) | (c.amount == 1), None, None),
        (c.amount > 2.5, None, None),
        (c.share > float("inf"), None, None),
        (c.src == 7, None, None),
        (c.amount % 2 == 0, None, None),
        (c.amount == c.rank, None, None),
        (~(c.note.str.contains("3") & (c.amount > 3)), None, None),
    ],
    ids=str,
)
def test_conditions_are_tested_in_the_store(
    graph: hedgerow.Snapshot, streams: list[dict[str, Any]], predicate: Any, where: Any, ranks: Any
) -> None:
    found = graph.scan_edges("pays").filter(predicate).collect()
    used = streams[-1]
    assert (used["where"], used["rank_range"]) == (where, ranks)
    expected = pl.DataFrame(graph.edge_stream("pays")).filter(predicate)
    assert found.equals(expected)
    passed = sum(rows for rows, _ in used["batches"])
    if where is None and ranks is None:
        assert passed == ROWS
    elif "src" not in str(predicate):
        # The store tests all of the predicate.
        assert passed == expected.height


def test_arguments_and_predicates_apply_together(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    whole = pl.DataFrame(graph.edge_stream("pays"))
    # The values of a condition may come from an iterator, and the frame is collected twice.
    frame = graph.scan_edges("pays", rank_range=(100, 5000), where=[("amount", "in", iter([3, 4, 5])), ("note", "is not", None)])
    expected = whole.filter(c.rank.is_between(100, 4999), c.amount.is_in([3, 4, 5]), c.note.is_not_null())
    assert frame.collect().equals(expected) and frame.collect().equals(expected) and expected.height > 50
    assert frame.filter(c.rank > 4000, c.amount != 4).collect().equals(expected.filter(c.rank > 4000, c.amount != 4))
    assert streams[-1]["rank_range"] == (4001, 5000)
    assert frame.filter(c.rank > 6000).collect().height == 0


def test_only_used_columns_are_made(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    graph.scan_edges("pays").filter(c.amount > 90).select(c.share.sum()).collect()
    assert sorted(streams[-1]["columns"]) == ["amount", "share"]
    assert graph.scan_edges("pays").select(pl.len()).collect().item() == ROWS
    assert len(streams[-1]["columns"]) == 1
    assert graph.scan_edges("pays").select("note", "src").collect().columns == ["note", "src"]


def test_the_first_rows_end_the_scan(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    whole = pl.DataFrame(graph.edge_stream("pays"))
    assert graph.scan_edges("pays").head(3).collect().equals(whole.head(3))
    assert len(streams[-1]["batches"]) == 1
    # The first rows, and of these the rows with the predicate; and in the other order.
    assert graph.scan_edges("pays").head(3).filter(c.amount >= 2).collect().equals(whole.head(3).filter(c.amount >= 2))
    assert graph.scan_edges("pays").filter(c.amount >= 2).head(3).collect().equals(whole.filter(c.amount >= 2).head(3))
    assert graph.scan_edges("pays").slice(ROWS - 2, 5).collect().equals(whole.tail(2))
    assert graph.scan_edges("pays").head(0).collect().shape == (0, 7)


def test_a_query_may_have_several_frames(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    pays, edges = graph.scan_edges("pays"), graph.scan_edges("")
    people = graph.scan_vertices()
    named = edges.join(people, left_on="dst", right_on="id").join(people, left_on="src", right_on="id", suffix="_of_src")
    assert sorted(named.select("name_of_src", "name").collect().rows()) == [("v1", "v2"), ("v2", "v3")]
    both = pl.concat([edges.select("src"), pays.select("src"), edges.select("src")]).collect()
    assert both.height == ROWS + 4
    other = graph.scan_edges("pays", rank_range=(0, 10))
    assert pl.concat([pays, other]).select(pl.len()).collect().item() == ROWS + 10


def test_columns_whose_names_are_taken() -> None:
    with hedgerow.open(weighted=True, directed=False) as db:
        db.define_label("m", multi=True)
        db.define_property("rank:i64", int, label="")
        db.add_edges([1, 2], [2, 3], [0.5, 1.5], properties={"rank": [4, 5], "src": ["a", "b"]})
        db.add_edges([1, 2], [2, 3], label="m", ranks=[7, 8], properties={"rank": [4, 5], "weight": [1.0, 2.0]})
        g = db.snapshot()
        one, two = g.scan_edges(""), g.scan_edges("m")
        assert one.collect_schema().names() == ["src", "dst", "weight", "rank:i64", "rank", "src:utf8"]
        assert one.filter(c.rank == 5).select("dst").collect().rows() == [(3,)]
        assert one.filter(c.weight > 1).select("dst").collect().rows() == [(3,)]
        assert one.filter(c("src:utf8") == "a", c.src == 1).select("dst").collect().rows() == [(2,)]
        assert two.filter(c.rank == 7).select("dst").collect().rows() == [(2,)]
        assert two.filter(c("rank:i64") == 5, c.weight == 2).select("dst").collect().rows() == [(3,)]


def test_kinds_and_texts() -> None:
    with hedgerow.open() as db:
        db.define_kind("page", "str")
        db.define_label("saw", src="", dst="page")
        db.add_edges([1, 2], ["a", "b"], label="saw", properties={"n": [1, 2]})
        db.add_vertices(["a"], kind="page", properties={"title": ["Owls"]})
        g = db.snapshot()
        # The label that all edges have is the default.
        assert g.scan_edges().filter(c.n > 1, c.dst == "b").collect().rows() == [(2, "b", 2)]
        assert g.scan_vertices("page").filter(c.title.is_not_null()).collect().rows() == [("a", "Owls")]
        db.add_edges([1], [2])
        loose = db.snapshot().scan_edges("").collect()
        assert loose.columns == ["src", "dst", "src_kind", "dst_kind"] and loose.height == 1


def test_the_frame_belongs_to_its_snapshot(db: hedgerow.Database) -> None:
    db.add_edges([1], [2])
    g = db.snapshot()
    frame, vertices = g.scan_edges(), g.scan_vertices()
    db.add_edges([2], [3])
    assert frame.collect().height == 1 and db.snapshot().scan_edges().collect().height == 2
    g.close()
    for closed in (frame, vertices):
        with pytest.raises(hedgerow.ClosedError):
            closed.collect()
    with pytest.raises(hedgerow.ClosedError):
        g.scan_edges()


def test_wrong_arguments_are_refused_at_once(graph: hedgerow.Snapshot) -> None:
    for arguments, error in (
        ({"label": "none"}, hedgerow.ProgrammingError),
        ({}, hedgerow.ProgrammingError),
        ({"label": "pays", "where": ("none", ">", 1)}, hedgerow.DataError),
        ({"label": "pays", "where": ("amount", "in", 5)}, TypeError),
        ({"label": "pays", "rank_range": (0,)}, TypeError),
    ):
        with pytest.raises(error) as found:
            graph.scan_edges(**arguments)  # type: ignore[arg-type]
        with pytest.raises(type(found.value)) as other:
            graph.edge_stream(**arguments)  # type: ignore[arg-type]
        assert str(found.value) == str(other.value)


def test_very_many_values_are_left_to_polars(graph: hedgerow.Snapshot, streams: list[dict[str, Any]]) -> None:
    values = pl.Series(range(0, 400_000, 2)).implode()
    assert graph.scan_edges("pays").filter(c.amount.is_in(values)).collect().height == sum(n % 97 % 2 == 0 for n in range(ROWS))
    assert streams[-1]["where"] is None


def test_other_forms_of_expressions_are_left_to_polars(graph: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    for written in ("{", "[]", "null", '{"BinaryExpr": 5}', '{"Function": {"input": [], "function": {}}}', '{"Column": {"a": 1}}'):
        monkeypatch.setattr("polars.expr.meta.ExprMetaNameSpace.serialize", lambda *_, written=written, **__: written)
        assert graph.scan_edges("pays").filter(c.amount == 5).select(pl.len()).collect().item() == len(range(5, ROWS, 97))


def test_without_the_package(graph: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name == without or name.startswith(f"{without}."):
            raise ImportError(f"no module named {name}")
        return imported(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    # A version without a reader of batches.
    without = "polars._plr"
    assert _lazy._batches(graph.edge_stream(""), ["dst"]).__next__().rows() == [(2,), (3,)]
    without = "polars"
    for call in (lambda: graph.scan_edges(""), graph.scan_vertices):
        with pytest.raises(hedgerow.NotSupportedError, match=r"pip install hedgerow\[polars\]"):
            call()
