//! Checks in one call whether each of many edges exists.
//!
//! A look-up waits for several cache misses, one after another. Here the misses of several edges overlap:
//! while one edge is looked up, the memory that later look-ups read is prefetched. The look-ups read the
//! lists of the view ([`for_each_contained`]) or, for a few edges, the chains of versions.

use hedgerow_catalog::error::Result;
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{Direction, LabelId, VertexId, VertexKeyRef, for_each_contained};
use hedgerow_mem::Subgraph;
use hedgerow_pager::ids::IdMap;
use rayon::prelude::*;

use crate::read::many::{PART, Source};
use crate::read::snapshot::Snapshot;

/// Source and destination, if both keys name vertices.
type Ends = Option<(VertexId, VertexId)>;

/// The number of edges whose keys are looked up together.
const TOGETHER: usize = 8;
/// The number of edges by which each step of a look-up is ahead of the next step. The steps prefetch the
/// header of a subgraph, its head version, and the list that is searched.
const STEP: usize = 8;

impl Snapshot {
    /// Returns for each edge, in order, if the label has it with any rank: like a loop over
    /// [`contains_any_edge`](Self::contains_any_edge) with this label. An edge with a key that names no
    /// vertex does not exist, which is no error. Runs in parallel on the current rayon pool if there are many
    /// edges. O(edges log degree), and once O(subgraphs) when all calls together have asked for as many keys
    /// as there are subgraphs.
    ///
    /// ```
    /// use hedgerow::Graph;
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 3), (1, 2), (3, 1)])?;
    /// let snapshot = graph.snapshot()?;
    /// assert_eq!(snapshot.contains_edges_of("", &[(1u64, 2u64), (2, 1), (3, 8)])?, [true, false, false]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel);
    /// [`ArgumentError::EndOfKind`](crate::ArgumentError::EndOfKind) for a key of another kind than the label
    /// states; [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn contains_edges_of<'a, 'l, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        label: impl Into<LabelRef<'l>>,
        edges: &[(K, K)],
    ) -> Result<Vec<bool>> {
        let label = self.label(label.into())?;
        let states_ends = self
            .engine()
            .catalog
            .schema
            .load()
            .label_by_id(label)
            .is_some_and(|label| label.ends().is_some());
        self.contains_over(vec![label], states_ends.then_some(label), edges)
    }

    /// Looks for edges of any label, otherwise like [`contains_edges_of`](Self::contains_edges_of). Costs as
    /// much for each label.
    ///
    /// # Errors
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn contains_edges_of_all<'a, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        edges: &[(K, K)],
    ) -> Result<Vec<bool>> {
        self.contains_over(self.label_ids().collect(), None, edges)
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
