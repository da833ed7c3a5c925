//! Random walks: from vertices along edges drawn at random, uniform or by the rule of node2vec.
//!
//! **Result.** The walks from each source, grouped by source, in the order of the sources. Each walk has its
//! vertices in order and the number of its steps. It ends early at a vertex without a neighbour to go to. A
//! uniform walk goes to each neighbour with the same chance, which a repeated edge multiplies. With `p` and
//! `q` the chances depend on the vertex before: that vertex has weight `1/p`, its neighbours 1, all others
//! `1/q`.
//!
//! **Input.** Any graph; weights are not read. Edges are followed along or against their direction.
//!
//! **Reproducible.** Every walk draws from a stream of its own, made from the seed and the number of the
//! walk, and picks from the neighbours in ascending order. So a walk is the same for any number of threads,
//! and however lists are stored.
//!
//! **Trick.** Chances that depend on two vertices would have to be computed for each pair of them. Instead a
//! neighbour is drawn like in a uniform walk, and refused with a chance that makes up for the difference.
//! That needs one test: if an edge leads from the vertex before to the neighbour drawn. A work item is some
//! thousand walks, which take each step together, sorted by their vertices. So lists that are near each other
//! are read together, from memory or from pages.
//!
//! **Cited.** A. Grover, J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016; K. Yang,
//! M. Zhang, K. Chen, X. Ma, Y. Bai, Y. Jiang, *KnightKing: A Fast Distributed Graph Random Walk Engine*,
//! SOSP 2019, for drawing and refusing.
//!
//! **Cost.** O(log) for a step of a uniform walk; with `p` and `q`, as many draws as the ratio of the largest
//! of `1/p`, 1, `1/q` to the mean chance. 4 bytes for each step, 16 for each walk.

use hedgerow_core::{Topology, VertexId};
use rayon::prelude::*;

use crate::error::{check_source, checked_bound};
use crate::paths::Paths;
use crate::random::sample_of_live;
use crate::registry::prelude::*;
use crate::watch::Watch;

mod config;
mod draw;
pub mod verify;
pub mod weighted;

pub use config::WalkConfig;

use config::{PARAMETERS, read};
use draw::{Alike, Drawing, NONE, Together};

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Random walks, uniform or as node2vec has them",
    input: "any graph; weights are not looked at, repeated edges count as often as they are there",
    parameters: PARAMETERS,
    result: ResultColumn { name: "walks", kind: ResultKind::Paths },
    steps: "walks",
    cost: "O(1) per step as a rule",
    // The sources; eleven vertices and two numbers for each walk, and its length while the result is made.
    memory: Memory {
        per_thread: 256 << 10,
        provided: "one walk of ten steps from each vertex, else 4 for each step and 28 for each walk",
        ..Memory::per_id(72)
    },
    cited: "A. Grover, J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016; K. Yang et al., \
            *KnightKing: A Fast Distributed Graph Random Walk Engine*, SOSP 2019",
    ..Kernel::named("walks", "random_walks")
};

functions!(
    Outcome::Paths,
    read,
    |g, (sources, config), cancel| random_walks_until(g, sources.as_deref(), &config, cancel),
    verify::random_walks(g, sources.as_deref(), &config)
);

kernel! {
    /// Walks from each of `sources`, or from every vertex.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::OutOfRange`] for a number of walks or steps, `p` or `q`
    /// out of range; [`KernelError::OutOfMemory`] if there is no memory for all steps;
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn random_walks, random_walks_until<G: Topology>(
        g, sources: Option<&[VertexId]>, config: &WalkConfig; cancel
    ) -> Paths {
        take_walks(g, sources, config, cancel, || Alike)
    }
}

/// Takes walks whose steps `drawing` draws.
fn take_walks<G: Topology, D: Drawing<G>>(
    g: &G,
    sources: Option<&[VertexId]>,
    config: &WalkConfig,
    cancel: &Cancel,
    drawing: impl Fn() -> D + Sync + Send,
) -> Result<Paths, KernelError<G::Error>> {
    checked_bound(g.vertex_bound())?;
    config.check()?;
    cancel.check()?;
    let all = if sources.is_none() { sample_of_live(g, usize::MAX, 0) } else { Vec::new() };
    let sources = sources.unwrap_or(&all);
    sources.iter().try_for_each(|&source| check_source(g, source))?;
    let width = config.steps as usize + 1;
    let mut steps = room_for(sources.len(), config)?;
    for (walk, source) in steps.chunks_mut(width).zip(repeated(sources, config.walks)) {
        walk[0] = source.0;
    }
    let mut watch = Watch::new(cancel);
    cancel.begin((steps.len() / width) as u64);
    let refused = hedgerow_par::run(|| {
        let together = D::walks_together(steps.len() / width);
        let items = steps.par_chunks_mut(together * width).enumerate();
        hedgerow_par::map(items, |(item, steps)| {
            let meter = watch.meter()?;
            let first = (item * together) as u64;
            let walks = (steps.len() / width) as u64;
            let walked = Together::new(g, config, drawing(), steps, first, meter).walk();
            cancel.step(walks);
            walked.unwrap_or_else(|error| {
                watch.note(Err(error));
                None
            })
        })
    });
    watch.check()?;
    if let Some(first) = refused.into_iter().flatten().next() {
        return Err(first.of_any());
    }
    drop(all);
    Ok(told(steps, width))
}

/// Returns each source as often as walks begin there.
fn repeated(sources: &[VertexId], walks: u32) -> impl Iterator<Item = VertexId> {
    sources.iter().flat_map(move |&source| (0..walks).map(move |_| source))
}

/// Returns a row for each walk, without steps.
fn room_for<E>(sources: usize, config: &WalkConfig) -> Result<Vec<u32>, KernelError<E>> {
    let places = (config.steps as usize + 1).saturating_mul(config.walks as usize).saturating_mul(sources);
    let mut room = Vec::new();
    if room.try_reserve_exact(places).is_err() {
        return Err(KernelError::OutOfMemory { bytes: (places as u64).saturating_mul(4) });
    }
    room.resize(places, NONE);
    Ok(room)
}

/// Returns the walks as paths, without the free places of walks that ended early.
fn told(mut steps: Vec<u32>, width: usize) -> Paths {
    let lengths: Vec<usize> =
        steps.chunks(width).map(|walk| walk.iter().take_while(|&&v| v != NONE).count()).collect();
    steps.retain(|&v| v != NONE);
    Paths::of_steps(steps.into_iter().map(VertexId).collect(), lengths)
}
