"""Kinds of vertices, and many vertices and edges in one call."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow import Database


def wiki() -> Database:
    db = hedgerow.open()
    db.define_kind("user", "str")
    db.define_kind("page")
    db.define_label("edited", src="user", dst="page", properties={"minor": bool})
    return db


def test_equal_ids_of_several_kinds_are_several_vertices() -> None:
    db = wiki()
    with db.write() as tx:
        tx.put_edge("ann", 7, label="edited", minor=True)
        tx.put_edge(7, ("page", 7))
        tx.add_vertex(("user", "7"), name="Seven")
        tx.add_vertex(("page", 8), title="Owls")
        assert tx.has_vertex(("page", 7)) and tx.has_vertex(7) and not tx.has_vertex(8)
        assert tx.neighbors(("user", "ann")) == [("page", 7)]
    with db.snapshot() as g:
        assert g.vertex_count == 5
        assert g.neighbors(7) == [("page", 7)]
        assert g.neighbors(("page", 7), "in") == [7, ("user", "ann")]
        assert g.neighbors("ann", label="edited") == [("page", 7)]
        assert g.edge_properties("ann", 7, label="edited") == {"minor": True}
        assert g.has_edge(("user", "ann"), ("page", 7), label="edited")
        assert g.vertex_properties(("page", 8)) == {"title": "Owls"}
        assert g.vertex_properties(8) is None
        assert set(g.vertices().tolist()) == {7, ("page", 7), ("page", 8), ("user", "7"), ("user", "ann")}
        ranks = g.pagerank(label="edited")
        assert dict(zip(ranks.ids.tolist(), ranks.values.tolist(), strict=True))[("page", 7)] > 0.1
        assert g.bfs(("user", "ann"), label="edited")[("page", 7)] == 1


def test_the_schema_tells_kinds() -> None:
    db = wiki()
    db.define_property("size", int, kind="page")
    db.define_property("size", str, kind="user")
    db.define_property("size", float)
    schema = db.schema()
    assert {name: (kind.keys, kind.properties) for name, kind in schema.kinds.items()} == {
        "user": ("str", {"size": "utf8"}),
        "page": ("u64", {"size": "i64"}),
    }
    assert schema.vertex_properties == {"size": "f64"}
    edited = schema.labels["edited"]
    assert (edited.src, edited.dst, edited.properties) == ("user", "page", {"minor": "bool"})
    assert (schema.labels[""].src, schema.labels[""].dst) == (None, None)


def test_columns_in_and_out() -> None:
    db = wiki()
    ids = np.arange(1000, dtype=np.uint64) * np.uint64(2**50 + 1)
    titles = [f"page {n}" for n in range(1000)]
    views = pa.array([None if n % 3 == 0 else n for n in range(1000)])
    assert db.add_vertices(ids, kind="page", properties={"title": titles, "views": views}, batch=300) == 1000
    assert db.add_vertices(["ann", "bob"], kind="user") == 2
    assert db.add_edges(["ann"] * 1000, ids, label="edited") == 1000
    assert db.add_vertices([1, 2], properties={"title": [0.5, 1.5]}) == 2
    with db.snapshot() as g:
        table = g.vertex_table("page")
        assert table.ids.dtype == np.uint64 and sorted(table.ids.tolist()) == ids.tolist()
        rows = dict(zip(table.ids.tolist(), table.properties["title"].tolist(), strict=True))
        assert rows == dict(zip(ids.tolist(), titles, strict=True))
        assert table.types == {"title": "utf8", "views": "i64"}
        assert g.vertex_table("user").ids.tolist() == ["ann", "bob"]
        assert g.vertex_table().properties["title"].tolist() == [0.5, 1.5]
        assert g.degrees(["ann", "bob"], label="edited").tolist() == [1000, 0]
        assert g.degrees(ids[:3], "in", label="edited").tolist() == [1, 1, 1]
        assert g.degrees(ids[:3], "in", kind="page").tolist() == [1, 1, 1]
        lists = g.neighbors_of(ids[:2], "in", kind="page")
        assert lists.neighbors.tolist() == [("user", "ann"), ("user", "ann")]
        arrow = pa.table(g.edge_table("edited"))
        assert arrow.num_rows == 1000 and arrow["src_kind"][0].as_py() == "user" and arrow["src"][0].as_py() == "ann"
        assert pa.table(g.vertex_table("page"))["id"].type == pa.uint64()


def test_columns_change_and_remove() -> None:
    db = wiki()
    db.add_vertices([1, 2, 3], kind="page", properties={"views": [1, 2, 3], "title": ["a", "b", "c"]})
    db.add_edges(["ann", "ann", "bob"], [1, 2, 3], label="edited", properties={"minor": [True, False, True]})
    assert db.set_vertex_properties([1, 3, 9], {"views": [10, None, 1]}, kind="page") == 2
    assert db.update_edges(["ann", "bob"], [1, 1], {"minor": [False, False]}, label="edited") == 1
    with db.snapshot() as g:
        assert g.vertex_properties(("page", 1)) == {"views": 10, "title": "a"}
        assert g.vertex_properties(("page", 3)) == {"title": "c"}
        assert g.edge_properties("ann", 1, label="edited") == {"minor": False}
    assert db.remove_edges(["ann", "ann"], [2, 3], label="edited") == 1
    assert db.remove_vertices([1, 1, 9], kind="page") == 1
    with db.write() as tx:
        assert tx.add_vertices([7, 8, 7], kind="page", duplicates="last", properties={"views": [1, 2, 3]}) == 2
        assert tx.set_vertex_properties([8], {"views": [5]}, kind="page") == 1
        assert tx.update_edges(["bob"], [3], {"minor": [None]}, label="edited") == 1
        assert tx.remove_edges(["bob"], [2], label="edited") == 0
        assert tx.remove_vertices([2], kind="page") == 1
    with db.snapshot() as g:
        assert g.vertex_properties(("page", 7)) == {"views": 3}
        assert g.vertex_properties(("page", 8)) == {"views": 5}
        assert g.edge_properties("bob", 3, label="edited") == {}
        assert g.edge_count_of("edited") == 1 and g.vertex_count == 5


@pytest.mark.parametrize("duplicates", ["raise", "first", "last"])
def test_a_key_that_comes_twice(duplicates: str) -> None:
    db = hedgerow.open(keys="str")
    arguments = {"properties": {"n": [1, 2, 3]}, "duplicates": duplicates}
    if duplicates == "raise":
        with pytest.raises(hedgerow.DataError, match=r"keys\[2\]: vertex a comes twice"):
            db.add_vertices(["a", "", "a"], **arguments)
        assert db.snapshot().vertex_count == 0
        return
    assert db.add_vertices(["a", "", "a"], **arguments) == 2
    with db.snapshot() as g:
        assert g.vertex_properties("a") == {"n": 1 if duplicates == "first" else 3}
        assert g.vertex_properties("") == {"n": 2}


def test_what_does_not_fit_is_refused() -> None:
    db = wiki()
    data = hedgerow.DataError
    cases = [
        (data, "kind user: a vertex id", lambda: db.insert_edge(("user", 5), 1)),
        (hedgerow.Error, "no kind nobody", lambda: db.insert_edge(("nobody", 5), 1)),
        (TypeError, "a pair", lambda: db.insert_edge(("user", "a", 3), 1)),
        (data, "alone", lambda: db.insert_edge(("", 5), 1)),
        (hedgerow.Error, "no kind nobody", lambda: db.add_vertices([1], kind="nobody")),
        (data, "keys", lambda: db.add_vertices(["a"], kind="page")),
        (data, "keys", lambda: db.add_vertices([1], kind="user")),
        (data, "views", lambda: db.add_vertices([1, 2], kind="page", properties={"views": [1]})),
        (data, "duplicates", lambda: db.add_vertices([1], kind="page", duplicates="any")),
        (hedgerow.Error, "with str keys", lambda: db.define_kind("user")),
        (data, "keys must be", lambda: db.define_kind("new", "dense")),
        (hedgerow.Error, "together", lambda: db.define_label("l", src="user")),
        (hedgerow.Error, "no kind nobody", lambda: db.define_label("l", src="user", dst="nobody")),
        (hedgerow.Error, "label or kind, not both", lambda: db.define_property("p", int, label="edited", kind="user")),
    ]
    for error, message, call in cases:
        with pytest.raises(error, match=message):
            call()
    with pytest.raises(hedgerow.Error, match="label edited requires a vertex of kind user"), db.write() as tx:
        tx.put_edge(("page", 1), ("page", 2), label="edited")
    assert db.snapshot().vertex_count == 0
    dense = hedgerow.open(keys="dense")
    with pytest.raises(data, match="one kind"):
        dense.define_kind("user")


def test_kinds_last(tmp_path: Path) -> None:
    with hedgerow.open(tmp_path / "store", keys="str") as db:
        db.define_kind("page")
        db.add_vertices(range(100), kind="page", properties={"n": range(100)})
        db.checkpoint()
        db.add_vertices(range(100, 200), kind="page", properties={"n": range(100, 200)})
    with hedgerow.open(tmp_path / "store") as db, db.snapshot() as g:
        table = g.vertex_table("page")
        assert sorted(table.ids.tolist()) == list(range(200))
        assert table.ids.tolist() == table.properties["n"].tolist()
        assert db.check().problems == []


def airports() -> Database:
    """A ring of three airports among many airlines, one of which owns an airport."""
    db = hedgerow.open()
    db.define_kind("airport")
    db.define_kind("airline")
    db.define_label("route", src="airport", dst="airport", properties={"weight": float})
    db.define_label("owns", src="airline", dst="airport")
    db.define_label("note")
    db.add_edges([1, 2, 3], [2, 3, 1], label="route", properties={"weight": [1.0, 2.0, 4.0]})
    db.add_vertices(range(6000), kind="airline")
    db.add_edges([7], [2], label="owns")
    return db


def test_a_kernel_runs_on_the_kinds_of_its_labels() -> None:
    db = airports()
    three = [("airport", 1), ("airport", 2), ("airport", 3)]
    with db.snapshot() as g:
        components = g.wcc(label="route")
        assert components.ids.tolist() == three and len(components.counts()) == 1
        assert g.pagerank(label="route")[("airport", 1)] == pytest.approx(1 / 3)
        assert g.bfs(2, label="route").to_dict() == dict(zip(three, [2, 0, 1], strict=True))
        assert g.sssp(2, label="route").to_dict() == dict(zip(three, [6.0, 0.0, 2.0], strict=True))
        assert g.run("degrees", label="route").values.tolist() == [1, 1, 1]
        parents = g.run("bfs_parents", source=2, label="route")
        assert parents.ids.tolist() == three and parents.values.tolist() == [three[2], three[1], three[1]]
        assert g.triangle_count(label="route") == 1
        # Results of two graphs beside one another, and those of all vertices.
        assert len(g.wcc(label="owns")) == 6003 and len(g.wcc(label="owns").counts()) == 6002
        assert len(g.wcc(label=["route", "owns"]).counts()) == 6000
        assert g.wcc(label="route").ids.tolist() == three
        assert len(g.wcc()) == len(g.wcc(label="note")) == len(g.wcc(label=["route", "note"])) == 6003


def test_kinds_chooses_other_vertices() -> None:
    db = airports()
    with db.snapshot() as g:
        assert len(g.wcc(label="route", kinds="airport").counts()) == 1
        assert len(g.wcc(label="route", kinds=["airline", "airport"]).counts()) == 6001
        assert g.pagerank(label="route", kinds=["airline", "airport"])[("airport", 1)] < 0.1
        assert len(g.wcc(label="route", kinds=["", "airline", "airport"])) == 6003
        assert g.bfs(("airline", 7), label="route", kinds=("airport", "airline"))[("airline", 7)] == 0
        for kinds, call, message in [
            ("airport", {"label": "owns"}, "edges of label owns end at vertices of kind airline"),
            (["airline"], {"label": "route"}, "edges of label route end at vertices of kind airport"),
            ("airport", {}, "edges of label owns end at vertices of kind airline"),
            ("airport", {"label": "note"}, "edges of label note end at vertices of any kind"),
            ("harbour", {"label": "route"}, "no kind harbour"),
            ([], {"label": "route"}, "the list of kinds is empty"),
        ]:
            with pytest.raises(hedgerow.Error, match=message):
                g.wcc(kinds=kinds, **call)
        with pytest.raises(hedgerow.Error, match="vertex 7 is of kind airline"):
            g.bfs(("airline", 7), label="route")
        with pytest.raises(TypeError, match="kinds must be a str or a sequence of str"):
            g.wcc(label="route", kinds=3)  # type: ignore[arg-type]


def test_rows_and_kept_answers_of_a_label_are_of_its_kinds() -> None:
    db = airports()
    components = db.maintain("wcc", label="route")
    degrees = db.maintain("degrees", label="route")
    with db.snapshot() as g:
        for order in ("id", "key"):
            csr = g.csr("route", order=order)
            assert list(csr.ids) == [("airport", 1), ("airport", 2), ("airport", 3)]
            assert csr.offsets.tolist() == [0, 1, 2, 3] and csr.targets.tolist() == [1, 2, 0]
        assert len(g.csr("note").ids) == 6003
        assert len(components.at(g)) == len(degrees.at(g)["out"]) == 3
    db.add_vertices([8000], kind="airline")
    db.add_vertices([4], kind="airport")
    with db.snapshot() as g:
        kept = components.at(g)
        assert components.made == "from 0 changes"
        assert kept.to_dict() == g.wcc(label="route").to_dict() and len(kept.counts()) == 2
