"""What errors say of a wrong argument: its name, what was found, what was expected."""

from collections.abc import Callable
from typing import Any

import pytest

import hedgerow

Call = Callable[[hedgerow.Database], Any]


def in_transaction(call: Callable[[hedgerow.Transaction], None]) -> Call:
    def run(db: hedgerow.Database) -> None:
        with db.write() as tx:
            call(tx)

    return run


CALLS: list[tuple[Call, type[Exception], str]] = [
    (
        in_transaction(lambda tx: tx.add_edge(1, 2, 0.5)),  # type: ignore[arg-type]
        TypeError,
        "label must be a str, found 0.5 (float); a weight is given as weight=",
    ),
    (in_transaction(lambda tx: tx.put_edge(1, 2, label=5)), TypeError, "label must be a str, found 5 (int)"),  # type: ignore[arg-type]
    (in_transaction(lambda tx: tx.insert_edge(1, 2, label=b"x")), TypeError, "label must be a str, found b'x' (bytes)"),  # type: ignore[arg-type]
    (lambda db: db.insert_edge(True, 2), TypeError, "a vertex id of this graph is an int, found bool"),
    (lambda db: db.insert_edge(1, 2, label="m", rank=True), TypeError, "a rank is an int, found bool"),
    (
        lambda db: db.add_edges([1], [2], ranks=[1]),
        hedgerow.DataError,
        "the default label is not multi: its edges have no rank",
    ),
    (
        lambda db: db.add_edges([1], [2], label="k", properties={5: [2]}),  # type: ignore[dict-item]
        TypeError,
        "properties: a name must be a str, found 5 (int)",
    ),
    (
        lambda db: db.snapshot().edge_table("k", properties="d"),
        TypeError,
        "properties must be a sequence of str, found 'd' (str)",
    ),
    (
        lambda db: db.snapshot().edge_table("k", properties=[1]),  # type: ignore[list-item]
        TypeError,
        "properties must be a sequence of str, found [1] (list)",
    ),
    (lambda _: hedgerow.open(directed="yes"), TypeError, "directed must be True or False, found 'yes' (str)"),  # type: ignore[arg-type]
    (lambda _: hedgerow.open(weighted=1), TypeError, "weighted must be True or False, found 1 (int)"),  # type: ignore[arg-type]
    (
        lambda _: hedgerow.open(keys=int),  # type: ignore[arg-type]
        TypeError,
        'keys must be "u64", "str" or "dense", found <class \'int\'> (type)',
    ),
    (
        lambda _: hedgerow.open(keys="int"),  # type: ignore[arg-type]
        hedgerow.DataError,
        'keys must be "u64", "str" or "dense", found \'int\' (str)',
    ),
    (
        lambda _: hedgerow.open(keys="x" * 1000),  # type: ignore[arg-type]
        hedgerow.DataError,
        'keys must be "u64", "str" or "dense", found str',
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), CALLS)
def test_a_wrong_argument(db: hedgerow.Database, call: Call, kind: type[Exception], message: str) -> None:
    db.define_label("k")
    with pytest.raises(kind) as raised:
        call(db)
    assert str(raised.value) == message


def test_a_store_that_was_created_otherwise(tmp_path: Any) -> None:
    hedgerow.open(tmp_path / "s", directed=False).close()
    with pytest.raises(hedgerow.ProgrammingError, match="^the graph was created undirected: it cannot be opened directed$"):
        hedgerow.open(tmp_path / "s", directed=True)
