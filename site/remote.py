"""Whether pages load anything that does not lie in the site. A link that a reader clicks is no load."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

# Attributes that a browser follows without the reader.
LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("source", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("embed", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("object", "data"),
    ("link", "href"),
}
# Links of a head that name a page and load nothing.
NAMES = {"canonical", "prev", "next", "alternate"}
ELSEWHERE = re.compile(r"^\s*(https?:)?//")
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^\"')\s]*")


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and set((values.get("rel") or "").split()) <= NAMES:
            return
        for name, value in attrs:
            if (tag, name) in LOADED and ELSEWHERE.match(value or ""):
                self.found.append(f"<{tag} {name}={value}>")
            if name == "style" and IN_STYLE.search(value or ""):
                self.found.append(f"<{tag} style={value}>")


def resources(site: Path) -> list[str]:
    """All such loads in pages and style sheets, each with its file."""
    found = []
    for path in sorted(site.rglob("*.html")):
        parser = _Loads()
        text = path.read_text()
        parser.feed(text)
        found += [f"{path.relative_to(site)}: {what}" for what in parser.found]
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.relative_to(site)}: {what}" for what in IN_STYLE.findall(path.read_text())]
    return found
