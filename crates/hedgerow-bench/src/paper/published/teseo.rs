//! What Teseo's paper published.
//!
//! Of table 3 a Graph500 graph is left out: two bear the label of scale 24 in the text. The one that stands beside uniform-24 is taken for it, the
//! smaller one, beside dota-league, is not taken for any. Figure 9 has two figures in the text.

use std::sync::LazyLock;

use super::block::{ABSENT, Block, Column, Published, list};

pub(super) const MACHINE: &str = "2 Intel Xeon Gold 5115, 20 cores in all, 384 GB of memory";

pub(super) static FIGURES: LazyLock<Vec<Published>> = LazyLock::new(|| list(&[GRAPHALYTICS, SENTENCES]));

const GRAPHS: &[Column] = &[
    ("csr", "dota-league"),
    ("csr", "uniform-24"),
    ("csr", "graph500-24"),
    ("csr", "uniform-26"),
    ("csr", "graph500-26"),
];

/// The lines of table 3 for a graph.
macro_rules! systems {
    ($graph:literal) => {
        &[
            ("stinger", concat!($graph, ", time against csr's")),
            ("llama", concat!($graph, ", time against csr's")),
            ("graphone", concat!($graph, ", time against csr's")),
            ("livegraph", concat!($graph, ", time against csr's")),
            ("teseo", concat!($graph, ", logical ids, time against csr's")),
            ("teseo", concat!($graph, ", real ids, time against csr's")),
        ]
    };
}

const DOTA: &[Column] = systems!("dota-league");
const UNIFORM24: &[Column] = systems!("uniform-24");
const GRAPH24: &[Column] = systems!("graph500-24");
const UNIFORM26: &[Column] = systems!("uniform-26");
const GRAPH26: &[Column] = systems!("graph500-26");

/// `lcc` by the loops of the benchmark's own text, `lcc, sorted` over sorted lists, each triangle once.
const GRAPHALYTICS: &[Block] = &[
    Block {
        place: "table 3",
        unit: "s",
        lines: &[
            ("bfs", GRAPHS, &[1.24, 2.40, 2.51, 4.18, 5.03]),
            ("cdlp", GRAPHS, &[2.72, 64.0, 52.0, 175.0, 110.0]),
            ("lcc", GRAPHS, &[488.0, 34.0, 3271.0, 142.0, ABSENT]),
            ("lcc, sorted", GRAPHS, &[70.0, 6.12, 108.0, 22.0, 704.0]),
            ("pr", GRAPHS, &[1.59, 6.60, 5.16, 23.0, 19.20]),
            ("sssp", GRAPHS, &[1.73, 10.97, 9.47, 44.0, 36.0]),
            ("wcc", GRAPHS, &[1.14, 3.63, 3.20, 10.60, 9.66]),
        ],
    },
    Block {
        place: "table 3",
        unit: "x",
        lines: &[
            ("bfs", DOTA, &[1.10, 1.00, 3.83, 1.04, 1.00, 0.99]),
            ("cdlp", DOTA, &[0.74, 1.69, 2.34, 1.09, 1.21, 0.98]),
            ("lcc", DOTA, &[3.20, ABSENT, 1.28, 1.40, 1.55, 1.08]),
            ("lcc, sorted", DOTA, &[ABSENT, ABSENT, ABSENT, ABSENT, 1.48, 1.28]),
            ("pr", DOTA, &[1.61, 1.08, 3.19, 1.26, 1.18, 1.07]),
            ("sssp", DOTA, &[1.50, 2.09, 3.08, 1.19, 1.26, 1.04]),
            ("wcc", DOTA, &[1.16, 1.03, 5.52, 1.06, 1.07, 1.01]),
            ("bfs", UNIFORM24, &[1.13, 1.05, 2.98, 1.29, 1.06, 1.03]),
            ("cdlp", UNIFORM24, &[0.66, 1.40, 1.16, 0.64, 0.99, 0.61]),
            ("lcc", UNIFORM24, &[2.23, ABSENT, 3.04, 1.61, 3.11, 1.36]),
            ("lcc, sorted", UNIFORM24, &[ABSENT, ABSENT, ABSENT, ABSENT, 3.52, 1.94]),
            ("pr", UNIFORM24, &[1.91, 1.90, 2.56, 2.28, 2.40, 1.33]),
            ("sssp", UNIFORM24, &[1.65, 6.65, 2.67, 2.56, 2.85, 1.85]),
            ("wcc", UNIFORM24, &[1.40, 1.21, 27.84, 1.33, 1.92, 1.21]),
            ("bfs", GRAPH24, &[1.25, 1.09, 2.93, 1.77, 1.06, 1.02]),
            ("cdlp", GRAPH24, &[0.51, 0.97, 0.63, 0.76, 0.82, 0.49]),
            ("lcc", GRAPH24, &[ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT]),
            ("lcc, sorted", GRAPH24, &[ABSENT, ABSENT, ABSENT, ABSENT, 5.98, 2.02]),
            ("pr", GRAPH24, &[2.10, 1.34, 2.65, 2.34, 2.54, 1.42]),
            ("sssp", GRAPH24, &[1.64, 4.01, 2.36, 1.65, 2.64, 1.71]),
            ("wcc", GRAPH24, &[1.82, 1.05, 21.92, 1.25, 2.21, 1.19]),
            ("bfs", UNIFORM26, &[1.49, ABSENT, 3.68, 1.63, 1.13, 1.04]),
            ("cdlp", UNIFORM26, &[1.12, ABSENT, 1.72, 1.62, 1.62, 1.04]),
            ("lcc", UNIFORM26, &[2.41, ABSENT, 3.41, 1.63, 3.47, 1.40]),
            ("lcc, sorted", UNIFORM26, &[ABSENT, ABSENT, ABSENT, ABSENT, 4.24, 2.08]),
            ("pr", UNIFORM26, &[2.10, ABSENT, 2.44, 2.62, 2.80, 1.43]),
            ("sssp", UNIFORM26, &[1.77, ABSENT, 2.80, 3.00, 3.26, 2.05]),
            ("wcc", UNIFORM26, &[1.58, ABSENT, 45.72, 1.54, 1.71, 1.30]),
            ("bfs", GRAPH26, &[1.18, ABSENT, 2.64, 2.76, 1.11, 0.89]),
            ("cdlp", GRAPH26, &[1.15, ABSENT, 1.73, 1.55, 1.80, 1.05]),
            ("lcc", GRAPH26, &[ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT]),
            ("lcc, sorted", GRAPH26, &[ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 2.17]),
            ("pr", GRAPH26, &[2.33, ABSENT, 2.55, 2.73, 3.03, 1.52]),
            ("sssp", GRAPH26, &[1.97, ABSENT, 2.84, 2.32, 3.16, 2.27]),
            ("wcc", GRAPH26, &[2.08, ABSENT, 36.61, 1.32, 2.83, 1.21]),
        ],
    },
];

