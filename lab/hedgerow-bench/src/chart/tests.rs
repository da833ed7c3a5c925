use super::{ChartOptions, Figures, draw};
use crate::record::{Origin, Record};

fn origin(command: &str) -> Origin {
    Origin {
        date: "2026-01-02".into(),
        machine: "2 cores, AMD EPYC, 23 GiB".into(),
        commit: Some("0123abcd".into()),
        command: command.into(),
        is_optimised: true,
    }
}

/// Returns a line as a suite writes it; `by_csr` is the ratio to the CSR.
fn line((suite, metric, unit): (&str, &str, &str), engine: &str, value: f64, by_csr: Option<f64>) -> String {
    let record = Record {
        suite: suite.into(),
        graph: "kron:18".into(),
        engine: engine.into(),
        metric: metric.into(),
        value,
        unit: unit.into(),
        threads: 2,
        repeat: 3,
        min: value,
        max: value,
        ratio: by_csr.map(|ratio| ("csr".to_owned(), ratio)),
    };
    record.to_line(&origin(&format!("hedgerow-bench {suite} --graph kron:18")))
}

fn figures(lines: &[String]) -> Figures {
    let mut figures = Figures::default();
    figures.add(&lines.join("\n"), "f.jsonl").unwrap();
    figures
}

/// Returns the figures of two suites on two engines, and of a CSR.
fn both() -> Figures {
    let bfs = ("analytics", "bfs.unsettled", "s");
    let single = ("insert", "single.edges_per_s", "edges/s");
    figures(&[
        line(bfs, "csr", 0.004, Some(1.0)),
        line(bfs, "hedgerow", 0.005, Some(1.25)),
        line(bfs, "teseo", 0.016, Some(4.0)),
        line(single, "hedgerow", 3_330_000.0, None),
        line(single, "teseo", 1_030_000.0, None),
    ])
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns the length of the bar before this text.
fn length(svg: &str, shown: &str) -> f64 {
    let lines: Vec<&str> = svg.lines().collect();
    let at = lines.iter().position(|line| line.ends_with(&format!(">{shown}</text>"))).expect(shown);
    let width = lines[at - 1].split("width=\"").nth(1).and_then(|rest| rest.split('"').next());
    width.and_then(|width| width.parse().ok()).expect(lines[at - 1])
}

#[test]
fn a_chart_has_a_panel_for_each_suite_with_units_and_its_origin() {
    let svg = draw(&both(), &ChartOptions::default()).unwrap();
    for text in [
        ">Kernels, Insertion on kron:18<",
        ">BFS: time by that of the same kernel on a static CSR; less is better<",
        ">1: the static CSR<",
        ">Single edges: directed edges a second; more is better<",
        ">2026-01-02; 2 cores, AMD EPYC, 23 GiB; commit 0123abcd<",
        ">hedgerow-bench analytics --graph kron:18<",
        ">hedgerow-bench insert --graph kron:18<",
        ">teseo<",
    ] {
        assert_eq!(svg.matches(text).count(), if text == ">teseo<" { 2 } else { 1 }, "{text} in {svg}");
    }
    assert!(!svg.contains(">csr<"), "its ratio is the line: {svg}");
    assert!((length(&svg, "4.00") / length(&svg, "1.25") - 3.2).abs() < 0.01, "{svg}");
    assert!((length(&svg, "3.33 M") / length(&svg, "1.03 M") - 3.233).abs() < 0.01, "{svg}");
}

#[test]
fn options_choose_suites_metrics_the_title_and_the_commit() {
    let options = ChartOptions {
        suite: words(&["insert"]),
        title: Some("A <title>".into()),
        commit: Some("feed5678".into()),
        ..ChartOptions::default()
    };
    let svg = draw(&both(), &options).unwrap();
    assert!(svg.contains(">A &lt;title&gt;<") && svg.contains("; commit feed5678<"), "{svg}");
    assert!(!svg.contains("BFS") && !svg.contains("0123abcd"), "{svg}");
    let only = ChartOptions { only: words(&["single", "bfs"]), ..ChartOptions::default() };
    let svg = draw(&both(), &only).unwrap();
    assert!(svg.find(">Single edges: ").unwrap() < svg.find(">BFS: ").unwrap(), "the order of --only: {svg}");
}

#[test]
fn states_of_the_store_are_bars_of_one_group() {
    let pr = |state, engine, ratio| {
        line(("analytics", &format!("pr.{state}"), "s"), engine, 0.1 * ratio, Some(ratio))
    };
    let tc = line(("analytics", "tc.settled", "s"), "hedgerow", 0.1, Some(0.99));
    let settled = [pr("settled", "csr", 1.0), pr("settled", "hedgerow", 1.01), tc];
    let lines = [pr("unsettled", "csr", 1.0), pr("unsettled", "hedgerow", 1.17)];
    let svg = draw(&figures(&[&lines[..], &settled].concat()), &ChartOptions::default()).unwrap();
    assert_eq!(svg.matches(">PageRank<").count(), 1, "{svg}");
    assert!(svg.contains(">hedgerow, unsettled<") && svg.contains(">triangles<"), "{svg}");
    assert!(length(&svg, "1.17") > length(&svg, "1.01"));
}

#[test]
fn a_metric_of_one_engine_names_its_bar() {
    let commit = |metric, value| line(("commit", metric, "commits/s"), "hedgerow", value, None);
    let lines = [commit("sync_1.commits_per_s", 7460.0), commit("manual.commits_per_s", 1_360_000.0)];
    let svg = draw(&figures(&lines), &ChartOptions::default()).unwrap();
    assert!(svg.contains(">sync, 1 client<") && !svg.contains(">hedgerow<"), "{svg}");
    assert!(svg.contains(">Durable commits: commits a second; more is better; log scale<"), "{svg}");
}

#[test]
fn bad_input_is_named() {
    let refused = |text: &str| Figures::default().add(text, "f.jsonl").unwrap_err().to_string();
    assert!(refused("<html>").starts_with("f.jsonl:1: not a figure as `--json` writes them: <html>"));
    assert!(refused("\n{\"suite\": 1}").starts_with("f.jsonl:2: not a figure"));
    assert_eq!(refused("\n"), "f.jsonl: no figures");
    let failed = |options: ChartOptions| draw(&both(), &options).unwrap_err().to_string();
    let other = ChartOptions { suite: words(&["ops"]), ..ChartOptions::default() };
    assert_eq!(failed(other), "no figures of the suite ops: the files have analytics, insert");
    let other = ChartOptions { only: words(&["single", "tc"]), ..ChartOptions::default() };
    assert!(
        failed(other).starts_with("no other metric begins with tc: the files have bfs.unsettled, single.")
    );
}

#[test]
fn figures_without_an_origin_and_of_builds_for_tests_are_marked() {
    let with = line(("insert", "single.edges_per_s", "edges/s"), "hedgerow", 1e6, None);
    let debug = with.replace("\"optimised\":true", "\"optimised\":false");
    let svg = draw(&figures(&[debug]), &ChartOptions::default()).unwrap();
    assert!(svg.contains(">Built for tests: these figures mean nothing.<"), "{svg}");
    let without = with.replace("\"date\":\"2026-01-02\",", "");
    let svg = draw(&figures(&[without]), &ChartOptions::default()).unwrap();
    assert!(svg.contains("do not say when and where they were measured.<"), "{svg}");
}
