//! Kernels on snapshots right after ingestion, with one thread and with all threads.

use std::time::Instant;

use hedgerow_core::VertexId;
use hedgerow_subjects::{Answer, Kernel, Subject};

use super::super::bench::Bench;
use crate::record::Record;
use crate::suite::{Measured, sources};
use hedgerow_report::failure::Result;

/// Measures the kernels.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let sources = sources(&bench.work.csr()?);
    let fixed = bench.csr()?;
    let expected = once(&*fixed, "csr", &Kernel::ALL, &sources, 1, &mut Measured::default())?;
    let mut subjects = vec![("csr", fixed)];
    subjects.extend(bench.filled("kernels", &bench.edges));
    bench.rounds("kernels", bench.work.options.repeat(), subjects, |name, subject, measured| {
        let mut counts = vec![1, bench.threads()];
        counts.dedup();
        for threads in counts {
            let answers = once(&**subject, name, &Kernel::ALL, &sources, threads, measured)?;
            must_agree(name, &expected, &answers)?;
        }
        Ok(())
    })
}

/// Checks that the answers agree with the CSR: a figure of a wrong answer is no figure.
pub(super) fn must_agree(name: &str, expected: &[Answer], answers: &[Answer]) -> Result<()> {
    let kernels = Kernel::ALL.into_iter().zip(expected.iter().zip(answers));
    for (kernel, (expected, answer)) in kernels {
        if !answer.agrees_with(expected) {
            return Err(format!("{}: the answer of {name} is not that of the CSR", kernel.name()).into());
        }
    }
    Ok(())
}

/// Runs these kernels, a prefix of [`Kernel::ALL`], once on a new snapshot, with `threads` threads. For a
/// kernel with a source, the time is the mean over the sources.
pub(super) fn once(
    subject: &dyn Subject,
    name: &'static str,
    kernels: &[Kernel],
    sources: &[VertexId],
    threads: usize,
    measured: &mut Measured,
) -> Result<Vec<Answer>> {
    let snapshot = subject.snapshot()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut answers = Vec::with_capacity(kernels.len());
    for &kernel in kernels {
        let begun = Instant::now();
        answers.push(pool.install(|| snapshot.run(kernel, sources))?);
        let calls = if kernel.has_source() { sources.len() } else { 1 };
        measured.add(name, kernel.name(), "s", threads, begun.elapsed().as_secs_f64() / calls as f64);
    }
    Ok(answers)
}
