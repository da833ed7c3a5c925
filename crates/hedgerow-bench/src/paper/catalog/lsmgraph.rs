//! Yu et al., *LSMGraph*.

use super::super::experiment::{Experiment, Plot, Rows};
use super::super::measure::Measurement as M;
use super::super::published::Paper;
use super::select::{by_most_threads, exact, join, renamed, with};

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
        "In memory, without a limit. Of a hundred updates five are removals, where the paper has one of 21.",
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
        "In memory, by one thread.",
        Plot::Bars,
        |c| join([c.pick(M::Ingest, &["insert, p99"]), c.pick(M::Updates, &["insert and remove, p99"])]),
    ),
    experiment(
        "figure 12",
        "Shortest paths, breadth-first search, components by all threads, and a scan of all lists by one",
        "In memory.",
        Plot::Ratios,
        |c| {
            join([
                c.pick(M::Kernels, &["sssp", "bfs", "wcc"]).map(by_most_threads),
                c.pick(M::Operations, &["whole scan"])
                    .map(|r| renamed(with(r, "order=sequential"), "whole scan", "scan")),
            ])
        },
    ),
    experiment("figure 14", "Space of an edge", "In memory, where the paper has disks.", Plot::Bars, |c| {
        c.pick(M::Ingest, &["memory"])
    }),
    experiment(
        "figure 18",
        "Readers beside writers: PageRank, and updates",
        "In memory. PageRank, where the paper has shortest paths and scans.",
        Plot::Over("writers"),
        |c| join([c.pick(M::Mixed, &["pr"]), Ok(renamed(c.pick(M::Mixed, &["write"])?, "write", "insert"))]),
    ),
];
