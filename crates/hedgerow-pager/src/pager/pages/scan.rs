//! A scan of the lists of a label: an iterator whose items are the lists of neighboring subgraphs.
//!
//! Lists in memory are shared with the table, and lists from files belong to the item. So the consumer of an
//! item is in no walk and holds no latch: it may take as long as it wants.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_core::{Direction, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{ItemRef, Subgraph, Version};

use super::{Expected, StoredLists};
use crate::budget::For;
use crate::budget::taken::{Lends, Room, Stop};
use crate::page_of;
use crate::pager::Pager;
use crate::pager::census::{Census, present_on};

/// A scan of the lists of a label in one stored direction, from the lists of one subgraph on. The timestamp
/// is registered while the scan exists.
pub struct Scan {
    label: LabelId,
    direction: Direction,
    t: Timestamp,
    rest: Range<u32>,
    /// True if chains that are not in memory are loaded, as there was room for them when the scan began.
    loads: bool,
    /// The number of subgraphs for which there was room last, on the page with this number.
    fitted: (u32, usize),
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

/// The divisor of the memory limit for the lists from files that a run has: its consumer may keep it for
/// long.
const SHARE: u64 = 16;

impl Scan {
    /// Begins a scan of the subgraphs in a range at the registered timestamp `t`. With `loads`, chains that
    /// are not in memory are loaded until there is no room for them; else lists are read from files and
    /// dropped. Reads nothing.
    pub fn new(
        label: LabelId,
        direction: Direction,
        t: Timestamp,
        subgraphs: Range<SubgraphId>,
        loads: bool,
    ) -> Scan {
        let rest = subgraphs.start.0..subgraphs.end.0;
        Scan { label, direction, t, rest, loads, fitted: (0, PAGE) }
    }

    /// Restricts a scan that has not begun to a range of subgraphs.
    #[must_use]
    pub fn within(mut self, subgraphs: Range<SubgraphId>) -> Scan {
        self.rest = subgraphs.start.0..subgraphs.end.0;
        self
    }

    /// Returns the first subgraph that the scan has not read: a new scan from there on returns the rest.
    pub fn position(&self) -> SubgraphId {
        SubgraphId(self.rest.start)
    }

    /// Reads the lists of the next subgraphs, at most those of a page; `None` at the end. Images are compared
    /// with the vertices that exist: those of `census`, or else those of the chains of the page. If the limit
    /// has no room for the lists of a page, or if they take more than a 16th of it, reads those of half as
    /// many subgraphs, down to one. A thread that lends no memory may wait for room, behind calls in line.
    ///
    /// The caller has no latch and is in no walk. After an error the position is as before.
    ///
    /// # Errors
    /// Those of every read of a file; damage, if an image contradicts the vertices that exist; the memory
    /// limit, if it has no room for the lists of one subgraph.
    pub fn next_run(
        &mut self,
        pager: &Pager,
        bound: u32,
        census: Option<&Census>,
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
            if self.loads {
                match self.load(pager, self.rest.start..end) {
                    // Other calls took the room.
                    Err(Error::Storage(StorageError::MemoryLimit(_))) => self.loads = false,
                    loaded => {
                        let run = loaded?;
                        self.rest.start = end;
                        return Ok(Some(run));
                    }
                }
            }
            let mut part = self.rest.start..end;
            if self.fitted.0 == page {
                part.end = part.end.min(part.start + self.fitted.1 as u32);
            }
            let waits = Lends::depth() == 0;
            if waits {
                pager.budget.wait_behind_line();
            }
            let run = pager.with_room((For::Read, waits), |_| {
                loop {
                    match self.read(pager, part.clone(), bound, census) {
                        Err(Stop::NoRoom(_)) if part.len() > 1 => {
                            part.end = part.start + part.len() as u32 / 2;
                        }
                        read => return read,
                    }
                }
            });
            let run = run.map_err(|stop| pager.error_of(stop))?;
            (self.rest.start, self.fitted) = (part.end, (page, part.len()));
            return Ok(Some(run));
        }
        Ok(None)
    }

    /// Reads the lists of subgraphs of one page, and loads those that are not in memory.
    fn load(&self, pager: &Pager, part: Range<u32>) -> Result<ListRun> {
        let first = SubgraphId(part.start);
        let version = |id| {
            let read = |subgraph: &Subgraph| subgraph.version(self.direction, self.t);
            let found = pager.read_subgraph((self.label, SubgraphId(id)), self.t, read)?;
            Ok(found.flatten().map_or(Lists::Empty, Lists::InMemory))
        };
        let lists = part.map(version).collect::<Result<Vec<Lists>>>()?;
        Ok(ListRun { first, t: self.t, lists, _room: None })
    }

    /// Reads the lists of subgraphs of one page, from memory or else from files.
    fn read(
        &self,
        pager: &Pager,
        part: Range<u32>,
        bound: u32,
        census: Option<&Census>,
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
        let present = match census {
            Some(_) => [0; PAGE],
            None => present_on(pager, page.page, self.t, bound)?,
        };
        let exists = |id: SubgraphId| match census {
            Some(census) => census.present(id),
            None => present[id.index() % PAGE],
        };
        let share = match pager.memory_limit {
            Some(limit) if part.len() > 1 => limit / SHARE,
            _ => u64::MAX,
        };
        let room = RefCell::new(Room::for_long(&pager.budget));
        let (mut kept, mut is_much) = (0, false);
        let expected = Expected { bound, exists };
        let read = pager.read_cold(&cold, expected, &mut |memory| room.borrow_mut().has(memory), |image| {
            let wanted = image.parts.into_iter().find(|part| part.direction() == self.direction);
            if let (Some(slot), Some(part)) = (lists.get_mut(image.place - first), wanted) {
                kept += part.bytes() as u64;
                *slot = Lists::Stored(Box::new(part));
            }
            is_much = kept > share;
            // The lists stay; the other parts of the image are dropped.
            if room.borrow_mut().keep(kept) && !is_much { Ok(()) } else { Err(NotInMemory.into()) }
        });
        if is_much {
            return Err(Stop::NoRoom(kept));
        }
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
