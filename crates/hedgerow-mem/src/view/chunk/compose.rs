//! Chunks of the edges of several labels, or of some edges of a label. Unchanged lists of one label are
//! shared, others are merged into new lists.
//!
//! Parallel edges are separate entries: if edges of two labels lead to a vertex, the list has it twice, as
//! with edges of one `multi` label.

use std::sync::Arc;

use hedgerow_core::{SubgraphId, Timestamp, VertexId};
use smallvec::SmallVec;

use super::{CHUNK_SUBGRAPHS, Chunk};
use crate::arena::{Arena, Counted};
use crate::table::SubgraphPage;
use crate::version::Version;
use crate::view::corrections::Beside;

mod ahead;
mod changes;
mod counts;
mod gather;
mod join;
mod merge;
mod take;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use ahead::Chosen;
use changes::Added;
use gather::{Gathered, Gatherer};
use merge::Merger;
use take::Part;
pub use take::{ComposeError, EdgeWeight, Source, Take};

/// The composer of the chunks of one thread.
pub struct Composer<'a> {
    t: Timestamp,
    weighted: bool,
    arena: &'a Arena,
    gatherer: Gatherer,
    versions: Vec<Chosen>,
    gathered: Vec<Gathered>,
    merger: Merger,
    /// The merger of edges that deltas add.
    added: Merger,
    /// The number of entries in the filled chunks that name their own vertex, if the composer counts them.
    loops: Option<u64>,
}

impl<'a> Composer<'a> {
    /// Makes a composer for views at the timestamp `t`, which must be registered. New lists are allocated in
    /// `arena`.
    pub fn new(t: Timestamp, weighted: bool, arena: &'a Arena) -> Composer<'a> {
        Composer {
            t,
            weighted,
            arena,
            gatherer: Gatherer::new(t, weighted),
            versions: Vec::new(),
            gathered: Vec::new(),
            merger: Merger::new(weighted),
            added: Merger::new(weighted),
            loops: None,
        }
    }

    /// Makes the composer count self-loops.
    pub fn counting_loops(self) -> Composer<'a> {
        Composer { loops: Some(0), ..self }
    }

    /// Returns the number of entries in the filled chunks that name their own vertex; 0 if the composer does
    /// not count them.
    pub fn loops(&self) -> u64 {
        self.loops.unwrap_or(0)
    }