const SENTENCES: &[Block] = &[
    Block {
        place: "figure 6",
        unit: "x",
        lines: &[(
            "insert",
            &[
                ("teseo", "graph500-24, 20 threads against 1"),
                ("teseo", "graph500-24, 40 threads against 1, about"),
                ("stinger", "graph500-24, 40 threads against 1"),
                ("graphone", "graph500-24, 6 threads against 1"),
            ],
            &[9.0, 13.0, 22.0, 2.2],
        )],
    },
    Block {
        place: "figure 6",
        unit: "k edges/s",
        lines: &[(
            "insert",
            &[
                ("teseo", "40 threads, about"),
                ("stinger", "uniform graphs, 40 threads, at most"),
                ("stinger", "graph500-24, 40 threads"),
                ("plain lists", "uniform graphs, 1 thread"),
                ("plain lists", "skewed graphs, 1 thread"),
                ("llama", "at least"),
                ("llama", "at most"),
                ("graphone", "no look whether the edge exists, the slowest graph"),
                ("graphone", "no look whether the edge exists, the fastest graph"),
                ("livegraph", "at most"),
            ],
            &[2400.0, 5500.0, 80.0, 736.0, 70.0, 225.0, 330.0, 1700.0, 2500.0, 325.0],
        )],
    },
    Block {
        place: "section 8",
        unit: "k edges/s",
        lines: &[(
            "insert",
            &[
                ("stinger", "graph500-24"),
                ("llama", "graph500-24"),
                ("graphone", "graph500-24, no look whether the edge exists"),
            ],
            &[80.0, 260.0, 2560.0],
        )],
    },
    Block {
        place: "figure 7",
        unit: "k edges/s",
        lines: &[("update", &[("teseo", "graph500-24 and uniform-24, 40 threads, about")], &[3200.0])],
    },
    Block {
        place: "figure 7",
        unit: "%",
        lines: &[(
            "update",
            &[
                ("teseo", "above its rate of inserting, at least"),
                ("teseo", "above its rate of inserting, at most"),
                ("llama", "graph500-24, of its rate of inserting"),
                ("graphone", "graph500-24, of its rate of inserting"),
            ],
            &[25.0, 30.0, 44.0, 2.0],
        )],
    },
    Block {
        place: "figure 7",
        unit: "x",
        lines: &[("memory", &[("teseo", "graph500-24, 40 threads, against stinger's")], &[1.6])],
    },
    Block {
        place: "figure 9",
        unit: "%",
        lines: &[("scan", &[("teseo", "in order, real ids, above csr's time, about")], &[50.0])],
    },
    Block {
        place: "figure 9",
        unit: "x",
        lines: &[("scan", &[("teseo", "logical ids, time against real ids, at most")], &[7.0])],
    },
    Block {
        place: "section 7.4",
        unit: "x",
        lines: &[("lcc, sorted", &[("all", "against lcc, at most")], &[30.0])],
    },
    Block {
        place: "section 8.2",
        unit: "x",
        lines: &[("scan", &[("llama", "scale 24, time with deltas against none, at most")], &[9.0])],
    },
];
