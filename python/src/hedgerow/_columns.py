"""Columns of any library as NumPy arrays, without loss.

The native half reads the result of `plain`: an array of one of NumPy's types, and a mask of the elements
without a value. Columns of pandas, Polars and PyArrow are recognized by their methods, so that none of these
packages is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

__all__: list[str] = []


class Column(Protocol):
    """A column of pandas, Polars or PyArrow, for the types in the stubs."""

    def __len__(self) -> int: ...
    def to_numpy(self) -> Any: ...


class Frame(Protocol):
    """A data frame of pandas, Polars or PyArrow, for the types in the stubs."""

    @property
    def columns(self) -> Any: ...


class Table(Protocol):
    """A table with an Arrow stream, for the types in the stubs."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


# A date is no time, and nothing says in which zone its midnight is. For NumPy a day is a time.
_DATES = "no property has dates: cast them to times with a time zone, or to texts"

_Plain = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any] | None]


def plain(column: Any) -> _Plain:
    """Returns the values of a column, and a mask: True if an element is missing; None if none is.

    The elements of lists, and of other sequences without a type, become objects. NumPy would convert mixed
    elements: ints to floats, bools to ints, and numbers to texts.
    """
    if isinstance(column, np.ndarray):
        return _of_numpy(column)
    if _has(column, "isna", "to_numpy", "dtype"):
        return _of_pandas(column)
    if _has(column, "is_null", "to_physical", "to_numpy"):
        return _of_polars(column)
    if _has(column, "is_null", "to_pylist", "type"):
        return _of_arrow(column)
    if _has(column, "__array__") or _has(column, "__array_interface__") or _is_buffer(column):
        return _of_numpy(np.asarray(column))
    if _has(column, "__arrow_c_stream__") or _has(column, "__arrow_c_array__"):
        return _of_arrow(_through_pyarrow(column))
    if isinstance(column, (str, bytes, set, frozenset, Mapping)) or not isinstance(column, Iterable):
        return np.asarray(column, object), None
    return _objects(list(column)), None


def plain_keys(column: Any) -> _Plain:
    """Reads vertex ids as `plain` does; of a result or a table of vertices it reads the ids."""
    ids = getattr(column, "_vertex_ids", None)
    return plain(column if ids is None else ids())


def by_name(properties: Any, keys: Any = None) -> list[tuple[Any, Any]]:
    """Returns the columns, with names, of a mapping, a data frame of any library, or a structured array.

    `keys` are the vertices that the columns are about. A result can be a column if it has the same vertices
    in the same order.
    """
    return [(name, _of_result(name, column, keys)) for name, column in _by_name(properties)]


def _of_result(name: Any, column: Any, keys: Any) -> Any:
    ids = getattr(column, "_vertex_ids", None)
    if ids is None or not hasattr(column, "values"):
        return column
    if keys is None:
        raise TypeError(f"properties[{name!r}] is a result about vertices: take its .values if they are one for each row")
    told, asked = plain(ids())[0], plain_keys(keys)[0]
    if len(told) != len(asked) or not np.array_equal(told, asked):
        hint = "give it as keys too, or take its .values if they are one for each row"
        raise TypeError(f"properties[{name!r}] is a result about other vertices than keys, or in another order: {hint}")
    return column.values


def _by_name(properties: Any) -> list[tuple[Any, Any]]:
    if isinstance(properties, Mapping):
        return list(properties.items())
    if _has(properties, "iloc", "columns"):
        # By position, since pandas permits two columns with one name.
        return [(name, properties.iloc[:, at]) for at, name in enumerate(properties.columns)]
    if _has(properties, "get_columns"):
        return [(column.name, column) for column in properties.get_columns()]
    if _has(properties, "column_names", "columns"):
        return list(zip(properties.column_names, properties.columns, strict=True))
    if isinstance(properties, np.ndarray) and properties.dtype.names:
        return [(name, properties[name]) for name in properties.dtype.names]
    if _has(properties, "__arrow_c_stream__"):
        return _by_name(_table_through_pyarrow(properties))
    raise TypeError(f"properties must map names to arrays, or be a data frame, found {type(properties).__name__}")


def _has(column: Any, *names: str) -> bool:
    return all(hasattr(column, name) for name in names)


