//! Su et al., *Revisiting the Design of In-Memory Dynamic Graph Storage*.

use super::super::context::{Context, without_parameters};
use super::super::experiment::{Experiment, Plot, Rows};
use super::super::measure::Measurement as M;
use super::super::published::Paper;
use super::factors::factors;
use super::select::{
    batches, by_most_threads, by_one_thread, exact, join, ranks_beside_writers, store, structures,
    three_forms, writes_beside_readers,
};
use crate::record::Record;
use hedgerow_report::failure::Result;

const fn experiment(
    place: &'static str,
    title: &'static str,
    differs: &'static str,
    plot: Plot,
    rows: Rows,
) -> Experiment {
    Experiment { paper: Paper::Dgs, place, title, differs, plot, rows }
}

/// Returns all figures of an operation's latency: times of a hundred operations, concurrent with other
/// operations.
fn latencies(context: &Context<'_>, operation: &str) -> Result<Vec<Record>> {
    let mut records = context.records(M::Operations)?.to_vec();
    let is_one = |metric: &str| {
        without_parameters(metric).strip_prefix(operation).is_some_and(|figure| figure.starts_with(", "))
    };
    records.retain(|record| is_one(&record.metric));
    Ok(records)
}

pub(super) const EXPERIMENTS: &[Experiment] = &[
    experiment(
        "table 5",
        "PageRank and triangles on the structures of the containers, without versions and locks, by one thread",
        "The store has no such form, and stands there whole. LiveGraph counts triangles here, on sorted copies of its lists.",
        Plot::Ratios,
        |c| structures(c, &["pr", "tc"]),
    ),
    experiment(
        "table 7",
        "Searches, scans of lists that are drawn by their degree, and insertions of the last fifth of the edges, by all threads",
        "As many threads as the machine has, where the study has 32.",
        Plot::Bars,
        |c| Ok(by_most_threads(exact(c, M::Operations, &["search", "scan", "insert"])?)),
    ),
    experiment(
        "table 9",
        "Memory of an edge, without versions (plain) and with them",
        "What each container counts of its own, for each directed edge, where the study has the resident memory of the process for each graph. The whole has locks beside its versions. What lsmgraph has in files does not count.",
        Plot::Forms,
        |c| join([three_forms(c, &["memory"]), store(c, M::Ingest, &["memory"])]),
    ),
    experiment(
        "table 10",
        "Breadth-first search, shortest paths and components on the structures alone, by one thread",
        "All edges weigh 1.",
        Plot::Ratios,
        |c| structures(c, &["bfs", "sssp", "wcc"]),
    ),
    experiment(
        "table 11",
        "How long a hundred searches take while others insert and scan",
        "One thread of each kind, where the study has 8 that search, 4 that insert and 20 that scan. A reader opens a snapshot for 10,000 operations.",
        Plot::Bars,
        |c| latencies(c, "search"),
    ),
    experiment(
        "table 12",
        "How long a hundred insertions take while others search and scan",
        "One thread of each kind.",
        Plot::Bars,
        |c| latencies(c, "insert"),
    ),
    experiment(
        "table 13",
        "How long a hundred scans of lists take while others insert and search",
        "One thread of each kind.",
        Plot::Bars,
        |c| latencies(c, "scan"),
    ),
    experiment(
        "figure 9",
        "Indexes of vertices: an array, a hash table and a tree by themselves, and the vertices of each engine",
        "The tree is a B tree that changes in place. Engines get vertices many to a transaction.",
        Plot::Bars,
        |c| c.records(M::Vertices).map(|records| records.to_vec()),
    ),
    experiment(
        "figure 10",
        "Searches for edges in lists of one length |N|, by the length and by the size |B| of blocks, and on the graph",
        "Whole containers. |B| are words in a segment for Teseo, ids in a block, leaf or chunk for the others.",
        Plot::OverLog("|N|"),
        |c| {
            join([
                c.pick(M::Sets, &["search"]),
                c.pick(M::Blocks, &["search"]),
                exact(c, M::Operations, &["search"]).map(by_one_thread),
            ])
        },
    ),
    experiment(
        "figure 11",
        "Insertions into lists of one length |N|, by the length and by the size |B| of blocks, and of the last fifth of the graph",
        "Whole containers. Each edge is also entered in the list of its other end.",
        Plot::OverLog("|N|"),
        |c| {
            join([
                c.pick(M::Sets, &["insert"]),
                c.pick(M::Blocks, &["insert"]),
                exact(c, M::Operations, &["insert"]).map(by_one_thread),
            ])
        },
    ),
    experiment(
        "figure 12",
        "Scans of lists of one length |N|, by the length and by the size |B| of blocks, and of lists of the graph",
        "Whole containers.",
        Plot::OverLog("|N|"),
        |c| {
            join([
                c.pick(M::Sets, &["scan"]),
                c.pick(M::Blocks, &["scan"]),
                exact(c, M::Operations, &["scan"]).map(by_one_thread),
            ])
        },
    ),
    experiment(
        "figure 13",
        "Insertions, searches and scans with and without concurrency control: structures alone (plain), with versions, and whole, by one thread",
        "The scan is one of all lists; insertions are of the first half of the edges, into an empty graph.",
        Plot::Forms,
        |c| three_forms(c, &["insert", "search", "scan"]),
    ),
    experiment(
        "figure 14",
        "Searches and scans where a share of the neighbours has several versions, which snapshots keep",
        "Up to a third of the neighbours were removed and inserted three times, before each time a snapshot was opened and kept.",
        Plot::Over("versions"),
        |c| c.pick(M::Versions, &["search", "scan"]),
    ),
    experiment(
        "figure 15",
        "Searches, scans and insertions by more and more threads",
        "Up to as many threads as the machine has.",
        Plot::Threads,
        |c| exact(c, M::Operations, &["search", "scan", "insert"]),
    ),
    experiment(
        "figure 16",
        "How long a hundred insertions take while the graph grows, by one thread",
        "The mean over each tenth of the edges.",
        Plot::Over("progress"),
        |c| c.pick(M::Ingest, &["insert, mean"]),
    ),
    experiment(
        "figure 17",
        "What writers write beside readers that run PageRank",
        "Writers remove edges and insert them again. Readers and writers are more threads than cores in some rows.",
        Plot::Over("readers"),
        writes_beside_readers,
    ),
    experiment(
        "figure 18",
        "PageRank of readers beside writers",
        "Ten iterations on a new snapshot, whose opening counts.",
        Plot::Over("writers"),
        ranks_beside_writers,
    ),
    experiment(
        "figure 19",
        "Insertions by the size of batches, by all threads",
        "Each thread writes batches of its own. Aspen's batches are in parallel, too.",
        Plot::OverLog("batch"),
        batches,
    ),
    experiment(
        "figure 20",
        "The factors of the cost of each operation: what the structure takes, and how many times that with versions, and that with locks",
        "The plot has shares of the best, so that more is better. Insertions are of the first half of the edges.",
        Plot::Radar,
        factors,
    ),
];
