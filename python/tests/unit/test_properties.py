"""Labels, ranks and properties: what Python values become, and what is refused."""

import math
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

import hedgerow

UTC = timezone.utc
VALUES = [
    True,
    False,
    0,
    -(2**63),
    2**63 - 1,
    0.5,
    -math.inf,
    "",
    "Zoë 😀\0",
    b"",
    b"\x00\xff",
    datetime(2024, 2, 29, 12, 30, 1, 999999, UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    with hedgerow.open() as db:
        with db.write() as tx:
            tx.put_edge(1, 2, label="a", p=value)
            tx.add_vertex(1, p=value)
            assert tx.edge_properties(1, 2, label="a") == {"p": value}
        g = db.snapshot()
        for found in (g.edge_properties(1, 2, label="a"), g.vertex_properties(1)):
            assert found == {"p": value}
            assert type(found["p"]) is type(value)
        column = g.edge_table("a").properties["p"]
        assert len(column) == 1
        if isinstance(value, (bool, int, float, str, bytes)):
            assert column[0] == value


def test_numbers_of_numpy_and_times() -> None:
    with hedgerow.open() as db, db.write() as tx:
        late = np.datetime64(2**62, "us")
        tx.put_edge(1, 2, a=np.int8(-3), b=np.float32(0.5), c=np.bool_(True), d=np.str_("x"), late=late)
        tx.put_edge(1, 3, t=datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), u=np.datetime64("NaT"))
        found = tx.edge_properties(1, 2)
        assert found == {"a": -3, "b": 0.5, "c": True, "d": "x", "late": late}
        assert tx.edge_properties(1, 3) == {"t": datetime(2024, 1, 1, tzinfo=UTC)}
        tx.put_edge(1, 4, b=math.nan)
        assert math.isnan(tx.edge_properties(1, 4)["b"])
        # An int where the property holds floats.
        tx.put_edge(1, 5, b=2)
        assert type(tx.edge_properties(1, 5)["b"]) is float


def test_what_is_refused() -> None:
    with hedgerow.open() as db:
        db.define_label("calls", multi=True, properties={"seconds": "i64"})
        with db.write() as tx:
            for value, kind, message in [
                (2**63, hedgerow.DataError, "p: 9223372036854775808 is out of range"),
                ("\ud800", hedgerow.DataError, "p: text must not hold surrogates"),
                (datetime(2024, 1, 1), hedgerow.DataError, "p: a datetime needs a time zone"),
                ([1], TypeError, "p: a value is None, a bool, .* found list"),
            ]:
                with pytest.raises(kind, match=message):
                    tx.put_edge(1, 2, p=value)
            with pytest.raises(hedgerow.DataError, match="property seconds has type i64, but the value has type utf8"):
                tx.put_edge(1, 2, label="calls", rank=1, seconds="ten")
            with pytest.raises(hedgerow.DataError, match="label a is not multi"):
                tx.put_edge(1, 2, label="a", rank=1)
            with pytest.raises(hedgerow.DataError, match="rank -1 is out of range"):
                tx.put_edge(1, 2, label="calls", rank=-1)
            with pytest.raises(TypeError, match="a rank is an int, found str"):
                tx.has_edge(1, 2, label="calls", rank="1")
            with pytest.raises(TypeError, match="properties must be a mapping"):
                tx.put_edge(1, 2, properties=[1])
            with pytest.raises(hedgerow.NotSupportedError, match="no weights"):
                tx.put_edge(1, 2, 0.5, p=1)
            with pytest.raises(hedgerow.ProgrammingError, match="no label likes"):
                tx.neighbors(1, label="likes")
            assert not tx.has_vertex(1)
        with pytest.raises(hedgerow.ProgrammingError, match="label calls is defined with multi=true, not with multi=false"):
            db.define_label("calls")
        with pytest.raises(hedgerow.DataError, match="a type is"):
            db.define_property("x", list)  # type: ignore[arg-type]
        g = db.snapshot()
        for call in (
            lambda: g.has_edge(1, 2, label="likes"),
            lambda: g.degree(1, label="likes"),
            lambda: g.bfs(1, label="likes"),
            lambda: g.edge_table("likes"),
            lambda: g.edge_count_of("likes"),
        ):
            with pytest.raises((hedgerow.ProgrammingError, hedgerow.IntegrityError)):
                call()
        with pytest.raises(hedgerow.DataError, match='label "calls" has no property nothing'):
            g.edge_table("calls", properties=["nothing"])
        with pytest.raises(hedgerow.DataError, match="vertices have no property nothing"):
            g.vertex_property("nothing")


@pytest.mark.parametrize("directed", [True, False])
def test_labels_do_not_meet(directed: bool, tmp_path: object) -> None:
    path = tmp_path / "store"  # type: ignore[operator]
    with hedgerow.open(path, directed=directed, weighted=True) as db:
        db.define_label("calls", multi=True)
        with db.write() as tx:
            tx.put_edge(1, 2, 0.25, note="w")
            tx.add_edge(1, 2, "knows", since=2001)
            for rank in (9, 2**64 - 1, 3):
                tx.add_edge(1, 2, "calls", rank, seconds=rank % 10)
            assert tx.neighbors(1, label="calls", ranks=True) == [(2, 3), (2, 9), (2, 2**64 - 1)]
            assert not tx.insert_edge(1, 2, label="knows", since=1)
            assert tx.insert_edge(2, 3, label="knows", weight=2.5)
            assert tx.update_edge(1, 2, label="knows", how="school")
            assert not tx.update_edge(1, 9, label="knows", how="school")
            assert tx.degree(1, label="knows") == 1
            tx.add_vertex(7, name="Gil")
            assert not tx.update_vertex(8, name="Hal")
        db.checkpoint()
        assert db.remove_edge(1, 2, label="calls", rank=9)
        assert not db.remove_edge(1, 2, label="calls", rank=9)
    with hedgerow.open(path) as db:
        g = db.snapshot()
        assert g.labels() == db.labels() == ["", "calls", "knows"]
        schema = g.schema()
        assert schema == db.schema()
        assert schema.labels["calls"] == hedgerow.Label("calls", True, {"seconds": "i64"})
        assert schema.labels["knows"].properties == {"since": "i64", "weight": "f64", "how": "utf8"}
        assert schema.vertex_properties == {"name": "utf8"}
        assert (g.vertex_count, g.edge_count) == (4, 5)
        assert [g.edge_count_of(label) for label in g.labels()] == [1, 2, 2]
        assert g.edge_properties(1, 2) == {"weight": 0.25, "note": "w"}
        assert g.edge_properties(1, 2, label="knows") == {"since": 2001, "how": "school"}
        assert g.edge_properties(1, 3) is None and g.vertex_properties(9) is None
        assert g.has_edge(1, 2, label="calls", rank=3) and not g.has_edge(1, 2, label="calls", rank=0)
        assert g.has_edge(2, 1, label="knows") is not directed
        assert g.neighbors(2, "in", label="calls") == [1, 1]
        edges = g.neighbors(2, "in", label="calls", ranks=True, properties=True)
        assert edges == [(1, 3, {"seconds": 3}), (1, 2**64 - 1, {"seconds": 5})]
        assert g.neighbors(2, "in", label="knows", properties=True)[0] == (1, {"since": 2001, "how": "school"})
        assert g.degree(1, label="calls") == 2
        assert g.vertex_property("name").to_dict() == {1: None, 2: None, 3: None, 7: "Gil"}
        table = g.edge_table("calls")
        assert table.ranks is not None and table.ranks.tolist() == [3, 2**64 - 1]
        assert (len(table), table.src.tolist(), table.dst.tolist()) == (2, [1, 1], [2, 2])
        assert g.edge_table("").properties["weight"].tolist() == [0.25]
        assert db.check().ok


def test_columns() -> None:
    with hedgerow.open() as db:
        columns = {
            "b": np.array([True, False, True]),
            "i": np.ma.MaskedArray([1, 2, 3], mask=[False, True, False]),
            "f": np.array([0.5, 1.5, 2.5], np.float32),
            "t": np.array(["2024-01-01", "NaT", "1969-12-31T23:59:59.999999"], "datetime64[us]"),
            "s": ["x", None, "z"],
            "y": [b"1", b"", None],
        }
        assert db.add_edges([1, 2, 3], [2, 3, 1], [3.0, 4.0, 9.0], label="road", properties=columns, batch=2) == 3
        g = db.snapshot()
        table = g.edge_table("road")
        assert table.src.tolist() == [1, 2, 3] and table.ranks is None
        for name in ("b", "i", "f", "t"):
            found = table.properties[name]
            assert isinstance(found, np.ma.MaskedArray)
            assert found.dtype == {"b": "bool", "i": "int64", "f": "float64", "t": "datetime64[us]"}[name]
        assert table.properties["b"].tolist() == [True, False, True]
        assert table.properties["i"].tolist() == [1, None, 3]
        assert table.properties["f"].tolist() == [0.5, 1.5, 2.5]
        assert table.properties["t"].mask.tolist() == [False, True, False]
        assert table.properties["t"][2] == np.datetime64("1969-12-31T23:59:59.999999")
        assert table.properties["s"].tolist() == ["x", None, "z"]
        assert table.properties["y"].tolist() == [b"1", b"", None]
        # What came out can go in again.
        with db.write() as tx:
            tx.add_edges(table.src, table.dst, label="copy", properties=table.properties)
        copy = db.snapshot().edge_table("copy")
        for name, column in table.properties.items():
            assert copy.properties[name].tolist() == column.tolist()
        db.define_label("calls", multi=True)
        db.add_edges([1, 1], [2, 2], label="calls", ranks=[5, 2**64 - 1])
        assert db.snapshot().neighbors(1, label="calls", ranks=True) == [(2, 5), (2, 2**64 - 1)]
        before = db.published_ts
        for more, message in [
            ({"properties": {"i": [1, 2]}}, "has 2 elements for 3 edges"),
            ({"properties": {"i": ["a", "b", "c"]}}, "property i has type i64, but the value has type utf8"),
            ({"properties": {"new": [1, "b", 2]}}, r'properties\["new"\]\[1\] is of type utf8'),
            ({"properties": {"i": np.array([1, 2, 2**63], np.uint64)}}, r'properties\["i"\]\[2\]'),
            ({"properties": {"i": np.zeros(3, complex)}}, "found complex128"),
            ({"ranks": [1]}, "ranks has 1 elements for 3 edges"),
            ({"ranks": [1, -1, 1]}, r"ranks\[1\] is -1"),
        ]:
            with pytest.raises(hedgerow.DataError, match=message):
                db.add_edges([7, 8, 9], [8, 9, 7], label="road", **more)
        assert db.published_ts == before


def test_kernels_of_a_label() -> None:
    with hedgerow.open() as db:
        db.add_edges([1, 2, 3, 9], [2, 3, 1, 1])
        miles = {"miles": np.array([5, 1, 1]), "toll": [True, False, False]}
        db.add_edges([1, 1, 3], [2, 3, 2], [0.5, 2.0, 0.25], label="road", properties=miles)
        g = db.snapshot()
        assert g.bfs(1, label="road").to_dict() == {1: 0, 2: 1, 3: 1, 9: -1}
        assert g.bfs(1, label="").to_dict() == {1: 0, 2: 1, 3: 2, 9: -1}
        assert g.sssp(1, label="road").to_dict() == {1: 0.0, 2: 0.5, 3: 2.0, 9: math.inf}
        assert g.sssp(1, label="road", weight="miles").to_dict() == {1: 0.0, 2: 2.0, 3: 1.0, 9: math.inf}
        assert g.sssp(1, label="road", weight="weight").to_dict() == {1: 0.0, 2: 0.5, 3: 2.0, 9: math.inf}
        backward = g.sssp(2, label="road", weight="weight", direction="in")
        assert backward.to_dict() == {1: 0.5, 2: 0.0, 3: 0.25, 9: math.inf}
        assert g.sssp(1, label="road", weight="toll")[2] == 0.0
        assert g.triangle_count(label="") == g.triangle_count(label="road") == 1
        assert g.wcc(label="road").counts() == {1: 3, 9: 1}
        assert g.pagerank(label="road").top(1)[0][0] == 2
        with pytest.raises(hedgerow.DataError, match='label "road" has no property time'):
            g.sssp(1, label="road", weight="time")
        with db.write() as tx:
            tx.put_edge(9, 1, label="road", name="A1")
        g = db.snapshot()
        with pytest.raises(hedgerow.DataError, match="the edge from 9 to 1 has no value of property miles"):
            g.sssp(1, label="road", weight="miles")
        with pytest.raises(hedgerow.DataError, match="name is of type utf8: a weight must be a number"):
            g.sssp(1, label="road", weight="name")


@pytest.mark.parametrize("durability", ["sync", "manual"])
def test_tickets(tmp_path: object, durability: str) -> None:
    path = tmp_path / "store"  # type: ignore[operator]
    with hedgerow.open(path, durability=durability) as db:  # type: ignore[arg-type]
        tickets = []
        for v in range(50):
            tx = db.write()
            tx.put_edge(v, v + 1)
            tickets.append(tx.submit())
            assert not tx.active
        assert [ticket.wait() for ticket in tickets] == [ticket.timestamp for ticket in tickets]
        assert all(ticket.done() for ticket in tickets)
        assert sorted(t.timestamp for t in tickets) == [t.timestamp for t in tickets]
        assert db.snapshot().edge_count == 50
        with pytest.raises(hedgerow.ProgrammingError, match="submitted"):
            tx.commit()
        with db.write() as tx:
            tx.put_edge(100, 101)
            tx.submit()
    with hedgerow.open(path) as db:
        assert db.snapshot().edge_count == 51