    /// Fills an empty chunk, whose first subgraph is `first`, with the edges of the sources. With
    /// `existence`, also sets the vertices that exist in it. O(edges of the sources), and O(64) for a
    /// subgraph if all its edges are of one source that is taken whole.
    ///
    /// # Errors
    /// [`ComposeError`]; then the chunk is incomplete.
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
        let mut versions = std::mem::take(&mut self.versions);
        let mut outcome = ahead::find_versions(chunk, sources, existence, self.t, &mut versions);
        let mut at = 0;
        while outcome.is_ok()
            && let Some(&(i, ..)) = versions.get(at)
        {
            let of_subgraph = versions[at..].iter().take_while(|version| version.0 == i).count();
            (at..at + of_subgraph).for_each(|at| ahead::prefetch(&versions, at, sources));
            let id = SubgraphId(first.0 + i as u32);
            outcome = self.subgraph(chunk, i, id, sources, &versions[at..at + of_subgraph]);
            at += of_subgraph;
            if let Some(loops) = &mut self.loops {
                *loops += chunk.loops(i, id);
            }
        }
        versions.clear();
        self.versions = versions;
        outcome
    }

    fn subgraph(
        &mut self,
        chunk: &mut Chunk,
        i: usize,
        id: SubgraphId,
        sources: &[Source<'_>],
        versions: &[Chosen],
    ) -> Result<(), ComposeError> {
        if let [(_, at, version)] = versions
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
        let gather = |((_, at, version), gathered): (&Chosen, &mut Gathered)| {
            self.gatherer.gather(id, *at, &sources[*at].take, version, gathered)
        };
        let outcome = versions.iter().zip(&mut gathered).try_for_each(gather);
        let outcome = outcome.and_then(|()| {
            let found = versions.iter().zip(&gathered);
            let mut lists: SmallVec<[Lists<'_>; 4]> = found.map(|((.., v), g)| Lists::of(g, v)).collect();
            lists.retain(|lists| lists.part.len() > 0);
            if self.weighted {
                return self.set_weighted(chunk, i, &lists);
            }
            let added = gathered[..versions.len()].iter().filter(|g| !g.added.is_empty());
            let added: SmallVec<[&Added; 4]> = added.map(|g| &g.added).collect();
            self.set_apart(chunk, i, lists, &added)
        });
        self.gathered = gathered;
        outcome
    }

    /// Sets the lists of a subgraph with weights to merged lists.
    fn set_weighted(&mut self, chunk: &mut Chunk, i: usize, lists: &[Lists<'_>]) -> Result<(), ComposeError> {
        match lists {
            [] => Ok(()),
            [Lists { part, shared: Some(main) }] => {
                chunk.set(i, *part.offsets, (*main).clone(), Some(self.arena.copy(part.weights)));
                Ok(())
            }
            _ => {
                let parts: SmallVec<[Part<'_>; 4]> = lists.iter().map(|lists| lists.part).collect();
                self.set_merged(chunk, i, &parts)
            }
        }
    }

    /// Sets the lists of a subgraph to the merged lists of some sources.
    fn set_merged(&mut self, chunk: &mut Chunk, i: usize, parts: &[Part<'_>]) -> Result<(), ComposeError> {
        let Part { offsets, lists, weights } = self.merger.merge(parts)?;
        let weights = self.weighted.then(|| self.arena.copy(weights));
        chunk.set(i, *offsets, self.arena.copy(lists), weights);
        Ok(())
    }

    /// Sets the lists of a subgraph to the longest ones that can be shared. The other lists and the additions
    /// of deltas become corrections, so that kernels read two runs. This costs less than half of a merge of
    /// all lists.
    fn set_apart(
        &mut self,
        chunk: &mut Chunk,
        i: usize,
        mut lists: SmallVec<[Lists<'_>; 4]>,
        added: &[&Added],
    ) -> Result<(), ComposeError> {
        let shared = |at: &usize| lists[*at].shared.is_some();
        if let Some(longest) = (0..lists.len()).filter(shared).max_by_key(|&at| lists[at].part.len()) {
            lists.swap(0, longest);
        }
        let added_parts: SmallVec<[Part<'_>; 4]> = added.iter().map(|added| added.part()).collect();
        let Some((first, rest)) = lists.split_first() else {
            return if added.is_empty() { Ok(()) } else { self.set_merged(chunk, i, &added_parts) };
        };
        chunk.set(i, *first.part.offsets, first.counted(self.arena), None);
        let beside = match (rest, added) {
            ([], []) => return Ok(()),
            ([], [added]) if chunk.set_few(i, added.entries(), &mut self.gatherer.scratch.few) => {
                return Ok(());
            }
            ([lists], []) => Beside::new(*lists.part.offsets, lists.counted(self.arena)),
            _ => {
                let mut parts: SmallVec<[Part<'_>; 4]> = rest.iter().map(|lists| lists.part).collect();
                if !added.is_empty() {
                    // Merges the additions among themselves first, because they are few.
                    parts.push(self.added.merge(&added_parts)?);
                }
                let merged = self.merger.merge(&parts)?;
                Beside::new(*merged.offsets, self.arena.copy(merged.lists))
            }
        };
        chunk.set_beside(i, beside);
        Ok(())
    }
}

/// The lists of a source, without additions.
struct Lists<'a> {
    part: Part<'a>,
    /// The array of the lists, if they are a main part's.
    shared: Option<&'a Counted<VertexId>>,
}

impl<'a> Lists<'a> {
    fn of(gathered: &'a Gathered, version: &'a Version) -> Lists<'a> {
        Lists { part: gathered.part(version), shared: gathered.shared(version) }
    }

    fn counted(&self, arena: &Arena) -> Counted<VertexId> {
        self.shared.cloned().unwrap_or_else(|| arena.copy(self.part.lists))
    }
}
