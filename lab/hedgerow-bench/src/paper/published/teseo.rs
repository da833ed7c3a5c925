//! What Teseo's paper published.
//!
//! Of table 3 a Graph500 graph is left out: two bear the label of scale 24 in the text. The one that stands beside uniform-24 is taken for it, the
//! smaller one, beside dota-league, is not taken for any. Figure 9 has two figures in the text.

use std::sync::LazyLock;

use super::block::{ABSENT, AGAINST_CSR, Block, ByGraph, Column, PaperGraph, Published, list};

pub(super) const MACHINE: &str = "2 Intel Xeon Gold 5115, 20 cores in all, 384 GB of memory";

pub(super) static FIGURES: LazyLock<Vec<Published>> =
    LazyLock::new(|| list(&[CSR], &[GRAPHALYTICS, SENTENCES]));

pub(super) const GRAPHS: &[PaperGraph] = &[
    ("dota-league", "DotaLeague", None),
    ("uniform-24", "a random graph of equal degrees, as large as graph500-24", Some("uniform:")),
    ("graph500-24", "Graph500 of scale 24", Some("kron:")),
    ("uniform-26", "a random graph of equal degrees, as large as graph500-26", Some("uniform:")),
    ("graph500-26", "Graph500 of scale 26", Some("kron:")),
];

/// The lines of table 3.
const SYSTEMS: &[Column] = &[
    ("stinger", AGAINST_CSR),
    ("llama", AGAINST_CSR),
    ("graphone", AGAINST_CSR),
    ("livegraph", AGAINST_CSR),
    ("teseo, logical ids", AGAINST_CSR),
    ("teseo", "real ids, time against csr's"),
];

/// `lcc` by the loops of the benchmark's own text, `lcc, sorted` over sorted lists, each triangle once.
const CSR: ByGraph = ByGraph {
    place: "table 3",
    unit: "s",
    system: "csr",
    graphs: &["dota-league", "uniform-24", "graph500-24", "uniform-26", "graph500-26"],
    lines: &[
        ("bfs", &[1.24, 2.40, 2.51, 4.18, 5.03]),
        ("cdlp", &[2.72, 64.0, 52.0, 175.0, 110.0]),
        ("lcc", &[488.0, 34.0, 3271.0, 142.0, ABSENT]),
        ("lcc, sorted", &[70.0, 6.12, 108.0, 22.0, 704.0]),
        ("pr", &[1.59, 6.60, 5.16, 23.0, 19.20]),
        ("sssp", &[1.73, 10.97, 9.47, 44.0, 36.0]),
        ("wcc", &[1.14, 3.63, 3.20, 10.60, 9.66]),
    ],
};

const GRAPHALYTICS: &[Block] = &[Block {
    place: "table 3",
    unit: "x",
    lines: &[
        ("bfs", "dota-league", SYSTEMS, &[1.10, 1.00, 3.83, 1.04, 1.00, 0.99]),
        ("cdlp", "dota-league", SYSTEMS, &[0.74, 1.69, 2.34, 1.09, 1.21, 0.98]),
        ("lcc", "dota-league", SYSTEMS, &[3.20, ABSENT, 1.28, 1.40, 1.55, 1.08]),
        ("lcc, sorted", "dota-league", SYSTEMS, &[ABSENT, ABSENT, ABSENT, ABSENT, 1.48, 1.28]),
        ("pr", "dota-league", SYSTEMS, &[1.61, 1.08, 3.19, 1.26, 1.18, 1.07]),
        ("sssp", "dota-league", SYSTEMS, &[1.50, 2.09, 3.08, 1.19, 1.26, 1.04]),
        ("wcc", "dota-league", SYSTEMS, &[1.16, 1.03, 5.52, 1.06, 1.07, 1.01]),
        ("bfs", "uniform-24", SYSTEMS, &[1.13, 1.05, 2.98, 1.29, 1.06, 1.03]),
        ("cdlp", "uniform-24", SYSTEMS, &[0.66, 1.40, 1.16, 0.64, 0.99, 0.61]),
        ("lcc", "uniform-24", SYSTEMS, &[2.23, ABSENT, 3.04, 1.61, 3.11, 1.36]),
        ("lcc, sorted", "uniform-24", SYSTEMS, &[ABSENT, ABSENT, ABSENT, ABSENT, 3.52, 1.94]),
        ("pr", "uniform-24", SYSTEMS, &[1.91, 1.90, 2.56, 2.28, 2.40, 1.33]),
        ("sssp", "uniform-24", SYSTEMS, &[1.65, 6.65, 2.67, 2.56, 2.85, 1.85]),
        ("wcc", "uniform-24", SYSTEMS, &[1.40, 1.21, 27.84, 1.33, 1.92, 1.21]),
        ("bfs", "graph500-24", SYSTEMS, &[1.25, 1.09, 2.93, 1.77, 1.06, 1.02]),
        ("cdlp", "graph500-24", SYSTEMS, &[0.51, 0.97, 0.63, 0.76, 0.82, 0.49]),
        ("lcc", "graph500-24", SYSTEMS, &[ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT]),
        ("lcc, sorted", "graph500-24", SYSTEMS, &[ABSENT, ABSENT, ABSENT, ABSENT, 5.98, 2.02]),
        ("pr", "graph500-24", SYSTEMS, &[2.10, 1.34, 2.65, 2.34, 2.54, 1.42]),
        ("sssp", "graph500-24", SYSTEMS, &[1.64, 4.01, 2.36, 1.65, 2.64, 1.71]),
        ("wcc", "graph500-24", SYSTEMS, &[1.82, 1.05, 21.92, 1.25, 2.21, 1.19]),
        ("bfs", "uniform-26", SYSTEMS, &[1.49, ABSENT, 3.68, 1.63, 1.13, 1.04]),
        ("cdlp", "uniform-26", SYSTEMS, &[1.12, ABSENT, 1.72, 1.62, 1.62, 1.04]),
        ("lcc", "uniform-26", SYSTEMS, &[2.41, ABSENT, 3.41, 1.63, 3.47, 1.40]),
        ("lcc, sorted", "uniform-26", SYSTEMS, &[ABSENT, ABSENT, ABSENT, ABSENT, 4.24, 2.08]),
        ("pr", "uniform-26", SYSTEMS, &[2.10, ABSENT, 2.44, 2.62, 2.80, 1.43]),
        ("sssp", "uniform-26", SYSTEMS, &[1.77, ABSENT, 2.80, 3.00, 3.26, 2.05]),
        ("wcc", "uniform-26", SYSTEMS, &[1.58, ABSENT, 45.72, 1.54, 1.71, 1.30]),
        ("bfs", "graph500-26", SYSTEMS, &[1.18, ABSENT, 2.64, 2.76, 1.11, 0.89]),
        ("cdlp", "graph500-26", SYSTEMS, &[1.15, ABSENT, 1.73, 1.55, 1.80, 1.05]),
        ("lcc", "graph500-26", SYSTEMS, &[ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT]),
        ("lcc, sorted", "graph500-26", SYSTEMS, &[ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 2.17]),
        ("pr", "graph500-26", SYSTEMS, &[2.33, ABSENT, 2.55, 2.73, 3.03, 1.52]),
        ("sssp", "graph500-26", SYSTEMS, &[1.97, ABSENT, 2.84, 2.32, 3.16, 2.27]),
        ("wcc", "graph500-26", SYSTEMS, &[2.08, ABSENT, 36.61, 1.32, 2.83, 1.21]),
    ],
}];

