//! A pass over every list of a label, page by page. It reads a list from a version if memory has one, else
//! from an image (rule E6 of `docs/design/cold-reads.md`). It drops each image after use, and puts no data
//! into the store's tables.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{Direction, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::{ItemRef, SubgraphTable, Version};
use hedgerow_pager::page_of;
use hedgerow_pager::pager::census::Census;
use hedgerow_pager::pager::pages::{Expected, StoredLists};

use crate::state::store::Core;

/// An item of a vertex's list.
pub(super) enum Met<'a> {
    /// An edge.
    Edge(ItemRef<'a>),
    /// The end of the list. A list without edges may have an end too.
    End,
}

/// The lists of a graph as of a registered timestamp.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    pub(super) core: &'a Core,
    pub(super) ts: Timestamp,
    /// The vertices that exist at that timestamp.
    pub(super) census: &'a Census,
}

impl Lists<'_> {
    /// Calls `f` with every item of the lists of a label, page after page. O(edges); one image is in memory
    /// at a time.
    ///
    /// # Errors
    /// The errors of every read of a file.
    pub(super) fn of_label(
        self,
        label: LabelId,
        f: &mut impl FnMut(VertexId, Direction, Met<'_>),
    ) -> Result<()> {
        let Some(table) = self.core.pager.table(label) else { return Ok(()) };
        for first in SubgraphTable::possible(table).step_by(PAGE) {
            self.of_page(label, first, f)?;
        }
        Ok(())
    }

    /// Calls `f` with the items of the page that begins with the subgraph `first`.
    fn of_page(
        self,
        label: LabelId,
        first: SubgraphId,
        f: &mut impl FnMut(VertexId, Direction, Met<'_>),
    ) -> Result<()> {
        let subgraph_at = |place: usize| SubgraphId(first.0 + place as u32);
        let (page, directions) = (page_of(label, first), self.core.catalog.directions_of(label));
        let cold = self.core.pager.read_in_memory(page, u64::MAX, self.ts, |place, subgraph| {
            let mut versions: [Option<Arc<Version>>; 2] = [None, None];
            for (version, &direction) in versions.iter_mut().zip(directions) {
                *version = subgraph.version(direction, self.ts)?;
            }
            // All versions were found, so the read of this subgraph does not fail from here on: `f` gets no
            // list twice.
            for (version, &direction) in versions.iter().zip(directions) {
                let Some(version) = version else { continue };
                for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                    let v = subgraph_at(place).vertex(local);
                    version.at(self.ts).for_each_item(local, |item| f(v, direction, Met::Edge(item)));
                    f(v, direction, Met::End);
                }
            }
            Ok(())
        })?;
        let Some(cold) = cold else { return Ok(()) };
        let expected = Expected { bound: self.core.keys.ids.bound(), exists: |id| self.census.present(id) };
        let mut charge = Charge::new(self.core.pager.account(), Purpose::Views, 0);
        self.core.pager.read_cold(&cold, expected, &mut |_| true, |image| {
            charge.set(image.parts.iter().map(StoredLists::bytes).sum());
            image.parts.iter().for_each(|lists| of_stored(subgraph_at(image.place), lists, f));
            Ok(())
        })
    }
}

fn of_stored(id: SubgraphId, lists: &StoredLists, f: &mut impl FnMut(VertexId, Direction, Met<'_>)) {
    for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
        let (v, direction) = (id.vertex(local), lists.direction());
        lists.for_each_item(local, |item| f(v, direction, Met::Edge(item)));
        f(v, direction, Met::End);
    }
}
