//! Removals and insertions of a fifth of the edges, on engines of any kind.

use std::time::Instant;

use hedgerow_subjects::{Edge, Share, Subject};

use super::super::update::ROUNDS;
use super::super::work::Work;
use super::insert::{check_count, directed};
use super::measured::Measured;
use hedgerow_report::failure::Result;

/// Inserts all edges, then removes and inserts each fifth, edge by edge. After each step, adds the engine's
/// own count of its memory.
pub(super) fn course(
    work: &Work<'_>,
    edges: &[Edge],
    (name, subject): (&'static str, &dyn Subject),
    measured: &mut Measured,
) -> Result<()> {
    let mut note = |of: &str, operations: usize, begun: Instant| {
        let rate = directed(work, operations) / begun.elapsed().as_secs_f64();
        measured.add(name, format!("{of}.edges_per_s"), "edges/s", 1, rate);
        let bytes = subject.memory_bytes() as f64 / directed(work, edges.len());
        measured.add(name, format!("{of}.accounted_bytes_per_edge"), "bytes", 1, bytes);
    };
    let begun = Instant::now();
    subject.insert(Share::all(edges))?;
    note("load", edges.len(), begun);
    for (nth, fifth) in edges.chunks(edges.len().div_ceil(ROUNDS)).cycle().take(ROUNDS).enumerate() {
        let begun = Instant::now();
        subject.remove(Share::all(fifth))?;
        subject.insert(Share::all(fifth))?;
        note(&format!("round_{}", nth + 1), 2 * fifth.len(), begun);
    }
    check_count(subject, edges.len(), name)
}
