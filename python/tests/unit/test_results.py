"""`VertexResult`: look-ups, the best values and counts, with and without missing values."""

import math

import numpy as np
import pytest

import hedgerow


@pytest.fixture
def g(db: hedgerow.Database) -> hedgerow.Snapshot:
    """Four vertices, each property missing somewhere."""
    with db.write() as tx:
        tx.add_vertex(1, age=29, lang="java", score=0.5, ok=True, raw=b"b")
        tx.add_vertex(2, age=35, score=math.nan)
        tx.add_vertex(3)
        tx.add_vertex(4, age=27, lang="c", score=0.9, ok=False, raw=b"a")
    return db.snapshot()


def test_top_leaves_out_what_has_no_value(g: hedgerow.Snapshot) -> None:
    assert g.vertex_property("age").top(2) == [(2, 35), (1, 29)]
    assert g.vertex_property("age").top(9) == [(2, 35), (1, 29), (4, 27)]
    assert g.vertex_property("score").top(9) == [(4, 0.9), (1, 0.5)]
    assert g.vertex_property("lang").top(9) == [(1, "java"), (4, "c")]
    assert g.vertex_property("raw").top(1) == [(1, b"b")]
    assert g.vertex_property("ok").top(1) == [(1, True)]
    assert g.vertex_property("ok").top(0) == g.vertex_property("ok").top(-1) == []


def test_top_keeps_the_order_of_equal_values() -> None:
    result = hedgerow.VertexResult(np.array([5, 6, 7, 8]), np.array([1.0, math.inf, math.nan, 1.0]))
    assert result.top(2) == [(6, math.inf), (5, 1.0)]
    assert result.top(9) == [(6, math.inf), (5, 1.0), (8, 1.0)]


def test_counts_of_missing_values(g: hedgerow.Snapshot) -> None:
    assert g.vertex_property("lang").counts() == {"c": 1, "java": 1, None: 2}
    assert g.vertex_property("age").counts() == {27: 1, 29: 1, 35: 1, None: 1}
    assert g.vertex_property("ok").counts() == {False: 1, True: 1, None: 2}
    assert g.wcc().counts() == {1: 1, 2: 1, 3: 1, 4: 1}


def test_keys(g: hedgerow.Snapshot) -> None:
    ages = g.vertex_property("age")
    for one in (1, np.int8(1), np.uint64(1), np.int64(1)):
        assert one in ages
        assert ages[one] == 29
    assert ages[3] is None
    for absent in (9, -1, "1", None, 1.5, (1, 29), np.int64(-1)):
        assert absent not in ages
        with pytest.raises(KeyError):
            ages[absent]  # type: ignore[index]
    with hedgerow.open(keys="str") as db:
        db.insert_edge("a", "b")
        depths = db.snapshot().bfs("a")
        assert np.str_("b") in depths
        assert depths[np.str_("b")] == 1
        assert 0 not in depths


@pytest.mark.parametrize("keys", ["u64", "str", "dense"])
def test_rows_are_those_of_vertices_where_ids_have_holes(keys: str) -> None:
    """A removed vertex leaves a hole in the ids, so that later rows are not those of the ids."""
    name = str if keys == "str" else int
    with hedgerow.open(directed=False, keys=keys) as db:
        db.add_edges(*(np.array([name(v) for v in ends]) for ends in ([0, 2, 3, 5], [1, 3, 4, 6])))
        with db.write() as tx:
            assert tx.remove_vertex(name(0))
        with db.snapshot() as g:
            found = g.wcc()
            named = {1: 1, 2: 2, 3: 2, 4: 2, 5: 5, 6: 5}
            told = dict(zip(found.ids.tolist(), found.values.tolist(), strict=True))
            assert told == {name(v): name(c) for v, c in named.items()}
            found = g.run("bfs", source=name(2))
            hops = {1: -1, 2: 0, 3: 1, 4: 2, 5: -1, 6: -1}
            told = dict(zip(found.ids.tolist(), found.values.tolist(), strict=True))
            assert told == {name(v): h for v, h in hops.items()}
            src, dst, _ = g.edges()
            edges = {frozenset(edge) for edge in zip(src.tolist(), dst.tolist(), strict=True)}
            assert edges == {frozenset(map(name, edge)) for edge in [(2, 3), (3, 4), (5, 6)]}
