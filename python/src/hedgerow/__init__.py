"""Hedgerow: an embedded, transactional, durable dynamic graph store.

A program opens a directory and writes edges in serializable, durable transactions. At the same time it runs
graph queries and whole-graph analytics on snapshots, which cost nothing to open.

Examples
--------
>>> import hedgerow
>>> with hedgerow.open() as db:
...     with db.write() as tx:
...         tx.put_edge(1, 2)
...         tx.put_edge(1, 3)
...     with db.snapshot() as g:
...         g.bfs(1).to_dict()
{1: 0, 2: 1, 3: 1}
"""

from . import _dataset, _graphs, _lazy, _manners, _sql, _transact
from ._native import (
    AbortedError,
    ClosedError,
    ConflictError,
    CorruptionError,
    Database,
    DataError,
    DiskFullError,
    Error,
    ForkedError,
    IntegrityError,
    LockedError,
    Maintained,
    NotSupportedError,
    OperationalError,
    OutcomeUnknownError,
    OutOfMemoryError,
    Pipeline,
    PoisonedError,
    ProgrammingError,
    Snapshot,
    TableStream,
    Ticket,
    Transaction,
    __version__,
    open,
    salvage,
)
from ._networkx import from_networkx
from ._result import (
    Added,
    Backup,
    Checkpoint,
    CheckReport,
    Csr,
    Edges,
    EdgeTable,
    Estimate,
    Exported,
    Kind,
    Label,
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

Database.transact = _transact.transact  # type: ignore[method-assign]
Snapshot.sql = _sql.sql  # type: ignore[method-assign]
Snapshot.scan_edges = _lazy.scan_edges  # type: ignore[method-assign]
Snapshot.scan_vertices = _lazy.scan_vertices  # type: ignore[method-assign]
Snapshot.edge_dataset = _dataset.edge_dataset  # type: ignore[method-assign]
Snapshot.vertex_dataset = _dataset.vertex_dataset  # type: ignore[method-assign]
Snapshot.to_networkx = _graphs.to_networkx  # type: ignore[method-assign]
Snapshot.to_igraph = _graphs.to_igraph  # type: ignore[method-assign]
Snapshot.to_scipy = _graphs.to_scipy  # type: ignore[method-assign]
Snapshot.__len__ = _manners.length  # type: ignore[method-assign]
Snapshot.__bool__ = _manners.truth  # type: ignore[method-assign]
Snapshot.__contains__ = _manners.contains  # type: ignore[method-assign]
Snapshot.__iter__ = _manners.iterate  # type: ignore[method-assign]
Snapshot.__getitem__ = _manners.item  # type: ignore[method-assign]
Snapshot._repr_html_ = _manners.snapshot_html  # type: ignore[attr-defined]
for _table in (Edges, EdgeTable, VertexResult, VertexTable):
    _table._repr_html_ = _manners.table_html  # type: ignore[attr-defined]
for _handle in (Database, Maintained, Pipeline, Snapshot, TableStream, Ticket, Transaction):
    _handle.__reduce_ex__ = _manners.refuse_copies  # type: ignore[method-assign]
del _table, _handle

__all__ = [
    "AbortedError",
    "Added",
    "Backup",
    "CheckReport",
    "Checkpoint",
    "ClosedError",
    "ConflictError",
    "CorruptionError",
    "Csr",
    "DataError",
    "Database",
    "DiskFullError",
    "EdgeTable",
    "Edges",
    "Error",
    "Estimate",
    "Exported",
    "ForkedError",
    "IntegrityError",
    "Kind",
    "Label",
    "LockedError",
    "Maintained",
    "Limited",
    "Loaded",
    "NeighborLists",
    "NotSupportedError",
    "OperationalError",
    "OutOfMemoryError",
    "OutcomeUnknownError",
    "Pairs",
    "Paths",
    "Pipeline",
    "PoisonedError",
    "ProgrammingError",
    "SalvageReport",
    "Schema",
    "Snapshot",
    "Stats",
    "TableStream",
    "Ticket",
    "Transaction",
    "VertexResult",
    "VertexTable",
    "__version__",
    "from_networkx",
    "open",
    "salvage",
]
