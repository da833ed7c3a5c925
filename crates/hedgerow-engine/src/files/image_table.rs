//! The table of the segments that have the newest image of each subgraph in each label, and the newer deltas;
//! and the choice of segments to merge into the next one. The names `run` and `Runs` in this module count
//! segments.

use std::collections::HashMap;

use hedgerow_catalog::error::Result;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::FileId;
use hedgerow_pager::{Sources, sort_newest_first};
use hedgerow_tier::{ImageId, LevelSegment};

/// The most segments of checkpoints that a store keeps.
pub(crate) const MOST_RUNS: usize = 8;
/// The bytes of a record's entry in a directory, in addition to the record.
const ENTRY_BYTES: u64 = 24;
/// The bytes of superseded images that are not worth a merge in a small store.
const SMALL: u64 = 64 << 10;

/// The place of an image or a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecordLocation {
    run: FileId,
    bytes: u64,
}

impl RecordLocation {
    fn new(run: FileId, bytes: u64) -> RecordLocation {
        RecordLocation { run, bytes: bytes + ENTRY_BYTES }
    }
}

/// A record that was written into a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenRecord {
    pub(crate) id: ImageId,
    /// The size of the record in the file.
    pub(crate) bytes: u64,
    pub(crate) is_delta: bool,
}

impl WrittenRecord {
    /// Makes the record of an image.
    pub(crate) fn image(id: ImageId, bytes: u64) -> WrittenRecord {
        WrittenRecord { id, bytes, is_delta: false }
    }
}

/// The newest image of each subgraph in each label. The table's size depends on the number of images in the
/// segments, and not on the largest id in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    newest: HashMap<ImageId, RecordLocation>,
    /// The deltas that are newer than the image of their subgraph.
    deltas: HashMap<ImageId, Vec<RecordLocation>>,
    /// True if directories were read; opening a store does not read them.
    are_read: bool,
}

/// The segments to merge into the next segment, and the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    /// The segments that stay, oldest first.
    pub(crate) keep: Vec<LevelSegment>,
    /// The segments that go, because the next one takes their images in, or because none of their images is
    /// valid.
    pub(crate) gone: Vec<LevelSegment>,
}

impl Merge {
    /// True if a subgraph without vertices needs an empty image, since an older segment may have an image of
    /// it.
    pub(crate) fn needs_empty_images(&self) -> bool {
        !self.keep.is_empty()
    }

    pub(crate) fn takes(&self, run: FileId) -> bool {
        self.gone.iter().any(|gone| gone.info.file_id == run)
    }
}

impl Runs {
    /// The most bytes of memory that this table takes for each image, which it may reach while it grows.
    pub(crate) const MOST_BYTES_PER_IMAGE: u64 = 3 * (size_of::<(ImageId, RecordLocation)>() as u64 + 1);

    /// True if it is known which segment has which image.
    pub(crate) fn are_read(&self) -> bool {
        self.are_read
    }

    /// Reads the directories of all segments, unless they were read. O(images).
    ///
    /// # Errors
    /// Damage, and errors of the system. The next call reads again.
    pub(crate) fn read(&mut self, sources: &Sources) -> Result<()> {
        if self.are_read {
            return Ok(());
        }
        self.newest.clear();
        self.deltas.clear();
        sources.for_each_summary(|segment, record| {
            let place = RecordLocation::new(segment.reader.info().file_id, record.bytes);
            if record.is_delta {
                self.deltas.entry(record.id).or_default().push(place);
            } else {
                self.newest.insert(record.id, place);
            }
        })?;
        self.are_read = true;
        Ok(())
    }

    /// Notes a record that is newer than all others of its subgraph. An image replaces these others.
    pub(crate) fn put(&mut self, record: &WrittenRecord, run: FileId) {
        let place = RecordLocation::new(run, record.bytes);
        if record.is_delta {
            self.deltas.entry(record.id).or_default().push(place);
            if faults::is_on(PlantedFault::ImageBelowDeltaForgotten) {
                self.newest.remove(&record.id);
            }
        } else {
            self.newest.insert(record.id, place);
            self.deltas.remove(&record.id);
        }
    }

    /// Notes that the segments in `gone` have no records any more.
    pub(crate) fn forget_all_in(&mut self, gone: &[LevelSegment]) {
        let stays = |place: &RecordLocation| gone.iter().all(|run| run.info.file_id != place.run);
        self.newest.retain(|_, place| stays(place));
        self.deltas.retain(|_, places| {
            places.retain(stays);
            !places.is_empty()
        });
    }

    /// True if some segment has an image with this id.
    pub(crate) fn has(&self, id: ImageId) -> bool {
        self.newest.contains_key(&id)
    }

    /// True if some segment has a valid delta.
    pub(crate) fn has_deltas(&self) -> bool {
        !self.deltas.is_empty()
    }

    /// Returns the bytes of the newest image with this id; 0 if there is none.
    pub(crate) fn image_bytes_of(&self, id: ImageId) -> u64 {
        self.newest.get(&id).map_or(0, |place| place.bytes)
    }

    /// Returns the bytes of memory that this table takes. O(1): the places of deltas are estimated.
    pub(crate) fn bytes(&self) -> usize {
        let of_deltas = size_of::<(ImageId, Vec<RecordLocation>)>() + 4 * size_of::<RecordLocation>() + 1;
        self.newest.capacity() * (size_of::<(ImageId, RecordLocation)>() + 1)
            + self.deltas.capacity() * of_deltas
    }

