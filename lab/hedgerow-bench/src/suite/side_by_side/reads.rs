//! Reads of single edges and lists on snapshots of any kind.

use std::hint::black_box;
use std::time::Instant;

use hedgerow_core::{Capability, VertexId};
use hedgerow_subjects::{Reader, Share, Subject, Sum};

use super::super::ops::{FOLLOWED, Questions, SOURCES};
use super::measured::Measured;
use hedgerow_report::failure::Result;

const OPENINGS: usize = 100;

/// The sums of the scans in order, at random, and of two hops. They are the same on each engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sums([Sum; 3]);

/// Runs all reads on one snapshot, once.
pub(super) fn reads(
    subject: &dyn Subject,
    name: &'static str,
    questions: &Questions,
    measured: &mut Measured,
) -> Result<Sums> {
    let snapshot = subject.snapshot()?;
    let mut note = |metric: &str, begun: Instant, read: usize| {
        let rate = read as f64 / begun.elapsed().as_secs_f64();
        measured.add(name, format!("{metric}.per_s"), "1/s", 1, rate);
    };
    for (metric, edges, expected) in
        [("has_edge_hit", &questions.hits, questions.hits.len()), ("has_edge_miss", &questions.misses, 0)]
    {
        let begun = Instant::now();
        let found = snapshot.search(edges);
        note(metric, begun, edges.len());
        if found != expected {
            return Err(format!("{name}: {metric} finds {found} of {expected}").into());
        }
    }
    let begun = Instant::now();
    let degrees = snapshot.degrees(&questions.vertices);
    note("degree", begun, questions.vertices.len());
    let begun = Instant::now();
    let in_order = snapshot.scan()?;
    note("scan_sequential", begun, in_order.0);
    let begun = Instant::now();
    let random = snapshot.visit(&questions.vertices)?;
    note("scan_random", begun, random.0);
    if random.0 != degrees {
        return Err(format!("{name}: lists of {} neighbours, degrees of {degrees}", random.0).into());
    }
    let sources = &questions.vertices[..questions.vertices.len().min(SOURCES)];
    let begun = Instant::now();
    let two_hops = snapshot.two_hops(sources, FOLLOWED)?;
    note("two_hop", begun, two_hops.0);
    let seconds = openings(subject, &*snapshot, questions)?;
    measured.add(name, "snapshot_open.mean", "s", 1, seconds / OPENINGS as f64);
    Ok(Sums([in_order, random, two_hops]))
}

/// Measures the seconds of openings, each after a change if the engine takes updates. Without a change an
/// engine may return the last snapshot again.
fn openings(subject: &dyn Subject, snapshot: &dyn Reader, questions: &Questions) -> Result<f64> {
    let changed: Option<&(VertexId, VertexId)> =
        questions.hits.first().filter(|_| !subject.lacks(Capability::Updates));
    let mut seconds = 0.0;
    for _ in 0..OPENINGS {
        if let Some(&(src, dst)) = changed {
            let edge = [(src, dst, snapshot.weight((src, dst)).unwrap_or(1.0))];
            subject.remove(Share::all(&edge))?;
            subject.insert(Share::all(&edge))?;
        }
        let begun = Instant::now();
        drop(black_box(subject.snapshot()?));
        seconds += begun.elapsed().as_secs_f64();
    }
    Ok(seconds)
}
