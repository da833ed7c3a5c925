//! Tests of the figures that share a chart.

use super::super::super::published::Paper;
use super::super::super::tests::record;
use super::super::drawing::colors;
use super::super::plot::drawings;
use super::run;
use crate::record::Record;

#[test]
fn a_scan_and_an_insertion_have_charts_of_their_own() {
    let of = |engine: &str| {
        [("search", 3e7), ("scan", 1e9), ("insert", 3e6)]
            .map(|(metric, rate)| record(engine, metric, "edges/s", 2, rate))
    };
    let run = run(Paper::Dgs, "table 7", ["hedgerow", "adjlst"].into_iter().flat_map(of).collect());
    let drawings = drawings(&run);
    let titles: Vec<&str> = drawings.iter().map(|drawing| drawing.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "search, edges/s: more is better",
            "scan, edges/s: more is better",
            "insert, edges/s: more is better"
        ]
    );
    assert!(
        drawings.iter().all(|drawing| drawing.svg.matches("<rect").count() == 4),
        "two bars and their legend"
    );
    assert!(drawings.iter().all(|drawing| !drawing.svg.contains("log scale")));
}

#[test]
fn the_times_of_a_distribution_share_a_chart_that_shows_the_least_of_them() {
    let times = [("p50", 1e-6), ("p99", 4e-6), ("max", 1e-3)];
    let of = |(figure, time): (&str, f64)| record("adjlst", &format!("search, {figure}"), "s", 3, time);
    let run = run(Paper::Dgs, "table 11", times.map(of).to_vec());
    let drawings = drawings(&run);
    assert_eq!(drawings.len(), 1);
    assert_eq!(drawings[0].title, "search, s: less is better");
    assert!(drawings[0].svg.contains(">s, log scale</text>") && drawings[0].svg.contains(">p99</text>"));
}

#[test]
fn durable_requests_have_a_chart_of_their_own() {
    let metrics = ["latency, mean mix=tao", "latency, p99 mix=tao", "latency, mean mix=tao durable=yes"];
    let of = |metric: &str| record("lmdb", metric, "s", 1, 1.0);
    let drawings = drawings(&run(Paper::LiveGraph, "table 3", metrics.map(of).to_vec()));
    let titles: Vec<&str> = drawings.iter().map(|drawing| drawing.title.as_str()).collect();
    assert_eq!(
        titles,
        ["latency mix=tao, s: less is better", "latency mix=tao durable=yes, s: less is better"]
    );
}

#[test]
fn forms_stand_side_by_side_for_each_container() {
    let of = |engine: &str| record(engine, "memory", "bytes/edge", 1, 4.0);
    let engines = ["csr", "adjlst plain", "adjlst versions", "adjlst", "teseo plain", "teseo"];
    let run = run(Paper::Dgs, "table 9", engines.map(of).to_vec());
    let drawings = drawings(&run);
    let svg = &drawings[0].svg;
    assert_eq!((drawings.len(), svg.matches("<rect").count()), (1, 6 + 3), "six bars, three kinds");
    for text in
        [">csr<", ">adjlst<", ">teseo<", ">structure alone<", ">with versions<", ">whole<", ">container<"]
    {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn ratios_are_of_rates_or_of_times() {
    let ratio = |mut record: Record, ratio: f64| {
        record.ratio = Some(("csr".to_owned(), ratio));
        record
    };
    let records = vec![
        ratio(record("adjlst", "search", "edges/s", 1, 1.0), 0.5),
        ratio(record("adjlst", "search degrees=low", "edges/s", 1, 1.0), 0.25),
        ratio(record("adjlst", "tc", "s", 1, 1.0), 2.0),
    ];
    let drawings = drawings(&run(Paper::RapidStore, "table 2", records));
    let titles: Vec<&str> = drawings.iter().map(|drawing| drawing.title.as_str()).collect();
    assert_eq!(titles, ["rate by the CSR's: more is better", "time by the CSR's: less is better"]);
    assert!(drawings[0].svg.contains(">search degrees=low</text>"));
}

#[test]
fn an_engine_has_one_color_in_all_charts() {
    assert_eq!(colors(&["csr", "adjlst plain", "hedgerow"]), [1, 2, 0]);
    assert_eq!(colors(&["hedgerow", "lmdb", "adjlst", "redb"]), [0, 10, 2, 11]);
    // With several forms of one engine, each form has its own color.
    assert_eq!(colors(&["rapidstore", "csr", "rapidstore, c-art"]), [0, 1, 2]);
    let vertices = colors(&["hedgerow", "adjlst", "dynamic array", "hash table", "tree"]);
    assert!((0..5).all(|nth| !vertices[..nth].contains(&vertices[nth])), "{vertices:?}");
}
