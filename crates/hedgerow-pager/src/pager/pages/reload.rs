//! Loads of evicted subgraphs, and reads that cause them.

use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LabelId, SubgraphId, Timestamp};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{Arena, Horizon, Latched, Main, Memory, PageLook, Stored, Subgraph, SubgraphTable};
use hedgerow_tier::{ImageId, ReadMemory, SubgraphImage, TierError};
use rayon::prelude::*;

use super::install::bytes_of;
use super::{Installer, invalid};
use crate::budget::taken::{Lent, Room, RoomToLoad};
use crate::pager::Pager;
use crate::sources::{InboxView, Sources};

/// The greatest number of attempts of a call whose data is evicted again after each load.
pub(crate) const MOST_LOOKS: usize = 100;

/// The part of a subgraph that is in memory.
enum Resident {
    /// None: its page never had content.
    Absent,
    Yes,
    PageStored,
    /// Its page, without its chains.
    ChainStored,
}

/// A subgraph from a page version, which belongs to a call.
struct Past {
    subgraph: Subgraph,
    _lent: Lent,
}

/// The image of a chain that is not in memory.
struct Below {
    /// The stamp of the chain, which was loaded before.
    applied: Timestamp,
    /// The timestamp of the last operation in the image, if the chain had an inbox.
    begin: Option<Timestamp>,
    /// The bytes of the inbox for which memory was taken.
    operations: u64,
    has_image: bool,
    present: u64,
    file: String,
    mains: Vec<(Direction, Main)>,
}

/// Puts the chains of a subgraph, whose main parts were read, into memory, with the operations of its inbox
/// if it has one. `begin` is the timestamp of the last operation in the main parts. Returns true if they are
/// in memory now. The caller has the latch.
pub(crate) fn put_back(
    latched: &mut Latched<'_>,
    (begin, mains): (Timestamp, Vec<(Direction, Main)>),
    inbox: Option<&InboxView>,
    horizon: &impl Horizon,
) -> bool {
    let mut back = false;
    for (direction, main) in mains {
        let inbox = inbox.filter(|_| !faults::is_on(PlantedFault::InboxNotLoaded));
        let commits = inbox.map(|inbox| inbox.commits(direction)).unwrap_or_default();
        back |= latched.reload_with(direction, (begin, main), &commits, horizon);
    }
    if back && inbox.is_some() {
        latched.note_loaded();
    }
    back
}

impl Pager {
    /// Calls `f` for a subgraph of a label at the registered timestamp `t`, and loads it if need be; `None`
    /// if its page never had content. `f` may be called again if it does not find its data in memory: so it
    /// must call no code of others before it has it. The caller holds no latch and no hold, and is in no
    /// walk.
    ///
    /// # Errors
    /// Damage, the system's errors; a limit without room; the error of a forked child.
    #[inline(always)]
    pub fn read_subgraph<R>(
        &self,
        (label, id): (LabelId, SubgraphId),
        t: Timestamp,
        mut f: impl FnMut(&Subgraph) -> std::result::Result<R, NotInMemory>,
    ) -> Result<Option<R>> {
        let (mut looks, mut past) = (0, None::<Box<Past>>);
        loop {
            let hold = self.hold_of(label);
            let found = match &past {
                None => self.table(label).and_then(|table| table.get(id, &hold)),
                Some(past) => Some(&past.subgraph),
            };
            // The fast path comes first, without a call that may fail, and `f` stays in registers.
            if let Some(subgraph) = found
                && let Ok(found) = f(subgraph)
            {
                return Ok(Some(found));
            }
            looks += 1;
            // A thread must hold nothing while it waits for memory.
            drop((hold, past));
            past = self.past_subgraph(ImageId { label, subgraph: id }, t)?;
            if past.is_none() && !self.is_there_to_read(label, id, looks)? {
                return Ok(None);
            }
        }
    }

