//! Reads of records in segments, which merge the deltas of a subgraph with its image.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use hedgerow_core::SubgraphId;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::FileId;
use hedgerow_tier::{
    ImageId, ImageSummary, PageId, ReadCache, ReadMemory, SubgraphDelta, SubgraphImage, SubgraphRecord,
    TierError,
};

use crate::sources::inboxes::InboxView;
use crate::sources::newest::Places;
use crate::sources::segments::{Sources, invalid};
use crate::sources::source::HasMemory;
use crate::sources::stacked::Above;

/// The deltas of a page for which no image has been found yet, newest first.
type Open<'s> = HashMap<SubgraphId, (Vec<SubgraphDelta>, &'s str)>;

impl Sources {
    /// Returns the number of newest segments for which `is_taken` is true.
    pub fn depth_of(&self, is_taken: impl Fn(FileId) -> bool) -> usize {
        self.segments().take_while(|segment| is_taken(segment.reader.info().file_id)).count()
    }

    /// Reads the newest records of a page, at the places in `wanted`, in the `depth` newest segments; gives
    /// one record for each subgraph to `f`, in no order, with the name of the file of its image, or else of
    /// its newest delta. The record is an image, with all newer deltas applied; or a delta with the effect of
    /// all deltas, if none of these segments has an image. Calls `has_memory` before it takes memory. Reads
    /// the directory of the page in one segment after another until it has found all wanted images. In each
    /// segment it reads the blocks from the first wanted record to the last.
    ///
    /// # Errors
    /// Damage, failures of the file system, and the errors of `f`; [`TierError::NoRoom`] if `has_memory`
    /// returns false. It is damage if no segment at all has an image below a delta.
    pub fn read_records<'s, E: From<TierError>>(
        &'s self,
        (id, wanted): (PageId, u64),
        depth: usize,
        has_memory: HasMemory<'_>,
        mut f: impl FnMut(SubgraphRecord, &'s str) -> Result<(), E>,
    ) -> Result<(), E> {
        let has_memory = RefCell::new(has_memory);
        // Deltas stay in memory until their image is found, so they count as buffers.
        let (buffers, kept) = (Cell::new(0), Cell::new(0));
        let has = |memory: ReadMemory| {
            if let ReadMemory::Buffers(bytes) = memory {
                buffers.set(bytes);
                return (has_memory.borrow_mut())(ReadMemory::Buffers(bytes + kept.get()));
            }
            (has_memory.borrow_mut())(memory)
        };
        let mut open: Open<'s> = HashMap::new();
        self.walk_page::<E>(id, (Places::of_bits(wanted), depth), |segment, page, places| {
            let mut found = Places::NONE;
            let is_wanted = |image: ImageId| places.has(image.subgraph);
            segment.reader.read_records::<E>(page, is_wanted, &mut { has }, |record| match record {
                SubgraphRecord::Delta(delta) => {
                    kept.set(kept.get() + delta.memory_bytes() as u64);
                    if !has(ReadMemory::Buffers(buffers.get())) {
                        return Err(TierError::NoRoom { needed: kept.get() }.into());
                    }
                    let (deltas, _) = open.entry(delta.id.subgraph).or_insert((Vec::new(), &segment.name));
                    deltas.push(delta);
                    Ok(())
                }
                SubgraphRecord::Image(image) => {
                    found.insert(image.id.subgraph);
                    let image = match open.remove(&image.id.subgraph) {
                        None => image,
                        Some((deltas, _)) => {
                            let bytes: usize = deltas.iter().map(SubgraphDelta::memory_bytes).sum();
                            kept.set(kept.get() - bytes as u64);
                            self.image_with(&deltas, (image, &segment.name), &mut { has })?
                        }
                    };
                    f(SubgraphRecord::Image(image), &segment.name)
                }
            })?;
            Ok(found)
        })?;
        for (_, (deltas, file)) in open {
            if let Some(delta) = self.delta_with(&deltas, (depth, file), &mut { has })? {
                f(SubgraphRecord::Delta(delta), file)?;
            }
        }
        Ok(())
    }

