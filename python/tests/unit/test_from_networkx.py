"""`hedgerow.from_networkx`: stores from graphs of NetworkX, and the same graphs from these stores."""

from __future__ import annotations

import datetime
import decimal
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow

nx = pytest.importorskip("networkx", reason="networkx cannot be installed here")
AT = datetime.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=datetime.UTC)


def same(one: Any, other: Any) -> None:
    """Compares two graphs: their types, nodes, edges, keys, attributes, and the types of values."""
    assert type(one) is type(other)

    def content(graph: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        keyed = graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True)
        edges = {(*ordered(graph, edge[:2]), *edge[2:-1]): typed(edge[-1]) for edge in keyed}
        return {node: typed(data) for node, data in graph.nodes(data=True)}, edges

    def ordered(graph: Any, ends: Any) -> Any:
        return ends if graph.is_directed() else sorted(ends)

    def typed(data: dict[str, Any]) -> dict[str, Any]:
        return {name: (type(value), value) for name, value in data.items()}

    assert content(one) == content(other)


def random_graph(seed: int, kind: Any, keys: str) -> Any:
    """A graph whose nodes and edges have some of several attributes."""
    rng = np.random.default_rng(seed)
    graph = kind()
    nodes = [int(n) if keys == "u64" else f"n{n}" for n in rng.integers(0, 2**63, 12)]
    values: list[tuple[str, list[Any]]] = [
        ("age", [-(2**63), 0, 2**63 - 1]),
        ("share", [0.5, float("inf"), -0.0]),
        ("name", ["", "é", "\U0001f989"]),
        ("raw", [b"", b"\0\xff"]),
        ("ok", [True, False]),
        ("at", [AT, AT.replace(year=1, day=1)]),
        ("src", ["a"]),
    ]

    def attributes() -> dict[str, Any]:
        return {name: of[rng.integers(len(of))] for name, of in values if rng.random() < 0.5}

    for node in nodes:
        graph.add_node(node, **attributes())
    for _ in range(40):
        one, other = rng.choice(len(nodes), 2)
        key = [("calls", int(rng.integers(5)))] if graph.is_multigraph() else []
        if key and rng.random() < 0.3:
            key = [("", 0)]
        graph.add_edge(nodes[one], nodes[other], *key, **attributes())
    return graph


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("keys", ["u64", "str"])
def test_graphs_come_back_as_they_are(kind: Any, keys: str, tmp_path: Path) -> None:
    for seed in range(10):
        graph = random_graph(seed, kind, keys)
        with hedgerow.from_networkx(graph, tmp_path / str(seed)) as db:
            assert (db.directed, db.keys, db.weighted) == (graph.is_directed(), keys, False)
            back = db.snapshot().to_networkx()
            same(back, graph)
        with hedgerow.from_networkx(back) as again:
            same(again.snapshot().to_networkx(), graph)


@pytest.mark.parametrize("directed", [False, True])
def test_weights_become_those_of_the_store(directed: bool) -> None:
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_weighted_edges_from([(1, 2, 3), (2, 3, 0.5), (3, 3, np.float32(2))])
    with hedgerow.from_networkx(graph) as db:
        assert db.weighted and db.schema().labels[""].properties == {}
        g = db.snapshot()
        assert g.sssp(1)[3] == 3.5
        assert sorted(g.to_networkx().edges(data="weight")) == [(1, 2, 3.0), (2, 3, 0.5), (3, 3, 2.0)]
        assert g.to_networkx(properties=False).edges[1, 2] == {"weight": 3.0}
    # A property if an edge has none, if the caller wants it, or if the edges have another label.
    graph.add_edge(4, 5)
    with hedgerow.from_networkx(graph) as db:
        assert not db.weighted and db.schema().labels[""].properties == {"weight": "f64"}
        assert "weight" not in db.snapshot().to_networkx().edges[4, 5]
    graph.remove_edge(4, 5)
    assert not hedgerow.from_networkx(graph, weight=None).weighted
    assert hedgerow.from_networkx(graph, label="x").schema().labels["x"].properties == {"weight": "f64"}
    nx.set_edge_attributes(graph, 7, "cost")
    nx.set_edge_attributes(graph, 2**53 + 1, "large")
    with pytest.raises(hedgerow.DataError, match="edges have an attribute weight, and the weights are those of the attribute cost"):
        hedgerow.from_networkx(graph, weight="cost")
    assert hedgerow.from_networkx(graph, weight="cost", edge_properties=[]).snapshot().edges().weights.tolist() == [7.0] * 3
    with pytest.raises(hedgerow.DataError, match=r"edge \(1, 2\), attribute large: a float does not have 9007199254740993 exactly"):
        hedgerow.from_networkx(graph, weight="large", edge_properties=[])
    graph.edges[1, 2]["weight"] = float("nan")
    with pytest.raises(hedgerow.DataError, match=r"edge \(1, 2\), attribute weight: NaN is no weight"):
        hedgerow.from_networkx(graph)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([1, "a"], "node 'a' is a str, and node 1 is an int"),
        ([3, -1], "node -1 is out of range"),
        ([2**64], f"node {2**64} is out of range"),
        ([1.5], "node 1.5 is a float"),
        ([("page", 1)], r"node \('page', 1\) is a tuple"),
        ([True], "node True is a bool"),
        ([b"a"], "node b'a' is a bytes"),
    ],
)
def test_nodes_that_are_no_keys_are_refused(nodes: list[Any], message: str, tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    with pytest.raises(hedgerow.DataError, match=message):
        hedgerow.from_networkx(graph, tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([{"a": 1}], r"edge \(0, 1\), attribute x: a dict is no value of a property; edge_properties= chooses attributes"),
        ([[1]], "a list is no value"),
        ([None, datetime.date(2024, 1, 1)], r"edge \(1, 2\), attribute x: a date is no value"),
        ([AT.replace(tzinfo=None)], "a datetime without a time zone is no value"),
        ([decimal.Decimal(1)], "a Decimal is no value"),
        ([1j], "a complex is no value"),
        ([np.timedelta64(1, "s")], "a timedelta64 is no value"),
        ([np.longdouble(1)], "a longdouble is no value"),
        ([2**63], r"edge \(0, 1\), attribute x: 9223372036854775808 is out of range"),
        (["\ud800"], "the text is not valid Unicode"),
        ([None, 1, "a"], r"edge \(2, 3\), attribute x: the value is a str, and that of edge \(1, 2\), attribute x is a int"),
        ([True, 1], "the value is a int, and that of"),
        ([0.5, np.int64(2**53 + 1)], "9007199254740993 is beside floats"),
        ([0.5, 2**53 + 1], r"edge \(1, 2\), attribute x: 9007199254740993 is beside floats, and a float does not have it exactly"),
    ],
)
def test_values_without_a_type_are_refused(values: list[Any], message: str) -> None:
    graph = nx.path_graph(9)
    for at, value in enumerate(values):
        graph.edges[at, at + 1]["x"] = value
        graph.nodes[at]["x"] = value
    of_nodes = re.sub(r"edge \\\((\d), \d\\\)", r"node \1", message).replace("edge_", "node_")
    with pytest.raises(hedgerow.DataError, match=of_nodes):
        hedgerow.from_networkx(graph)
    with pytest.raises(hedgerow.DataError, match=message):
        hedgerow.from_networkx(graph, node_properties=[])
    # The caller leaves it out.
    db = hedgerow.from_networkx(graph, node_properties=[], edge_properties=[])
    assert db.snapshot().edge_count == 8 and db.schema().labels[""].properties == {}


