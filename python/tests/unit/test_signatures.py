"""One language in all calls: parameters for keys, labels, kinds, directions, ranks and filters have the same names, defaults and types
in all calls, and all calls accept the same values, or refuse them with the same message.

The test makes each call with each value of a parameter. The outcome of most calls is the rule; `EXCEPTIONS` lists the others, each
with its reason. An entry whose call follows the rule fails the test.
"""

import ast
import collections
import contextlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hedgerow
from hedgerow import _native

# A file of edges, and one of vertices.
FILES = [Path(__file__).with_name("files") / name for name in ("edges.csv", "vertices.csv")]

# The other arguments of each call, besides the parameter under test. Every call with one of the parameters below has an entry.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "Database.maintain": {"name": "wcc"},
    "Database.load": {"path": FILES[0], "vertices": FILES[1]},
    "Database.put_edge": {"src": 1, "dst": 2},
    "Database.insert_edge": {"src": 1, "dst": 2},
    "Database.remove_edge": {"src": 1, "dst": 2},
    "Database.define_property": {"name": "new", "type": int},
    "Database.add_edges": {"src": [1], "dst": [2]},
    "Database.add_vertices": {"keys": [1]},
    "Database.set_vertex_properties": {"keys": [1], "properties": {}},
    "Database.remove_vertices": {"keys": [1]},
    "Database.update_edges": {"src": [1], "dst": [2], "properties": {}},
    "Database.remove_edges": {"src": [1], "dst": [2]},
    "Database.remove_edges_where": {"label": "calls", "rank_range": (0, 5)},
    "Transaction.put_edge": {"src": 1, "dst": 2},
    "Transaction.add_edge": {"src": 1, "dst": 2},
    "Transaction.insert_edge": {"src": 1, "dst": 2},
    "Transaction.update_edge": {"src": 1, "dst": 2},
    "Transaction.remove_edge": {"src": 1, "dst": 2},
    "Transaction.add_vertex": {"key": 1},
    "Transaction.update_vertex": {"key": 1},
    "Transaction.insert_vertex": {"key": 1},
    "Transaction.remove_vertex": {"key": 1},
    "Transaction.remove_edges_of": {"key": 1, "most": 9},
    "Transaction.add_edges": {"src": [1], "dst": [2]},
    "Transaction.add_vertices": {"keys": [1]},
    "Transaction.set_vertex_properties": {"keys": [1], "properties": {}},
    "Transaction.remove_vertices": {"keys": [1]},
    "Transaction.update_edges": {"src": [1], "dst": [2], "properties": {}},
    "Transaction.remove_edges": {"src": [1], "dst": [2]},
    "Transaction.has_vertex": {"key": 1},
    "Transaction.has_edge": {"src": 1, "dst": 2},
    "Transaction.edge_properties": {"src": 1, "dst": 2},
    "Transaction.vertex_properties": {"key": 1},
    "Transaction.weight": {"src": 1, "dst": 2},
    "Transaction.neighbors": {"key": 1},
    "Transaction.degree": {"key": 1},
    "Pipeline.insert_edge": {"src": 1, "dst": 2},
    "Pipeline.put_edge": {"src": 1, "dst": 2},
    "Pipeline.remove_edge": {"src": 1, "dst": 2},
    "Pipeline.insert_edges": {"src": [1], "dst": [2]},
    "Pipeline.put_edges": {"src": [1], "dst": [2]},
    "Pipeline.remove_edges": {"src": [1], "dst": [2]},
    "Snapshot.has_vertex": {"key": 1},
    "Snapshot.has_edge": {"src": 1, "dst": 2},
    "Snapshot.edge_properties": {"src": 1, "dst": 2},
    "Snapshot.vertex_properties": {"key": 1},
    "Snapshot.weight": {"src": 1, "dst": 2},
    "Snapshot.neighbors": {"key": 1},
    "Snapshot.find": {"properties": {"name": "Ann"}},
    "Snapshot.newest_neighbors": {"key": 1, "label": "calls", "limit": 3},
    "Snapshot.degree": {"key": 1},
    "Snapshot.degrees": {"keys": [1]},
    "Snapshot.contains_edges": {"sources": [1], "destinations": [2]},
    "Snapshot.k_hop": {"sources": [1], "hops": 2},
    "Snapshot.neighbors_of": {"keys": [1]},
    "Snapshot.csr": {"label": "calls"},
    "Snapshot.vertex_table": {},
    "Snapshot.edges": {},
    "Snapshot.edge_count_of": {"label": "calls"},
    "Snapshot.edge_table": {"label": "calls"},
    "Snapshot.edge_stream": {"label": "calls"},
    "Snapshot.vertex_stream": {},
    "Snapshot.expand": {"keys": [1], "label": "calls"},
    "Snapshot.scan_edges": {"label": "calls"},
    "Snapshot.scan_vertices": {},
    "Snapshot.edge_dataset": {"label": "calls"},
    "Snapshot.vertex_dataset": {},
    "Snapshot.to_networkx": {},
    "Snapshot.to_igraph": {},
    "Snapshot.to_scipy": {"label": "calls"},
    "Snapshot.bfs": {"source": 1},
    "Snapshot.pagerank": {},
    "Snapshot.sssp": {"source": 1},
    "Snapshot.triangle_count": {},
    "Snapshot.wcc": {},
    "Snapshot.run": {"kernel": "pagerank"},
}