    /// Returns the segments of the page version of `t`, for a chain that changed after `t`, if memory does
    /// not hold the state at `t` (rule E8). `None` if nothing changed after `t`: then the call uses the
    /// newest segments, and may load the chain.
    #[cold]
    pub(crate) fn past(&self, id: ImageId, t: Timestamp) -> Option<Arc<Sources>> {
        let table = self.table(id.label)?;
        let hold = table.hold();
        let applied = match table.look(id.subgraph.index() / PAGE, &hold) {
            PageLook::Absent => return None,
            PageLook::Stored(Stored { since, .. }) => since,
            PageLook::Loaded(page) => page[id.subgraph.index() % PAGE].stamp().applied(),
        };
        if applied <= t { None } else { self.eviction.page_versions.at(t) }
    }

    /// Reads a subgraph from the page version of `t`, if there is one. The result is a separate subgraph,
    /// which belongs to the call.
    #[cold]
    #[inline(never)]
    fn past_subgraph(&self, id: ImageId, t: Timestamp) -> Result<Option<Box<Past>>> {
        let Some(sources) = self.past(id, t) else { return Ok(None) };
        self.check_owner()?;
        let cache = self.cold.cache();
        let (found, lent) =
            self.read_within(|room| sources.read_image(id, cache, &mut |memory| room.has(memory)))?;
        let (image, file) = match found {
            Some((image, file)) => (Some(image), file),
            None => (None, ""),
        };
        let arena = Arena::default();
        let mains = self.mains_of(id, image, file, &arena)?;
        let past = Subgraph::alone(Memory::new(arena), self.is_weighted(id.label));
        let mut latched = past.latch();
        for (direction, main) in mains {
            // From timestamp zero on, so that every present reader may see it.
            latched.install(direction, main, Timestamp::ZERO);
        }
        drop(latched);
        Ok(Some(Box::new(Past { subgraph: past, _lent: lent })))
    }

    /// Loads a subgraph; returns true if it exists.
    #[cold]
    #[inline(never)]
    fn is_there_to_read(&self, label: LabelId, id: SubgraphId, looks: usize) -> Result<bool> {
        if looks > MOST_LOOKS {
            return Err(NotInMemory.into());
        }
        self.make_resident(label, id)
    }

    /// Loads a subgraph as a whole; false if its page never had content. It may be evicted again before the
    /// caller uses it. Never called with a latch or a hold, or in a walk over versions.
    ///
    /// # Errors
    /// A [`StorageError`]: damage, the system's errors, a limit without room;
    /// [`StorageError::NotInMemory`] if the subgraph was evicted again after each load, or was changed and
    /// evicted during each.
    pub(crate) fn make_resident(&self, label: LabelId, id: SubgraphId) -> Result<bool> {
        let Some(table) = self.table(label) else { return Ok(false) };
        let image = ImageId { label, subgraph: id };
        for _ in 0..MOST_LOOKS {
            match self.look_for(table, id)? {
                Resident::Absent => return Ok(false),
                Resident::Yes => return Ok(true),
                Resident::PageStored => self.load_page(table, image.page())?,
                Resident::ChainStored => {
                    self.load_within(self.room_for_subgraph(image), |loading| {
                        self.read_back(image, loading)
                    })?;
                }
            }
        }
        match self.look_for(table, id)? {
            Resident::Yes => Ok(true),
            _ => Err(NotInMemory.into()),
        }
    }

    /// Returns which part of a subgraph is in memory. Links its chains again if they are cooling (rule E9).
    fn look_for(&self, table: &SubgraphTable, id: SubgraphId) -> Result<Resident> {
        let hold = table.hold();
        Ok(match table.find(id, &hold) {
            Ok(None) => Resident::Absent,
            Ok(Some(subgraph)) if subgraph.is_resident() => Resident::Yes,
            Ok(Some(subgraph)) => {
                self.check_owner()?;
                if self.relink(subgraph) { Resident::Yes } else { Resident::ChainStored }
            }
            Err(NotInMemory) => Resident::PageStored,
        })
    }

