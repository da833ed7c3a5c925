"""What calls return that is no table: schemas, statistics, reports, counts of rows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple, Self

__all__ = [
    "Added",
    "Backup",
    "CheckReport",
    "Checkpoint",
    "Kind",
    "Label",
    "SalvageReport",
    "Schema",
    "Stats",
]


def _file_bytes(path: str) -> tuple[int, int, int]:
    """The sizes of the log files and of the segment files in a directory, and the number of the latter."""
    log, segments = [], []
    with os.scandir(path) as entries:
        for entry in entries:
            sizes = log if entry.name.endswith(".wal") else segments if entry.name.endswith(".csr") else None
            if sizes is not None:
                sizes.append(entry.stat().st_size)
    return sum(log), sum(segments), len(segments)


class Added(int):
    """The number of rows that a call wrote, an int, and what became of them.

    Attributes
    ----------
    repeated : int
        Rows whose edge or vertex an earlier row of the call names too. The rows are counted, the edge or vertex is there once.
    new, existing : int or None
        How many edges or vertices were new, and how many were there before; None where the call did not ask the store.

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

    repeated: int
    new: int | None
    existing: int | None

    def __new__(cls, rows: int, repeated: int = 0, new: int | None = None, existing: int | None = None) -> Self:
        added = super().__new__(cls, rows)
        added.repeated, added.new, added.existing = repeated, new, existing
        return added

    def __repr__(self) -> str:
        """The number alone, unless rows were repeated or there before."""
        told = {name: getattr(self, name) for name in ("repeated", "existing")}
        shown = "".join(f", {name}={count}" for name, count in told.items() if count)
        return f"Added({int(self)}{shown})" if shown else int.__repr__(self)


@dataclass(frozen=True, slots=True)
class Label:
    """A label and the properties of its edges.

    Attributes
    ----------
    name : str
        The name; empty for the default label.
    multi : bool
        Whether edges have a rank, so that several may lead from one vertex to another.
    properties : dict of str to str
        Types by name: ``"bool"``, ``"i64"``, ``"f64"``, ``"utf8"``, ``"bytes"``, ``"timestamp"``.
    src, dst : str or None
        The kinds of both ends, if the label says them; ``""`` is the default kind.
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
        The type of its ids, ``"u64"`` or ``"str"``.
    properties : dict of str to str
        Types by name, as of ``Label``.
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
        By name, the default label ``""`` first.
    vertex_properties : dict of str to str
        Types by name, of the vertices of the default kind.
    kinds : dict of str to Kind
        By name; the default kind, which has no name, is not among them.
    """

    labels: dict[str, Label]
    vertex_properties: dict[str, str]
    kinds: dict[str, Kind] = field(default_factory=dict)


class Checkpoint(NamedTuple):
    """What a checkpoint wrote.

    Attributes
    ----------
    timestamp : int
        Every commit at or before it is in the segment.
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
    """What a backup wrote.

    Attributes
    ----------
    timestamp : int
        The backup holds exactly the commits up to it.
    vertices : int
        The vertices in it.
    bytes : int
        The size of its segment.
    """

    timestamp: int
    vertices: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """What was saved of a damaged store, and what was lost.

    Attributes
    ----------
    vertices, edges : int
        In the new store.
    subgraphs, commits : int
        Groups of 64 vertices read from segments, and commits read from the log.
    timestamp : int
        The last commit that was read.
    lost_subgraphs, lost_commits, lost_edges : int
        Groups that are lost or of which an older state had to do; commits that are lost, at most; edges left out because one
        of their ends is lost.
    doubtful_vertices, doubtful_edges : int
        In the new store as they were before what is lost, which may have changed or removed them.
    damages : list of str
        Damage that `losses` do not name: at most 1,000 items, and the number of others. Damage may have cost nothing.
    losses : list of str
        What was lost and what is doubtful: at most 1,000 items, and sums; empty if all that the store held is in the new one.
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
    """What a check looked at, and what it found.

    Attributes
    ----------
    vertices, edges : int or None
        Looked at; an undirected edge counts once. None where damage ended the check.
    segments : int or None
        Segment files whose every byte was verified; None where damage ended the check.
    problems : list of str
        What is wrong, at most 100 items; empty for a sound store.
    more : bool
        True if there are other problems, which `problems` leaves out.
    """

    vertices: int | None
    edges: int | None
    segments: int | None
    problems: list[str]
    more: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Stats:
    """What a store holds and where its bytes are.

    Attributes
    ----------
    vertices, edges : int
        In a snapshot opened now; an undirected edge counts once.
    published_ts, durable_ts : int
        The last timestamp that snapshots see, and the last one on stable media.
    versions : int
        Versions of subgraphs, both directions.
    delta_entries : int
        Recent changes that are not merged yet.
    arena_bytes : int
        Bytes of memory that lists of neighbors lie in.
    version_bytes : int
        Bytes of versions of subgraphs beside those: themselves, ranks and properties.
    main_bytes, delta_bytes : int
        Bytes of both that the merged part takes, and recent changes.
    patch_bytes : int
        Bytes of the corrections of large merged parts.
    property_bytes : int
        Bytes of ranks and properties in the merged part.
    old_version_bytes : int
        Bytes that only older snapshots need, or that wait to be reclaimed.
    arena_free_bytes : int
        Bytes kept for main parts and recent changes that hold none.
    view_bytes : int
        Bytes of views, those that open snapshots use and those kept for snapshots to come.
    table_bytes, id_map_bytes, coordination_bytes : int
        Bytes of the table of subgraphs, of the mapping of vertex ids, and of what orders commits and snapshots.
    log_buffer_bytes, file_buffer_bytes : int
        Bytes of the buffers in which commits wait to be written to the log, and of checkpoints under way.
    memory_bytes : int
        The sum of ``arena_bytes``, ``version_bytes``, ``view_bytes``, ``table_bytes``, ``id_map_bytes``,
        ``coordination_bytes``, ``log_buffer_bytes`` and ``file_buffer_bytes``.
    memory_limit : int
        How many bytes of memory the store may use: what was asked for, or else half of what there is for the process.
    commit_waits : int
        How often a commit waited because too much was not published yet.
    log_bytes, segment_bytes : int
        Bytes of the log in use, and of the segments that checkpoints wrote. Of a store that is open for reading only the sizes of these
        files, in which space may be reserved ahead.
    segments : int
        How many segments there are.
    background_checkpoints, failed_checkpoints : int
        Checkpoints in the background since the store was opened, and how many of them failed.
    failed_settlings : int
        Turns of settling in the background that ended in a panic.
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