const SENTENCES: &[Block] = &[
    Block {
        place: "figure 6",
        unit: "x",
        lines: &[(
            "insert",
            "graph500-24",
            &[
                ("teseo", "20 threads against 1"),
                ("teseo", "40 threads against 1, about"),
                ("stinger", "40 threads against 1"),
                ("graphone", "6 threads against 1"),
            ],
            &[9.0, 13.0, 22.0, 2.2],
        )],
    },
    Block {
        place: "figure 6",
        unit: "k edges/s",
        lines: &[
            ("insert", "graph500-24", &[("stinger", "40 threads")], &[80.0]),
            (
                "insert",
                "",
                &[
                    ("teseo", "40 threads, about"),
                    ("stinger", "uniform graphs, 40 threads, at most"),
                    ("plain lists", "uniform graphs, 1 thread"),
                    ("plain lists", "skewed graphs, 1 thread"),
                    ("llama", "at least"),
                    ("llama", "at most"),
                    ("graphone", "no look whether the edge exists, the slowest graph"),
                    ("graphone", "no look whether the edge exists, the fastest graph"),
                    ("livegraph", "at most"),
                ],
                &[2400.0, 5500.0, 736.0, 70.0, 225.0, 330.0, 1700.0, 2500.0, 325.0],
            ),
        ],
    },
    Block {
        place: "section 8",
        unit: "k edges/s",
        lines: &[(
            "insert",
            "graph500-24",
            &[("stinger", ""), ("llama", ""), ("graphone", "no look whether the edge exists")],
            &[80.0, 260.0, 2560.0],
        )],
    },
    Block {
        place: "figure 7",
        unit: "k edges/s",
        lines: &[("update", "", &[("teseo", "graph500-24 and uniform-24, 40 threads, about")], &[3200.0])],
    },
    Block {
        place: "figure 7",
        unit: "%",
        lines: &[
            (
                "update",
                "",
                &[
                    ("teseo", "above its rate of inserting, at least"),
                    ("teseo", "above its rate of inserting, at most"),
                ],
                &[25.0, 30.0],
            ),
            (
                "update",
                "graph500-24",
                &[("llama", "of its rate of inserting"), ("graphone", "of its rate of inserting")],
                &[44.0, 2.0],
            ),
        ],
    },
    Block {
        place: "figure 7",
        unit: "x",
        lines: &[("memory", "graph500-24", &[("teseo", "40 threads, against stinger's")], &[1.6])],
    },
    Block {
        place: "figure 9",
        unit: "%",
        lines: &[("scan order=sequential", "", &[("teseo", "real ids, above csr's time, about")], &[50.0])],
    },
    Block {
        place: "figure 9",
        unit: "x",
        lines: &[("scan", "", &[("teseo, logical ids", "time against real ids, at most")], &[7.0])],
    },
    Block {
        place: "section 7.4",
        unit: "x",
        lines: &[("lcc, sorted", "", &[("all", "against lcc, at most")], &[30.0])],
    },
    Block {
        place: "section 8.2",
        unit: "x",
        lines: &[("scan", "", &[("llama", "scale 24, time with deltas against none, at most")], &[9.0])],
    },
];