def _is_buffer(column: Any) -> bool:
    try:
        memoryview(column)
    except TypeError:
        return False
    return True


def _of_numpy(array: np.ndarray[Any, Any]) -> _Plain:
    mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.dtype.kind == "T" and array.ndim == 1:
        # Text of any length; an element that is no text is a missing one.
        array = array.astype(object)
        missing = np.fromiter((not isinstance(text, str) for text in array), bool, len(array))
        mask = missing if mask is None else mask | missing
    return array, mask


def _of_pandas(column: Any) -> _Plain:
    """Reads a Series, an Index or an array of pandas."""
    dtype, array = column.dtype, getattr(column, "array", column)
    if hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(array.__arrow_array__())
    missing = np.asarray(column.isna(), bool)
    if hasattr(dtype, "categories"):
        codes, (values, none) = np.asarray(array.codes), plain(dtype.categories)
        if not len(values):
            return np.full(len(codes), None, object), missing
        return values.take(codes, mode="clip"), missing if none is None else missing | none.take(codes, mode="clip")
    if hasattr(dtype, "tz"):
        return column.to_numpy(dtype=f"datetime64[{dtype.unit}]"), missing
    if hasattr(dtype, "numpy_dtype"):
        return column.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0)), missing
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        # NaN is a value of floats, and not missing.
        return column.to_numpy(), None
    values = column.to_numpy(dtype=object)
    floats = (float, np.floating)
    if any(isinstance(value, floats) for value in values[~missing]):
        missing = missing & np.fromiter((not isinstance(value, floats) for value in values), bool, len(values))
    return values, missing


def _of_polars(column: Any) -> _Plain:
    dtype, missing = column.dtype, column.is_null().to_numpy()
    name = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if name == "Datetime":
        return _times(column.to_physical().fill_null(0).to_numpy(), dtype.time_unit), missing
    if name == "Date":
        raise TypeError(_DATES)
    if name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"):
        return column.fill_null(0).to_numpy(), missing
    if name == "Boolean":
        return column.fill_null(False).to_numpy(), missing
    return _objects(column.to_list()), missing


def _of_arrow(column: Any) -> _Plain:
    """Reads an Array or a ChunkedArray of PyArrow."""
    kind = column.type
    if hasattr(kind, "storage_type"):
        raise TypeError(f"it is of the Arrow type {kind}")
    if hasattr(kind, "value_type") and hasattr(kind, "index_type"):
        return _of_arrow(column.cast(kind.value_type))
    missing = column.is_null().to_numpy(zero_copy_only=False)
    name = str(kind)
    if name.startswith("timestamp["):
        return _times(_filled(column.cast("int64"), 0), kind.unit), missing
    if name.startswith("date"):
        raise TypeError(_DATES)
    if name == "bool":
        return _filled(column, False), missing
    if name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"):
        return _filled(column, 0), missing
    if not name.startswith(("string", "large_string", "binary", "large_binary", "fixed_size_binary", "halffloat", "null")):
        raise TypeError(f"it is of the Arrow type {kind}")
    return _objects(column.to_pylist()), missing


def _filled(column: Any, value: Any) -> np.ndarray[Any, Any]:
    if column.null_count:
        column = column.fill_null(value)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _times(numbers: np.ndarray[Any, Any], unit: str) -> np.ndarray[Any, Any]:
    numbers = numbers.astype("int64")
    if (numbers == np.iinfo("int64").min).any():
        at = int(np.argmin(numbers))
        raise ValueError(f"element {at} is -2**63 {unit} since 1970, which NumPy takes for NaT")
    return numbers.view(f"datetime64[{unit}]")


def _objects(values: list[Any]) -> np.ndarray[Any, Any]:
    # Other functions would make a two-dimensional array of a list of lists.
    return np.fromiter(values, object, len(values))


def _through_pyarrow(column: Any) -> Any:
    pyarrow = _pyarrow(column)
    return pyarrow.array(column) if hasattr(column, "__arrow_c_array__") else pyarrow.chunked_array(column)


def _table_through_pyarrow(table: Any) -> Any:
    return _pyarrow(table).table(table)


def _pyarrow(data: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise TypeError(f"a {type(data).__name__} with Arrow data is read through the package pyarrow") from None
    return pyarrow
