//! Checks in one call whether each of many edges exists.
//!
//! A look-up waits for several cache misses, one after another. Here the misses of several edges overlap:
//! while one edge is looked up, the memory that later look-ups read is prefetched. The look-ups read the
//! lists of the view ([`for_each_contained`]) or, for a few edges, the chains of versions.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, VertexId, VertexKeyRef, for_each_contained};
use hedgerow_mem::Subgraph;
use hedgerow_pager::ids::IdMap;
use hedgerow_pager::pager::pages::Wanted;
use rayon::prelude::*;

use crate::read::many::{PART, Source};
use crate::read::selection_ref::{ChosenLists, EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenEdges, EdgeDirection};

/// Source and destination, if both keys name vertices.
type Ends = Option<(VertexId, VertexId)>;

/// The number of edges whose keys are looked up together.
const TOGETHER: usize = 8;
/// The number of edges by which each step of a look-up is ahead of the next step. The steps prefetch the
/// header of a subgraph, its head version, and the list that is searched.
const STEP: usize = 8;

impl Snapshot {
    /// Returns for each pair of vertices, in order, if an edge of the selection leads from the first to the
    /// second, like a loop over [`contains_edge`](Self::contains_edge). A pair with a key that names no
    /// vertex has no edge, which is no error. A selection of direction `In` asks for edges from the second to
    /// the first, and one of direction `Both` for either. Runs in parallel on the current rayon pool if there
    /// are many edges. O(edges log degree) for each label, and once O(subgraphs) when all calls together have
    /// asked for as many keys as there are subgraphs.
    ///
    /// ```
    /// use hedgerow::{Direction, Graph};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 3), (1, 2), (3, 1)])?;
    /// let snapshot = graph.snapshot()?;
    /// assert_eq!(snapshot.contains_edges(&[(1u64, 2u64), (2, 1), (3, 8)], Direction::Out)?, [true, false, false]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::EndOfKind`](crate::ArgumentError::EndOfKind) for a key of another kind than the label
    /// states, if all edges of one label are chosen; the errors of [`view`](Self::view).
    pub fn contains_edges<'a, 's, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        pairs: &[(K, K)],
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Vec<bool>> {
        let turned = |pairs: &[(K, K)]| pairs.iter().map(|&(src, dst)| (dst, src)).collect::<Vec<_>>();
        let (labels, direction) = match self.lists(edges.into())? {
            Lists::OfLabel(label, direction) => (vec![label], direction),
            Lists::OfAll(direction) => (self.label_ids().collect(), direction),
            Lists::Chosen(chosen) => return self.contains_chosen(&chosen, pairs),
        };
        let catalog = &self.engine().catalog;
        let stated = match labels[..] {
            [label] => catalog.schema.load().label_by_id(label).and_then(|label| label.ends()).map(|_| label),
            _ => None,
        };
        match direction {
            Direction::In if catalog.config.directed => self.contains_over(labels, stated, &turned(pairs)),
            _ => self.contains_over(labels, stated, pairs),
        }
    }

