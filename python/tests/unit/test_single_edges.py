"""`Database.put_edge` and `Database.insert_edge`: the arguments of a transaction's, in a transaction of its own."""

import inspect

import pytest

import hedgerow


@pytest.mark.parametrize("name", ["put_edge", "insert_edge", "remove_edge"])
def test_calls_of_a_database_have_the_signature_of_a_transaction(name: str) -> None:
    of_database = inspect.signature(getattr(hedgerow.Database, name))
    assert of_database == inspect.signature(getattr(hedgerow.Transaction, name))


def test_an_edge_of_a_label(db: hedgerow.Database) -> None:
    assert db.insert_edge(1, 2, label="knows", since=2001)
    assert not db.insert_edge(1, 2, label="knows", since=2002)
    g = db.snapshot()
    assert g.edge_properties(1, 2, label="knows") == {"since": 2001}
    assert not g.has_edge(1, 2, label="")
    assert db.put_edge(1, 2) and not db.put_edge(1, 2)
    assert not db.put_edge(1, 2, label="knows", properties={"how": "school"})
    assert db.snapshot().edge_properties(1, 2, label="knows") == {"how": "school"}
    assert db.remove_edge(1, 2, label="knows")


def test_ranks_and_weights(db: hedgerow.Database) -> None:
    db.define_label("calls", multi=True)
    assert db.put_edge(1, 2, label="calls", rank=7) and db.insert_edge(1, 2, label="calls", rank=9, seconds=5)
    assert db.snapshot().neighbors(1, label="calls", ranks=True) == [(2, 7), (2, 9)]
    assert db.put_edge(1, 2, 0.5, label="calls", rank=11)
    assert db.snapshot().edge_properties(1, 2, label="calls", rank=11) == {"weight": 0.5}
    with pytest.raises(hedgerow.NotSupportedError, match="no weights"):
        db.put_edge(1, 2, 0.5)
    with hedgerow.open(weighted=True) as roads:
        assert roads.insert_edge(1, 2, 0.5) and roads.put_edge(2, 3, 2.5) and roads.insert_edge(3, 4)
        g = roads.snapshot()
        assert (g.weight(1, 2), g.weight(2, 3), g.weight(3, 4)) == (0.5, 2.5, 1.0)


def test_ends_of_a_label_with_kinds(db: hedgerow.Database) -> None:
    db.define_kind("user", "str")
    db.define_kind("page")
    db.define_label("edited", src="user", dst="page")
    assert db.put_edge("ann", 7, label="edited") and db.insert_edge("bob", ("page", 7), label="edited")
    assert db.snapshot().neighbors(("page", 7), "in") == [("user", "ann"), ("user", "bob")]


def test_a_property_that_is_given_twice_is_refused(db: hedgerow.Database) -> None:
    with pytest.raises(hedgerow.DataError, match="property since is given twice"):
        db.put_edge(1, 2, label="knows", properties={"since": 2001}, since=2002)
    with pytest.raises(hedgerow.DataError, match="property weight is given twice"):
        db.put_edge(1, 2, 0.5, label="knows", properties={"weight": 0.7})
    with db.write() as tx, pytest.raises(hedgerow.DataError, match="property age is given twice"):
        tx.add_vertex(1, properties={"age": 30}, age=31)
    assert db.snapshot().vertex_count == 0
