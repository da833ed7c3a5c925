//! Zhu et al., *LiveGraph*.

use super::super::experiment::{Experiment, Plot, Rows};
use super::super::measure::Measurement as M;
use super::super::published::Paper;
use super::select::{by_most_threads, with};

const fn experiment(
    place: &'static str,
    title: &'static str,
    differs: &'static str,
    plot: Plot,
    rows: Rows,
) -> Experiment {
    Experiment { paper: Paper::LiveGraph, place, title, differs, plot, rows }
}

const LATENCIES: [&str; 3] = ["latency, mean", "latency, p99", "latency, p999"];

pub(super) const EXPERIMENTS: &[Experiment] = &[
    experiment(
        "figure 1",
        "Scans of lists that are drawn by their degree, with the search for each list, by one thread, on graphs of more and more vertices with 4 neighbours each",
        "Smaller graphs. Edges of a second, where the paper has times. LMDB and RocksDB are measured by LinkBench alone; there is no linked list.",
        Plot::Over("scale"),
        |c| c.records(M::Scales).map(|records| records.to_vec()),
    ),
    experiment(
        "table 3",
        "How long a request of LinkBench takes in memory, of Facebook's mix of reads (TAO)",
        "On the store and on livegraph, whose properties stand in a table beside it and which has no log, so that it is not durable; in the program hedgerow-rivals also on LMDB, redb and, where that is built with it, RocksDB. Durable and not.",
        Plot::Bars,
        |c| Ok(with(c.pick(M::Links, &LATENCIES)?, "mix=tao")),
    ),
    experiment(
        "table 4",
        "How long a request of LinkBench takes in memory, of its own mix (DFLT)",
        "On the same engines as table 3.",
        Plot::Bars,
        |c| Ok(with(c.pick(M::Links, &LATENCIES)?, "mix=dflt")),
    ),
    experiment(
        "figure 5",
        "Requests of LinkBench a second by the number of clients, mix TAO",
        "In memory.",
        Plot::Threads,
        |c| Ok(with(c.pick(M::Links, &["requests"])?, "mix=tao")),
    ),
    experiment(
        "figure 6",
        "Requests of LinkBench a second by the number of clients, mix DFLT",
        "In memory.",
        Plot::Threads,
        |c| Ok(with(c.pick(M::Links, &["requests"])?, "mix=dflt")),
    ),
    experiment(
        "table 10",
        "PageRank and components on snapshots, by all threads",
        "Ten iterations of PageRank, where the paper has 20. Gemini, to which the paper compares, is no engine here; the CSR is what it reads.",
        Plot::Ratios,
        |c| c.pick(M::Kernels, &["pr", "wcc"]).map(by_most_threads),
    ),
];
