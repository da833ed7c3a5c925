//! Vertices of one kind.

use std::collections::HashMap;
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{KindId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId, VertexKey};
use hedgerow_mem::view::VertexMask;
use rayon::prelude::*;

use super::kind_census::{KindCensus, OfKind};
use super::snapshot::Snapshot;

/// The number of subgraphs whose vertices are counted at a time: one page.
const TOGETHER: usize = 64;
/// The number of pages whose kinds one task reads.
const PAGES: usize = 16;

impl Snapshot {
    /// Calls `f` with each vertex of `ids` and its kind. O(vertices); reads the keys that memory does not
    /// have.
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub(super) fn for_each_kind(&self, ids: &[VertexId], mut f: impl FnMut(VertexId, KindId)) -> Result<()> {
        let engine = self.engine();
        let found = if engine.keys.learn_keys_of(&engine.pager, ids)? {
            HashMap::new()
        } else {
            engine.keys.find_keys_of(&engine.pager, ids)?
        };
        for &id in ids {
            f(id, found.get(&id).map_or_else(|| engine.keys.ids.kind_of(id), VertexKey::kind));
        }
        Ok(())
    }

    /// Returns the vertices of these kinds. `present` returns the existing vertices of a subgraph. The first
    /// call of a snapshot reads the kinds of all vertices: O(vertices), in parallel on the current rayon pool
    /// if memory has room for all keys, else page by page. Later calls are O(subgraphs).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub(crate) fn vertices_of_kinds(
        &self,
        kinds: &[KindId],
        present: impl Fn(SubgraphId) -> u64 + Sync,
    ) -> Result<Arc<VertexMask>> {
        let census = match self.kept_kinds().get() {
            Some(census) => census,
            None => {
                // Computed outside the cell, like views.
                let census = Arc::new(self.read_kinds(present)?);
                self.kept_kinds().get_or_init(|| census)
            }
        };
        Ok(Arc::new(census.mask(kinds)))
    }

    fn read_kinds(&self, present: impl Fn(SubgraphId) -> u64 + Sync) -> Result<KindCensus> {
        let engine = self.engine();
        let bound = engine.keys.ids.bound.subgraphs();
        let pages = 0..bound.div_ceil(TOGETHER as u32);
        let subgraphs = |page: u32| {
            let first = page * TOGETHER as u32;
            (first..bound.min(first + TOGETHER as u32)).map(SubgraphId)
        };
        if engine.keys.knows_all_with_room(&engine.pager) {
            let of_page = |page| {
                let mut found = Vec::with_capacity(TOGETHER);
                for id in subgraphs(page) {
                    engine
                        .keys
                        .ids
                        .kinds_of(id, present(id), |kind, of| found.push(OfKind::new(id, kind, of)));
                }
                found
            };
            let parts = hedgerow_par::map(pages.into_par_iter().with_min_len(PAGES), of_page);
            return Ok(KindCensus::new(parts, bound, engine.pager.account()));
        }
        // One thread reads the pages, since each page takes memory for its keys.
        let of_page = |page| {
            let (mut ids, mut found) = (Vec::new(), Vec::with_capacity(TOGETHER));
            for subgraph in subgraphs(page) {
                let present = present(subgraph);
                let live = locals().filter(|local| present & local.bit() != 0);
                ids.extend(live.map(|local| subgraph.vertex(local)));
            }
            self.for_each_kind(&ids, |v, kind| OfKind::add(&mut found, v, kind))?;
            Ok(found)
        };
        let parts = pages.map(of_page).collect::<Result<Vec<_>>>()?;
        Ok(KindCensus::new(parts, bound, engine.pager.account()))
    }

    /// True if kinds other than the default one were defined when the snapshot was taken. O(1).
    pub(crate) fn has_kinds(&self) -> bool {
        let schema = self.engine().catalog.schema.load();
        schema.kinds().first().is_some_and(|kind| kind.defined() <= self.timestamp())
    }
}

/// Returns the places of a subgraph.
fn locals() -> impl Iterator<Item = LocalVertex> {
    (0..SUBGRAPH_VERTICES as u8).map(LocalVertex)
}
