"""What a call gives, another one takes: pairs of kind and id, results, tables; and ids of tables that join."""

import datetime

import numpy as np
import pytest

import hedgerow

pd = pytest.importorskip("pandas", reason="pandas cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="PyArrow cannot be installed here")


@pytest.fixture
def shop(db: hedgerow.Database) -> hedgerow.Database:
    db.define_kind("customer", "str")
    db.define_kind("order")
    db.define_kind("product")
    db.define_label("bought", src="customer", dst="order")
    db.define_label("has", src="order", dst="product")
    db.add_edges(["ann", "bob"], [7, 8], label="bought")
    db.add_edges([7, 7, 8], [1, 2, 1], label="has", properties={"count": [3, 1, 2]})
    return db


def test_neighbors_are_keys(shop: hedgerow.Database) -> None:
    g = shop.snapshot()
    orders = g.neighbors("ann", label="bought")
    assert orders == [("order", 7)]
    assert g.degrees(orders, label="has").tolist() == [2]
    assert g.degrees(orders).tolist() == [2]
    assert g.neighbors_of(orders, label="has")[0].tolist() == [("product", 1), ("product", 2)]
    buyers = g.neighbors_of(g.neighbors(1, "in", label="has"), "in", label="bought")
    assert buyers.ids.tolist() == [("order", 7), ("order", 8)]
    assert buyers.neighbors.tolist() == [("customer", "ann"), ("customer", "bob")]
    assert g.k_hop(orders, 1).to_dict() == {("order", 7): 0, ("product", 1): 1, ("product", 2): 1}
    assert g.degrees(buyers.neighbors).tolist() == [1, 1]
    assert g.contains_edges(orders * 2, [("product", 1), ("product", 9)], label="has").tolist() == [True, False]
    assert g.contains_edges(orders, [("product", 1)]).tolist() == [True]
    with pytest.raises(hedgerow.DataError, match=r"keys\[1\]: an id of kind order|keys\[1\]: kind order"):
        g.degrees([("order", 7), ("order", "x")])
    with pytest.raises(hedgerow.DataError, match=r"keys\[0\]: no kind odrer"):
        g.degrees([("odrer", 7)])


def test_results_and_tables_are_keys(shop: hedgerow.Database) -> None:
    g = shop.snapshot()
    reached = g.k_hop(["ann"], 2, label="bought", kind="customer")
    assert g.degrees(reached).tolist() == [1, 2]
    assert g.degrees(g.vertex_table("order"), label="has").tolist() == [2, 1]
    assert g.degrees(g.vertex_table("order")).tolist() == [2, 1]
    assert g.degrees(g.wcc().ids).tolist() == g.run("degrees").values.tolist()
    found = g.run("ppr", sources=reached, label=["bought", "has"])
    assert found.to_dict() == g.run("ppr", sources=[("customer", "ann"), ("order", 7)], label=["bought", "has"]).to_dict()
    assert g.run("closeness", sources=g.vertex_table("order")).values.size > 0
    assert shop.set_vertex_properties(g.vertex_table("product"), {"price": [0.5, 1.5]}) == 2
    assert shop.snapshot().vertex_properties(("product", 2)) == {"price": 1.5}
    for answer in (g.edges(), g.edge_table("has"), g.neighbors_of([7], label="has")):
        with pytest.raises(hedgerow.DataError, match="has several columns: name one of them"):
            g.degrees(answer)  # type: ignore[arg-type]


def test_edges_of_a_table_are_edges_to_change(shop: hedgerow.Database) -> None:
    table = shop.snapshot().edge_table("has")
    assert shop.update_edges(table.src, table.dst, {"count": [9, 9, 9]}, label="has") == 3
    assert shop.snapshot().edge_table("has").properties["count"].tolist() == [9, 9, 9]
    assert shop.remove_edges(table.src, table.dst, label="has") == 3
    assert shop.add_edges(table.src, table.dst, label="has", properties=table.properties).repeated == 0
    assert shop.snapshot().edge_table("has").properties["count"].tolist() == [3, 1, 2]
    with shop.write() as tx:
        assert tx.remove_edges(table.src[:1], table.dst[:1], label="has") == 1
    # Ends of labels that say no kinds.
    shop.add_edges([("order", 7), 5, 7], [("customer", "ann"), ("order", 7), ("order", 7)], label="any")
    g = shop.snapshot()
    assert g.neighbors(("order", 7), "in", label="any") == [5, 7]
    assert g.neighbors(("order", 7), label="any") == [("customer", "ann")]
    table = g.edge_table("any")
    assert shop.add_edges(table.src, table.dst, label="any").repeated == 0 and shop.snapshot().edge_count_of("any") == 3


def test_ids_of_tables_join(shop: hedgerow.Database) -> None:
    shop.add_vertices([7, 8], kind="order", properties={"year": [2001, 2002]})
    g = shop.snapshot()
    orders, edges = pl.DataFrame(g.vertex_table("order")), pl.DataFrame(g.edge_table("has"))
    assert edges.columns == ["src_kind", "src", "dst_kind", "dst", "count"]
    joined = edges.join(orders, left_on="src", right_on="id")
    assert sorted(joined.select("src_kind", "src", "dst", "year").rows()) == [
        ("order", 7, 1, 2001),
        ("order", 7, 2, 2001),
        ("order", 8, 1, 2002),
    ]
    frame = pd.DataFrame(g.edge_table("has")).merge(pd.DataFrame(g.vertex_table("order")), left_on="src", right_on="id")
    assert frame["year"].tolist() == [2001, 2001, 2002]
    # Without edges the types are the same.
    with hedgerow.open() as empty:
        empty.define_kind("order")
        empty.define_kind("product", "str")
        empty.define_label("has", src="order", dst="product", properties={"count": int})
        none = pl.DataFrame(empty.snapshot().edge_table("has"))
        empty.add_edges([7], ["x"], label="has")
        some = pl.DataFrame(empty.snapshot().edge_table("has"))
        assert none.schema == some.schema
        assert none.join(pl.DataFrame(empty.snapshot().vertex_table("order")), left_on="src", right_on="id").height == 0


def test_ids_of_every_answer_have_their_kind_in_a_column(shop: hedgerow.Database) -> None:
    shop.insert_edge(5, 6)
    g = shop.snapshot()
    kinds = {("", "5"), ("", "6"), ("customer", "ann"), ("customer", "bob"), ("order", "7"), ("order", "8"), ("product", "1"), ("product", "2")}
    for answer in (g.wcc(), g.pagerank()):
        table = pa.table(answer)
        assert set(zip(table["id_kind"].to_pylist(), table["id"].to_pylist(), strict=True)) == kinds
    # The label says the kinds of its ends: there are no others, and all ids are ints.
    table, numbers = pa.table(g.csr("has")), {("order", 7), ("order", 8), ("product", 1), ("product", 2)}
    assert set(zip(table["id_kind"].to_pylist(), table["id"].to_pylist(), strict=True)) == numbers
    assert "value_kind" in pa.table(g.wcc()).column_names
    edges = pa.table(g.edges(label=["bought", "has"]))
    assert edges.column_names[:4] == ["src_kind", "src", "dst_kind", "dst"]
    assert edges["dst"].type == pa.uint64() and set(edges["dst_kind"].to_pylist()) == {"order", "product"}
    lists = pa.table(g.neighbors_of([7], label="has"))
    assert lists.to_pydict() == {"id": [7], "neighbors_kind": [["product", "product"]], "neighbors": [[1, 2]]}
    path = pa.table(g.run("path", source=("customer", "ann"), target=("product", 2)))
    assert path["path_kind"].to_pylist() == [["customer", "order", "product"]]
    mates = pa.table(g.run("matching", maximum=0, label="has"))
    assert set(mates["value_kind"].to_pylist()) >= {None, "order", "product"}


def test_many_vertices_over_several_labels(db: hedgerow.Database) -> None:
    db.define_label("calls", multi=True)
    at = np.array(["2024-01-01", "2024-06-01", "2025-01-01"], "datetime64[D]")
    db.add_edges([1, 1, 2], [2, 3, 1], label="knows", properties={"since": [2001, 2010, 2020], "at": at})
    db.add_edges([1, 1, 4], [2, 2, 4], label="calls", ranks=[5, 7, 9])
    g = db.snapshot()
    keys = [1, 2, 3, 4]
    for chosen in (
        {"label": ["knows", "calls"]},
        {"label": ["knows"]},
        {"rank_range": (6, None)},
        {"where": ("since", ">", 2005)},
        {"where": ("at", ">=", datetime.datetime(2024, 6, 1))},
        {"label": ["knows", "calls"], "rank_range": (0, 6)},
        {},
    ):
        for direction in ("out", "in", "both"):
            expected = [g.neighbors(key, direction, **chosen) for key in keys]  # type: ignore[arg-type, call-overload]
            assert g.degrees(keys, direction, **chosen).tolist() == [len(found) for found in expected]  # type: ignore[arg-type, call-overload]
            lists = g.neighbors_of(keys, direction, **chosen)  # type: ignore[arg-type, call-overload]
            assert [found.tolist() for found in lists] == expected
    assert g.degrees([1, 9], "both", missing="empty").tolist() == [5, 0]
    with pytest.raises(hedgerow.IntegrityError, match=r"keys\[1\]: no vertex 9"):
        g.neighbors_of([1, 9], label=["knows", "calls"])
    with pytest.raises(hedgerow.ProgrammingError, match="no label knew"):
        g.degrees(keys, label=["knows", "knew"])


def test_lists_over_several_labels_with_kinds(shop: hedgerow.Database) -> None:
    g = shop.snapshot()
    both = g.neighbors_of([7, 8], "both", label=["has", "bought"], kind="order")
    assert both[1].tolist() == g.neighbors(("order", 8), "both") == [("product", 1), ("customer", "bob")]
    assert g.degrees([1], "in", label=["has", "has"]).tolist() == [2]
    with hedgerow.open(keys="str") as db:
        db.add_edges(["a"], ["b"], label="l")
        empty = db.snapshot().neighbors_of(["b"], label=["l"])
        assert empty.neighbors.dtype == object and empty.neighbors.tolist() == []


def test_a_table_of_several_labels(db: hedgerow.Database) -> None:
    db.define_label("calls", multi=True)
    db.add_edges([1, 2], [2, 3], label="knows", properties={"since": [2001, 2010], "how": ["school", None]})
    db.add_edges([1, 1], [3, 3], label="calls", ranks=[5, 7], properties={"since": [3, 4], "seconds": [30.5, 40.5]})
    g = db.snapshot()
    table = g.edge_table(["calls", "knows"])
    assert table.labels is not None and table.labels.tolist() == ["calls", "calls", "knows", "knows"]
    assert table.ranks is not None and table.ranks.tolist() == [5, 7, 0, 0]
    assert table.properties["since"].tolist() == [3, 4, 2001, 2010]
    assert table.properties["seconds"].tolist() == [30.5, 40.5, None, None]
    assert table.properties["how"].tolist() == [None, None, "school", None]
    assert pl.DataFrame(table).columns == ["src", "dst", "label", "rank", "since", "seconds", "how"]
    assert len(g.edge_table(["calls", "knows"], rank_range=(6, None))) == 1
    assert g.edge_table(["calls", "knows"], where=("since", ">", 3)).dst.tolist() == [3, 2, 3]
    assert g.edge_table("knows", where=("how", "==", "school"), properties=["since"]).properties["since"].tolist() == [2001]
    assert g.edge_table("knows").labels is None and g.edge_table(["knows", "knows"]).labels is None
    for arguments, message in (
        ({"label": ["calls", "knew"]}, "no label knew"),
        ({"label": []}, "no label is named"),
        ({"label": "knows", "where": ("sinc", "==", 1)}, 'label "knows" has no property sinc'),
        ({"label": "knows", "where": ("since", "==", "x")}, "has type i64, but the value of the filter"),
        ({"label": ["calls", "knows"], "properties": ["secods"]}, 'did you mean "seconds"?'),
    ):
        with pytest.raises(hedgerow.Error) as raised:
            g.edge_table(**arguments)  # type: ignore[arg-type]
        assert message in str(raised.value)
    db.add_edges([1], [2], label="likes", properties={"since": ["long"]})
    with pytest.raises(hedgerow.DataError, match='property since is i64 of label "knows" and utf8 of label "likes"'):
        db.snapshot().edge_table(["knows", "likes"])
    assert len(db.snapshot().edge_table(["knows", "likes"], properties=["how"])) == 3


def test_a_weighted_graph_among_several_labels() -> None:
    with hedgerow.open(weighted=True) as db:
        db.add_edges([1], [2], [0.5])
        db.add_edges([1], [3], [2.5], label="road")
        table = db.snapshot().edge_table(["", "road"])
        assert table.properties["weight"].tolist() == [0.5, 2.5]
        assert db.snapshot().edge_table(["", "road"], where=("weight", ">", 1)).dst.tolist() == [3]


TIMES: list[tuple[object, int]] = [
    (datetime.datetime(2024, 6, 1), 2),
    (datetime.date(2024, 6, 1), 2),
    ("2024-06-01", 2),
    ("2024-06-01T00:00:00", 2),
    ("2024-06-01T00:00:00.000001Z", 1),
    ("2024-05-31T22:00:00-02:00", 2),
    (datetime.datetime(2024, 6, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))), 2),
    (np.datetime64("2024-06-01"), 2),
    (pd.Timestamp("2024-06-01"), 2),
]


@pytest.mark.parametrize(("time", "count"), TIMES, ids=str)
def test_times_are_compared_in_any_form(db: hedgerow.Database, time: object, count: int) -> None:
    at = np.array(["2024-01-01", "2024-06-01", "2025-01-01"], "datetime64[D]")
    db.add_edges([1, 1, 1], [2, 3, 4], label="e", properties={"at": at, "text": ["2024-06-01", "x", "y"]})
    g = db.snapshot()
    assert g.degree(1, where=("at", ">=", time)) == count  # type: ignore[arg-type]
    assert g.degree(1, where=("text", "==", "2024-06-01")) == 1


@pytest.mark.parametrize("text", ["yesterday", "2024-13-01", "", "2024-06-01T00:00:00.0000001", "01.06.2024"])
def test_a_text_that_says_no_time_is_refused(db: hedgerow.Database, text: str) -> None:
    db.define_property("at", datetime.datetime, label="")
    with pytest.raises(hedgerow.DataError, match="where: property at holds times, but .* is no ISO 8601 time"):
        db.snapshot().edges(where=("at", ">", text))
