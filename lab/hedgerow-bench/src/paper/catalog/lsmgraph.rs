//! Yu et al., *LSMGraph*.

use super::super::experiment::{Experiment, Plot, Rows};
use super::super::measure::Measurement as M;
use super::super::published::Paper;
use super::select::{
    by_most_threads, exact, forms, join, of, ranks_beside_writers, renamed, with, writes_beside_readers,
};

const fn experiment(
    place: &'static str,
    title: &'static str,
    differs: &'static str,
    plot: Plot,
    rows: Rows,
) -> Experiment {
    Experiment { paper: Paper::LsmGraph, place, title, differs, plot, rows }
}

pub(super) const EXPERIMENTS: &[Experiment] = &[
    experiment(
        "figure 10",
        "Insertions of the last fifth of the edges by all threads; the same by one thread with removals among them",
        "Without a memory limit. Of all engines lsmgraph alone has files, from about two million directed edges on, and the system caches them. Of a hundred updates five are removals, where the paper has one of 21.",
        Plot::Bars,
        |c| {
            join([
                exact(c, M::Operations, &["insert"]).map(by_most_threads),
                exact(c, M::Updates, &["insert and remove"]),
            ])
        },
    ),
    experiment(
        "figure 11",
        "How long the slowest hundredth of the hundreds of updates takes: insertions, and insertions with removals among them",
        "By one thread, without a memory limit.",
        Plot::Bars,
        |c| join([c.pick(M::Ingest, &["insert, p99"]), c.pick(M::Updates, &["insert and remove, p99"])]),
    ),
    experiment(
        "figure 12",
        "Shortest paths, breadth-first search, components by all threads, and a scan of all lists by one",
        "Without a memory limit: what lsmgraph reads from files, the system caches.",
        Plot::Ratios,
        |c| {
            join([
                c.pick(M::Kernels, &["sssp", "bfs", "wcc"]).map(by_most_threads),
                c.pick(M::Operations, &["whole scan"])
                    .map(|r| renamed(with(r, "order=sequential"), "whole scan", "scan")),
            ])
        },
    ),
    experiment(
        "figure 14",
        "Space of an edge",
        "Memory, by each container's own count, where the paper has the space on disks. What lsmgraph has in files does not count.",
        Plot::Bars,
        |c| c.pick(M::Ingest, &["memory"]),
    ),
    experiment(
        "figure 15",
        "Structures of the buffer in memory: arrays alone, skip lists alone, and arrays that become skip lists; insertions and scans",
        "Insertions are of the first half of the edges, by one thread; a scan is one of all lists, with what has left the buffer of 64 MiB.",
        Plot::Bars,
        |c| Ok(of(forms(c, &["insert", "scan"])?, &["lsmgraph", "lsmgraph, array", "lsmgraph, skip list"])),
    ),
    experiment(
        "figure 16",
        "Kernels and scans with and without the index over levels",
        "A buffer of 2 MiB, so that smaller graphs have levels too. One thread. Bytes that are read are not counted. Without the index the offsets of all levels are in memory.",
        Plot::Ratios,
        |c| {
            let compared = ["lsmgraph, 2 MiB", "lsmgraph, 2 MiB, no index"];
            Ok(of(forms(c, &["bfs", "pr", "sssp", "wcc", "scan"])?, &compared))
        },
    ),
    experiment(
        "figure 17",
        "Shortest paths and scans with the index over levels, and with Bloom filters of vertices instead",
        "A buffer of 2 MiB, so that smaller graphs have levels too. One thread.",
        Plot::Ratios,
        |c| {
            let compared = ["lsmgraph, 2 MiB", "lsmgraph, 2 MiB, Bloom filters"];
            Ok(of(forms(c, &["sssp", "scan"])?, &compared))
        },
    ),
    experiment(
        "figure 18",
        "Readers beside writers: PageRank, and updates",
        "Without a memory limit. PageRank, where the paper has shortest paths and scans.",
        Plot::Over("writers"),
        |c| join([ranks_beside_writers(c), writes_beside_readers(c)]),
    ),
];
