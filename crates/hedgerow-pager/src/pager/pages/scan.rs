//! A scan of the lists of a label: an iterator whose items are the lists of neighboring subgraphs.
//!
//! Lists in memory are shared with the table, and lists from files belong to the item. So the consumer of an
//! item is in no walk and holds no latch: it may take as long as it wants.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{ItemRef, Version};

use super::{Expected, StoredLists};
use crate::budget::For;
use crate::budget::taken::{Lends, Room, Stop};
use crate::page_of;
use crate::pager::Pager;
use crate::pager::census::Census;

/// A scan of the lists of a label in one stored direction, from the lists of one subgraph on. The timestamp
/// is registered while the scan exists.
pub struct Scan {
    label: LabelId,
    direction: Direction,
    t: Timestamp,
    rest: Range<u32>,
}

/// The lists of neighboring subgraphs of a page, and the memory that they take.
pub struct ListRun {
    first: SubgraphId,
    t: Timestamp,
    lists: Vec<Lists>,
    /// The memory of lists from files; `None` if all lists are shared with the table.
    _room: Option<Room>,
}

/// The lists of a subgraph.
enum Lists {
    /// No vertex has edges.
    Empty,
    InMemory(Arc<Version>),
    Stored(Box<StoredLists>),
}

impl Scan {
    /// Begins a scan of the subgraphs in a range at the registered timestamp `t`. Reads nothing.
    pub fn new(label: LabelId, direction: Direction, t: Timestamp, subgraphs: Range<SubgraphId>) -> Scan {
        Scan { label, direction, t, rest: subgraphs.start.0..subgraphs.end.0 }
    }

    /// Returns the first subgraph that the scan has not read: a new scan from there on returns the rest.
    pub fn position(&self) -> SubgraphId {
        SubgraphId(self.rest.start)
    }

    /// Reads the lists of the next subgraphs, at most those of a page; `None` at the end. `census` returns
    /// the vertices that exist at the timestamp of the scan, with which images are compared; it is called
    /// only if lists must be read from files. If the limit has no room for the lists of a page, reads those
    /// of half as many subgraphs, down to one. A thread that lends no memory may wait for room.
    ///
    /// The caller has no latch and is in no walk. After an error the position is as before.
    ///
    /// # Errors
    /// Those of every read of a file; damage, if an image contradicts the census; the memory limit, if it has
    /// no room for the lists of one subgraph; the error of `census`.
    pub fn next_run(
        &mut self,
        pager: &Pager,
        bound: u32,
        census: impl Fn() -> Result<Arc<Census>>,
    ) -> Result<Option<ListRun>> {
        let Some(table) = pager.table(self.label) else {
            self.rest.start = self.rest.end;
            return Ok(None);
        };
        while !self.rest.is_empty() {
            let page = self.rest.start / PAGE as u32;
            let end = self.rest.end.min((page + 1) * PAGE as u32);
            if table.is_absent(page as usize) {
                self.rest.start = end;
                continue;
            }
            let mut part = self.rest.start..end;
            let waits = Lends::depth() == 0;
            let run = pager.with_room((For::Read, waits), |_| {
                loop {
                    match self.read(pager, part.clone(), bound, &census) {
                        Err(Stop::NoRoom(_)) if part.len() > 1 => {
                            part.end = part.start + part.len() as u32 / 2;
                        }
                        read => return read,
                    }
                }
            });
            let run = run.map_err(|stop| pager.error_of(stop))?;
            self.rest.start = part.end;
            return Ok(Some(run));
        }
        Ok(None)
    }

    /// Reads the lists of subgraphs of one page.
    fn read(
        &self,
        pager: &Pager,
        part: Range<u32>,
        bound: u32,
        census: &impl Fn() -> Result<Arc<Census>>,
    ) -> std::result::Result<ListRun, Stop> {
        let first = part.start as usize % PAGE;
        let wanted = part.clone().fold(0, |mask, id| mask | 1u64 << (id as usize % PAGE));
        let mut lists: Vec<Lists> = part.clone().map(|_| Lists::Empty).collect();
        let page = page_of(self.label, SubgraphId(part.start));
        let cold = pager.read_in_memory(page, wanted, self.t, |place, subgraph| {
            let found = subgraph.version(self.direction, self.t)?;
            if let (Some(slot), Some(version)) = (lists.get_mut(place - first), found) {
                *slot = Lists::InMemory(version);
            }
            Ok(())
        })?;
        let run = |lists, room| ListRun { first: SubgraphId(part.start), t: self.t, lists, _room: room };
        let Some(cold) = cold else { return Ok(run(lists, None)) };
        let (census, room) = (census()?, RefCell::new(Room::for_long(&pager.budget)));
        let expected = Expected { bound, exists: |id| census.present(id) };
        let mut kept = 0;
        let read = pager.read_cold(&cold, expected, &mut |memory| room.borrow_mut().has(memory), |image| {
            let wanted = image.parts.into_iter().find(|part| part.direction() == self.direction);
            if let (Some(slot), Some(part)) = (lists.get_mut(image.place - first), wanted) {
                kept += part.bytes() as u64;
                *slot = Lists::Stored(Box::new(part));
            }
            // The lists stay; the other parts of the image are dropped.
            if room.borrow_mut().keep(kept) { Ok(()) } else { Err(NotInMemory.into()) }
        });
        let mut room = room.into_inner();
        room.checked(read)?;
        room.end_read();
        Ok(run(lists, Some(room)))
    }
}

impl ListRun {
    /// Returns the ids of the vertices of the run, whether they exist or not.
    pub fn vertices(&self) -> Range<u32> {
        let end = (self.first.0 as usize + self.lists.len()) * SUBGRAPH_VERTICES;
        self.first.vertex(LocalVertex(0)).0..u32::try_from(end).unwrap_or(u32::MAX)
    }

    /// Calls `f` with the edges of a vertex, ascending; with none, if the run does not have the subgraph.
    /// O(degree).
    pub fn for_each_item(&self, id: SubgraphId, local: LocalVertex, f: impl FnMut(ItemRef<'_>)) {
        match id.0.checked_sub(self.first.0).and_then(|at| self.lists.get(at as usize)) {
            None | Some(Lists::Empty) => {}
            Some(Lists::InMemory(version)) => version.at(self.t).for_each_item(local, f),
            Some(Lists::Stored(lists)) => lists.for_each_item(local, f),
        }
    }
}
