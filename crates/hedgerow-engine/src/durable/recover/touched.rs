//! Loads of the data that a batch reads or writes: whole pages, or within a memory limit only few chains.
//! Within a limit, operations on plain edges go to inboxes. So the log of a store that kept its limit is
//! replayed within that limit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};

use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_mem::SubgraphTable;
use hedgerow_mem::table::PAGE;
use hedgerow_pager::page_of;
use hedgerow_pager::pager::pages::AnyRoom;
use hedgerow_tier::PageId;
use rayon::prelude::*;

use super::Loaded;
use super::gathered::{Act, Batch};

/// Pages, each with the places of the subgraphs whose chains are needed.
type Touched = HashMap<PageId, u64>;

/// The data of a subgraph in a label that a batch needs.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    /// The existence of its vertices. Operations on plain edges of its other chains go to its inbox.
    Vertices,
    /// Its chains.
    Chains,
}

impl Loaded {
    /// Loads the data that a batch reads or writes: for each side the page of its label and the page that
    /// shows if its vertices exist, and the pages of all labels if a vertex is removed. O(1) if everything is
    /// in memory.
    pub(super) fn load_touched(&mut self, batch: &Batch) -> Result<()> {
        if self.tables().all(|(_, table)| table.all_loaded()) && self.evicted == 0 {
            return Ok(());
        }
        let touched: Vec<(PageId, u64)> = self.touched_by(batch).into_iter().collect();
        if !self.is_limited() {
            return hedgerow_par::try_for_each(touched.par_iter(), |(page, _)| {
                self.pages.load(self.table(page.label), *page, &mut AnyRoom, |_| ())
            });
        }
        let more = AtomicI64::new(0);
        hedgerow_par::try_for_each(touched.par_iter(), |(page, wanted)| {
            let marked = self.pages.load_chains(self.table(page.label), &self.inboxes, (*page, *wanted))?;
            more.fetch_add(marked, Ordering::Relaxed);
            Ok::<(), Error>(())
        })?;
        self.evicted = self.evicted.saturating_add_signed(more.into_inner());
        Ok(())
    }

    fn is_limited(&self) -> bool {
        self.subgraphs.memory().account().limit().is_some()
    }

    fn touched_by(&self, batch: &Batch) -> Touched {
        let mut touched = Touched::new();
        for side in batch.sides() {
            let (label, id, act) = (side.label(), side.subgraph(), side.act());
            let of_default = match act {
                Act::InsertVertex | Act::RemoveVertex => Need::Chains,
                Act::PutItem | Act::RemoveItem if label == LabelId::DEFAULT => Need::Chains,
                _ => Need::Vertices,
            };
            let of_label = match act {
                Act::PutItem | Act::RemoveItem => Need::Chains,
                _ => Need::Vertices,
            };
            touch(&mut touched, Some(&self.subgraphs), (LabelId::DEFAULT, id), of_default);
            if act == Act::RemoveVertex {
                let tables = self.labels.iter();
                tables.for_each(|(label, table)| touch(&mut touched, Some(table), (label, id), Need::Chains));
            } else if label != LabelId::DEFAULT {
                touch(&mut touched, self.labels.get(label), (label, id), of_label);
            }
        }
        touched
    }
}

/// Notes needed data that is not in memory. Checks the table first, which has nearly all of it.
fn touch(
    touched: &mut Touched,
    table: Option<&SubgraphTable>,
    (label, id): (LabelId, SubgraphId),
    need: Need,
) {
    let in_memory = table.is_none_or(|table| match table.find(id, &table.hold()) {
        Ok(found) => need == Need::Vertices || found.is_none_or(|subgraph| subgraph.is_resident()),
        Err(_) => false,
    });
    if !in_memory {
        let place = if need == Need::Chains { 1 << (id.index() % PAGE) } else { 0 };
        *touched.entry(page_of(label, id)).or_default() |= place;
    }
}
