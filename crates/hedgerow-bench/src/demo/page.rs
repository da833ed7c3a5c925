//! The demo's page: the table, and curves over time.

use std::path::Path;

use super::watch::Ingested;
use super::{Story, table};
use crate::failure::{Context, Result};
use crate::report::{Chart, Page, Series};

/// Writes the page.
pub(super) fn write(story: &Story, path: &Path) -> Result<()> {
    let mut page = Page::new(&format!("Hedgerow demo: {}", story.stream));
    page.paragraph(&format!(
        "{} events in {} transactions, replayed by two writers with durability sync beside an analyst. The process was \
         killed at {:.1} s and the store reopened; the gap in the curves is the check.",
        story.totals.events,
        story.totals.transactions,
        story.first.ingesting()
    ));
    page.paragraph(&format!(
        "Checked at the end: graph, {} components, {} vertices reached by BFS to depth {}, PageRank within {:.1e}.",
        story.end.components, story.end.reached, story.end.depth, story.end.rank_difference
    ));
    page.chart(&Chart::new("Ingestion rate", "seconds", "events/s", series(story, rates)));
    page.chart(&Chart::new("Commit rate", "seconds", "commits/s", series(story, commit_rates)));
    page.chart(&Chart::new(
        "Analyst: time for components and PageRank",
        "seconds",
        "seconds",
        series(story, taken),
    ));
    page.chart(&Chart::new("Resident memory", "seconds", "MiB", series(story, memory)));
    page.table(&["figure", "value"], table::rows(story).into_iter().map(|(n, v)| vec![n, v]));
    std::fs::write(path, page.finish()).context(path.display())
}

/// A curve before the kill and one after, on one axis of time.
fn series(story: &Story, points: impl Fn(&Ingested) -> Vec<(f64, f64)>) -> Vec<Series> {
    let gap = story.first.seconds + story.recovered.seconds;
    let later = points(&story.second).into_iter().map(|(x, y)| (x + gap, y)).collect();
    vec![Series::new("before the kill", points(&story.first)), Series::new("after the kill", later)]
}

/// Over about one second: group commits make shorter windows jump.
const WINDOW_SAMPLES: usize = 5;

fn rates(run: &Ingested) -> Vec<(f64, f64)> {
    rate(run, |s| s.events)
}

fn commit_rates(run: &Ingested) -> Vec<(f64, f64)> {
    rate(run, |s| s.commits)
}

fn rate(run: &Ingested, count: impl Fn(&super::message::Sample) -> u64) -> Vec<(f64, f64)> {
    let windows = run.samples.windows(WINDOW_SAMPLES + 1);
    let ends = windows.filter_map(|w| Some((w.first()?, w.last()?)));
    ends.filter(|(a, b)| b.at > a.at)
        .map(|(a, b)| (b.at, (count(b) - count(a)) as f64 / (b.at - a.at)))
        .collect()
}

fn taken(run: &Ingested) -> Vec<(f64, f64)> {
    run.analyses.iter().map(|a| (a.at, a.taken)).collect()
}

fn memory(run: &Ingested) -> Vec<(f64, f64)> {
    run.samples.iter().map(|s| (s.at, s.resident_bytes as f64 / f64::from(1 << 20))).collect()
}
