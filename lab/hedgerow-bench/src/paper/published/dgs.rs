//! What the study of Su et al. published.
//!
//! Figures 11, 16, 18 and 20 have no figures in the text. Not taken are tables 14 and 15, which compare with the authors' own programs.

mod columns;
mod hardware;
mod kernels;
mod operations;

use std::sync::LazyLock;

use super::block::{Block, Column, PaperGraph, Published, list};

pub(super) const MACHINE: &str = "AMD EPYC 7543, 32 cores, 128 GB of memory, 60 GB/s";

pub(super) static FIGURES: LazyLock<Vec<Published>> = LazyLock::new(|| {
    list(&[], &[hardware::BLOCKS, kernels::BLOCKS, operations::BLOCKS, CONTAINERS, CONCURRENCY])
});

pub(super) const GRAPHS: &[PaperGraph] = &[
    ("lj", "LiveJournal", None),
    ("dl", "DotaLeague", None),
    ("ldbc", "LDBC SNB", None),
    ("g5", "Graph500", Some("kron:")),
    ("wk", "Wiki", None),
    ("ct", "Cit", None),
    ("tw", "Twitter", None),
    ("nft", "NFT trades", None),
];

/// Sentences on containers by one thread.
const CONTAINERS: &[Block] = &[
    Block {
        place: "figure 9",
        unit: "x",
        lines: &[
            ("search of a vertex", "", &[("dynamic array", "against a hash table, at least")], &[2.6]),
            (
                "insert of a vertex",
                "",
                &[
                    ("dynamic array", "against a hash table, about"),
                    ("dynamic array", "against an AVL tree, about"),
                ],
                &[2.0, 8.0],
            ),
            ("scan of vertices", "", &[("dynamic array", "against both others, about")], &[4.0]),
        ],
    },
    Block {
        place: "figure 10",
        unit: "x",
        lines: &[(
            "search, all lengths and blocks",
            "",
            &[
                ("adjlst", "against teseo and aspen without snapshots, at least"),
                ("adjlst", "against teseo and aspen without snapshots, at most"),
            ],
            &[1.2, 5.8],
        )],
    },
    Block {
        place: "figure 12",
        unit: "x",
        lines: &[(
            "scan, all lengths and blocks",
            "",
            &[("teseo", "against the other segmented lists, at most")],
            &[10.0],
        )],
    },
    Block {
        place: "figure 12",
        unit: "%",
        lines: &[(
            "scan",
            "",
            &[
                ("teseo", "of adjlst's rate on the real graphs, at least"),
                ("teseo", "of adjlst's rate on the real graphs, at most"),
            ],
            &[52.0, 77.0],
        )],
    },
];

const SPEEDUPS: &[Column] =
    &[("all", "32 threads against 1, at least"), ("all", "32 threads against 1, at most")];

/// Sentences on versions, threads and batches.
const CONCURRENCY: &[Block] = &[
    Block {
        place: "figure 13",
        unit: "x",
        lines: &[(
            "scan",
            "",
            &[
                ("fine-grained", "time with concurrency control against without, at least"),
                ("fine-grained", "time with concurrency control against without, at most"),
            ],
            &[2.0, 5.7],
        )],
    },
    Block {
        place: "figure 14",
        unit: "%",
        lines: &[(
            "search",
            "",
            &[
                ("adjlst", "loss by 3 versions of 2 to 32 % of the neighbours, below"),
                ("teseo", "loss by 3 versions of 2 to 32 % of the neighbours, below"),
                ("sortledton", "loss by 3 versions of 2 to 32 % of the neighbours, below"),
            ],
            &[10.0, 10.0, 10.0],
        )],
    },
    Block {
        place: "figure 15",
        unit: "x",
        lines: &[
            (
                "search",
                "g5",
                &[
                    ("all", "32 threads against 1, at least"),
                    ("all", "32 threads against 1, at most"),
                    ("livegraph", "32 threads against 1"),
                    ("aspen", "32 threads against 1"),
                ],
                &[12.5, 29.8, 12.5, 14.7],
            ),
            ("search", "lj", SPEEDUPS, &[22.6, 29.7]),
            ("scan", "lj", SPEEDUPS, &[22.3, 26.7]),
            ("scan", "g5", SPEEDUPS, &[12.5, 26.7]),
        ],
    },
    Block {
        place: "figure 17",
        unit: "%",
        lines: &[(
            "insert",
            "",
            &[
                ("fine-grained", "1 writer beside 31 readers, of its rate alone, at least"),
                ("fine-grained", "1 writer beside 31 readers, of its rate alone, at most"),
            ],
            &[31.75, 46.58],
        )],
    },
    Block {
        place: "figure 19",
        unit: "edges",
        lines: &[("insert", "", &[("aspen", "32 threads, batch above which it is the fastest")], &[256.0])],
    },
];
