//! Tables 7, 9 and 11 to 13: operations beside each other, and memory.
//!
//! Tables 11 to 13 give times of 100 operations without their unit. It is taken as microseconds, by the rates of table 7.

use super::super::block::{ABSENT, Block, Column};
use super::columns::five;

/// The columns of table 9. Aspen keeps no versions of edges: what its snapshots take is below 10 MB.
const MEMORY: &[Column] = &[
    ("csr", ""),
    ("aspen versions", "with versions"),
    ("adjlst plain", "without versions"),
    ("adjlst versions", "with versions"),
    ("livegraph plain", "without versions"),
    ("livegraph versions", "with versions"),
    ("teseo plain", "without versions"),
    ("teseo versions", "with versions"),
    ("sortledton plain", "without versions"),
    ("sortledton versions", "with versions"),
];

/// What runs while latencies are taken.
const AT_ONCE: &[Column] = &five("4 inserting, 8 searching, 20 scanning threads");

pub(super) const BLOCKS: &[Block] = &[
    Block {
        place: "table 7",
        unit: "M edges/s",
        lines: &[
            ("search", "lj", &five("32 threads"), &[64.35, 19.49, 24.17, 48.89, 40.20]),
            ("scan", "lj", &five("32 threads"), &[3268.96, 1808.15, 1669.10, 2822.68, 2335.66]),
            ("insert", "lj", &five("32 threads"), &[2.43, 3.02, 0.20, 3.40, 3.45]),
            ("search", "g5", &five("32 threads"), &[33.83, 0.55, 8.37, 26.37, 14.68]),
            ("scan", "g5", &five("32 threads"), &[3955.47, 2540.43, 4389.51, 3021.91, 2570.57]),
            ("insert", "g5", &five("32 threads"), &[0.26, 1.24, 0.32, 3.17, 3.23]),
        ],
    },
    Block {
        place: "table 9",
        unit: "GB",
        lines: &[
            ("memory", "lj", MEMORY, &[0.67, 3.58, 0.98, 2.74, 1.66, 6.24, 9.67, 30.98, 2.62, 4.31]),
            ("memory", "dl", MEMORY, &[0.76, 2.52, 0.99, 2.89, 1.21, 3.71, 1.33, 6.87, 3.00, 3.11]),
            ("memory", "ldbc", MEMORY, &[2.84, 17.96, 3.99, 10.52, 7.61, 28.95, 61.16, ABSENT, 15.30, 20.19]),
            ("memory", "g5", MEMORY, &[3.95, 15.33, 5.42, 15.41, 7.17, 24.62, 21.57, 78.42, 15.25, 19.55]),
            ("memory", "wk", MEMORY, &[0.98, 8.18, 1.41, 3.49, 3.49, 13.09, 28.11, 86.08, 5.38, 7.12]),
            ("memory", "ct", MEMORY, &[0.27, 2.06, 0.42, 1.11, 0.84, 3.32, 7.42, 22.81, 1.11, 2.14]),
            ("memory", "tw", MEMORY, &[4.11, 20.20, 5.49, 15.09, 9.02, 31.98, 45.89, ABSENT, 17.48, 22.04]),
            ("memory", "nft", MEMORY, &[1.38, 14.94, 2.06, 4.99, 5.93, 23.01, 58.76, ABSENT, 9.07, 12.27]),
        ],
    },
    Block {
        place: "table 11",
        unit: "us per 100",
        lines: &[
            ("search, p50", "lj", AT_ONCE, &[57.0, 135.0, 117.0, 66.0, 54.0]),
            ("search, p95", "lj", AT_ONCE, &[65.0, 173.0, 139.0, 72.0, 61.0]),
            ("search, p99", "lj", AT_ONCE, &[71.0, 200.0, 165.0, 78.0, 85.0]),
            ("search, max", "lj", AT_ONCE, &[105.0, 280.0, 379.0, 134.0, 143.0]),
            ("search, mean", "lj", AT_ONCE, &[57.0, 138.0, 120.0, 66.0, 55.0]),
            ("search, p50", "g5", AT_ONCE, &[99.0, 1491.0, 188.0, 122.0, 201.0]),
            ("search, p95", "g5", AT_ONCE, &[106.0, 2410.0, 197.0, 130.0, 225.0]),
            ("search, p99", "g5", AT_ONCE, &[113.0, 3064.0, 208.0, 134.0, 235.0]),
            ("search, max", "g5", AT_ONCE, &[193.0, 3995.0, 458.0, 212.0, 362.0]),
            ("search, mean", "g5", AT_ONCE, &[99.0, 1562.0, 189.0, 122.0, 202.0]),
        ],
    },
    Block {
        place: "table 12",
        unit: "us per 100",
        lines: &[
            ("insert, p50", "lj", AT_ONCE, &[166.0, 151.0, 1093.0, 194.0, 174.0]),
            ("insert, p95", "lj", AT_ONCE, &[206.0, 168.0, 2060.0, 217.0, 204.0]),
            ("insert, p99", "lj", AT_ONCE, &[220.0, 177.0, 2825.0, 228.0, 245.0]),
            ("insert, max", "lj", AT_ONCE, &[475.0, 746.0, 17835.0, 709.0, 757.0]),
            ("insert, mean", "lj", AT_ONCE, &[166.0, 152.0, 1184.0, 190.0, 175.0]),
            ("insert, p50", "g5", AT_ONCE, &[1397.0, 1007.0, 1688.0, 281.0, 304.0]),
            ("insert, p95", "g5", AT_ONCE, &[2979.0, 2295.0, 2822.0, 316.0, 368.0]),
            ("insert, p99", "g5", AT_ONCE, &[3595.0, 2796.0, 3189.0, 367.0, 414.0]),
            ("insert, max", "g5", AT_ONCE, &[6545.0, 4732.0, 7853.0, 8749.0, 2625.0]),
            ("insert, mean", "g5", AT_ONCE, &[1467.0, 1080.0, 1763.0, 275.0, 291.0]),
        ],
    },
    Block {
        place: "table 13",
        unit: "us per 100",
        lines: &[
            ("scan, p50", "lj", AT_ONCE, &[161.0, 225.0, 228.0, 133.0, 248.0]),
            ("scan, p95", "lj", AT_ONCE, &[257.0, 458.0, 392.0, 241.0, 543.0]),
            ("scan, p99", "lj", AT_ONCE, &[299.0, 895.0, 435.0, 297.0, 594.0]),
            ("scan, max", "lj", AT_ONCE, &[12798.0, 1038.0, 498.0, 312.0, 703.0]),
            ("scan, mean", "lj", AT_ONCE, &[185.0, 263.0, 249.0, 146.0, 287.0]),
            ("scan, p50", "g5", AT_ONCE, &[3336.0, 9228.0, 5879.0, 5404.0, 9149.0]),
            ("scan, p95", "g5", AT_ONCE, &[5162.0, 15354.0, 8701.0, 8423.0, 13722.0]),
            ("scan, p99", "g5", AT_ONCE, &[6834.0, 19553.0, 10422.0, 10486.0, 17961.0]),
            ("scan, max", "g5", AT_ONCE, &[11332.0, 21107.0, 10569.0, 10800.0, 18533.0]),
            ("scan, mean", "g5", AT_ONCE, &[3425.0, 9707.0, 5936.0, 5499.0, 9249.0]),
        ],
    },
];
