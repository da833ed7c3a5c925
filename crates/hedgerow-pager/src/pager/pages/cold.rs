//! Reads of data outside memory that do not load it: for calls that read a large share of the graph once
//! (rule E6 of `docs/design/cold-reads.md`).

use std::cell::RefCell;
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::subgraph::Stamp;
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{PageLook, Subgraph};
use hedgerow_tier::{AdjacencyPart, ImageId, ImageSummary, PageId, ReadMemory, SubgraphImage};

use super::{Installer, StoredLists, invalid};
use crate::pager::Pager;
use crate::sources::{InboxView, Sources};

/// Subgraphs of a page that are not in memory, and segments whose images hold them as every registered reader
/// sees them. That is true while this value exists, despite later writes.
pub struct Cold {
    page: PageId,
    places: u64,
    sources: Arc<Sources>,
    /// The subgraphs with an inbox, by place. They are not among `places`.
    inboxes: Vec<(usize, InboxView)>,
}

/// The vertices and the outgoing edges of a subgraph that is not in memory.
pub struct ColdSummary {
    /// The index of the subgraph on its page.
    pub place: usize,
    /// The vertices that exist; in another label than the default one, those that have neighbors or had them
    /// at the last checkpoint.
    pub present: u64,
    /// The number of entries of outgoing lists.
    pub edges: u64,
}

/// An image in place of a chain that is not in memory.
pub struct ColdImage {
    /// The index of the subgraph on its page.
    pub place: usize,
    /// The lists of its image, which were checked.
    pub parts: Vec<StoredLists>,
}

/// The facts with which images must agree.
#[derive(Clone, Copy)]
pub struct Expected<F> {
    /// One more than the largest possible vertex id.
    pub bound: u32,
    /// The function that returns the mask of the existing vertices of a subgraph.
    pub exists: F,
}

/// Returns the indices of the set bits of a mask, ascending.
pub fn places(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (place < u64::BITS as usize).then_some(place)
    })
}

impl Cold {
    /// Returns the directory entries of the images; none for subgraphs without an image. Reads one directory
    /// in each segment that has the page.
    ///
    /// # Errors
    /// Those of every read of a file.
    pub fn summaries(&self) -> Result<Vec<ColdSummary>> {
        let mut all = Vec::new();
        self.each_base(|sources, places, inboxes| {
            let mut inboxes = inboxes.to_vec();
            for ImageSummary { id, present, edges, .. } in sources.summaries(self.page)? {
                let place = id.subgraph.index() % PAGE;
                if places >> place & 1 == 1 {
                    let inbox = inboxes.iter().position(|(of, _)| *of == place);
                    let more = inbox.map_or(0, |at| inboxes.swap_remove(at).1.growth());
                    all.push(ColdSummary { place, present, edges: edges.saturating_add_signed(more) });
                }
            }
            let rest = inboxes.into_iter().map(|(place, inbox)| ColdSummary {
                place,
                present: 0,
                edges: u64::try_from(inbox.growth()).unwrap_or(0),
            });
            all.extend(rest);
            Ok(())
        })?;
        Ok(all)
    }

    /// Calls `f` with the segments of subgraphs without an inbox, and with each base of inboxes; with the
    /// mask of the subgraphs to read there, and their inboxes.
    fn each_base<'c>(
        &'c self,
        mut f: impl FnMut(&'c Sources, u64, &[(usize, &'c InboxView)]) -> Result<()>,
    ) -> Result<()> {
        if self.places != 0 {
            f(&self.sources, self.places, &[])?;
        }
        let mut inboxes: Vec<(usize, &InboxView)> =
            self.inboxes.iter().map(|(place, inbox)| (*place, inbox)).collect();
        let base = |inbox: &InboxView| Arc::as_ptr(&inbox.base.sources);
        inboxes.sort_by_key(|(_, inbox)| base(inbox));
        for of_base in inboxes.chunk_by(|(_, a), (_, b)| base(a) == base(b)) {
            let places = of_base.iter().fold(0, |mask, (place, _)| mask | 1u64 << place);
            f(&of_base[0].1.base.sources, places, of_base)?;
        }
        Ok(())
    }
}

