//! The demo's page: the table, and curves over time.

use std::path::Path;

use super::message::Sample;
use super::story::Story;
use super::table;
use super::watch::Ingested;
use hedgerow_report::failure::{Context, Result};
use hedgerow_report::{Chart, Mark, Page, Series};

/// Writes the page.
pub(super) fn write(story: &Story, path: &Path) -> Result<()> {
    let mut page = Page::new(&format!("Hedgerow demo: {}", story.stream));
    page.paragraph(&format!(
        "{} events in {} transactions, replayed by two writers with durability sync beside an analyst. The process was \
         killed after {:.1} s, the store was opened again and went on. The time in which the parent compared it with a replay \
         of what was acknowledged is left out of the curves.",
        story.totals.events,
        story.totals.transactions,
        story.first.seconds
    ));
    page.paragraph(&format!(
        "Checked at the end: graph, {} components, {} vertices reached by BFS to depth {}, PageRank within {:.1e}.",
        story.end.components, story.end.reached, story.end.depth, story.end.rank_difference
    ));
    page.heading("Figures");
    page.table(&["figure", "value"], table::rows(story).into_iter().map(|(n, v)| vec![n, v]));
    for chart in charts(&story.first, story.recovered.seconds, &story.second) {
        page.chart(&chart);
    }
    std::fs::write(path, page.finish()).context(path.display())
}

/// Returns the curves, all on one time axis with marks at the kill and the recovery.
fn charts(first: &Ingested, recovery: f64, second: &Ingested) -> Vec<Chart> {
    let reopened = first.seconds + recovery;
    let marks = [("killed", first.seconds), ("open again", reopened)]
        .map(|(what, at)| Mark { at, what: what.to_owned() });
    let chart = |title: &str, unit: &str, points: &dyn Fn(&Ingested) -> Vec<(f64, f64)>| {
        let later = points(second).into_iter().map(|(x, y)| (x + reopened, y)).collect();
        let curves =
            vec![Series::new("before the kill", points(first)), Series::new("after the kill", later)];
        Chart::new(title, "seconds", unit, curves).over(reopened + second.ingesting(), &marks)
    };
    vec![
        chart("Ingestion rate", "events/s", &|run| rate(run, |s| s.events)),
        chart("Commit rate", "commits/s", &|run| rate(run, |s| s.commits)),
        chart("Analyst: time for components and PageRank", "seconds", &|run| {
            run.analyses.iter().map(|a| (a.at, a.taken)).collect()
        }),
        chart("Resident memory", "MiB", &|run| {
            run.samples.iter().map(|s| (s.at, s.resident_bytes as f64 / f64::from(1 << 20))).collect()
        }),
    ]
}

/// The seconds over which a rate is taken, since group commits make shorter windows jump; or a share of a
/// short run.
const WINDOW: f64 = 1.0;
const LEAST_WINDOWS: f64 = 10.0;

/// Returns a rate at each sample, since the last sample that is a window before it. A run too short for that
/// has one point.
fn rate(run: &Ingested, count: impl Fn(&Sample) -> u64) -> Vec<(f64, f64)> {
    let window = WINDOW.min(run.ingesting() / LEAST_WINDOWS);
    let since = |a: &Sample, b: &Sample| (b.at, (count(b) - count(a)) as f64 / (b.at - a.at));
    let mut from = 0;
    let mut points = Vec::new();
    for to in &run.samples {
        while run.samples.get(from + 1).is_some_and(|next| to.at - next.at >= window) {
            from += 1;
        }
        if let Some(from) = run.samples.get(from)
            && to.at - from.at >= window
            && to.at > from.at
        {
            points.push(since(from, to));
        }
    }
    match (run.samples.first(), run.samples.last()) {
        (Some(first), Some(last)) if points.is_empty() && last.at > first.at => vec![since(first, last)],
        _ => points,
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Analysis;
    use super::*;

    /// Returns a run of `seconds` with a sample each `every` seconds; it counts 1,000 events and 100 commits
    /// a second.
    fn run(seconds: f64, every: f64) -> Ingested {
        let samples = (0..=(seconds / every).round() as u64).map(|i| {
            let at = i as f64 * every;
            Sample { at, events: (at * 1e3) as u64, commits: (at * 100.0) as u64, ..Sample::default() }
        });
        let analyses = vec![Analysis { at: seconds / 2.0, taken: 0.01, ..Analysis::default() }];
        Ingested { seconds: seconds + 0.01, samples: samples.collect(), analyses, ..Ingested::default() }
    }

    #[test]
    fn each_chart_of_short_runs_shows_both_and_marks_the_kill() {
        for (seconds, every) in [(0.05, 0.01), (0.3, 0.003), (0.3, 0.3), (20.0, 0.2)] {
            let charts = charts(&run(seconds, every), 0.02, &run(seconds / 2.0, every));
            assert_eq!(charts.len(), 4);
            let mut axes: Vec<String> = Vec::new();
            for chart in charts {
                let svg = chart.to_svg();
                let curves: Vec<&str> = svg.split("points=\"").skip(1).collect();
                assert_eq!(curves.len(), 2);
                let drawn = |curve: &str| curve.split('"').next().is_some_and(|points| !points.is_empty());
                // A second run of one sample has no interval to count in.
                if every < seconds {
                    assert!(curves.iter().all(|curve| drawn(curve)), "{}: {svg}", chart.title);
                    assert!(svg.contains("<circle"), "{}: a curve of one point is a dot", chart.title);
                }
                assert!(svg.contains(">killed</text>") && svg.contains(">open again</text>"));
                let (_, axis) = svg.split_once("stroke-dasharray").expect("a mark");
                axes.push(axis.chars().take(60).collect());
                assert!(!svg.contains("NaN") && !svg.contains("inf"));
            }
        }
    }

    #[test]
    fn rates_are_those_of_a_window() {
        let points = rate(&run(20.0, 0.2), |s| s.events);
        assert!(points.len() > 90 && points.iter().all(|(_, y)| (y - 1000.0).abs() < 20.0), "{points:?}");
        // The window is a tenth of a short run.
        let points = rate(&run(0.5, 0.005), |s| s.events);
        assert!(points.len() > 80 && points.iter().all(|(_, y)| (y - 1000.0).abs() < 50.0), "{points:?}");
        assert!(rate(&Ingested::default(), |s| s.events).is_empty());
    }
}
