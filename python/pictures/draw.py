"""Draws the pictures of the guide's pages on kernels, from the data folder (`HEDGEROW_DATA`, by default `../shared/data`).

    make python
    .venv/bin/pip install matplotlib
    .venv/bin/python python/pictures/draw.py docs/guide/analytics/pictures

Each picture shows what kernels found on a real graph: flights between airports (air-routes) and friendships (ego-Facebook).
"""

from __future__ import annotations

import csv
import io
import os
import pathlib
import sys
from dataclasses import dataclass
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import zstandard
from PIL import Image

import hedgerow

LAND = "#d9d9d9"


def data_folder() -> pathlib.Path:
    return pathlib.Path(os.environ.get("HEDGEROW_DATA", "../shared/data"))


def text_of(path: pathlib.Path) -> io.TextIOWrapper:
    with path.open("rb") as packed:
        return io.TextIOWrapper(io.BytesIO(zstandard.ZstdDecompressor().stream_reader(packed).read()), "utf-8")


@dataclass
class Airports:
    """Airports under their codes, where they lie, and a snapshot of the flights between them, weighted by miles."""

    flights: hedgerow.Snapshot
    places: dict[str, tuple[float, float]]

    def on_map(self, axes: Any, codes: Any, **style: Any) -> Any:
        longitude, latitude = zip(*(self.places[code] for code in codes), strict=True)
        return axes.scatter(longitude, latitude, **style)


def airports() -> Airports:
    folder = data_folder() / "property" / "air-routes"
    codes, places = {}, {}
    for row in csv.DictReader(text_of(folder / "air-routes-latest-nodes.csv.zst")):
        if row["~label"] == "airport":
            codes[row["~id"]] = row["code:string"]
            places[row["code:string"]] = (float(row["lon:double"]), float(row["lat:double"]))
    routes = {}
    for row in csv.DictReader(text_of(folder / "air-routes-latest-edges.csv.zst")):
        if row["~label"] == "route":
            ends = tuple(sorted((codes[row["~from"]], codes[row["~to"]])))
            routes[ends] = float(row["dist:int"])
    db = hedgerow.open(keys="str", directed=False, weighted=True)
    db.add_edges([a for a, _ in routes], [b for _, b in routes], list(routes.values()))
    snapshot = db.snapshot()
    return Airports(snapshot, {code: places[code] for code in snapshot.vertices()})


def friendships() -> hedgerow.Snapshot:
    text = text_of(data_folder() / "static" / "snap-ego-Facebook" / "facebook_combined.txt.zst")
    pairs = np.loadtxt(text, dtype=np.uint64)
    db = hedgerow.open(directed=False)
    db.add_edges(pairs[:, 0], pairs[:, 1])
    return db.snapshot()


def world(title: str) -> tuple[Any, Any]:
    figure, axes = plt.subplots(figsize=(9, 4.6), layout="constrained")
    axes.set(title=title, xlabel="longitude", ylabel="latitude", xlim=(-180, 180), ylim=(-60, 82))
    return figure, axes


def paths(air: Airports) -> Any:
    """Hops from one airport, and two shortest paths: by flights and by miles."""
    start, end = "GOH", "PUQ"
    figure, axes = world(f"Flights from Nuuk ({start}), and two shortest paths to Punta Arenas ({end})")
    hops = air.flights.run("bfs", source=start)
    reached = [(code, hop) for code, hop in zip(hops.ids, hops.values, strict=True) if 0 <= hop]
    points = air.on_map(axes, [code for code, _ in reached], c=[hop for _, hop in reached], s=6, cmap="viridis")
    figure.colorbar(points, label="flights needed")
    for kernel, color, name in (("path", "tab:red", "fewest flights"), ("wpath", "tab:orange", "fewest miles")):
        way = [str(code) for code in air.flights.run(kernel, source=start, target=end)[0]]
        longitude, latitude = zip(*(air.places[code] for code in way), strict=True)
        miles = sum(air.flights.weight(a, b) or 0 for a, b in zip(way, way[1:], strict=False))
        label = f"{name}: {len(way) - 1} flights, {miles:,.0f} miles"
        axes.plot(longitude, latitude, color=color, linewidth=1.6, marker="o", markersize=3, label=label)
    axes.legend(loc="lower left")
    return figure


