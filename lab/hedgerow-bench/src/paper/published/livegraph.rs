//! What LiveGraph's paper published.
//!
//! Storage engines go by their own names: LMDB is the paper's B+ tree, RocksDB its log-structured merge tree. Table 4 is as printed; the ratios that a
//! sentence draws from it (2.67, 3.06 and 4.99) do not follow from its cells. Left out are the rates of figure 6 in memory
//! on the NAND disk, whose order the text leaves open, and tables 7 to 9, of the LDBC SNB workload. All systems
//! were durable (section 7.1), so figures of LinkBench stand under `durable=yes`. Figure 7 has no figures in the text.

use std::sync::LazyLock;

use super::block::{Block, Column, Published, list};

pub(super) const MACHINE: &str =
    "2 Intel Xeon Gold 6126, 24 cores in all, 192 GB of memory, Intel Optane P4800X and Dell PM1725a";

pub(super) static FIGURES: LazyLock<Vec<Published>> =
    LazyLock::new(|| list(&[], &[SCANS, LATENCIES, RATES, STORAGE, KERNELS]));

/// The columns of tables 3 and 4.
const IN_MEMORY: &[Column] = &[
    ("livegraph", "in memory, 24 clients, optane"),
    ("rocksdb", "in memory, 24 clients, optane"),
    ("lmdb", "in memory, 24 clients, optane"),
    ("livegraph", "in memory, 24 clients, nand"),
    ("rocksdb", "in memory, 24 clients, nand"),
    ("lmdb", "in memory, 24 clients, nand"),
];

/// The columns of tables 5 and 6.
const ON_DISK: &[Column] = &[
    ("livegraph", "4 GB of memory, optane"),
    ("rocksdb", "4 GB of memory, optane"),
    ("lmdb", "4 GB of memory, optane"),
    ("livegraph", "4 GB of memory, nand"),
    ("rocksdb", "4 GB of memory, nand"),
    ("lmdb", "4 GB of memory, nand"),
];

/// Lists of random vertices, 1 thread.
const SCANS: &[Block] = &[
    Block {
        place: "figure 1",
        unit: "x",
        lines: &[
            (
                "scan, one edge",
                "",
                &[
                    ("livegraph", "against a linked list, more than"),
                    ("livegraph", "against rocksdb, more than"),
                    ("livegraph", "against lmdb, more than"),
                ],
                &[29.0, 20.0, 6.0],
            ),
            (
                "scan, seek included",
                "",
                &[
                    ("livegraph", "against rocksdb, mean of graphs"),
                    ("livegraph", "against a linked list, mean of graphs"),
                    ("livegraph", "against lmdb, mean of graphs"),
                ],
                &[22.0, 46.0, 5.6],
            ),
        ],
    },
    Block {
        place: "figure 1",
        unit: "%",
        lines: &[
            ("scan, one edge", "", &[("csr", "of livegraph's time")], &[43.0]),
            ("scan, seek included", "", &[("livegraph", "above csr's time, mean of graphs")], &[40.0]),
        ],
    },
    Block {
        place: "section 2.1",
        unit: "x",
        lines: &[(
            "scan, llc misses",
            "",
            &[
                ("lmdb", "2^26 vertices, against livegraph's"),
                ("rocksdb", "2^26 vertices, against livegraph's"),
                ("linked list", "2^26 vertices, against livegraph's"),
                ("livegraph", "2^26 vertices, against csr's"),
            ],
            &[7.09, 11.18, 63.54, 2.42],
        )],
    },
];

const LATENCIES: &[Block] = &[
    Block {
        place: "table 3",
        unit: "ms",
        lines: &[
            (
                "latency, mean mix=tao durable=yes",
                "",
                IN_MEMORY,
                &[0.0044, 0.0328, 0.0109, 0.0051, 0.0309, 0.0098],
            ),
            (
                "latency, p99 mix=tao durable=yes",
                "",
                IN_MEMORY,
                &[0.0053, 0.0553, 0.0162, 0.0058, 0.0526, 0.0161],
            ),
            (
                "latency, p999 mix=tao durable=yes",
                "",
                IN_MEMORY,
                &[1.0846, 4.8716, 2.0703, 1.1224, 4.1968, 1.5769],
            ),
        ],
    },
    Block {
        place: "table 4",
        unit: "ms",
        lines: &[
            (
                "latency, mean mix=dflt durable=yes",
                "",
                IN_MEMORY,
                &[0.0449, 0.1278, 1.6030, 0.0588, 0.1459, 1.6743],
            ),
            (
                "latency, p99 mix=dflt durable=yes",
                "",
                IN_MEMORY,
                &[0.2598, 0.6423, 9.3293, 0.2838, 0.8119, 9.8334],
            ),
            (
                "latency, p999 mix=dflt durable=yes",
                "",
                IN_MEMORY,
                &[0.9800, 3.5190, 12.275, 1.4642, 4.8753, 13.365],
            ),
        ],
    },
    Block {
        place: "table 5",
        unit: "ms",
        lines: &[
            (
                "latency, mean mix=tao durable=yes",
                "",
                ON_DISK,
                &[0.0166, 0.0420, 0.0364, 0.0725, 0.1065, 0.1322],
            ),
            (
                "latency, p99 mix=tao durable=yes",
                "",
                ON_DISK,
                &[0.1856, 0.1135, 0.3701, 0.4830, 0.2535, 0.8372],
            ),
            (
                "latency, p999 mix=tao durable=yes",
                "",
                ON_DISK,
                &[1.9561, 4.9366, 3.3600, 2.5112, 4.6701, 4.9119],
            ),
        ],
    },
    Block {
        place: "table 6",
        unit: "ms",
        lines: &[
            (
                "latency, mean mix=dflt durable=yes",
                "",
                ON_DISK,
                &[0.0735, 0.1312, 2.4099, 0.2184, 0.2526, 2.2824],
            ),
            (
                "latency, p99 mix=dflt durable=yes",
                "",
                ON_DISK,
                &[0.7923, 0.6364, 13.799, 1.6543, 2.2387, 12.557],
            ),
            (
                "latency, p999 mix=dflt durable=yes",
                "",
                ON_DISK,
                &[3.0133, 3.5250, 17.794, 5.0363, 5.4436, 16.698],
            ),
        ],
    },
    Block {
        place: "section 7.2",
        unit: "ms",
        lines: &[(
            "latency, mean",
            "",
            &[
                ("mysql", "tao, optane"),
                ("myrocks", "tao, optane"),
                ("neo4j", "tao, optane"),
                ("mysql", "dflt, optane"),
                ("myrocks", "dflt, optane"),
                ("neo4j", "dflt, optane"),
            ],
            &[0.187, 0.214, 0.236, 0.708, 0.280, 1.231],
        )],
    },
];

