"""Kernels that go by weights, against NetworkX 3.6, whose answers stand here."""

import math

import numpy as np
import pytest

import hedgerow

# Vertices 0 to 11, of which 3 and 7 are removed before anything is asked.
_UNDIRECTED = [
    (0, 7, 2.0), (0, 10, 2.0), (0, 11, 2.0), (0, 0, 2.0), (0, 5, 0.5), (0, 9, 1.5), (0, 4, 1.0),
    (0, 8, 0.5), (1, 5, 0.5), (1, 9, 2.0), (1, 4, 3.0), (1, 3, 2.0), (2, 6, 1.0), (2, 9, 1.5), (2, 7, 2.0),
    (2, 3, 2.0), (2, 11, 2.0), (2, 2, 3.0), (3, 6, 1.5), (4, 9, 3.0), (4, 6, 2.0), (4, 5, 2.0),
    (4, 7, 3.0), (5, 11, 0.5), (5, 6, 1.5), (5, 7, 1.5), (7, 11, 2.0), (8, 10, 2.0), (10, 11, 3.0),
    (11, 11, 1.5),
]
_DIRECTED = [
    (0, 7, 2.0), (0, 11, 2.0), (0, 0, 2.0), (0, 5, 0.5), (0, 9, 3.0), (1, 5, 0.5), (1, 9, 2.0),
    (1, 4, 3.0), (2, 9, 1.5), (2, 11, 2.0), (2, 2, 3.0), (2, 7, 0.5), (3, 6, 1.5), (3, 2, 2.0),
    (3, 1, 2.0), (4, 5, 2.0), (4, 9, 1.5), (4, 7, 3.0), (4, 0, 3.0), (6, 4, 2.0), (6, 2, 1.0), (6, 0, 1.5),
    (6, 5, 0.5), (7, 2, 2.0), (8, 10, 2.0), (9, 4, 3.0), (9, 0, 0.5), (10, 0, 2.0), (11, 11, 1.5),
    (11, 2, 1.0),
]
# Of 0, 1, 2, 4, 5, 6, 8, 9, 10, 11: `betweenness_centrality(weight=, normalized=False)`, `closeness_centrality(distance=)`, and
# `pagerank(weight=)` without and with `personalization={1: 1, 5: 1}`.
_KNOWN = {
    False: {
        "wbetweenness": [
            19.25, 0.0, 1.0, 0.0, 17.333333333333, 2.916666666667, 0.0, 0.916666666667, 0.0,
            2.166666666667,
        ],
        "wcloseness": [
            0.72, 0.5625, 0.367346938776, 0.486486486486, 0.72, 0.461538461538, 0.5625, 0.45,
            0.321428571429, 0.58064516129,
        ],
        "pr": [
            0.131308151573, 0.079897556178, 0.105005294233, 0.151068264552, 0.076021765935, 0.069633063939,
            0.046495150781, 0.110189814844, 0.105497571271, 0.124883366694,
        ],
        "ppr": [
            0.091218543563, 0.159078408983, 0.071570207707, 0.198984647737, 0.147203916449, 0.076400461733,
            0.015626065597, 0.119707373349, 0.047539207125, 0.072671167757,
        ],
    },
    True: {
        "wbetweenness": [
            19.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 15.0, 6.0, 6.0,
        ],
        "wcloseness": [
            0.406349206349, 0.0, 0.229390681004, 0.169312169312, 0.514285714286, 0.0, 0.0, 0.284444444444,
            0.055555555556, 0.253968253968,
        ],
        "pr": [
            0.17314662291, 0.021123307482, 0.156266941929, 0.144056155891, 0.072038911547, 0.021123307482,
            0.021123307482, 0.14543171231, 0.039078118841, 0.206611614128,
        ],
        "ppr": [
            0.117215125576, 0.18194665107, 0.043253748487, 0.187317854645, 0.251639178988, 0.0, 0.0,
            0.141318705249, 0.0, 0.077308735984,
        ],
    },
}


