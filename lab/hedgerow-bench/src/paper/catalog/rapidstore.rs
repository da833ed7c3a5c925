//! Hao et al., *RapidStore*.

use super::super::experiment::{Experiment, Plot, Rows};
use super::super::measure::Measurement as M;
use super::super::published::Paper;
use super::select::{
    batches, by_most_threads, by_one_thread, exact, forms, join, of, ranks_beside_writers, store,
    writes_beside_readers,
};

const fn experiment(
    place: &'static str,
    title: &'static str,
    differs: &'static str,
    plot: Plot,
    rows: Rows,
) -> Experiment {
    Experiment { paper: Paper::RapidStore, place, title, differs, plot, rows }
}

pub(super) const EXPERIMENTS: &[Experiment] = &[
    experiment(
        "table 1",
        "Searches, scans and PageRank on Sortledton with and without versions, by one thread",
        "The scan is one of all lists. Without versions it keeps its latches, as in the paper.",
        Plot::Bars,
        |c| {
            let compared = ["csr", "sortledton, no versions", "sortledton"];
            Ok(of(forms(c, &["search", "scan", "pr"])?, &compared))
        },
    ),
    experiment(
        "table 2",
        "Searches for all edges, for those of vertices with few neighbours and with many, and triangles, by one thread",
        "Few are not more than the mean, many more than eight times the mean.",
        Plot::Ratios,
        |c| {
            join([
                c.pick(M::Operations, &["search"]).map(by_one_thread),
                c.pick(M::Kernels, &["tc"]).map(by_one_thread),
            ])
        },
    ),
    experiment(
        "table 5",
        "Kernels on snapshots, by one thread",
        "All edges weigh 1. LiveGraph counts triangles here, on sorted copies of its lists.",
        Plot::Ratios,
        |c| c.pick(M::Kernels, &["bfs", "pr", "sssp", "wcc", "tc"]).map(by_one_thread),
    ),
    experiment(
        "table 6",
        "RapidStore with parts switched off: every list in a radix tree, leaves not compressed, short lists in arrays of their own",
        "There is no form with versions of edges. Insertions are of the first half of the edges, into an empty graph, by one thread; those of the store, of all edges, stand in figure 8. Its kernels stand beside the others.",
        Plot::Bars,
        |c| {
            let switches = [
                "csr",
                "rapidstore, radix tree",
                "rapidstore, c-art",
                "rapidstore, c-art, vectors",
                "rapidstore",
            ];
            join([
                forms(c, &["insert", "bfs", "pr", "sssp", "wcc"]).map(|records| of(records, &switches)),
                store(c, M::Kernels, &["bfs", "pr", "sssp", "wcc"]),
            ])
        },
    ),
    experiment(
        "figure 2",
        "PageRank of readers beside writers, on Sortledton",
        "Up to as many readers and as many writers as the machine has cores.",
        Plot::Over("writers"),
        |c| Ok(of(ranks_beside_writers(c)?, &["sortledton", "hedgerow"])),
    ),
    experiment(
        "figure 3",
        "What writers write beside readers, on Sortledton",
        "Writers remove edges and insert them again.",
        Plot::Over("readers"),
        |c| Ok(of(writes_beside_readers(c)?, &["sortledton", "hedgerow"])),
    ),
    experiment(
        "figure 8",
        "Insertions of all edges, and a fifth of the edges removed and inserted again in five rounds, by all threads",
        "As many writers as the machine has cores, where the paper has 32.",
        Plot::Bars,
        |c| join([exact(c, M::Ingest, &["insert"]).map(by_most_threads), exact(c, M::Updates, &["update"])]),
    ),
    experiment(
        "figure 9",
        "PageRank of readers beside writers, on all engines",
        "Up to as many readers and as many writers as the machine has cores.",
        Plot::Over("writers"),
        ranks_beside_writers,
    ),
    experiment(
        "figure 10",
        "What writers write beside readers, on all engines",
        "Writers remove edges and insert them again, so that the graph keeps its size.",
        Plot::Over("readers"),
        writes_beside_readers,
    ),
    experiment(
        "supplement, B",
        "Insertions, searches, scans and memory of RapidStore by the size B of its leaves",
        "On lists of 4,096 neighbours.",
        Plot::OverLog("|B|"),
        |c| Ok(of(c.records(M::Blocks)?.to_vec(), &["rapidstore"])),
    ),
    experiment(
        "supplement, neighbours",
        "Insertions by the length |N| of lists",
        "",
        Plot::OverLog("|N|"),
        |c| c.pick(M::Sets, &["insert"]),
    ),
    experiment(
        "supplement, batches",
        "Insertions by the size of batches, by all threads",
        "",
        Plot::OverLog("batch"),
        batches,
    ),
    experiment("supplement, writers", "Insertions by more and more threads", "", Plot::Threads, |c| {
        exact(c, M::Ingest, &["insert"])
    }),
    experiment(
        "supplement, reads",
        "Searches for edges and scans of lists that are drawn by their degree, by more and more threads",
        "",
        Plot::Threads,
        |c| exact(c, M::Operations, &["search", "scan"]),
    ),
    experiment(
        "supplement, memory",
        "Memory of an edge",
        "What each container counts of its own, after single insertions in random order.",
        Plot::Bars,
        |c| c.pick(M::Ingest, &["memory"]),
    ),
    experiment(
        "supplement, insert traces",
        "Insertions of edges in the order of their times",
        "Messages and answers of two web sites, where the paper has LDBC's social network. A trace repeats edges.",
        Plot::Bars,
        |c| c.records(M::Traces).map(|records| records.to_vec()),
    ),
];
