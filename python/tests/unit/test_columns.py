"""Columns and scalars of NumPy, pandas, Polars and PyArrow: what they become, and what is refused instead of changed."""

import array
import collections
import decimal
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

import hedgerow

pd = pytest.importorskip("pandas", reason="pandas cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be installed here")

BIG = 2**53 + 1
DAY = datetime(2020, 1, 1)
FAR = "is out of range: times are 64-bit microseconds"
FINE = "has fractions of a microsecond"


class Capsule:
    """A column that offers nothing but Arrow's capsules."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.column.__arrow_c_array__(requested_schema)


class Stream:
    """As `Capsule`, in chunks."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.column.__arrow_c_stream__(requested_schema)


TAKEN: dict[str, tuple[Callable[[], Any], str, list[Any]]] = {
    "masked junk": (lambda: np.ma.array([2**64 - 1, 3], mask=[1, 0], dtype="u8"), "i64", [None, 3]),
    "masked objects": (lambda: np.ma.array([object(), 3], mask=[1, 0], dtype=object), "i64", [None, 3]),
    "masked times": (lambda: np.ma.array(["500000", "2020"], mask=[1, 0], dtype="M8[Y]"), "timestamp", [None, DAY]),
    "half floats": (lambda: np.array([0.5, np.nan], np.float16), "f64", [0.5, np.nan]),
    "25 seconds": (lambda: np.array([2], "i8").view("M8[25s]"), "timestamp", [datetime(1970, 1, 1, 0, 0, 50)]),
    "500 ns": (lambda: np.array([4], "i8").view("M8[500ns]"), "timestamp", [datetime(1970, 1, 1, 0, 0, 0, 2)]),
    "months": (
        lambda: np.array(["1969-12", "2024-03", "1600-02", "NaT"], "M8[M]"),
        "timestamp",
        [datetime(1969, 12, 1), datetime(2024, 3, 1), datetime(1600, 2, 1), None],
    ),
    "big-endian hours": (lambda: np.array(["2020-01-01", "NaT"], ">M8[h]"), "timestamp", [DAY, None]),
    "ints and floats": (lambda: [1, 0.5, None], "f64", [1.0, 0.5, None]),
    "scalars": (lambda: [np.int8(1), 2, np.uint64(3)], "i64", [1, 2, 3]),
    "ways to say nothing": (
        lambda: [np.datetime64("2020-01-01"), None, np.datetime64("NaT"), pd.NaT, pd.NA, np.ma.masked],
        "timestamp",
        [DAY, *[None] * 5],
    ),
    "array.array": (lambda: array.array("q", [BIG, 2]), "i64", [BIG, 2]),
    "deque": (lambda: collections.deque([1, None]), "i64", [1, None]),
    "view of keys": (lambda: {1: 1, 2: 2}.keys(), "i64", [1, 2]),
    "pandas boolean": (lambda: pd.Series([True, None], dtype="boolean"), "bool", [True, None]),
    "pandas Float64": (lambda: pd.Series([1.5, None], dtype="Float64"), "f64", [1.5, None]),
    "pandas float64": (lambda: pd.Series([1.5, None]), "f64", [1.5, np.nan]),
    "pandas floats as objects": (lambda: pd.Series([1.5, np.nan, None], dtype=object), "f64", [1.5, np.nan, None]),
    "pandas ints and NaN": (lambda: pd.Series([BIG, np.nan, pd.NA], dtype=object), "i64", [BIG, None, None]),
    "pandas text and NaN": (lambda: pd.Series(["a", np.nan], dtype=object), "utf8", ["a", None]),
    "pandas categories": (lambda: pd.Series([BIG, None, 3], dtype="category"), "i64", [BIG, None, 3]),
    "pandas sparse": (lambda: pd.Series(pd.arrays.SparseArray([0.5, np.nan])), "f64", [0.5, np.nan]),
    "pandas zoned": (
        lambda: pd.Series(pd.to_datetime(["2020-01-01", None], utc=True)).dt.tz_convert("Asia/Tokyo"),
        "timestamp",
        [DAY, None],
    ),
    "Polars categories": (lambda: pl.Series(["a", None], dtype=pl.Categorical), "utf8", ["a", None]),
    "Polars zoned": (
        lambda: pl.Series([DAY, None]).cast(pl.Datetime("ns", "Europe/Berlin")),
        "timestamp",
        [DAY, None],
    ),
    "Arrow fixed": (lambda: pa.array([b"ab", None], pa.binary(2)), "bytes", [b"ab", None]),
    "Arrow half floats": (lambda: pa.array([np.float16(0.5), None], pa.float16()), "f64", [0.5, None]),
    "Arrow string views": (lambda: pa.array(["a", None], pa.string_view()), "utf8", ["a", None]),
    "Arrow chunks of dictionaries": (
        lambda: pa.chunked_array([pa.array(["a", None]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]),
        "utf8",
        ["a", None, "b"],
    ),
    "capsules": (lambda: Capsule(pa.array([BIG, None])), "i64", [BIG, None]),
    "capsules of chunks": (lambda: Stream(pa.chunked_array([[BIG], [None]])), "i64", [BIG, None]),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(db: hedgerow.Database, name: str) -> None:
    make, kind, expected = TAKEN[name]
    rows = range(len(expected))
    assert db.add_edges(rows, rows, label="k", properties={"p": make()}) == len(rows)
    assert db.schema().labels["k"].properties == {"p": kind}
    found = db.snapshot().edge_table("k").properties["p"].tolist()
    assert list(map(repr, found)) == list(map(repr, expected))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "year 500000": (lambda: np.array(["2020", "500000"], "M8[D]"), rf"\[1\] {FAR}"),
    "year 9999999": (lambda: np.array(["2020", "9999999"], "M8[Y]"), rf"\[1\] {FAR}"),
    "nanoseconds": (lambda: np.array([1000, 1], "i8").view("M8[ns]"), rf"\[1\] {FINE}"),
    "nanoseconds of pandas": (lambda: pd.Series(pd.to_datetime(["2020", "2020-01-01T00:00:00.000000001"], format="ISO8601")), rf"\[1\] {FINE}"),
    "a nanosecond of a Timestamp": (lambda: [None, pd.Timestamp(1, tz="UTC")], rf"\[1\] {FINE}"),
    "the least int of Arrow": (lambda: pa.array([0, -(2**63)], pa.timestamp("us")), r"element 1 is -2\*\*63 us"),
    "spans": (lambda: np.array([0, 1], "m8[s]"), r"timedelta64"),
    "spans among objects": (lambda: [None, np.timedelta64(5, "ns")], r"\[1\]: .* found timedelta64"),
    "spans of Arrow": (lambda: pa.array([None, timedelta(1)]), r"duration"),
    "spans of Polars": (lambda: pl.Series([None, timedelta(1)]), r"\[1\]: .* found timedelta"),
    "records": (lambda: np.zeros(2, [("a", int), ("b", int)]), "found .*'a'"),
    "a record": (lambda: [None, np.void(b"ab")], r"\[1\]: .* found void"),
    "long doubles": (lambda: np.zeros(2, np.longdouble), "found float128|found float96|found longdouble"),
    "a long double": (lambda: [None, np.longdouble(1)], r"\[1\]: .* found longdouble"),
    "a complex": (lambda: [None, np.complex64(1)], r"\[1\]: .* found complex"),
    "decimals": (lambda: pa.array([None, decimal.Decimal("1.5")]), "decimal128"),
    "a decimal": (lambda: [None, decimal.Decimal(1)], r"\[1\]: .* found Decimal"),
    "Polars dates": (lambda: pl.Series([DAY.date(), None]), "no property has dates: cast them to times with a time zone"),
    "Arrow dates": (lambda: pa.array([DAY.date(), None], pa.date64()), "no property has dates: cast them to times with a time zone"),
    "dates of pandas by Arrow": (lambda: pd.Series([DAY.date(), None], dtype="date32[pyarrow]"), "no property has dates"),
    "a date": (lambda: [None, date(2020, 1, 1)], r"\[1\]: .* found date"),
    "no zone": (lambda: [None, DAY], r"\[1\]: a datetime needs a time zone"),
    "an array in a list": (lambda: [None, np.array(1)], r"\[1\]: .* found ndarray"),
    "a list in a column of Polars": (lambda: pl.Series([None, [1]]), r"\[1\]: .* found list"),
    "periods": (lambda: pd.Series(pd.period_range("2020", periods=2, freq="M")), r"\[0\]: .* found Period"),
    "bools among ints": (lambda: [1, True], r"\[1\] is of type bool, others are of type i64"),
    "an int that no float equals": (lambda: [0.5, BIG], rf"\[1\] is {BIG}: a float holds ints exactly"),
    "a large int": (lambda: pl.Series([None, 2**63], dtype=pl.UInt64), r"\[1\] is 9223372036854775808: ints"),
    "128 bits": (lambda: pl.Series([None, 2**100], dtype=pl.Int128), r"\[1\]: .* is out of range"),
    "surrogates": (lambda: ["a", "\ud800"], r"\[1\]: text must not hold surrogates"),
    "a set": (lambda: {1, 2}, "one dimension"),
    "a table": (lambda: pd.DataFrame({"a": [1, 2]}), "one dimension"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(db: hedgerow.Database, name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(hedgerow.DataError, match=message):
        db.add_edges([1, 2], [1, 2], label="k", properties={"p": make()})
    assert db.labels() == [""]


NO_VALUE = r"\[1\] has no value|\[1\]: .* found NoneType|\[1\] is None"


@pytest.mark.parametrize(
    "ids",
    [
        np.ma.array([1, 2**40], mask=[0, 1], dtype="u8"),
        np.ma.array([1, 2], mask=[0, 1], dtype=object),
        pd.Series([1, None], dtype="Int64"),
        pl.Series([1, None]),
        pa.array([1, None]),
        [1, None],
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_ids_ranks_and_weights_need_a_value(ids: Any) -> None:
    with hedgerow.open(weighted=True) as db:
        db.define_label("k", multi=True)
        before = db.published_ts
        for arguments in (
            {"src": ids, "dst": [1, 2]},
            {"src": [1, 2], "dst": ids},
            {"src": [1, 2], "dst": [1, 2], "label": "k", "ranks": ids},
            {"src": [1, 2], "dst": [1, 2], "weights": ids},
        ):
            with pytest.raises(hedgerow.DataError, match=rf"{NO_VALUE}|weights\[1\]"):
                db.add_edges(**arguments)
            with db.write() as tx, pytest.raises(hedgerow.DataError):
                tx.add_edges(**arguments)
        with db.pipeline() as p, pytest.raises(hedgerow.DataError, match=NO_VALUE):
            p.insert_edges(ids, [1, 2])
        assert db.published_ts == before


@pytest.mark.parametrize(
    "ids",
    [
        np.ma.array(["a", "b"], mask=[0, 1]),
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        pa.array(["a", None]),
        ["a", None],
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_text_ids(ids: Any) -> None:
    with hedgerow.open(keys="str") as db:
        with pytest.raises(hedgerow.DataError, match=r"src\[1\] (has no value|must be a str, found NoneType)"):
            db.add_edges(ids, ["x", "y"])
        assert db.snapshot().vertex_count == 0
        assert db.add_edges(ids[:1], ["x"]) == 1
        assert db.snapshot().has_edge("a", "x")


def test_numbers_that_no_float_equals() -> None:
    with hedgerow.open(weighted=True) as db:
        db.define_property("f", float, label="")
        for weights in ([0, BIG], np.array([0, BIG]), np.array([0, BIG], np.uint64), pa.array([0, BIG])):
            with pytest.raises(hedgerow.DataError, match=rf"weights\[1\] is {BIG}"):
                db.add_edges([1, 2], [3, 4], weights)
            with pytest.raises(hedgerow.DataError, match=rf"\[1\] is {BIG}"):
                db.add_edges([1, 2], [3, 4], properties={"f": weights})
        with db.write() as tx:
            for weight in (BIG, np.int64(BIG), np.uint64(BIG)):
                with pytest.raises(hedgerow.DataError, match=f"weight is {BIG}"):
                    tx.put_edge(1, 2, weight)
            with pytest.raises(hedgerow.DataError, match=f"property f is {BIG}"):
                tx.put_edge(1, 2, f=BIG)
            for weight in (True, "1", np.timedelta64(5, "s"), np.complex64(1), decimal.Decimal("0.1"), pd.NA, np.ma.masked):
                with pytest.raises(TypeError):
                    tx.put_edge(1, 2, weight)
            for weight in (2**60, np.float32(0.5), np.int8(3)):
                tx.put_edge(1, 2, weight)
                assert tx.weight(1, 2) == float(weight)


def test_single_values(db: hedgerow.Database) -> None:
    with db.write() as tx:
        for value, message in [
            (np.datetime64("500000-01-01"), f"property p {FAR}"),
            (np.datetime64(1, "ns"), f"property p {FINE}"),
            (pd.Timestamp(1, tz="UTC"), f"property p {FINE}"),
            (pd.Timestamp("2020-01-01"), "property p: a datetime needs a time zone"),
        ]:
            with pytest.raises(hedgerow.DataError, match=message):
                tx.add_vertex(1, p=value)
        for value in (np.timedelta64(1, "ns"), np.void(b"ab"), np.longdouble(1), np.complex128(1), date(2020, 1, 1)):
            with pytest.raises(TypeError, match="property p: a value is"):
                tx.add_vertex(1, p=value)
        nothing = {"a": pd.NA, "b": pd.NaT, "c": np.datetime64("NaT"), "d": np.ma.masked, "e": None}
        tx.add_vertex(1, properties=nothing, t=pd.Timestamp("2020-01-01T09", tz="Asia/Tokyo"))
        assert tx.vertex_properties(1) == {"t": DAY.replace(tzinfo=timezone.utc)}
