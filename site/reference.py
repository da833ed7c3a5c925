"""The pages of the Python reference: what each shows, of the package's public names."""

from __future__ import annotations

# The name of the page, its title, what the reader gets, and the names of the package that it shows.
PAGES = [
    (
        "README",
        "The Python package",
        "Every public name of `hedgerow`. Signatures are those of the stub that type checkers read; examples are run "
        "as tests. A [guide](../../guide/python.md) introduces the calls in the order in which programs need them, and "
        "[what the defaults do](../../guide/defaults.md) lists each parameter that may be left out.",
        "open salvage from_networkx",
    ),
    ("database", "Database", "An open store.", "Database"),
    ("transaction", "Transaction, Ticket, Pipeline", "The ways to write.", "Transaction Ticket Pipeline"),
    ("snapshot", "Snapshot, Maintained", "The ways to read.", "Snapshot Maintained"),
    (
        "results",
        "Results of reads and kernels",
        "NumPy arrays under names. Each table goes to Polars, pandas, PyArrow and DuckDB through Arrow.",
        "VertexResult Estimate Paths Pairs NeighborLists Limited Edges EdgeTable VertexTable TableStream Csr",
    ),
    (
        "reports",
        "Schemas, statistics, reports",
        "Results that are no tables.",
        "Added Schema Label Kind Stats Checkpoint Backup Exported Loaded CheckReport SalvageReport",
    ),
    (
        "errors",
        "Errors",
        "All derive from `hedgerow.Error`, under the names that packages for databases use. The "
        "[guide](../../guide/python.md#errors) says when each is raised.",
        "Error OperationalError LockedError ConflictError AbortedError OutcomeUnknownError PoisonedError DiskFullError "
        "OutOfMemoryError CorruptionError ProgrammingError ClosedError ForkedError IntegrityError DataError "
        "NotSupportedError",
    ),
]
# Types that signatures name and that programs do not: the package does not export them.
TYPES = {
    "_Key": "A vertex: its id, or the pair of its kind and its id.",
    "_Keys": "A column of vertices.",
    "_Weights": "A column of weights.",
    "_Value": "The value of a property; None is no value.",
    "_Type": "The type of a property.",
    "_Columns": "Columns of properties under their names, or a data frame. A single value is one for each row.",
    "_FileFormat": "The layout of a file: [the layouts](../../guide/cli.md#loading).",
    "_OnConflict": "The effect of a row whose vertex or edge is there already: "
    "[the four ways](../../guide/python.md#many-vertices-and-edges-at-once).",
    "_Direction": "Along the edges, or against them.",
    "_EdgeDirection": "Along the edges, against them, or both.",
    "_Labels": 'One label or several; `""` is the default one.',
    "_RankRange": "The first rank, and the one after the last; None is no bound.",
    "_Condition": "A property, a comparison, and a value: "
    "[the comparisons](../../guide/python.md#labels-ranks-and-properties).",
    "_Where": "Conditions that an edge must meet, all of them.",
}


def names() -> set[str]:
    """All names of the package that some page shows."""
    return {name for *_, shown in PAGES for name in shown.split()}


def pages() -> dict[str, str]:
    """The text of each page, by its place."""
    texts = {name: _page(title, gives, shown) for name, title, gives, shown in PAGES}
    types = [f"::: hedgerow._native.{name}\n\n{meaning}" for name, meaning in TYPES.items()]
    gives = "Signatures name these types of arguments. The package does not export them."
    texts["types"] = "\n\n".join(["# Types of arguments", gives, *types]) + "\n"
    return {f"reference/python/{name}.md": text for name, text in texts.items()}


def _page(title: str, gives: str, shown: str) -> str:
    return "\n\n".join([f"# {title}", gives, *(f"::: hedgerow.{name}" for name in shown.split())]) + "\n"
