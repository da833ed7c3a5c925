//! Cold reads: reads of single lists outside memory, which do not load them (rule E6 of
//! `docs/design/cold-reads.md`).
//!
//! The first read of a subgraph reads only the requested list. The second read soon after loads the subgraph
//! for later reads if there is free room, the eighth also by eviction. Without a limit everything is loaded
//! at its first use, and stays in memory.

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_core::{Direction, KeyKind, LabelId, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::{NotInMemory, Read};
use hedgerow_mem::{Arena, Memory, PageLook, Stored, Subgraph, SubgraphTable};
use hedgerow_tier::{Extent, ImageId, ListImage, ListQuery};

use super::install::bytes_of;
use super::reload::MOST_LOOKS;
use super::{Installer, invalid};
use crate::budget::taken::Lent;
use crate::pager::Pager;
use crate::pager::recent::Touched;
use crate::sources::{InboxView, Sources};

/// The number of recent touches from which on a chain is loaded even if others must be evicted. With a lower
/// number, a store with random reads would replace chains by others that are no more likely to be read.
pub(crate) const MANY: u32 = 8;
/// The number of recent touches from which on look-ups of existence by id load a chain, in a graph with keys,
/// if there is room. Cached directories serve such look-ups without a read; look-ups by key read no chain.
const MANY_LOOKS: u32 = 32;

/// The data of a chain that a call reads: a list of one of its vertices, in one direction.
#[derive(Clone, Copy)]
pub struct Wanted {
    label: LabelId,
    at: VertexId,
    direction: Direction,
    extent: Extent,
    rows: bool,
}

impl Wanted {
    /// Requests the list of a vertex, without properties.
    #[inline]
    pub fn list(label: LabelId, at: VertexId, direction: Direction) -> Wanted {
        Wanted { label, at, direction, extent: Extent::Whole, rows: false }
    }

    /// Requests the edges to one other vertex, without properties.
    #[inline]
    pub fn edge(label: LabelId, at: VertexId, direction: Direction, other: VertexId) -> Wanted {
        Wanted { extent: Extent::Near(other), ..Wanted::list(label, at, direction) }
    }

    /// Requests the existence of a vertex.
    #[inline]
    pub fn vertex(at: VertexId) -> Wanted {
        Wanted { extent: Extent::Vertex, ..Wanted::list(LabelId::DEFAULT, at, Direction::Out) }
    }

    /// Requests the properties in addition.
    #[inline]
    pub fn with_rows(self) -> Wanted {
        Wanted { rows: true, ..self }
    }

    /// Returns the direction of the list.
    #[inline]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    fn image(&self) -> ImageId {
        ImageId { label: self.label, subgraph: self.at.subgraph() }
    }

    /// True if an operation on the chain in this direction may change what is requested.
    fn depends_on(&self, direction: Direction, op: &LocalOp) -> bool {
        let of_list = direction == self.direction && op.local == self.at.local();
        of_list
            && match self.extent {
                Extent::Vertex => false,
                Extent::Near(other) => op.dst == other,
                Extent::Degree | Extent::Whole => true,
            }
    }

    fn touched(&self) -> Touched {
        Touched { image: self.image(), of_vertex: self.extent == Extent::Vertex }
    }

    fn query(&self) -> ListQuery {
        // For properties of a vertex, the list alone is useless.
        let rows = self.rows || self.label == LabelId::VERTICES;
        let (direction, extent) = (self.direction, self.extent);
        ListQuery { image: self.image(), local: self.at.local(), direction, extent, rows }
    }
}

/// The result of a cold read: a separate subgraph that has the requested list. Its other lists count as not
/// in memory.
pub struct ColdList {
    /// The subgraph with the list.
    pub subgraph: Subgraph,
    /// The number of edges of the list.
    pub degree: usize,
    _lent: Lent,
}

/// The source of the data for a call.
enum Look {
    /// No source: the page never had content.
    Nothing,
    /// Memory: the chain is loaded by now, unless it is evicted again.
    InMemory,
    Cold(Box<ColdList>),
}

/// An absent page or chain, with the state that shows if it changed since.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// A page that only files hold.
    Page(Stored),
    /// A chain, with the timestamp of the last operation that was applied to it.
    Chain(Timestamp),
}

impl Absent {
    /// Returns a timestamp at or after the last operation that was applied.
    fn applied(self) -> Timestamp {
        match self {
            Absent::Page(stored) => stored.since,
            Absent::Chain(applied) => applied,
        }
    }

    /// Returns the state of a subgraph, if its page or its chains are not in memory.
    pub fn look(table: &SubgraphTable, id: SubgraphId) -> Option<Absent> {
        let hold = table.hold();
        match table.look(id.index() / PAGE, &hold) {
            PageLook::Stored(stored) => Some(Absent::Page(stored)),
            PageLook::Absent => None,
            PageLook::Loaded(page) => {
                let subgraph = &page[id.index() % PAGE];
                // Loaded before the links: a thread that finds the links empty has the stamp at which they
                // were emptied, or notices a change.
                let applied = subgraph.stamp().applied();
                (!subgraph.is_resident()).then_some(Absent::Chain(applied))
            }
        }
    }
}

