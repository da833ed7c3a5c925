"""Writing: single operations, commit and rollback, conflicts."""

import threading

import numpy as np
import pytest

import hedgerow


def test_reads_own_writes(db: hedgerow.Database) -> None:
    with db.write() as tx:
        assert tx.insert_vertex(9)
        assert not tx.insert_vertex(9)
        tx.put_edge(1, 2)
        assert tx.insert_edge(1, 3)
        assert not tx.insert_edge(1, 3)
        assert tx.neighbors(1) == [2, 3]
        assert tx.neighbors(3, "in") == tx.neighbors(3, direction="in") == [1]
        assert (tx.degree(1), tx.degree(1, "in")) == (2, 0)
        assert tx.remove_edge(1, 2)
        assert not tx.remove_edge(1, 2)
        assert tx.has_vertex(2) and not tx.has_edge(1, 2)
        assert tx.remove_vertex(3)
        assert not tx.remove_vertex(3)
        assert (tx.weight(1, 3), tx.neighbors(1)) == (None, [])
        assert tx.active
    assert not tx.active
    with db.snapshot() as g:
        assert (g.vertex_count, g.edge_count) == (3, 0)
        assert g.vertices().tolist() == [9, 1, 2] or sorted(g.vertices().tolist()) == [1, 2, 9]


def test_edges_of_a_vertex_are_removed_some_at_a_time(db: hedgerow.Database) -> None:
    db.add_edges([1, 1, 1, 2, 3], [2, 3, 1, 1, 2])
    with db.write() as tx:
        assert tx.remove_edges_of(9, 5) == (0, 0)
        assert tx.remove_edges_of(1, 0) == (0, 4)
        assert tx.remove_edges_of(1, 3) == (3, 1)
        with pytest.raises(hedgerow.DataError, match="most is -1"):
            tx.remove_edges_of(1, -1)
    with db.write() as tx:
        assert tx.remove_edges_of(1, 2**40) == (1, 0)
    with db.snapshot() as g:
        assert (g.degree(1), g.degree(1, "in"), g.edge_count) == (0, 0, 1)


def test_commit_gives_a_timestamp(db: hedgerow.Database) -> None:
    tx = db.write()
    tx.put_edge(1, 2)
    ts = tx.commit()
    assert db.published_ts == ts == db.snapshot().timestamp
    assert db.write().commit() == ts


def test_the_block_rolls_back_if_it_raises(db: hedgerow.Database) -> None:
    with pytest.raises(ZeroDivisionError):
        with db.write() as tx:
            tx.put_edge(1, 2)
            1 / 0
    assert not tx.active
    assert db.snapshot().edge_count == 0


def test_the_block_may_end_it_itself(db: hedgerow.Database) -> None:
    with db.write() as tx:
        tx.put_edge(1, 2)
        tx.commit()
    with db.write() as tx:
        tx.put_edge(2, 3)
        tx.rollback()
    assert db.snapshot().edge_count == 1


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_use_after_the_end(db: hedgerow.Database, end: str) -> None:
    tx = db.write()
    getattr(tx, end)()
    calls = [
        tx.commit,
        tx.rollback,
        tx.__enter__,
        lambda: tx.put_edge(1, 2),
        lambda: tx.insert_vertex(1),
        lambda: tx.has_vertex(1),
        lambda: tx.neighbors(1),
        lambda: tx.add_edges([1], [2]),
    ]
    for call in calls:
        with pytest.raises(hedgerow.ProgrammingError, match="committed" if end == "commit" else "rolled back"):
            call()


def test_conflict_has_a_timestamp(db: hedgerow.Database) -> None:
    tx = db.write()
    assert not tx.has_edge(1, 2)
    tx.put_edge(3, 4)
    db.insert_edge(1, 2)
    with pytest.raises(hedgerow.ConflictError, match="again") as caught:
        tx.commit()
    assert caught.value.timestamp == db.published_ts
    with pytest.raises(hedgerow.ProgrammingError, match="its commit failed"):
        tx.commit()
    assert db.snapshot().edge_count == 1


def test_snapshot_isolation() -> None:
    with hedgerow.open(isolation="snapshot") as db:
        db.insert_edge(1, 2)
        a, b = db.write(), db.write()
        a.put_edge(1, 1)
        b.put_edge(2, 2)
        a.commit()
        b.commit()
        # Of two that overlap and write the same edge, one commits, although neither reads.
        a, b = db.write(), db.write()
        a.remove_edge(1, 2)
        b.remove_edge(1, 2)
        a.commit()
        with pytest.raises(hedgerow.ConflictError):
            b.commit()


