//! De Leo and Boncz, *Teseo and the Analysis of Structural Dynamic Graphs*.

use super::super::experiment::{Experiment, Plot, Rows};
use super::super::measure::Measurement as M;
use super::super::published::Paper;
use super::select::{by_most_threads, exact, join, renamed};

const fn experiment(
    place: &'static str,
    title: &'static str,
    differs: &'static str,
    plot: Plot,
    rows: Rows,
) -> Experiment {
    Experiment { paper: Paper::Teseo, place, title, differs, plot, rows }
}

pub(super) const EXPERIMENTS: &[Experiment] = &[
    experiment(
        "table 3",
        "The kernels of LDBC Graphalytics on snapshots, by all threads; local clustering over sorted lists, each triangle once",
        "All edges weigh 1, and ids are dense: Teseo's are the paper's real ids.",
        Plot::Ratios,
        |c| {
            let kernels = ["bfs", "pr", "sssp", "wcc", "lcc", "cdlp"];
            let kernels = by_most_threads(c.pick(M::Kernels, &kernels)?);
            Ok(renamed(kernels, "lcc", "lcc, sorted"))
        },
    ),
    experiment(
        "figure 6",
        "Insertions of all edges in random order, one by one, by more and more threads",
        "",
        Plot::Threads,
        |c| exact(c, M::Ingest, &["insert"]),
    ),
    experiment(
        "figure 7",
        "Temporary edges that come and go, as many as the graph has: how many updates a second, and how much memory, while that lasts",
        "Twice as many updates as edges, where the paper has ten times. Memory is what each container counts of its own, where the paper has that of the process.",
        Plot::Over("progress"),
        |c| {
            join([
                Ok(renamed(c.pick(M::Updates, &["temporary update"])?, "temporary update", "update")),
                c.pick(M::Updates, &["memory"]),
            ])
        },
    ),
    experiment(
        "figure 9",
        "A scan of all lists in order, and one in random order, by one thread",
        "By the edges of a second, where the paper has the time.",
        Plot::Ratios,
        |c| Ok(renamed(c.pick(M::Operations, &["whole scan"])?, "whole scan", "scan")),
    ),
];
