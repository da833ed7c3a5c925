"""Pipelines: operations in the order of the calls, each with its own outcome."""

import random
import threading
from pathlib import Path

import numpy as np
import pytest

import hedgerow


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("keys", ["u64", "str", "dense"])
def test_against_a_set(directed: bool, keys: str) -> None:
    rng = random.Random(5)
    name = str if keys == "str" else int
    with hedgerow.open(directed=directed, keys=keys) as db:
        edges: set[tuple[int, int]] = set()
        expected: list[bool] = []

        def edge(u: int, v: int) -> tuple[int, int]:
            return (u, v) if directed else (min(u, v), max(u, v))

        with db.pipeline() as p:
            for _ in range(300):
                pairs = [(rng.randrange(40), rng.randrange(40)) for _ in range(rng.choice([1, 1, 1, 30]))]
                remove = rng.random() < 0.4
                if len(pairs) == 1:
                    u, v = map(name, pairs[0])
                    p.remove_edge(u, v) if remove else rng.choice([p.insert_edge, p.put_edge])(u, v)
                else:
                    src, dst = [name(u) for u, _ in pairs], [name(v) for _, v in pairs]
                    column = p.remove_edges if remove else rng.choice([p.insert_edges, p.put_edges])
                    assert column(src, dst) == len(pairs)
                for u, v in pairs:
                    there = edge(u, v) in edges
                    expected.append(there == remove)
                    edges.discard(edge(u, v)) if remove else edges.add(edge(u, v))
                if rng.random() < 0.05:
                    changed = p.flush()
                    assert changed.dtype == np.bool_
                    assert changed.tolist() == expected
                    expected = []
                    g = db.snapshot()
                    assert g.edge_count == len(edges)
                    assert all(g.has_edge(name(u), name(v)) for u, v in edges)
        assert db.snapshot().edge_count == len(edges)
        assert db.check().ok


def test_weights() -> None:
    with hedgerow.open(weighted=True) as db:
        with db.pipeline() as p:
            p.put_edge(1, 2, 2.5)
            assert p.put_edges([1, 3], [2, 4], [7, 0.5]) == 2
            p.put_edge(5, 6)
            p.insert_edge(5, 6)
            assert p.flush().tolist() == [True, False, True, True, False]
        with db.write() as tx:
            assert [tx.weight(1, 2), tx.weight(3, 4), tx.weight(5, 6)] == [7, 0.5, 1]


def test_what_is_refused_was_not_submitted(db: hedgerow.Database) -> None:
    p = db.pipeline()
    p.insert_edge(1, 2)
    for refused in [
        lambda: p.insert_edge(-1, 2),
        lambda: p.insert_edges([3, -1], [4, 5]),
        lambda: p.remove_edges([3], [4, 5]),
        lambda: p.insert_edge("a", "b"),
    ]:
        with pytest.raises(hedgerow.DataError):
            refused()
    with pytest.raises(TypeError):
        p.insert_edge(None, 1)  # type: ignore[arg-type]
    with pytest.raises(hedgerow.NotSupportedError):
        p.put_edge(1, 2, 3.0)
    with pytest.raises(hedgerow.NotSupportedError):
        p.put_edges([1], [2], [3.0])
    assert p.flush().tolist() == [True]
    assert p.flush().tolist() == []
    assert db.snapshot().edge_count == 1


def test_the_end_of_the_block_waits(store: Path) -> None:
    with hedgerow.open(store) as db:
        with pytest.raises(ZeroDivisionError), db.pipeline() as p:
            p.insert_edges(np.arange(5000), np.arange(5000) + 1)
            1 / 0  # noqa: B018
        assert db.snapshot().edge_count == 5000
        assert db.durable_ts == db.published_ts
        with pytest.raises(hedgerow.ProgrammingError):
            p.insert_edge(1, 2)
        p.close()
    with hedgerow.open(store) as db:
        assert db.snapshot().edge_count == 5000


def test_dropping_a_pipeline_executes_what_is_left(db: hedgerow.Database) -> None:
    p = db.pipeline()
    p.insert_edges(np.arange(10), np.arange(10) + 1)
    del p
    assert db.snapshot().edge_count == 10


def test_a_closed_store(db: hedgerow.Database) -> None:
    p = db.pipeline()
    p.insert_edge(1, 2)
    db.close()
    with pytest.raises(hedgerow.ClosedError):
        p.insert_edge(2, 3)
    with pytest.raises(hedgerow.ClosedError):
        p.flush()


def test_threads_share_and_have_their_own(db: hedgerow.Database) -> None:
    shared = db.pipeline()
    new: list[int] = []

    def work(worker: int) -> None:
        with db.pipeline() as own:
            for v in range(500):
                own.insert_edge(worker, v)
                shared.insert_edge(1000, v)
            new.append(int(own.flush().sum()))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert new == [500] * 4
    assert int(shared.flush().sum()) == 500
    assert db.snapshot().edge_count == 2500
