"""Types of the native half of the package. Docstrings are on the classes themselves."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar, final, overload

import numpy as np
import numpy.typing as npt

from ._columns import Column as _Column
from ._columns import Frame as _Frame
from ._columns import Table as _Table
from ._result import (
    Added,
    Backup,
    Checkpoint,
    CheckReport,
    Csr,
    Edges,
    EdgeTable,
    Exported,
    Limited,
    Loaded,
    NeighborLists,
    Pairs,
    Paths,
    SalvageReport,
    Schema,
    Stats,
    VertexResult,
    VertexTable,
)

_T = TypeVar("_T")
_Key: TypeAlias = int | str | tuple[str, int | str]
_Keys: TypeAlias = (
    npt.NDArray[np.integer[Any]]
    | npt.NDArray[np.object_]
    | npt.NDArray[np.str_]
    | Sequence[int]
    | Sequence[str]
    | Sequence[tuple[str, int | str]]
    | _Column
    | VertexResult
    | VertexTable
)
_Weights: TypeAlias = npt.NDArray[np.floating[Any]] | npt.NDArray[np.integer[Any]] | Sequence[float] | _Column
_Value: TypeAlias = None | bool | int | float | str | bytes | datetime | np.generic
_Type: TypeAlias = (
    Literal["bool", "i64", "f64", "utf8", "bytes", "timestamp"]
    | type[bool]
    | type[int]
    | type[float]
    | type[str]
    | type[bytes]
    | type[datetime]
)
_Columns: TypeAlias = Mapping[str, npt.NDArray[Any] | Sequence[Any] | _Column | VertexResult | _Value] | _Frame
_FileFormat: TypeAlias = Literal[
    "auto",
    "csv",
    "tsv",
    "snap",
    "temporal",
    "graphalytics",
    "vertices",
    "el",
    "wel",
    "gr",
    "mtx",
    "konect",
    "as-rel",
    "ldbc",
    "graphml",
]
_OnConflict: TypeAlias = Literal["merge", "replace", "skip", "raise"]
_Direction: TypeAlias = Literal["out", "in"]
_EdgeDirection: TypeAlias = Literal["out", "in", "both"]
_Labels: TypeAlias = str | Sequence[str]
_RankRange: TypeAlias = tuple[int | None, int | None]
_Condition: TypeAlias = (
    tuple[str, Literal["==", "=", "!=", "<", "<=", ">", ">="], _Value | date]
    | tuple[str, Literal["in", "not in"], Iterable[_Value | date]]
    | tuple[str, Literal["prefix"], str | bytes]
    | tuple[str, Literal["is", "is not"], None]
)
_Group: TypeAlias = tuple[Literal["and", "or", "not"], *tuple[Any, ...]]
_Where: TypeAlias = _Condition | _Group | Sequence[_Condition | _Group]

__version__: Final[str]

class Error(Exception): ...
class OperationalError(Error): ...
class LockedError(OperationalError): ...

class ConflictError(OperationalError):
    timestamp: int

class AbortedError(OperationalError): ...
class OutcomeUnknownError(OperationalError): ...
class PoisonedError(OperationalError): ...
class DiskFullError(OperationalError): ...
class OutOfMemoryError(OperationalError): ...
class CorruptionError(OperationalError): ...
class ProgrammingError(Error): ...
class ClosedError(ProgrammingError): ...
class ForkedError(ProgrammingError): ...
class IntegrityError(Error): ...
class DataError(Error):
    file: str
    line: int

class NotSupportedError(Error): ...

def open(
    path: str | os.PathLike[str] | None = None,
    *,
    read_only: bool = False,
    directed: bool | None = None,
    keys: Literal["u64", "str", "dense"] | None = None,
    weighted: bool | None = None,
    reverse: bool | None = None,
    durability: Literal["sync", "manual"] | tuple[Literal["group"], float] = "sync",
    isolation: Literal["serializable", "snapshot"] = "serializable",
    create: bool = True,
    checkpoint_log_bytes: int = 268435456,
    log_segment_bytes: int = 67108864,
    memory_limit: int | str | None = None,
    views_by_reads: bool = True,
    mode: int | None = None,
) -> Database: ...
def salvage(
    path: str | os.PathLike[str],
    into: str | os.PathLike[str],
    *,
    memory_limit: int | str | None = None,
) -> SalvageReport: ...

@final
class Database:
    def write(self, *, create_endpoints: bool = True) -> Transaction: ...
    def snapshot(self) -> Snapshot: ...
    def maintain(self, name: Literal["wcc", "tc", "pagerank", "degrees"], *, label: str | None = None) -> Maintained: ...
    def transact(self, fn: Callable[[Transaction], _T], *, retries: int = 16) -> _T: ...
    def put_edge(
        self, src: _Key, dst: _Key, weight: float | None = None, *, label: str | None = None, rank: int | None = None, properties: Mapping[str, _Value] | None = None, **named: _Value
    ) -> bool: ...
    def insert_edge(
        self, src: _Key, dst: _Key, weight: float | None = None, *, label: str | None = None, rank: int | None = None, properties: Mapping[str, _Value] | None = None, **named: _Value
    ) -> bool: ...
    def remove_edge(self, src: _Key, dst: _Key, *, label: str | None = None, rank: int | None = None) -> bool: ...
    def pipeline(self) -> Pipeline: ...
    def define_kind(self, name: str, keys: Literal["u64", "str"] = "u64") -> None: ...
    def define_label(
        self,
        name: str,
        *,
        multi: bool = False,
        properties: dict[str, _Type] | None = None,
        src: str | None = None,
        dst: str | None = None,
    ) -> None: ...
    def define_property(
        self, name: str, type: _Type, *, label: str | None = None, kind: str | None = None
    ) -> None: ...
    def labels(self) -> list[str]: ...
    def schema(self) -> Schema: ...
    @overload
    def add_edges(
        self,
        src: _Keys,
        dst: _Keys,
        weights: _Weights | None = None,
        *,
        label: str | None = None,
        ranks: _Keys | None = None,
        properties: _Columns | None = None,
        on_conflict: _OnConflict = "replace",
        batch: int = 65536,
    ) -> Added: ...
    @overload
    def add_edges(
        self,
        table: _Table,
        /,
        *,
        src: str = "src",
        dst: str = "dst",
        weight: str | None = None,
        rank: str | None = None,
        label: str | None = None,
        properties: Sequence[str] | None = None,
        on_conflict: _OnConflict = "replace",
        batch: int = 65536,
    ) -> Added: ...
    @overload
    def add_vertices(
        self,
        keys: _Keys,
        *,
        kind: str | None = None,
        properties: _Columns | None = None,
        duplicates: Literal["raise", "first", "last"] = "raise",
        on_conflict: _OnConflict = "merge",
        batch: int = 65536,
    ) -> Added: ...
    @overload
    def add_vertices(
        self,
        keys: _Table,
        *,
        key: str = "id",
        kind: str | None = None,
        properties: Sequence[str] | None = None,
        duplicates: Literal["raise", "first"] = "raise",
        on_conflict: _OnConflict = "merge",
        batch: int = 65536,
    ) -> Added: ...
    def set_vertex_properties(
        self, keys: _Keys, properties: _Columns, *, kind: str | None = None, batch: int = 65536
    ) -> int: ...
    def remove_vertices(self, keys: _Keys, *, kind: str | None = None, batch: int = 65536) -> int: ...
    def update_edges(
        self,
        src: _Keys,
        dst: _Keys,
        properties: _Columns,
        *,
        label: str | None = None,
        ranks: _Keys | None = None,
        batch: int = 65536,
    ) -> int: ...
    def remove_edges(
        self, src: _Keys, dst: _Keys, *, label: str | None = None, ranks: _Keys | None = None, batch: int = 65536
    ) -> int: ...
    def load(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        vertices: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        kind: str | None = None,
        kind_keys: Literal["u64", "str"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        from_column: int | str | None = None,
        to_column: int | str | None = None,
        label: str | None = None,
        label_column: int | str | None = None,
        multi: bool = False,
        rank: int | str | None = None,
        property: str | Sequence[str] | None = None,
        format: _FileFormat = "auto",
        header: bool | None = None,
        skip: int = 0,
        delimiter: str | None = None,
        null: str | Sequence[str] | None = None,
        comment: str | None = None,
        weighted: bool = False,
        src_col: int | str | None = None,
        dst_col: int | str | None = None,
        weight_col: int | str | None = None,
        time_col: int | str | None = None,
        on_error: Literal["raise", "skip", "collect"] = "raise",
        repeat: Literal["last", "first", "sum"] = "last",
        batch: int = 65536,
        progress: Callable[[int, int], object] | None = None,
    ) -> Loaded: ...
    def remove_edges_where(
        self, label: _Labels, *, rank_range: _RankRange | None = None, where: _Where | None = None, batch: int = 65536
    ) -> int: ...
    def checkpoint(self) -> Checkpoint: ...
    def compact(self) -> Checkpoint: ...
    def backup(self, path: str | os.PathLike[str]) -> Backup: ...
    @property
    def checkpoint_error(self) -> str | None: ...
    def flush(self) -> None: ...
    def settle(self) -> None: ...
    def stats(self) -> Stats: ...
    def check(self) -> CheckReport: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def path(self) -> str | None: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def directed(self) -> bool: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def keys(self) -> Literal["u64", "str", "dense"]: ...
    @property
    def published_ts(self) -> int: ...
    @property
    def durable_ts(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]: ...

@final
class Transaction:
    def put_edge(
        self, src: _Key, dst: _Key, weight: float | None = None, *, label: str | None = None, rank: int | None = None, properties: Mapping[str, _Value] | None = None, **named: _Value
    ) -> None: ...
    def add_edge(
        self, src: _Key, dst: _Key, label: str | None = None, rank: int | None = None, weight: float | None = None, *, properties: Mapping[str, _Value] | None = None, **named: _Value
    ) -> None: ...
    def insert_edge(
        self, src: _Key, dst: _Key, weight: float | None = None, *, label: str | None = None, rank: int | None = None, properties: Mapping[str, _Value] | None = None, **named: _Value
    ) -> bool: ...
    def update_edge(
        self, src: _Key, dst: _Key, *, label: str | None = None, rank: int | None = None, properties: Mapping[str, _Value] | None = None, **named: _Value
    ) -> bool: ...
    def remove_edge(self, src: _Key, dst: _Key, *, label: str | None = None, rank: int | None = None) -> bool: ...
    def add_vertex(self, key: _Key, *, properties: Mapping[str, _Value] | None = None, **named: _Value) -> None: ...
    def update_vertex(self, key: _Key, *, properties: Mapping[str, _Value] | None = None, **named: _Value) -> bool: ...
    def insert_vertex(self, key: _Key) -> bool: ...
    def remove_vertex(self, key: _Key) -> bool: ...
    def remove_edges_of(self, key: _Key, most: int) -> tuple[int, int]: ...
    @overload
    def add_edges(
        self,
        src: _Keys,
        dst: _Keys,
        weights: _Weights | None = None,
        *,
        label: str | None = None,
        ranks: _Keys | None = None,
        properties: _Columns | None = None,
        on_conflict: _OnConflict = "replace",
    ) -> Added: ...
    @overload
    def add_edges(
        self,
        table: _Table,
        /,
        *,
        src: str = "src",
        dst: str = "dst",
        weight: str | None = None,
        rank: str | None = None,
        label: str | None = None,
        properties: Sequence[str] | None = None,
        on_conflict: _OnConflict = "replace",
    ) -> Added: ...
    @overload
    def add_vertices(
        self,
        keys: _Keys,
        *,
        kind: str | None = None,
        properties: _Columns | None = None,
        duplicates: Literal["raise", "first", "last"] = "raise",
        on_conflict: _OnConflict = "merge",
    ) -> Added: ...
    @overload
    def add_vertices(
        self,
        keys: _Table,
        *,
        key: str = "id",
        kind: str | None = None,
        properties: Sequence[str] | None = None,
        duplicates: Literal["raise", "first"] = "raise",
        on_conflict: _OnConflict = "merge",
    ) -> Added: ...
    def set_vertex_properties(
        self, keys: _Keys, properties: _Columns, *, kind: str | None = None
    ) -> int: ...
    def remove_vertices(self, keys: _Keys, *, kind: str | None = None) -> int: ...
    def update_edges(
        self,
        src: _Keys,
        dst: _Keys,
        properties: _Columns,
        *,
        label: str | None = None,
        ranks: _Keys | None = None,
    ) -> int: ...
    def remove_edges(
        self, src: _Keys, dst: _Keys, *, label: str | None = None, ranks: _Keys | None = None
    ) -> int: ...
    def has_vertex(self, key: _Key) -> bool: ...
    def has_edge(self, src: _Key, dst: _Key, *, label: str | None = None, rank: int | None = None) -> bool: ...
    def edge_properties(self, src: _Key, dst: _Key, *, label: str | None = None, rank: int | None = None) -> dict[str, Any] | None: ...
    def vertex_properties(self, key: _Key) -> dict[str, Any] | None: ...
    def weight(self, src: _Key, dst: _Key) -> float | None: ...
    def neighbors(
        self,
        key: _Key,
        direction: _Direction = "out",
        *,
        label: str | None = None,
        ranks: bool = False,
        labels: bool = False,
    ) -> list[Any]: ...
    def degree(self, key: _Key, direction: _Direction = "out", *, label: str | None = None) -> int: ...
    def commit(self) -> int: ...
    def submit(self) -> Ticket: ...
    def rollback(self) -> None: ...
    @property
    def active(self) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]: ...

@final
class Maintained:
    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str | None: ...
    @property
    def made(self) -> str | None: ...
    def at(self, snapshot: Snapshot) -> VertexResult | int | dict[str, VertexResult]: ...
    def release(self) -> None: ...

@final
class Ticket:
    @property
    def timestamp(self) -> int: ...
    def done(self) -> bool: ...
    def wait(self) -> int: ...

@final
class TableStream: ...

@final
class Pipeline:
    def insert_edge(self, src: _Key, dst: _Key) -> None: ...
    def put_edge(self, src: _Key, dst: _Key, weight: float | None = None) -> None: ...
    def remove_edge(self, src: _Key, dst: _Key) -> None: ...
    def insert_edges(self, src: _Keys, dst: _Keys) -> int: ...
    def put_edges(self, src: _Keys, dst: _Keys, weights: _Weights | None = None) -> int: ...
    def remove_edges(self, src: _Keys, dst: _Keys) -> int: ...
    def flush(self) -> npt.NDArray[np.bool_]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]: ...

@final
class Snapshot:
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...
    def __contains__(self, key: object) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, key: _Key) -> list[Any]: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def vertex_count(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def edge_count(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    def has_vertex(self, key: _Key) -> bool: ...
    def has_edge(self, src: _Key, dst: _Key, *, label: str | None = None, rank: int | None = None) -> bool: ...
    def edge_properties(self, src: _Key, dst: _Key, *, label: str | None = None, rank: int | None = None) -> dict[str, Any] | None: ...
    def vertex_properties(self, key: _Key) -> dict[str, Any] | None: ...
    def weight(self, src: _Key, dst: _Key) -> float | None: ...
    def neighbors(
        self,
        key: _Key,
        direction: _EdgeDirection = "out",
        *,
        label: _Labels | None = None,
        ranks: bool = False,
        properties: bool = False,
        labels: bool = False,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        limit: int | None = None,
    ) -> list[Any]: ...
    def newest_neighbors(
        self,
        key: _Key,
        label: str,
        limit: int,
        direction: _Direction = "out",
        *,
        ranks: bool = False,
        properties: bool = False,
    ) -> Limited: ...
    def degree(
        self,
        key: _Key,
        direction: _EdgeDirection = "out",
        *,
        label: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
    ) -> int: ...
    def degrees(
        self,
        keys: _Keys,
        direction: _EdgeDirection = "out",
        *,
        label: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        missing: Literal["raise", "empty"] = "raise",
        kind: str | None = None,
    ) -> npt.NDArray[np.int64]: ...
    def contains_edges(
        self, sources: _Keys, destinations: _Keys, *, label: str | None = None
    ) -> npt.NDArray[np.bool_]: ...
    def k_hop(
        self,
        sources: _Keys,
        hops: int,
        direction: _EdgeDirection = "out",
        *,
        label: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        limit: int | None = None,
        partial: bool = False,
        missing: Literal["raise", "empty"] = "raise",
        kind: str | None = None,
    ) -> VertexResult: ...
    def neighbors_of(
        self,
        keys: _Keys,
        direction: _EdgeDirection = "out",
        *,
        label: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        missing: Literal["raise", "empty"] = "raise",
        kind: str | None = None,
    ) -> NeighborLists: ...
    def csr(
        self,
        label: str | None = None,
        *,
        direction: _Direction = "out",
        weight: str | None = None,
        order: Literal["id", "key"] = "id",
    ) -> Csr: ...
    def vertex_table(self, kind: str | None = None, *, properties: Sequence[str] | None = None) -> VertexTable: ...
    def find(
        self, kind: str | None = None, properties: Mapping[str, _Value] | None = None, *, limit: int | None = None, **named: _Value
    ) -> Limited: ...
    def vertices(self) -> npt.NDArray[Any]: ...
    def edges(
        self, *, label: _Labels | None = None, rank_range: _RankRange | None = None, where: _Where | None = None
    ) -> Edges: ...
    def edge_count_of(self, label: str) -> int: ...
    def edge_table(
        self,
        label: _Labels | None = None,
        *,
        properties: Sequence[str] | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
    ) -> EdgeTable: ...
    def edge_stream(
        self,
        label: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        part: tuple[int, int, int] | None = None,
    ) -> TableStream: ...
    def expand(
        self,
        keys: _Keys,
        direction: _EdgeDirection = "out",
        *,
        label: str | None = None,
        columns: Sequence[str] | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        missing: Literal["raise", "empty"] = "raise",
        kind: str | None = None,
    ) -> TableStream: ...
    def vertex_stream(
        self, kind: str | None = None, *, columns: Sequence[str] | None = None, part: tuple[int, int, int] | None = None
    ) -> TableStream: ...
    def scan_edges(
        self, label: str | None = None, *, rank_range: _RankRange | None = None, where: _Where | None = None
    ) -> Any: ...
    def scan_vertices(self, kind: str | None = None) -> Any: ...
    def edge_dataset(
        self,
        label: str | None = None,
        *,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        part: tuple[int, int, int] | None = None,
    ) -> Any: ...
    def vertex_dataset(self, kind: str | None = None, *, part: tuple[int, int, int] | None = None) -> Any: ...
    def to_networkx(
        self,
        *,
        label: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        properties: bool = True,
        simplify: Literal["sum", "count", "newest"] | None = None,
    ) -> Any: ...
    def to_igraph(
        self,
        *,
        label: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        properties: bool = True,
    ) -> Any: ...
    def to_scipy(
        self,
        label: str | None = None,
        *,
        direction: _Direction = "out",
        weight: str | None = None,
        order: Literal["id", "key"] = "id",
    ) -> tuple[Any, npt.NDArray[Any]]: ...
    def sql(self, query: str, *, parameters: Any = None, tables: Mapping[str, Any] | None = None) -> Any: ...
    def export(
        self,
        path: str | os.PathLike[str],
        *,
        format: Literal["parquet", "arrow", "csv"] = "parquet",
        partitions: int = 1,
        progress: Callable[[int, int], object] | None = None,
    ) -> Exported: ...
    def partitions(self, parts: int) -> list[tuple[int, int, int]]: ...
    def vertex_property(self, name: str) -> VertexResult: ...
    def labels(self) -> list[str]: ...
    def schema(self) -> Schema: ...
    def bfs(
        self,
        source: _Key,
        *,
        direction: _EdgeDirection = "out",
        label: _Labels | None = None,
        kinds: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
    ) -> VertexResult: ...
    def pagerank(
        self,
        *,
        damping: float = 0.85,
        iterations: int = 20,
        tolerance: float | None = None,
        direction: _EdgeDirection = "out",
        label: _Labels | None = None,
        kinds: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
    ) -> VertexResult: ...
    def sssp(
        self,
        source: _Key,
        *,
        direction: _EdgeDirection = "out",
        delta: float | None = None,
        label: _Labels | None = None,
        kinds: _Labels | None = None,
        weight: str | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
    ) -> VertexResult: ...
    def triangle_count(
        self,
        *,
        label: _Labels | None = None,
        kinds: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
    ) -> int: ...
    def wcc(
        self,
        *,
        label: _Labels | None = None,
        kinds: _Labels | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
    ) -> VertexResult: ...
    def run(
        self,
        kernel: str,
        *,
        label: _Labels | None = None,
        kinds: _Labels | None = None,
        weight: str | None = None,
        direction: _EdgeDirection | None = None,
        rank_range: _RankRange | None = None,
        where: _Where | None = None,
        progress: Callable[[int, int], object] | None = None,
        **parameters: Any,
    ) -> VertexResult | Paths | Pairs | int: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]: ...
