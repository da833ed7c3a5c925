"""Results of calls that are no tables: schemas, statistics, reports, counts of rows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple, Self

__all__ = [
    "Added",
    "Backup",
    "CheckReport",
    "Checkpoint",
    "Exported",
    "Kind",
    "Label",
    "Loaded",
    "SalvageReport",
    "Schema",
    "Stats",
]


def _file_bytes(path: str) -> tuple[int, int, int]:
    """Returns the total sizes of log files and of segment files in a directory, and the number of segment files."""
    log, segments = [], []
    with os.scandir(path) as entries:
        for entry in entries:
            sizes = log if entry.name.endswith(".wal") else segments if entry.name.endswith(".csr") else None
            if sizes is not None:
                sizes.append(entry.stat().st_size)
    return sum(log), sum(segments), len(segments)


class Added(int):
    """The number of rows that a call wrote, an int, with further counts of its rows.

    Attributes
    ----------
    repeated : int or None
        The number of rows whose edge or vertex is also in an earlier row of the call. Each row is counted,
        but the graph has the edge or vertex only once. None if a table has more rows than one transaction.
    new, existing : int or None
        The number of edges or vertices that were new, and the number that existed before; None if the call
        did not look them up.

    Examples
    --------
    >>> import hedgerow
    >>> db = hedgerow.open()
    >>> db.add_edges([1, 2], [2, 3])
    2
    >>> again = db.add_edges([1, 2, 1], [2, 3, 2])
    >>> again, again == 3, again.repeated, again.new
    (Added(3, repeated=1), True, 1, None)
    """

    repeated: int | None
    new: int | None
    existing: int | None

    def __new__(cls, rows: int, repeated: int | None = 0, new: int | None = None, existing: int | None = None) -> Self:
        added = super().__new__(cls, rows)
        added.repeated, added.new, added.existing = repeated, new, existing
        return added

    def __repr__(self) -> str:
        """The number, followed by the counts of repeated and existing rows unless they are 0 or there is none."""
        told = {name: getattr(self, name) for name in ("repeated", "existing")}
        # Repeated rows that were not counted are shown too: some may have replaced others.
        shown = "".join(f", {name}={count}" for name, count in told.items() if count or (name == "repeated" and count is None))
        return f"Added({int(self)}{shown})" if shown else int.__repr__(self)


@dataclass(frozen=True, slots=True)
class Label:
    """A label and the properties of its edges.

    Attributes
    ----------
    name : str
        The name; empty for the default label.
    multi : bool
        True if edges have a rank, so that there may be several from one vertex to another.
    properties : dict of str to str
        Types by name: ``"bool"``, ``"i64"``, ``"f64"``, ``"utf8"``, ``"bytes"``, ``"timestamp"``.
    src, dst : str or None
        The kinds of both ends, if the label states them; ``""`` is the default kind.
    """

    name: str
    multi: bool
    properties: dict[str, str]
    src: str | None = None
    dst: str | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of vertices.

    Attributes
    ----------
    name : str
        The name.
    keys : str
        The type of the kind's ids, ``"u64"`` or ``"str"``.
    properties : dict of str to str
        Types by name, as in ``Label``.
    """

    name: str
    keys: str
    properties: dict[str, str]


@dataclass(frozen=True, slots=True)
class Schema:
    """The kinds, labels and properties of a graph.

    Attributes
    ----------
    labels : dict of str to Label
        The labels by name; the first one is ``""``, the default label.
    vertex_properties : dict of str to str
        The types, by name, of the properties of the default kind's vertices.
    kinds : dict of str to Kind
        The kinds by name, without the default kind, which has no name.
    """

    labels: dict[str, Label]
    vertex_properties: dict[str, str]
    kinds: dict[str, Kind] = field(default_factory=dict)


class Checkpoint(NamedTuple):
    """The result of a checkpoint.

    Attributes
    ----------
    timestamp : int
        The timestamp up to which all commits are in segments.
    bytes : int
        The size of the segment that was written; 0 if nothing had changed.
    log_segments_removed : int
        The number of log segments removed.
    subgraphs : int
        The number of subgraphs, groups of 64 vertices, in the segment.
    segments : int
        The number of segments that the store has now.
    """

    timestamp: int
    bytes: int
    log_segments_removed: int
    subgraphs: int
    segments: int


class Backup(NamedTuple):
    """The result of a backup.

    Attributes
    ----------
    timestamp : int
        The timestamp of the backup, which contains exactly the commits up to it.
    vertices : int
        The number of vertices in the backup.
    bytes : int
        The size of the backup's segment.
    """

    timestamp: int
    vertices: int
    bytes: int