# The call needs a package that is not among those of the tests.
if importlib.util.find_spec("igraph") is None:
    del ARGUMENTS["Snapshot.to_igraph"]


class Thing(NamedTuple):
    """A kind of parameter: its names, its types in the stubs, its default, and the values with which the test tries it.

    Without types it covers all parameters of these names, which must have one type.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    default: str
    values: list[Any]


LABELS = ["", "calls", "nope", 5, b"calls", ["calls", ""], ("calls",), [], [5]]
RANGES = [None, (0, 5), (None, None), (5, 1), (0,), 5, ("a", "b"), (-1, 5), [0, 5]]
FILTERS = [("seconds", ">", 1), ("nope", ">", 1), ("seconds", "~", 1), ("seconds", ">", "x"), ("seconds", ">"), 5, "seconds"]
KEY = [1, 99, -1, 2**64, True, 1.5, "1", None, ("page", 1), ("nope", 1), ("page",), (1, 2)]
KEYS = [[1], (1,), [-1], [True], [1.5], ["1"], [None], 5, None, [("page", 1)], [("nope", 1)], "ab"]
KINDS = ["", "page", ["", "page"], "nope", ["nope"], 5, [], [5]]

THINGS = {
    "a key": Thing(("key", "src", "dst", "source"), ("_Key",), "", KEY),
    "keys": Thing(("keys", "src", "dst", "sources", "destinations"), ("_Keys",), "", KEYS),
    "one label": Thing(("label",), ("str | None", "str"), "None", [None, *LABELS]),
    "labels": Thing(("label",), ("_Labels | None", "_Labels"), "None", [None, *LABELS]),
    "a kind": Thing(("kind",), (), "None", [None, "", "page", "nope", 5, ["page"]]),
    "kinds": Thing(("kinds",), (), "None", [None, *KINDS]),
    "one direction": Thing(("direction",), ("_Direction",), "'out'", ["out", "in", "both", "sideways", 5, None]),
    "a direction": Thing(
        ("direction",), ("_EdgeDirection", "_EdgeDirection | None"), "'out'", ["out", "in", "both", "sideways", 5, None]
    ),
    "ranks": Thing(("rank_range",), (), "None", RANGES),
    "a filter": Thing(("where",), (), "None", [None, *FILTERS]),
}

# Reads that take one label, with the reason why they do not take several.
ONE_LABEL = {
    "Snapshot.has_edge": "names one edge",
    "Snapshot.edge_properties": "names one edge",
    "Snapshot.contains_edges": "names one edge by each row",
    "Snapshot.newest_neighbors": "ranks of several labels are no common order",
    "Snapshot.csr": "the rows are those of one table",
    "Snapshot.edge_stream": "the rows are those of one table",
    "Snapshot.scan_edges": "the rows are those of one table",
    "Snapshot.edge_dataset": "the rows are those of one table",
    "Snapshot.expand": "the rows are those of one table",
    "Snapshot.to_scipy": "the rows are those of one table",
    "Snapshot.edge_count_of": "a number for each label; `edge_count` is that of all",
    "Transaction.has_edge": "names one edge",
    "Transaction.edge_properties": "names one edge",
    "Transaction.neighbors": "reads inside a transaction are of one label or all, since conflicts are found by lists",
    "Transaction.degree": "reads inside a transaction are of one label or all, since conflicts are found by lists",
    "Database.maintain": "changes are followed label by label",
    "Database.define_property": "a property belongs to one label",
    "Database.load": "a row is one edge",
}
# Calls that read in one direction, with the reason why they do not read in both.
ONE_WAY = {
    "Snapshot.csr": "a row has the edges of one direction",
    "Snapshot.to_scipy": "a row has the edges of one direction",
    "Snapshot.newest_neighbors": "lists by rank are kept for each direction",
    "Transaction.neighbors": "reads inside a transaction are of one list",
    "Transaction.degree": "reads inside a transaction are of one list",
}
# Parameters of another shape: the shape, and the reason.
SHAPES = {
    **{
        (f"{owner}.add_edges", end): ("a default", "comes by position too, or names a column of a table")
        for owner in ("Database", "Transaction")
        for end in ("src", "dst")
    },
    ("Snapshot.newest_neighbors", "label"): ("no default", "there is no order of ranks without a label"),
    ("Snapshot.edge_count_of", "label"): ("no default", "`edge_count` is that of all labels"),
    ("Snapshot.csr", "label"): ("by position", "names the table"),
    ("Database.remove_edges_where", "label"): ("no default", "a removal from all labels is to be written out"),
    ("Snapshot.find", "kind"): ("by position", "names the table"),
    ("Snapshot.edge_table", "label"): ("by position", "names the table"),
    ("Snapshot.edge_stream", "label"): ("by position", "names the table"),
    ("Snapshot.vertex_stream", "kind"): ("by position", "names the table"),
    ("Snapshot.scan_edges", "label"): ("by position", "names the table"),
    ("Snapshot.scan_vertices", "kind"): ("by position", "names the table"),
    ("Snapshot.edge_dataset", "label"): ("by position", "names the table"),
    ("Snapshot.vertex_dataset", "kind"): ("by position", "names the table"),
    ("Snapshot.to_scipy", "label"): ("by position", "names the table"),
    ("Snapshot.vertex_table", "kind"): ("by position", "names the table"),
    ("Transaction.add_edge", "label"): ("by position", "the arguments come in the order of a graph of many labels"),
    ("Snapshot.run", "direction"): ("another default", "the default is the kernel's own"),
}


class Exempt(NamedTuple):
    """Calls whose outcome for some values differs from that of most calls, and the reason."""

    thing: str
    values: list[Any]
    calls: str
    reason: str


SEARCHES = "Snapshot: neighbors degree newest_neighbors bfs sssp"
NAMED_ONE = "Database: put_edge insert_edge remove_edge; Transaction: put_edge add_edge insert_edge update_edge remove_edge edge_properties; Snapshot: edge_properties"
EXCEPTIONS = [
    Exempt("keys", [None], "Database: add_edges; Transaction: add_edges", "None means that the argument is not given"),
    Exempt("a key", [99], f"{SEARCHES}; Transaction: neighbors degree", "a vertex without lists is an error, which tells it from one without edges"),
    Exempt("a key", ["1"], f"{SEARCHES} has_vertex has_edge edge_properties vertex_properties weight", "in a store with kinds a snapshot says that there is no such vertex"),
    Exempt("one label", [None], "Snapshot: csr edge_stream expand scan_edges edge_dataset to_scipy", "edges of several labels are refused without a label"),
    Exempt("labels", [None], "Snapshot: edge_table", "edges of several labels are refused without a label"),
    Exempt("one label", [None], "Snapshot: newest_neighbors edge_count_of", "the label has no default"),
    Exempt("one label", ["calls"], f"{NAMED_ONE}; Database: update_edges remove_edges; Transaction: update_edges remove_edges", "edges of a `multi` label are named by ranks too"),
    Exempt("one label", ["nope"], "Database: put_edge insert_edge add_edges load; Transaction: put_edge add_edge insert_edge add_edges", "the first edge of a label defines it"),
    Exempt("a kind", ["nope"], "Database: load", "the first vertex of a file's kind defines it"),
    Exempt("one label", [""], "Snapshot: newest_neighbors", "without ranks no edge is the newest"),
    Exempt("labels", [None], "Database: remove_edges_where", "the label has no default"),
    Exempt("ranks", [None], "Database: remove_edges_where", "a removal without a condition is refused"),
    Exempt("a direction", [None], "Snapshot: run", "the default is the kernel's own"),
    Exempt("a filter", [("nope", ">", 1)], "Snapshot: edge_table edge_stream expand scan_edges edge_dataset; Database: remove_edges_where", "the test names a label, which the message then names"),
]


# The parameters that are the names of a table's columns.
OF_TABLES = {(f"{owner}.{call}", name) for owner in ("Database", "Transaction") for call, name in (("add_edges", "weight"), ("add_edges", "rank"), ("add_vertices", "key"))}


def functions() -> Iterator[tuple[str, Any]]:
    """Yields the methods that take one of these things."""
    names = {name for thing in THINGS.values() for name in thing.names}
    for owner in ("Database", "Transaction", "Pipeline", "Snapshot"):
        for member, function in vars(getattr(hedgerow, owner)).items():
            if member == "to_igraph" and f"{owner}.{member}" not in ARGUMENTS:
                continue
            if not member.startswith("_") and inspect.isroutine(function) and member not in ("define_kind", "define_label"):
                if names & inspect.signature(function).parameters.keys():
                    yield f"{owner}.{member}", function


def annotations() -> dict[tuple[str, str], str]:
    """Returns the types of methods' parameters in the stubs, which `test_package.py` compares with the package."""
    stub = ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text())
    classes = [node for node in stub.body if isinstance(node, ast.ClassDef)]
    methods = [(of.name, node) for of in classes for node in of.body if isinstance(node, ast.FunctionDef)]
    types: dict[tuple[str, str], str] = {}
    for of, method in methods:
        for argument in method.args.args + method.args.kwonlyargs:
            # The first form of a call takes columns, the other one a table, whose columns it names.
            if argument.annotation and (f"{of}.{method.name}", argument.arg) not in OF_TABLES:
                types.setdefault((f"{of}.{method.name}", argument.arg), ast.unparse(argument.annotation))
    return types


