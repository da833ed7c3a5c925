"""Reading: snapshots, results as arrays, the whole graph."""

import math
import re

import numpy as np
import pytest

import hedgerow


@pytest.fixture
def named() -> hedgerow.Database:
    """Two components with str ids, undirected: a path of four and a pair."""
    db = hedgerow.open(keys="str", directed=False)
    db.add_edges(["a", "b", "c", "x"], ["b", "c", "d", "y"])
    return db


def test_a_snapshot_stays_as_it_is(db: hedgerow.Database) -> None:
    db.insert_edge(1, 2)
    old = db.snapshot()
    db.remove_edge(1, 2)
    with db.write() as tx:
        tx.remove_vertex(1)
    new = db.snapshot()
    assert old.timestamp < new.timestamp
    assert old.has_edge(1, 2) and old.vertices().tolist() == [1, 2]
    assert not new.has_edge(1, 2) and new.vertices().tolist() == [2]
    assert old.pagerank().to_dict().keys() == {1, 2}


def test_an_empty_graph(db: hedgerow.Database) -> None:
    g = db.snapshot()
    assert (g.timestamp, g.vertex_count, g.edge_count) == (0, 0, 0)
    assert [len(array) for array in g.edges()[:2]] == [0, 0]
    for result in (g.pagerank(), g.wcc()):
        assert len(result) == 0 and result.to_dict() == {} and result.top(3) == [] and result.counts() == {}
    assert g.vertices().dtype == np.uint64
    assert hedgerow.open(keys="str").snapshot().vertices().dtype == object


def test_results_are_arrays(db: hedgerow.Database) -> None:
    db.add_edges([1, 2, 2**63], [2, 3, 5])
    g = db.snapshot()
    depths, scores, components = g.bfs(1), g.pagerank(), g.wcc()
    for result in (depths, scores, components):
        assert result.ids is g.vertices()
        assert result.ids.dtype == np.uint64
        assert not result.ids.flags.writeable
    assert (depths.values.dtype, scores.values.dtype, components.values.dtype) == (np.int64, np.float64, np.uint64)
    assert depths.to_dict() == {1: 0, 2: 1, 3: 2, 5: -1, 2**63: -1}
    assert math.isclose(scores.values.sum(), 1.0)
    assert components.counts() in ({1: 3, 5: 2}, {1: 3, 2**63: 2})
    assert depths[3] == 2 and isinstance(depths[3], int)
    with pytest.raises(KeyError):
        depths[4]
    assert g.bfs(3, direction="in").to_dict() == {1: 2, 2: 1, 3: 0, 5: -1, 2**63: -1}


def test_results_with_names(named: hedgerow.Database) -> None:
    g = named.snapshot()
    assert sorted(g.vertices().tolist()) == ["a", "b", "c", "d", "x", "y"]
    assert g.bfs("d").to_dict() == {"a": 3, "b": 2, "c": 1, "d": 0, "x": -1, "y": -1}
    components = g.wcc()
    assert components["a"] == components["d"] != components["x"] == components["y"]
    assert sorted(components.counts().values()) == [2, 4]
    assert [key for key, _ in g.pagerank().top(2)] in (["b", "c"], ["c", "b"])
    src, dst, weights = g.edges()
    assert weights is None
    pairs = {frozenset(pair) for pair in zip(src.tolist(), dst.tolist())}
    assert pairs == {frozenset(pair) for pair in ["ab", "bc", "cd", "xy"]}


def test_top_orders_equal_values_by_position() -> None:
    result = hedgerow.VertexResult(np.arange(6), np.array([1.0, 3.0, 1.0, 3.0, 2.0, 3.0]))
    assert result.top(4) == [(1, 3.0), (3, 3.0), (5, 3.0), (4, 2.0)]
    assert result.top(0) == result.top(-1) == []
    assert len(result.top(99)) == 6


def test_edges_are_all_and_once() -> None:
    rng = np.random.default_rng(7)
    pairs = set(map(tuple, rng.integers(0, 60, (300, 2)).tolist()))
    for directed in (True, False):
        with hedgerow.open(directed=directed, weighted=True) as db:
            db.add_edges([a for a, _ in pairs], [b for _, b in pairs], [a + b for a, b in pairs])
            g = db.snapshot()
            src, dst, weights = g.edges()
            assert weights is not None
            assert weights.tolist() == (src + dst).tolist()
            shape = tuple if directed else lambda pair: tuple(sorted(pair))
            found = [shape(pair) for pair in zip(src.tolist(), dst.tolist())]
            assert len(found) == g.edge_count == len(set(found))
            assert set(found) == {shape(pair) for pair in pairs}


