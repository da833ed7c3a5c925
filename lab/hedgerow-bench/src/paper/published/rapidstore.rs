//! What RapidStore's paper published.
//!
//! Figures 2, 3 and 11 have no figures in the text, nor have the sizes of
//! partitions and leaves: they are measured in the report that the paper refers to. The bounds
//! of figure 9 stand in section 1.

use std::sync::LazyLock;

use super::block::{ABSENT, AGAINST_CSR, Block, ByGraph, Column, PaperGraph, Published, list};

pub(super) const MACHINE: &str = "Intel Xeon Gold 6430, 32 cores, 256 GB of memory, 61.2 GB/s";

pub(super) static FIGURES: LazyLock<Vec<Published>> =
    LazyLock::new(|| list(&[KERNELS_OF_CSR], &[TABLES, SENTENCES]));

pub(super) const GRAPHS: &[PaperGraph] = &[
    ("lj", "LiveJournal", None),
    ("ot", "Orkut", None),
    ("ldbc", "LDBC SNB", None),
    ("g5", "Graph500", Some("kron:")),
    ("tw", "Twitter", None),
    ("fr", "Friendster", None),
];

/// The systems of table 5.
const SYSTEMS: &[Column] = &[
    ("sortledton", AGAINST_CSR),
    ("teseo", AGAINST_CSR),
    ("aspen", AGAINST_CSR),
    ("livegraph", AGAINST_CSR),
    ("rapidstore", AGAINST_CSR),
];

/// The lines of table 6: RapidStore with some of its parts.
const ABLATION: &[Column] = &[
    ("rapidstore, versions of edges", "art"),
    ("rapidstore, radix tree", "art, versions of subgraphs"),
    ("rapidstore, c-art", "versions of subgraphs"),
    ("rapidstore, c-art, vectors", "versions of subgraphs, arrays for short lists"),
    ("rapidstore", "c-art, versions of subgraphs, clustered index"),
];

/// The lines of table 1.
const VERSIONING: &[Column] =
    &[("sortledton, no versions", "without versions"), ("sortledton", "with versions")];

/// The lines of table 2.
const BOTH: &[Column] = &[("csr", ""), ("sortledton", "")];

/// The lines of table 3: the tree of RapidStore with leaves of 256, plain and compressed.
const TREES: &[Column] = &[("rapidstore", "art"), ("rapidstore", "c-art")];

const KERNELS_OF_CSR: ByGraph = ByGraph {
    place: "table 5",
    unit: "s",
    system: "csr",
    graphs: &["lj", "ot", "ldbc", "g5", "tw", "fr"],
    lines: &[
        ("bfs", &[0.56, 0.64, 2.68, 2.00, 2.92, 31.80]),
        ("pr", &[4.66, 7.91, 20.57, 20.98, 24.87, 323.60]),
        ("sssp", &[1.42, 1.64, 6.36, 4.25, 6.71, 68.20]),
        ("wcc", &[1.95, 1.73, 5.73, 4.88, 10.48, 65.39]),
        ("tc", &[48.21, 232.80, 442.10, 5268.23, 4631.08, 1974.24]),
    ],
};

