//! Readers concurrent with writers. Each reader opens snapshots and ranks their vertices. Each writer removes
//! and inserts its own edges.

use hedgerow_core::Capability;
use hedgerow_subjects::Subject;

use super::super::bench::Bench;
use crate::record::Record;
use crate::suite::{Measured, beside};
use hedgerow_report::failure::Result;

/// Measures readers and writers together.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let mut subjects = bench.filled("mixed", &bench.edges);
    subjects.retain(|(name, subject)| bench.is_able("mixed", name, &**subject, Capability::Versions));
    bench.rounds("mixed", bench.work.options.repeat(), subjects, |name, subject, measured| {
        for (readers, writers) in pairs(&bench.thread_counts()) {
            phase(bench, &**subject, (readers, writers), name, measured)?;
        }
        Ok(())
    })
}

/// Returns the numbers of readers and writers to run together: each group alone, and both at the same time.
fn pairs(counts: &[usize]) -> Vec<(usize, usize)> {
    let with_none = || [0].into_iter().chain(counts.iter().copied());
    with_none()
        .flat_map(|readers| with_none().map(move |writers| (readers, writers)))
        .filter(|&(readers, writers)| readers + writers > 0)
        .collect()
}

fn phase(
    bench: &Bench<'_>,
    subject: &dyn Subject,
    (readers, writers): (usize, usize),
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let fifth = &bench.edges[..bench.edges.len() / 5];
    let phase = beside(bench.work, subject, fifth, (readers, writers))?;
    let label = |who: &str| format!("{who} readers={readers} writers={writers}");
    let threads = readers + writers;
    if let Some(seconds) = phase.reader {
        measured.add(name, label("pr"), "s", threads, seconds);
    }
    if let Some(rate) = phase.updates_per_s {
        measured.add(name, label("write"), "edges/s", threads, rate * bench.work.per_edge);
    }
    Ok(())
}
