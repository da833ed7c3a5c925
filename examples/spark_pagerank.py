"""PageRank and components by Spark, over the parts of a graph to which another thread writes.

Needs PySpark 4 and Java 17. The first argument is the scale of the graph (2 to this power vertices), the second one
the number of parts.
"""

import sys
import tempfile
import threading

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import hedgerow

DAMPING, ITERATIONS = 0.85, 10


def random_edges(scale, degree=16):
    """Returns the edges of a graph whose degrees differ much, as those of social networks do (R-MAT)."""
    rng, count = np.random.default_rng(scale), degree << scale
    src, dst = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    for _ in range(scale):
        choice = rng.random(count)
        src = src * 2 + (choice > 0.76)
        dst = dst * 2 + ((choice > 0.57) & (choice <= 0.76) | (choice > 0.95))
    return src, dst


def read_parts(spark, directory):
    """Returns the edges and vertices of an export. Keys are unsigned numbers, which Spark reads as decimals."""
    edges = spark.read.parquet(f"{directory}/edges*.parquet")
    vertices = spark.read.parquet(f"{directory}/vertices*.parquet")
    as_long = [F.col(name).cast("long").alias(name) for name in edges.columns]
    return edges.select(as_long), vertices.select(F.col("id").cast("long").alias("id"))


def pagerank(edges, vertices):
    """Returns the scores by vertex: a join and a sum in each iteration."""
    count = vertices.count()
    links = edges.join(edges.groupBy("src").agg(F.count("*").alias("degree")), "src").cache()
    ends = vertices.join(edges.select(F.col("src").alias("id")).distinct(), "id", "left_anti").cache()
    ranks = vertices.withColumn("rank", F.lit(1 / count))
    for _ in range(ITERATIONS):
        lost = ranks.join(ends, "id").agg(F.coalesce(F.sum("rank"), F.lit(0.0))).first()[0]
        sent = links.join(ranks, links.src == ranks.id).select("dst", (F.col("rank") / F.col("degree")).alias("part"))
        sums = sent.groupBy(F.col("dst").alias("id")).agg(F.sum("part").alias("part"))
        score = (1 - DAMPING + DAMPING * lost) / count + DAMPING * F.coalesce("part", F.lit(0.0))
        ranks = vertices.join(sums, "id", "left").select("id", score.alias("rank")).localCheckpoint()
    return {row.id: row.rank for row in ranks.collect()}


def components(edges, vertices):
    """Returns the least vertex of the component of each vertex: each one takes the least label of its neighbors."""
    both = edges.union(edges.select(F.col("dst").alias("src"), F.col("src").alias("dst"))).distinct().cache()
    labels, changed = vertices.withColumn("label", F.col("id")), True
    while changed:
        offered = both.join(labels, both.src == labels.id).groupBy(F.col("dst").alias("id")).agg(F.min("label").alias("other"))
        joined = labels.join(offered, "id", "left").select("id", "label", F.least("label", F.coalesce("other", "label")).alias("least"))
        joined = joined.localCheckpoint()
        changed = joined.filter("least < label").limit(1).count() > 0
        labels = joined.select("id", F.col("least").alias("label"))
    return {row.id: row.label for row in labels.collect()}


def keep_writing(db, stop):
    """Adds edges until it is stopped. The snapshot that is exported does not see them."""
    at = 1 << 40
    while not stop.wait(0.01):
        at += db.add_edges(range(at, at + 100), range(at + 1, at + 101))


def main(scale=10, parts=4):
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.conf.set("spark.sql.shuffle.partitions", 4)
    with hedgerow.open() as db, tempfile.TemporaryDirectory() as folder:
        db.add_edges(*random_edges(scale))
        pairs = np.arange(1 << 30, (1 << 30) + 200, dtype=np.uint64)
        db.add_edges(pairs[::2], pairs[1::2])  # a hundred small components
        g, stop = db.snapshot(), threading.Event()
        writer = threading.Thread(target=keep_writing, args=(db, stop))
        writer.start()
        try:
            exported = g.export(f"{folder}/parts", partitions=parts)
        finally:
            stop.set()
            writer.join()
        edges, vertices = read_parts(spark, f"{folder}/parts")
        found = {(row.src, row.dst) for row in edges.collect()}
        assert len(found) == edges.count() == g.edge_count == exported.edges, "an edge is missing, or read twice"
        keys, src, dst = g.vertices(), *g.edges()[:2]
        assert found == set(zip(src.tolist(), dst.tolist(), strict=True)), "other edges"
        ranks, ours = pagerank(edges, vertices), g.pagerank(damping=DAMPING, iterations=ITERATIONS)
        worst = max(abs(ranks[key] - score) for key, score in ours.items())
        assert len(ranks) == len(keys) and worst < 1e-9, f"PageRank differs by {worst}"
        labels, least = components(edges, vertices), {}
        for key, label in g.wcc().items():
            least[label] = min(least.get(label, key), key)
        assert labels == {key: least[label] for key, label in g.wcc().items()}, "other components"
        files = len([file for file in exported.files if "/edges." in file])
        print(f"{len(keys)} vertices, {len(found)} edges in {files} files: every edge once, PageRank within {worst:.0e}, {len(least)} components")
    spark.stop()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