class Exported(NamedTuple):
    """The result of an export.

    Attributes
    ----------
    vertices, edges : int
        The numbers of vertices and of edges in the files.
    files : list of str
        The paths of the files; the last one is that of ``schema.json``.
    """

    vertices: int
    edges: int
    files: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The result of a load.

    Attributes
    ----------
    rows, rejected, comments : int
        The numbers of rows that were loaded, of malformed rows that were left out, and of comments.
    new_vertices, new_edges : int
        The numbers of vertices and edges that the store did not have before.
    repeated_edges, existing_edges : int
        The numbers of rows whose edge is also in an earlier row, or was in the store before.
    repeated_vertices, existing_vertices : int
        The numbers of rows of vertices whose vertex is also in an earlier row, or was in the store before.
    vertices, edges : int
        The numbers of vertices and edges of the store after the load.
    transactions, timestamp : int
        The number of commits, and the timestamp after the last one.
    notes : list of (str, str)
        What was left out or changed, and other decisions of the load: the file, and a note on it.
    rejects : list of (str, int, str)
        Malformed rows: the file, the line, and the fault. One with ``on_error="skip"``, at most 1,000 with
        ``"collect"``.
    """

    rows: int
    rejected: int
    comments: int
    new_vertices: int
    new_edges: int
    repeated_edges: int
    existing_edges: int
    repeated_vertices: int
    existing_vertices: int
    vertices: int
    edges: int
    transactions: int
    timestamp: int
    notes: list[tuple[str, str]]
    rejects: list[tuple[str, int, str]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """The result of a salvage: counts of saved data, and descriptions of lost data.

    Attributes
    ----------
    vertices, edges : int
        The numbers of vertices and edges in the new store.
    subgraphs, commits : int
        The number of groups of 64 vertices that were read from segments, and of commits that were read from
        the log.
    timestamp : int
        The timestamp of the last commit that was read.
    lost_subgraphs, lost_commits, lost_edges : int
        The number of groups of 64 vertices that are lost, or of which only an older state was found; the
        maximal number of lost commits; the number of edges left out because one of their ends is lost.
    doubtful_vertices, doubtful_edges : int
        The number of vertices and edges in the new store that a lost commit may have changed or removed.
    damages : list of str
        Damage that `losses` do not describe: at most 1,000 items, and the number of others. It may have
        caused no loss.
    losses : list of str
        Lost and doubtful data: at most 1,000 items, and sums. Empty if the new store has all data of the
        damaged one.
    """

    vertices: int
    edges: int
    subgraphs: int
    commits: int
    timestamp: int
    lost_subgraphs: int
    lost_commits: int
    lost_edges: int
    doubtful_vertices: int
    doubtful_edges: int
    damages: list[str]
    losses: list[str]

    @property
    def whole(self) -> bool:
        """True if nothing was lost, and nothing is doubtful."""
        return not self.losses


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check: counts of checked data, and the problems found.

    Attributes
    ----------
    vertices, edges : int or None
        The number of checked vertices and edges; an undirected edge counts once. None if damage stopped the
        check.
    segments : int or None
        The number of segment files that were verified completely; None if damage stopped the check.
    problems : list of str
        The problems, at most 100; empty for a sound store.
    more : bool
        True if there are more problems than `problems` lists.
    """

    vertices: int | None
    edges: int | None
    segments: int | None
    problems: list[str]
    more: bool = False

    @property
    def ok(self) -> bool:
        """True if no problem was found."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Stats:
    """The content of a store, and the memory and files that it takes.

    Attributes
    ----------
    vertices, edges : int
        The number of vertices and edges in a new snapshot; an undirected edge counts once.
    published_ts, durable_ts : int
        The last timestamp that snapshots see, and the last one on stable media.
    versions : int
        The number of versions of subgraphs, in both directions.
    delta_entries : int
        The number of recent changes that are not merged yet.
    arena_bytes : int
        Bytes of the memory region for lists of neighbors.
    version_bytes : int
        Other bytes of versions of subgraphs: headers, ranks and properties.
    inbox_bytes : int
        Bytes of changes of lists that are not in memory. The next checkpoint writes them.
    main_bytes, delta_bytes : int
        Bytes of merged parts and of recent changes, out of ``arena_bytes`` and ``version_bytes``.
    patch_bytes : int
        Bytes of the corrections of large merged parts.
    property_bytes : int
        Bytes of ranks and properties in the merged part.
    old_version_bytes : int
        Bytes that only older snapshots need, or that wait to be reclaimed.
    arena_free_bytes : int
        Bytes that are reserved for merged parts and recent changes, but are free.
    view_bytes : int
        Bytes of views that open snapshots use, or that are kept for later snapshots.
    table_bytes, id_map_bytes, coordination_bytes : int
        Bytes of the table of subgraphs, of the mapping of vertex ids, and of the data that orders commits and
        snapshots.
    log_buffer_bytes, file_buffer_bytes : int
        Bytes of the buffers in which commits wait to be written to the log, and of the buffers of running
        checkpoints.
    memory_bytes : int
        The sum of ``arena_bytes``, ``version_bytes``, ``inbox_bytes``, ``view_bytes``, ``table_bytes``,
        ``id_map_bytes``, ``coordination_bytes``, ``log_buffer_bytes`` and ``file_buffer_bytes``.
    memory_limit : int
        The memory budget of the store in bytes: the argument of ``open``, or else half of the memory
        available to the process.
    commit_waits : int
        The number of times that a commit waited because too many commits were not published yet.
    log_bytes, segment_bytes : int
        Bytes of the log in use, and of the segments that checkpoints wrote. For a store that is open for
        reading only, the sizes of these files, which may include space that is reserved ahead.
    segments : int
        The number of segments.
    background_checkpoints, failed_checkpoints : int
        The number of checkpoints in the background since the store was opened, and of those that failed.
    failed_settlings : int
        The number of rounds of settling in the background that ended in a panic.
    """

    vertices: int
    edges: int
    published_ts: int
    durable_ts: int
    versions: int
    delta_entries: int
    main_bytes: int
    patch_bytes: int
    property_bytes: int
    delta_bytes: int
    old_version_bytes: int
    arena_free_bytes: int
    arena_bytes: int
    version_bytes: int
    inbox_bytes: int
    view_bytes: int
    table_bytes: int
    id_map_bytes: int
    coordination_bytes: int
    log_buffer_bytes: int
    file_buffer_bytes: int
    memory_bytes: int
    memory_limit: int
    commit_waits: int
    log_bytes: int
    segment_bytes: int
    segments: int
    background_checkpoints: int
    failed_checkpoints: int
    failed_settlings: int