def test_values_and_names() -> None:
    graph = nx.DiGraph()
    graph.add_edge(np.uint64(1), 2, mixed=1, none=None, np=np.int8(3), also=np.bool_(True))
    graph.add_edge(2, 3, mixed=0.5, np=4)
    with hedgerow.from_networkx(graph) as db:
        assert db.schema().labels[""].properties == {"mixed": "f64", "np": "i64", "also": "bool"}
        assert db.snapshot().to_networkx().edges[1, 2] == {"mixed": 1.0, "np": 3, "also": True}
    for name, message in ((5, "which is no str"), ("", "a name has 1 to 255"), ("é" * 200, "a name has 1 to 255")):
        other = nx.Graph()
        other.add_edge(1, 2)
        other.nodes[2][name] = 1
        with pytest.raises(hedgerow.DataError, match=f"node 2 has the attribute .*{message}"):
            hedgerow.from_networkx(other)
    with pytest.raises(hedgerow.DataError, match="edge_properties has 'mixd', which is no attribute"):
        hedgerow.from_networkx(graph, edge_properties=["mixd"])
    with pytest.raises(TypeError, match="edge_properties must be a sequence of names"):
        hedgerow.from_networkx(graph, edge_properties="mixed")
    with pytest.raises(TypeError, match="takes a graph of NetworkX, found dict"):
        hedgerow.from_networkx({})


def test_keys_of_parallel_edges_are_ranks() -> None:
    graph = nx.MultiDiGraph()
    graph.add_edges_from([(1, 2), (1, 2), (2, 1)])
    with pytest.raises(hedgerow.DataError, match="a MultiDiGraph may have several edges between two nodes, which need a label with ranks"):
        hedgerow.from_networkx(graph)
    with hedgerow.from_networkx(graph, label="calls") as db:
        assert db.schema().labels["calls"].multi
        assert list(db.snapshot().to_networkx().edges(keys=True)) == [(1, 2, ("calls", 0)), (1, 2, ("calls", 1)), (2, 1, ("calls", 0))]
    wrong = ["a", -1, 0.5, True, ("x", -1), (1, 2)]
    for key, message in [(("x", 1), "is a pair, and those of other"), *((key, "must be a rank") for key in wrong)]:
        other = nx.MultiDiGraph()
        other.add_edge(1, 2)
        other.add_edge(3, 4, key)
        with pytest.raises(hedgerow.DataError, match=rf"the key of edge \(3, 4, .*{message}"):
            hedgerow.from_networkx(other, label="calls")
    pairs = nx.MultiGraph()
    pairs.add_edge(1, 2, ("calls", 3))
    with pytest.raises(hedgerow.DataError, match="the keys of the edges name labels, such as 'calls': leave out label="):
        hedgerow.from_networkx(pairs, label="other")
    pairs.add_edge(1, 2, ("", 3))
    with pytest.raises(hedgerow.DataError, match="the default label has none"):
        hedgerow.from_networkx(pairs)
    assert hedgerow.from_networkx(nx.MultiGraph()).snapshot().edge_count == 0


def test_only_new_stores_are_made(tmp_path: Path) -> None:
    graph = nx.path_graph(3)
    hedgerow.from_networkx(graph, tmp_path / "store").close()
    with pytest.raises(hedgerow.DataError, match="exists and is not empty: from_networkx makes a new store"):
        hedgerow.from_networkx(graph, tmp_path / "store")
    (tmp_path / "empty").mkdir()
    hedgerow.from_networkx(graph, tmp_path / "empty").close()
    with hedgerow.open(tmp_path / "empty", create=False) as db:
        assert db.snapshot().edge_count == 2
