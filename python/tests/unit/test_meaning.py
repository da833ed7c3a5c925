"""What calls mean where they say nothing: which vertex a key names, what an edge weighs, whether a result is exact."""

import math
from pathlib import Path

import hedgerow
import pytest


def _pages() -> hedgerow.Database:
    db = hedgerow.open()
    db.define_kind("page")
    db.define_label("typed", multi=True, src="page", dst="page", properties={"x": "i64"})
    db.define_label("plain")
    with db.write() as tx:
        tx.add_vertex(7)
        tx.put_edge(("page", 7), ("page", 8), label="typed", rank=5, x=9)
    return db


def test_a_key_without_kind_does_not_depend_on_which_labels_have_edges() -> None:
    db = _pages()
    before, both = db.snapshot(), ["plain", "typed"]

    def reads(g: hedgerow.Snapshot) -> list[object]:
        return [
            g.neighbors(7),
            g.neighbors(7, "both"),
            g.neighbors(7, where=("x", ">", 0)),
            g.degree(7, where=("x", ">", 0)),
            g.neighbors(7, label=both),
            g.neighbors(7, label=both, rank_range=(1, None)),
            g.degree(7, label=both),
            g.k_hop([7], 3, label=both).to_dict(),
            {v: hops for v, hops in g.bfs(7, label=both).to_dict().items() if hops >= 0},
        ]

    expected = [[], [], [], 0, [], [], 0, {7: 0}, {7: 0}]
    assert reads(before) == expected
    with db.write() as tx:
        tx.put_edge(100, 101, label="plain")
    assert reads(before) == expected
    assert reads(db.snapshot()) == expected


def test_kernels_name_vertices_as_reads_do() -> None:
    db = hedgerow.open()
    db.define_kind("airport")
    db.define_label("route", src="airport", dst="airport")
    db.define_label("train", src="airport", dst="airport")
    db.add_edges([16], [49], label="route")
    g = db.snapshot()
    assert g.neighbors(16, label="route") == [("airport", 49)]
    assert g.bfs(16, label="route")[("airport", 49)] == 1
    assert g.bfs(49, label="route", direction="in")[("airport", 16)] == 1
    assert g.sssp(16, label="route")[("airport", 49)] == 1.0
    assert g.run("path", source=16, target=49, label="route").count == 1
    assert g.run("path", source=49, target=16, label="route", direction="in").count == 1
    assert g.neighbors(16, label=["route", "train"]) == [("airport", 49)]
    db.add_edges([1000], [1001], label="train")
    assert db.snapshot().neighbors(16, label=["route", "train"]) == [("airport", 49)]


def test_labels_of_several_kinds_ask_for_the_kind() -> None:
    db = hedgerow.open()
    db.define_kind("user")
    db.define_kind("page")
    db.define_label("read", src="user", dst="page")
    db.define_label("links", src="page", dst="page")
    db.add_edges([1], [2], label="read")
    g = db.snapshot()
    assert g.run("path", source=1, target=2, label="read").count == 1
    for ask in (
        lambda: g.neighbors(1, "both", label="read"),
        lambda: g.degree(1, label=["read", "links"]),
        lambda: g.bfs(1, label=["read", "links"]),
    ):
        with pytest.raises(hedgerow.DataError, match="say the kind of vertex 1"):
            ask()
    assert g.degree(("user", 1), label=["read", "links"]) == 1


def test_weights_of_a_label_are_those_of_its_edges() -> None:
    db = hedgerow.open(weighted=True)
    db.add_edges([1, 1, 2], [2, 3, 3], weights=[5.0, 20.0, 6.0], label="road")
    g = db.snapshot()
    assert g.sssp(1, label="road").to_dict() == {1: 0.0, 2: 5.0, 3: 11.0}
    assert g.sssp(1).to_dict() == {1: 0.0, 2: 5.0, 3: 11.0}
    assert g.edges(label="road").weights.tolist() == [5.0, 20.0, 6.0]
    assert g.edges().weights.tolist() == [5.0, 20.0, 6.0]
    assert g.run("wpath", source=1, target=3, label="road")[0].tolist() == [1, 2, 3]
    db.add_edges([1], [3], label="path")
    g = db.snapshot()
    assert g.edges(label="path").weights is None
    weights = g.edges(label=["road", "path"]).weights.tolist()
    assert weights[:3] == [5.0, 20.0, 6.0] and math.isnan(weights[3])
    for ask in (lambda: g.sssp(1), lambda: g.run("msf", label=["road", "path"])):
        with pytest.raises(hedgerow.DataError, match='"path" have none'):
            ask()
    assert g.sssp(1, label="path")[3] == 1.0
    assert g.bfs(1)[3] == 1


def test_centrality_is_exact_where_that_is_affordable() -> None:
    db = hedgerow.open(directed=False)
    db.define_kind("airport")
    db.define_kind("airline")
    db.define_label("route", src="airport", dst="airport")
    db.add_edges(range(29), range(1, 30), label="route")
    db.add_vertices(range(6000), kind="airline")
    g = db.snapshot()
    middle = {("airport", 14), ("airport", 15)}
    for kernel in ("betweenness", "closeness", "wbetweenness", "wcloseness"):
        found = g.run(kernel, label="route")
        assert found.estimate is None
        assert {key for key, _ in found.top(2)} == middle
        assert found.top(1)[0][1] == g.run(kernel, label="route", samples=30).top(1)[0][1]
        sampled = g.run(kernel, label="route", samples=10)
        assert (sampled.estimate.samples, sampled.estimate.of) == (10, 30)
        assert sampled.estimate.bound == pytest.approx(math.sqrt(math.log(40) / 20))
    assert dict(g.run("betweenness", label="route"))[("airport", 14)] == 14 * 15


def test_definitions_are_seen_by_the_next_snapshot(tmp_path: Path) -> None:
    with hedgerow.open(tmp_path / "store") as db:
        db.define_label("knows")
        db.define_kind("page")
        g = db.snapshot()
        assert "knows" in g.labels()
        assert not g.has_vertex(("page", 1))
        assert g.wcc(label="knows").to_dict() == {}
        assert db.published_ts == db.durable_ts
