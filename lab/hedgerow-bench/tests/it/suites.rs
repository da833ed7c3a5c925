//! The suites on tiny graphs: the names and the form that `docs/benchmarks.md` and scripts rely on.

use std::path::Path;

use serde_json::Value;

use super::{bench, text};

/// Returns the lines of a run with `--json -`, each an object.
fn figures(dir: &Path, arguments: &[&str]) -> Vec<Value> {
    let fixed = ["--json", "-", "--repeat", "2", "--threads", "2", "--dir", "files"];
    let output = bench(dir, &[arguments, &fixed].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn find<'a>(figures: &'a [Value], engine: &str, metric: &str) -> &'a Value {
    let is_it = |f: &&Value| f["engine"] == engine && f["metric"] == metric;
    figures.iter().find(is_it).unwrap_or_else(|| panic!("no {metric} of {engine}"))
}

/// Checks the form of one line: every field, and a median between the minimum and the maximum.
fn check_form(figure: &Value, suite: &str, graph: &str) {
    let fields: Vec<&str> = figure.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "suite",
        "graph",
        "engine",
        "metric",
        "value",
        "unit",
        "threads",
        "repeat",
        "min",
        "max",
        "ratio_to",
        "ratio",
        "date",
        "machine",
        "commit",
        "command",
        "optimised",
    ];
    expected.sort_unstable();
    assert_eq!(fields, expected);
    assert_eq!((&figure["suite"], &figure["graph"]), (&suite.into(), &graph.into()));
    let command = figure["command"].as_str().unwrap();
    assert!(command.starts_with("hedgerow-bench ") && !command.contains("--dir"), "{command}");
    let number = |name: &str| figure[name].as_f64().unwrap_or_else(|| panic!("{figure}"));
    assert!(number("min") <= number("value") && number("value") <= number("max"), "{figure}");
    assert!(number("min") > 0.0 && number("threads") >= 1.0 && number("repeat") >= 1.0, "{figure}");
}

#[test]
fn analytics_compares_every_kernel_with_the_csr() {
    let dir = tempfile::tempdir().unwrap();
    let figures = figures(dir.path(), &["analytics", "--graph", "kron:10", "--report", "out/page.html"]);
    figures.iter().for_each(|f| check_form(f, "analytics", "kron:10"));
    for kernel in ["bfs", "pr", "sssp", "wcc", "tc", "geomean"] {
        for state in ["settled", "unsettled"] {
            let metric = format!("{kernel}.{state}");
            let mine = find(&figures, "hedgerow", &metric);
            assert_eq!(
                (&mine["ratio_to"], &mine["unit"], &mine["repeat"]),
                (&"csr".into(), &"s".into(), &2.into())
            );
            assert!(mine["ratio"].as_f64().unwrap() > 0.0);
            assert_eq!(find(&figures, "csr", &metric)["ratio"], 1.0);
        }
    }
    find(&figures, "hedgerow", "view_full.seconds");
    for metric in ["view_refresh_1000.seconds", "view_refresh_1000_confined_unsettled.seconds"] {
        assert_eq!(find(&figures, "hedgerow", metric)["ratio_to"], "view_full");
    }
    assert!(std::fs::read_to_string(dir.path().join("out/page.html")).unwrap().contains("<svg"));
}

#[test]
fn analytics_measures_graphs_with_weights_and_single_kernels() {
    let dir = tempfile::tempdir().unwrap();
    let figures =
        figures(dir.path(), &["analytics", "--graph", "uniform:8", "--weighted", "--only", "sssp,geomean"]);
    figures.iter().for_each(|f| check_form(f, "analytics", "uniform:8 weighted"));
    assert_eq!(figures.len(), 8, "sssp and the mean, of both engines, settled and not");
    assert_ne!(find(&figures, "hedgerow", "sssp.settled")["ratio"], Value::Null);
}

#[test]
fn insert_measures_rates_memory_and_latency() {
    let dir = tempfile::tempdir().unwrap();
    let figures = figures(dir.path(), &["insert", "--graph", "kron:9"]);
    figures.iter().for_each(|f| check_form(f, "insert", "kron:9"));
    for metric in [
        "single.edges_per_s",
        "batch_10.edges_per_s",
        "batch_1000.edges_per_s",
        "batch_100000.edges_per_s",
        "batch_1000000.edges_per_s",
        "bytes_per_edge.loaded",
        "bytes_per_edge.settled",
        "commit_latency.p50",
        "commit_latency.p99",
        "commit_latency.p999",
    ] {
        find(&figures, "hedgerow", metric);
    }
    let writers: Vec<u64> = figures
        .iter()
        .filter(|f| f["metric"] == "single.edges_per_s")
        .map(|f| f["threads"].as_u64().unwrap())
        .collect();
    assert_eq!(writers, [1, 2]);
    let left: Vec<_> = std::fs::read_dir(dir.path().join("files")).unwrap().collect();
    assert!(left.is_empty(), "files left behind: {left:?}");
}