    /// Loads a subgraph for a commit, within the memory that the commit has taken. It may be evicted again
    /// unless it is pinned. Under the conditions of
    /// [`make_resident`](Self::make_resident).
    ///
    /// # Errors
    /// Those of [`make_resident`](Self::make_resident), also if `room` lacks memory.
    pub(crate) fn load_chain(&self, (label, id): (LabelId, SubgraphId), room: &mut Room) -> Result<()> {
        let Some(table) = self.table(label) else { return Ok(()) };
        let image = ImageId { label, subgraph: id };
        for _ in 0..MOST_LOOKS {
            match self.look_for(table, id)? {
                Resident::Absent | Resident::Yes => return Ok(()),
                Resident::PageStored => self.load_page_for_commit(table, image.page(), room)?,
                Resident::ChainStored => {
                    self.read_back(image, room)?;
                    room.keep_image();
                }
            }
        }
        Err(NotInMemory.into())
    }

    /// True if a subgraph is in memory as a whole, or has no page.
    pub(crate) fn is_in_memory(&self, (label, id): (LabelId, SubgraphId)) -> bool {
        let hold = self.hold_of(label);
        let found = self.table(label).map_or(Ok(None), |table| table.find(id, &hold));
        found.is_ok_and(|subgraph| subgraph.is_none_or(Subgraph::is_resident))
    }

    /// Reads an image, and installs it if nothing changed meanwhile (rule E4). With an inbox, installs the
    /// image of its base and its operations, also those that came meanwhile. Has no hold while it reads: the
    /// page may be evicted and loaded again in between, which keeps or raises the stamp.
    fn read_back(&self, id: ImageId, loading: &mut dyn RoomToLoad) -> Result<()> {
        match self.read_below(id, loading)? {
            Some(below) => self.install(id, below),
            None => Ok(()),
        }
    }

    /// Reads the image of a chain that is not in memory; `None` if it is in memory by now.
    fn read_below(&self, id: ImageId, loading: &mut dyn RoomToLoad) -> Result<Option<Below>> {
        let Some(table) = self.table(id.label) else { return Ok(None) };
        let hold = table.hold();
        let Some(subgraph) = table.get(id.subgraph, &hold) else { return Ok(None) };
        // The stamp is loaded before the mark is seen, and the segments after that: so the segments hold the
        // operations applied by then, or more. A stamp that is loaded later may belong to a change in
        // between, which no segment has yet.
        let applied = subgraph.stamp().applied();
        if subgraph.is_resident() {
            return Ok(None);
        }
        drop(hold);
        // Looked for before the segments are taken: if the inbox is gone, they have its operations (N4).
        let base = self.inboxes.base(id);
        let sources = base.as_ref().map_or_else(|| self.pages.sources(), |base| base.sources.clone());
        if sources.segments().next().is_none() {
            // Without segments no chain was ever clean, so none can be outside memory.
            return Err(NotInMemory.into());
        }
        if base.is_none() && sources.as_of() < applied {
            // Another thread has just loaded the chain with the operations of its inbox.
            return Ok(None);
        }
        let (image, file) =
            match sources.read_image(id, self.cold.cache(), &mut |memory| loading.has(memory))? {
                Some((image, file)) => (Some(image), file),
                None => (None, ""),
            };
        // The operations are copied, put into a delta, and merged with the lists.
        let operations = self.inboxes.bytes_of(id);
        if operations > 0 {
            let needed = 2 * operations
                + image.iter().flat_map(|image| &image.parts).map(bytes_of).sum::<usize>() as u64;
            if !loading.has(ReadMemory::Values(needed)) {
                return Err(TierError::NoRoom { needed }.into());
            }
        }
        let (has_image, present) = (image.is_some(), image.as_ref().map_or(0, |image| image.present));
        let mains = self.mains_of(id, image, file, self.subgraphs.arena())?;
        let begin = base.map(|base| base.begin);
        Ok(Some(Below { applied, begin, operations, has_image, present, file: file.to_owned(), mains }))
    }

