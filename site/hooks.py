"""What MkDocs does besides: pages from outside docs/, links that leave it, the reference, and drawings.

The pages of docs/ are written for a plain git host, where all links are paths of files. On the site a link to a
page that is shown leads to it, and a link to another file of the repository becomes its path. Links to files that
do not exist stay as they are, so that MkDocs reports them.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# MkDocs loads this file by its path; its neighbours are no package.
sys.path.insert(0, str(Path(__file__).parent))

import commands
import reference
import remote

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

# Pages at the root of the repository, and their places on the site.
AT_ROOT = {"README": "overview"} | {
    name: name.lower() for name in ("ARCHITECTURE", "GLOSSARY", "CONTRIBUTING", "CHANGELOG")
}
ROOT_PAGES = {f"{name}.md": f"repository/{place}.md" for name, place in AT_ROOT.items()}

# Fewer pages would mean that some are no longer found.
MIN_PAGES = 60
# Pages that a search shows behind others.
FOR_DEVELOPERS = ("benchmarks", "design/", "format/", "repository/")
# What the site has of docs/.
SHOWN = {".md", ".png", ".svg"}
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>[^)\s]+)\)")
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
DRAWING = re.compile(r"^!\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+\.svg)\)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Expands the folders of the navigation, and leaves out those that do not exist."""
    if not commands.PROGRAM.is_file():
        reason = f"there is no program {commands.PROGRAM}"
        print(f"skipped: the page with the options of the command line ({reason})", flush=True)
    config.nav = _expanded(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that do not lie in docs/."""
    for name, place in ROOT_PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / name)))
    generated = reference.pages() | commands.pages()
    for place, text in generated.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between files into links between pages, and inlines drawings."""
    source = page.file.abs_src_path
    if source is None:
        return markdown
    folder = Path(source).parent
    here = page.file.src_uri
    if here.startswith(FOR_DEVELOPERS):
        page.meta.setdefault("search", {"boost": 0.5})
    parts = FENCED.split(markdown)
    # Code stands at the odd places. A link may be broken over lines.
    for at in range(0, len(parts), 2):
        text = LINK.sub(lambda link: _rewritten(link, folder, here), parts[at])
        parts[at] = DRAWING.sub(lambda drawing: _inlined(drawing, folder), text)
    return "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Refuses a site that loads anything from elsewhere."""
    found = remote.resources(Path(config.site_dir))
    if found:
        raise PluginError("pages load what does not lie in the site:\n" + "\n".join(found))
    count = sum(1 for _ in Path(config.site_dir).rglob("*.html"))
    print(f"explored: pages of the site {count} (floor {MIN_PAGES})", flush=True)


def _rewritten(link: re.Match[str], folder: Path, here: str) -> str:
    target, _, anchor = link["target"].partition("#")
    if not target or ":" in target:
        return link[0]
    path = Path(os.path.normpath(folder / target))
    place = _place(path)
    if place is None:
        known = path.exists() and path.is_relative_to(ROOT)
        return _as_text(link["text"], path.relative_to(ROOT)) if known else link[0]
    relative = os.path.relpath(place, Path(here).parent)
    return f"{link['image']}[{link['text']}]({relative}{'#' if anchor else ''}{anchor})"


def _place(path: Path) -> str | None:
    """Where the site has a file of the repository, a page or a picture."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix() if path.suffix in SHOWN else None
    return ROOT_PAGES.get(path.relative_to(ROOT).as_posix()) if path.is_relative_to(ROOT) else None


def _as_text(text: str, path: Path) -> str:
    """The text of a link to a file that the site does not show, with the path unless the text says it."""
    return text if text.strip("`") in path.as_posix() else f"{text} (`{path.as_posix()}`)"


def _inlined(drawing: re.Match[str], folder: Path) -> str:
    """The drawing in the page: the style sheet of the site colors it, in place of its own."""
    path = folder / drawing["target"]
    if not path.is_file():
        return drawing[0]
    svg = re.sub(r"<style>.*?</style>\s*", "", path.read_text(), flags=re.DOTALL).strip()
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{drawing["text"]}" ', 1)
    return f'<div class="drawing" data-search-exclude>{svg}</div>'


def _expanded(item: Any) -> Any:
    """The navigation with the pages of folders, and without what does not exist."""
    if isinstance(item, list):
        return [one for one in map(_expanded, item) if one not in (None, [], {})]
    if isinstance(item, dict):
        ((title, inner),) = item.items()
        inner = _expanded(inner)
        return {title: inner} if inner else None
    if item.endswith("/"):
        return _pages_of(DOCS / item)
    generated = {*ROOT_PAGES.values(), *reference.pages(), *commands.pages()}
    # A page of docs/ that is missing is an error of MkDocs'; a page that can be absent is generated.
    return item if item in generated or not item.startswith("reference/") else None


def _pages_of(folder: Path) -> list[str]:
    """The index of a folder, then its pages in the order in which the index links to them; others come last."""
    if not folder.is_dir():
        return []
    pages = sorted(path for path in folder.rglob("*.md"))
    index = folder / "README.md"
    if index in pages:
        targets = (link["target"].partition("#")[0] for link in LINK.finditer(index.read_text()))
        order = [index, *dict.fromkeys(Path(os.path.normpath(folder / target)) for target in targets)]
        pages.sort(key=lambda page: order.index(page) if page in order else len(order))
    return [page.relative_to(DOCS).as_posix() for page in pages]
