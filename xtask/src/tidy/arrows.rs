//! The table of permitted dependencies between crates. No other file repeats it.

use super::report::Report;
use crate::metadata::{Arrow, Kind};

/// The permitted arrows from one crate to other crates of the workspace.
struct Row {
    krate: &'static str,
    /// The crates that the crate's product code may use.
    may_use: &'static [&'static str],
    /// The additional crates that the crate's tests, examples and benches may use.
    tests_may_use: &'static [&'static str],
}

const CORE: &str = "hedgerow-core";
const IO: &str = "hedgerow-io";
const TXN: &str = "hedgerow-txn";
const MEM: &str = "hedgerow-mem";
const LOG: &str = "hedgerow-log";
const TIER: &str = "hedgerow-tier";
const CATALOG: &str = "hedgerow-catalog";
const PAGER: &str = "hedgerow-pager";
const PAR: &str = "hedgerow-par";
const ENGINE: &str = "hedgerow-engine";
const STORE: &str = "hedgerow";
const KERNELS: &str = "hedgerow-kernels";
const ANALYTICS: &str = "hedgerow-analytics";
const WORKLOAD: &str = "hedgerow-workload";
const DEMO: &str = "hedgerow-demo";
const ARROW: &str = "hedgerow-arrow";
const EXPORT: &str = "hedgerow-export";
const LOAD: &str = "hedgerow-load";
const REPORT: &str = "hedgerow-report";
const LAB: &str = "hedgerow-lab";
const BENCH: &str = "hedgerow-bench";
const SUBJECTS: &str = "hedgerow-subjects";
const TESTKIT: &str = "hedgerow-testkit";

/// The table of ARCHITECTURE.md. `testkit` is in no `may_use` list, because only tests use it.
const TABLE: &[Row] = &[
    row(CORE, &[], &[TESTKIT]),
    row(IO, &[CORE], &[TESTKIT]),
    row(TXN, &[CORE], &[TESTKIT, WORKLOAD]),
    row(PAR, &[CORE], &[TESTKIT]),
    // Models of versions and reclamation use the real clock and reader registry (docs/design/protocol.md).
    row(MEM, &[CORE], &[TESTKIT, WORKLOAD, TXN]),
    row(LOG, &[CORE, IO], &[TESTKIT, WORKLOAD]),
    row(TIER, &[CORE, IO], &[TESTKIT, WORKLOAD]),
    // The examples in the documentation use the facade, as users do.
    row(CATALOG, &[CORE, IO, MEM, TIER], &[STORE]),
    // The tests of the pager encode rows as the log does.
    row(PAGER, &[CATALOG, CORE, IO, MEM, PAR, TIER, TXN], &[TESTKIT, WORKLOAD, LOG]),
    row(ENGINE, &[CATALOG, CORE, IO, LOG, MEM, PAGER, PAR, TIER, TXN], &[TESTKIT, STORE]),
    // The tests of the facade forge files, and check the results of parsers.
    row(STORE, &[ANALYTICS, CORE, ENGINE, IO, KERNELS, MEM], &[TESTKIT, WORKLOAD, LOG, TIER]),
    // The tests of kernels use the plain CSR, with which benchmarks also compare them.
    row(KERNELS, &[CORE, PAR], &[TESTKIT, WORKLOAD]),
    row(ANALYTICS, &[ENGINE, KERNELS], &[]),
    row("hedgerow-schedules", &[], &[CORE, STORE, TESTKIT]),
    row(WORKLOAD, &[CORE, PAR], &[TESTKIT]),
    row(REPORT, &[], &[]),
    row(DEMO, &[KERNELS, REPORT, STORE, WORKLOAD], &[]),
    // The lab is a separate workspace.
    row(LAB, &[CORE, IO, WORKLOAD], &[TESTKIT]),
    row(SUBJECTS, &[CORE, KERNELS, LAB, STORE, WORKLOAD], &[]),
    row(TESTKIT, &[CORE, IO, WORKLOAD], &[]),
    // The suite `format` measures packed lists without a store (docs/design/layout.md).
    row(
        BENCH,
        &[ANALYTICS, CORE, DEMO, IO, KERNELS, WORKLOAD, LAB, REPORT, STORE, SUBJECTS, TIER],
        &[TESTKIT],
    ),
    row("hedgerow-rivals", &[BENCH], &[WORKLOAD]),
    row(ARROW, &[CORE, STORE], &[]),
    row(EXPORT, &[ARROW, PAR, STORE, WORKLOAD], &[]),
    row(LOAD, &[ARROW, CORE, EXPORT, STORE, WORKLOAD], &[]),
    row("hedgerow-cli", &[STORE, ANALYTICS, ARROW, EXPORT, KERNELS, LOAD, WORKLOAD, CORE, PAR], &[TESTKIT]),
    row("hedgerow-python", &[STORE, ANALYTICS, ARROW, EXPORT, KERNELS, LOAD, CORE, PAR], &[]),
    row("xtask", &[], &[]),
];

const fn row(
    krate: &'static str,
    may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
) -> Row {
    Row { krate, may_use, tests_may_use }
}

/// Reports every arrow that the table does not permit.
pub(super) fn check(arrows: &[Arrow], report: &mut Report) {
    for arrow in arrows {
        let Some(row) = TABLE.iter().find(|row| row.krate == arrow.from) else {
            report.errors.push(format!(
                "{}: the crate is not in the dependency table; add it to ARCHITECTURE.md and to \
                 xtask/src/tidy/arrows.rs, with a page in docs/design/ that says why it exists",
                arrow.from
            ));
            continue;
        };
        let to = arrow.to.as_str();
        let permitted =
            row.may_use.contains(&to) || (arrow.kind == Kind::Dev && row.tests_may_use.contains(&to));
        if !permitted {
            report.errors.push(refusal(row, arrow));
        }
    }
}

fn refusal(row: &Row, arrow: &Arrow) -> String {
    let Arrow { from, to, kind, .. } = arrow;
    if *kind == Kind::Normal && row.tests_may_use.contains(&to.as_str()) {
        return format!("{from} -> {to}: only tests may use it; move it to [dev-dependencies]");
    }
    let among = if row.may_use.is_empty() { "nothing".to_owned() } else { row.may_use.join(", ") };
    format!(
        "{from} -> {to}: this arrow is not in the dependency table ({from} may use {among}); move the code to where \
         the arrow exists, or write a page in docs/design/ and then add the arrow to ARCHITECTURE.md and to \
         xtask/src/tidy/arrows.rs"
    )
}
