//! Vertices that share neighbours: what Jaccard's coefficient and the one of Adamic and Adar have in common.
//!
//! **Pairs and the most similar.** Both kernels compare pairs that are given, or find for each source the `k` vertices with the highest scores: best first, of equal scores the
//! least vertex first. A vertex that shares no neighbour with the source is never among them, nor is the source itself, so there may be fewer.
//!
//! **Shared neighbours.** Of vertices `u` and `v` those are the vertices other than both to which both have edges; with [`Direction::In`] those that have edges
//! to both. Repeated edges count once.
//!
//! **Trick.** Only vertices two hops away can score: the source's neighbours are visited, and give what each counts for to all of their neighbours. The sums are whole
//! numbers (of 2^-60), so the order in which lists are read does not show. For Jaccard's coefficient the lists of those are
//! read too, the most promising first: no score is above the shared part of the source's neighbours, so most are never read.
//! Where a directed graph stores one direction alone, all of its lists are read once or twice instead.
//!
//! **Cost.** For a pair, its two lists, and for Adamic and Adar those of the first one's neighbours too. For the `k` most similar the lists of the source's neighbours and of some of
//! their neighbours. In the calling thread; about 60 bytes per id of the domain.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::{check_ends, check_source, checked_bound};
use crate::pairs::Pairs;

mod measure;
mod nearest;
mod parameters;
mod source;
#[cfg(test)]
mod tests;
pub(crate) mod verify;

pub use measure::Compared;
pub(crate) use measure::Measure;
pub(crate) use parameters::{K, SOURCES, TARGETS, read};

use source::Source;

/// Whether all that is compared is there.
fn check<G: Topology>(g: &G, compared: &Compared) -> Result<(), KernelError<G::Error>> {
    match compared {
        Compared::Pairs(pairs) => pairs.iter().try_for_each(|&(u, v)| check_ends(g, u, v)),
        Compared::Nearest { sources, k } => {
            K.check_count(*k)?;
            sources.iter().try_for_each(|&source| check_source(g, source))
        }
    }
}

/// Compares by a measure.
pub(crate) fn compare<G: Topology>(
    g: &G,
    compared: &Compared,
    measure: Measure,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Pairs, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    check(g, compared)?;
    cancel.check()?;
    let mut source = Source::new(g, measure, direction, cancel);
    match compared {
        Compared::Pairs(given) => pairs(&mut source, given),
        Compared::Nearest { sources, k } => {
            let (mut found, mut sums) = (Pairs::new(), vec![0; g.vertex_bound()]);
            cancel.begin(sources.len() as u64);
            for &vertex in sources {
                source.choose(vertex)?;
                nearest::add(&mut source, *k as usize, &mut sums, &mut found)?;
                cancel.step(1);
            }
            Ok(found)
        }
    }
}

/// The scores of given pairs. Those of one source are computed together.
fn pairs<G: Topology>(
    source: &mut Source<'_, G>,
    given: &[(VertexId, VertexId)],
) -> Result<Pairs, KernelError<G::Error>> {
    let mut order: Vec<usize> = (0..given.len()).collect();
    order.sort_unstable_by_key(|&at| given[at]);
    let mut scores = vec![0.0; given.len()];
    source.cancel.begin(given.len() as u64);
    for of_source in order.chunk_by(|&a, &b| given[a].0 == given[b].0) {
        source.choose(given[of_source[0]].0)?;
        let mut targets: Vec<VertexId> = of_source.iter().map(|&at| given[at].1).collect();
        targets.dedup();
        source.compare_with(&targets, |target, score| {
            let first = of_source.partition_point(|&at| given[at].1 < target);
            let same = of_source[first..].iter().take_while(|&&at| given[at].1 == target);
            same.for_each(|&at| scores[at] = score);
        })?;
        source.cancel.step(of_source.len() as u64);
    }
    let mut pairs = Pairs::with_capacity(given.len());
    given.iter().zip(scores).for_each(|(&(u, v), score)| pairs.push(u, v, score));
    Ok(pairs)
}