def _snapshot(directed: bool, *, as_property: bool) -> hedgerow.Snapshot:
    src, dst, weights = (list(column) for column in zip(*(_DIRECTED if directed else _UNDIRECTED), strict=True))
    db = hedgerow.open(directed=directed, weighted=not as_property)
    db.add_vertices(list(range(12)))
    if as_property:
        db.define_label("road", properties={"miles": "f64"})
        db.add_edges(src, dst, label="road", properties={"miles": weights})
    else:
        db.add_edges(src, dst, weights)
    with db.write() as tx:
        tx.remove_vertex(3)
        tx.remove_vertex(7)
    return db.snapshot()


@pytest.mark.parametrize("as_property", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_scores_as_of_networkx(directed: bool, as_property: bool) -> None:
    g, known = _snapshot(directed, as_property=as_property), _KNOWN[directed]
    weight = "miles" if as_property else None
    samples = {"samples": 1000, "weight": weight}
    assert g.run("wbetweenness", **samples).values == pytest.approx(known["wbetweenness"], rel=1e-9)
    # NetworkX measures distances to a vertex.
    near = g.run("wcloseness", direction="in" if directed else "out", **samples)
    assert near.values == pytest.approx(known["wcloseness"], rel=1e-9)
    exact = {"iterations": 1000, "tolerance": 1e-14, "weight": weight}
    assert g.run("wpagerank", **exact).values == pytest.approx(known["pr"], rel=1e-9)
    assert g.run("wpagerank", sources=[5, 1], **exact).values == pytest.approx(known["ppr"], rel=1e-9)
    # Without weights they are the others.
    unweighted = g.run("betweenness", samples=1000).values
    assert unweighted != pytest.approx(known["wbetweenness"], rel=1e-9)


def test_walks_by_weight() -> None:
    db = hedgerow.open(weighted=True)
    db.add_edges([0, 0, 0, 1, 2], [1, 2, 3, 0, 0], [1.0, 3.0, 0.0, 1.0, 1.0])
    walks = db.snapshot().run("wwalks", sources=[0], walks=4000, steps=1)
    assert isinstance(walks, hedgerow.Paths)
    assert len(walks) == 4000
    first = np.array([walk[1] for walk in walks])
    # 3,000 are expected; 300 are more than ten standard deviations.
    assert abs((first == 2).sum() - 3000) < 300
    assert set(first.tolist()) == {1, 2}
    # With p so high that hardly any goes back, a walk that cannot go elsewhere still does.
    stays = db.snapshot().run("wwalks", sources=[1], steps=4, p=1000.0, seed=3)
    assert stays.lengths.tolist() == [4.0]


def _weigh(db: hedgerow.Database, weight: float) -> None:
    with db.write() as tx:
        tx.put_edge(1, 2, weight)


def test_weights_that_cannot_be() -> None:
    db = hedgerow.open(weighted=True, directed=False)
    db.add_edges([1, 2], [2, 3], [0.0, 2.0])
    g = db.snapshot()
    with pytest.raises(hedgerow.DataError, match="weighs 0, expected more than 0: it lies on a cycle of edges"):
        g.run("wbetweenness")
    assert g.run("wcloseness").to_dict() == {1: 1.0, 2: 1.0, 3: 0.5}
    _weigh(db, math.inf)
    for kernel in ("wpagerank", "wwalks"):
        with pytest.raises(hedgerow.DataError, match="weighs inf, expected a finite number"):
            db.snapshot().run(kernel)
    assert db.snapshot().run("wbetweenness").to_dict() == {1: 0.0, 2: 0.0, 3: 0.0}
    _weigh(db, -1.0)
    for kernel in ("wbetweenness", "wcloseness", "wpagerank", "wwalks"):
        with pytest.raises(hedgerow.DataError, match="weighs -1, expected 0 or more"):
            db.snapshot().run(kernel)
    with pytest.raises(hedgerow.DataError, match="sources must be one vertex or more, found 0"):
        g.run("wpagerank", sources=[])