impl Pager {
    /// Calls `read` for the subgraphs at the places `wanted` of a page that are in memory. Returns the
    /// others, if any, to be read from files. If a subgraph was not in memory and has changed since, calls
    /// `read` for it again: so `read` must not call the caller's code before it has its data. Reads no file,
    /// and takes no latch.
    ///
    /// The caller reads at the timestamp `t`, which is registered. The loop ends unless the page is loaded,
    /// or evicted, or a wanted subgraph changed, in each round.
    ///
    /// # Errors
    /// The error of a forked child, if a subgraph is not in memory.
    pub fn read_in_memory(
        &self,
        page: PageId,
        wanted: u64,
        t: Timestamp,
        mut read: impl FnMut(usize, &Subgraph) -> std::result::Result<(), NotInMemory>,
    ) -> Result<Option<Cold>> {
        let Some(table) = self.table(page.label) else { return Ok(None) };
        let number = page.page as usize;
        let mut rest = wanted;
        loop {
            let hold = table.hold();
            let looked = table.look(number, &hold);
            let mut stamps = [None; PAGE];
            match looked {
                // Without a page there was no write that the reader could see.
                PageLook::Absent => return Ok(None),
                PageLook::Stored(_) => {}
                PageLook::Loaded(subgraphs) => {
                    for place in places(rest) {
                        let (Some(subgraph), Some(stamp)) = (subgraphs.get(place), stamps.get_mut(place))
                        else {
                            continue;
                        };
                        // Loaded before `read` sees the mark of a chain that is not in memory.
                        *stamp = Some(subgraph.stamp());
                        if read(place, subgraph).is_ok() {
                            rest &= !(1 << place);
                        }
                    }
                }
            }
            if rest == 0 {
                return Ok(None);
            }
            self.check_owner()?;
            // Looked for after the stamps were loaded, and before page versions and segments (N4).
            let (inboxes, others) = self.inboxes_of(page, rest, t);
            // A page version has all of the graph as of `t`, despite later writes (rule E8).
            if let Some(sources) = self.eviction.page_versions.at(t) {
                return Ok(Some(Cold { page, places: rest, sources, inboxes: Vec::new() }));
            }
            if inboxes.iter().any(|(_, inbox)| inbox.base.begin > t) {
                // Its page version came after the look for it.
                continue;
            }
            let sources = self.pages.sources();
            // The second look is after the segments were loaded.
            let unchanged = |place: usize| match looked {
                PageLook::Loaded(subgraphs) => {
                    subgraphs.get(place).map(Subgraph::stamp) == stamps.get(place).copied().flatten()
                }
                _ => true,
            };
            if looked.is_same(&table.look(number, &hold)) && places(others).all(unchanged) {
                return if sources.segments().next().is_some() {
                    Ok(Some(Cold { page, places: others, sources, inboxes }))
                } else {
                    // Without segments no chain was ever clean, so none can be outside memory.
                    Err(NotInMemory.into())
                };
            }
        }
    }

    /// Returns the stamp of a subgraph, or of its page if that is not loaded. If it is the same later, no
    /// operation was applied to the subgraph in between, and none went from its inbox to its chains.
    pub fn stamp_of(&self, id: ImageId) -> Option<(Option<Stamp>, Timestamp)> {
        let table = self.table(id.label)?;
        let hold = table.hold();
        match table.look(id.subgraph.index() / PAGE, &hold) {
            PageLook::Absent => None,
            PageLook::Stored(stored) => Some((None, stored.since)),
            PageLook::Loaded(page) => {
                let stamp = page.get(id.subgraph.index() % PAGE)?.stamp();
                Some((Some(stamp), stamp.applied()))
            }
        }
    }

