"""The page *what the defaults do*: each parameter with a default has an entry there, and each entry has a parameter.

`HEDGEROW_BLESS=1 pytest python/tests/unit/test_defaults_page.py` writes the page from `defaults.py` and the signatures.
"""

import inspect
import os
from collections.abc import Iterable, Iterator

from defaults import HARMLESS, SECTIONS, Default
from support import ROOT

import hedgerow

PAGE = ROOT / "docs/guide/defaults.md"
# (class or "hedgerow", call, parameter, default)
Parameter = tuple[str, str, str, str]

HEAD = """# What the defaults do

Each parameter of the Python package that has a default, and what the call does without it. A test writes this page from the
signatures: `HEDGEROW_BLESS=1 pytest python/tests/unit/test_defaults_page.py`. Parameters of kernels that `run` passes on are on the
[page of kernels](kernels.md), with their defaults.

No default drops, renames, rescales, samples or replaces anything silently: the call does what this page says, or its result says
what was done ([why](../design/defaults.md)).
"""
HARMLESS_HEAD = """
## Harmless defaults

These change neither what the store holds nor what an answer says.
"""


def signatures() -> Iterator[Parameter]:
    """Yields all parameters that have a default, of public functions and of methods of public classes other than results."""
    for name in hedgerow.__all__:
        thing = getattr(hedgerow, name)
        if isinstance(thing, type):
            # Programs make neither results nor errors, and NumPy calls `__array__`, so these have no entry.
            members = {} if issubclass(thing, BaseException) else vars(thing)
            methods = [(member, getattr(thing, member)) for member in members if not member.startswith("_")]
            found = [(name, member, method) for member, method in methods if inspect.isroutine(method)]
        else:
            found = [("hedgerow", name, thing)] if callable(thing) else []
        for owner, member, function in found:
            for parameter in inspect.signature(function).parameters.values():
                if parameter.default is not parameter.empty:
                    yield owner, member, parameter.name, repr(parameter.default)


def named(entries: Iterable[Default]) -> Iterator[Parameter]:
    for entry in entries:
        for calls in entry.calls:
            owner, *members = calls.split()
            for member in members:
                yield owner, member, entry.parameter, entry.default


def entries() -> list[Default]:
    return [entry for section in SECTIONS.values() for entry in section] + HARMLESS


def table(entries: list[Default]) -> str:
    lines = ["", "| parameter | calls | without it |", "| --- | --- | --- |"]
    for entry in entries:
        default = entry.default.replace("'", '"')
        calls = []
        for of in entry.calls:
            owner, *members = of.split()
            calls.append(f"`{owner}`: " + ", ".join(f"`{member}`" for member in members))
        lines.append(f"| `{entry.parameter}={default}` | {'; '.join(calls)} | {entry.text} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    sections = [f"\n## {title}\n{table(entries)}" for title, entries in SECTIONS.items()]
    return HEAD + "".join(sections) + HARMLESS_HEAD + table(HARMLESS)


def test_each_default_has_its_words() -> None:
    written, there = list(named(entries())), set(signatures())
    assert sorted(there - set(written)) == [], "say in python/tests/defaults.py what these defaults do"
    assert sorted(set(written) - there) == [], "python/tests/defaults.py names defaults that no longer exist"
    assert sorted({it for it in written if written.count(it) > 1}) == [], "python/tests/defaults.py names these twice"
    assert len(there) > 150


def test_the_page_is_written_from_the_signatures() -> None:
    if os.environ.get("HEDGEROW_BLESS"):
        PAGE.write_text(page())
    assert PAGE.exists() and PAGE.read_text() == page(), f"set HEDGEROW_BLESS=1 to write {PAGE.name} anew"