#[test]
fn update_ops_and_mixed_have_their_metrics() {
    let dir = tempfile::tempdir().unwrap();
    for weighted in [false, true] {
        let name = if weighted { "kron:8 weighted" } else { "kron:8" };
        let measure = |suite: &str| {
            let arguments = [suite, "--graph", "kron:8", "--weighted"];
            let found = figures(dir.path(), if weighted { &arguments } else { &arguments[..3] });
            found.iter().for_each(|f| check_form(f, suite, name));
            found
        };
        let update = measure("update");
        for round in 1..=5 {
            let rate = find(&update, "hedgerow", &format!("round_{round}.edges_per_s"));
            assert_eq!(rate["ratio_to"], "load");
            find(&update, "hedgerow", &format!("round_{round}.accounted_bytes_per_edge"));
        }
        let ops = measure("ops");
        for read in ["has_edge_hit", "has_edge_miss", "degree", "scan_sequential", "scan_random", "two_hop"] {
            for state in ["", "_settled"] {
                let metric = format!("{read}{state}.per_s");
                assert_eq!(find(&ops, "hedgerow", &metric)["ratio_to"], "csr");
                assert_eq!(find(&ops, "csr", &metric)["ratio"], 1.0);
            }
        }
        for metric in
            ["snapshot_open.p50", "view_full.seconds", "view_refresh_1000.seconds", "hub.edges_per_s"]
        {
            find(&ops, "hedgerow", metric);
        }
    }
    let mixed = figures(dir.path(), &["mixed", "--graph", "kron:8"]);
    for metric in ["reader.slowdown", "writer.slowdown", "scan_reader.slowdown", "scan_writer.slowdown"] {
        assert_eq!(find(&mixed, "hedgerow", metric)["ratio_to"], "csr");
    }
    find(&mixed, "hedgerow", "idle_snapshots_8.slowdown");
}