    /// Reads the newest record of one subgraph, as [`read_records`](Self::read_records) does, with the name
    /// of its file; `None` if there is none. Reads a directory from the file only if `cache` lacks it.
    ///
    /// # Errors
    /// The errors of [`read_records`](Self::read_records).
    pub fn read_record(
        &self,
        id: ImageId,
        depth: usize,
        cache: &ReadCache,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<(SubgraphRecord, &str)>, TierError> {
        let (mut deltas, mut found, mut newest) = (Vec::new(), None, None);
        let places = Places::of(id.subgraph);
        self.walk_page::<TierError>(id.page(), (places, depth), |segment, page, open| {
            match segment.reader.read_record(page, id, cache, has_memory)? {
                None => return Ok(Places::NONE),
                Some(SubgraphRecord::Delta(delta)) => {
                    deltas.push(delta);
                    newest.get_or_insert(segment.name.as_str());
                    return Ok(Places::NONE);
                }
                Some(SubgraphRecord::Image(image)) => found = Some((image, segment.name.as_str())),
            }
            Ok(open)
        })?;
        Ok(match (found, newest) {
            (Some((image, file)), _) => {
                let image = self.image_with(&deltas, (image, file), has_memory)?;
                Some((SubgraphRecord::Image(image), file))
            }
            (None, Some(file)) => {
                let delta = self.delta_with(&deltas, (depth, file), has_memory)?;
                delta.map(|delta| (SubgraphRecord::Delta(delta), file))
            }
            (None, None) => None,
        })
    }

    /// Returns the record to write for a subgraph whose chains are not in memory: `record` with the
    /// operations of an inbox. `record` is what [`read_records`](Self::read_records) found in segments that
    /// are merged, and `summary` is the newest directory entry of the subgraph in all segments. Returns
    /// `None` if there is nothing to write.
    ///
    /// # Errors
    /// [`TierError::NoRoom`] if `has_memory` returns false.
    pub fn record_under(
        &self,
        inbox: Option<&InboxView>,
        summary: &ImageSummary,
        record: Option<SubgraphRecord>,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<SubgraphRecord>, TierError> {
        let (id, inboxes) = (summary.id, inbox.map(Above::Inbox));
        let delta = match record {
            Some(SubgraphRecord::Image(image)) => {
                let above: Vec<Above<'_>> = inboxes.into_iter().collect();
                let image = self.image_below(&above, image, has_memory)?;
                return Ok(Some(SubgraphRecord::Image(image)));
            }
            Some(SubgraphRecord::Delta(_)) if faults::is_on(PlantedFault::OlderDeltaDropped) => None,
            Some(SubgraphRecord::Delta(delta)) => Some(delta),
            None => None,
        };
        let above: Vec<Above<'_>> = inboxes.into_iter().chain(delta.as_ref().map(Above::Delta)).collect();
        let edges = summary.edges.saturating_add_signed(inbox.map_or(0, InboxView::growth));
        let delta = self.delta_of(&above, (id, summary.present, edges), has_memory)?;
        Ok(delta.map(SubgraphRecord::Delta))
    }

    /// Returns an image with deltas over it, which come newest first; damage, if they do not fit.
    fn image_with(
        &self,
        deltas: &[SubgraphDelta],
        (image, file): (SubgraphImage, &str),
        has_memory: HasMemory<'_>,
    ) -> Result<SubgraphImage, TierError> {
        let Some(newest) = deltas.first() else { return Ok(image) };
        if deltas.iter().any(|delta| delta.present != image.present) {
            return Err(invalid(file, "a delta of other vertices than its image"));
        }
        let above: Vec<Above<'_>> = deltas.iter().map(Above::Delta).collect();
        let image = self.image_below(&above, image, has_memory)?;
        if image.edge_count() != newest.edges && !faults::is_on(PlantedFault::DeltaNotRead) {
            return Err(invalid(file, "a delta that counts other edges than there are"));
        }
        Ok(image)
    }

    /// Returns one delta for several, which come newest first. It is damage if all segments were read: a
    /// delta needs an image below it.
    fn delta_with(
        &self,
        deltas: &[SubgraphDelta],
        (depth, file): (usize, &str),
        has_memory: HasMemory<'_>,
    ) -> Result<Option<SubgraphDelta>, TierError> {
        if depth >= self.segments().count() {
            return Err(invalid(file, "a delta without an image"));
        }
        let Some(newest) = deltas.first() else { return Ok(None) };
        let above: Vec<Above<'_>> = deltas.iter().map(Above::Delta).collect();
        self.delta_of(&above, (newest.id, newest.present, newest.edges), has_memory)
    }
}
