//! Tests of the published figures.

use std::collections::HashSet;

use clap::ValueEnum;
use hedgerow_subjects::{Engine, forms};

use super::{Paper, Published, published};

/// Returns the number of figures that `paper` states in `place`.
fn stated(paper: Paper, place: &str) -> usize {
    published(paper).iter().filter(|figure| figure.place == place).count()
}

/// Returns the value and the unit of a cell.
fn cell(
    paper: Paper,
    place: &str,
    (system, row): (&str, &str),
    of: (&str, &str),
) -> Option<(f64, &'static str)> {
    let wanted =
        |f: &&Published| (f.place, f.system, f.row, (f.graph, f.setting)) == (place, system, row, of);
    published(paper).iter().find(wanted).map(|figure| (figure.value, figure.unit))
}

#[test]
fn names_are_read_back() {
    for paper in Paper::ALL {
        assert_eq!(Paper::parse(paper.name()), Some(paper));
        assert!(!paper.title().is_empty() && !paper.citation().is_empty() && !paper.machine().is_empty());
    }
    let names: HashSet<_> = Paper::ALL.iter().map(|paper| paper.name()).collect();
    assert_eq!(names.len(), Paper::ALL.len());
    for name in ["", "DGS", "sortledton"] {
        assert_eq!(Paper::parse(name), None, "{name}");
    }
}

#[test]
fn values_are_finite_and_positive_and_texts_are_filled_in() {
    for paper in Paper::ALL {
        assert!(!published(paper).is_empty(), "{paper:?} has no figures");
        for figure in published(paper) {
            let Published { place, system, row, graph, setting, value, unit } = *figure;
            assert!(value.is_finite() && value > 0.0, "{paper:?}: {figure:?}");
            for text in [place, system, row, unit] {
                assert!(!text.is_empty() && text.trim() == text, "{paper:?}: {figure:?}");
            }
            assert!(!graph.is_empty() || !setting.is_empty(), "{paper:?}: {figure:?}");
            let is_known = graph.is_empty() || paper.graphs().iter().any(|(name, ..)| *name == graph);
            assert!(is_known, "{paper:?}: a graph that the paper does not have: {figure:?}");
            assert_eq!(system, system.to_lowercase(), "{paper:?}: {figure:?}");
            let known = ["table ", "figure ", "section "].iter().any(|kind| place.starts_with(kind));
            assert!(known, "{paper:?}: {figure:?}");
        }
    }
}

#[test]
fn no_cell_is_stated_twice() {
    for paper in Paper::ALL {
        let mut seen = HashSet::new();
        for f in published(paper) {
            assert!(seen.insert((f.place, f.system, f.row, f.graph, f.setting)), "{paper:?}: {f:?}");
        }
    }
}

#[test]
fn tables_have_the_cells_that_the_papers_fill() {
    let tables: [(Paper, &[(&str, usize)]); 5] = [
        // Kernels: 8 graphs by 8 columns; LiveGraph does not count triangles. Teseo ran out of memory on 3
        // graphs.
        (
            Paper::Dgs,
            &[
                ("table 4", 30),
                ("table 5", 64 + 56),
                ("table 6", 96 + 84 - 4),
                ("table 7", 30),
                ("table 8", 59),
                ("table 9", 80 - 3),
                ("table 10", 192),
                ("table 11", 50),
                ("table 12", 50),
                ("table 13", 50),
            ],
        ),
        // Table 5: 6 graphs by 5 kernels by 6 engines. LiveGraph does not count triangles and ran out of
        // memory on fr; Teseo ran out of time on 2 graphs, Aspen on 3.
        (
            Paper::RapidStore,
            &[
                ("table 1", 12),
                ("table 2", 16),
                ("table 3", 12),
                ("table 5", 180 - (6 + 4) - (2 + 3)),
                ("table 6", 50),
            ],
        ),
        // The terms are the CSR, dota-league and uniform-24, graph500-24, and without LLAMA uniform-26 and
        // graph500-26.
        (Paper::Teseo, &[("table 3", 34 + 2 * 37 + 32 + 32 + 26)]),
        (
            Paper::LiveGraph,
            &[("table 3", 18), ("table 4", 18), ("table 5", 18), ("table 6", 18), ("table 10", 5)],
        ),
        (Paper::LsmGraph, &[("table 2", 19), ("table 3", 16)]),
    ];
    for (paper, tables) in tables {
        for &(place, cells) in tables {
            assert_eq!(stated(paper, place), cells, "{paper:?}, {place}");
        }
    }
}

/// A cell: place, engine, row, graph, setting, value, unit.
type Cell = (&'static str, &'static str, &'static str, &'static str, &'static str, f64, &'static str);

