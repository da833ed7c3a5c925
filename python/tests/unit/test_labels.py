"""Reads without a label mean all labels; a kernel without a label means the label of all edges, and says if there are several."""

import pickle
from collections.abc import Callable

import pytest

import hedgerow


@pytest.fixture
def db() -> hedgerow.Database:
    """Edges of three labels, one of them multi; two labels and two ranks from 1 to 2."""
    db = hedgerow.open(weighted=True)
    db.define_label("calls", multi=True)
    with db.write() as tx:
        tx.put_edge(1, 2, label="knows", since=2001)
        tx.put_edge(1, 2, label="calls", rank=7, seconds=30)
        tx.put_edge(1, 2, label="calls", rank=9)
        tx.put_edge(1, 3, 0.5)
        tx.put_edge(2, 3, label="knows")
    return db


def test_reads_without_a_label_mean_all_labels(db: hedgerow.Database) -> None:
    with db.snapshot() as g, db.write() as tx:
        for reader in (g, tx):
            assert reader.neighbors(1) == [2, 2, 2, 3]
            assert reader.neighbors(3, "in") == [1, 2]
            assert reader.neighbors(1, labels=True) == [(2, "calls"), (2, "calls"), (2, "knows"), (3, "")]
            assert reader.neighbors(1, labels=True, ranks=True)[1] == (2, "calls", 9)
            assert reader.neighbors(1, label="knows", labels=True, ranks=True) == [(2, "knows", 0)]
            assert reader.neighbors(1, label="") == [3]
            assert (reader.degree(1), reader.degree(1, "in"), reader.degree(3, "in")) == (4, 0, 2)
            assert (reader.degree(1, label="calls"), reader.degree(1, label="")) == (2, 1)
        assert g.neighbors(1, properties=True) == [(2, {"seconds": 30}), (2, {}), (2, {"since": 2001}), (3, {"weight": 0.5})]
        assert g.neighbors(1, labels=True, ranks=True, properties=True)[0] == (2, "calls", 7, {"seconds": 30})
        assert sum(g.degree(v) for v in g.vertices().tolist()) == g.edge_count == len(g.edges().src) == 5


def test_the_newest_edges_come_first(db: hedgerow.Database) -> None:
    with db.snapshot() as g:
        assert g.newest_neighbors(1, "calls", 5, ranks=True) == [(2, 9), (2, 7)]
        assert g.newest_neighbors(1, "calls", 1, properties=True) == [(2, {})]
        assert g.newest_neighbors(2, "calls", 1, "in", ranks=True, properties=True) == [(1, 9, {})]
        assert g.newest_neighbors(1, "calls", 0) == g.newest_neighbors(3, "calls", 9) == []
        with pytest.raises(hedgerow.IntegrityError):
            g.newest_neighbors(77, "calls", 1)
        with pytest.raises(hedgerow.ProgrammingError):
            g.newest_neighbors(1, "nothing", 1)
        with pytest.raises(hedgerow.DataError):
            g.newest_neighbors(1, "calls", -1)


def test_an_edge_of_any_label_and_rank_counts(db: hedgerow.Database) -> None:
    with db.snapshot() as g, db.write() as tx:
        for reader in (g, tx):
            assert reader.has_edge(1, 2) and reader.has_edge(1, 3)
            assert not reader.has_edge(2, 1) and not reader.has_edge(1, 4)
            assert reader.has_edge(1, 2, label="calls") and not reader.has_edge(1, 2, label="")
            assert reader.has_edge(1, 2, label="calls", rank=9) and not reader.has_edge(1, 2, label="calls", rank=0)
            assert reader.has_edge(1, 2, rank=0) and not reader.has_edge(1, 2, rank=8)
        # Writes name one edge: of the default label if they name none, and of a `multi` label by its rank.
        assert not tx.remove_edge(1, 2) and not tx.remove_edge(1, 2, label="calls", rank=0)
        for call in (tx.remove_edge, tx.put_edge, tx.insert_edge, tx.update_edge, tx.edge_properties, g.edge_properties):
            with pytest.raises(hedgerow.DataError, match="label \"calls\" is multi: name its edge by rank= too"):
                call(1, 2, label="calls")
        assert tx.edge_properties(1, 2) is None
        assert tx.remove_edge(1, 2, label="calls", rank=7)
        assert tx.has_edge(1, 2, label="calls")
        assert tx.remove_edge(1, 2, label="calls", rank=9)
        assert not tx.has_edge(1, 2, label="calls") and tx.has_edge(1, 2)
        tx.put_edge(4, 5, label="new")
        assert tx.has_edge(4, 5) and tx.neighbors(4, labels=True) == [(5, "new")]


