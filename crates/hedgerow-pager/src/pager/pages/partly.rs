//! Loads of some chains of a page within a memory limit. A replay at opening needs few chains, and for the
//! others only which vertices exist, since their operations go to inboxes. A page that is a large share of
//! the limit is loaded without chains.

use hedgerow_catalog::directions::directions_of;
use hedgerow_catalog::error::Result;
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::SubgraphTable;
use hedgerow_mem::table::{PAGE, SubgraphPage};
use hedgerow_tier::{ImageSummary, PageId};

use super::reload::put_back;
use super::{AnyRoom, Pages, discard, invalid, living, places};
use crate::order::horizon::NoReaders;
use crate::sources::{Inboxes, Sources};

impl Pages {
    /// Loads the chains of the places `wanted` of a page. If the page is not loaded, loads it, and marks its
    /// other chains as not in memory. Returns the increase of the number of the table's subgraphs that are
    /// not in memory. Reads files; no other thread may use the page.
    ///
    /// # Errors
    /// Damage, the system's errors.
    pub fn load_chains(
        &self,
        table: &SubgraphTable,
        inboxes: &Inboxes,
        (id, wanted): (PageId, u64),
    ) -> Result<i64> {
        let sources = self.sources();
        let (number, hold) = (id.page as usize, table.hold());
        if let Some(page) = table.page(number, &hold) {
            return self.read_back((page, table), &sources, inboxes, (id, wanted)).map(|back| -back);
        }
        let Some(stored) = table.stored_page(number) else { return Ok(0) };
        let page = table.new_page(PAGE);
        let filled = self
            .fill((&page, table), &sources, (id, wanted), &mut AnyRoom)
            .and_then(|()| self.mark_others(&page, table, &sources, (id, wanted)));
        match filled {
            Ok(marked) => {
                table.load(number, stored, page);
                Ok(marked)
            }
            Err(error) => {
                discard(&page);
                Err(error)
            }
        }
    }

    /// Loads a page, unless it is loaded, with all its chains marked as not in memory: readers and commits
    /// load the chains that they need. Calls `note` with the number of its subgraphs before another thread
    /// sees them. O(images of the page), and a read of each segment's directory; blocks for another thread
    /// that loads the same page.
    pub(crate) fn load_marked(
        &self,
        table: &SubgraphTable,
        id: PageId,
        note: impl FnOnce(u64),
    ) -> Result<()> {
        let _turn = self.turn(id).lock();
        let number = id.page as usize;
        let Some(stored) = table.stored_page(number) else { return Ok(()) };
        if stored.was_loaded {
            self.load_again(table, id, stored, note);
            return Ok(());
        }
        let sources = self.sources();
        let page = table.new_page(PAGE);
        match self.mark_others(&page, table, &sources, (id, 0)) {
            Ok(marked) => {
                note(marked.unsigned_abs());
                table.load(number, stored, page);
                Ok(())
            }
            Err(error) => {
                discard(&page);
                Err(error)
            }
        }
    }

    /// Marks the chains that files hold, except for the places `wanted`, as not in memory; returns the number
    /// of their subgraphs.
    fn mark_others(
        &self,
        page: &SubgraphPage,
        table: &SubgraphTable,
        sources: &Sources,
        (id, wanted): (PageId, u64),
    ) -> Result<i64> {
        let living = if id.label == LabelId::DEFAULT { None } else { Some(living(sources, id)?) };
        let installer = self.installer(table);
        let mut marked = 0;
        let file = newest_file(sources);
        let is_other = |image: &ImageSummary| wanted >> (image.id.subgraph.index() % PAGE) & 1 == 0;
        for image in sources.summaries(id)?.iter().filter(|image| image.present != 0 && is_other(image)) {
            let (subgraph, place) = (image.id.subgraph, image.id.subgraph.index() % PAGE);
            match &living {
                None => installer.check_vertices((subgraph, image.present), file)?,
                Some(living) if image.present & !living[place] != 0 => {
                    return Err(invalid(file, "edges of a vertex that does not exist"));
                }
                Some(_) => {}
            }
            let present = living.is_none().then_some(image.present);
            let mut latched = page[place].latch_for_upkeep();
            for &direction in directions_of(&installer.config, id.label) {
                latched.install_stored(direction, present, installer.checkpoint);
            }
            marked += 1;
        }
        Ok(marked)
    }

    /// Loads the chains of the places `wanted` that are marked as not in memory; returns the number of their
    /// subgraphs.
    fn read_back(
        &self,
        (page, table): (&SubgraphPage, &SubgraphTable),
        sources: &Sources,
        inboxes: &Inboxes,
        (id, wanted): (PageId, u64),
    ) -> Result<i64> {
        let gone = |place: &usize| page.get(*place).is_some_and(|subgraph| !subgraph.is_resident());
        let missing = places(wanted).filter(gone).fold(0, |mask: u64, place| mask | 1 << place);
        let (installer, mut back) = (self.installer(table), 0);
        sources.read_images((id, missing), &mut |_| true, |image, file| {
            let (place, present, image_id) = (image.id.subgraph.index() % PAGE, image.present, image.id);
            let mains = installer.mains(image.id, Some(image), file)?;
            let mut latched = page[place].latch_for_upkeep();
            if id.label == LabelId::DEFAULT && present != latched.present() {
                return Err(invalid(file, "other vertices than the store has"));
            }
            let inbox = inboxes.view(image_id, Timestamp::INFINITY);
            let begin = inbox.as_ref().map_or(latched.last_ts(), |inbox| inbox.base.begin);
            let horizon = NoReaders(latched.last_ts());
            put_back(&mut latched, (begin, mains), inbox.as_ref(), &horizon);
            inboxes.remove(image_id);
            back += 1;
            Ok(())
        })?;
        if places(missing).any(|place| gone(&place)) {
            return Err(invalid(newest_file(sources), "a directory names an image that is not there"));
        }
        Ok(back)
    }
}

/// Returns the name of the file for messages about directories of several segments.
fn newest_file(sources: &Sources) -> &str {
    sources.segments().next().map_or("", |segment| segment.name.as_str())
}
