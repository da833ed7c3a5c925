"""Columns of every library, type and layout, with nulls, masks and extremes: each value comes back as it was given, or the
column is refused and the message names a row that is the reason. Nothing changes silently.

HEDGEROW_COLUMNS asks for that many columns, all of them new; the deep form has 100,000.
"""

import math
import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow

pd = pytest.importorskip("pandas", reason="pandas cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be installed here")

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
# Microseconds, and parts of one, in a unit of datetime64.
UNITS = {"W": 604_800_000_000, "D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1}
PARTS = {"ns": 1000, "ps": 10**6, "fs": 10**9, "as": 10**12}
COLUMNS = int(os.environ.get("HEDGEROW_COLUMNS", "1000"))


def share(percent: int) -> settings:
    """The settings of a test that tries such a part of all columns."""
    examples, quick = max(1, COLUMNS * percent // 100), "HEDGEROW_COLUMNS" not in os.environ
    return settings(max_examples=examples, deadline=None, derandomize=quick, suppress_health_check=list(HealthCheck))


class Refused:
    """What is expected of an element that no value of a property equals."""


class Case(NamedTuple):
    """A column, and what each of its elements should become: a value, None or `Refused`."""

    column: Any
    expected: list[Any]
    name: str


def numpy_layouts(array: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The same elements in memory of other layouts."""

    def frozen() -> np.ndarray:
        copy = array.copy()
        copy.setflags(write=False)
        return copy

    def unaligned() -> np.ndarray:
        return np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(array.dtype) if len(array) else array

    return {
        "numpy": lambda: array,
        "big-endian": lambda: array.astype(array.dtype.newbyteorder(">")),
        "every other": lambda: np.repeat(array, 2)[::2],
        "reversed view": lambda: array[::-1].copy()[::-1],
        "column of a matrix": lambda: np.stack([array, array], axis=1)[:, 1],
        "read-only": frozen,
        "unaligned": unaligned,
    }


def masked(array: np.ndarray, missing: list[bool]) -> np.ma.MaskedArray:
    return np.ma.array(array, mask=missing)


@st.composite
def integers(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(INTS))
    info = np.iinfo(dtype)
    edges = st.sampled_from([info.min, info.max, 0, 1, min(info.max, 2**53 + 1), min(info.max, 2**63 - 1)])
    values = draw(st.lists(st.integers(info.min, info.max) | edges, max_size=6))
    missing = draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    array = np.array(values, dtype)
    optional = [None if none else value for value, none in zip(values, missing)]
    whole = numpy_layouts(array) | {
        "list": lambda: values,
        "list of scalars": lambda: list(array),
        "series": lambda: pd.Series(array),
        "index": lambda: pd.Index(array),
    }
    nullable = pd.array(optional, dtype=dtype.replace("int", "Int").replace("uI", "UI"))
    arrow = pa.array(optional, getattr(pa, dtype)())
    partly = {
        "masked": lambda: masked(array, missing),
        "list with None": lambda: optional,
        "objects": lambda: np.array(optional, object),
        "nullable": lambda: pd.Series(nullable),
        "extension array": lambda: nullable,
        "pandas arrow": lambda: pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
        "pandas objects": lambda: pd.Series(optional, dtype=object),
        "category": lambda: pd.Series(pd.Categorical(optional)),
        "polars": lambda: pl.Series(optional, dtype=getattr(pl, dtype.replace("int", "Int").replace("uI", "UI"))),
        "arrow": lambda: arrow,
        "arrow slice": lambda: pa.concat_arrays([arrow, arrow])[len(arrow) :],
        "chunked": lambda: pa.chunked_array([arrow[:2], arrow[2:]]),
        "dictionary": lambda: arrow.dictionary_encode(),
    }
    name = draw(st.sampled_from([*whole, *partly]))
    expected = values if name in whole else optional
    return Case((whole | partly)[name](), expected, f"{dtype} {name}")


@st.composite
def floats(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(FLOATS))
    width = int(dtype[5:])
    values = draw(st.lists(st.floats(width=width), max_size=6))
    missing = draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    array = np.array(values, dtype)
    optional = [None if none else value for value, none in zip(values, missing)]
    arrow = pa.array(array, mask=np.array(missing, bool), from_pandas=False)
    whole = numpy_layouts(array) | {"list": lambda: values, "list of scalars": lambda: list(array)}
    partly = {
        "masked": lambda: masked(array, missing),
        "list with None": lambda: optional,
        "arrow": lambda: arrow,
    }
    if width > 16:
        whole |= {"series": lambda: pd.Series(array)}
        partly |= {
            "polars": lambda: pl.Series(optional, dtype=getattr(pl, dtype.title())),
            "chunked": lambda: pa.chunked_array([arrow[:2], arrow[2:]]),
        }
    name = draw(st.sampled_from([*whole, *partly]))
    return Case((whole | partly)[name](), values if name in whole else optional, f"{dtype} {name}")


@st.composite
def others(draw: st.DrawFn) -> Case:
    """Booleans, text and bytes."""
    element = draw(st.sampled_from([st.booleans(), st.text(max_size=4), st.binary(max_size=4)]))
    optional = draw(st.lists(st.none() | element, max_size=6))
    kind = next((type(value) for value in optional if value is not None), str)
    arrow = pa.array(optional, {bool: pa.bool_(), str: pa.string(), bytes: pa.binary()}[kind])
    dtype = {bool: pl.Boolean, str: pl.String, bytes: pl.Binary}[kind]
    makers: dict[str, Callable[[], Any]] = {
        "list": lambda: optional,
        "tuple": lambda: tuple(optional),
        "objects": lambda: np.array([*optional, None], object)[:-1],
        "polars": lambda: pl.Series(optional, dtype=dtype),
        "arrow": lambda: arrow,
        "chunked": lambda: pa.chunked_array([arrow[:1], arrow[1:]]),
        "dictionary": lambda: arrow.dictionary_encode(),
        "pandas objects": lambda: pd.Series(optional, dtype=object),
        "pandas arrow": lambda: pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
    }
    if kind is bool:
        makers["nullable"] = lambda: pd.Series(optional, dtype="boolean")
    if kind is str:
        makers["str"] = lambda: pd.Series(optional, dtype="str")
        makers["category"] = lambda: pd.Series(optional, dtype="category")
        makers["polars categories"] = lambda: pl.Series(optional, dtype=pl.Categorical)
        makers["numpy strings"] = lambda: np.array(optional, np.dtypes.StringDType(na_object=None))
    if kind is not bytes:
        makers["NaN of pandas"] = lambda: pd.Series([math.nan if v is None else v for v in optional], dtype=object)
    name = draw(st.sampled_from(list(makers)))
    return Case(makers[name](), optional, f"{kind.__name__} {name}")


def moment(number: int, unit: str) -> Any:
    """A datetime64 of a unit in microseconds, or `Refused`."""
    if number == -(2**63):
        return None
    if unit in PARTS and number % PARTS[unit]:
        return Refused
    micros = number // PARTS[unit] if unit in PARTS else number * UNITS[unit]
    return np.datetime64(micros, "us") if -(2**63) < micros < 2**63 else Refused


@st.composite
def times(draw: st.DrawFn) -> Case:
    unit = draw(st.sampled_from([*UNITS, *PARTS]))
    scale = UNITS.get(unit, 1)
    least, most = -(2**63) // scale, 2**63 // scale
    near = st.integers(least - 2, least + 2) | st.integers(most - 2, most + 2)
    number = (near | st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**6), 10**6)).filter(lambda n: -(2**63) <= n < 2**63)
    # Whole microseconds are rare in units below.
    numbers = [n * PARTS.get(unit, 1) if abs(n) < 10**6 else n for n in draw(st.lists(number, max_size=5))]
    array = np.array(numbers, "i8").view(f"M8[{unit}]")
    makers = numpy_layouts(array) | {"list of scalars": lambda: list(array)}
    if unit in ("s", "ms", "us", "ns"):
        arrow = pa.array([None if n == -(2**63) else n for n in numbers], pa.timestamp(unit, "UTC"))
        makers |= {
            "series": lambda: pd.Series(array),
            "arrow": lambda: arrow,
            "pandas arrow": lambda: pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
            "zoned series": lambda: pd.Series(array).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        }
        if unit != "s":
            makers["polars"] = lambda: pl.Series(arrow)
    name = draw(st.sampled_from(list(makers)))
    return Case(makers[name](), [moment(n, unit) for n in numbers], f"M8[{unit}] {name}")


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, float):
        return type(found) is float and (found == expected or (math.isnan(found) and math.isnan(expected)))
    return type(found) is type(expected) and found == expected


def plain(value: Any) -> Any:
    """An element of a column that was read, as Python has it; times stay what they are."""
    if value is None or value is np.ma.masked:
        return None
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


def names_a_row(error: hedgerow.DataError, rows: list[int]) -> bool:
    named = re.search(r"\[(\d+)\]( |:)", str(error))
    return named is not None and int(named[1]) in rows


def check(case: Case, expected: list[Any], add: Callable[[hedgerow.Database], object], read: Callable[[Any], Any]) -> None:
    """Adds edges from 0, 1, 2, ... and compares what `read` makes of the snapshot, unless the column is to be refused."""
    with hedgerow.open(weighted=True) as db:
        db.define_label("k", multi=True)
        refused = [row for row, value in enumerate(expected) if value is Refused]
        if refused:
            with pytest.raises(hedgerow.DataError) as error:
                add(db)
            assert names_a_row(error.value, refused), (case, str(error.value))
            assert db.published_ts <= 1, "something was written"
            return
        assert add(db) == len(expected)
        with db.snapshot() as g:
            found = [plain(value) for value in read(g)]
            assert len(found) == len(expected)
            assert all(map(same, found, expected)), (case, found)


def column(g: hedgerow.Snapshot) -> list[Any]:
    table = g.edge_table("k")
    if not table.properties:
        return [None] * len(table)
    values = table.properties["p"]
    # What came out goes in again.
    with hedgerow.open() as other:
        other.add_edges(table.src, table.dst, label="k", properties=table.properties)
        again = other.snapshot().edge_table("k").properties["p"] if any(v is not None for v in values.tolist()) else values
        assert list(map(repr, again.tolist())) == list(map(repr, values.tolist()))
    return [values[at] for at in np.argsort(table.src)]


@given(case=integers() | floats() | others() | times())
@share(50)
def test_properties(case: Case) -> None:
    rows = range(len(case.expected))
    fits = [Refused if type(v) is int and not -(2**63) <= v < 2**63 else v for v in case.expected]
    check(case, fits, lambda db: db.add_edges(rows, rows, label="k", properties={"p": case.column}), column)


@given(case=integers() | floats())
@share(12)
def test_weights(case: Case) -> None:
    rows = range(len(case.expected))
    numbers = [Refused if v is None or v != v or int_is_lost(v) else float(v) for v in case.expected]

    def read(g: hedgerow.Snapshot) -> list[float]:
        return [g.weight(row, row) for row in rows]

    check(case, numbers, lambda db: db.add_edges(rows, rows, case.column), read)


def int_is_lost(value: float) -> bool:
    return isinstance(value, int) and int(float(value)) != value


@given(case=integers(), ranks=st.booleans())
@share(18)
def test_keys_and_ranks(case: Case, ranks: bool) -> None:
    rows = range(len(case.expected))
    ids = [Refused if v is None or v < 0 else v for v in case.expected]

    def add(db: hedgerow.Database) -> int:
        if ranks:
            return db.add_edges(rows, rows, label="k", ranks=case.column)
        return db.add_edges(rows, case.column, label="k", ranks=rows)

    def read(g: hedgerow.Snapshot) -> list[int]:
        table = g.edge_table("k")
        order = np.argsort(table.src)
        return (table.ranks if ranks else table.dst)[order].tolist()

    check(case, ids, add, read)


@given(case=others().filter(lambda case: case.name.startswith("str ")))
@share(10)
def test_keys_of_text(case: Case) -> None:
    with hedgerow.open(keys="str") as db:
        rows = [str(row) for row in range(len(case.expected))]
        missing = [row for row, key in enumerate(case.expected) if key is None]
        if missing:
            with pytest.raises(hedgerow.DataError) as error:
                db.add_edges(rows, case.column)
            assert names_a_row(error.value, missing), (case, str(error.value))
            return
        db.add_edges(rows, case.column)
        g = db.snapshot()
        assert [g.neighbors(row) for row in rows] == [[key] for key in case.expected]


@given(case=integers() | floats() | others() | times())
@share(10)
def test_single_values(case: Case) -> None:
    """The elements of a column one by one, as Python gives them."""
    if "arrow" in case.name or case.name.endswith(("chunked", "dictionary", "series")):
        return  # Scalars of Arrow and naive times of pandas are no values.
    if case.name.startswith("M8") and case.name.endswith("polars"):
        return  # Polars cannot make objects of times beyond the years of Python.
    elements = list(case.column)
    with hedgerow.open() as db:
        for row, (element, expected) in enumerate(zip(elements, case.expected, strict=True)):
            if type(expected) is int and not -(2**63) <= expected < 2**63:
                expected = Refused
            with db.write() as tx:
                if expected is Refused:
                    with pytest.raises(hedgerow.DataError, match="property p"):
                        tx.add_vertex(row, p=element)
                    continue
                missing_text = isinstance(element, float) and expected is None
                tx.add_vertex(row, p=None if missing_text else element)
            found = db.snapshot().vertex_properties(row)
            if expected is None:
                assert found == {}
            elif isinstance(expected, np.datetime64):
                assert np.datetime64(getattr(found["p"], "replace", lambda **_: found["p"])(tzinfo=None), "us") == expected
            else:
                assert same(found["p"], expected), (case, found)