def centrality(air: Airports) -> Any:
    """PageRank against betweenness: hubs have both, gates to remote places only the second."""
    figure, axes = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    ranks, between = air.flights.run("pagerank"), air.flights.run("betweenness")
    degrees = [air.flights.degree(code) for code in ranks.ids]
    points = axes.scatter(ranks.values, between.values + 1, c=degrees, s=10, cmap="plasma")
    figure.colorbar(points, label="destinations")
    gates = sorted((code for code, _ in between.top(60)), key=air.flights.degree)[:3]
    for code in [*gates, *(code for code, _ in between.top(4)), *(code for code, _ in ranks.top(1))]:
        axes.annotate(code, (ranks[code], between[code] + 1), xytext=(3, 3), textcoords="offset points", fontsize=8)
    axes.set(xscale="log", yscale="log", ylim=(10, None))
    axes.set(xlabel="PageRank", ylabel="betweenness (+ 1)", title="Airports: visited often, or needed by those who travel far")
    return figure


def communities(air: Airports) -> Any:
    """Communities that Leiden's algorithm finds from flights alone, where the airports lie."""
    figure, axes = world("Communities of airports, found from flights alone (Leiden)")
    found = air.flights.run("leiden")
    sizes = sorted(found.counts().items(), key=lambda entry: -entry[1])
    for place, (community, size) in enumerate(sizes[:12]):
        members = [code for code, value in zip(found.ids, found.values, strict=True) if value == community]
        air.on_map(axes, members, s=7, color=plt.get_cmap("Paired")(place), label=f"{size} airports")
    rest = {community for community, _ in sizes[12:]}
    members = [code for code, value in zip(found.ids, found.values, strict=True) if value in rest]
    if members:
        air.on_map(axes, members, s=4, color=LAND, zorder=0, label=f"{len(rest)} smaller ones")
    axes.legend(loc="lower left", fontsize=7, ncols=2)
    return figure


def triangles(friends: hedgerow.Snapshot) -> Any:
    """How many of a person's friends are friends of each other, by the number of friends and the core number."""
    figure, axes = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    closed, cores = friends.run("lcc"), friends.run("kcore")
    degrees = friends.degrees(closed.ids)
    order = np.argsort(cores.values)
    points = axes.scatter(degrees[order], closed.values[order], c=cores.values[order], s=7, cmap="viridis")
    figure.colorbar(points, label="core number")
    axes.set(xscale="log", xlabel="friends", ylabel="local clustering coefficient")
    axes.set(title=f"4,039 people of ego-Facebook, {friends.run('tc'):,} triangles of friends")
    return figure


def pairs(air: Airports) -> Any:
    """The airports most similar to one, by the share of destinations in common, and by destinations that few have."""
    source = "ANC"
    figure, both = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axes, kernel, title in zip(both, ("jaccard", "adamic_adar"), ("Jaccard", "Adamic-Adar"), strict=True):
        found = air.flights.run(kernel, sources=[source], k=12)
        axes.barh([str(code) for code in found.dst[::-1]], found.values[::-1], color="tab:blue")
        axes.set(title=f"most similar to {source} ({title})", xlabel="score")
    return figure


def main(folder: pathlib.Path) -> None:
    air, friends = airports(), friendships()
    pictures = {
        "paths": paths(air),
        "centrality": centrality(air),
        "communities": communities(air),
        "triangles": triangles(friends),
        "pairs": pairs(air),
    }
    for name, figure in pictures.items():
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=100, format="png")
        # 64 colors take a quarter of the bytes.
        Image.open(drawn).convert("RGB").quantize(64).save(folder / f"{name}.png", optimize=True)
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "docs/guide/analytics/pictures"))
