//! Kernels on snapshots of any kind.

use std::time::Instant;

use hedgerow_core::VertexId;
use hedgerow_subjects::{Answer, Kernel, Subject};

use super::super::work::Work;
use super::measured::Measured;
use hedgerow_report::failure::Result;
use hedgerow_report::figures::geomean;

/// The kernels of the suite `analytics`.
const KERNELS: [Kernel; 5] = [Kernel::Bfs, Kernel::PageRank, Kernel::Sssp, Kernel::Wcc, Kernel::Triangles];

/// Runs all requested kernels on a new snapshot, once. The time of a kernel does not include the opening of
/// the snapshot. It includes the copies that the snapshot makes for the kernel.
pub(super) fn all(
    work: &Work<'_>,
    subject: &dyn Subject,
    name: &'static str,
    sources: &[VertexId],
    measured: &mut Measured,
) -> Result<Vec<Answer>> {
    let snapshot = subject.snapshot()?;
    let (mut answers, mut times) = (Vec::new(), Vec::new());
    for kernel in KERNELS.into_iter().filter(|kernel| work.options.wants(kernel.name())) {
        let begun = Instant::now();
        let answer = snapshot.run(kernel, sources)?;
        let calls = if kernel.has_source() { sources.len() } else { 1 };
        let seconds = begun.elapsed().as_secs_f64() / calls as f64;
        measured.add(name, format!("{}.unsettled", kernel.name()), "s", work.options.threads(), seconds);
        times.push(seconds);
        answers.push(answer);
    }
    if !times.is_empty() {
        measured.add(name, "geomean.unsettled", "s", work.options.threads(), geomean(&times));
    }
    Ok(answers)
}

/// True if all answers agree.
pub(super) fn agree(answers: &[Answer], others: &[Answer]) -> bool {
    answers.len() == others.len() && answers.iter().zip(others).all(|(mine, other)| mine.agrees_with(other))
}
