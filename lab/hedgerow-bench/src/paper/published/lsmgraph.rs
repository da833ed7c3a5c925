//! What LSMGraph's paper published.
//!
//! Rates of updates are of the last fifth of the edges, in 16 GB of
//! memory, by 16 threads. Figures 11, 13, 15 and 16 have no figures in the text. Table 1 is of costs as formulas; of table 2 the share that is
//! printed as zero, Friendster's above 16 edges, is left out.

use std::sync::LazyLock;

use super::block::{ABSENT, Block, ByGraph, Column, PaperGraph, Published, list};

pub(super) const MACHINE: &str = "AliCloud ecs.i2.4xlarge, 16 hyperthreads, 128 GB of memory of which 16 GB were used, 2 SSDs of 1.7 TB at 500 MB/s";

pub(super) static FIGURES: LazyLock<Vec<Published>> = LazyLock::new(|| list(SETS, &[TABLES, SENTENCES]));

pub(super) const GRAPHS: &[PaperGraph] =
    &[("it", "IT-2004", None), ("uk", "UK-2007", None), ("tw", "Twitter", None), ("fs", "Friendster", None)];
const SHORT: &[&str] = &["it", "uk", "tw", "fs"];

/// The columns of table 2.
const DEGREES: &[Column] = &[
    ("rocksdb", "1 to 2 edges"),
    ("rocksdb", "3 to 4 edges"),
    ("rocksdb", "5 to 8 edges"),
    ("rocksdb", "9 to 16 edges"),
    ("rocksdb", "more than 16 edges"),
];

/// Table 3.
const SETS: &[ByGraph] = &[
    ByGraph {
        place: "table 3",
        unit: "vertices",
        system: "data set",
        graphs: SHORT,
        lines: &[("vertices", &[41_291_594.0, 105_153_953.0, 41_652_230.0, 68_349_467.0])],
    },
    ByGraph {
        place: "table 3",
        unit: "edges",
        system: "data set",
        graphs: SHORT,
        lines: &[
            ("edges", &[1_150_725_436.0, 3_301_876_564.0, 1_468_365_182.0, 2_586_147_869.0]),
            ("edges of a vertex, mean", &[28.0, 31.0, 35.0, 38.0]),
        ],
    },
    ByGraph {
        place: "table 3",
        unit: "GB",
        system: "data set",
        graphs: SHORT,
        lines: &[("size", &[18.0, 50.0, 22.0, 39.0])],
    },
];

const TABLES: &[Block] = &[Block {
    place: "table 2",
    unit: "%",
    lines: &[
        ("vertices of a buffer of 64 MB", "it", DEGREES, &[96.35, 2.85, 0.64, 0.15, 0.01]),
        ("vertices of a buffer of 64 MB", "uk", DEGREES, &[93.53, 3.55, 1.59, 0.74, 0.58]),
        ("vertices of a buffer of 64 MB", "tw", DEGREES, &[89.45, 5.66, 2.94, 1.19, 0.76]),
        ("vertices of a buffer of 64 MB", "fs", DEGREES, &[94.57, 4.58, 0.81, 0.04, ABSENT]),
    ],
}];

const SENTENCES: &[Block] = &[
    Block {
        place: "section 1",
        unit: "x",
        lines: &[(
            "update",
            "",
            &[
                ("lsmgraph", "against livegraph, mean"),
                ("lsmgraph", "against llama, mean"),
                ("lsmgraph", "against rocksdb, mean"),
            ],
            &[36.12, 2.85, 8.07],
        )],
    },
    Block {
        place: "figure 10",
        unit: "x",
        lines: &[(
            "insert",
            "",
            &[
                ("lsmgraph", "against livegraph, mean"),
                ("lsmgraph", "against livegraph, at most"),
                ("lsmgraph", "against llama, mean"),
                ("lsmgraph", "against llama, at most"),
                ("lsmgraph", "against rocksdb, mean"),
                ("lsmgraph", "against rocksdb, at most"),
            ],
            &[50.56, 58.71, 2.85, 3.40, 11.60, 14.15],
        )],
    },
    Block {
        place: "figure 10",
        unit: "edges/s",
        lines: &[("insert", "", &[("mbfgraph", "files appended to a file, mean")], &[3e7])],
    },
    Block {
        place: "figure 12",
        unit: "x",
        lines: &[(
            "sssp, bfs, wcc and scan",
            "",
            &[
                ("lsmgraph", "against livegraph, mean"),
                ("lsmgraph", "against livegraph, at most"),
                ("lsmgraph", "against llama, mean"),
                ("lsmgraph", "against llama, at most"),
                ("lsmgraph", "against rocksdb, mean"),
                ("lsmgraph", "against rocksdb, at most"),
                ("lsmgraph", "against mbfgraph, mean"),
                ("lsmgraph", "against mbfgraph, at most"),
            ],
            &[24.4, 45.1, 3.1, 12.1, 30.8, 57.4, 6.6, 27.2],
        )],
    },
    Block {
        place: "figure 14",
        unit: "%",
        lines: &[(
            "disk space",
            "",
            &[
                ("lsmgraph", "of livegraph's, mean"),
                ("lsmgraph", "of llama's, mean"),
                ("lsmgraph", "above mbfgraph's, mean"),
            ],
            &[45.0, 24.0, 27.0],
        )],
    },
    Block {
        place: "figure 17",
        unit: "x",
        lines: &[(
            "sssp and scan",
            "",
            &[
                ("lsmgraph", "multi-level index against bloom filters, at least"),
                ("lsmgraph", "multi-level index against bloom filters, at most"),
            ],
            &[1.05, 1.32],
        )],
    },
    Block {
        place: "figure 18",
        unit: "x",
        lines: &[
            ("insert", "", &[("lsmgraph", "beside sssp, against rocksdb")], &[3.0]),
            ("sssp", "", &[("lsmgraph", "beside inserting, against rocksdb")], &[1.6]),
        ],
    },
];
