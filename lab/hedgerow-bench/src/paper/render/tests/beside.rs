//! Tests of the places of published figures.

use super::super::super::catalog::experiments;
use super::super::super::published::Paper;
use super::super::super::shown::Run;
use super::super::super::tests::record;
use super::super::lines::{in_place, lines, others};
use super::{records, run};
use crate::record::Record;

/// Returns the published figures next to each line, without lines that have none.
fn beside(run: &Run) -> Vec<(String, String)> {
    let lines = lines(run).into_iter().filter(|line| !line.published.is_empty());
    lines.map(|line| (format!("{} x{} {}", line.row, line.threads, line.engine), line.published)).collect()
}

fn on(graph: &str, mut record: Record) -> Record {
    record.graph = graph.to_owned();
    record
}

#[test]
fn each_published_figure_stands_in_one_place() {
    for paper in Paper::ALL {
        for experiment in experiments(paper) {
            let theirs = in_place(paper, experiment.place);
            // For each published figure two of our figures, with one thread and with two; and the figures of
            // the other tests.
            let alike = theirs.iter().flat_map(|figure| {
                [1, 2].map(|threads| record(figure.system, figure.row, figure.unit, threads, 1.0))
            });
            let mut ours: Vec<Record> = Vec::new();
            for record in alike.chain(records()) {
                if !ours.contains(&record) {
                    ours.push(record);
                }
            }
            let run = Run { experiment, records: ours };
            let beside: usize = beside(&run).iter().map(|(_, figures)| figures.split("; ").count()).sum();
            assert_eq!(beside + others(&run).len(), theirs.len(), "{paper:?}, {}", experiment.place);
        }
    }
}

#[test]
fn a_published_figure_stands_beside_its_own_form_on_a_graph_of_the_same_kind() {
    let forms = ["csr", "adjlst plain", "adjlst", "aspen plain", "hedgerow"];
    let of = |graph: &str| forms.map(|form| on(graph, record(form, "pr", "s", 1, 1.0))).to_vec();
    let kron = run(Paper::Dgs, "table 5", of("kron:18"));
    assert_eq!(
        beside(&kron),
        [
            ("pr x1 csr".to_owned(), "20.98 s (g5, 1 thread)".to_owned()),
            ("pr x1 adjlst plain".to_owned(), "29.2 s = 1.392 x csr (g5, 1 thread)".to_owned()),
            ("pr x1 aspen plain".to_owned(), "43.19 s = 2.059 x csr (g5, 1 thread, flattened)".to_owned()),
        ]
    );
    let road = run(Paper::Dgs, "table 5", of("data:static/dimacs9-road-FLA"));
    assert!(beside(&road).is_empty());
    assert_eq!(others(&road).len(), 120);
}

#[test]
fn the_switches_of_rapidstore_have_their_own_figures() {
    let forms = ["rapidstore, radix tree", "rapidstore, c-art", "rapidstore, c-art, vectors", "rapidstore"];
    let of =
        |form: &str| [record(form, "bfs", "s", 1, 1.0), record(form, "insert edges=half", "edges/s", 1, 1.0)];
    let run = run(Paper::RapidStore, "table 6", forms.into_iter().flat_map(of).collect());
    let figures = beside(&run);
    for (row, figure) in [
        ("bfs x1 rapidstore, radix tree", "22.85 s"),
        ("bfs x1 rapidstore, c-art", "9.73 s"),
        ("bfs x1 rapidstore, c-art, vectors", "4.18 s"),
        ("bfs x1 rapidstore", "2.71 s"),
        ("insert edges=half x1 rapidstore, radix tree", "1562.43 k edges/s"),
        ("insert edges=half x1 rapidstore", "1973.13 k edges/s"),
    ] {
        let stated = figures.iter().find(|(known, _)| known == row).map(|(_, stated)| stated.as_str());
        assert!(stated.is_some_and(|stated| stated.starts_with(&format!("{figure} ("))), "{row}: {stated:?}");
    }
}

#[test]
fn parameters_and_threads_tell_rows_apart() {
    let searches = ["search", "search degrees=low", "search degrees=high"];
    let of = |metric: &str| record("sortledton", metric, "edges/s", 1, 1.0);
    let degrees = run(Paper::RapidStore, "table 2", searches.map(of).to_vec());
    let stated: Vec<String> = beside(&degrees).into_iter().map(|(_, stated)| stated).collect();
    assert_eq!(
        stated,
        [
            "635.33 k edges/s = 0.190 x csr (g5)",
            "1830.93 k edges/s = 0.246 x csr (g5)",
            "546.09 k edges/s = 0.180 x csr (g5)"
        ]
    );
    // A figure of 40 threads belongs to the row with the most threads. A figure of 40 threads against one
    // belongs to no row.
    let counts = [1, 2].map(|threads| record("teseo", "insert", "edges/s", threads, 1.0));
    let threads = run(Paper::Teseo, "figure 6", counts.to_vec());
    assert_eq!(
        beside(&threads),
        [("insert x2 teseo".to_owned(), "2400 k edges/s (40 threads, about)".to_owned())]
    );
    // Several rows match, and the figure belongs to none of them.
    let batches = [4, 16].map(|batch| record("aspen", &format!("insert batch={batch}"), "edges/s", 2, 1.0));
    let batches = run(Paper::Dgs, "figure 19", batches.to_vec());
    assert_eq!((beside(&batches).len(), others(&batches).len()), (0, 1));
}

#[test]
fn a_ratio_to_the_csr_is_said_as_one() {
    let teseo = on("kron:18", record("teseo", "pr", "s", 2, 1.0));
    let run = run(Paper::Teseo, "table 3", vec![teseo]);
    let stated = &beside(&run)[0].1;
    assert_eq!(
        stated,
        "1.42 x csr (graph500-24, real ids, time against csr's); 1.52 x csr (graph500-26, real ids, time against csr's)"
    );
}