#[expect(clippy::approx_constant, reason = "a ratio of 6.28 is not tau")]
const TABLES: &[Block] = &[
    Block {
        place: "table 1",
        unit: "k edges/s",
        lines: &[
            ("search", "lj", VERSIONING, &[2270.85, 1898.17]),
            ("scan", "lj", VERSIONING, &[40371.23, 19033.40]),
            ("search", "g5", VERSIONING, &[672.89, 635.12]),
            ("scan", "g5", VERSIONING, &[89055.10, 38885.92]),
        ],
    },
    Block {
        place: "table 1",
        unit: "s",
        lines: &[("pr", "lj", VERSIONING, &[16.23, 31.16]), ("pr", "g5", VERSIONING, &[44.15, 94.26])],
    },
    Block {
        place: "table 2",
        unit: "k edges/s",
        lines: &[
            ("search", "lj", BOTH, &[7116.73, 1898.65]),
            ("search degrees=low", "lj", BOTH, &[8567.41, 2139.71]),
            ("search degrees=high", "lj", BOTH, &[6745.4, 2414.32]),
            ("search", "g5", BOTH, &[3342.92, 635.33]),
            ("search degrees=low", "g5", BOTH, &[7437.11, 1830.93]),
            ("search degrees=high", "g5", BOTH, &[3031.4, 546.09]),
        ],
    },
    Block {
        place: "table 2",
        unit: "s",
        lines: &[("tc", "lj", BOTH, &[47.21, 153.30]), ("tc", "g5", BOTH, &[5268.23, 18786.13])],
    },
    Block {
        place: "table 3",
        unit: "%",
        lines: &[
            ("filling of leaves", "lj", TREES, &[2.17, 66.17]),
            ("filling of leaves", "ot", TREES, &[3.13, 67.12]),
            ("filling of leaves", "ldbc", TREES, &[3.44, 64.27]),
            ("filling of leaves", "g5", TREES, &[2.40, 67.80]),
            ("filling of leaves", "tw", TREES, &[2.24, 67.22]),
            ("filling of leaves", "fr", TREES, &[2.94, 64.70]),
        ],
    },
    Block {
        place: "table 5",
        unit: "x",
        lines: &[
            ("bfs", "lj", SYSTEMS, &[7.23, 15.25, 7.11, 21.77, 2.11]),
            ("pr", "lj", SYSTEMS, &[6.69, 4.32, 7.10, 17.12, 1.53]),
            ("sssp", "lj", SYSTEMS, &[2.45, 3.53, 4.81, 4.76, 1.61]),
            ("wcc", "lj", SYSTEMS, &[3.11, 2.52, 3.97, 7.01, 1.18]),
            ("tc", "lj", SYSTEMS, &[3.18, 3.99, 6.24, ABSENT, 1.39]),
            ("bfs", "ot", SYSTEMS, &[5.97, 3.83, 3.67, 15.77, 1.59]),
            ("pr", "ot", SYSTEMS, &[4.77, 2.74, 3.34, 10.49, 1.35]),
            ("sssp", "ot", SYSTEMS, &[2.46, 3.50, 2.71, 7.84, 1.28]),
            ("wcc", "ot", SYSTEMS, &[3.07, 4.29, 2.80, 6.86, 1.22]),
            ("tc", "ot", SYSTEMS, &[3.07, 4.34, 10.15, ABSENT, 1.51]),
            ("bfs", "ldbc", SYSTEMS, &[8.35, 6.28, 8.90, 11.46, 1.82]),
            ("pr", "ldbc", SYSTEMS, &[8.49, 4.01, 9.07, 13.91, 1.65]),
            ("sssp", "ldbc", SYSTEMS, &[3.04, 3.84, 5.97, 4.99, 1.79]),
            ("wcc", "ldbc", SYSTEMS, &[4.20, 3.23, 4.58, 6.41, 1.36]),
            ("tc", "ldbc", SYSTEMS, &[4.94, 7.31, 9.87, ABSENT, 1.49]),
            ("bfs", "g5", SYSTEMS, &[4.42, 4.65, 4.35, 8.90, 1.60]),
            ("pr", "g5", SYSTEMS, &[4.49, 2.37, 4.21, 9.64, 1.61]),
            ("sssp", "g5", SYSTEMS, &[2.42, 3.02, 3.45, 4.07, 1.60]),
            ("wcc", "g5", SYSTEMS, &[3.06, 2.70, 2.93, 5.74, 1.24]),
            ("tc", "g5", SYSTEMS, &[3.57, ABSENT, ABSENT, ABSENT, 1.89]),
            ("bfs", "tw", SYSTEMS, &[6.70, 4.61, 7.61, 12.39, 1.71]),
            ("pr", "tw", SYSTEMS, &[6.80, 3.36, 7.03, 12.51, 1.68]),
            ("sssp", "tw", SYSTEMS, &[2.60, 3.87, 5.23, 4.46, 1.80]),
            ("wcc", "tw", SYSTEMS, &[3.45, 2.48, 3.89, 6.29, 1.33]),
            ("tc", "tw", SYSTEMS, &[3.47, ABSENT, ABSENT, ABSENT, 2.26]),
            ("bfs", "fr", SYSTEMS, &[3.18, 1.91, 2.41, ABSENT, 0.92]),
            ("pr", "fr", SYSTEMS, &[3.79, 2.10, 1.80, ABSENT, 1.04]),
            ("sssp", "fr", SYSTEMS, &[1.92, 2.13, 2.81, ABSENT, 1.17]),
            ("wcc", "fr", SYSTEMS, &[3.58, 2.04, 2.32, ABSENT, 1.16]),
            ("tc", "fr", SYSTEMS, &[9.62, 10.35, ABSENT, ABSENT, 3.67]),
        ],
    },
    Block {
        place: "table 6",
        unit: "k edges/s",
        lines: &[
            ("insert", "lj", ABLATION, &[2445.59, 2119.22, 1991.25, 1710.56, 2373.05]),
            ("insert", "g5", ABLATION, &[1592.24, 1562.43, 1797.23, 1711.60, 1973.13]),
        ],
    },
    Block {
        place: "table 6",
        unit: "s",
        lines: &[
            ("bfs", "lj", ABLATION, &[10.92, 7.31, 7.30, 2.42, 1.05]),
            ("pr", "lj", ABLATION, &[59.84, 38.97, 37.77, 11.25, 5.90]),
            ("sssp", "lj", ABLATION, &[11.01, 5.42, 5.25, 2.73, 2.31]),
            ("wcc", "lj", ABLATION, &[17.04, 11.55, 10.81, 2.59, 1.97]),
            ("bfs", "g5", ABLATION, &[25.22, 22.85, 9.73, 4.18, 2.71]),
            ("pr", "g5", ABLATION, &[246.28, 243.93, 98.81, 47.12, 29.28]),
            ("sssp", "g5", ABLATION, &[32.21, 27.46, 13.20, 8.23, 6.47]),
            ("wcc", "g5", ABLATION, &[45.98, 41.86, 18.87, 9.06, 5.81]),
        ],
    },
];

