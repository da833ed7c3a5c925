//! Tests of the catalog and the options.

use std::collections::BTreeSet;

use clap::Parser;

use super::catalog::{absent, experiments};
use super::context::{Context, without_parameters};
use super::measure::Measurement;
use super::options::PaperOptions;
use super::published::{Paper, published};
use crate::record::Record;
use crate::system::command;

/// The options of a command line.
#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    options: PaperOptions,
}

fn parse(arguments: &[&str]) -> Result<PaperOptions, String> {
    let line = Line::try_parse_from([&["paper"][..], arguments].concat());
    line.map(|line| line.options).map_err(|error| error.to_string())
}

/// Makes a figure that was never measured.
pub(super) fn record(engine: &str, metric: &str, unit: &str, threads: usize, value: f64) -> Record {
    Record {
        suite: "test".to_owned(),
        graph: "kron:4".to_owned(),
        engine: engine.to_owned(),
        metric: metric.to_owned(),
        value,
        unit: unit.to_owned(),
        threads,
        repeat: 1,
        min: value,
        max: value,
        ratio: None,
    }
}

#[test]
fn a_paper_is_known_by_its_name() {
    for paper in Paper::ALL {
        assert_eq!(parse(&["--which", paper.name()]).unwrap().papers(), [paper]);
    }
    assert_eq!(parse(&["--which", "all"]).unwrap().papers(), Paper::ALL);
    let error = parse(&["--which", "nonsense"]).unwrap_err();
    assert!(error.contains("nonsense") && error.contains("dgs, rapidstore, teseo"), "{error}");
}

#[test]
fn places_are_chosen_by_their_beginning() {
    let options = parse(&["--which", "dgs", "--only", "table 1,figure"]).unwrap();
    assert!(options.wants("table 1") && options.wants("figure 9") && !options.wants("table 10"));
}

/// True if a place is a table or a figure. Sentences of the text have no experiment of their own.
fn is_shown(place: &str) -> bool {
    place.starts_with("table ") || place.starts_with("figure ")
}

#[test]
fn each_published_table_and_figure_is_run_or_its_absence_explained() {
    for paper in Paper::ALL {
        let run: BTreeSet<&str> = experiments(paper).iter().map(|experiment| experiment.place).collect();
        let explained: BTreeSet<&str> = absent(paper).map(|absent| absent.place).collect();
        assert!(run.is_disjoint(&explained), "{paper:?}");
        assert_eq!(run.len(), experiments(paper).len(), "{paper:?} has a place twice");
        for figure in published(paper).iter().filter(|figure| is_shown(figure.place)) {
            let known = run.contains(figure.place) || explained.contains(figure.place);
            assert!(known, "{paper:?}: no experiment and no reason for {}", figure.place);
        }
        assert!(experiments(paper).iter().all(|experiment| experiment.paper == paper));
    }
}

#[test]
fn a_measurement_is_made_once() {
    let made = std::cell::RefCell::new(Vec::new());
    let context = Context::with(|measurement| {
        made.borrow_mut().push(measurement);
        Ok(vec![
            record("adjlst", "insert", "edges/s", 1, 1.0),
            record("adjlst", "insert batch=4", "edges/s", 1, 1.0),
        ])
    });
    for _ in 0..2 {
        assert_eq!(context.pick(Measurement::Ingest, &["insert"]).unwrap().len(), 2);
        assert!(context.pick(Measurement::Ingest, &["batch"]).unwrap().is_empty());
    }
    drop(context);
    assert_eq!(made.into_inner(), [Measurement::Ingest]);
}

#[test]
fn parameters_end_a_metric() {
    for (metric, plain) in [
        ("insert", "insert"),
        ("search |N|=16", "search"),
        ("pr readers=1 writers=2", "pr"),
        ("latency, p99 mix=tao durable=yes", "latency, p99"),
        ("insert of a vertex", "insert of a vertex"),
    ] {
        assert_eq!(without_parameters(metric), plain);
    }
}

/// Returns figures of forms, kernels and insertions that were never measured.
fn measured(measurement: Measurement) -> Vec<Record> {
    let of = |engine: &str, metrics: &[&str]| -> Vec<Record> {
        let by = |metric: &str| [1, 2].map(|threads| record(engine, metric, "s", threads, 1.0));
        metrics.iter().copied().flat_map(by).collect()
    };
    let forms = [
        "csr",
        "rapidstore plain",
        "rapidstore versions",
        "rapidstore",
        "rapidstore, radix tree",
        "rapidstore, c-art",
        "rapidstore, c-art, vectors",
        "sortledton",
        "lsmgraph",
        "lsmgraph, array",
        "lsmgraph, 2 MiB",
        "lsmgraph, 2 MiB, no index",
        "lsmgraph, 2 MiB, Bloom filters",
    ];
    match measurement {
        Measurement::Forms => forms.iter().flat_map(|form| of(form, &["insert", "scan", "sssp"])).collect(),
        Measurement::Kernels => of("hedgerow", &["sssp"]),
        Measurement::Ingest => of("hedgerow", &["insert"]),
        _ => Vec::new(),
    }
}

/// Returns the engines of a place's rows with this metric; all rows must have one thread.
fn engines_of(paper: Paper, place: &str, metric: &str) -> Vec<String> {
    let context = Context::with(|measurement| Ok(measured(measurement)));
    let experiment = experiments(paper).iter().find(|experiment| experiment.place == place).unwrap();
    let rows = (experiment.rows)(&context).unwrap();
    assert!(rows.iter().all(|row| row.threads == 1), "{place}");
    rows.into_iter().filter(|row| row.metric == metric).map(|row| row.engine).collect()
}

#[test]
fn the_parts_of_rapidstore_are_compared_by_the_same_work() {
    let parts = ["rapidstore", "rapidstore, radix tree", "rapidstore, c-art", "rapidstore, c-art, vectors"];
    assert_eq!(
        engines_of(Paper::RapidStore, "table 6", "insert edges=half"),
        [&["csr"][..], &parts].concat()
    );
    assert!(engines_of(Paper::RapidStore, "table 6", "insert").is_empty(), "all edges beside a half of them");
    let kernels = engines_of(Paper::RapidStore, "table 6", "sssp");
    assert_eq!(kernels, [&["csr"][..], &parts, &["hedgerow"]].concat());
}

#[test]
fn the_parts_of_lsmgraph_are_compared_with_its_own_whole() {
    let of = |place, metric| engines_of(Paper::LsmGraph, place, metric);
    assert_eq!(of("figure 15", "insert edges=half"), ["lsmgraph", "lsmgraph, array"]);
    assert_eq!(of("figure 16", "sssp"), ["lsmgraph, 2 MiB", "lsmgraph, 2 MiB, no index"]);
    assert_eq!(of("figure 17", "scan"), ["lsmgraph, 2 MiB", "lsmgraph, 2 MiB, Bloom filters"]);
}

#[test]
fn a_command_is_written_as_it_can_be_given_again() {
    let arguments =
        ["target/release/hedgerow-bench", "paper", "--only", "table 5,figure 1", "--graph", "kron:10"];
    let written = command(arguments.iter().map(|argument| (*argument).to_owned()));
    assert_eq!(written, "hedgerow-bench paper --only 'table 5,figure 1' --graph kron:10");
    assert_eq!(command(["x", "it's", ""].iter().map(|argument| (*argument).to_owned())), "x 'it'\\''s' ''");
}
