"""The package itself: the exception tree, docstrings whose examples run, stubs that say what is there."""

import ast
import doctest
import inspect
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import ROOT

import hedgerow
from hedgerow import _native, _result

TREE = {
    "Error": "Exception",
    "OperationalError": "Error",
    "LockedError": "OperationalError",
    "ConflictError": "OperationalError",
    "AbortedError": "OperationalError",
    "OutcomeUnknownError": "OperationalError",
    "PoisonedError": "OperationalError",
    "DiskFullError": "OperationalError",
    "OutOfMemoryError": "OperationalError",
    "CorruptionError": "OperationalError",
    "ProgrammingError": "Error",
    "ClosedError": "ProgrammingError",
    "ForkedError": "ProgrammingError",
    "IntegrityError": "Error",
    "DataError": "Error",
    "NotSupportedError": "Error",
}
# Examples in docstrings and the guide. Fewer would mean that they are no longer found.
MIN_EXAMPLES = 60


def test_exception_tree() -> None:
    exceptions = {n: v for n, v in vars(hedgerow).items() if isinstance(v, type) and issubclass(v, Exception)}
    assert {name: kind.__base__.__name__ for name, kind in exceptions.items()} == TREE
    for name, kind in exceptions.items():
        assert (kind.__name__, kind.__module__) == (name, "hedgerow")
        assert kind.__doc__


def public() -> Iterator[tuple[str, object]]:
    """Everything that users see, with the members of classes."""
    yield "hedgerow", hedgerow
    for name in hedgerow.__all__:
        thing = getattr(hedgerow, name)
        yield name, thing
        if isinstance(thing, type) and not issubclass(thing, Exception):
            for member in vars(thing):
                if not member.startswith("_") or member == "__getitem__":
                    yield f"{name}.{member}", inspect.getattr_static(thing, member)


def examples() -> Iterator[doctest.DocTest]:
    parser = doctest.DocTestParser()
    for name, thing in public():
        scope = dict(vars(hedgerow)) | {"hedgerow": hedgerow}
        test = parser.get_doctest(inspect.getdoc(thing) or "", scope, name, None, None)
        if test.examples:
            yield test
    guides = [ROOT / "docs/guide" / name for name in ("python.md", "kept-answers.md")]
    guides += sorted((ROOT / "docs/guide/analytics").glob("*.md"))
    guides += [ROOT / "docs/start/python.md", ROOT / "docs/operations.md"]
    guides += sorted((ROOT / "docs/concepts").glob("*.md"))
    for guide in guides:
        # A closing fence would read as expected output.
        text = guide.read_text().replace("```\n", "\n")
        yield parser.get_doctest(text, {}, guide.name, str(guide), 0)


@pytest.mark.parametrize("test", list(examples()), ids=lambda test: test.name)
def test_examples(test: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_the_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = (ROOT / "README.md").read_text().split("```python\n")[1:]
    assert len(blocks) == 1
    assert f"```python\n{blocks[0].split('```')[0]}```\n" in (ROOT / "docs/README.md").read_text()
    scope: dict[str, object] = {}
    exec(compile(blocks[0].split("```\n")[0], "README.md", "exec"), scope)  # noqa: S102
    assert scope["db"].closed


def test_the_first_page_on_rust_shows_programs_that_run() -> None:
    run = "".join((ROOT / name).read_text() for name in ("README.md", "docs/guide/rust.md"))
    blocks = (ROOT / "docs/start/rust.md").read_text().split("```rust\n")[1:]
    assert len(blocks) >= 4
    for block in blocks:
        program = block.split("```\n")[0]
        assert f"```rust\n{program}```\n" in run, program


def test_there_are_examples() -> None:
    assert sum(len(test.examples) for test in examples()) >= MIN_EXAMPLES


def test_everything_public_is_documented() -> None:
    for name, thing in public():
        if isinstance(thing, (str, types.MemberDescriptorType)) or type(thing).__name__ == "_tuplegetter":
            continue
        assert inspect.getdoc(thing), f"{name} has no docstring"


def parameters(function: ast.FunctionDef) -> list[tuple[str, str]]:
    """Names of parameters and, as text, what they are if not given."""
    arguments = function.args
    plain = [a.arg for a in arguments.posonlyargs + arguments.args]
    defaults = [""] * (len(plain) - len(arguments.defaults)) + [ast.unparse(d) for d in arguments.defaults]
    keyword = [(a.arg, ast.unparse(d) if d else "") for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    rest = [("**" + arguments.kwarg.arg, "")] if arguments.kwarg else []
    return [*zip(plain, defaults), *(("*" + name, default) for name, default in keyword), *rest]


def runtime_parameters(function: object) -> list[tuple[str, str]]:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    return [
        ("*" * (p.kind is p.KEYWORD_ONLY) + "**" * (p.kind is p.VAR_KEYWORD) + p.name, "" if p.default is p.empty else repr(p.default))
        for p in signature.parameters.values()
    ]


def test_stubs_say_what_is_there() -> None:
    stub = ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text())
    declared = {n.name: n for n in stub.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    present = {name for name in vars(_native) if not name.startswith("_")}
    assert declared.keys() == present
    for name, definition in declared.items():
        thing = getattr(_native, name)
        if isinstance(definition, ast.FunctionDef):
            assert parameters(definition) == runtime_parameters(thing)
        elif issubclass(thing, Exception):
            assert [ast.unparse(base) for base in definition.bases] == [thing.__base__.__name__]
        else:
            members = {m.name: m for m in definition.body if isinstance(m, ast.FunctionDef)}
            visible = {m for m in vars(thing) if not m.startswith("_")}
            visible |= {"__enter__", "__exit__", "__len__", "__bool__", "__contains__", "__iter__", "__getitem__"} & vars(thing).keys()
            assert members.keys() == visible, name
            for member, function in members.items():
                if not function.decorator_list and not member.startswith("_"):
                    assert parameters(function) == runtime_parameters(getattr(thing, member)), f"{name}.{member}"


def test_names() -> None:
    for name in hedgerow.__all__:
        assert hasattr(hedgerow, name)
    assert set(_result.__all__) < set(hedgerow.__all__)
    assert (Path(hedgerow.__file__).parent / "py.typed").exists()
    assert hedgerow.__version__.count(".") == 2
