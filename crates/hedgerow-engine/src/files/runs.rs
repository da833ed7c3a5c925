//! The table of the segments that have the newest image of each subgraph in each label, and the choice of
//! segments to merge into the next one. The names `run` and `Runs` in this module count segments.

use std::collections::HashMap;

use hedgerow_io::FileId;
use hedgerow_pager::{Sources, sort_newest_first};
use hedgerow_tier::{ImageId, LevelSegment};

use crate::error::Result;

/// The most segments of checkpoints that a store keeps.
pub(crate) const MOST_RUNS: usize = 8;
/// The bytes of an image's entry in a directory, in addition to the image.
const ENTRY_BYTES: u64 = 24;
/// The bytes of superseded images that are not worth a merge in a small store.
const SMALL: u64 = 64 << 10;

/// The place of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ImageLocation {
    run: FileId,
    bytes: u64,
}

/// The newest image of each subgraph in each label. The table's size depends on the number of images in the
/// segments, and not on the largest id in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    newest: HashMap<ImageId, ImageLocation>,
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

    fn takes(&self, run: FileId) -> bool {
        self.gone.iter().any(|gone| gone.info.file_id == run)
    }
}

impl Runs {
    /// The most bytes of memory that this table takes for each image, which it may reach while it grows.
    pub(crate) const MOST_BYTES_PER_IMAGE: u64 = 3 * (size_of::<(ImageId, ImageLocation)>() as u64 + 1);

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
        sources.for_each_summary(|segment, image| {
            self.put(image.id, segment.reader.info().file_id, image.bytes);
        })?;
        self.are_read = true;
        Ok(())
    }

    /// True if this segment has the newest image.
    pub(crate) fn is_in(&self, id: ImageId, run: FileId) -> bool {
        self.newest.get(&id).is_some_and(|place| place.run == run)
    }

    /// Notes an image in a segment.
    pub(crate) fn put(&mut self, id: ImageId, run: FileId, bytes: u64) {
        self.newest.insert(id, ImageLocation { run, bytes: bytes + ENTRY_BYTES });
    }

    /// Notes that the segments in `gone` have no images any more.
    pub(crate) fn forget_all_in(&mut self, gone: &[LevelSegment]) {
        self.newest.retain(|_, place| gone.iter().all(|run| run.info.file_id != place.run));
    }

    /// True if some segment has an image with this id.
    pub(crate) fn has(&self, id: ImageId) -> bool {
        self.newest.contains_key(&id)
    }

    /// Returns the bytes of the newest image with this id; 0 if there is none.
    pub(crate) fn bytes_of(&self, id: ImageId) -> u64 {
        self.newest.get(&id).map_or(0, |place| place.bytes)
    }

    /// Returns the bytes of memory that this table takes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.newest.capacity() * (size_of::<(ImageId, ImageLocation)>() + 1)
    }

    /// Returns the bytes of all newest images.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.newest.values().map(|place| place.bytes).sum()
    }

    /// True if the next segment gets the image from a segment that it takes in.
    pub(crate) fn is_taken_in(&self, id: ImageId, merge: &Merge) -> bool {
        self.newest.get(&id).is_some_and(|place| merge.takes(place.run))
    }

    /// Returns the bytes of the images that the next segment rewrites, except for those that `changed`
    /// selects, which the segment writes anyway. O(images).
    pub(crate) fn bytes_taken_in(&self, merge: &Merge, changed: impl Fn(ImageId) -> bool) -> u64 {
        let taken_in = self.newest.iter().filter(|&(&id, place)| merge.takes(place.run) && !changed(id));
        taken_in.map(|(_, place)| place.bytes).sum()
    }

    /// Chooses the segments that the next segment takes in, if the images that `changed` selects are in it
    /// anyway. See `docs/design/checkpoints.md` for the rule and its bounds. O(images).
    pub(crate) fn plan(&self, runs: &[LevelSegment], changed: impl Fn(ImageId) -> bool) -> Merge {
        let mut runs = runs.to_vec();
        sort_newest_first(&mut runs, |run| run.info.file_id);
        runs.reverse();
        let mut live = vec![0u64; runs.len()];
        let mut gathered = 0;
        for (&id, place) in &self.newest {
            if changed(id) {
                gathered += place.bytes;
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
            let merge = runs.plan(&named, is_changed);
            let mut bytes = 200;
            for subgraph in (0..1000).map(SubgraphId) {
                let id = ImageId { label: LabelId::DEFAULT, subgraph };
                if is_changed(id) || runs.is_taken_in(id, &merge) {
                    runs.put(id, FileId(number), IMAGE);
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