    /// Returns the places of all valid records.
    fn places(&self) -> impl Iterator<Item = (ImageId, &RecordLocation)> {
        let deltas = self.deltas.iter().flat_map(|(&id, places)| places.iter().map(move |place| (id, place)));
        self.newest.iter().map(|(&id, place)| (id, place)).chain(deltas)
    }

    /// Returns the bytes of all valid records.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.places().map(|(_, place)| place.bytes).sum()
    }

    /// Returns the bytes of all valid deltas.
    pub(crate) fn delta_bytes(&self) -> u64 {
        self.deltas.values().flatten().map(|place| place.bytes).sum()
    }

    /// True if the next segment gets records of the subgraph from a segment that it takes in.
    pub(crate) fn is_taken_in(&self, id: ImageId, merge: &Merge) -> bool {
        let deltas = self.deltas.get(&id).into_iter().flatten();
        self.newest.get(&id).into_iter().chain(deltas).any(|place| merge.takes(place.run))
    }

    /// Returns the bytes of the records that the next segment rewrites, except for those that `changed`
    /// selects, which the segment writes anyway. O(records).
    pub(crate) fn bytes_taken_in(&self, merge: &Merge, changed: impl Fn(ImageId) -> bool) -> u64 {
        let taken_in = self.places().filter(|&(id, place)| merge.takes(place.run) && !changed(id));
        taken_in.map(|(_, place)| place.bytes).sum()
    }

    /// Chooses the segments that the next segment takes in, if it has the images that `changed` selects, and
    /// deltas of `new_deltas` bytes, anyway. See `docs/design/checkpoints.md` for the rule and its bounds.
    /// O(records).
    pub(crate) fn plan(
        &self,
        runs: &[LevelSegment],
        changed: impl Fn(ImageId) -> bool,
        new_deltas: u64,
    ) -> Merge {
        let mut runs = runs.to_vec();
        sort_newest_first(&mut runs, |run| run.info.file_id);
        runs.reverse();
        let mut live = vec![0u64; runs.len()];
        let mut gathered = new_deltas;
        for (id, place) in self.places() {
            if changed(id) {
                // The new image replaces the deltas too, and has about the size of the old one.
                gathered += if self.newest.get(&id) == Some(place) { place.bytes } else { 0 };
            } else if let Ok(run) = runs.binary_search_by_key(&place.run, |run| run.info.file_id) {
                live[run] += place.bytes;
            }
        }
        let mut kept = runs.len();
        while kept > 0 && (live[kept - 1] <= gathered || kept >= MOST_RUNS) {
            kept -= 1;
            gathered += live[kept];
        }
        let total: u64 = runs[..kept].iter().map(|run| run.info.bytes).sum();
        let alive: u64 = live[..kept].iter().sum();
        if total > (2 * alive).saturating_add(SMALL) {
            kept = 0;
        }
        let numbered = runs.into_iter().enumerate();
        let (keep, gone): (Vec<_>, Vec<_>) = numbered.partition(|&(i, _)| i < kept && live[i] > 0);
        let runs = |of: Vec<(usize, LevelSegment)>| of.into_iter().map(|(_, run)| run).collect();
        Merge { keep: runs(keep), gone: runs(gone) }
    }

    /// Returns the merge of a segment that takes in all others.
    pub(crate) fn whole(runs: &[LevelSegment]) -> Merge {
        Merge { keep: Vec::new(), gone: runs.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_core::{LabelId, SubgraphId, Timestamp};
    use hedgerow_tier::SegmentInfo;

    fn run(id: u64, bytes: u64) -> LevelSegment {
        let file_id = FileId(id);
        let info = SegmentInfo {
            file_id,
            bytes,
            hash: 0,
            subgraphs: 0,
            vertices: 0,
            edges: 0,
            max_as_of: Timestamp::ZERO,
            pages: None,
        };
        LevelSegment { level: 0, info }
    }

    /// The bounds of the design page hold for checkpoints of a store, if random subgraphs change between
    /// them.
    #[test]
    fn runs_stay_few_and_their_waste_bounded() {
        const IMAGE: u64 = 10_000;
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let (mut runs, mut named): (Runs, Vec<LevelSegment>) = (Runs::default(), Vec::new());
        let (mut written, mut changed_in_all, mut most) = (0, 0, 0);
        for number in 1..=400u64 {
            let changed: Vec<u32> = (0..1 + random(30)).map(|_| random(1000) as u32).collect();
            let is_changed = |id: ImageId| changed.contains(&id.subgraph.0);
            let merge = runs.plan(&named, is_changed, 0);
            let mut bytes = 200;
            for subgraph in (0..1000).map(SubgraphId) {
                let id = ImageId { label: LabelId::DEFAULT, subgraph };
                if is_changed(id) || runs.is_taken_in(id, &merge) {
                    runs.put(&WrittenRecord::image(id, IMAGE), FileId(number));
                    bytes += IMAGE + ENTRY_BYTES;
                }
            }
            named = merge.keep;
            named.push(run(number, bytes));
            written += bytes;
            changed_in_all += changed.len() as u64 * IMAGE;
            most = most.max(named.len());
            assert!(named.len() <= MOST_RUNS);
            let total: u64 = named.iter().map(|run| run.info.bytes).sum();
            assert!(total <= 2 * runs.live_bytes() + 2 * SMALL, "{total} of {}", runs.live_bytes());
        }
        assert!(most >= 3, "at most {most} runs");
        let factor = written as f64 / changed_in_all as f64;
        assert!(factor < 6.0, "each image was written {factor} times");
    }
}
