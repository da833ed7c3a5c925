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
        ["open", "salvage"],
    ),
    ("database", "Database", "An open store.", ["Database"]),
    (
        "transaction",
        "Transaction, Ticket, Pipeline",
        "The ways to write several edges and vertices at once.",
        ["Transaction", "Ticket", "Pipeline"],
    ),
    ("snapshot", "Snapshot, Maintained", "The ways to read.", ["Snapshot", "Maintained"]),
    (
        "results",
        "Results of reads and kernels",
        "What calls return: NumPy arrays under names. Each table goes to Polars, pandas, PyArrow and DuckDB through "
        "Arrow.",
        [
            "VertexResult",
            "Estimate",
            "Paths",
            "Pairs",
            "NeighborLists",
            "Limited",
            "Edges",
            "EdgeTable",
            "VertexTable",
            "Csr",
        ],
    ),
    (
        "reports",
        "Schemas, statistics, reports",
        "What calls return that is no table.",
        ["Added", "Schema", "Label", "Kind", "Stats", "Checkpoint", "Backup", "CheckReport", "SalvageReport"],
    ),
    (
        "errors",
        "Errors",
        "All derive from `hedgerow.Error`, under the names that packages for databases use. The "
        "[guide](../../guide/python.md#errors) says when each is raised.",
        [
            "Error",
            "OperationalError",
            "LockedError",
            "ConflictError",
            "AbortedError",
            "OutcomeUnknownError",
            "PoisonedError",
            "DiskFullError",
            "OutOfMemoryError",
            "CorruptionError",
            "ProgrammingError",
            "ClosedError",
            "ForkedError",
            "IntegrityError",
            "DataError",
            "NotSupportedError",
        ],
    ),
]


def pages() -> dict[str, str]:
    """The text of each page, by its place."""
    return {f"reference/python/{name}.md": _page(title, gives, shown) for name, title, gives, shown in PAGES}


def _page(title: str, gives: str, names: list[str]) -> str:
    return "\n\n".join([f"# {title}", gives, *(f"::: hedgerow.{name}" for name in names)]) + "\n"