/// The cells at the ends of lines and tables equal the cells of the papers: a shifted column or line moves
/// them.
#[test]
fn cells_are_those_of_the_papers() {
    let cells: [(Paper, &[Cell]); 5] = [
        (
            Paper::Dgs,
            &[
                (
                    "table 4",
                    "sortledton",
                    "scan, instructions",
                    "",
                    "2^20 neighbours, blocks of 256",
                    1.18e10,
                    "events",
                ),
                ("table 5", "sortledton, not adaptive", "tc", "nft", "1 thread", 482.18, "s"),
                (
                    "table 6",
                    "sortledton, not adaptive",
                    "tc, instructions",
                    "g5",
                    "1 thread",
                    12075.0,
                    "billion",
                ),
                ("table 7", "teseo", "insert", "g5", "32 threads", 3.17, "M edges/s"),
                ("table 8", "sortledton", "scan, bandwidth", "g5", "32 threads", 55.62, "GB/s"),
                ("table 9", "sortledton versions", "memory", "nft", "with versions", 12.27, "GB"),
                ("table 9", "livegraph plain", "memory", "g5", "without versions", 7.17, "GB"),
                ("table 10", "aspen plain", "sssp", "tw", "1 thread, flattened", 13.62, "s"),
                ("table 12", "aspen", "insert, max", "lj", MIX, 17835.0, "us per 100"),
                ("figure 15", "aspen", "search", "g5", "32 threads against 1", 14.7, "x"),
            ],
        ),
        (
            Paper::RapidStore,
            &[
                ("table 1", "sortledton", "pr", "g5", "with versions", 94.26, "s"),
                ("table 2", "sortledton", "tc", "g5", "", 18786.13, "s"),
                ("table 3", "rapidstore", "filling of leaves", "fr", "c-art", 64.70, "%"),
                ("table 5", "rapidstore", "tc", "fr", "time against csr's", 3.67, "x"),
                ("table 5", "csr", "wcc", "fr", "", 65.39, "s"),
                (
                    "table 6",
                    "rapidstore",
                    "wcc",
                    "g5",
                    "c-art, versions of subgraphs, clustered index",
                    5.81,
                    "s",
                ),
            ],
        ),
        (
            Paper::Teseo,
            &[
                ("table 3", "csr", "wcc", "graph500-26", "", 9.66, "s"),
                ("table 3", "graphone", "wcc", "uniform-26", "time against csr's", 45.72, "x"),
                ("table 3", "teseo", "wcc", "graph500-26", "real ids, time against csr's", 1.21, "x"),
                (
                    "table 3",
                    "teseo, logical ids",
                    "lcc, sorted",
                    "graph500-24",
                    "time against csr's",
                    5.98,
                    "x",
                ),
            ],
        ),
        (
            Paper::LiveGraph,
            &[
                (
                    "table 3",
                    "rocksdb",
                    "latency, mean mix=tao durable=yes",
                    "",
                    "in memory, 24 clients, optane",
                    0.0328,
                    "ms",
                ),
                (
                    "table 6",
                    "lmdb",
                    "latency, p999 mix=dflt durable=yes",
                    "",
                    "4 GB of memory, nand",
                    16.698,
                    "ms",
                ),
            ],
        ),
        (
            Paper::LsmGraph,
            &[("table 2", "rocksdb", "vertices of a buffer of 64 MB", "uk", "more than 16 edges", 0.58, "%")],
        ),
    ];
    for (paper, cells) in cells {
        for &(place, system, row, graph, setting, value, unit) in cells {
            let stated = cell(paper, place, (system, row), (graph, setting));
            assert_eq!(
                stated,
                Some((value, unit)),
                "{paper:?}, {place}, {system}, {row}, {graph}, {setting}"
            );
        }
    }
}

const MIX: &str = "4 inserting, 8 searching, 20 scanning threads";

/// Systems with the name of an engine of this program, but without a form in this program.
const NOT_HERE: [&str; 4] = [
    "aspen, not flattened",
    "sortledton, not adaptive",
    "teseo, logical ids",
    "rapidstore, versions of edges",
];

/// A system whose first word is an engine must be this engine, one of its forms, or in `NOT_HERE`. The figure
/// of a misspelled form would be missing from the row of the form.
#[test]
fn what_is_called_as_an_engine_is_one_or_a_form_of_it() {
    let engines: Vec<&str> = Engine::value_variants().iter().map(|engine| engine.name()).collect();
    let forms = forms().expect("the tests are built with all forms");
    let names: HashSet<&str> = engines.iter().copied().chain(forms.iter().map(|form| form.name)).collect();
    for figure in Paper::ALL.iter().flat_map(|paper| published(*paper)) {
        let container = figure.system.split([' ', ',']).next().unwrap_or_default();
        let is_known = names.contains(figure.system) || NOT_HERE.contains(&figure.system);
        assert!(is_known || !engines.contains(&container), "{figure:?}");
    }
}
