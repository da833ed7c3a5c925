"""Random use of labels, ranks and properties, compared with dictionaries."""

import copy
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, precondition, rule

import hedgerow

VERTICES = st.sampled_from([0, 1, 63, 64, 2**40])
LABELS = ["", "knows", "calls"]  # the last is multi
RANKS = st.sampled_from([0, 1, 2**64 - 1])
PROPERTIES = st.fixed_dictionaries(
    {},
    optional={
        "number": st.none() | st.integers(-(2**63), 2**63 - 1),
        "real": st.none() | st.floats(allow_nan=False),
        "text": st.none() | st.text(max_size=5),
        "yes": st.none() | st.booleans(),
        "raw": st.none() | st.binary(max_size=5),
    },
)


def with_values(properties: dict) -> dict:
    return {name: value for name, value in properties.items() if value is not None}


def merged(old: dict, patch: dict) -> dict:
    return with_values(old | patch)


class Model:
    """Vertices with their properties, and edges (label, source, destination, rank) with theirs."""

    def __init__(self, directed: bool) -> None:
        self.directed = directed
        self.vertices: dict = {}
        self.edges: dict = {}

    def edge(self, label: str, a: int, b: int, rank: int) -> tuple:
        a, b = (a, b) if self.directed or a <= b else (b, a)
        return (label, a, b, rank if label == "calls" else 0)

    def remove_vertex(self, v: int) -> bool:
        self.edges = {edge: row for edge, row in self.edges.items() if v not in edge[1:3]}
        return self.vertices.pop(v, None) is not None

    def neighbors(self, label: str, v: int, direction: str) -> list:
        found = set()
        for name, a, b, rank in self.edges:
            if name == label and a == v and (direction == "out" or not self.directed):
                found.add((b, rank))
            if name == label and b == v and (direction == "in" or not self.directed):
                found.add((a, rank))
        return sorted(found)


def compare(model: Model, reader: hedgerow.Snapshot | hedgerow.Transaction) -> None:
    for v, row in model.vertices.items():
        assert reader.vertex_properties(v) == row
        for label in LABELS:
            for direction in ("out", "in"):
                expected = model.neighbors(label, v, direction)
                assert reader.neighbors(v, direction, label=label, ranks=True) == expected
                assert reader.degree(v, direction, label=label) == len(expected)
        for direction in ("out", "in"):
            of_all = [(b, label, rank) for label in LABELS for b, rank in model.neighbors(label, v, direction)]
            of_all.sort(key=lambda edge: (edge[0], LABELS.index(edge[1]), edge[2]))
            assert reader.neighbors(v, direction, labels=True, ranks=True) == of_all
            assert reader.neighbors(v, direction) == [b for b, _, _ in of_all]
            assert reader.degree(v, direction) == len(of_all)
        found = {b for label in LABELS for b, _ in model.neighbors(label, v, "out")}
        assert found == {b for b in model.vertices if reader.has_edge(v, b)}
        calls = {b for b, _ in model.neighbors("calls", v, "out")}
        assert calls == {b for b in model.vertices if reader.has_edge(v, b, label="calls")}
    for (label, a, b, rank), row in model.edges.items():
        assert reader.edge_properties(a, b, label=label, rank=rank) == row
        assert reader.has_edge(a, b, label=label, rank=rank)


def compare_tables(model: Model, g: hedgerow.Snapshot) -> None:
    edges = g.edges()
    assert edges.labels is not None and edges.ranks is not None
    columns = (column.tolist() for column in (edges.labels, edges.src, edges.dst, edges.ranks))
    listed = {model.edge(*edge) for edge in zip(*columns, strict=True)}
    assert listed == set(model.edges) and g.edge_count == len(model.edges) == len(edges.src)
    for label in LABELS:
        table = g.edge_table(label)
        ranks = [0] * len(table) if table.ranks is None else table.ranks.tolist()
        columns = {name: column.tolist() for name, column in table.properties.items()}
        found = {}
        for at, (a, b, rank) in enumerate(zip(table.src.tolist(), table.dst.tolist(), ranks, strict=True)):
            found[model.edge(label, a, b, rank)] = with_values({n: column[at] for n, column in columns.items()})
        expected = {edge: row for edge, row in model.edges.items() if edge[0] == label}
        assert found == expected and len(table) == len(expected) == g.edge_count_of(label)