TYPES = annotations()
FUNCTIONS = dict(functions())


def takes(thing: Thing) -> list[tuple[str, str]]:
    """Returns the calls that take a thing, each with the name of the parameter."""
    found = [(call, name) for call in FUNCTIONS for name in thing.names if (call, name) in TYPES]
    return [at for at in found if not thing.types or TYPES[at] in thing.types]


def test_each_parameter_is_one_of_these_things() -> None:
    known = {it for thing in THINGS.values() for it in takes(thing)}
    names = {name for thing in THINGS.values() for name in thing.names}
    there = {(call, name) for call, function in FUNCTIONS.items() for name in names & inspect.signature(function).parameters.keys()}
    assert sorted(there - known - OF_TABLES) == [], "types that other calls do not give these parameters"
    assert FUNCTIONS.keys() - ARGUMENTS.keys() == set(), "add the other arguments of these calls to ARGUMENTS"
    assert ARGUMENTS.keys() - FUNCTIONS.keys() == set(), "ARGUMENTS has calls that no longer exist"


def test_headings_of_docstrings_are_lines_of_their_own() -> None:
    owners = [member for member in vars(hedgerow).values() if isinstance(member, type)]
    documented = [member for owner in [hedgerow, *owners] for member in vars(owner).values() if callable(member)]
    lines = [line.strip() for member in documented for line in (inspect.getdoc(member) or "").splitlines()]
    assert lines.count("Parameters") >= 50
    assert [line for line in lines if "----" in line and line.strip("-")] == []


