//! Checks of the whole graph, once images and log are read.

use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow_core::{Direction, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::SubgraphTable;
use hedgerow_mem::table::PAGE;
use rayon::prelude::*;

use super::Loaded;

/// The vertices that exist, by page of subgraphs.
struct Living(Vec<Option<Box<[u64; PAGE]>>>);

impl Living {
    fn of(table: &SubgraphTable) -> Living {
        let mut pages: Vec<Option<Box<[u64; PAGE]>>> = Vec::new();
        let hold = table.hold();
        for id in table.existing() {
            let (page, place) = (id.index() / PAGE, id.index() % PAGE);
            if pages.len() <= page {
                pages.resize_with(page + 1, || None);
            }
            let present = table.get(id, &hold).map_or(0, |entry| entry.latch().present());
            pages[page].get_or_insert_with(|| Box::new([0; PAGE]))[place] = present;
        }
        Living(pages)
    }

    fn contains(&self, id: VertexId) -> bool {
        let (page, place) = (id.subgraph().index() / PAGE, id.subgraph().index() % PAGE);
        let page = self.0.get(page).and_then(Option::as_ref);
        page.is_some_and(|present| present[place] & id.local().bit() != 0)
    }
}

impl Loaded {
    /// True if every edge of a graph without incoming lists leads to an existing vertex. In other graphs the
    /// two copies of an edge confirm each other, and a list belongs to a vertex, so they are not checked. A
    /// graph that is not loaded wholly is not checked here either, but by the check of a store. O(edges), in
    /// parallel.
    pub(crate) fn edges_lead_somewhere(&self) -> bool {
        if !self.config.is_one_way()
            || self.evicted > 0
            || !self.tables().all(|(_, table)| table.all_loaded())
        {
            return true;
        }
        let living = Living::of(&self.subgraphs);
        self.tables().filter(|(label, _)| *label != LabelId::VERTICES).all(|(_, table)| {
            let all: Vec<SubgraphId> = table.existing().collect();
            let leads = |id: &SubgraphId| if leads_to(table, *id, &living) { Ok(()) } else { Err(()) };
            hedgerow_par::try_for_each(all.par_iter(), leads).is_ok()
        })
    }
}

fn leads_to(table: &SubgraphTable, id: SubgraphId, living: &Living) -> bool {
    let hold = table.hold();
    let Some(entry) = table.get(id, &hold) else { return true };
    let all = AtomicBool::new(true);
    let read = entry.read(Direction::Out, super::LAST_TIMESTAMP, |read| {
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            read.for_each_neighbor(local, |to, _| {
                if !living.contains(to) {
                    all.store(false, Ordering::Relaxed);
                }
            });
        }
    });
    read.is_ok() && all.into_inner()
}