class Store(RuleBasedStateMachine):
    """One store, at most one open transaction, any number of snapshots."""

    snapshots = Bundle("snapshots")

    @initialize(directed=st.booleans(), files=st.booleans())
    def create(self, directed: bool, files: bool) -> None:
        self.folder = tempfile.TemporaryDirectory() if files else None
        self.path = Path(self.folder.name) / "store" if self.folder else None
        self.db = hedgerow.open(self.path, directed=directed, durability="manual")
        self.db.define_label("knows")
        self.db.define_label("calls", multi=True)
        self.model = Model(directed)
        self.tx: hedgerow.Transaction | None = None
        self.inside = self.model

    def edge(self, label: str, a: int, b: int, rank: int) -> tuple:
        edge = self.inside.edge(label, a, b, rank)
        return edge, {"label": label, "rank": edge[3]}

    @precondition(lambda self: self.tx is None)
    @rule()
    def begin(self) -> None:
        self.tx = self.db.write()
        self.inside = copy.deepcopy(self.model)

    @precondition(lambda self: self.tx)
    @rule(label=st.sampled_from(LABELS), a=VERTICES, b=VERTICES, rank=RANKS, row=PROPERTIES, put=st.booleans())
    def put_or_insert(self, label: str, a: int, b: int, rank: int, row: dict, put: bool) -> None:
        edge, where = self.edge(label, a, b, rank)
        new = edge not in self.inside.edges
        if put:
            self.tx.put_edge(a, b, **where, properties=row)
        else:
            assert self.tx.insert_edge(a, b, **where, properties=row) == new
        if put or new:
            self.inside.edges[edge] = with_values(row)
            for v in (a, b):
                self.inside.vertices.setdefault(v, {})

    @precondition(lambda self: self.tx)
    @rule(label=st.sampled_from(LABELS), a=VERTICES, b=VERTICES, rank=RANKS, row=PROPERTIES)
    def update(self, label: str, a: int, b: int, rank: int, row: dict) -> None:
        edge, where = self.edge(label, a, b, rank)
        exists = edge in self.inside.edges
        assert self.tx.update_edge(a, b, **where, properties=row) == exists
        if exists:
            self.inside.edges[edge] = merged(self.inside.edges[edge], row)

    @precondition(lambda self: self.tx)
    @rule(label=st.sampled_from(LABELS), a=VERTICES, b=VERTICES, rank=RANKS)
    def remove(self, label: str, a: int, b: int, rank: int) -> None:
        edge, where = self.edge(label, a, b, rank)
        existed = self.inside.edges.pop(edge, None) is not None
        assert self.tx.remove_edge(a, b, **where) == existed

    @precondition(lambda self: self.tx)
    @rule(v=VERTICES, row=PROPERTIES)
    def add_vertex(self, v: int, row: dict) -> None:
        self.tx.add_vertex(v, properties=row)
        self.inside.vertices[v] = with_values(row)

    @precondition(lambda self: self.tx)
    @rule(v=VERTICES, row=PROPERTIES)
    def update_vertex(self, v: int, row: dict) -> None:
        assert self.tx.update_vertex(v, properties=row) == (v in self.inside.vertices)
        if v in self.inside.vertices:
            self.inside.vertices[v] = merged(self.inside.vertices[v], row)

    @precondition(lambda self: self.tx)
    @rule(v=VERTICES)
    def remove_vertex(self, v: int) -> None:
        assert self.tx.remove_vertex(v) == self.inside.remove_vertex(v)

    @precondition(lambda self: self.tx)
    @rule()
    def read_own_writes(self) -> None:
        compare(self.inside, self.tx)

    @precondition(lambda self: self.tx)
    @rule(submit=st.booleans())
    def commit(self, submit: bool) -> None:
        if submit:
            self.tx.submit().wait()
        else:
            self.tx.commit()
        self.model, self.tx = self.inside, None

    @rule(target=snapshots)
    def snapshot(self) -> object:
        return multiple((self.db.snapshot(), copy.deepcopy(self.model)))

    @rule(pair=snapshots)
    def read_old_snapshot(self, pair: tuple) -> None:
        g, model = pair
        compare(model, g)
        compare_tables(model, g)

    @rule()
    def settle(self) -> None:
        self.db.settle()

    @precondition(lambda self: self.path and self.tx is None)
    @rule(checkpoint=st.booleans())
    def reopen(self, checkpoint: bool) -> None:
        if checkpoint:
            self.db.checkpoint()
        self.db.close()
        self.db = hedgerow.open(self.path, durability="manual")

    def teardown(self) -> None:
        if not hasattr(self, "db"):
            return
        assert self.db.check().ok
        with self.db.snapshot() as g:
            compare(self.model, g)
            compare_tables(self.model, g)
        self.db.close()
        if self.folder:
            self.folder.cleanup()


TestLabels = Store.TestCase
TestLabels.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
