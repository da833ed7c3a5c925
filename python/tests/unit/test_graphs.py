"""Snapshots as graphs of NetworkX and igraph, and as matrices of SciPy."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

import hedgerow

nx = pytest.importorskip("networkx", reason="networkx cannot be installed here")


def igraph() -> Any:
    return pytest.importorskip("igraph", reason="igraph is not among the packages of the tests")


def calls(directed: bool = True) -> hedgerow.Database:
    db = hedgerow.open(directed=directed)
    db.define_label("calls", multi=True)
    columns = {"weight": [1.0, 2.5, 4.0, 8.0], "at": [1, 2, 3, None]}
    db.add_edges([1, 1, 2, 1], [2, 2, 1, 1], label="calls", ranks=[9, 7, 8, 1], properties=columns)
    db.add_edges([1, 3], [2, 1], label="knows", properties={"since": [2001, None]})
    db.add_vertices([5], properties={"name": ["Eve"]})
    return db


def test_the_type_follows_from_the_selection() -> None:
    for directed in (True, False):
        with calls(directed) as db:
            g = db.snapshot()
            multi, single = (nx.MultiDiGraph, nx.DiGraph) if directed else (nx.MultiGraph, nx.Graph)
            for options, expected in (
                ({}, multi),
                ({"label": "calls"}, multi),
                ({"label": ["knows", "calls"]}, multi),
                ({"label": "knows"}, single),
                ({"label": ["knows"]}, single),
                ({"label": ""}, single),
                ({"label": "calls", "rank_range": (7, 8)}, multi),
                ({"simplify": "count"}, single),
            ):
                assert type(g.to_networkx(**options)) is expected, options
        # Without an edge, and with a loop alone.
        with hedgerow.open(directed=directed) as db:
            assert type(db.snapshot().to_networkx()) is single
            db.add_edges([1], [1])
            assert type(db.snapshot().to_networkx()) is single
        with hedgerow.open(directed=directed, reverse=False) as db:
            db.add_edges([1], [2])
            assert type(db.snapshot().to_networkx()) is single


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("pairs", [[(1, 2), (2, 2)], [(2, 1), (1, 2), (3, 1)], [(1, 1)]])
def test_the_direction_is_found_without_weights(directed: bool, pairs: list[tuple[int, int]]) -> None:
    with hedgerow.open(directed=directed) as db:
        db.define_property("weight", float, label="")
        src, dst = zip(*pairs, strict=True)
        db.add_edges(src, dst, properties={"x": list(range(len(pairs)))})
        if len(pairs) > 1:
            assert db.snapshot().to_networkx().is_directed() == directed
        db.add_edges([1], [2], label="other")
        assert db.snapshot().to_networkx().is_directed() == directed


def test_edges_are_chosen() -> None:
    g = calls().snapshot()
    graph = g.to_networkx()
    assert sorted(graph.nodes(data=True)) == [(1, {}), (2, {}), (3, {}), (5, {"name": "Eve"})]
    assert graph.edges[1, 2, ("calls", 7)] == {"weight": 2.5, "at": 2} and graph.edges[1, 1, ("calls", 1)] == {"weight": 8.0}
    assert graph.edges[1, 2, ("knows", 0)] == {"since": 2001} and graph.edges[3, 1, ("knows", 0)] == {}
    assert graph.number_of_edges() == g.edge_count == 6
    few = g.to_networkx(label="calls", rank_range=(7, 10), where=("at", ">", 1))
    assert sorted(few.edges(keys=True)) == [(1, 2, ("calls", 7)), (2, 1, ("calls", 8))]
    some = g.to_networkx(label=["calls", "knows"], where=("or", ("at", ">", 2), ("since", "is not", None)))
    assert sorted(some.edges(keys=True)) == [(1, 2, ("knows", 0)), (2, 1, ("calls", 8))]
    assert g.to_networkx(label="knows", properties=False).edges[1, 2] == {}
    plain = g.to_networkx(properties=False)
    assert plain.edges[1, 2, ("calls", 7)] == {"weight": 2.5} and plain.nodes[5] == {}
    for options, error, message in (
        ({"label": "none"}, hedgerow.ProgrammingError, "none"),
        ({"label": 5}, TypeError, "label"),
        ({"where": ("none", ">", 1)}, hedgerow.DataError, "none"),
        ({"simplify": "max"}, hedgerow.DataError, 'simplify must be "sum", "count" or "newest", found \'max\''),
        ({"properties": ["at"]}, TypeError, "properties must be True or False, found list"),
    ):
        with pytest.raises(error, match=message):
            g.to_networkx(**options)


def test_properties_of_different_types(db: hedgerow.Database) -> None:
    db.add_edges([1], [2], label="a", properties={"x": [1]})
    db.add_edges([1], [2], label="b", properties={"x": ["s"]})
    for options in ({}, {"label": ["a", "b"]}, {"rank_range": (0, 1)}):
        graph = db.snapshot().to_networkx(**options)
        assert {key: data["x"] for _, _, key, data in graph.edges(keys=True, data=True)} == {("a", 0): 1, ("b", 0): "s"}


def test_parallel_edges_become_one() -> None:
    for directed in (True, False):
        g = calls(directed).snapshot()
        reverse = {(2, 1): 4.0} if directed else {}
        sums = {(1, 2): 3.5 + (0 if directed else 4.0), (1, 1): 8.0} | reverse
        weights = g.to_networkx(label="calls", simplify="sum")
        assert weights.number_of_edges() == len(sums)
        assert {edge: weights.edges[edge]["weight"] for edge in sums} == sums
        assert g.to_networkx(simplify="count").edges[1, 2] == {"weight": 3 if directed else 4}
        assert g.to_networkx(label="calls", simplify="newest").edges[1, 2] == {"weight": 1.0, "at": 1}
        assert sorted(g.to_networkx(simplify="count").nodes) == [1, 2, 3, 5]
    with pytest.raises(hedgerow.DataError, match='the edge from 1 to 2 of label "knows" has no weight'):
        g.to_networkx(simplify="sum")
    with pytest.raises(hedgerow.DataError, match='ranks of several labels have no common order, name one of "calls", "knows"'):
        g.to_networkx(simplify="newest")


def test_kinds_are_in_the_nodes(db: hedgerow.Database) -> None:
    db.define_kind("page", "str")
    db.define_kind("tag")
    db.define_label("saw", src="", dst="page")
    db.add_edges([1], ["a"], label="saw")
    db.add_vertices(["a"], kind="page", properties={"title": ["Owls"]}, on_conflict="merge")
    db.add_vertices([1], kind="tag")
    g = db.snapshot()
    graph = g.to_networkx()
    assert dict(graph.nodes(data=True)) == {1: {}, ("page", "a"): {"title": "Owls"}, ("tag", 1): {}}
    assert list(graph.edges) == [(1, ("page", "a"))]
    # The label states the kinds.
    assert list(g.to_networkx(label="saw").nodes) == [1, ("page", "a")]
    with pytest.raises(hedgerow.DataError, match=r"node \('page', 'a'\) is a tuple"):
        hedgerow.from_networkx(graph)
    igraph()
    assert g.to_igraph().vs["key"] == [1, ("page", "a"), ("tag", 1)]


def test_algorithms_agree() -> None:
    rng = np.random.default_rng(1)
    with hedgerow.open(weighted=True) as db:
        db.add_edges(rng.integers(0, 60, 400), rng.integers(0, 60, 400), rng.random(400))
        g = db.snapshot()
        graph = g.to_networkx()
        assert g.sssp(int(next(iter(graph)))).to_dict() == pytest.approx(
            dict.fromkeys(graph, float("inf")) | nx.single_source_dijkstra_path_length(graph, next(iter(graph)))
        )
        assert graph.number_of_edges() == g.edge_count


def test_matrices() -> None:
    pytest.importorskip("scipy", reason="scipy cannot be installed here")
    g = calls().snapshot()
    matrix, ids = g.to_scipy("calls")
    assert type(matrix).__name__ == "csr_array" and ids.tolist() == g.vertices().tolist()
    at = {key: row for row, key in enumerate(ids.tolist())}
    assert matrix.shape == (4, 4) and matrix.nnz == 3
    # Parallel edges are added.
    assert matrix[at[1], at[2]] == 3.5 and matrix[at[2], at[1]] == 4.0 and matrix.sum() == 15.5
    assert (g.to_scipy("calls", direction="in")[0] != matrix.T).nnz == 0
    assert g.to_scipy("calls", weight="weight")[0].sum() == 15.5
    with pytest.raises(hedgerow.DataError, match="no value of property at"):
        g.to_scipy("calls", weight="at")
    ones, keys = g.to_scipy("knows", order="key")
    assert ones.sum() == 2.0 and ones.dtype == np.float64 and keys.tolist() == [1, 2, 3, 5]
    matrix.data[:] = 7
    assert g.to_scipy("calls")[0].sum() == 15.5
    with hedgerow.open(keys="str") as db:
        empty, none = db.snapshot().to_scipy()
        assert empty.shape == (0, 0) and len(none) == 0


def test_graphs_of_igraph() -> None:
    igraph()
    for directed in (True, False):
        g = calls(directed).snapshot()
        graph = g.to_igraph()
        assert graph.is_directed() == directed
        assert graph.vs["key"] == g.vertices().tolist() and graph.vs["name"] == [None, None, None, "Eve"]
        names, keys = ("weight", "at", "since"), graph.vs["key"]
        edges = [(keys[e.source], keys[e.target], e["label"], e["rank"], *(e[name] for name in names)) for e in graph.es]
        of_networkx = g.to_networkx().edges(keys=True, data=True)
        expected = [(src, dst, *key, *(data.get(name) for name in names)) for src, dst, key, data in of_networkx]
        turned = [(*(edge[:2] if directed else sorted(edge[:2])), *edge[2:]) for edge in expected]
        assert sorted(edges, key=repr) == sorted(turned, key=repr)
        knows = g.to_igraph(label="knows", properties=False)
        assert knows.es.attributes() == [] and knows.vs.attributes() == ["key"] and knows.ecount() == 2
    with hedgerow.open() as db:
        db.add_vertices([1], properties={"key": ["a"]})
        with pytest.raises(hedgerow.DataError, match="a property of vertices has the name key, which is an attribute of all vertices"):
            db.snapshot().to_igraph()
        assert db.snapshot().to_igraph(properties=False).vcount() == 1


def test_without_the_packages(db: hedgerow.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name.split(".")[0] in ("networkx", "scipy", "igraph"):
            raise ImportError(f"no module named {name}")
        return imported(name, *arguments, **named)

    g = db.snapshot()
    monkeypatch.setattr(builtins, "__import__", refuse)
    for call, package in ((g.to_networkx, "networkx"), (g.to_igraph, "igraph"), (g.to_scipy, "scipy")):
        with pytest.raises(hedgerow.NotSupportedError, match=rf"{call.__name__} needs the package {package}: pip install hedgerow\[{package}\]"):
            call()
    g.close()
    for call in (g.to_networkx, g.to_igraph, g.to_scipy):
        with pytest.raises(hedgerow.ClosedError):
            call()
