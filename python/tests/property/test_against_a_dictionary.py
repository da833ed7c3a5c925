"""Random use of a store, compared with a model made of a set and a dictionary."""

import copy
import itertools
import math
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

import hedgerow

# Few ids, so that operations meet; some far apart, so that they lie in different places.
NUMBERS = [0, 1, 2, 3, 63, 64, 65, 200, 2**40, 2**64 - 1]
NAMES = ["", "a", "ab", "b", "Zoë", "😀", "\0", "a" * 300, "ann", "bob"]
PLACES = st.integers(0, len(NUMBERS) - 1)
WEIGHTS = st.floats(allow_nan=False) | st.floats(0, 9)


class Model:
    """A graph as a set of vertices and a dictionary of edges."""

    def __init__(self, directed: bool) -> None:
        self.directed = directed
        self.vertices: set = set()
        self.edges: dict = {}

    def edge(self, a: object, b: object) -> tuple:
        return (a, b) if self.directed or a <= b else (b, a)

    def put(self, a: object, b: object, weight: float) -> None:
        self.vertices |= {a, b}
        self.edges[self.edge(a, b)] = weight

    def remove_vertex(self, v: object) -> None:
        self.vertices.discard(v)
        self.edges = {edge: weight for edge, weight in self.edges.items() if v not in edge}

    def neighbors(self, v: object, direction: str) -> list:
        along = {b for a, b in self.edges if a == v}
        against = {a for a, b in self.edges if b == v}
        found = along | against if not self.directed else along if direction == "out" else against
        # The store orders strings by their UTF-8 bytes, which Python's order by code points equals.
        return sorted(found)

    def depths(self, source: object, direction: str) -> dict:
        depths, frontier, level = {source: 0}, [source], 0
        while frontier:
            level += 1
            found = {u for v in frontier for u in self.neighbors(v, direction)} - depths.keys()
            depths |= dict.fromkeys(found, level)
            frontier = list(found)
        return {v: depths.get(v, -1) for v in self.vertices}

    def distances(self, source: object, direction: str) -> dict:
        """By relaxing every edge until nothing changes."""
        distances = dict.fromkeys(self.vertices, math.inf) | {source: 0.0}
        steps = [(a, b, w) if direction == "out" else (b, a, w) for (a, b), w in self.edges.items()]
        if not self.directed:
            steps += [(b, a, w) for a, b, w in steps]
        for _ in self.vertices:
            for a, b, w in steps:
                distances[b] = min(distances[b], distances[a] + w)
        return distances

    def triangles(self) -> int:
        joined = {frozenset(edge) for edge in self.edges}
        return sum(
            all(frozenset(pair) in joined for pair in itertools.combinations(three, 2))
            for three in itertools.combinations(self.vertices, 3)
        )

    def component(self, v: object) -> frozenset:
        found, frontier = {v}, [v]
        while frontier:
            u = frontier.pop()
            new = (set(self.neighbors(u, "out")) | set(self.neighbors(u, "in"))) - found
            found |= new
            frontier.extend(new)
        return frozenset(found)


def compare_reads(model: Model, reader: hedgerow.Snapshot | hedgerow.Transaction, keys: list) -> None:
    """Point reads, which snapshots and transactions share."""
    for v in keys:
        assert reader.has_vertex(v) == (v in model.vertices)
        if v not in model.vertices:
            continue
        for direction in ("out", "in"):
            expected = model.neighbors(v, direction)
            assert reader.neighbors(v, direction) == expected
            assert reader.degree(v, direction) == len(expected)
        for u in keys:
            weight = model.edges.get(model.edge(v, u))
            assert reader.weight(v, u) == weight
            assert reader.has_edge(v, u) == (weight is not None)


def compare_whole(model: Model, g: hedgerow.Snapshot) -> None:
    """The whole graph and analytics."""
    assert (g.vertex_count, g.edge_count) == (len(model.vertices), len(model.edges))
    assert set(g.vertices().tolist()) == model.vertices
    src, dst, weights = g.edges()
    values = [1.0] * len(src) if weights is None else weights.tolist()
    found = [(model.edge(a, b), w) for a, b, w in zip(src.tolist(), dst.tolist(), values, strict=True)]
    assert len(found) == len(model.edges) and dict(found) == model.edges
    components = g.wcc().to_dict()
    for v in model.vertices:
        members = {u for u, label in components.items() if label == components[v]}
        assert members == model.component(v)
    if model.vertices:
        source = min(model.vertices)
        for direction in ("out", "in"):
            assert g.bfs(source, direction=direction).to_dict() == model.depths(source, direction)
            if all(w >= 0 for w in model.edges.values()):
                assert g.sssp(source, direction=direction).to_dict() == model.distances(source, direction)
    assert g.triangle_count() == model.triangles()


