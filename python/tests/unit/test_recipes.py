"""The recipes: a page shows what its program is and prints, and the program finds what it put into its data.

`HEDGEROW_BLESS=1 pytest python/tests/unit/test_recipes.py` writes programs and output into the pages.
"""

import contextlib
import functools
import io
import os
import runpy
import tempfile
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

PAGES = ROOT / "docs/recipes"
# These need packages that the tests do not install; the stage `elsewhere` runs them where they are installed.
ELSEWHERE = ("ray_degrees", "spark_pagerank")
PROGRAMS = {program.stem: program for program in sorted((ROOT / "examples").glob("*.py")) if program.stem not in ELSEWHERE}
MOST_LINES = 60


@functools.cache
def run(name: str) -> tuple[dict[str, Any], str]:
    """Runs a program in an empty folder and returns its global names and what it prints."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with contextlib.redirect_stdout(printed):
            names = runpy.run_path(str(PROGRAMS[name]), run_name="__main__")
        assert os.listdir(folder) == [], "a recipe leaves no files"
    return names, printed.getvalue()


def page_of(name: str) -> Path:
    return PAGES / f"{name.replace('_', '-')}.md"


def with_block(page: str, language: str, block: str) -> str:
    """Returns a page with another text in its only block of a language."""
    before, *rest = page.split(f"```{language}\n")
    assert len(rest) == 1, f"the page has {len(rest)} blocks of {language}"
    after = rest[0].partition("```\n")[2]
    return f"{before}```{language}\n{block}```\n{after}"


def test_each_program_has_a_page_and_both_are_in_the_index() -> None:
    assert {page_of(name) for name in PROGRAMS} == set(PAGES.glob("*.md")) - {PAGES / "README.md"}
    index = (PAGES / "README.md").read_text()
    for name, program in PROGRAMS.items():
        assert f"({page_of(name).name})" in index
        assert f"(../../examples/{program.name})" in page_of(name).read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_short(name: str) -> None:
    assert len(PROGRAMS[name].read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_page_shows_its_program_and_what_it_prints(name: str) -> None:
    page = page_of(name).read_text()
    wanted = with_block(page, "python", PROGRAMS[name].read_text())
    wanted = with_block(wanted, "text", run(name)[1])
    if os.environ.get("HEDGEROW_BLESS"):
        page_of(name).write_text(wanted)
        return
    assert page == wanted, f"set HEDGEROW_BLESS=1 to write {page_of(name).name} anew"


def test_money_rings_are_found_and_others_are_not_in_turn() -> None:
    names, printed = run("money_rings")
    rows = [row.split() for row in printed.splitlines()[1:]]
    # Each ring ends on the day after it begins.
    rings = [[str(day + 1), *map(str, ring)] for day, ring in names["RINGS"].items()]
    assert [[row[0], *row[5:]] for row in rows if row[4] == "yes"] == rings
    assert all(row[4] == "no" for row in rows if [row[0], *row[5:]] not in rings)


def test_the_newcomer_is_suggested_as_soon_as_others_follow() -> None:
    afternoon, night = run("who_to_follow")[1].split("night")
    assert "newcomer" not in afternoon
    assert night.splitlines()[1].split()[0] == "birds-newcomer"


def test_an_attack_needs_one_of_two_mistakes() -> None:
    rows = {row[:34].strip(): row[34:].split() for row in run("attack_paths")[1].splitlines()}
    assert rows["(as it is)"] == rows["(as it was)"] == ["6.0", "23"]
    assert rows["both mistakes"] == ["no", "path", "2"]
    assert rows["desk-17 logged_in ada"][0] == "8.0" and rows["helpdesk admin_of print"][0] == "6.0"


def test_cycles_and_breakage_are_those_of_a_plain_search() -> None:
    names, printed = run("what_breaks")
    edges = list(names["dependencies"](names["random"].Random(4)))
    for cycle in names["CYCLES"]:
        turns = [cycle[turn:] + cycle[: turn + 1] for turn in range(len(cycle))]
        assert any(f"  {' needs '.join(turn)}\n" in printed for turn in turns)

    def dependents(service: str, *, hard: bool) -> set[str]:
        found = {service}
        chosen = [(one, other) for one, other, is_hard in edges if is_hard or not hard]
        while new := {one for one, other in chosen if other in found} - found:
            found |= new
        return found - {service}

    table = printed.split("if it stops")[1].split("store-3 stops:")[0]
    rows = [row.split() for row in table.splitlines()[1:]]
    for service, stop, webs, less in rows:
        stopped = dependents(service, hard=True)
        assert (int(stop), int(less)) == (len(stopped), len(dependents(service, hard=False) - stopped))
        assert int(webs) == sum(other.startswith("web") for other in stopped)
    assert int(rows[0][1]) == max(len(dependents(needed, hard=True)) for _, needed, _ in edges)


def least_minutes(streets: list[tuple[int, int, int]], source: int) -> dict[int, int]:
    """Returns the least minutes from the source to each crossing, street by street."""
    least, before = {source: 0}, {}
    while least != before:
        before = dict(least)
        for one, other, minutes in streets:
            for start, end in ((one, other), (other, one)):
                if start in least:
                    least[end] = min(least.get(end, 10**6), least[start] + minutes)
    return least


def test_routes_take_the_bridge_that_is_open() -> None:
    names, printed = run("routes_with_closures")
    _, minutes, served, *rows, again = printed.splitlines()
    assert again.endswith("True")
    streets = list(names["streets"](names["random"].Random(2)))
    home, hospital, bridge = names["HOME"], names["HOSPITAL"], names["bridge"]
    closures: list[tuple[set[Any], list[Any]]] = [
        (set(), []),
        ({bridge(4)}, []),
        ({bridge(4), bridge(1)}, [(*bridge(6), 10)]),
    ]
    for at, (closed, opened) in enumerate(closures):
        least = least_minutes([street for street in streets if street[:2] not in closed] + opened, hospital)
        assert int(minutes.split()[2 * at]) == least[home]
        assert int(served.split()[3 * at]) == sum(it <= 45 for it in least.values())
        crossed = [row for row, line in enumerate(rows) if "#=#" in line.split()[at]]
        assert crossed == [[4], [1], [6]][at]


def test_communities_are_the_teams_and_components_the_offices() -> None:
    names, printed = run("communities_over_time")
    rows = [row.split() for row in printed.splitlines() if "component" not in row]
    assert len(rows) == 12
    for day, letters in [(int(row[1]), row[2]) for row in rows]:
        teams = {names["team"](person, day): letters[person] for person in range(64)}
        # Until all meetings of the whole team are forgotten, the split may show or not.
        if not names["TEAM_SPLITS"] <= day < names["TEAM_SPLITS"] + names["WINDOW"]:
            assert "".join(teams[names["team"](person, day)] for person in range(64)) == letters
            assert len(set(teams.values())) == len(teams)
    (joined,) = [row for row in printed.splitlines() if "components: 1, the day before 2" in row]
    assert 0 <= int(joined.split()[1].rstrip(":")) - names["OFFICES_MEET"] <= 10
