"""Rows of bulk calls that name what is there, or what an earlier row names: nothing is dropped or replaced without a word."""

import pickle
import threading

import numpy as np
import pytest

import hedgerow


@pytest.fixture
def routes(db: hedgerow.Database) -> hedgerow.Database:
    db.define_label("route", multi=True)
    return db


def airlines(db: hedgerow.Database) -> list[tuple[int, int, str]]:
    table = db.snapshot().edge_table("route")
    return sorted(zip(table.src.tolist(), table.dst.tolist(), table.properties["airline"].tolist(), strict=True))


def test_each_row_of_a_multi_label_is_an_edge(routes: hedgerow.Database) -> None:
    added = routes.add_edges([1, 1, 1], [2, 2, 2], label="route", properties={"airline": ["AA", "DL", "WS"]})
    assert (added, added.repeated, added.new, added.existing) == (3, 0, 3, 0)
    assert airlines(routes) == [(1, 2, "AA"), (1, 2, "DL"), (1, 2, "WS")]
    assert routes.snapshot().neighbors(1, label="route", ranks=True) == [(2, 0), (2, 1), (2, 2)]
    # Later calls, and transactions, replace none of them.
    assert routes.add_edges([1, 3], [2, 4], label="route", properties={"airline": ["BA", "LH"]}, batch=1) == 2
    with routes.write() as tx:
        assert tx.add_edges([1, 1], [2, 2], label="route", properties={"airline": ["KL", "AF"]}).new == 2
        assert tx.add_edges([1], [2], label="route", properties={"airline": ["IB"]}).new == 1
    assert [name for _, _, name in airlines(routes)] == ["AA", "AF", "BA", "DL", "IB", "KL", "WS", "LH"]


def test_ranks_that_are_taken_are_left_out(routes: hedgerow.Database) -> None:
    routes.add_edges([1, 1], [2, 2], label="route", ranks=[2, 2**40], properties={"airline": ["AA", "BA"]})
    routes.add_edges([1, 1, 5], [2, 2, 6], label="route", properties={"airline": ["CA", "DL", "EK"]})
    assert [name for _, _, name in airlines(routes)] == ["AA", "BA", "CA", "DL", "EK"]
    routes.put_edge(1, 2, label="route", rank=2**64 - 1)
    # The number of edges as a rank is free here; where none is left the call says what to do.
    routes.add_edges([1], [2], label="route")
    with routes.write() as tx, pytest.raises(hedgerow.DataError, match="give ranks="):
        for rank in range(7, 9):
            tx.put_edge(1, 2, label="route", rank=rank)
        tx.add_edges([1], [2], label="route")


def test_edges_of_a_multi_label_are_named_by_ranks(routes: hedgerow.Database) -> None:
    routes.add_edges([1, 1, 3], [2, 2, 4], label="route", properties={"airline": ["AA", "DL", "WS"]})
    table = routes.snapshot().edge_table("route")
    for call in (
        lambda: routes.remove_edges(table.src, table.dst, label="route"),
        lambda: routes.update_edges(table.src, table.dst, {"airline": "BA"}, label="route"),
    ):
        with pytest.raises(hedgerow.DataError, match='label "route" is multi: name its edges by ranks='):
            call()
    assert routes.update_edges(table.src, table.dst, {"airline": "BA"}, label="route", ranks=table.ranks) == 3
    assert [name for _, _, name in airlines(routes)] == ["BA", "BA", "BA"]
    assert routes.remove_edges(table.src, table.dst, label="route", ranks=table.ranks) == 3


