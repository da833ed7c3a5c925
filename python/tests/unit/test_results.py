"""`VertexResult`: look-ups, the best values and counts, with and without missing values."""

import datetime
import math
import pickle

import numpy as np
import pytest

import hedgerow

pd = pytest.importorskip("pandas", reason="pandas cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")


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


def test_numpy_takes_a_result_for_its_values(db: hedgerow.Database) -> None:
    db.add_edges([100, 200, 300], [200, 300, 100])
    g = db.snapshot()
    scores, components = g.pagerank(), g.wcc()
    assert np.sum(scores) == pytest.approx(1.0)
    assert np.max(scores) == pytest.approx(1 / 3)
    assert np.asarray(scores).tolist() == scores.values.tolist()
    assert np.asarray(scores, np.float32).dtype == np.float32
    copied = np.array(scores)
    copied[:] = 0.0
    assert scores.values.sum() == pytest.approx(1.0)
    assert pd.Series(scores).tolist() == scores.values.tolist()
    assert np.unique(components).size == 1
    # Iteration gives pairs, as it always did.
    assert list(scores) == list(zip([100, 200, 300], scores.values.tolist(), strict=True))


def test_a_result_is_a_mapping_too(g: hedgerow.Snapshot) -> None:
    ages = g.vertex_property("age")
    assert ages.keys() == [1, 2, 3, 4]
    assert list(ages.items()) == list(ages) == [(1, 29), (2, 35), (3, None), (4, 27)]
    assert dict(ages) == ages.to_dict() == {1: 29, 2: 35, 3: None, 4: 27}
    assert dict(**{str(key): value for key, value in g.bfs(1).items()}) == {"1": 0, "2": -1, "3": -1, "4": -1}


def test_an_array_of_a_result_hides_no_missing_value(g: hedgerow.Snapshot, db: hedgerow.Database) -> None:
    scores = np.asarray(g.vertex_property("score"))
    assert scores.tolist()[0] == 0.5 and np.isnan(scores[1:3]).all()
    assert np.nansum(g.vertex_property("score")) == 1.4
    with pytest.raises(ValueError, match="1 of 4 vertices have no value"):
        np.sum(g.vertex_property("age"))
    with pytest.raises(ValueError, match=r"2 of 4 vertices have no value.*\.values"):
        np.asarray(g.vertex_property("ok"))
    assert np.asarray(g.vertex_property("lang")).tolist() == ["java", None, None, "c"]
    with pytest.raises(ValueError):
        np.array(g.vertex_property("score"), copy=False)
    with db.write() as tx:
        tx.add_vertex(2, at=datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC))
    times = np.asarray(db.snapshot().vertex_property("at"))
    assert times[1] == np.datetime64("2024-02-29") and np.isnat(times[[0, 2, 3]]).all()


def test_other_results_are_no_table_of_numbers(db: hedgerow.Database) -> None:
    db.add_edges([100, 200, 300], [200, 300, 100])
    g = db.snapshot()
    similar = g.run("jaccard", sources=[100], targets=[200])
    for answer in (g.edges(), g.neighbors_of([100, 200]), g.run("walks", steps=2), similar):
        with pytest.raises(TypeError, match="are no single array"):
            np.sum(answer)
        with pytest.raises(TypeError, match="are no single array"):
            pd.DataFrame(answer)


def test_edges_have_a_length_and_unpack(db: hedgerow.Database) -> None:
    assert len(db.snapshot().edges()) == 0 and not db.snapshot().edges()
    db.add_edges([1, 2, 3, 3], [2, 3, 4, 5])
    edges = db.snapshot().edges()
    assert len(edges) == len(edges.src) == 4 and bool(edges)
    src, dst, weights = edges
    assert (src.tolist(), dst.tolist(), weights) == ([1, 2, 3, 3], [2, 3, 4, 5], None)
    assert edges[1].tolist() == dst.tolist()
    assert len(pickle.loads(pickle.dumps(edges))) == 4
    assert pl.DataFrame(edges).rows() == [(1, 2), (2, 3), (3, 4), (3, 5)]


def test_communities_tell_their_modularity() -> None:
    with hedgerow.open(directed=False) as db:
        # Two triangles and an edge between them: 3 of 7 edges inside each, whose vertices have 7 of 14 ends.
        db.add_edges([1, 2, 3, 4, 5, 6, 3], [2, 3, 1, 5, 6, 4, 4])
        g = db.snapshot()
        for kernel in ("louvain", "leiden"):
            assert g.run(kernel).modularity == pytest.approx(2 * (3 / 7 - 1 / 4))
        assert g.wcc().modularity is None
