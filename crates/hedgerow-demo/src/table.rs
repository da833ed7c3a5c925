//! The table at the end of the demo.

use std::fmt::Write;

use super::acks::percentile_of;
use super::checks::RANK_TOLERANCE;
use super::setting::WRITERS;
use super::story::Story;
use hedgerow_report::figures::{grouped, rounded, seconds};

/// A row of the table.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) value: String,
    /// The meaning of the value.
    pub(super) meaning: String,
    /// The values that count as good.
    pub(super) good: String,
}

/// Returns the names and values of all rows as text.
pub(super) fn text(story: &Story) -> String {
    let mut text = String::from("\n");
    for Row { name, value, .. } in rows(story) {
        let _ = writeln!(text, "  {name:<34} {value}");
    }
    text
}

/// Returns the rows of the table.
pub(super) fn rows(story: &Story) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: String, meaning: &str, good: &str| {
        let [name, meaning, good] = [name, meaning, good].map(str::to_owned);
        rows.push(Row { name, value, meaning, good });
    };
    checked(story, &mut add);
    ingestion(story, &mut add);
    analytics(story, &mut add);
    add(
        "recovery after the kill",
        seconds(story.recovered.seconds),
        "from opening the directory to the first snapshot, with the replay of the log",
        "less is better; it grows with the log since the last checkpoint",
    );
    add(
        "opening after an orderly close",
        seconds(story.end.open_seconds),
        "the same at the end of the stream",
        "less is better",
    );
    add(
        "whole demo",
        seconds(story.seconds),
        "with the passes over the stream and all comparisons",
        "less is better",
    );
    rows
}

/// The function that adds a row: name, value, meaning and good values.
type Add<'a> = dyn FnMut(&str, String, &str, &str) + 'a;

/// Adds the rows of checks: if one is violated, the demo fails.
fn checked(story: &Story, add: &mut Add<'_>) {
    let (recovered, end) = (&story.recovered, &story.end);
    add(
        "acknowledged commits lost",
        format!("0 of {}", grouped(recovered.acknowledged)),
        "commits acknowledged before the kill that the reopened store lacks, by comparison with a replay",
        "0: else the demo fails",
    );
    add(
        "end of the stream",
        format!(
            "{} vertices, {} edges, weights sum {}",
            grouped(end.vertices),
            grouped(end.edges),
            grouped(end.weight_sum as u64)
        ),
        "the content of the store, which equals a replay of the whole stream",
        "equal: else the demo fails",
    );
    add(
        "PageRank, greatest difference",
        format!("{:.1e}", end.rank_difference),
        "relative to a plain algorithm on a plain CSR; components and BFS depths are equal",
        &format!("at most {RANK_TOLERANCE:e}: else the demo fails"),
    );
}

/// Adds the rows about the writers.
fn ingestion(story: &Story, add: &mut Add<'_>) {
    let runs = [&story.first, &story.second];
    let ingesting: f64 = runs.iter().map(|run| run.ingesting()).map(|(begun, ended)| ended - begun).sum();
    let events: u64 = runs.iter().map(|run| run.events()).sum();
    let commits: usize = runs.iter().map(|run| run.acks.len()).sum();
    add(
        "events/s",
        rounded(events as f64 / ingesting),
        "acknowledged rows of the stream, of both processes while they ingested",
        "more is better",
    );
    add(
        "commits/s",
        rounded(commits as f64 / ingesting),
        "acknowledged transactions; one sync of the disk serves at most one commit of each writer",
        "more is better; the disk's syncs bound it",
    );
    let acks = runs.map(|run| run.acks.as_slice()).concat();
    let latency = |share| seconds(percentile_of(&acks, share));
    add(
        "commit latency p50 / p99",
        format!("{} / {}", latency(0.5), latency(0.99)),
        "from beginning a transaction to its acknowledgement, retries included",
        "less is better; a sync of the disk is the floor",
    );
    for (name, run) in [("before the kill", runs[0]), ("after the kill", runs[1])] {
        let Some(last) = run.samples.last() else { continue };
        let least = grouped(last.commits.div_ceil(WRITERS as u64));
        add(
            &format!("fsyncs {name}"),
            format!("{} for {} commits", grouped(last.syncs), grouped(last.commits)),
            "counted by the file system trait under the store",
            &format!("at least {least}, the commits divided by {WRITERS} writers: else the demo fails"),
        );
        add(
            &format!("conflicts {name}"),
            grouped(last.conflicts),
            "transactions that had to run again",
            "close to 0: transactions that share a vertex are not run at once",
        );
    }
}

/// Adds the rows about snapshots, kernels and memory.
fn analytics(story: &Story, add: &mut Add<'_>) {
    let figure = |name: &str| story.second.figure(name).unwrap_or(f64::NAN);
    add(
        "snapshot opening p50",
        seconds(figure("snapshot_open.p50")),
        "the median of 10,000 on the live store at the end",
        "the same for a graph of any size",
    );
    for kernel in ["bfs", "pagerank", "wcc"] {
        let mine = figure(&format!("{kernel}.seconds"));
        let csr = figure(&format!("{kernel}.csr_seconds"));
        add(
            &format!("{kernel}, live store / CSR"),
            format!("{} / {} = {}", seconds(mine), seconds(csr), rounded(mine / csr)),
            "on a live snapshot with unmerged deltas, against the same kernel on a static CSR with the same \
             vertex ids, in turns",
            "near 1: as fast as a graph that cannot change",
        );
    }
    add(
        "view for kernels",
        seconds(figure("view.seconds")),
        "the price that a snapshot pays once before its first kernel",
        "less is better",
    );
    add(
        "bytes per edge",
        format!(
            "{} (both directions and weights {}, CSR without weights {})",
            rounded(figure("bytes_per_edge")),
            rounded(figure("topology_bytes_per_edge")),
            rounded(figure("csr_bytes_per_edge"))
        ),
        "by the store's own accounting: neighbors in both directions with weights, id map, table",
        "less is better; a CSR holds no weights, no keys and no versions",
    );
}
