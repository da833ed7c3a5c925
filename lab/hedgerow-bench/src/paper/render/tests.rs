//! Tests of the page and the summary, with figures that were never measured.

mod beside;
mod charts;

use clap::ValueEnum;
use hedgerow_subjects::{Engine, Kernel};

use super::super::catalog::{absent, experiments};
use super::super::measure::Measurement;
use super::super::published::Paper;
use super::super::setting::Setting;
use super::super::shown::{PaperRuns, Report, Run};
use super::super::tests::record;
use super::counted::Class;
use super::glossary::{ENGINES, KERNELS};
use super::page;
use super::summary::{Summary, summary};
use crate::record::Record;

/// Returns the experiment of this place with these figures.
fn run(paper: Paper, place: &str, records: Vec<Record>) -> Run {
    let experiment = experiments(paper).iter().find(|experiment| experiment.place == place);
    Run { experiment: experiment.unwrap(), records }
}

/// Returns figures of all kinds for an experiment.
fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for (i, engine) in ["csr", "hedgerow", "adjlst", "teseo plain"].into_iter().enumerate() {
        let value = (i + 1) as f64;
        for metric in ["pr", "search |N|=16", "search |N|=64", "insert batch=4", "pr readers=1 writers=2"] {
            let mut record = record(engine, metric, "s", 2, value);
            record.ratio = (i < 2).then(|| ("csr".to_owned(), value));
            records.push(record);
        }
        records.push(record(engine, "insert <b>", "edges/s", 1, value));
    }
    records
}

fn report() -> Report {
    let of = |paper: Paper| PaperRuns {
        paper,
        runs: experiments(paper).iter().map(|experiment| Run { experiment, records: records() }).collect(),
        absent: absent(paper).collect(),
    };
    Report {
        setting: Setting { facts: vec![("command", "hedgerow-bench paper --which all".to_owned())] },
        papers: Paper::ALL.into_iter().map(of).collect(),
        failed: Vec::new(),
    }
}

/// Returns the figures of three engines for a metric.
fn row(metric: &str, unit: &str, csr: f64, ours: f64, other: f64) -> [Record; 3] {
    [
        record("csr", metric, unit, 1, csr),
        record("hedgerow", metric, unit, 1, ours),
        record("adjlst", metric, unit, 1, other),
    ]
}

#[test]
fn the_page_has_each_place_and_needs_nothing_else() {
    let html = page(&report(), &Summary::default());
    for paper in Paper::ALL {
        assert!(html.contains(paper.title()), "{paper:?}");
        for experiment in experiments(paper) {
            let heading = format!("<h3>{}: ", experiment.place);
            assert!(html.contains(&heading), "{paper:?}: {}", experiment.place);
        }
        for absent in absent(paper) {
            assert!(html.contains(absent.title), "{paper:?}: {}", absent.place);
        }
        for (short, graph, _) in paper.graphs() {
            assert!(html.contains(&format!("{short} is {graph}")), "{paper:?}: {short}");
        }
    }
    for outside in ["http", "src=", "href=", "url(", "@import", "<script", "<link"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("insert &lt;b&gt;") && !html.contains("<b>"));
    assert!(!html.contains("NaN") && !html.contains("inf"), "a chart with something that is no number");
    // The figure is PageRank of adjlst in table 5 of the study, on a graph that is not like ours.
    assert!(html.contains("<td>9 s = 1.931 x csr</td>"));
    assert!(html.contains("<td>command</td><td>hedgerow-bench paper --which all</td>"));
}

#[test]
fn the_page_opens_with_the_summary_and_explains_its_words_before_it_uses_them() {
    let kernels = row("pr", "s", 1.0, 2.0, 3.0);
    let html = page(&report(), &summary([(Measurement::Kernels, kernels.as_slice())]));
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(
        at("<h2>Summary") < at("The words of this page")
            && at("The words of this page") < at("How it was made")
    );
    assert!(at("How it was made") < at(Paper::Dgs.title()));
    assert!(
        html.contains(
            "<tr><td>adjlst</td><td>-</td><td>-</td><td>-</td><td>1.50</td><td>-</td><td>-</td></tr>"
        )
    );
    for engine in Engine::value_variants() {
        assert!(ENGINES.iter().any(|(name, _)| *name == engine.name()), "{engine:?}");
    }
    for kernel in Kernel::ALL {
        assert!(KERNELS.iter().any(|(name, _)| *name == kernel.name()), "{kernel:?}");
    }
}

#[test]
fn the_score_counts_rows_in_which_the_store_is_first() {
    let row = |metric: &str, unit: &str, ours: f64, other: f64| row(metric, unit, 1e9, ours, other);
    let ingest = [
        row("insert", "edges/s", 96.0, 100.0),
        row("insert batch=4", "edges/s", 94.0, 100.0),
        row("memory", "bytes/edge", 104.0, 100.0),
        // One of several figures of a distribution.
        row("insert, p50", "s", 9.0, 1.0),
        // A point of a curve.
        row("insert progress=10, mean", "s", 9.0, 1.0),
        row("memory progress=10", "bytes/edge", 9.0, 1.0),
    ]
    .concat();
    let kernels = [row("pr", "s", 1.0, 2.0), row("tc", "s", 2.0, 1.0)].concat();
    let alone = [record("hedgerow", "bfs", "s", 1, 1.0), record("csr", "bfs", "s", 1, 0.5)];
    let forms = row("insert", "edges/s", 1.0, 100.0);
    let score = summary([
        (Measurement::Ingest, ingest.as_slice()),
        (Measurement::Kernels, kernels.as_slice()),
        (Measurement::Kernels, alone.as_slice()),
        (Measurement::Forms, forms.as_slice()),
    ])
    .score;
    assert_eq!(score.count(Some(Class::Insert)), (1, 2));
    assert_eq!(score.count(Some(Class::Memory)), (1, 1));
    assert_eq!(score.count(Some(Class::Kernels)), (1, 2));
    assert_eq!(score.count(None), (3, 5));
    let missed: Vec<&str> = score.missed().map(|row| row.name.as_str()).collect();
    assert_eq!(missed, ["insert batch=4, kron:4, 1 threads (ingestion)", "tc, kron:4, 1 threads (kernels)"]);
}

#[test]
fn engines_stand_to_each_other_by_the_rows_that_all_of_them_share() {
    let kernels = [
        row("pr", "s", 0.1, 1.0, 4.0).as_slice(),
        &row("tc", "s", 0.1, 2.0, 1.0),
        &[record("aspen", "pr", "s", 1, 2.0), record("aspen", "tc", "s", 1, 1.0)],
        // Aspen has no figure in this row, so that the row does not count for any engine.
        &row("wcc", "s", 0.1, 1.0, 100.0),
    ]
    .concat();
    let inserts = row("insert", "edges/s", 1.0, 100.0, 25.0);
    let standings =
        summary([(Measurement::Ingest, inserts.as_slice()), (Measurement::Kernels, kernels.as_slice())])
            .standings;
    assert_eq!(standings.engines, ["hedgerow", "adjlst", "aspen"]);
    let of = |class: &str| {
        let standing = standings.classes.iter().find(|standing| standing.class == class).unwrap();
        let means = standing.means.iter().map(|mean| mean.map(|mean| (mean * 1000.0).round() / 1000.0));
        (standing.rows, means.collect::<Vec<_>>())
    };
    assert_eq!(of("insert"), (1, vec![Some(1.0), Some(4.0), None]));
    assert_eq!(of("kernels"), (2, vec![Some(1.414), Some(2.0), Some(1.414)]));
    assert_eq!(of("memory"), (0, vec![None; 3]));
}
