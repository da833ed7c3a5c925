//! Kernels on snapshots of any kind.

use std::time::Instant;

use hedgerow_core::{DynamicGraph, VertexId};
use hedgerow_kernels::{BfsConfig, PageRankConfig, SsspConfig, bfs, pagerank, sssp, triangle_count, wcc};

use super::super::analytics::ITERATIONS;
use super::super::work::Work;
use super::measured::Measured;
use crate::failure::Result;
use crate::figures::geomean;

/// Scores are added up in another order on each engine.
const RELATIVE: f64 = 1e-9;

/// What kernels answered, where it does not depend on the engine.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answers {
    hops: Vec<u32>,
    distances: Vec<f64>,
    components: Vec<u32>,
    scores: Vec<f64>,
    triangles: u64,
}

impl Answers {
    /// Whether they are the same, but for the last digits of scores.
    pub(super) fn agrees_with(&self, other: &Answers) -> bool {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= RELATIVE * a.abs().max(b.abs());
        self.hops == other.hops
            && self.distances == other.distances
            && self.components == other.components
            && self.triangles == other.triangles
            && self.scores.len() == other.scores.len()
            && self.scores.iter().zip(&other.scores).all(close)
    }
}

/// Runs all kernels that are asked for on a new snapshot, once. The snapshot is opened before; what a kernel has it copy is part of
/// the kernel's time.
pub(super) fn all<G: DynamicGraph>(
    work: &Work<'_>,
    engine: &G,
    name: &'static str,
    sources: &[VertexId],
    measured: &mut Measured,
) -> Result<Answers> {
    let snapshot = engine.snapshot()?;
    let mut answers = Answers::default();
    let mut times = Vec::new();
    let mut run = |kernel: &'static str, calls: usize, f: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        if !work.options.wants(kernel) {
            return Ok(());
        }
        let begun = Instant::now();
        f()?;
        let seconds = begun.elapsed().as_secs_f64() / calls as f64;
        measured.add(name, format!("{kernel}.unsettled"), "s", work.options.threads(), seconds);
        times.push(seconds);
        Ok(())
    };
    run("bfs", sources.len(), &mut || {
        for &source in sources {
            answers.hops = bfs(&snapshot, source, &BfsConfig::default())?;
        }
        Ok(())
    })?;
    run("pr", 1, &mut || {
        let config = PageRankConfig { iterations: ITERATIONS, ..PageRankConfig::default() };
        answers.scores = pagerank(&snapshot, &config)?;
        Ok(())
    })?;
    run("sssp", sources.len(), &mut || {
        for &source in sources {
            answers.distances = sssp(&snapshot, source, &SsspConfig::default())?;
        }
        Ok(())
    })?;
    run("wcc", 1, &mut || {
        answers.components = wcc(&snapshot)?;
        Ok(())
    })?;
    run("tc", 1, &mut || {
        answers.triangles = triangle_count(&snapshot)?;
        Ok(())
    })?;
    if !times.is_empty() {
        measured.add(name, "geomean.unsettled", "s", work.options.threads(), geomean(&times));
    }
    Ok(answers)
}