def test_edges_tell_their_labels(db: hedgerow.Database) -> None:
    edges = db.snapshot().edges()
    assert edges.labels is not None and edges.ranks is not None and edges.weights is not None
    # Those without a weight have a NaN, which is equal to nothing.
    weights = [None if weight != weight else weight for weight in edges.weights.tolist()]
    found = list(
        zip(edges.src.tolist(), edges.dst.tolist(), weights, edges.labels.tolist(), edges.ranks.tolist(), strict=True)
    )
    assert found == [
        (1, 3, 0.5, "", 0),
        (1, 2, None, "calls", 7),
        (1, 2, None, "calls", 9),
        (1, 2, None, "knows", 0),
        (2, 3, None, "knows", 0),
    ]
    knows = db.snapshot().edges(label="knows")
    assert (knows.src.tolist(), knows.dst.tolist(), knows.ranks) == ([1, 2], [2, 3], None)
    assert knows.labels is not None and knows.labels.tolist() == ["knows", "knows"]
    assert db.snapshot().edges(label="").dst.tolist() == [3]
    again = pickle.loads(pickle.dumps(edges))
    assert (again.labels.tolist(), again.ranks.tolist()) == (edges.labels.tolist(), edges.ranks.tolist())
    with hedgerow.open() as plain:
        plain.add_edges([1], [2])
        src, dst, weights = edges = plain.snapshot().edges()
        assert (src.tolist(), dst.tolist(), weights, edges.labels, edges.ranks) == ([1], [2], None, None, None)


KERNELS: list[Callable[[hedgerow.Snapshot, dict[str, str]], object]] = [
    lambda g, label: g.bfs(1, **label).to_dict(),
    lambda g, label: g.sssp(1, **label).to_dict(),
    lambda g, label: g.pagerank(**label).to_dict(),
    lambda g, label: g.wcc(**label).to_dict(),
    lambda g, label: g.triangle_count(**label),
    lambda g, label: g.edge_table(**label).dst.tolist(),
]


def test_a_table_asks_which_of_several_labels(db: hedgerow.Database) -> None:
    message = 'the edges have 3 labels, "", "calls", "knows": name one of them with label='
    with pytest.raises(hedgerow.ProgrammingError) as raised:
        db.snapshot().edge_table()
    assert str(raised.value) == message


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_reads_the_label_that_is_named_or_the_only_one(db: hedgerow.Database, kernel: Callable) -> None:
    with pytest.raises(hedgerow.ProgrammingError, match='no label knew: the labels are "", "calls", "knows"'):
        kernel(db.snapshot(), {"label": "knew"})
    kernel(db.snapshot(), {"label": ""})
    # Of one label, be it the default one or another, that one is meant.
    for label in ("", "knows"):
        with hedgerow.open() as one:
            one.define_label("unused")
            one.add_edges([1, 2], [2, 3], label=label)
            g = one.snapshot()
            assert kernel(g, {}) == kernel(g, {"label": label})
            assert g.bfs(1).to_dict() == {1: 0, 2: 1, 3: 2}


def test_sssp_takes_the_property_of_the_only_label() -> None:
    with hedgerow.open() as db:
        with db.write() as tx:
            tx.put_edge(1, 2, label="road", miles=2.5)
        assert db.snapshot().sssp(1, weight="miles").to_dict() == {1: 0.0, 2: 2.5}


def test_a_read_of_all_labels_conflicts_with_a_label_defined_later() -> None:
    with hedgerow.open() as db:
        db.add_edges([1], [2])
        tx = db.write()
        assert tx.degree(1) == 1
        with db.write() as other:
            other.put_edge(1, 3, label="later")
        tx.put_edge(8, 9)
        with pytest.raises(hedgerow.ConflictError):
            tx.commit()
        # Its own definitions are none.
        with db.write() as tx:
            assert tx.degree(1) == 2 and not tx.has_edge(1, 9)
            tx.put_edge(1, 9, label="own", since=1)
