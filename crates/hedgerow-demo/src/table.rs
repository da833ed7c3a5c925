//! The table at the end of the demo.

use std::fmt::Write;

use super::setting::WRITERS;
use super::story::Story;
use hedgerow_report::figures::{grouped, percentile, seconds};

/// Returns the table as text.
pub(super) fn text(story: &Story) -> String {
    let mut text = String::from("\n");
    for (name, value) in rows(story) {
        let _ = writeln!(text, "  {name:<34} {value}");
    }
    text
}

/// Returns the table's rows: name and value.
pub(super) fn rows(story: &Story) -> Vec<(String, String)> {
    let (first, second) = (&story.first, &story.second);
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_owned(), value));
    let ingesting = first.ingesting() + second.ingesting();
    let (events, commits) = (first.events + second.events, first.transactions + second.transactions);
    add("events/s", grouped((events as f64 / ingesting) as u64));
    add("commits/s", grouped((commits as f64 / ingesting) as u64));
    let mut latencies = [first.latencies.as_slice(), &second.latencies].concat();
    latencies.sort_unstable();
    let latency = |p| seconds(percentile(&latencies, p) * 1e-6);
    add("commit latency p50 / p99", format!("{} / {}", latency(0.5), latency(0.99)));
    for (name, run) in [("before the kill", first), ("after the kill", second)] {
        if let Some(last) = run.samples.last() {
            let least = last.commits.div_ceil(WRITERS as u64);
            let (syncs, commits) = (grouped(last.syncs), grouped(last.commits));
            add(
                &format!("fsyncs {name}"),
                format!("{syncs} for {commits} commits of {WRITERS} writers (at least {})", grouped(least)),
            );
            add(&format!("conflicts {name}"), grouped(last.conflicts));
        }
    }
    add("snapshot opening p50", second.figure("snapshot_open.p50").map_or_else(|| "-".into(), seconds));
    for kernel in ["bfs", "pagerank", "wcc"] {
        let mine = second.figure(&format!("{kernel}.seconds")).unwrap_or(f64::NAN);
        let csr = second.figure(&format!("{kernel}.csr_seconds")).unwrap_or(f64::NAN);
        add(
            &format!("{kernel}, live store / CSR"),
            format!("{} / {} = {:.2}", seconds(mine), seconds(csr), mine / csr),
        );
    }
    add("view for kernels", second.figure("view.seconds").map_or_else(|| "-".into(), seconds));
    let bytes = |name| second.figure(name).unwrap_or(f64::NAN);
    add(
        "bytes per edge",
        format!(
            "{:.1} (both directions and weights {:.1}, CSR without weights {:.1})",
            bytes("bytes_per_edge"),
            bytes("topology_bytes_per_edge"),
            bytes("csr_bytes_per_edge")
        ),
    );
    add("recovery after the kill", seconds(story.recovered.seconds));
    add("opening after an orderly close", seconds(story.end.open_seconds));
    add(
        "end of the stream",
        format!(
            "{} vertices, {} edges, weights sum {}",
            grouped(story.end.vertices),
            grouped(story.end.edges),
            grouped(story.end.weight_sum as u64)
        ),
    );
    add("whole demo", seconds(story.seconds));
    rows
}
