//! The demo's page: its steps, charts on one time axis, the table, and the command that repeats it.

use std::path::Path;

use super::acks::{Ack, percentile_of};
use super::message::Sample;
use super::setting::{DemoOptions, WRITERS};
use super::story::Story;
use super::table;
use super::watch::Ingested;
use hedgerow_report::failure::{Context, Result};
use hedgerow_report::figures::{grouped, mebibytes, rounded, seconds};
use hedgerow_report::{Curve, Mark, Page, Panel, Timeline, today};

#[cfg(test)]
mod tests;

/// The number of windows of the time axis, in each of which commits are counted.
const WINDOWS: f64 = 80.0;

/// Writes the page.
pub(super) fn write(story: &Story, options: &DemoOptions, path: &Path) -> Result<()> {
    let mut page = Page::new("Hedgerow demo: a graph store is killed and recovers");
    page.paragraph(&format!(
        "Two writers and an analyst work on one graph. After {} of {} events the process is killed. The store \
         opens again in {} with every acknowledged commit, takes the rest of the events, and gives the right \
         answers.",
        grouped(story.first.events()),
        grouped(story.totals.events),
        seconds(story.recovered.seconds)
    ));
    page.heading("What happened");
    page.steps(&steps(story));
    page.heading("Before, during and after the kill");
    page.drawing(&timeline(story).to_html());
    page.heading("Figures");
    let rows = table::rows(story).into_iter().map(|row| vec![row.name, row.value, row.meaning, row.good]);
    page.stacked_table(&["figure", "value", "meaning", "good"], rows);
    page.heading("How to repeat it");
    page.table(&[], setting(story).into_iter().map(|(name, fact)| vec![name.to_owned(), fact]));
    page.paragraph("This run:");
    page.command(&match &options.data {
        Some(_) => format!("make demo DATA={}", story.stream),
        None => format!("target/release/hedgerow-demo --events {} --seed {}", options.events, options.seed),
    });
    page.paragraph("The same with a file of your own:");
    page.command("make demo DATA=PATH");
    page.paragraph(
        "The file has a row with source, destination and perhaps time for each event, or is an event log with the \
         header commit_time,author_id,file_id,op,commit_id. Files may end in .gz or .zst.",
    );
    std::fs::write(path, page.finish()).context(path.display())
}

/// Returns the facts that the figures depend on.
fn setting(story: &Story) -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory =
        hedgerow::io::machine::memory_bytes().map_or(f64::NAN, |bytes| bytes as f64 / f64::from(1 << 30));
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let build = if cfg!(debug_assertions) { ", built for tests: its figures mean nothing" } else { "" };
    vec![
        ("machine", format!("{cores} cores, {} GiB of memory, {system}, {processor}", rounded(memory))),
        ("program", format!("hedgerow-demo {}{build}", env!("CARGO_PKG_VERSION"))),
        ("day", format!("{} (UTC)", today())),
        ("stream", story.stream.clone()),
        ("store", format!("durability sync, {WRITERS} writers, 1 analyst")),
    ]
}

/// Returns the steps of the story: for each the class of the style, the moment, its name and a text.
fn steps(story: &Story) -> Vec<(&'static str, String, &'static str, String)> {
    let Story { totals, first, second, recovered, end, .. } = story;
    let held = recovered.in_flight.iter().filter(|(_, held)| *held).count();
    let reopened = first.to + recovered.seconds;
    vec![
        (
            "",
            moment(0.0),
            "Started",
            format!(
                "The stream has {} events in {} transactions, which {WRITERS} writers replay. The store \
                 acknowledges a commit when it is on the disk.",
                grouped(totals.events),
                grouped(totals.transactions)
            ),
        ),
        ("", moment(first.ingesting().1), "Ingested", ingested(first)),
        (
            "killed",
            moment(first.to),
            "Killed",
            format!(
                "SIGKILL (kill -9) ended the process, with {} transactions in flight.",
                recovered.in_flight.len()
            ),
        ),
        (
            "recovered",
            moment(reopened),
            "Recovered",
            format!(
                "The store opened in {}: {} vertices, {} edges.",
                seconds(recovered.seconds),
                grouped(recovered.vertices),
                grouped(recovered.edges)
            ),
        ),
        (
            "",
            moment(second.from),
            "Compared",
            format!(
                "The store equals a replay of all {} acknowledged transactions, plus {held} of the {} in flight. \
                 No acknowledged commit was lost.",
                grouped(recovered.acknowledged),
                recovered.in_flight.len()
            ),
        ),
        ("", moment(second.ingesting().1), "Ingested the rest", ingested(second)),
        (
            "",
            moment(story.checked),
            "Checked",
            format!(
                "The graph with all weights, its {} components, BFS depths of {} vertices (at most {}) and \
                 PageRank equal those of plain algorithms on a plain CSR of the whole stream. The store's own \
                 check found no problem.",
                grouped(end.components),
                grouped(end.reached),
                end.depth
            ),
        ),
    ]
}

fn moment(at: f64) -> String {
    format!("{} s", rounded(at))
}

/// Returns a sentence about the work of one process.
fn ingested(run: &Ingested) -> String {
    let slowest = run.analyses.iter().map(|analysis| analysis.opened).fold(f64::NAN, f64::max);
    let analyst = match run.analyses.last() {
        Some(last) => format!(
            "opened {} snapshots, each within {}, and computed components and PageRank on up to {} edges",
            run.analyses.len(),
            seconds(slowest),
            grouped(last.edges)
        ),
        None => "had no answers yet".to_owned(),
    };
    format!(
        "{} events in {} commits, {} events/s. Meanwhile the analyst {analyst}. {} checkpoints were written.",
        grouped(run.events()),
        grouped(run.acks.len() as u64),
        rounded(run.rate()),
        run.checkpoints
    )
}

