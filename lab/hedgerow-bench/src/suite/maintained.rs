//! The suite `maintained`: answers that are maintained while the graph changes, compared with answers from
//! scratch on the same view. The time to make the view does not count.
//!
//! The graph is loaded without some edges. Then each transaction changes a share of all edges: it only
//! inserts, or half of its changes are removals. After each change every kind of answer is updated, and also
//! made from scratch. An update includes the search for the differences of the two snapshots.

use std::time::Instant;

use hedgerow::{Graph, LabelSnapshot, Snapshot};
use hedgerow_kernels::Cancel;
use hedgerow_kernels::maintain::{Answer, Degrees, Handle, Made, Maintained, NAMES, Ranks, Triangles};
use hedgerow_subjects::Engine;

use super::load;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The number of edges in a transaction during loading.
const BATCH: usize = 100_000;
/// The inverse of the share of edges that change: one of this many edges.
const SHARES: [usize; 2] = [10_000, 1_000];

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    let edges = work.distinct_edges();
    let rounds = work.options.repeat();
    // These edges are enough for the insertions of all rounds.
    let kept_back = 2 * rounds * SHARES.iter().map(|share| edges.len() / share + 1).sum::<usize>();
    let (loaded, mut to_come) = edges.split_at(edges.len().saturating_sub(kept_back));
    let mut to_go = loaded;
    let store = load::store_for(&work.graph)?;
    loaded.chunks(BATCH).try_for_each(|batch| load::put_batch(&store, batch))?;
    let mut kept = Vec::new();
    for name in NAMES {
        kept.push(Handle::new(name)?);
    }
    bring_up(&mut kept, &store.snapshot()?)?;
    for share in SHARES {
        for removals in [false, true] {
            let mut figures = vec![(Vec::new(), Vec::new()); kept.len()];
            for _ in 0..rounds {
                let count = edges.len() / share + 1;
                let (removed, inserted) = if removals { (count / 2, count.div_ceil(2)) } else { (0, count) };
                change(&store, take(&mut to_come, inserted), take(&mut to_go, removed))?;
                measure(&mut kept, &store.snapshot()?, &mut figures)?;
            }
            let what = if removals { "with_removals" } else { "inserts" };
            for (name, (updates, scratch)) in NAMES.iter().zip(&figures) {
                let name = format!("{name}.{what}.{}ppm.seconds", 1_000_000 / share);
                let metric = Metric { name: &name, unit: "s", threads: work.options.threads() };
                recorder.add_beside("hedgerow", metric, updates, Some(("scratch", scratch)))?;
            }
        }
    }
    Ok(())
}

fn take<'a>(from: &mut &'a [(u32, u32)], count: usize) -> &'a [(u32, u32)] {
    let (taken, rest) = from.split_at(count.min(from.len()));
    *from = rest;
    taken
}

fn change(store: &Graph, inserted: &[(u32, u32)], removed: &[(u32, u32)]) -> Result<()> {
    let pairs = |edges: &[(u32, u32)]| -> Vec<(u64, u64)> {
        edges.iter().map(|&(u, v)| (u64::from(u), u64::from(v))).collect()
    };
    let mut tx = store.write()?;
    tx.put_edges(pairs(inserted))?;
    tx.remove_edges(pairs(removed))?;
    tx.commit()?;
    Ok(())
}

fn bring_up(kept: &mut [Handle<LabelSnapshot>], snapshot: &Snapshot) -> Result<()> {
    let edges = LabelSnapshot::new(snapshot, "")?;
    for handle in kept {
        handle.at(&edges)?;
    }
    Ok(())
}

/// Measures the seconds of each answer: from the last answer, and from scratch.
fn measure(
    kept: &mut [Handle<LabelSnapshot>],
    snapshot: &Snapshot,
    figures: &mut [(Vec<f64>, Vec<f64>)],
) -> Result<()> {
    let (view, cancel) = (snapshot.default_label().view()?, Cancel::new());
    let edges = LabelSnapshot::new(snapshot, "")?;
    for (handle, (updates, scratch)) in kept.iter_mut().zip(figures) {
        let begun = Instant::now();
        let (answer, made) = handle.at(&edges)?;
        updates.push(begun.elapsed().as_secs_f64());
        if !matches!(made, Made::FromChanges(_)) {
            return Err(format!("an answer was not made of changes: {made:?}").into());
        }
        let begun = Instant::now();
        let agrees = match answer {
            Answer::Components(kept) => {
                let fresh = hedgerow_kernels::wcc(view)?;
                scratch.push(begun.elapsed().as_secs_f64());
                fresh == kept.names()
            }
            Answer::Degrees(kept) => timed(scratch, begun, Degrees::from_scratch(view, &cancel)?) == *kept,
            Answer::Triangles(kept) => {
                timed(scratch, begun, Triangles::from_scratch(view, &cancel)?) == *kept
            }
            Answer::Ranks(kept) => {
                let fresh = timed(scratch, begun, Ranks::from_scratch(view, &cancel)?);
                let apart: f64 = fresh.scores().iter().zip(kept.scores()).map(|(a, b)| (a - b).abs()).sum();
                apart < 2.0 * Ranks::TOLERANCE / 0.15
            }
            _ => false,
        };
        if !agrees {
            return Err("an answer that was kept differs from the one from scratch".into());
        }
    }
    Ok(())
}

fn timed<T>(seconds: &mut Vec<f64>, begun: Instant, made: T) -> T {
    seconds.push(begun.elapsed().as_secs_f64());
    made
}