def test_pagerank_arguments(db: hedgerow.Database) -> None:
    db.add_edges([1, 2, 3, 3], [2, 3, 1, 2])
    g = db.snapshot()
    assert g.pagerank(iterations=0).values.tolist() == pytest.approx([1 / 3] * 3)
    many = g.pagerank(iterations=1000)
    assert g.pagerank(iterations=1000, tolerance=1e-13).values == pytest.approx(many.values, rel=1e-9)
    assert g.pagerank(iterations=1000, tolerance=0.5).values != pytest.approx(many.values, rel=1e-9)
    for bad in (
        {"damping": 1.5},
        {"damping": -0.1},
        {"damping": float("nan")},
        {"tolerance": -1.0},
        {"tolerance": float("inf")},
        {"iterations": -1},
        {"iterations": 2**32},
    ):
        with pytest.raises(hedgerow.DataError):
            g.pagerank(**bad)
    with pytest.raises(TypeError):
        g.pagerank(iterations=1.5)
    with pytest.raises(TypeError):
        g.pagerank(0.85)


def test_kernels_by_name() -> None:
    db = hedgerow.open(weighted=True)
    db.add_edges([1, 2, 3, 3, 8], [2, 3, 1, 4, 9], [1.0, 2.5, 4.0, 0.5, 1.0])
    g = db.snapshot()
    for name, arguments, method in (
        ("bfs", {"source": 1}, g.bfs(1)),
        ("bfs", {"source": 3, "direction": "in"}, g.bfs(3, direction="in")),
        ("pagerank", {}, g.pagerank()),
        ("pagerank", {"iterations": 3, "damping": 0.5, "tolerance": None}, g.pagerank(iterations=3, damping=0.5)),
        ("sssp", {"source": 1, "delta": 0.5, "weight": "weight", "label": ""}, g.sssp(1)),
        ("wcc", {}, g.wcc()),
    ):
        assert g.run(name, **arguments).to_dict() == method.to_dict(), name
    assert g.run("tc") == g.triangle_count() == 1
    for wrong, text, kind in (
        ({"kernel": "walk"}, 'there is no kernel "walk"', hedgerow.DataError),
        ({"kernel": "wcc", "source": 1}, 'wcc has no parameter "source"', hedgerow.DataError),
        ({"kernel": "bfs"}, "source must be given", hedgerow.DataError),
        ({"kernel": "bfs", "source": 77}, "no vertex 77", hedgerow.IntegrityError),
        ({"kernel": "bfs", "source": 1, "direction": "up"}, "direction must be", hedgerow.DataError),
        ({"kernel": "sssp", "source": 1, "delta": 0}, "delta must be finite and above 0, found 0", hedgerow.DataError),
        ({"kernel": "pagerank", "damping": 1.5}, "damping must be in 0..=1, found 1.5", hedgerow.DataError),
        ({"kernel": "pagerank", "iterations": -1}, "iterations must be 0 to 4294967295", hedgerow.DataError),
        ({"kernel": "bfs", "source": 1, "weight": "weight"}, "bfs reads no weights", hedgerow.ProgrammingError),
    ):
        with pytest.raises(kind, match=re.escape(text)):
            g.run(**wrong)
    for kernel, name in (("pagerank", "damping"), ("bfs", "direction")):
        with pytest.raises(TypeError):
            g.run(kernel, **{name: b"0"})


def test_pagerank_by_hand(db: hedgerow.Database) -> None:
    """Against the formula, written as matrices."""
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 40, 120), rng.integers(0, 35, 120)
    db.add_edges(src, dst)
    g = db.snapshot()
    place = {key: at for at, key in enumerate(g.vertices().tolist())}
    matrix = np.zeros((len(place), len(place)))
    for a, b in set(zip(src.tolist(), dst.tolist())):
        matrix[place[b], place[a]] = 1.0
    out = matrix.sum(axis=0)
    scores = np.full(len(place), 1 / len(place))
    for _ in range(20):
        share = np.divide(scores, out, out=np.zeros_like(scores), where=out > 0)
        scores = 0.15 / len(place) + 0.85 * (matrix @ share + scores[out == 0].sum() / len(place))
    assert g.pagerank().values == pytest.approx(scores, rel=1e-12)


def test_stats(db: hedgerow.Database) -> None:
    db.add_edges(range(1000), range(1, 1001))
    db.settle()
    stats = db.stats()
    assert (stats.vertices, stats.edges, stats.delta_entries) == (1001, 1000, 0)
    assert stats.published_ts == stats.durable_ts == db.published_ts
    kinds = ["arena", "version", "view", "table", "id_map", "coordination", "log_buffer", "file_buffer"]
    assert stats.memory_limit > stats.memory_bytes == sum(getattr(stats, f"{kind}_bytes") for kind in kinds) > 8 * 1000