    /// Returns the inboxes of subgraphs of a page with their operations up to `t`, by place, and the mask of
    /// the subgraphs without one.
    fn inboxes_of(&self, page: PageId, wanted: u64, t: Timestamp) -> (Vec<(usize, InboxView)>, u64) {
        let (mut inboxes, mut others) = (Vec::new(), wanted);
        if self.inboxes.are_none() {
            return (inboxes, others);
        }
        for place in places(wanted) {
            let subgraph = SubgraphId(page.page * PAGE as u32 + place as u32);
            if let Some(inbox) = self.inboxes.view(ImageId { label: page.label, subgraph }, t) {
                inboxes.push((place, inbox));
                others &= !(1 << place);
            }
        }
        (inboxes, others)
    }

    /// Reads the images of subgraphs that are not in memory, in no order, and passes each to `f`; skips
    /// subgraphs without an image. Puts nothing into tables. Only one image and the blocks of one read are in
    /// memory at a time; `has_memory` is called before they take memory.
    ///
    /// # Errors
    /// Those of every read of a file; damage, if an image contradicts the `expected` facts; the errors of
    /// `f`.
    pub fn read_cold(
        &self,
        cold: &Cold,
        expected: Expected<impl Fn(SubgraphId) -> u64>,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
        mut f: impl FnMut(ColdImage) -> Result<()>,
    ) -> Result<()> {
        let (schema, label) = (self.schema.load_full(), cold.page.label);
        let installer = Installer {
            config: self.config,
            schema: &schema,
            checkpoint: self.order.clock.published(),
            bound: expected.bound,
            arena: self.subgraphs.arena(),
        };
        let mut give = |image: SubgraphImage, file: &str| {
            let id = image.id.subgraph;
            if label == LabelId::DEFAULT {
                installer.check_vertices((id, image.present), file)?;
            }
            check_existence(label, &image, (expected.exists)(id), file)?;
            let checked = |part| installer.checked(image.id, part, file);
            let parts = image.parts.into_iter().map(checked).collect::<Result<Vec<_>>>()?;
            let is_misfit = |part: &AdjacencyPart| part.weights.is_some() != self.is_weighted(label);
            if parts.iter().any(is_misfit) {
                return Err(invalid(file, "weights do not fit the graph"));
            }
            let parts = parts.into_iter().map(StoredLists).collect();
            f(ColdImage { place: id.index() % PAGE, parts })
        };
        let has_memory = RefCell::new(has_memory);
        let has = |memory| (has_memory.borrow_mut())(memory);
        cold.each_base(|sources, places, inboxes| {
            let mut rest = inboxes.to_vec();
            sources.read_images((cold.page, places), &mut &has, |image, file| {
                let place = image.id.subgraph.index() % PAGE;
                match rest.iter().position(|(of, _)| *of == place) {
                    None => give(image, file),
                    Some(at) => {
                        let (inbox, id) = (rest.swap_remove(at).1, image.id);
                        let image = sources.image_under(inbox, id, Some(image), &mut &has)?;
                        image.map_or(Ok(()), |image| give(image, file))
                    }
                }
            })?;
            rest.into_iter().try_for_each(|(place, inbox)| {
                let subgraph = SubgraphId(cold.page.page * PAGE as u32 + place as u32);
                let id = ImageId { label, subgraph };
                let image = sources.image_under(inbox, id, None, &mut &has)?;
                image.map_or(Ok(()), |image| give(image, ""))
            })
        })
    }
}

/// Checks which vertices an image has: all existing ones for the default label, and for another label the
/// existing ones that have neighbors there.
fn check_existence(label: LabelId, image: &SubgraphImage, exist: u64, file: &str) -> Result<()> {
    if label == LabelId::DEFAULT && image.present != exist {
        return Err(invalid(file, "other vertices than the store has"));
    }
    if image.present & !exist != 0 {
        return Err(invalid(file, "edges of a vertex that does not exist"));
    }
    Ok(())
}
