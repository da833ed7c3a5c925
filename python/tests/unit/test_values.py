"""Values of every kind at every call that takes one: the table "Which values are stored" of the guide."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow

pd = pytest.importorskip("pandas", reason="pandas cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="PyArrow cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")

GUIDE = Path(__file__).parents[3] / "docs/guide/python.md"
AT = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    A = "a"


# The values that are stored, by their row in the table, and what is read of them.
STORED: dict[str, list[tuple[Any, Any]]] = {
    "`None`, `pd.NA`, `NaT` of pandas and NumPy, `np.ma.masked`": [
        (None, None),
        (pd.NA, None),
        (pd.NaT, None),
        (np.datetime64("NaT"), None),
        (np.ma.masked, None),
    ],
    "`bool`, `np.bool_`": [(True, True), (np.bool_(False), False)],
    "`int`, ints of NumPy": [(-(2**63), -(2**63)), (np.int8(-1), -1), (np.uint64(2**63 - 1), 2**63 - 1)],
    "`float`, `np.float16` to `np.float64`, also NaN": [
        (0.1, 0.1),
        (math.nan, math.nan),
        (np.float16(0.5), 0.5),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.float64(0.1), 0.1),
    ],
    "`str`, `bytes`, `np.str_`, `np.bytes_`": [("é", "é"), (b"\0", b"\0"), (np.str_("a"), "a"), (np.bytes_(b"a"), b"a")],
    "`datetime` and `pd.Timestamp` with a time zone": [(AT, AT), (pd.Timestamp(AT), AT), (AT.astimezone(dt.timezone(dt.timedelta(hours=3))), AT)],
    "`np.datetime64` of any unit": [(np.datetime64("2024-02-29T12"), AT), (np.datetime64("2024-03", "M"), dt.datetime(2024, 3, 1, tzinfo=dt.UTC))],
    "`enum.IntEnum`, `enum.StrEnum`": [(Level.HIGH, 3), (Word.A, "a")],
}
# The values that are refused, and the end of the message.
REFUSED: dict[str, list[tuple[Any, str]]] = {
    "`datetime` and `pd.Timestamp` without a time zone": [(AT.replace(tzinfo=None), "needs a time zone"), (pd.Timestamp("2024-02-29"), "needs a time zone")],
    "times finer than microseconds": [(np.datetime64(1, "ns"), "fractions of a microsecond"), (pd.Timestamp(1, tz="UTC"), "fractions of a microsecond")],
    "`datetime.date`": [(dt.date(2024, 2, 29), "found date: make it a datetime with a time zone, or a str by isoformat()")],
    "`datetime.time`, `timedelta`, `np.timedelta64`, `pd.Period`": [
        (value, f"found {type(value).__name__}: make it a whole number of one unit, or a str")
        for value in (dt.time(1), dt.timedelta(1), np.timedelta64(1, "s"), pd.Timedelta(1), pd.Period("2024-01"))
    ],
    "`decimal.Decimal`": [(decimal.Decimal("0.1"), "found Decimal: make it a str, which has all digits, or a float, which is rounded")],
    "`uuid.UUID`": [(uuid.UUID(int=1), "found UUID: make it a str, or take its .bytes")],
    "other `enum.Enum`": [(Color.RED, "found Color: take its .value or its .name")],
    "ints beyond 64 bits": [(2**63, "is out of range"), (-(2**63) - 1, "is out of range"), (np.uint64(2**63), "is out of range")],
    "`np.longdouble`, `complex`": [(np.longdouble(1), "make it floats"), (1j, "found complex: make it floats"), (np.complex64(1), "make it floats")],
    "`bytearray`": [(bytearray(b"a"), "found bytearray: make it bytes")],
    "`list`, `tuple`, `set`, `dict`, arrays": [
        (value, f"found {type(value).__name__}: divide it among several properties or edges, or make it a str, such as JSON")
        for value in ([1], (1,), {1}, {"a": 1}, np.array([1]))
    ],
    "other objects": [(object(), "a value is None, a bool, int, float, str, bytes or datetime, found object")],
}


def of_edge(db: hedgerow.Database) -> Any:
    return (db.snapshot().edge_properties(1, 2, label="e") or {}).get("p")


def of_vertex(db: hedgerow.Database) -> Any:
    return (db.snapshot().vertex_properties(1) or {}).get("p")


def written(write: Callable[[hedgerow.Transaction], Any]) -> Callable[[hedgerow.Database], Any]:
    def commit(db: hedgerow.Database) -> None:
        with db.write() as tx:
            write(tx)

    return commit


# The calls that take a value, and the call that reads it.
CALLS: dict[str, tuple[Callable[[hedgerow.Database, Any], Any], Callable[[hedgerow.Database], Any]]] = {
    "put_edge": (lambda db, value: db.put_edge(1, 2, label="e", p=value), of_edge),
    "put_edge, a mapping": (lambda db, value: db.put_edge(1, 2, label="e", properties={"p": value}), of_edge),
    "insert_edge": (lambda db, value: db.insert_edge(1, 2, label="e", p=value), of_edge),
    "tx.add_edge": (lambda db, value: written(lambda tx: tx.add_edge(1, 2, label="e", p=value))(db), of_edge),
    "tx.put_edge": (lambda db, value: written(lambda tx: tx.put_edge(1, 2, label="e", p=value))(db), of_edge),
    "tx.update_edge": (
        lambda db, value: written(lambda tx: (tx.put_edge(1, 2, label="e"), tx.update_edge(1, 2, label="e", p=value)))(db),
        of_edge,
    ),
    "tx.add_vertex": (lambda db, value: written(lambda tx: tx.add_vertex(1, p=value))(db), of_vertex),
    "tx.update_vertex": (lambda db, value: written(lambda tx: (tx.add_vertex(1), tx.update_vertex(1, p=value)))(db), of_vertex),
    "add_edges, a column": (lambda db, value: db.add_edges([1], [2], label="e", properties={"p": [value]}), of_edge),
    "tx.add_edges, a column": (
        lambda db, value: written(lambda tx: tx.add_edges([1], [2], label="e", properties={"p": [value]}))(db),
        of_edge,
    ),
    "add_edges, an array": (lambda db, value: db.add_edges([1], [2], label="e", properties={"p": objects(value)}), of_edge),
    "add_edges, pandas": (
        lambda db, value: db.add_edges([1], [2], label="e", properties=pd.DataFrame({"p": pd.Series([value], dtype=object)})),
        of_edge,
    ),
    "add_vertices, a column": (lambda db, value: db.add_vertices([1], properties={"p": [value]}), of_vertex),
    "set_vertex_properties": (
        lambda db, value: (db.add_vertices([1]), db.set_vertex_properties([1], {"p": [value]})),
        of_vertex,
    ),
    "update_edges": (
        lambda db, value: (db.add_edges([1], [2], label="e"), db.update_edges([1], [2], label="e", properties={"p": [value]})),
        of_edge,
    ),
}
# A single value for all rows. A sequence is a column here.
ONE = {
    "add_edges, one value": (lambda db, value: db.add_edges([1], [2], label="e", properties={"p": value}), of_edge),
    "add_vertices, one value": (lambda db, value: db.add_vertices([1], properties={"p": value}), of_vertex),
}


def objects(value: Any) -> Any:
    array = np.empty(1, object)
    array[0] = value
    return array


def is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, np.ndarray))


@pytest.mark.parametrize("call", [*CALLS, *ONE])
def test_every_call_stores_the_same_values(call: str) -> None:
    write, read = {**CALLS, **ONE}[call]
    for row, values in STORED.items():
        for value, expected in values:
            with hedgerow.open() as db:
                db.define_label("e")
                if expected is None:
                    # A column without any value needs a property.
                    db.define_property("p", int, label="e" if read is of_edge else None)
                write(db, value)
                found = read(db)
                is_nan_of_pandas = call == "add_edges, pandas" and expected != expected
                assert repr(found) == repr(expected) or is_nan_of_pandas, (row, value)


@pytest.mark.parametrize("call", [*CALLS, *ONE])
def test_every_call_refuses_the_same_values(call: str) -> None:
    write, read = {**CALLS, **ONE}[call]
    for row, values in REFUSED.items():
        for value, message in values:
            if call in ONE and is_sequence(value):
                continue
            with hedgerow.open() as db:
                db.define_label("e")
                with pytest.raises((TypeError, hedgerow.DataError), match=re.escape(message)) as raised:
                    write(db, value)
                assert re.search(r"\bp\b", str(raised.value)), (row, str(raised.value))
                assert read(db) is None


def test_conditions_take_the_same_values() -> None:
    with hedgerow.open() as db:
        types = {"bool": True, "int": 1, "float": 0.5, "str": "a", "bytes": b"a", "datetime": AT}
        db.add_edges([1], [2], label="e", properties=types)
        g = db.snapshot()
        for values in STORED.values():
            for value, expected in values:
                if expected is None or expected != expected:
                    with pytest.raises(hedgerow.DataError, match="never true|NaN"):
                        g.neighbors(1, label="e", where=("float", "==", value))
                else:
                    name = type(expected).__name__
                    assert g.neighbors(1, label="e", where=("or", (name, "==", value), (name, "!=", value))) == [2]
        # A condition stores nothing: a time without a zone is in UTC, and a date its midnight.
        taken = ("`datetime` and `pd.Timestamp` without a time zone", "`datetime.date`")
        for row, refused in REFUSED.items():
            for value, message in refused:
                if row in taken:
                    assert g.neighbors(1, label="e", where=("datetime", "<=", value)) in ([2], [])
                elif not is_sequence(value):
                    with pytest.raises((TypeError, hedgerow.DataError), match=re.escape(message)):
                        g.neighbors(1, label="e", where=("int", "==", value))


def test_tables_of_other_packages_refuse_the_same_values(db: hedgerow.Database) -> None:
    columns = {
        "Date32": pa.array([dt.date(2024, 2, 29)]),
        "Decimal128": pa.array([decimal.Decimal("0.1")]),
        "Duration": pa.array([dt.timedelta(1)]),
        "Time64": pa.array([dt.time(1)]),
        "List": pa.array([[1]]),
        "extension type arrow.uuid": pa.array([uuid.UUID(int=1)], pa.uuid()),
    }
    for kind, column in columns.items():
        table = pa.table({"src": [1], "dst": [2], "p": column})
        with pytest.raises(hedgerow.DataError, match=f"column p: no property has the .*{kind}.*: .*t"):
            db.add_edges(table, label="e")
        with pytest.raises(hedgerow.DataError, match="column p: no property has"):
            db.add_vertices(pa.table({"id": [1], "p": column}), key="id")
    db.add_edges(pa.table({"src": [1], "dst": [2], "p": pa.array([np.float16(0.5)])}), label="e")
    assert of_edge(db) == 0.5


def test_the_guide_has_these_values() -> None:
    text = GUIDE.read_text()
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", text[text.index("Which values are stored") :], re.MULTILINE)
    table = {values: outcome for values, outcome, *_ in rows}
    for row in STORED:
        assert row in table and "refused" not in table[row], row
    for row in REFUSED:
        assert row in table and "refused" in table[row], row
