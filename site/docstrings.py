"""Docstrings for the reference: the stub of the native module has signatures alone."""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

import griffe

import reference

# A release has its own reference from the wheel that it ships.
PACKAGE = Path(os.environ.get("HEDGEROW_PACKAGE") or Path(__file__).resolve().parent.parent / "python/src")
PARAMETER = re.compile(r"^(?P<names>[*\w][\w, *]*) : (?P<type>.+)$", re.MULTILINE)


class NativeDocstrings(griffe.Extension):
    """Takes the docstrings of the native half from the module, which it imports."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        if pkg.name != "hedgerow":
            return
        if str(PACKAGE) not in sys.path:
            sys.path.insert(0, str(PACKAGE))
        import hedgerow

        if unshown := set(hedgerow.__all__) - reference.names() - {"__version__"}:
            raise SystemExit(f"site/reference.py has no page for {', '.join(sorted(unshown))}")
        native = pkg["_native"]
        for name in hedgerow.__all__:
            if name in native.members and not native.members[name].is_alias:
                _take(native[name], getattr(hedgerow, name))


def _take(shown: griffe.Object, real: Any) -> None:
    """Sets the docstrings of an object and of its members."""
    text = inspect.getdoc(real)
    if text:
        shown.docstring = griffe.Docstring(text, parent=shown, parser="numpy")
        _state_types(shown, text)
    if shown.is_class:
        _declare_overloaded(shown)
        stub = {name for name, member in shown.members.items() if _is_public(name) and member.is_function}
        module = {name for name, member in vars(real).items() if _is_public(name) and callable(member)}
        if names := ", ".join(sorted(stub ^ module)):
            raise SystemExit(f"{shown.path}: stub and native module differ in {names}; `make python` builds the module")
        for name, member in shown.members.items():
            if _is_public(name) and (inner := inspect.getattr_static(real, name, None)) is not None:
                _take(member, inner)


def _declare_overloaded(shown: griffe.Object) -> None:
    """Adds the members of which a stub has overloads alone: griffe makes none of them."""
    for name, overloads in shown.overloads.items():
        if name not in shown.members and overloads:
            first = overloads[0]
            every = {parameter.name: parameter for overload in overloads for parameter in overload.parameters}
            parameters = griffe.Parameters(*every.values())
            member = griffe.Function(name, parameters=parameters, returns=first.returns, lineno=first.lineno)
            member.overloads = overloads
            shown.set_member(name, member)


def _state_types(shown: griffe.Object, text: str) -> None:
    """Shows types of parameters in the words of the docstring, and defaults of the signature."""
    found = PARAMETER.finditer(text)
    words = {name.strip(): line["type"] for line in found for name in line["names"].split(",")}
    defaults = {parameter.name: parameter.default for parameter in getattr(shown, "parameters", [])}
    for section in shown.docstring.parsed if shown.docstring else []:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for parameter in section.value:
                parameter.annotation = words.get(parameter.name, parameter.annotation)
                parameter.value = defaults.get(parameter.name.lstrip("*"))


def _is_public(name: str) -> bool:
    return not name.startswith("_")
