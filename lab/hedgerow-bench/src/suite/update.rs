//! The suite `update`: it removes a fifth of the edges and inserts it again, edge by edge, five times. The
//! rate is compared with the rate of inserting all edges. The suite also measures the memory after each
//! round, by the store's own accounts.

use std::time::Instant;

use hedgerow::Graph;
use hedgerow_subjects::Engine;

use super::load;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

pub(super) const ROUNDS: usize = 5;

/// The figures of one store: first the insertion of all edges, then the rounds.
struct Course {
    edges_per_s: Vec<f64>,
    accounted: Vec<f64>,
}

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    let edges = work.distinct_edges();
    let courses: Vec<Course> =
        (0..work.options.repeat()).map(|_| course(work, &edges)).collect::<Result<_>>()?;
    let column = |of: fn(&Course) -> &Vec<f64>, at: usize| -> Vec<f64> {
        courses.iter().map(|course| of(course)[at]).collect()
    };
    for (unit, metric, of) in [
        ("edges/s", "edges_per_s", (|c| &c.edges_per_s) as fn(&Course) -> &Vec<f64>),
        ("bytes", "accounted_bytes_per_edge", |c| &c.accounted),
    ] {
        let first = column(of, 0);
        recorder.add(
            "hedgerow",
            Metric { name: &format!("load.{metric}"), unit, threads: 1 },
            &first,
            None,
        )?;
        for round in 1..=ROUNDS {
            let name = format!("round_{round}.{metric}");
            let measured = column(of, round);
            let beside = Some(("load", first.as_slice()));
            recorder.add_beside("hedgerow", Metric { name: &name, unit, threads: 1 }, &measured, beside)?;
        }
    }
    Ok(())
}

fn course(work: &Work<'_>, edges: &[(u32, u32)]) -> Result<Course> {
    let store = load::store_for(&work.graph)?;
    let mut course = Course { edges_per_s: Vec::new(), accounted: Vec::new() };
    let mut note = |operations: usize, seconds: f64| -> Result<()> {
        let directed = edges.len() as f64 * work.per_edge;
        course.edges_per_s.push(operations as f64 * work.per_edge / seconds);
        course.accounted.push(store.stats()?.memory_bytes() as f64 / directed);
        Ok(())
    };
    let begun = Instant::now();
    edges.iter().try_for_each(|edge| load::insert_one(&store, work, edge))?;
    note(edges.len(), begun.elapsed().as_secs_f64())?;
    for fifth in edges.chunks(edges.len().div_ceil(ROUNDS)).cycle().take(ROUNDS) {
        let begun = Instant::now();
        remove(&store, fifth)?;
        fifth.iter().try_for_each(|edge| load::insert_one(&store, work, edge))?;
        note(2 * fifth.len(), begun.elapsed().as_secs_f64())?;
    }
    let found = store.snapshot()?.edge_count()?;
    if found != edges.len() as u64 {
        return Err(format!("{found} edges in the store, expected {}", edges.len()).into());
    }
    Ok(course)
}

fn remove(store: &Graph, edges: &[(u32, u32)]) -> Result<()> {
    for &(u, v) in edges {
        if !store.remove_edge((u64::from(u), u64::from(v)))? {
            return Err(format!("edge {u} {v} was lost").into());
        }
    }
    Ok(())
}