#[test]
fn recovery_reads_checkpoint_and_log() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["recovery", "--graph", "uniform:9:4", "--json", "figures.jsonl", "--dir", "files"];
    let output = bench(dir.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = std::fs::read_to_string(dir.path().join("figures.jsonl")).unwrap();
    let figures: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    figures.iter().for_each(|f| check_form(f, "recovery", "uniform:9:4"));
    for metric in [
        "checkpoint.edges_per_s",
        "log.operations_per_s",
        "open_empty_log.seconds",
        "first_point_read.seconds",
        "updates.operations_per_s",
        "updates_within_25.operations_per_s",
        "both.seconds",
    ] {
        find(&figures, "hedgerow", metric);
    }
    assert!(std::fs::read_dir(dir.path().join("files")).unwrap().next().is_none());
    let output = bench(dir.path(), &["report", "figures.jsonl", "--out", "page.html"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    std::fs::write(dir.path().join("figures.jsonl"), "{}\n").unwrap();
    let output = bench(dir.path(), &["report", "figures.jsonl", "--out", "page.html"]);
    assert!(!output.status.success() && text(&output.stderr).contains("figures.jsonl:1"));
}

#[test]
fn disk_holds_a_snapshot_and_looks_vertices_up() {
    let dir = tempfile::tempdir().unwrap();
    let figures = figures(dir.path(), &["disk", "--graph", "kron:9", "--only", "held,keys"]);
    figures.iter().for_each(|f| check_form(f, "disk", "kron:9"));
    find(&figures, "hedgerow", "held.answers_after.seconds");
    for metric in ["keys.u64.runs_1", "keys.str.runs_1"] {
        let most = find(&figures, "hedgerow", &format!("{metric}.blocks_per_lookup.most"));
        assert_eq!(most["value"], 1.0, "{most}");
    }
}

#[test]
fn reads_compares_the_pool_with_one_read_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["reads", "--mebibytes", "2", "--reads", "300", "--repeat", "2", "--dir", "files"];
    let output = bench(dir.path(), &[&arguments[..], &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let figures: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let file = figures[0]["graph"].as_str().unwrap();
    assert!(file.starts_with("a file of 2 MiB, "), "{file}");
    figures.iter().for_each(|f| check_form(f, "reads", file));
    for metric in ["random_4k.per_s", "in_order_1m.bytes_per_s"] {
        find(&figures, "hedgerow", metric);
    }
    assert_eq!(find(&figures, "hedgerow", "random_4k_pool.per_s")["ratio_to"], "random_4k");
    assert!(dir.path().join("files").read_dir().unwrap().next().is_none(), "the file is removed");
}

#[test]
fn an_absent_engine_is_left_out_and_a_bad_graph_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let figures = figures(dir.path(), &["analytics", "--graph", "kron:8", "--engines", "csr"]);
    // Each kernel and their mean, unsettled and settled.
    let expected = 2 * (hedgerow_kernels::registry::KERNELS.len() + 1);
    assert!(figures.iter().all(|f| f["engine"] == "csr") && figures.len() == expected);
    let output = bench(dir.path(), &["insert", "--graph", "cron:8"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cron:8"));
}

#[test]
fn vertices_compares_keys_of_each_type_with_dense_ones() {
    let dir = tempfile::tempdir().unwrap();
    let figures = figures(dir.path(), &["vertices", "--graph", "uniform:9:4", "--vertices", "5000"]);
    figures.iter().for_each(|f| check_form(f, "vertices", "uniform:9:4"));
    for naming in ["dense", "u64", "str", "uuid"] {
        for metric in ["single.edges_per_s", "batch_100000.edges_per_s", "lookup.per_s", "has_edge.per_s"] {
            assert_eq!(find(&figures, "hedgerow", &format!("{naming}.{metric}"))["ratio_to"], "dense");
        }
        let accounted = find(&figures, "hedgerow", &format!("{naming}.accounted_bytes_per_vertex"));
        assert!(accounted["value"].as_f64().unwrap() < 150.0, "{accounted}");
        find(&figures, "hedgerow", &format!("{naming}.bytes_per_vertex"));
    }
}

#[test]
fn format_compares_packed_lists_with_plain_ones() {
    let dir = tempfile::tempdir().unwrap();
    for graph in ["kron:9", "uniform:8:1"] {
        let figures = figures(dir.path(), &["format", "--graph", graph]);
        figures.iter().for_each(|f| check_form(f, "format", graph));
        for metric in ["bytes_per_edge", "encode.ns_per_edge", "decode.ns_per_edge"] {
            assert_eq!(find(&figures, "packed", metric)["ratio_to"], "plain");
        }
        find(&figures, "packed", "skip.ns_per_edge");
        let bytes = find(&figures, "packed", "bytes_per_edge")["ratio"].as_f64().unwrap();
        assert!((0.1..0.6).contains(&bytes), "{bytes}");
    }
}

#[test]
fn stream_compares_ranks_on_fresh_snapshots_with_the_csr() {
    let dir = tempfile::tempdir().unwrap();
    let arguments =
        ["stream", "--seconds", "2", "--rate", "2000", "--every", "0.1", "--dir", "files", "--json", "-"];
    let output = bench(dir.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let figures: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let graph = "the demo's events, 2000 a second for 2 s";
    for metric in ["pr.cpu_seconds", "pr_with_view.cpu_seconds"] {
        let mine = find(&figures, "hedgerow", metric);
        check_form(mine, "stream", graph);
        assert_eq!((&mine["ratio_to"], &mine["unit"]), (&"csr".into(), &"s".into()));
        check_form(find(&figures, "csr", "pr.cpu_seconds"), "stream", graph);
    }
    for metric in ["pr.by_csr", "pr_with_view.by_csr", "events_per_s", "edges"] {
        check_form(find(&figures, "hedgerow", metric), "stream", graph);
    }
    for metric in ["unsettled.share", "corrected.share"] {
        let share = find(&figures, "hedgerow", metric);
        assert!((0.0..=1.0).contains(&share["max"].as_f64().unwrap()), "{share}");
    }
    assert!(dir.path().join("files").read_dir().unwrap().next().is_none(), "the store is removed");
}

#[test]
fn containers_are_measured_beside_the_store() {
    let dir = tempfile::tempdir().unwrap();
    const ENGINES: [&str; 8] =
        ["csr", "hedgerow", "adjlst", "rapidstore", "livegraph", "sortledton", "teseo", "aspen"];
    let of =
        |suite: &str| figures(dir.path(), &[suite, "--graph", "kron:8", "--engines", &ENGINES.join(",")]);
    let insert = of("insert");
    insert.iter().for_each(|f| check_form(f, "insert", "kron:8"));
    for engine in &ENGINES[1..] {
        for metric in ["single.edges_per_s", "batch_1000.edges_per_s", "remove_and_insert.edges_per_s"] {
            find(&insert, engine, metric);
        }
        assert_eq!(find(&insert, engine, "accounted_bytes_per_edge.loaded")["ratio_to"], "csr");
    }
    let (update, mixed) = (of("update"), of("mixed"));
    update.iter().for_each(|f| check_form(f, "update", "kron:8"));
    mixed.iter().for_each(|f| check_form(f, "mixed", "kron:8"));
    for engine in &ENGINES[1..] {
        for metric in ["load.edges_per_s", "round_5.edges_per_s", "round_5.accounted_bytes_per_edge"] {
            find(&update, engine, metric);
        }
        for metric in ["reader.seconds", "reader.slowdown", "writer.edges_per_s", "writer.slowdown"] {
            find(&mixed, engine, metric);
        }
    }
    let (ops, analytics) = (of("ops"), of("analytics"));
    for engine in ENGINES {
        for metric in ["has_edge_hit.per_s", "scan_sequential.per_s", "two_hop.per_s"] {
            assert_eq!(find(&ops, engine, metric)["ratio_to"], "csr");
        }
        for kernel in ["bfs", "pr", "sssp", "wcc", "tc", "geomean"] {
            assert_eq!(find(&analytics, engine, &format!("{kernel}.unsettled"))["ratio_to"], "csr");
        }
    }
}

#[test]
fn suites_of_the_store_alone_refuse_containers() {
    let dir = tempfile::tempdir().unwrap();
    let of_store = [
        &["commit"][..],
        &["recovery"],
        &["vertices"],
        &["maintained"],
        &["disk"],
        &["format"],
        &["mixed", "--readers", "2"],
    ];
    for suite in of_store {
        let output = bench(dir.path(), &[suite, &["--engines", "csr,teseo"]].concat());
        assert_eq!(output.status.code(), Some(1), "{suite:?}");
        let message = text(&output.stderr);
        assert!(message.contains("the store alone") && message.contains("teseo"), "{suite:?}: {message}");
    }
}

#[test]
fn paper_writes_figures_and_a_page_and_knows_its_papers() {
    let dir = tempfile::tempdir().unwrap();
    let arguments =
        ["paper", "--which", "livegraph", "--only", "figure 1,table 10", "--quick", "--graph", "kron:7"];
    let figures = figures(dir.path(), &[&arguments[..], &["--report", "out/page.html"]].concat());
    let suites: std::collections::BTreeSet<&str> =
        figures.iter().filter_map(|f| f["suite"].as_str()).collect();
    assert_eq!(Vec::from_iter(suites), ["livegraph figure 1", "livegraph table 10"]);
    for engine in ["csr", "hedgerow", "adjlst", "rapidstore", "livegraph", "sortledton", "teseo", "aspen"] {
        for (metric, suite, graph) in [
            ("scan, seek included scale=10", "livegraph figure 1", "kron:10:2"),
            ("pr", "livegraph table 10", "kron:7"),
        ] {
            let figure = find(&figures, engine, metric);
            check_form(figure, suite, graph);
            assert_eq!(figure["ratio_to"], "csr");
        }
    }
    let html = std::fs::read_to_string(dir.path().join("out/page.html")).unwrap();
    assert!(html.contains("<svg") && html.contains("table 10: PageRank") && html.contains("266 ms"));
    let output = bench(dir.path(), &["paper", "--which", "nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("\"nonsense\" is no paper"), "{}", text(&output.stderr));
}

#[test]
fn linkbench_measures_both_mixes_durable_and_not() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--json", "-", "--repeat", "2", "--dir", "files", "--nodes", "200", "--requests", "300"];
    let output = bench(dir.path(), &[&["linkbench"], &arguments[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    if lines.is_empty() {
        // The files of the workload are absent, and the program says so.
        assert!(text(&output.stderr).contains("skipped: LinkBench"), "{}", text(&output.stderr));
        return;
    }
    let figures: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    figures.iter().for_each(|f| check_form(f, "linkbench", "linkbench:200"));
    for mix in ["tao", "dflt", "tao_durable", "dflt_durable"] {
        for (metric, unit) in [("mean", "s"), ("p99", "s"), ("p999", "s"), ("ops_per_s", "1/s")] {
            assert_eq!(find(&figures, "hedgerow", &format!("{mix}.{metric}"))["unit"], unit);
        }
    }
    // LiveGraph keeps no log, so that it has no durable figures.
    let of_livegraph: Vec<&Value> = figures.iter().filter(|f| f["engine"] == "livegraph").collect();
    assert_eq!(of_livegraph.len(), 2 * 4 * 2, "two mixes, four metrics, one and two clients");
    assert!(of_livegraph.iter().all(|f| !f["metric"].as_str().is_some_and(|m| m.contains("durable"))));
    let output = bench(dir.path(), &["linkbench", "--engines", "lmdb"]);
    assert!(text(&output.stderr).contains("no engine lmdb in this program"), "{}", text(&output.stderr));
}
