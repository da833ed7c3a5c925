//! Reading what is not in memory without putting it there: for who reads much of the graph once (rule E6 of
//! `docs/design/protocol.md`).

use std::sync::Arc;

use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::Subgraph;
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_tier::{AdjacencyPart, ImageSummary, PageId, ReadMemory, SubgraphImage};

use super::{Installer, invalid};
use crate::error::Result;
use crate::files::sources::Sources;
use crate::state::store::Core;

/// Subgraphs of a page that are not in memory, and the segments whose images say what every registered reader sees of them: for as long
/// as this is kept, whatever is written meanwhile.
pub(crate) struct Cold {
    page: PageId,
    places: u64,
    sources: Arc<Sources>,
}

/// An image in place of a chain that is not in memory.
pub(crate) struct ColdImage {
    /// The place of the subgraph on its page.
    pub(crate) place: usize,
    /// What it has of its label, checked: an ascending list of neighbors below the bound for each vertex.
    pub(crate) parts: Vec<AdjacencyPart>,
}

/// What images that are read must agree with.
#[derive(Clone, Copy)]
pub(crate) struct Expected<F> {
    /// One more than the largest vertex id that there may be.
    pub(crate) bound: u32,
    /// Which vertices of a subgraph exist.
    pub(crate) exists: F,
}

/// The places in a mask, ascending.
pub(crate) fn places(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (place < u64::BITS as usize).then_some(place)
    })
}

impl Cold {
    /// What directories say of their images; nothing of those that have none. One read for each segment that has the page.
    ///
    /// # Errors
    /// As of every read of a file.
    pub(crate) fn summaries(&self) -> Result<impl Iterator<Item = (usize, ImageSummary)> + '_> {
        let place = |summary: &ImageSummary| summary.id.subgraph.index() % PAGE;
        let all =
            self.sources.summaries(self.page)?.into_iter().map(move |summary| (place(&summary), summary));
        Ok(all.filter(|(place, _)| self.places >> place & 1 == 1))
    }
}

impl Core {
    /// Has `read` read, of the subgraphs at the places `wanted` of a page, those that are in memory; what is left, if anything, is to be read
    /// from files. `read` is called again for a subgraph that it found out of memory if that changed meanwhile: it must not have called
    /// the caller's code by then. Reads no file, and takes no latch.
    ///
    /// The caller reads at the timestamp `t`, which is registered. A call ends: a page is loaded once, and what changes after a registered
    /// timestamp stays in memory.
    ///
    /// # Errors
    /// Those of a forked child, where something is left.
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
            let loaded = table.page(number);
            let mut stamps = [Timestamp::ZERO; PAGE];
            match loaded {
                // Where there is no page, nothing was ever written that the reader sees.
                None if !table.is_unloaded(number) && table.page(number).is_none() => return Ok(None),
                None => {}
                Some(subgraphs) => {
                    for place in places(rest) {
                        let (Some(subgraph), Some(stamp)) = (subgraphs.get(place), stamps.get_mut(place))
                        else {
                            continue;
                        };
                        // Before the mark is seen.
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
            // All of the graph as of `t`, whatever is written meanwhile (rule E8).
            if let Some(sources) = self.eviction.page_versions.at(t) {
                return Ok(Some(Cold { page, places: rest, sources }));
            }
            let sources = self.pages.sources();
            // After the segments were taken.
            let same = |place: usize| match (loaded, table.page(number)) {
                (None, now) => now.is_none(),
                (Some(subgraphs), _) => {
                    subgraphs.get(place).map(|it| it.stamp().applied()) == stamps.get(place).copied()
                }
            };
            if places(rest).all(same) {
                return if sources.segments().next().is_some() {
                    Ok(Some(Cold { page, places: rest, sources }))
                } else {
                    // Without segments nothing was ever clean: what is not in memory is nowhere.
                    Err(NotInMemory.into())
                };
            }
        }
    }

    /// Reads the images of what is not in memory, in no order, and gives each to `f`; of a subgraph that has none there is nothing. Nothing
    /// is put into tables. One image is in memory at a time, and the blocks of one read; `has_memory` is asked before they are.
    ///
    /// # Errors
    /// As of every read of a file; damage, where an image does not fit what is `expected`; whatever `f` returns.
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
            checkpoint: self.clock.published(),
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

/// The image of the default label tells which vertices exist, that of another one which of them have neighbors.
fn check_existence(label: LabelId, image: &SubgraphImage, exist: u64, file: &str) -> Result<()> {
    if label == LabelId::DEFAULT && image.present != exist {
        return Err(invalid(file, "other vertices than the store has"));
    }
    if image.present & !exist != 0 {
        return Err(invalid(file, "edges of a vertex that does not exist"));
    }
    Ok(())
}