impl Pager {
    /// Calls `f` for the wanted list, at the registered timestamp `t`; `None` if its page never had content.
    /// If the list is not in memory, it is read from files, and the subgraph may be loaded. `f` must read
    /// nothing else of the subgraph. It may be called again if it does not find the list in memory, so it
    /// must call no code of others before it finds it. The caller holds no latch and no hold, and is in no
    /// walk.
    ///
    /// # Errors
    /// Damage, the system's errors; a limit without room; the error of a forked child.
    #[inline(always)]
    pub fn read_list<R>(
        &self,
        (wanted, t): (Wanted, Timestamp),
        mut f: impl FnMut(&Subgraph) -> std::result::Result<R, NotInMemory>,
    ) -> Result<Option<R>> {
        let (mut looks, mut list) = (0, None::<Box<ColdList>>);
        loop {
            let hold = self.hold_of(wanted.label);
            let found = match &list {
                None => self.table(wanted.label).and_then(|table| table.get(wanted.at.subgraph(), &hold)),
                Some(list) => Some(&list.subgraph),
            };
            // The fast path comes first, without a call that may fail. `f` stays in registers, since it is
            // called in one place, and data read from files is behind a pointer.
            if let Some(subgraph) = found
                && let Ok(found) = f(subgraph)
            {
                return Ok(Some(found));
            }
            looks += 1;
            // A thread must hold nothing while it waits for memory.
            drop(hold);
            list = None;
            match self.look_again(wanted, t, looks)? {
                Look::Nothing => return Ok(None),
                Look::InMemory => {}
                Look::Cold(read) => list = Some(read),
            }
        }
    }

