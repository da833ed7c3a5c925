//! Chunks of the edges of several labels, or of a part of a label's: lists that are shared where they are those of one
//! label as they are, else merged into new ones.
//!
//! Edges are kept one by one: a vertex that edges of two labels lead to stands twice in the list, as it does for the parallel
//! edges of one `multi` label.

use std::sync::Arc;

use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId};
use smallvec::SmallVec;

use super::{CHUNK_SUBGRAPHS, Chunk};
use crate::arena::{Arena, Counted};
use crate::table::SubgraphPage;
use crate::version::Version;

mod gather;
mod take;

use gather::{Gathered, Gatherer};
use take::Part;
pub use take::{ComposeError, EdgeWeight, Source, Take, Test};

/// What composes the chunks of one thread.
pub struct Composer<'a> {
    t: Timestamp,
    weighted: bool,
    arena: &'a Arena,
    gatherer: Gatherer,
    gathered: Vec<Gathered>,
    lists: Vec<VertexId>,
    weights: Vec<f64>,
    pairs: Vec<(VertexId, f64)>,
}

impl<'a> Composer<'a> {
    /// For views at the timestamp `t`, which must be registered, whose own lists lie in `arena`.
    pub fn new(t: Timestamp, weighted: bool, arena: &'a Arena) -> Composer<'a> {
        Composer {
            t,
            weighted,
            arena,
            gatherer: Gatherer::new(t, weighted),
            gathered: Vec::new(),
            lists: Vec::new(),
            weights: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// Fills an empty chunk, whose first subgraph is `first`: with the vertices that `existence` says exist, where it is given, and
    /// the edges of the sources. O(edges of the sources), and O(64) where all of a subgraph are of one source that is taken as it
    /// is.
    ///
    /// # Errors
    /// [`ComposeError`]; the chunk is of no use then.
    pub fn fill(
        &mut self,
        chunk: &mut Arc<Chunk>,
        first: SubgraphId,
        sources: &[Source<'_>],
        existence: Option<&SubgraphPage>,
    ) -> Result<(), ComposeError> {
        let chunk = Arc::make_mut(chunk);
        if self.weighted && chunk.weights.is_empty() {
            chunk.weights = vec![Counted::default(); CHUNK_SUBGRAPHS];
        }
        for i in 0..CHUNK_SUBGRAPHS {
            let mut versions: SmallVec<[(usize, Arc<Version>); 4]> = SmallVec::new();
            for (at, source) in sources.iter().enumerate() {
                let Some(subgraph) = source.lists.get(i) else { continue };
                let version = subgraph.version(source.direction, self.t)?;
                versions.extend(version.filter(|v| v.at(self.t).edge_entries() > 0).map(|v| (at, v)));
            }
            self.subgraph(chunk, i, SubgraphId(first.0 + i as u32), sources, &versions)?;
            let present = |subgraph: &crate::Subgraph| subgraph.read(Direction::Out, self.t, |r| r.present());
            let existing = existence.and_then(|page| page.get(i)).map_or(Ok(None), present)?;
            chunk.set_present(i, existing.unwrap_or(0));
        }
        Ok(())
    }

    fn subgraph(
        &mut self,
        chunk: &mut Chunk,
        i: usize,
        id: SubgraphId,
        sources: &[Source<'_>],
        versions: &[(usize, Arc<Version>)],
    ) -> Result<(), ComposeError> {
        if let [(at, version)] = versions
            && sources[*at].take.is_all()
            && !(self.weighted && matches!(sources[*at].take.weight, EdgeWeight::Property(..)))
        {
            let before = chunk.lists[i].edges;
            chunk.read_lists(i, version.at(self.t), &mut self.gatherer.scratch);
            chunk.edges = chunk.edges + chunk.lists[i].edges - before;
            return Ok(());
        }
        let mut gathered = std::mem::take(&mut self.gathered);
        gathered.resize_with(versions.len().max(gathered.len()), Gathered::default);
        let mut outcome = Ok(());
        for ((at, version), gathered) in versions.iter().zip(&mut gathered) {
            outcome =
                outcome.and_then(|()| self.gatherer.gather(id, *at, &sources[*at].take, version, gathered));
        }
        let parts = versions.iter().zip(&gathered).map(|((_, version), gathered)| gathered.part(version));
        let parts: SmallVec<[Part<'_>; 4]> =
            parts.filter(|part| part.offsets[SUBGRAPH_VERTICES] > 0).collect();
        let shared = versions.iter().zip(&gathered).find(|(_, gathered)| gathered.len() > 0);
        let shared = shared.filter(|_| parts.len() == 1).and_then(|((_, v), g)| g.shared(v));
        let outcome = outcome.and_then(|()| match shared {
            Some(main) => {
                let weights = self.weighted.then(|| self.arena.copy(parts[0].weights));
                chunk.set(i, *parts[0].offsets, main, weights);
                Ok(())
            }
            None if parts.is_empty() => Ok(()),
            None => self.merge(chunk, i, &parts),
        });
        drop(parts);
        self.gathered = gathered;
        outcome
    }

    /// Sets the lists of a subgraph to those of some sources, merged.
    fn merge(&mut self, chunk: &mut Chunk, i: usize, parts: &[Part<'_>]) -> Result<(), ComposeError> {
        let total: u64 = parts.iter().map(|part| u64::from(part.offsets[SUBGRAPH_VERTICES])).sum();
        let total = u32::try_from(total).map_err(|_| ComposeError::TooManyEdges)? as usize;
        self.lists.clear();
        self.weights.clear();
        self.lists.reserve(total);
        let mut offsets = [0; SUBGRAPH_VERTICES + 1];
        for local in 0..SUBGRAPH_VERTICES {
            if self.weighted {
                self.merge_weighted(parts, local);
            } else {
                merge_plain(parts, local, &mut self.lists);
            }
            offsets[local + 1] = self.lists.len() as u32;
        }
        let weights = self.weighted.then(|| self.arena.copy(&self.weights));
        chunk.set(i, offsets, self.arena.copy(&self.lists), weights);
        Ok(())
    }

    fn merge_weighted(&mut self, parts: &[Part<'_>], local: usize) {
        self.pairs.clear();
        for part in parts {
            let (list, weights) = part.of(local);
            let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
            self.pairs.extend(list.iter().copied().zip(weights));
        }
        // Stable, and quick with runs that ascend: those of the sources.
        if parts.len() > 1 {
            self.pairs.sort_by_key(|pair| pair.0);
        }
        self.lists.extend(self.pairs.iter().map(|pair| pair.0));
        self.weights.extend(self.pairs.iter().map(|pair| pair.1));
    }
}

/// Adds the neighbours of a vertex in all parts, ascending.
fn merge_plain(parts: &[Part<'_>], local: usize, lists: &mut Vec<VertexId>) {
    match parts {
        [one] => lists.extend_from_slice(one.of(local).0),
        [one, other] => merge_two(one.of(local).0, other.of(local).0, lists),
        _ => {
            let from = lists.len();
            parts.iter().for_each(|part| lists.extend_from_slice(part.of(local).0));
            lists[from..].sort();
        }
    }
}

/// Adds two ascending lists, merged. Which of them comes next is no branch, for it cannot be predicted.
fn merge_two(a: &[VertexId], b: &[VertexId], lists: &mut Vec<VertexId>) {
    let (mut i, mut j) = (0, 0);
    lists.reserve(a.len() + b.len());
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        let first = x <= y;
        lists.push(if first { x } else { y });
        i += usize::from(first);
        j += usize::from(!first);
    }
    lists.extend_from_slice(&a[i..]);
    lists.extend_from_slice(&b[j..]);
}

impl Chunk {
    /// Says which vertices of a subgraph exist.
    fn set_present(&mut self, i: usize, present: u64) {
        let before = std::mem::replace(&mut self.lists[i].present, present);
        self.vertices = self.vertices + present.count_ones() as usize - before.count_ones() as usize;
    }

    /// The vertices that exist in a chunk of the same subgraphs exist here too. O(64), and a copy of a chunk that is shared.
    pub fn take_existence(chunk: &mut Arc<Chunk>, of: &Chunk) {
        if of.vertices > 0 {
            let chunk = Arc::make_mut(chunk);
            (0..CHUNK_SUBGRAPHS).for_each(|i| chunk.set_present(i, of.lists[i].present));
        }
    }

    /// How many vertices exist, how many entries the lists have, and how many of them name their own vertex. O(64), and where
    /// `loops` are asked for O(vertices log degree).
    pub fn counts(&self, first: SubgraphId, loops: bool) -> (usize, u64, u64) {
        let mut found = 0;
        for i in (0..CHUNK_SUBGRAPHS).filter(|&i| loops && self.lists[i].edges > 0) {
            let id = SubgraphId(first.0 + i as u32);
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                let neighbors = self.block(i).neighbors(local);
                let of = |list: &[VertexId]| {
                    let from = list.partition_point(|&u| u < id.vertex(local));
                    list[from..].partition_point(|&u| u == id.vertex(local))
                };
                found += of(neighbors.main) + of(neighbors.added) - of(neighbors.removed);
            }
        }
        (self.vertices, self.edges, found as u64)
    }
}

impl Composer<'_> {
    /// Fills an empty chunk, whose first subgraph is `first`, with the edges of two others in both directions: those of `one`, and
    /// those of `other` that are no self-loops, which `one` has too. The vertices are those of `one`. O(edges).
    ///
    /// # Errors
    /// [`ComposeError::TooManyEdges`].
    pub fn join(
        &mut self,
        chunk: &mut Arc<Chunk>,
        first: SubgraphId,
        one: &Chunk,
        other: Option<&Chunk>,
    ) -> Result<(), ComposeError> {
        let chunk = Arc::make_mut(chunk);
        if self.weighted && chunk.weights.is_empty() {
            chunk.weights = vec![Counted::default(); CHUNK_SUBGRAPHS];
        }
        let mut gathered = std::mem::take(&mut self.gathered);
        gathered.resize_with(gathered.len().max(2), Gathered::default);
        let mut outcome = Ok(());
        for i in 0..CHUNK_SUBGRAPHS {
            chunk.set_present(i, one.lists[i].present);
            let id = SubgraphId(first.0 + i as u32);
            gathered[0].resolve(one, i, self.weighted, |_, _| true);
            gathered[1].resolve(other.unwrap_or(one), i, self.weighted, |local, v| {
                other.is_some() && v != id.vertex(local)
            });
            let parts: SmallVec<[Part<'_>; 2]> =
                gathered[..2].iter().filter(|g| g.len() > 0).map(Gathered::own_part).collect();
            if !parts.is_empty() && outcome.is_ok() {
                outcome = self.merge(chunk, i, &parts);
            }
        }
        self.gathered = gathered;
        outcome
    }
}
