"""Answers that end at a limit and say so, `find`, and `remove_edges_where`."""

from __future__ import annotations

import random
from datetime import datetime, timezone

import hedgerow
import numpy as np
import pytest


@pytest.fixture
def people() -> hedgerow.Database:
    db = hedgerow.open()
    db.define_label("saw", multi=True, properties={"ms": "i64"})
    db.define_label("likes", properties={"stars": "f64"})
    return db


def test_cycles_end_at_their_limit_and_say_so() -> None:
    db = hedgerow.open()
    # The graph has twenty triangles at vertex 0.
    for i in range(20):
        db.add_edges([0, 2 * i + 1, 2 * i + 2], [2 * i + 1, 2 * i + 2, 0])
    g = db.snapshot()
    few = g.run("cycles", source=0, limit=7)
    assert (len(few), few.more, few.count) == (7, True, None)
    counted = g.run("cycles", source=0, limit=7, count=True)
    assert (len(counted), counted.more, counted.count) == (7, True, 20)
    assert [path.tolist() for path in counted] == [path.tolist() for path in few]
    all_of_them = g.run("cycles", source=0, limit=20)
    assert (len(all_of_them), all_of_them.more, all_of_them.count) == (20, False, 20)
    with pytest.raises(TypeError, match="count must be a bool, found int"):
        g.run("cycles", source=0, count=1)
    paths = g.run("kpaths", source=1, target=4, k=1)
    assert (len(paths), paths.more, paths.count) == (1, False, 1)


def test_the_first_neighbors_are_those_of_the_list() -> None:
    rng = random.Random(5)
    for directed in (True, False):
        db = hedgerow.open(directed=directed)
        db.define_label("saw", multi=True, properties={"ms": "i64", "text": "utf8"})
        # The vertex ids ascend in another order than the keys.
        db.add_vertices(rng.sample(range(40), 40))
        for label in ("", "saw"):
            many = 120
            src, dst = ([rng.choice([0, rng.randrange(40)]) for _ in range(many)] for _ in range(2))
            ranks = {"ranks": [rng.randrange(4) for _ in range(many)], "properties": {"ms": list(range(many)), "text": ["x"] * many}}
            db.add_edges(src, dst, label=label, **(ranks if label else {}))
        g = db.snapshot()
        for _ in range(200):
            how = {
                "direction": rng.choice(["out", "in", "both"]),
                "label": rng.choice([None, "", "saw", ["", "saw"]]),
                "labels": rng.random() < 0.5,
                "ranks": rng.random() < 0.5,
                "properties": rng.random() < 0.5,
                "rank_range": rng.choice([None, (1, 3)]),
            }
            key, limit = rng.randrange(40), rng.choice([0, 1, 3, 50, 1000])
            full = g.neighbors(key, **how)
            first = g.neighbors(key, limit=limit, **how)
            assert first == full[:limit], how
            assert type(first) is hedgerow.Limited and type(full) is list
            assert first.more == (len(full) > limit), how
    with pytest.raises(hedgerow.IntegrityError, match="no vertex 77"):
        g.neighbors(77, limit=1)
    with pytest.raises(hedgerow.DataError, match="limit must be"):
        g.neighbors(0, limit=-1)


def test_newest_neighbors_need_ranks_and_say_whether_there_are_more(people: hedgerow.Database) -> None:
    people.add_edges([0, 0, 0], [1, 2, 3], label="saw", ranks=[5, 7, 6])
    people.add_edges([0], [1], label="likes")
    g = people.snapshot()
    for limit, more in ((1, True), (2, True), (3, False), (4, False)):
        newest = g.newest_neighbors(0, "saw", limit)
        assert (newest, newest.more) == ([2, 3, 1][:limit], more)
    with pytest.raises(hedgerow.DataError, match='label "likes" is not multi.*neighbors\\(..., label="likes", limit=2\\)'):
        g.newest_neighbors(0, "likes", 2)


def test_a_part_of_a_neighborhood_comes_in_the_order_of_hops(people: hedgerow.Database) -> None:
    people.add_edges([0] * 50 + list(range(1, 51)), list(range(1, 51)) + list(range(51, 101)), label="likes")
    g = people.snapshot()
    whole = g.k_hop([0], 2, label="likes").to_dict()
    assert not g.k_hop([0], 2, label="likes", limit=101, partial=True).more
    for limit in (0, 1, 30, 51, 60, 100):
        part = g.k_hop([0], 2, label="likes", limit=limit, partial=True)
        assert len(part) == limit and part.more
        assert part.values.tolist() == sorted(whole.values())[:limit]
        assert all(whole[key] == hops for key, hops in part)
    with pytest.raises(hedgerow.DataError, match="100"):
        g.k_hop([0], 2, label="likes", limit=100)
    with pytest.raises(hedgerow.DataError, match="partial=True needs limit="):
        g.k_hop([0], 2, partial=True)


