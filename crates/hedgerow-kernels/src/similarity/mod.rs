//! Vertices that share neighbours: the common code of Jaccard's coefficient and the score of Adamic and Adar.
//!
//! **Pairs and the most similar.** Both kernels compare given pairs, or find for each source the `k` vertices
//! with the highest scores: best first, of equal scores the least vertex first. The result never has the
//! source itself, nor a vertex that shares no neighbour with it; so a source may get fewer than `k`.
//!
//! **Shared neighbours.** Vertices `u` and `v` share the vertices, other than `u` and `v`, to which both have
//! edges; with [`Direction::In`], the vertices that have edges to both. Repeated edges count once.
//!
//! **Trick.** Only vertices two hops away can score: the source's neighbours are visited, and each adds its
//! weight to the sums of all its neighbours. The sums are whole numbers (of 2^-60), so they do not depend on
//! the order in which lists are read. For Jaccard's coefficient the lists of these vertices are read, too,
//! the most promising first. No score is above the share of the source's neighbours that are shared, so lists
//! of vertices that can no longer be among the best are not read. If a directed graph stores only one
//! direction, all its lists are read once or twice instead.
//!
//! **Threads.** Two sources are processed at a time, each with sums for all ids; further threads help with
//! the lists of a source. To find the vertices that share a neighbour, each thread reads all these lists and
//! takes a range of ids from them, so no two threads add to the same sum. Pairs are divided among threads by
//! their sources; each pair is one comparison of two short lists. The targets of a source that has a long
//! list or many targets are divided too. A long list is read into a buffer that all threads share, so memory
//! does not grow with the number of threads.
//!
//! **Cost.** A pair costs the read of its two lists, and for Adamic and Adar once of the lists of the shared
//! vertices. The `k` most similar vertices cost the read of the lists of the source's neighbours and of some
//! of their neighbours. At most 92 bytes per id of the domain.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::{check_ends, check_source, checked_bound};
use crate::pairs::Pairs;

pub mod adamic_adar;
mod candidates;
pub mod jaccard;
mod measure;
mod nearest;
mod parameters;
mod short;
mod source;
pub mod verify;
mod weights;

pub use measure::Compared;

use measure::Measure;
use parameters::K;
use short::{OfSource, Pair, Short};
use source::{Comparison, Source};

/// Checks that all vertices to compare are live, and the range of `k`.
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
fn compare<G: Topology>(
    g: &G,
    compared: &Compared,
    measure: Measure,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Pairs, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    check(g, compared)?;
    cancel.check()?;
    match compared {
        Compared::Pairs(given) => pairs(&Comparison::new(g, (measure, direction), cancel, true)?, given),
        Compared::Nearest { sources, k } => {
            nearest::nearest(g, sources, *k as usize, (measure, direction), cancel)
        }
    }
}

/// The sources that are compared between two steps of progress.
const SOURCES_TOGETHER: usize = 1 << 12;

/// Returns the scores of given pairs. The pairs of one source are compared together: if lists are short,
/// threads take several sources at a time, else several targets.
fn pairs<G: Topology>(
    with: &Comparison<'_, G>,
    given: &[(VertexId, VertexId)],
) -> Result<Pairs, KernelError<G::Error>> {
    let mut order: Vec<Pair> = given.iter().enumerate().map(|(at, &(u, v))| (u, v, at)).collect();
    hedgerow_par::sort_unstable(&mut order);
    let mut scores = vec![0.0; given.len()];
    with.cancel.begin(given.len() as u64);
    let (short, mut source) = (Short { with }, Source::new(with));
    let mut sources = order.chunk_by(|a, b| a.0 == b.0).peekable();
    while sources.peek().is_some() {
        let some = sources.by_ref().take(SOURCES_TOGETHER);
        let (few, many): (Vec<OfSource<'_>>, Vec<_>) =
            some.partition(|of_source| short.takes(of_source.len()));
        let long = short.compare(&few, &mut scores)?;
        for of_source in many.iter().chain(&long) {
            compare_one(&mut source, of_source, &mut scores)?;
        }
        with.cancel.step(few.iter().chain(&many).map(|of_source| of_source.len() as u64).sum());
    }
    let mut pairs = Pairs::with_capacity(given.len());
    given.iter().zip(scores).for_each(|(&(u, v), score)| pairs.push(u, v, score));
    Ok(pairs)
}

/// Computes the scores of the pairs of one source with lists of any length.
fn compare_one<G: Topology>(
    source: &mut Source<'_, '_, G>,
    of_source: OfSource<'_>,
    scores: &mut [f64],
) -> Result<(), KernelError<G::Error>> {
    let Some(&(vertex, ..)) = of_source.first() else { return Ok(()) };
    source.choose(vertex)?;
    let mut targets: Vec<VertexId> = of_source.iter().map(|(_, target, _)| *target).collect();
    targets.dedup();
    let of_targets = source.compare_with(&targets)?;
    for (_, target, place) in of_source {
        scores[*place] = targets.binary_search(target).map_or(0.0, |at| of_targets[at]);
    }
    Ok(())
}