def test_threads_replace_no_edge_of_one_another(routes: hedgerow.Database) -> None:
    def load(name: str) -> None:
        for _ in range(5):
            routes.add_edges([1] * 20, [2] * 20, label="route", properties={"airline": [name] * 20}, batch=7)

    threads = [threading.Thread(target=load, args=(name,)) for name in ("AA", "BA", "CA")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [name for _, _, name in airlines(routes)]
    assert {name: names.count(name) for name in set(names)} == {"AA": 100, "BA": 100, "CA": 100}


@pytest.mark.parametrize("keys", ["u64", "str", "dense"])
@pytest.mark.parametrize("directed", [True, False])
def test_repeated_rows_are_counted(keys: str, directed: bool) -> None:
    name = str if keys == "str" else int
    with hedgerow.open(keys=keys, directed=directed) as db:
        src, dst = [3, 1, 3, 2, 1, 3], [4, 2, 4, 1, 2, 4]
        added = db.add_edges([name(v) for v in src], [name(v) for v in dst])
        assert (added, added.repeated) == (6, 3 if directed else 4)
        assert db.snapshot().edge_count == 6 - added.repeated
        assert (added.new, added.existing) == (None, None)
        assert db.add_edges([name(1)], [name(2)]).repeated == 0
        with db.write() as tx:
            assert tx.add_edges([name(5), name(5)], [name(6), name(6)]).repeated == 1


def test_repeated_rows_among_many(db: hedgerow.Database) -> None:
    numbers = np.random.default_rng(1).permutation(50_000)
    src, dst = np.r_[numbers, numbers[:7]], np.r_[numbers[::-1], numbers[::-1][:7]]
    added = db.add_edges(src, dst, batch=1_000)
    assert (added, added.repeated) == (50_007, 7)
    db.define_label("calls", multi=True)
    ranks = np.arange(50_007)
    assert db.add_edges(src, dst, label="calls", ranks=ranks).repeated == 0
    ranks[50_000:] = ranks[:7]
    assert db.add_edges(src, dst, label="calls", ranks=ranks).repeated == 7


def test_the_ends_of_a_label_with_kinds_are_not_exchanged() -> None:
    with hedgerow.open(directed=False) as db:
        db.define_kind("user")
        db.define_kind("page")
        db.define_label("edited", src="user", dst="page")
        assert db.add_edges([7, 8, 7], [8, 7, 8], label="edited").repeated == 1
        assert db.snapshot().edge_count == 2


def test_what_a_call_says_is_an_int(db: hedgerow.Database) -> None:
    added = db.add_edges([1, 1], [2, 2])
    assert isinstance(added, int) and added + 1 == 3 and f"{added:03d}" == "002"
    assert repr(added) == "Added(2, repeated=1)" and repr(db.add_edges([1], [2])) == "1"
    again = pickle.loads(pickle.dumps(added))
    assert (again, again.repeated, again.new) == (2, 1, None)


def test_vertices_that_exist_keep_their_other_properties(db: hedgerow.Database) -> None:
    db.add_vertices([1, 2], properties={"name": ["Ann", "Bob"], "age": [30, 31]})
    added = db.add_vertices([3, 1, 2], properties={"age": [9, 41, None]})
    assert (added, added.new, added.existing) == (3, 1, 2)
    table = db.snapshot().vertex_table()
    assert table.properties["name"].tolist() == ["Ann", "Bob", None]
    assert table.properties["age"].tolist() == [41, 31, 9]
    # Without columns nothing is wiped either.
    assert db.add_vertices([1, 4]).existing == 1
    assert db.snapshot().vertex_properties(1) == {"name": "Ann", "age": 41}
    # A row with a value of every property is the same merged as replaced, so that nothing is asked.
    full = db.add_vertices([1, 2], properties={"name": ["Zoe", "Yan"], "age": [1, 2]})
    assert (full, full.new, full.existing) == (2, None, None)
    half = db.add_vertices([1, 2], properties={"name": ["Ann", "Bob"], "age": [None, 3]})
    assert (half, half.new, half.existing) == (2, 0, 2)
    assert db.snapshot().vertex_properties(1) == {"name": "Ann", "age": 1}


def test_vertices_that_exist_by_choice(db: hedgerow.Database) -> None:
    db.add_vertices([1, 2], properties={"name": ["Ann", "Bob"], "age": [30, 31]})
    skipped = db.add_vertices([1, 3], properties={"age": [0, 5]}, on_conflict="skip")
    assert (skipped, skipped.new, skipped.existing) == (1, 1, 1)
    assert db.snapshot().vertex_properties(1) == {"name": "Ann", "age": 30}
    replaced = db.add_vertices([1], properties={"age": [50]}, on_conflict="replace")
    assert (replaced, replaced.new, replaced.existing) == (1, None, None)
    assert db.snapshot().vertex_properties(1) == {"age": 50}
    with pytest.raises(hedgerow.DataError, match=r"keys\[1\]: vertex 2 exists"):
        db.add_vertices([7, 2, 8], on_conflict="raise", batch=1)
    assert not db.snapshot().has_vertex(7)
    assert db.add_vertices([7, 8], on_conflict="raise").new == 2
    with pytest.raises(hedgerow.DataError, match='on_conflict must be "merge"'):
        db.add_vertices([1], on_conflict="ignore")  # type: ignore[arg-type]
    with db.write() as tx:
        tx.insert_vertex(9)
        assert tx.add_vertices([9, 10], properties={"age": [1, 2]}).existing == 1
    assert db.snapshot().vertex_properties(9) == {"age": 1}
    with pytest.raises(hedgerow.DataError, match=r"keys\[0\]: vertex 9 exists"):
        with db.write() as tx:
            tx.add_vertices([9], on_conflict="raise")


def test_rows_of_one_vertex_are_counted(db: hedgerow.Database) -> None:
    added = db.add_vertices([1, 2, 1], properties={"age": [1, 2, 3]}, duplicates="last")
    assert (added, added.repeated, added.new) == (2, 1, None)
    assert db.snapshot().vertex_properties(1) == {"age": 3}


def test_edges_that_exist_by_choice() -> None:
    with hedgerow.open(weighted=True) as db:
        db.put_edge(1, 2, 0.5, how="school")
        merged = db.add_edges([1, 1], [2, 3], on_conflict="merge", properties={"since": [2001, 2002]})
        assert (merged, merged.new, merged.existing) == (2, 1, 1)
        assert db.snapshot().edge_properties(1, 2) == {"weight": 0.5, "how": "school", "since": 2001}
        assert db.add_edges([1], [2], [0.75], on_conflict="merge").existing == 1
        assert db.snapshot().weight(1, 2) == 0.75
        skipped = db.add_edges([1, 4, 4], [2, 5, 5], [9.0, 8.0, 7.0], on_conflict="skip")
        assert (skipped, skipped.new, skipped.existing, skipped.repeated) == (1, 1, 1, 1)
        assert (db.snapshot().weight(1, 2), db.snapshot().weight(4, 5)) == (0.75, 8.0)
        with pytest.raises(hedgerow.DataError, match="row 1: the edge from 1 to 2 exists"):
            db.add_edges([8, 1], [9, 2], on_conflict="raise", batch=1)
        assert not db.snapshot().has_vertex(8)
        assert db.add_edges([8], [9], on_conflict="raise", label="new").new == 1
        db.add_edges([1], [2])
        assert db.snapshot().edge_properties(1, 2) == {"weight": 1.0}


def test_a_vertex_of_another_kind_is_named_as_programs_name_it(db: hedgerow.Database) -> None:
    db.define_kind("page")
    db.define_kind("user", "str")
    db.add_vertices([7], kind="page")
    with pytest.raises(hedgerow.DataError, match=r'keys\[0\]: vertex \("page", 7\) exists'):
        db.add_vertices([7], kind="page", on_conflict="raise")
    with pytest.raises(hedgerow.DataError, match=r'keys\[1\]: vertex \("user", "ann"\) comes twice'):
        db.add_vertices([("user", "ann"), ("user", "ann")])
    assert db.add_vertices([("user", "ann"), ("user", "bob")], properties={"age": [3, 4]}) == 2
    assert db.snapshot().vertex_properties(("user", "bob")) == {"age": 4}
    with pytest.raises(hedgerow.DataError, match=r'keys\[1\]: \("page", 8\) is not of kind user'):
        db.add_vertices([("user", "ann"), ("page", 8)])
    with pytest.raises(hedgerow.DataError, match=r'keys\[0\]: \("page", 8\) is not of kind user'):
        db.add_vertices([("page", 8)], kind="user")
