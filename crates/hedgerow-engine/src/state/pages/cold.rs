//! Reads of data outside memory that do not load it: for calls that read a large share of the graph once
//! (rule E6 of `docs/design/cold-reads.md`).

use std::sync::Arc;

use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{PageLook, Subgraph};
use hedgerow_pager::Sources;
use hedgerow_tier::{AdjacencyPart, ImageSummary, PageId, ReadMemory, SubgraphImage};

use super::{Installer, invalid};
use crate::error::Result;
use crate::state::pager::Pager;

/// Subgraphs of a page that are not in memory, and segments whose images hold them as every registered reader
/// sees them. That is true while this value exists, despite later writes.
pub(crate) struct Cold {
    page: PageId,
    places: u64,
    sources: Arc<Sources>,
}

/// An image in place of a chain that is not in memory.
pub(crate) struct ColdImage {
    /// The index of the subgraph on its page.
    pub(crate) place: usize,
    /// The parts of its image, which were checked: each vertex has an ascending list of neighbors below the
    /// bound.
    pub(crate) parts: Vec<AdjacencyPart>,
}

/// The facts with which images must agree.
#[derive(Clone, Copy)]
pub(crate) struct Expected<F> {
    /// One more than the largest possible vertex id.
    pub(crate) bound: u32,
    /// The function that returns the mask of the existing vertices of a subgraph.
    pub(crate) exists: F,
}

/// Returns the indices of the set bits of a mask, ascending.
pub(crate) fn places(mut mask: u64) -> impl Iterator<Item = usize> {
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
    pub(crate) fn summaries(&self) -> Result<impl Iterator<Item = (usize, ImageSummary)> + '_> {
        let place = |summary: &ImageSummary| summary.id.subgraph.index() % PAGE;
        let all =
            self.sources.summaries(self.page)?.into_iter().map(move |summary| (place(&summary), summary));
        Ok(all.filter(|(place, _)| self.places >> place & 1 == 1))
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
    pub(crate) fn read_in_memory(
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
            let mut stamps = [Timestamp::ZERO; PAGE];
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
                        *stamp = subgraph.stamp().applied();
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
            // A page version has all of the graph as of `t`, despite later writes (rule E8).
            if let Some(sources) = self.eviction.page_versions.at(t) {
                return Ok(Some(Cold { page, places: rest, sources }));
            }
            let sources = self.pages.sources();
            // The second look is after the segments were loaded.
            let unchanged = |place: usize| match looked {
                PageLook::Loaded(subgraphs) => {
                    subgraphs.get(place).map(|it| it.stamp().applied()) == stamps.get(place).copied()
                }
                _ => true,
            };
            if looked.is_same(&table.look(number, &hold)) && places(rest).all(unchanged) {
                return if sources.segments().next().is_some() {
                    Ok(Some(Cold { page, places: rest, sources }))
                } else {
                    // Without segments no chain was ever clean, so none can be outside memory.
                    Err(NotInMemory.into())
                };
            }
        }
    }

    /// Reads the images of subgraphs that are not in memory, in no order, and passes each to `f`; skips
    /// subgraphs without an image. Puts nothing into tables. Only one image and the blocks of one read are in
    /// memory at a time; `has_memory` is called before they take memory.
    ///
    /// # Errors
    /// Those of every read of a file; damage, if an image contradicts the `expected` facts; the errors of
    /// `f`.
    pub(crate) fn read_cold(
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
        cold.sources.read_images((cold.page, cold.places), has_memory, |image, file| {
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
            f(ColdImage { place: id.index() % PAGE, parts })
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