class Store(RuleBasedStateMachine):
    """One store, at most one open transaction, any number of snapshots."""

    snapshots = Bundle("snapshots")

    @initialize(
        directed=st.booleans(), keys=st.sampled_from(["u64", "str"]), weighted=st.booleans(), files=st.booleans()
    )
    def create(self, directed: bool, keys: str, weighted: bool, files: bool) -> None:
        self.folder = tempfile.TemporaryDirectory() if files else None
        self.path = Path(self.folder.name) / "store" if self.folder else None
        self.options = {"directed": directed, "keys": keys, "weighted": weighted}
        # Nothing here depends on what survives a crash, and a sync costs milliseconds.
        self.db = hedgerow.open(self.path, durability="manual", **self.options)
        self.keys = NUMBERS if keys == "u64" else NAMES
        self.weighted = weighted
        self.model = Model(directed)
        self.tx: hedgerow.Transaction | None = None
        self.inside = self.model

    def weight(self, weight: float) -> tuple:
        return (weight,) if self.weighted else ()

    def stored(self, weight: float) -> float:
        return weight if self.weighted else 1.0

    @precondition(lambda self: self.tx is None)
    @rule()
    def begin(self) -> None:
        self.tx = self.db.write()
        self.inside = copy.deepcopy(self.model)

    @precondition(lambda self: self.tx)
    @rule(a=PLACES, b=PLACES, weight=WEIGHTS)
    def put_edge(self, a: int, b: int, weight: float) -> None:
        a, b = self.keys[a], self.keys[b]
        self.tx.put_edge(a, b, *self.weight(weight))
        self.inside.put(a, b, self.stored(weight))

    @precondition(lambda self: self.tx)
    @rule(a=PLACES, b=PLACES, weight=WEIGHTS)
    def insert_edge(self, a: int, b: int, weight: float) -> None:
        a, b = self.keys[a], self.keys[b]
        new = self.inside.edge(a, b) not in self.inside.edges
        assert self.tx.insert_edge(a, b, *self.weight(weight)) == new
        if new:
            self.inside.put(a, b, self.stored(weight))

    @precondition(lambda self: self.tx)
    @rule(a=PLACES, b=PLACES)
    def remove_edge(self, a: int, b: int) -> None:
        a, b = self.keys[a], self.keys[b]
        existed = self.inside.edges.pop(self.inside.edge(a, b), None) is not None
        assert self.tx.remove_edge(a, b) == existed

    @precondition(lambda self: self.tx)
    @rule(v=PLACES)
    def insert_vertex(self, v: int) -> None:
        v = self.keys[v]
        assert self.tx.insert_vertex(v) == (v not in self.inside.vertices)
        self.inside.vertices.add(v)

    @precondition(lambda self: self.tx)
    @rule(v=PLACES)
    def remove_vertex(self, v: int) -> None:
        v = self.keys[v]
        assert self.tx.remove_vertex(v) == (v in self.inside.vertices)
        self.inside.remove_vertex(v)

    @precondition(lambda self: self.tx)
    @rule(rows=st.lists(st.tuples(PLACES, PLACES, WEIGHTS), max_size=30))
    def add_edges(self, rows: list) -> None:
        src, dst = ([self.keys[row[at]] for row in rows] for at in (0, 1))
        weights = [row[2] for row in rows] if self.weighted else None
        assert self.tx.add_edges(src, dst, weights) == len(rows)
        for a, b, row in zip(src, dst, rows):
            self.inside.put(a, b, self.stored(row[2]))

    @precondition(lambda self: self.tx)
    @rule()
    def read_own_writes(self) -> None:
        compare_reads(self.inside, self.tx, self.keys)

    @precondition(lambda self: self.tx)
    @rule()
    def commit(self) -> None:
        self.tx.commit()
        self.model, self.tx = self.inside, None

    @precondition(lambda self: self.tx)
    @rule()
    def rollback(self) -> None:
        self.tx.rollback()
        self.inside, self.tx = self.model, None

    @precondition(lambda self: self.tx is None)
    @rule(a=PLACES, b=PLACES)
    def insert_edge_alone(self, a: int, b: int) -> None:
        a, b = self.keys[a], self.keys[b]
        new = self.model.edge(a, b) not in self.model.edges
        assert self.db.insert_edge(a, b) == new
        if new:
            self.model.put(a, b, 1.0)

    @precondition(lambda self: self.tx is None)
    @rule(a=PLACES, b=PLACES)
    def remove_edge_alone(self, a: int, b: int) -> None:
        a, b = self.keys[a], self.keys[b]
        existed = self.model.edges.pop(self.model.edge(a, b), None) is not None
        assert self.db.remove_edge(a, b) == existed

    @rule(target=snapshots)
    def snapshot(self) -> object:
        # The model goes on: what the snapshot saw is a copy.
        return multiple((self.db.snapshot(), copy.deepcopy(self.model)))

    @rule(pair=snapshots)
    def read_old_snapshot(self, pair: tuple) -> None:
        g, model = pair
        compare_reads(model, g, self.keys)
        compare_whole(model, g)

    @rule()
    def settle(self) -> None:
        self.db.settle()

    @precondition(lambda self: self.path)
    @rule()
    def checkpoint(self) -> None:
        assert self.db.checkpoint().timestamp == self.db.published_ts

    @precondition(lambda self: self.path and self.tx is None)
    @rule()
    def reopen(self) -> None:
        before = self.db.published_ts
        self.db.close()
        self.db = hedgerow.open(self.path, durability="manual", **self.options)
        assert self.db.published_ts == before

    @invariant()
    def counts_agree(self) -> None:
        if hasattr(self, "db"):
            with self.db.snapshot() as g:
                assert (g.vertex_count, g.edge_count) == (len(self.model.vertices), len(self.model.edges))

    def teardown(self) -> None:
        if not hasattr(self, "db"):
            return
        assert self.db.check().ok
        with self.db.snapshot() as g:
            compare_reads(self.model, g, self.keys)
            compare_whole(self.model, g)
        self.db.close()
        if self.folder:
            self.folder.cleanup()


TestStore = Store.TestCase
TestStore.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
