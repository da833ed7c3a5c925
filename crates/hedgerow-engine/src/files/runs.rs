//! Which run holds the image of each subgraph, and which runs the next one takes in.

use std::collections::HashMap;

use hedgerow_core::SubgraphId;
use hedgerow_io::FileId;
use hedgerow_tier::LevelSegment;

/// There are never more runs than this.
pub(crate) const MOST_RUNS: usize = 8;
/// What an image costs in a segment beside its own bytes: its entry in the index.
const ENTRY_BYTES: u64 = 40;
/// As much waste in small stores is not worth a merge.
const SMALL: u64 = 64 << 10;

/// Where the image of a subgraph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ImageLocation {
    run: FileId,
    bytes: u64,
}

/// The newest image of each subgraph. In proportion to what the segments list, and not to the largest id in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    newest: HashMap<SubgraphId, ImageLocation>,
}

/// What the next run takes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    /// The runs that stay, oldest first.
    pub(crate) keep: Vec<LevelSegment>,
    /// The runs that go, because the next one takes their images in, or because they have none that are valid.
    pub(crate) gone: Vec<LevelSegment>,
}

impl Merge {
    /// Whether a subgraph without vertices needs an image that says so: an older run may show it.
    pub(crate) fn needs_empty_images(&self) -> bool {
        !self.keep.is_empty()
    }

    fn takes(&self, run: FileId) -> bool {
        self.gone.iter().any(|gone| gone.info.file_id == run)
    }
}

impl Runs {
    /// Notes the image of a subgraph in a run.
    pub(crate) fn put(&mut self, id: SubgraphId, run: FileId, bytes: u64) {
        self.newest.insert(id, ImageLocation { run, bytes: bytes + ENTRY_BYTES });
    }

    /// Notes that there are no images any more in the runs that are gone.
    pub(crate) fn forget_all_in(&mut self, gone: &[LevelSegment]) {
        self.newest.retain(|_, place| gone.iter().all(|run| run.info.file_id != place.run));
    }

    /// Whether some run has an image of the subgraph.
    pub(crate) fn has(&self, id: SubgraphId) -> bool {
        self.newest.contains_key(&id)
    }

    /// The bytes of memory that this takes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.newest.capacity() * (size_of::<(SubgraphId, ImageLocation)>() + 1)
    }

    /// The bytes of all newest images.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.newest.values().map(|place| place.bytes).sum()
    }

    /// Whether the next run holds the subgraph's image.
    pub(crate) fn is_taken_in(&self, id: SubgraphId, merge: &Merge) -> bool {
        self.newest.get(&id).is_some_and(|place| merge.takes(place.run))
    }

    /// What the next run takes in, if the subgraphs for which `changed` says so are in it anyway. See
    /// `docs/design/checkpoints.md` for the rule and what it bounds. O(subgraphs).
    pub(crate) fn plan(&self, runs: &[LevelSegment], changed: impl Fn(SubgraphId) -> bool) -> Merge {
        let mut runs = runs.to_vec();
        runs.sort_by_key(|run| run.info.file_id);
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

    /// A run that takes in all others.
    pub(crate) fn whole(runs: &[LevelSegment]) -> Merge {
        Merge { keep: Vec::new(), gone: runs.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_core::Timestamp;
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
        };
        LevelSegment { level: 0, info }
    }

    /// Checkpoints of a store of which random subgraphs change: the bounds of the design page hold.
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
            let is_changed = |id: SubgraphId| changed.contains(&id.0);
            let merge = runs.plan(&named, is_changed);
            let mut bytes = 200;
            for id in (0..1000).map(SubgraphId) {
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
