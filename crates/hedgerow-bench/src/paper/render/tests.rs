//! The page and the score of figures that were never measured.

use super::super::catalog::{absent, experiments};
use super::super::measure::Measurement;
use super::super::published::Paper;
use super::super::shown::{PaperRuns, Report, Run};
use super::super::tests::record;
use super::page;
use super::score::{Class, Score, score};
use crate::record::Record;

/// Figures of all kinds for an experiment.
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
        setting: "a setting".to_owned(),
        papers: Paper::ALL.into_iter().map(of).collect(),
        failed: Vec::new(),
    }
}

#[test]
fn the_page_has_each_place_and_needs_nothing_else() {
    let html = page(&report(), &Score::default());
    for paper in Paper::ALL {
        assert!(html.contains(paper.title()), "{paper:?}");
        for experiment in experiments(paper) {
            let heading = format!("<h3>{}: ", experiment.place);
            assert!(html.contains(&heading), "{paper:?}: {}", experiment.place);
        }
        for absent in absent(paper) {
            assert!(html.contains(absent.title), "{paper:?}: {}", absent.place);
        }
    }
    for outside in ["http", "src=", "href=", "url(", "@import", "<script", "<link"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("insert &lt;b&gt;") && !html.contains("<b>"));
    assert!(!html.contains("NaN") && !html.contains("inf"), "a chart with something that is no number");
    // Published figures stand beside ours, with their ratios.
    assert!(html.contains("= 1.931 x csr (lj, 1 thread)"), "PageRank of adjlst in table 5 of the study");
}

#[test]
fn the_score_counts_rows_in_which_the_store_is_first() {
    let row = |metric: &str, unit: &str, ours: f64, other: f64| {
        [
            record("csr", metric, unit, 1, 1e9),
            record("hedgerow", metric, unit, 1, ours),
            record("adjlst", metric, unit, 1, other),
        ]
    };
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
    let score = score([
        (Measurement::Ingest, ingest.as_slice()),
        (Measurement::Kernels, kernels.as_slice()),
        (Measurement::Kernels, alone.as_slice()),
        (Measurement::Forms, forms.as_slice()),
    ]);
    assert_eq!(score.count(Some(Class::Insert)), (1, 2));
    assert_eq!(score.count(Some(Class::Memory)), (1, 1));
    assert_eq!(score.count(Some(Class::Kernels)), (1, 2));
    assert_eq!(score.count(None), (3, 5));
    let missed: Vec<&str> = score.missed().map(|row| row.name.as_str()).collect();
    assert_eq!(missed, ["insert batch=4, kron:4, 1 threads (ingestion)", "tc, kron:4, 1 threads (kernels)"]);
}