    /// Returns the length of the list that a snapshot at `t` sees, and whether its chain has a delta. O(1),
    /// and a check of the delta.
    ///
    /// # Errors
    /// Those of [`read_list`](Self::read_list).
    #[inline]
    pub fn read_degree(
        &self,
        (label, at, direction): (LabelId, VertexId, Direction),
        t: Timestamp,
    ) -> Result<(usize, bool)> {
        let degree = |read: Read<'_>| (read.degree(at.local()), read.delta_len() > 0);
        let wanted = Wanted { extent: Extent::Degree, ..Wanted::list(label, at, direction) };
        let mut looks = 0;
        loop {
            let hold = self.hold_of(label);
            if let Some(subgraph) = self.table(label).and_then(|table| table.get(at.subgraph(), &hold))
                && let Ok(found) = subgraph.read(direction, t, degree)
            {
                return Ok(found.unwrap_or_default());
            }
            drop(hold);
            looks += 1;
            match self.look_again(wanted, t, looks)? {
                Look::Nothing => return Ok((0, false)),
                Look::InMemory => {}
                Look::Cold(list) => return Ok((list.degree, false)),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn look_again(&self, wanted: Wanted, t: Timestamp, looks: usize) -> Result<Look> {
        if looks > MOST_LOOKS {
            return Err(NotInMemory.into());
        }
        let id = wanted.image();
        // Before the page versions: operations that left the inbox for one are found there (N4).
        // In a forked child a thread that the child lacks may hold the lock.
        let inbox = match self.is_forked() {
            true => None,
            false => self.inboxes.view_of(id, t, |direction, op| wanted.depends_on(direction, op)),
        };
        if let Some(sources) = self.past(id, t) {
            self.check_owner()?;
            return Ok(Look::Cold(Box::new(self.list_in(&sources, wanted)?)));
        }
        if inbox.as_ref().is_some_and(|inbox| inbox.base.begin > t) {
            // Its page version came after the look for it.
            return Ok(Look::InMemory);
        }
        let inbox = inbox.as_ref();
        let Some(table) = self.table(id.label) else { return Ok(Look::Nothing) };
        let hold = table.hold();
        match table.find(id.subgraph, &hold) {
            Ok(None) => return Ok(Look::Nothing),
            Ok(Some(subgraph)) if subgraph.is_resident() || self.relink(subgraph) => {
                return Ok(Look::InMemory);
            }
            Ok(Some(_)) | Err(NotInMemory) => {}
        }
        drop(hold);
        let Some(recent) = self.cold.recent() else { return self.look_in_memory(id) };
        if looks == 1
            && !self.is_worth_its_memory(recent.touch(wanted.touched()), wanted.touched())
            && let Some(list) = self.read_from_files(table, (wanted, t), inbox)?
        {
            return Ok(Look::Cold(Box::new(list)));
        }
        recent.forget(wanted.touched());
        match self.look_in_memory(id) {
            // If memory has no room for the chain, or others need the room, the list can still be read from
            // files.
            Err(Error::Storage(StorageError::MemoryLimit { .. } | StorageError::NotInMemory(_))) => {
                let list = self.read_from_files(table, (wanted, t), inbox)?;
                Ok(list.map_or(Look::InMemory, |list| Look::Cold(Box::new(list))))
            }
            found => found,
        }
    }

    /// True if a chain with that many recent touches should be loaded. With room, the second touch suffices;
    /// if other chains must be evicted, it takes many. In a graph with keys, look-ups of existence evict
    /// nothing.
    fn is_worth_its_memory(&self, touches: u32, Touched { image, of_vertex }: Touched) -> bool {
        if of_vertex && self.config.keys != KeyKind::Dense {
            return touches >= MANY_LOOKS && self.has_free_room_for(image);
        }
        touches > 1 && (touches >= MANY || self.has_free_room_for(image))
    }

    /// Loads the chain.
    fn look_in_memory(&self, id: ImageId) -> Result<Look> {
        Ok(if self.make_resident(id.label, id.subgraph)? { Look::InMemory } else { Look::Nothing })
    }

    /// Reads the wanted list from files; `None` if it was loaded or changed meanwhile.
    fn read_from_files(
        &self,
        table: &SubgraphTable,
        (wanted, t): (Wanted, Timestamp),
        inbox: Option<&InboxView>,
    ) -> Result<Option<ColdList>> {
        self.check_owner()?;
        if let Some(inbox) = inbox {
            return self.list_under(inbox, wanted).map(Some);
        }
        match Absent::look(table, wanted.at.subgraph()) {
            // After a change that the reader does not see, its state is in a page version or under an inbox.
            Some(absent) if absent.applied() <= t => self.read_absent(table, wanted, absent),
            _ => Ok(None),
        }
    }

    /// Reads a list from files whose page or chain was found `absent`; `None` if files do not have the state
    /// from then, since the list was loaded and written again. Public for tests of writes between that look
    /// and the read.
    ///
    /// # Errors
    /// Damage, the system's errors; a limit without room for the list.
    pub fn read_absent(
        &self,
        table: &SubgraphTable,
        wanted: Wanted,
        absent: Absent,
    ) -> Result<Option<ColdList>> {
        // After the chain was found absent: the segments hold the operations applied by then, or more.
        let sources = self.pages.sources();
        if sources.segments().next().is_none() {
            // Without segments no chain was ever clean, so none can be outside memory.
            return Err(NotInMemory.into());
        }
        let list = self.list_in(&sources, wanted)?;
        Ok((Absent::look(table, wanted.at.subgraph()) == Some(absent)).then_some(list))
    }

    /// Reads a list from segments.
    fn list_in(&self, sources: &Sources, wanted: Wanted) -> Result<ColdList> {
        let (query, cache) = (wanted.query(), self.cold.cache());
        let (found, lent) =
            self.read_within(|room| sources.read_list(&query, cache, &mut |memory| room.has(memory)))?;
        match found {
            Some((found, file)) => self.cold_list(wanted, found, (file, lent)),
            None => self.cold_list(wanted, ListImage::default(), ("", lent)),
        }
    }

    /// Reads a list with the operations of an inbox, which are part of it even if the chain was loaded since.
    fn list_under(&self, inbox: &InboxView, wanted: Wanted) -> Result<ColdList> {
        let (query, cache, sources) = (wanted.query(), self.cold.cache(), &inbox.base.sources);
        let (found, lent) = self.read_within(|room| {
            sources.read_list_under(inbox, &query, cache, &mut |memory| room.has(memory))
        })?;
        let (found, file) = found.unwrap_or_default();
        self.cold_list(wanted, found, (file, lent))
    }

    /// Makes a subgraph from a list in an image, after a check against the schema and the graph.
    fn cold_list(
        &self,
        wanted: Wanted,
        found: ListImage,
        (file, mut lent): (&str, Lent),
    ) -> Result<ColdList> {
        let ListImage { present, degree, part } = found;
        let bytes = part.as_ref().map_or(0, bytes_of);
        let (schema, arena) = (self.schema.load(), Arena::default());
        let (config, checkpoint, bound) = (self.config, self.order.clock.published(), self.bound.get());
        let installer = Installer { config, schema: &schema, checkpoint, bound, arena: &arena };
        let part = part.map(|part| installer.checked(wanted.image(), part, file)).transpose()?;
        let main = match wanted.label {
            LabelId::DEFAULT => installer.main_of_default(present, part, file)?,
            _ => installer.main_of_label(part, file)?,
        };
        if main.edges().len() > degree as usize {
            return Err(invalid(file, "a list longer than its degree"));
        }
        let subgraph = Subgraph::alone(Memory::new(arena), self.is_weighted(wanted.label));
        let mut latched = subgraph.latch();
        latched.evict(match wanted.direction {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
        });
        // From timestamp zero on, so that every present reader may see it.
        latched.install(wanted.direction, main, Timestamp::ZERO);
        drop(latched);
        lent.taken.set(lent.taken.bytes().min(bytes as u64));
        Ok(ColdList { subgraph, degree: degree as usize, _lent: lent })
    }
}