    /// Puts a chain into memory, if the image that was read is still the state below its inbox, or its whole
    /// state if it has none.
    fn install(&self, id: ImageId, below: Below) -> Result<()> {
        let Some(table) = self.table(id.label) else { return Ok(()) };
        let hold = table.hold();
        let Some(subgraph) = table.get(id.subgraph, &hold) else { return Ok(()) };
        let mut latched = subgraph.latch_for_upkeep();
        if latched.is_resident() || latched.has_left() {
            return Ok(());
        }
        // Segments may have taken in some operations of the inbox meanwhile: then its begin is another one.
        let inbox = self.inboxes.view(id, Timestamp::INFINITY);
        let fits = self.inboxes.bytes_of(id) <= below.operations;
        let same = inbox.as_ref().map(|inbox| inbox.base.begin) == below.begin;
        if !same || !fits || below.begin.is_none() && latched.last_ts() != below.applied {
            return Ok(());
        }
        if id.label == LabelId::DEFAULT && below.present != latched.present() {
            return Err(invalid(&below.file, "other vertices than the store has"));
        }
        // Readers before the stamp have page versions. If there is none, a chain without an image is empty
        // for all readers, and needs no version.
        let is_empty = below.begin.is_none()
            && !below.has_image
            && id.label != LabelId::DEFAULT
            && self.eviction.page_versions.are_none();
        let back = if is_empty {
            below.mains.iter().fold(false, |back, (direction, _)| back | latched.reload_empty(*direction))
        } else {
            let begin = below.begin.unwrap_or(below.applied);
            let horizon = self.order.horizon();
            put_back(&mut latched, (begin, below.mains), inbox.as_ref(), &horizon)
        };
        if back {
            // Readers find the chains by now, or look again, since the stamp differs.
            self.inboxes.remove(id);
            self.eviction.note_back();
        }
        Ok(())
    }

    /// Makes the main parts of an image, one for each stored direction; without edges if there is no image.
    fn mains_of(
        &self,
        id: ImageId,
        image: Option<SubgraphImage>,
        file: &str,
        arena: &Arena,
    ) -> Result<Vec<(Direction, Main)>> {
        let schema = self.schema.load();
        let (config, checkpoint, bound) = (self.config, self.order.clock.published(), self.bound.get());
        let installer = Installer { config, schema: &schema, checkpoint, bound, arena };
        installer.mains(id, image, file)
    }

    /// Loads all evicted subgraphs of a table.
    pub(crate) fn reload_table(
        &self,
        (label, table): (LabelId, &SubgraphTable),
        in_parallel: bool,
    ) -> Result<()> {
        if !self.eviction.has_taken() {
            return Ok(());
        }
        let gone = |id: &SubgraphId| {
            let hold = table.hold();
            table.get(*id, &hold).is_some_and(|subgraph| !subgraph.is_resident())
        };
        let gone: Vec<SubgraphId> = table.existing().filter(gone).collect();
        let load = |id: &SubgraphId| self.make_resident(label, *id).map(drop);
        if in_parallel {
            hedgerow_par::try_for_each(gone.par_iter(), load)
        } else {
            gone.iter().try_for_each(load)
        }
    }

    /// Calls `load`, and then `make`, which needs whole labels in memory. Repeats both if data of the labels
    /// was evicted meanwhile because the limit had no other room.
    ///
    /// # Errors
    /// Those of `load` and `make`.
    pub fn with_loaded<R, E: From<Error>>(
        &self,
        load: impl Fn() -> Result<()>,
        is_not_in_memory: impl Fn(&E) -> bool,
        mut make: impl FnMut() -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        for _ in 0..MOST_LOOKS {
            match load() {
                Err(Error::Storage(StorageError::NotInMemory(_))) if self.eviction.clean().is_some() => {
                    continue;
                }
                loaded => loaded?,
            }
            match make() {
                // The count of evicted chains proves nothing here: the chain may be in memory again, or its
                // eviction may not be counted yet.
                Err(error) if is_not_in_memory(&error) && self.eviction.clean().is_some() => {}
                done => return done,
            }
        }
        Err(E::from(self.no_room_for_all()))
    }
}