/// Requests at the number of clients that has the most.
const RATES: &[Block] = &[
    Block {
        place: "figure 5",
        unit: "k requests/s",
        lines: &[
            (
                "requests mix=tao durable=yes",
                "",
                &[("livegraph", "in memory, 48 clients, optane"), ("lmdb", "in memory, 32 clients, optane")],
                &[8770.0, 3240.0],
            ),
            (
                "requests out of core mix=tao durable=yes",
                "",
                &[("livegraph", "64 clients, optane"), ("rocksdb", "48 clients, optane")],
                &[860.0, 584.0],
            ),
        ],
    },
    Block {
        place: "figure 5",
        unit: "x",
        lines: &[(
            "requests out of core mix=tao durable=yes",
            "",
            &[("livegraph", "nand, against rocksdb")],
            &[1.31],
        )],
    },
    Block {
        place: "figure 6",
        unit: "k requests/s",
        lines: &[
            (
                "requests mix=dflt durable=yes",
                "",
                &[
                    ("livegraph", "in memory, 24 clients, optane, more than"),
                    ("rocksdb", "in memory, 48 clients, optane"),
                ],
                &[460.0, 228.0],
            ),
            (
                "requests out of core mix=dflt durable=yes",
                "",
                &[("livegraph", "32 clients, optane"), ("rocksdb", "48 clients, optane")],
                &[300.0, 212.0],
            ),
        ],
    },
    Block {
        place: "figure 6",
        unit: "%",
        lines: &[(
            "requests out of core mix=dflt durable=yes",
            "",
            &[("livegraph", "nand, of rocksdb's")],
            &[96.1],
        )],
    },
    Block {
        place: "figure 8",
        unit: "k requests/s",
        lines: &[(
            "requests",
            "",
            &[
                ("livegraph", "writes only, in memory, 24 clients, optane"),
                ("rocksdb", "writes only, in memory, 24 clients, optane"),
            ],
            &[113.0, 73.0],
        )],
    },
    Block {
        place: "figure 8",
        unit: "%",
        lines: &[
            (
                "requests",
                "",
                &[
                    ("livegraph", "writes only, out of core, 24 clients, optane, of rocksdb's"),
                    ("livegraph", "writes only, out of core, 24 clients, nand, of rocksdb's"),
                ],
                &[88.8, 78.3],
            ),
            (
                "writes from which rocksdb is faster",
                "",
                &[
                    ("livegraph", "out of core, 24 clients, optane"),
                    ("livegraph", "out of core, 24 clients, nand"),
                ],
                &[75.0, 50.0],
            ),
        ],
    },
];

/// What LinkBench's default workload takes: 12 million transactions of 24 clients.
const STORAGE: &[Block] = &[
    Block {
        place: "section 7.2",
        unit: "GB",
        lines: &[(
            "memory",
            "",
            &[
                ("livegraph", "dflt, 24 clients"),
                ("livegraph", "dflt, 24 clients, without compaction"),
                ("lmdb", "dflt, 24 clients"),
                ("rocksdb", "dflt, 24 clients"),
            ],
            &[24.9, 33.3, 44.8, 14.4],
        )],
    },
    Block {
        place: "section 7.2",
        unit: "x",
        lines: &[("bytes written", "", &[("livegraph", "against rocksdb's")], &[3.02])],
    },
    Block {
        place: "section 7.2",
        unit: "s",
        lines: &[(
            "checkpoint",
            "",
            &[
                ("livegraph", "1 thread, to memory, alone"),
                ("livegraph", "1 thread, to memory, beside dflt of 24 clients"),
                ("livegraph", "24 threads, beside dflt of 24 clients, nand"),
            ],
            &[16.0, 20.6, 6.5],
        )],
    },
    Block {
        place: "section 7.2",
        unit: "%",
        lines: &[(
            "requests",
            "",
            &[
                ("livegraph", "dflt, 24 clients, loss beside a checkpoint by 1 thread"),
                ("livegraph", "dflt, 24 clients, left beside a checkpoint by 24 threads, nand"),
            ],
            &[6.5, 86.4],
        )],
    },
];

/// On 3.88 million edges, 24 threads.
const KERNELS: &[Block] = &[Block {
    place: "table 10",
    unit: "ms",
    lines: &[
        (
            "pr",
            "",
            &[
                ("livegraph", "persons of snb 10, 20 iterations"),
                ("gemini", "persons of snb 10, 20 iterations"),
            ],
            &[266.0, 156.0],
        ),
        ("wcc", "", &[("livegraph", "persons of snb 10"), ("gemini", "persons of snb 10")], &[254.0, 62.6]),
        ("export to a csr", "", &[("gemini", "persons of snb 10")], &[1520.0]),
    ],
}];
