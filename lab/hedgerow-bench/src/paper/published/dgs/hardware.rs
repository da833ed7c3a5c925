//! Tables 4, 6 and 8: processor counters and memory bandwidth.
//!
//! Left out are, of table 6, the LLC misses of Aspen on TC, which the text's own ratios contradict, and of table 8 LiveGraph on g5 by 2 threads, where the
//! text has less than by 1. The text of table 8 lacks the heads of its six lines: they are taken as 1 to 32 threads, by
//! the saturation at 8 that a sentence states.

use super::super::block::{ABSENT, Block, Column};
use super::columns::five;
use super::kernels::CONTAINERS;

const SCAN: &[Column] = &five("2^20 neighbours, blocks of 256");

#[expect(clippy::approx_constant, reason = "3.14 GB/s are not pi")]
pub(super) const BLOCKS: &[Block] = &[
    Block {
        place: "table 4",
        unit: "events",
        lines: &[
            ("scan, l1 misses", "", SCAN, &[2.57e8, 2.53e8, 2.38e8, 2.65e8, 5.48e8]),
            ("scan, l2 misses", "", SCAN, &[1.35e8, 2.38e8, 1.82e8, 2.15e8, 2.86e8]),
            ("scan, llc misses", "", SCAN, &[1.34e8, 1.34e8, 1.84e8, 2.15e8, 2.38e8]),
            ("scan, dtlb misses", "", SCAN, &[1.19e4, 1.20e4, 1.94e6, 4.20e6, 4.32e6]),
            ("scan, branch misses", "", SCAN, &[1.20e3, 2.23e3, 7.90e6, 1.50e3, 6.24e6]),
            ("scan, instructions", "", SCAN, &[1.07e9, 1.61e9, 7.57e9, 1.14e9, 1.18e10]),
        ],
    },
    Block {
        place: "table 6",
        unit: "billion",
        lines: &[
            ("pr, l1 misses", "lj", CONTAINERS, &[0.83, 0.86, 0.97, 0.89, 0.95, 0.92, 0.85, 0.93]),
            ("pr, l1 misses", "g5", CONTAINERS, &[5.13, 5.23, 5.47, 5.28, 5.46, 5.37, 5.24, 5.37]),
            ("pr, l2 misses", "lj", CONTAINERS, &[0.80, 0.96, 1.10, 0.96, 1.07, 1.45, 0.94, 1.35]),
            ("pr, l2 misses", "g5", CONTAINERS, &[4.22, 4.59, 4.86, 4.78, 4.97, 5.76, 4.96, 5.68]),
            ("pr, llc misses", "lj", CONTAINERS, &[0.16, 0.32, 0.46, 0.30, 0.43, 0.81, 0.30, 0.70]),
            ("pr, llc misses", "g5", CONTAINERS, &[0.93, 1.26, 1.53, 1.27, 1.53, 2.38, 1.57, 2.28]),
            ("pr, dtlb misses", "lj", CONTAINERS, &[8.20, 8.74, 8.91, 8.12, 8.29, 10.96, 8.59, 9.89]),
            ("pr, dtlb misses", "g5", CONTAINERS, &[35.48, 38.34, 37.34, 35.96, 37.57, 39.59, 36.34, 38.15]),
            ("pr, branch misses", "lj", CONTAINERS, &[0.05, 0.05, 0.05, 0.05, 0.33, 0.05, 0.05, 0.05]),
            ("pr, branch misses", "g5", CONTAINERS, &[0.09, 0.09, 0.09, 0.12, 0.65, 0.10, 0.09, 0.09]),
            ("pr, instructions", "lj", CONTAINERS, &[8.27, 9.28, 10.09, 21.36, 52.67, 9.82, 10.05, 14.43]),
            (
                "pr, instructions",
                "g5",
                CONTAINERS,
                &[44.25, 46.11, 51.22, 90.50, 149.93, 47.36, 69.83, 77.49],
            ),
            ("tc, l1 misses", "lj", CONTAINERS, &[0.07, 0.14, ABSENT, 0.19, 0.70, 0.23, 0.16, 0.20]),
            ("tc, l1 misses", "g5", CONTAINERS, &[2.35, 3.00, ABSENT, 24.44, 19.93, 7.78, 8.52, 8.61]),
            ("tc, l2 misses", "lj", CONTAINERS, &[0.93, 1.01, ABSENT, 1.28, 1.86, 1.37, 1.15, 1.27]),
            (
                "tc, l2 misses",
                "g5",
                CONTAINERS,
                &[53.86, 56.33, ABSENT, 93.33, 100.53, 109.50, 111.48, 112.92],
            ),
            ("tc, llc misses", "lj", CONTAINERS, &[0.65, 0.74, ABSENT, ABSENT, ABSENT, 1.11, 0.76, 1.00]),
            (
                "tc, llc misses",
                "g5",
                CONTAINERS,
                &[31.63, 31.96, ABSENT, ABSENT, ABSENT, 68.99, 69.19, 71.77],
            ),
            ("tc, dtlb misses", "lj", CONTAINERS, &[5.76, 10.67, ABSENT, 13.70, 23.67, 14.42, 12.45, 13.60]),
            (
                "tc, dtlb misses",
                "g5",
                CONTAINERS,
                &[97.34, 137.09, ABSENT, 336.05, 441.16, 211.64, 380.34, 237.88],
            ),
            ("tc, branch misses", "lj", CONTAINERS, &[0.85, 0.85, ABSENT, 0.84, 1.27, 0.82, 0.80, 0.79]),
            (
                "tc, branch misses",
                "g5",
                CONTAINERS,
                &[67.98, 63.01, ABSENT, 64.59, 64.73, 65.75, 63.33, 61.34],
            ),
            (
                "tc, instructions",
                "lj",
                CONTAINERS,
                &[31.44, 31.93, ABSENT, 60.00, 75.00, 32.62, 44.27, 56.05],
            ),
            (
                "tc, instructions",
                "g5",
                CONTAINERS,
                &[6929.0, 6932.0, ABSENT, 10778.0, 10900.0, 6976.0, 12020.0, 12075.0],
            ),
        ],
    },
    Block {
        place: "table 8",
        unit: "GB/s",
        lines: &[
            ("scan, bandwidth", "lj", &five("1 thread"), &[3.66, 3.14, 1.35, 3.70, 2.80]),
            ("scan, bandwidth", "g5", &five("1 thread"), &[9.54, 8.07, 2.11, 10.19, 6.01]),
            ("scan, bandwidth", "lj", &five("2 threads"), &[6.69, 5.97, 2.10, 6.87, 5.68]),
            ("scan, bandwidth", "g5", &five("2 threads"), &[18.37, ABSENT, 5.35, 19.79, 12.54]),
            ("scan, bandwidth", "lj", &five("4 threads"), &[11.59, 10.77, 4.50, 12.18, 10.39]),
            ("scan, bandwidth", "g5", &five("4 threads"), &[36.15, 29.05, 10.14, 36.49, 23.82]),
            ("scan, bandwidth", "lj", &five("8 threads"), &[18.10, 17.44, 8.10, 19.34, 17.08]),
            ("scan, bandwidth", "g5", &five("8 threads"), &[51.03, 46.62, 19.63, 54.41, 41.07]),
            ("scan, bandwidth", "lj", &five("16 threads"), &[23.96, 24.12, 12.68, 26.12, 24.14]),
            ("scan, bandwidth", "g5", &five("16 threads"), &[56.00, 54.51, 35.70, 57.33, 53.63]),
            ("scan, bandwidth", "lj", &five("32 threads"), &[25.78, 26.61, 17.70, 28.76, 26.65]),
            ("scan, bandwidth", "g5", &five("32 threads"), &[57.76, 56.69, 49.07, 57.81, 55.62]),
        ],
    },
];