def test_reads_take_several_labels_and_both_directions() -> None:
    writes = ("put_edge", "add_edge", "insert_edge", "update_edge", "remove_edge", "add_edges", "update_edges", "remove_edges")
    one = {call for call, _ in takes(THINGS["one label"]) if call.split(".")[1] not in writes}
    assert one == ONE_LABEL.keys()
    assert {call for call, _ in takes(THINGS["one direction"])} == ONE_WAY.keys()


def test_parameters_have_one_shape() -> None:
    others = set()
    for thing in THINGS.values():
        types = {TYPES[at] for at in takes(thing)}
        assert types == set(thing.types) or (not thing.types and len(types) == 1), types
        for call, name in takes(thing):
            parameter = inspect.signature(FUNCTIONS[call]).parameters[name]
            if thing.default == "":
                found = "a default" if parameter.default is not parameter.empty else ""
            elif parameter.default is parameter.empty:
                found = "no default"
            elif repr(parameter.default) != thing.default:
                found = "another default"
            # A direction may come by position, after keys.
            elif name != "direction" and parameter.kind is not parameter.KEYWORD_ONLY:
                found = "by position"
            else:
                found = ""
            if found:
                others.add((call, name, found))
    assert others == {(*at, what) for at, (what, _) in SHAPES.items()}