/// Returns the charts, with marks at the kill and the recovery.
fn timeline(story: &Story) -> Timeline {
    let runs = [&story.first, &story.second];
    let reopened = story.first.to + story.recovered.seconds;
    let mark =
        |at, until, what: &str, class| Mark { at, until, what: format!("{what} {}", moment(at)), class };
    let marks = vec![
        mark(story.first.to, reopened, "killed", "killed"),
        mark(reopened, story.second.from, "recovered", "recovered"),
    ];
    let last_sample = story.second.samples.last().map(|sample| sample.at);
    let last_answers = story.second.analyses.last().map(|analysis| analysis.at);
    let ends = [last_sample, last_answers].into_iter().flatten();
    let end = ends.fold(story.second.ingesting().1, f64::max);
    Timeline {
        end,
        marks,
        panels: vec![ingestion(&runs, end), latency(&runs, end), analyst(&runs), memory(&runs)],
    }
}

type Points = Vec<(f64, f64)>;

fn curve(name: &str, runs: &[&Ingested], points: impl Fn(&Ingested) -> Points) -> Curve {
    Curve { name: name.to_owned(), stretches: runs.iter().map(|run| points(run)).collect() }
}

fn ingestion(runs: &[&Ingested; 2], end: f64) -> Panel {
    let rate = |run: &Ingested| {
        let windows = windows(run, end / WINDOWS);
        windows
            .map(|Window { middle, length, acks }| {
                (middle, acks.iter().map(|ack| ack.events).sum::<u64>() as f64 / length)
            })
            .collect()
    };
    Panel {
        title: "Ingestion".to_owned(),
        unit: "events/s".to_owned(),
        note: format!(
            "{} before the kill, {} after it. Shaded: the recovery, then the comparison with a replay.",
            rounded(runs[0].rate()),
            rounded(runs[1].rate())
        ),
        curves: vec![curve("", runs, rate)],
        is_log_where_wide: false,
    }
}

fn latency(runs: &[&Ingested; 2], end: f64) -> Panel {
    let of_windows = |share: f64| {
        move |run: &Ingested| {
            let windows = windows(run, end / WINDOWS);
            windows.map(|window| (window.middle, 1e3 * percentile_of(window.acks, share))).collect()
        }
    };
    let of_run =
        |run: &Ingested| [0.5, 0.99].map(|share| seconds(percentile_of(&run.acks, share))).join(" and ");
    Panel {
        title: "Commit latency".to_owned(),
        unit: "ms".to_owned(),
        note: format!("p50 and p99: {} before the kill, {} after it.", of_run(runs[0]), of_run(runs[1])),
        curves: vec![curve("p50", runs, of_windows(0.5)), curve("p99", runs, of_windows(0.99))],
        is_log_where_wide: true,
    }
}

fn analyst(runs: &[&Ingested; 2]) -> Panel {
    let all = || runs.iter().flat_map(|run| &run.analyses);
    let slowest = all().map(|analysis| analysis.taken).fold(f64::NAN, f64::max);
    let behind = all().map(|analysis| analysis.behind).max().unwrap_or(0);
    Panel {
        title: "Analyst".to_owned(),
        unit: "ms from opening a snapshot to its answers".to_owned(),
        note: format!(
            "{} snapshots, answers within {}. By then the store was at most {} commits ahead of the \
             snapshot.",
            all().count(),
            seconds(slowest),
            grouped(behind)
        ),
        curves: vec![curve("", runs, |run| run.analyses.iter().map(|a| (a.at, 1e3 * a.taken)).collect())],
        is_log_where_wide: false,
    }
}

fn memory(runs: &[&Ingested; 2]) -> Panel {
    let most = |bytes: fn(&Sample) -> u64| {
        mebibytes(runs.iter().flat_map(|run| &run.samples).map(bytes).max().unwrap_or(0))
    };
    let points = |bytes: fn(&Sample) -> u64| {
        move |run: &Ingested| {
            run.samples.iter().map(|s| (s.at, bytes(s) as f64 / f64::from(1 << 20))).collect()
        }
    };
    let process: fn(&Sample) -> u64 = |sample| sample.resident_bytes;
    let store: fn(&Sample) -> u64 = |sample| sample.store_bytes;
    Panel {
        title: "Memory".to_owned(),
        unit: "MiB".to_owned(),
        note: format!(
            "At most {} in the process, and {} by the store's own accounting.",
            most(process),
            most(store)
        ),
        curves: vec![curve("process", runs, points(process)), curve("store", runs, points(store))],
        is_log_where_wide: false,
    }
}

/// The commits in an interval of time.
struct Window<'a> {
    middle: f64,
    length: f64,
    acks: &'a [Ack],
}

/// Returns the commits of a child in windows of equal length, at most `length`.
fn windows(run: &Ingested, length: f64) -> impl Iterator<Item = Window<'_>> {
    let (begun, ended) = run.ingesting();
    let count = ((ended - begun) / length).ceil().max(1.0);
    let length = (ended - begun) / count;
    let until =
        move |i: u32| run.acks.partition_point(|ack| run.moment(ack) <= begun + length * f64::from(i));
    (0..count as u32).map(move |i| Window {
        middle: begun + length * (f64::from(i) + 0.5),
        length,
        acks: &run.acks[until(i)..until(i + 1)],
    })
}