    /// Looks for edges that a selection chooses by ranks, properties or in both directions.
    fn contains_chosen<'a, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        chosen: &ChosenLists<'_>,
        pairs: &[(K, K)],
    ) -> Result<Vec<bool>> {
        let (ChosenLists { selection, edges }, schema) = (chosen, self.schema_seen());
        let named = selection.named(&schema)?;
        let (along, against) = match edges.direction {
            EdgeDirection::Out => (true, false),
            EdgeDirection::In => (false, true),
            EdgeDirection::Both => (true, true),
        };
        let catalog = &self.engine().catalog;
        let end = |key: K, direction: EdgeDirection| match &named {
            Some(labels) => catalog.end_of_all(&schema, labels.iter().copied(), key.into(), direction),
            None => Ok(key.into()),
        };
        let contains = |&(a, b): &(K, K)| {
            let leads = |src: K, dst: K| match self
                .ends(end(src, EdgeDirection::Out)?, end(dst, EdgeDirection::In)?)?
            {
                Some((src, dst)) => self.has_chosen_edge(edges, src, dst),
                None => Ok(false),
            };
            Ok((along && leads(a, b)?) || (against && leads(b, a)?))
        };
        if pairs.len() <= PART {
            return pairs.iter().map(contains).collect();
        }
        let parts = hedgerow_par::map(pairs.par_chunks(PART), |part| {
            part.iter().map(contains).collect::<Result<Vec<bool>>>()
        });
        Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// True if there is a chosen edge between the vertices. In an undirected graph `src` is the smaller one.
    fn has_chosen_edge(&self, chosen: &ChosenEdges, src: VertexId, dst: VertexId) -> Result<bool> {
        for label in &chosen.labels {
            let wanted = Wanted::edge(label.label, src, Direction::Out, dst).with_rows();
            let found = self.read_of(wanted, |read| {
                let mut found = false;
                read.for_each_item_to(src.local(), dst, |item| {
                    found |= label.has_rank(item.rank) && label.passes(&item);
                });
                found
            })?;
            if found == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Looks for edges in `labels`. `stated` is the label if it states the kinds of its ends.
    fn contains_over<'a, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        labels: Vec<LabelId>,
        stated: Option<LabelId>,
        edges: &[(K, K)],
    ) -> Result<Vec<bool>> {
        let sources = self.sources(labels, edges.len(), Direction::Out)?;
        let part = |(edges, found): (&[(K, K)], &mut [bool])| {
            let ends = self.look_up_ends(stated, edges)?;
            sources.iter().try_for_each(|source| match source {
                Source::View(view) => {
                    for_each_contained(&**view, &ends, self.hint(), |i| found[i] = true);
                    Ok(())
                }
                Source::Chains(label) => self.contains_in_chains(*label, &ends, found),
            })
        };
        let mut found = vec![false; edges.len()];
        if edges.len() <= PART {
            part((edges, &mut found))?;
        } else {
            let parts = edges.par_chunks(PART).zip(found.par_chunks_mut(PART));
            hedgerow_par::try_for_each(parts, part)?;
        }
        Ok(found)
    }

    /// Looks up the vertices of each edge.
    fn look_up_ends<'a, K: Into<VertexKeyRef<'a>> + Copy>(
        &self,
        stated: Option<LabelId>,
        edges: &[(K, K)],
    ) -> Result<Vec<Ends>> {
        let (engine, t) = (self.engine(), self.timestamp());
        let both = |[src, dst]: [Option<VertexId>; 2]| src.zip(dst);
        if engine.keys.ids.is_dense() {
            let ends =
                |&(src, dst): &(K, K)| both([IdMap::dense_id(src.into()), IdMap::dense_id(dst.into())]);
            return Ok(edges.iter().map(ends).collect());
        }
        let mut found = Vec::with_capacity(edges.len());
        let (together, rest) = edges.as_chunks::<TOGETHER>();
        for edges in together {
            let mut keys = [VertexKeyRef::U64(0); 2 * TOGETHER];
            for (keys, &(src, dst)) in keys.as_chunks_mut().0.iter_mut().zip(edges) {
                let (src, dst) = self.engine().catalog.ends_of(stated, src.into(), dst.into())?;
                *keys = [src, dst];
            }
            found.extend(
                engine
                    .keys
                    .vertices_to_read(&engine.pager, keys, t, |_, _, _| ())?
                    .as_chunks()
                    .0
                    .iter()
                    .copied()
                    .map(both),
            );
        }
        for &(src, dst) in rest {
            let (src, dst) = self.engine().catalog.ends_of(stated, src.into(), dst.into())?;
            found.push(both(engine.keys.vertices_to_read(&engine.pager, [src, dst], t, |_, _, _| ())?));
        }
        Ok(found)
    }

    fn contains_in_chains(&self, label: LabelId, ends: &[Ends], found: &mut [bool]) -> Result<()> {
        let Some(table) = self.engine().pager.table(label) else { return Ok(()) };
        let (hint, out) = (self.hint(), Direction::Out);
        let at = |i: usize, steps: usize| ends.get(i.wrapping_sub(steps * STEP)).copied().flatten();
        for i in 0..ends.len() + 3 * STEP {
            let hold = table.hold();
            let subgraph = |id: VertexId| table.get(id.subgraph(), &hold);
            if let Some((src, _)) = at(i, 0) {
                subgraph(src).into_iter().for_each(Subgraph::prefetch_header);
            }
            if let Some((src, _)) = at(i, 1) {
                subgraph(src).into_iter().for_each(|s| s.prefetch_head(out, src.local()));
            }
            if let Some((src, dst)) = at(i, 2) {
                subgraph(src).into_iter().for_each(|s| s.prefetch_look(out, src.local(), dst, hint));
            }
            drop(hold);
            if let Some((src, dst)) = at(i, 3)
                && self.has_edge_with_rank(label, src, dst, |_| true)?
            {
                found[i - 3 * STEP] = true;
            }
        }
        Ok(())
    }
}