def test_vertices_are_found_by_their_properties() -> None:
    db = hedgerow.open()
    db.define_kind("page", keys="str")
    when = datetime(2020, 1, 2, tzinfo=timezone.utc)
    names = ["Ann", "ann", None, "Ann", ""]
    db.add_vertices([5, 3, 9, 1, 2], properties={"name": names, "score": [1.0, 2.0, 1.0, None, 0.0], "at": [when, None, None, when, None]})
    db.add_vertices(["a", "b"], kind="page", properties={"name": ["Ann", "Bob"]})
    g = db.snapshot()
    assert g.find(name="Ann") == [1, 5] and g.find(name="") == [2] and g.find(name=None) == [9]
    assert g.find("page", name="Ann") == [("page", "a")]
    assert g.find(name="Ann", score=1) == [5] and g.find(properties={"at": when}, name="Ann") == [1, 5]
    assert g.find(score=float("nan")) == []
    for limit, found, more in ((0, [], True), (1, [1], True), (2, [1, 5], False)):
        first = g.find(name="Ann", limit=limit)
        assert (first, first.more) == (found, more)
    # A result of `find` is a key for other reads.
    assert g.neighbors(g.find("page", name="Ann")[0]) == []
    for call, kind, message in (
        (lambda: g.find(nome="Ann"), hedgerow.DataError, 'vertices have no property "nome": did you mean "name"'),
        (lambda: g.find("pages", name="Ann"), hedgerow.ProgrammingError, 'did you mean "page"'),
        (lambda: g.find("page", score=1), hedgerow.DataError, 'vertices of kind page have no property "score"'),
        (lambda: g.find(name=7), hedgerow.DataError, "property name of vertices has the type utf8"),
        (lambda: g.find(), hedgerow.DataError, "find needs a property"),
        (lambda: g.find(properties={"name": "Ann"}, name="Ann"), hedgerow.DataError, "name is given twice"),
    ):
        with pytest.raises(kind, match=message):
            call()
    db.set_vertex_properties([5], {"name": ["Eve"]})
    assert g.find(name="Ann") == [1, 5] and db.snapshot().find(name="Ann") == [1]


def test_edges_are_removed_by_a_condition(people: hedgerow.Database) -> None:
    rng = np.random.default_rng(3)
    src, dst, at = (rng.integers(0, most, 3_000) for most in (20, 50, 1_000))
    for batch in (1_000_000, 97, 1):
        people.add_edges(src, dst, label="saw", ranks=at, properties={"ms": at % 10})
        before = {(s, d, t) for s, d, t in zip(src.tolist(), dst.tolist(), at.tolist(), strict=True)}
        due = {edge for edge in before if edge[2] < 500 and edge[2] % 10 == 3}
        removed = people.remove_edges_where("saw", rank_range=(None, 500), where=("ms", "==", 3), batch=batch)
        assert removed == len(due) > 100
        left = people.snapshot().edge_table("saw")
        assert set(zip(left.src.tolist(), left.dst.tolist(), left.ranks.tolist(), strict=True)) == before - due
        assert people.remove_edges_where("saw", rank_range=(None, 500), where=("ms", "==", 3), batch=batch) == 0
    people.add_edges([1, 1], [2, 3], label="likes", properties={"stars": [1.0, 5.0]})
    assert people.remove_edges_where(["likes", "saw"], where=("stars", "<", 2)) == 1
    assert people.snapshot().neighbors(1, label="likes") == [3]
    assert people.remove_edges_where("saw", rank_range=(None, None)) == len(before - due)


def test_removals_that_would_be_silent_are_refused(people: hedgerow.Database) -> None:
    people.add_edges([1], [2], label="saw", ranks=[4])
    with people.write() as tx:
        for call in (people.remove_edges, tx.remove_edges):
            with pytest.raises(hedgerow.ProgrammingError, match='did you mean "saw"'):
                call([1], [2], label="sew")
            with pytest.raises(hedgerow.ProgrammingError, match='did you mean "saw"'):
                call([], [], label="sew")
            with pytest.raises(hedgerow.DataError, match="name its edges by ranks="):
                call([1], [2], label="saw")
    with pytest.raises(hedgerow.ProgrammingError, match='did you mean "saw"'):
        people.remove_edges_where("sew", rank_range=(0, 9))
    with pytest.raises(hedgerow.DataError, match="needs a condition"):
        people.remove_edges_where("saw")
    with pytest.raises(hedgerow.DataError, match="second"):
        people.remove_edges_where("saw", where=("second", "==", 1))
    assert people.snapshot().edge_count == 1
