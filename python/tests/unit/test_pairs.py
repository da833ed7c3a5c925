"""Kernels whose results are pairs of vertices, or a vertex or none for each vertex."""

import math

import numpy as np
import polars
import pytest

import hedgerow


def test_minimum_spanning_forest() -> None:
    db = hedgerow.open(weighted=True)
    db.add_edges([1, 1, 3, 7, 3], [2, 3, 2, 8, 3], [5.0, 1.5, -2.0, 0.0, -9.0])
    forest = db.snapshot().run("msf")
    assert isinstance(forest, hedgerow.Pairs)
    assert list(forest) == [(2, 3, -2.0), (7, 8, 0.0), (1, 3, 1.5)]
    assert (len(forest), forest.values.sum()) == (3, -0.5)
    assert polars.DataFrame(forest).rows() == list(forest)
    db.add_edges([4], [5], [math.inf])
    with pytest.raises(hedgerow.DataError, match="weighs inf, expected a finite number"):
        db.snapshot().run("msf")


def test_comparisons() -> None:
    db = hedgerow.open(keys="str")
    db.add_edges(["a", "a", "b", "b", "b", "c"], ["x", "y", "x", "y", "z", "y"])
    g = db.snapshot()
    assert list(g.run("jaccard", sources=["a"], k=5)) == [("a", "b", 2 / 3), ("a", "c", 0.5)]
    pairs = g.run("jaccard", sources=["x", "a"], targets=["y", "x"], direction="in")
    assert pairs.src.tolist() == ["x", "a"]
    assert pairs.dst.tolist() == ["y", "x"]
    assert pairs.values.tolist() == [2 / 3, 0.0]
    assert list(g.run("adamic_adar", sources=["c"], k=1)) == [("c", "a", pytest.approx(1 / math.log(3)))]
    assert list(g.run("jaccard", sources=[])) == []
    with pytest.raises(hedgerow.DataError, match="targets must be as many vertices as sources, found 1"):
        g.run("jaccard", sources=["a", "b"], targets=["c"])
    with pytest.raises(hedgerow.IntegrityError):
        g.run("jaccard", sources=["nobody"])


@pytest.mark.parametrize("keys", ["u64", "str"])
def test_mates_and_parents(keys: str) -> None:
    db = hedgerow.open(keys=keys)  # type: ignore[arg-type]
    name = str if keys == "str" else int
    db.add_edges([name(v) for v in (1, 1, 2, 3)], [name(v) for v in (8, 9, 8, 8)])
    g = db.snapshot()
    mates = g.run("matching")
    assert mates[name(9)] == name(1)
    assert mates[name(1)] == name(9)
    assert sorted(mates.counts().values()) == [1, 1, 1, 1, 1]
    free = [v for v, mate in mates.to_dict().items() if mate is None]
    assert len(free) == 1
    assert free[0] in (name(2), name(3))
    parents = g.run("bfs_parents", source=name(1))
    assert parents.to_dict() == {name(1): name(1), name(8): name(1), name(9): name(1), name(2): None, name(3): None}
    db.insert_edge(name(8), name(9))
    with pytest.raises(hedgerow.DataError, match="closes a cycle of odd length"):
        db.snapshot().run("matching")
    assert db.snapshot().run("matching", maximum=0)[name(1)] == name(8)


def test_closeness_by_hand() -> None:
    """Against distances from powers of the matrix of edges."""
    rng = np.random.default_rng(5)
    db = hedgerow.open(directed=False)
    src, dst = rng.integers(0, 30, 40), rng.integers(0, 30, 40)
    db.add_edges(src, dst)
    g = db.snapshot()
    place = {key: at for at, key in enumerate(g.vertices().tolist())}
    n = len(place)
    near = np.eye(n, dtype=bool)
    for a, b in zip(src.tolist(), dst.tolist(), strict=True):
        near[place[a], place[b]] = near[place[b], place[a]] = True
    far, reached = np.zeros((n, n)), np.eye(n, dtype=bool)
    for hops in range(1, n):
        further = (reached @ near) & ~reached
        far[further] = hops
        reached |= further
    others, total = reached.sum(axis=1) - 1, far.sum(axis=1)
    expected = np.divide(others, total, out=np.zeros(n), where=total > 0) * others / (n - 1)
    assert g.run("closeness", samples=1000).values == pytest.approx(expected)
    first = g.vertices().tolist()[0]
    assert g.run("closeness", sources=[first]).values.tolist() == pytest.approx([expected[0]] + [0.0] * (n - 1))
