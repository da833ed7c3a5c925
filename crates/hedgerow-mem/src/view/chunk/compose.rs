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
use crate::view::corrections::{Beside, Corrections, Masks};

mod gather;
mod take;

use gather::{Gathered, Gatherer};
use take::Part;
pub use take::{ComposeError, EdgeWeight, Source, Take, Test};

/// Where lists begin, the lists, and their weights.
type Merged = ([u32; SUBGRAPH_VERTICES + 1], Counted<VertexId>, Option<Counted<f64>>);

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
    /// How many entries of the chunks that were filled name their own vertex, if that is counted.
    loops: Option<u64>,
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
            loops: None,
        }
    }

    /// Counts self-loops.
    pub fn counting_loops(self) -> Composer<'a> {
        Composer { loops: Some(0), ..self }
    }

    /// How many entries of the chunks that were filled name their own vertex, where that is counted.
    pub fn loops(&self) -> u64 {
        self.loops.unwrap_or(0)
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
            if let Some(loops) = &mut self.loops {
                *loops += chunk.loops(i, SubgraphId(first.0 + i as u32));
            }
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
        let found = versions.iter().zip(&gathered).filter(|(_, gathered)| gathered.len() > 0);
        let mut found: SmallVec<[(&Version, &Gathered); 4]> = found.map(|((_, v), g)| (&**v, g)).collect();
        // The longest list that can be shared comes first.
        let longest =
            (0..found.len()).filter(|&at| found[at].1.is_whole()).max_by_key(|&at| found[at].1.len());
        if let Some(longest) = longest {
            found.swap(0, longest);
        }
        let parts: SmallVec<[Part<'_>; 4]> = found.iter().map(|(version, g)| g.part(version)).collect();
        let shared = |at: usize| found.get(at).and_then(|(version, gathered)| gathered.shared(version));
        let outcome = outcome.and_then(|()| match (shared(0), &parts[..]) {
            (_, []) => Ok(()),
            (Some(main), [part]) => {
                let weights = self.weighted.then(|| self.arena.copy(part.weights));
                chunk.set(i, *part.offsets, main, weights);
                Ok(())
            }
            // Beside one another rather than merged: kernels read two runs, and building costs less than half.
            (main, [part, rest @ ..]) if !self.weighted && !rest.is_empty() => {
                let main = main.unwrap_or_else(|| self.arena.copy(part.lists));
                let beside = match (shared(1), rest) {
                    (Some(lists), [part]) => Beside::new(*part.offsets, lists),
                    _ => {
                        let (offsets, lists, _) = self.merged(rest)?;
                        Beside::new(offsets, lists)
                    }
                };
                chunk.set(i, *part.offsets, main, None);
                chunk.set_beside(i, beside);
                Ok(())
            }
            _ => self.merge(chunk, i, &parts),
        });
        drop((parts, found));
        self.gathered = gathered;
        outcome
    }

    /// Sets the lists of a subgraph to those of some sources, merged.
    fn merge(&mut self, chunk: &mut Chunk, i: usize, parts: &[Part<'_>]) -> Result<(), ComposeError> {
        let (offsets, lists, weights) = self.merged(parts)?;
        chunk.set(i, offsets, lists, weights);
        Ok(())
    }

    /// The lists of some sources, merged.
    fn merged(&mut self, parts: &[Part<'_>]) -> Result<Merged, ComposeError> {
        if let [part] = parts {
            let weights = self.weighted.then(|| self.arena.copy(part.weights));
            return Ok((*part.offsets, self.arena.copy(part.lists), weights));
        }
        let total: u64 = parts.iter().map(|part| u64::from(part.offsets[SUBGRAPH_VERTICES])).sum();
        let total = u32::try_from(total).map_err(|_| ComposeError::TooManyEdges)? as usize;
        self.weights.clear();
        if self.weighted {
            self.lists.clear();
        } else if self.lists.len() < total {
            self.lists.resize(total, VertexId(0));
        }
        let (mut offsets, mut len) = ([0; SUBGRAPH_VERTICES + 1], 0);
        for local in 0..SUBGRAPH_VERTICES {
            if self.weighted {
                self.merge_weighted(parts, local);
                len = self.lists.len();
            } else {
                len += merge_plain(parts, local, &mut self.lists[len..]);
            }
            offsets[local + 1] = len as u32;
        }
        let weights = self.weighted.then(|| self.arena.copy(&self.weights));
        Ok((offsets, self.arena.copy(&self.lists[..len]), weights))
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

/// Writes the neighbours of a vertex in all parts, ascending, to the beginning of `lists`. Returns how many there are.
#[inline]
fn merge_plain(parts: &[Part<'_>], local: usize, lists: &mut [VertexId]) -> usize {
    match parts {
        [one, other] => merge_two(one.of(local).0, other.of(local).0, lists),
        _ => {
            let mut len = 0;
            for part in parts {
                let (list, _) = part.of(local);
                lists[len..len + list.len()].copy_from_slice(list);
                len += list.len();
            }
            if parts.len() > 1 {
                lists[..len].sort();
            }
            len
        }
    }
}

/// As [`merge_plain`], of two lists. Which of them comes next is no branch, for it cannot be predicted.
#[inline]
fn merge_two(a: &[VertexId], b: &[VertexId], lists: &mut [VertexId]) -> usize {
    let len = a.len() + b.len();
    let lists = &mut lists[..len];
    let (mut i, mut j) = (0, 0);
    for place in &mut *lists {
        let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) else { break };
        let first = x <= y;
        *place = if first { x } else { y };
        i += usize::from(first);
        j += usize::from(!first);
    }
    let rest = if i < a.len() { &a[i..] } else { &b[j..] };
    lists[i + j..].copy_from_slice(rest);
    len
}

impl Chunk {
    /// Adds lists beside those of a subgraph that has no corrections.
    fn set_beside(&mut self, i: usize, beside: Beside) {
        let lists = &mut self.lists[i];
        lists.masks = Masks { touched: beside.mask(), reduced: 0 };
        lists.edges += beside.len() as u64;
        self.edges += beside.len() as u64;
        lists.corrections = Corrections::Beside(Arc::new(beside));
    }

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

    /// How many vertices exist, and how many entries the lists have.
    pub(in crate::view) fn counts(&self) -> (usize, u64) {
        (self.vertices, self.edges)
    }

    /// How many entries of a subgraph name their own vertex. O(vertices log degree).
    fn loops(&self, i: usize, id: SubgraphId) -> u64 {
        if self.lists[i].edges == 0 {
            return 0;
        }
        let of_list = |list: &[VertexId], v| {
            let from = list.partition_point(|&u| u < v);
            list[from..].partition_point(|&u| u == v)
        };
        let of = |local: LocalVertex| {
            let (neighbors, v) = (self.block(i).neighbors(local), id.vertex(local));
            of_list(neighbors.main, v) + of_list(neighbors.added, v) - of_list(neighbors.removed, v)
        };
        (0..SUBGRAPH_VERTICES as u8).map(|local| of(LocalVertex(local)) as u64).sum()
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
            if let Some(loops) = &mut self.loops {
                *loops += chunk.loops(i, id);
            }
        }
        self.gathered = gathered;
        outcome
    }
}