def test_transact_retries(db: hedgerow.Database) -> None:
    calls = 0

    def count_up(tx: hedgerow.Transaction) -> int:
        nonlocal calls
        calls += 1
        seen = tx.has_edge(1, 2)
        tx.put_edge(8, 9)
        if calls < 3:
            (db.remove_edge if seen else db.insert_edge)(1, 2)
        return calls

    assert db.transact(count_up, retries=2) == 3
    assert db.snapshot().has_edge(8, 9)


def test_transact_gives_up(db: hedgerow.Database) -> None:
    calls = 0

    def never(tx: hedgerow.Transaction) -> None:
        nonlocal calls
        calls += 1
        seen = tx.has_edge(1, 2)
        tx.put_edge(8, 9)
        (db.remove_edge if seen else db.insert_edge)(1, 2)

    with pytest.raises(hedgerow.ConflictError):
        db.transact(never, retries=4)
    assert calls == 5
    assert not db.snapshot().has_edge(8, 9)


def test_transact_passes_exceptions_on(db: hedgerow.Database) -> None:
    kept = []

    def fail(tx: hedgerow.Transaction) -> None:
        kept.append(tx)
        tx.put_edge(1, 2)
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        db.transact(fail)
    # The transaction is rolled back, whatever is done with what the function kept.
    assert not kept[0].active
    for call in (lambda: kept[0].commit(), lambda: kept[0].put_edge(3, 4), lambda: kept[0].add_edges([1], [2])):
        with pytest.raises(hedgerow.ProgrammingError, match="was rolled back"):
            call()
    assert db.snapshot().edge_count == 0
    db.transact(kept.append)
    with pytest.raises(hedgerow.ProgrammingError, match="was committed"):
        kept[1].put_edge(1, 2)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, hedgerow.ConflictError])
def test_transact_rolls_back_whatever_is_raised(db: hedgerow.Database, error: type[BaseException]) -> None:
    kept = []

    def fail(tx: hedgerow.Transaction) -> None:
        kept.append(tx)
        tx.put_edge(1, 2)
        raise error

    with pytest.raises(error):
        db.transact(fail)
    assert [tx.active for tx in kept] == [False]
    assert db.snapshot().edge_count == 0


def test_transactions_of_conflicting_attempts_are_over(db: hedgerow.Database) -> None:
    kept = []

    def meet_another(tx: hedgerow.Transaction) -> None:
        kept.append(tx)
        tx.has_edge(1, 2)
        tx.put_edge(8, 9)
        if len(kept) < 3:
            (db.insert_edge if len(kept) == 1 else db.remove_edge)(1, 2)
        assert [t.active for t in kept] == [False] * (len(kept) - 1) + [True]

    db.transact(meet_another)
    assert len(kept) == 3
    for tx in kept:
        with pytest.raises(hedgerow.ProgrammingError):
            tx.commit()


def test_a_block_that_raises_rolls_back_what_another_thread_uses(db: hedgerow.Database) -> None:
    ids = np.arange(1_000_000, dtype=np.uint64)
    outcome = []

    def load(tx: hedgerow.Transaction) -> None:
        outcome.append(tx.add_edges(ids, ids))

    with pytest.raises(LookupError), db.write() as tx:
        thread = threading.Thread(target=load, args=(tx,))
        thread.start()
        while "in use" not in repr(tx) and not outcome:
            pass
        raise LookupError
    thread.join()
    with pytest.raises(hedgerow.ProgrammingError, match="was rolled back"):
        tx.commit()
    assert db.snapshot().edge_count == 0


def test_transact_misused(db: hedgerow.Database) -> None:
    with pytest.raises(hedgerow.ProgrammingError):
        db.transact(lambda tx: tx.commit())
    with pytest.raises(hedgerow.ProgrammingError):
        db.transact(lambda tx: tx.rollback())
    with pytest.raises(hedgerow.DataError, match="retries"):
        db.transact(lambda tx: None, retries=-1)
    with pytest.raises(TypeError):
        db.transact(None)
    with pytest.raises(hedgerow.ClosedError):
        db.transact(lambda tx: db.close() or tx.put_edge(1, 2))


def test_endpoints_must_exist(db: hedgerow.Database) -> None:
    with db.write(create_endpoints=False) as tx:
        tx.insert_vertex(1)
        tx.insert_vertex(2)
        tx.put_edge(1, 2)
    tx = db.write(create_endpoints=False)
    tx.put_edge(1, 3)
    with pytest.raises(hedgerow.IntegrityError, match="no vertex 3"):
        tx.commit()
    assert db.snapshot().vertex_count == 2