def test_a_call_with_a_filter_chooses_edges_by_label_and_rank_too() -> None:
    for call, function in FUNCTIONS.items():
        names = inspect.signature(function).parameters.keys()
        assert ("where" in names) <= {"label", "rank_range"}.issubset(names), call


def store() -> hedgerow.Database:
    db = hedgerow.open()
    db.define_kind("page")
    db.define_label("calls", multi=True, properties={"seconds": int})
    db.add_vertices([1, 2], kind="page", properties={"name": ["Ann", "Bob"]})
    db.define_property("name", str)
    db.add_edges([1, 2, 3], [2, 3, 1], label="calls", ranks=[0, 1, 2], properties={"seconds": [1, 2, 3]})
    db.add_edges([1, 2], [2, 1])
    return db


def outcome(call: str, name: str, value: object, reader: hedgerow.Snapshot) -> tuple[str, str]:
    """Returns the outcome of a call with a value: accepted, or its error."""
    owner, member = call.split(".")
    # Writing calls get a store of their own.
    things: dict[str, Callable[[], Any]] = {
        "Snapshot": lambda: reader,
        "Database": store,
        "Transaction": lambda: store().write(),
        "Pipeline": lambda: store().pipeline(),
    }
    thing = things[owner]()
    try:
        getattr(thing, member)(**(ARGUMENTS[call] | {name: value}))
        said = ("accepted", "")
    except Exception as error:
        # Errors of columns begin with the name of the column.
        words = str(error)
        said = (type(error).__name__, "COLUMN" + words.removeprefix(name) if words.startswith(name) else words)
    with contextlib.suppress(hedgerow.ProgrammingError):
        # The error may have ended the transaction.
        thing.rollback() if owner == "Transaction" else None
    return said


def exempt(name: str, value: object) -> dict[str, str]:
    """Returns the calls whose outcome for a value may differ, each with the reason."""
    found = {}
    for entry in EXCEPTIONS:
        if entry.thing == name and repr(value) in map(repr, entry.values):
            for calls in entry.calls.split("; "):
                owner, members = calls.split(": ")
                found |= {f"{owner}.{member}": entry.reason for member in members.split()}
    return found


@pytest.mark.parametrize("name", THINGS)
def test_values_mean_the_same_in_all_calls(name: str) -> None:
    reader, wrong = store().snapshot(), []
    for value in THINGS[name].values:
        groups: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
        for call, parameter in takes(THINGS[name]):
            groups[outcome(call, parameter, value, reader)].add(call)
        rule = max(groups, key=lambda said: (len(groups[said]), said))
        others = {call: said for said, calls in groups.items() if said != rule for call in calls}
        allowed = exempt(name, value)
        wrong += [f"{value!r}: {call}: {said}, but most: {rule}" for call, said in others.items() if call not in allowed]
        wrong += [f"{value!r}: {call} is no exception" for call in allowed if call not in others]
    assert wrong == []