const SENTENCES: &[Block] = &[
    Block {
        place: "section 1",
        unit: "x",
        lines: &[("kernels", "", &[("rapidstore", "against the best of the others, at most")], &[3.46])],
    },
    Block {
        place: "section 1",
        unit: "%",
        lines: &[("memory", "", &[("rapidstore", "less than the others")], &[56.34])],
    },
    Block {
        place: "figure 8",
        unit: "x",
        lines: &[(
            "insert",
            "",
            &[
                ("rapidstore", "32 writers, all graphs but ldbc, slower than sortledton, at least"),
                ("rapidstore", "32 writers, all graphs but ldbc, slower than sortledton, at most"),
            ],
            &[1.9, 2.2],
        )],
    },
    Block {
        place: "figure 8",
        unit: "%",
        lines: &[(
            "update",
            "",
            &[
                ("sortledton", "a fifth of the edges, five rounds, loss against inserting"),
                ("rapidstore", "a fifth of the edges, five rounds, loss against inserting"),
            ],
            &[34.01, 14.67],
        )],
    },
    Block {
        place: "figure 9",
        unit: "%",
        lines: &[(
            "pr",
            "",
            &[
                ("rapidstore", "28 readers, longer beside 4 writers, at most"),
                ("others", "28 readers, longer beside 4 writers, at most"),
            ],
            &[13.36, 41.04],
        )],
    },
    Block {
        place: "figure 10",
        unit: "%",
        lines: &[(
            "insert",
            "",
            &[
                ("rapidstore", "8 writers, loss beside 4 readers, at most"),
                ("sortledton", "8 writers, loss beside 4 readers"),
                ("teseo", "8 writers, loss beside 4 readers, the lesser of two graphs"),
                ("teseo", "8 writers, loss beside 4 readers, the greater of two graphs"),
            ],
            &[5.06, 13.29, 29.72, 57.22],
        )],
    },
];