def test_weights() -> None:
    with hedgerow.open(weighted=True, directed=False) as db:
        with db.write() as tx:
            tx.put_edge(1, 2, 0.5)
            tx.put_edge(2, 1, 0.75)
            tx.put_edge(3, 3)
            assert not tx.insert_edge(1, 2, weight=9.0)
            assert tx.weight(1, 2) == 0.75
            with pytest.raises(hedgerow.DataError, match="NaN"):
                tx.put_edge(1, 2, float("nan"))
            tx.put_edge(4, 5, float("inf"))
        g = db.snapshot()
        assert (g.weight(2, 1), g.weight(3, 3), g.weight(1, 3), g.weight(77, 1)) == (0.75, 1.0, None, None)
        assert g.edges().weights is not None
        assert sorted(g.edges().weights.tolist()) == [0.75, 1.0, float("inf")]


def test_no_weights(db: hedgerow.Database) -> None:
    with db.write() as tx:
        for put in (tx.put_edge, tx.insert_edge):
            with pytest.raises(hedgerow.NotSupportedError, match="no weights"):
                put(1, 2, 0.5)


@pytest.mark.parametrize("key", [-1, 2**64, -(2**70), "a"])
def test_ids_out_of_range(db: hedgerow.Database, key: object) -> None:
    with db.write() as tx:
        tx.put_edge(0, 2**64 - 1)
        for call in (
            lambda: tx.put_edge(key, 1),
            lambda: tx.put_edge(1, key),
            lambda: tx.remove_vertex(key),
            lambda: tx.neighbors(key),
            lambda: db.insert_edge(key, 1),
            lambda: db.snapshot().has_vertex(key),
            lambda: db.snapshot().bfs(key),
        ):
            with pytest.raises(hedgerow.DataError):
                call()
    assert db.snapshot().neighbors(0) == [2**64 - 1]


@pytest.mark.parametrize("key", [None, 1.0, [1], b"a", object()])
def test_ids_of_no_type(db: hedgerow.Database, key: object) -> None:
    for call in (lambda: db.insert_edge(key, 1), lambda: db.snapshot().has_vertex(key)):
        with pytest.raises(TypeError, match="vertex id"):
            call()
    with hedgerow.open(keys="str") as named, pytest.raises(TypeError, match="vertex id"):
        named.insert_edge(key, "a")


def test_string_ids() -> None:
    with hedgerow.open(keys="str") as db:
        with db.write() as tx:
            for text in ("", "ann", "Zoë", "\0", "😀", "a" * 65536):
                tx.put_edge(text, "ann")
            for bad in (1, 2**63, "a" * 65537, "\ud800"):
                with pytest.raises(hedgerow.DataError):
                    tx.put_edge(bad, "ann")
        g = db.snapshot()
        assert g.neighbors("ann", "in") == sorted(["", "ann", "Zoë", "\0", "😀", "a" * 65536], key=str.encode)
        assert g.bfs("Zoë")["ann"] == 1


def test_dense_ids() -> None:
    with hedgerow.open(keys="dense") as db:
        db.insert_edge(0, 3)
        assert db.snapshot().vertices().tolist() == [0, 3]
        for bad in (2**32 - 1, 2**32, 2**63):
            with pytest.raises(hedgerow.DataError, match="out of range"):
                db.insert_edge(0, bad)
            with pytest.raises(hedgerow.DataError, match="out of range"):
                db.snapshot().has_vertex(bad)


def test_numpy_scalars_are_ids(db: hedgerow.Database) -> None:
    import numpy as np

    assert db.insert_edge(np.uint64(2**63), np.int8(5))
    assert db.snapshot().neighbors(2**63) == [5]


def test_direction_is_checked(db: hedgerow.Database) -> None:
    db.insert_edge(1, 2)
    g = db.snapshot()
    with db.write() as tx:
        for call in (
            lambda: tx.neighbors(1, "both"),
            lambda: tx.degree(1, ""),
            lambda: g.neighbors(1, "OUT"),
            lambda: g.degree(1, "x"),
            lambda: g.bfs(1, direction="up"),
        ):
            with pytest.raises(hedgerow.DataError, match="direction"):
                call()


def test_a_vertex_that_is_not_there(db: hedgerow.Database) -> None:
    db.insert_edge(1, 2)
    g = db.snapshot()
    with db.write() as tx:
        for call in (
            lambda: tx.neighbors(7),
            lambda: tx.degree(7),
            lambda: g.neighbors(7),
            lambda: g.degree(7),
            lambda: g.bfs(7),
        ):
            with pytest.raises(hedgerow.IntegrityError, match="no vertex 7"):
                call()
