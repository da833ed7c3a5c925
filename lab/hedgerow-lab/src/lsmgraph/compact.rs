//! Flushes and compactions. They move edges down: from full memory buffers to the first level, and from level
//! to level (section 4.2.1).

use std::sync::Arc;

use hedgerow_core::{Direction, VertexId};

use super::build::Builder;
use super::entry::{Versions, prune};
use super::graph::{Graph, Version};
use super::memory::MemGraph;
use super::merge::{Merge, Merged};
use super::options::LEVELS;
use super::picks::Picks;
use super::segment::Segment;
use crate::LabError;
use crate::clock::Active;
use crate::planted::{Planted, is_on};

fn entries(segments: &[Arc<Segment>]) -> usize {
    segments.iter().map(|segment| segment.entries).sum()
}

/// Segments of one level, from new to old or ascending.
type Segments = Vec<Arc<Segment>>;

impl Graph {
    /// True if the current buffer has the entries of a full buffer.
    pub(super) fn is_full(&self) -> bool {
        self.current.read().buffers[0].len() >= self.options.memory_entries()
    }

    /// Replaces the current buffer if it is full. If `any`, also replaces a buffer with at least one entry.
    /// Waits for the transactions that write to the buffer.
    pub(super) fn rotate(&self, any: bool) {
        let _alone = self.writing.write();
        let version = self.version();
        let buffer = &version.buffers[0];
        let least = if any { 1 } else { self.options.memory_entries() };
        if buffer.len() >= least {
            let next = Arc::new(MemGraph::new(buffer.order + 1));
            self.publish(|version| version.buffers.insert(0, next));
        }
    }

    /// Flushes one buffer or compacts one level, if one of them is due. Returns true if one was due.
    pub(super) fn step(&self, active: &dyn Fn() -> Active) -> Result<bool, LabError> {
        let mut picks = self.picks.lock();
        let files = self.version().first.iter().map(Vec::len).max().unwrap_or(0);
        // With too many files, compaction comes first. Writers wait for buffers then, so the first level does
        // not grow without bounds.
        let has_too_many = files >= 2 * self.options.first_level_files.max(1);
        if !has_too_many && self.flush(active)? {
            return Ok(true);
        }
        self.compact(&mut picks, &active())
    }

    /// Flushes all buffers, and merges all levels into one if this can free room.
    pub(super) fn collect(&self, active: &dyn Fn() -> Active) -> Result<(), LabError> {
        self.rotate(true);
        let _picks = self.picks.lock();
        while self.flush(active)? {}
        for &direction in self.form.directions() {
            let version = self.version();
            let first = &version.first[direction as usize];
            let levels = &version.levels[direction as usize];
            let filled = levels.iter().filter(|level| !level.is_empty()).count();
            let is_simple = levels.iter().flatten().all(|segment| segment.is_simple);
            if first.is_empty() && filled <= 1 && is_simple {
                continue;
            }
            let total = entries(first) + levels.iter().map(|level| entries(level)).sum::<usize>();
            let deepest = levels.iter().rposition(|level| !level.is_empty()).map_or(1, |level| level + 1);
            let fits = (1..LEVELS).find(|&level| total <= self.options.level_entries(level));
            let inputs = first.iter().map(|file| vec![file.clone()]).chain(levels.iter().cloned()).collect();
            self.replace(direction, inputs, deepest.max(fits.unwrap_or(1)), &active())?;
        }
        for record in self.records() {
            let mut record = record.write();
            if record.itself.has_older() {
                // The lock is held. So every version that `prune` keeps belongs to a reader that is
                // registered by now.
                record.itself.prune(&active());
            }
        }
        self.files.clear_cache();
        Ok(())
    }

    /// Writes the oldest full buffer to the first level. Returns true if there was one.
    fn flush(&self, active: &dyn Fn() -> Active) -> Result<bool, LabError> {
        let version = self.version();
        let [_, .., full] = version.buffers.as_slice() else { return Ok(false) };
        // No transaction writes to this buffer any more: all its entries were published before this call.
        let active = &active();
        let mut made: [Option<Arc<Segment>>; 2] = Default::default();
        for &direction in self.form.directions() {
            let builder = self.collect_buffer(&version, full, direction, active);
            if !builder.is_empty() {
                let segment = builder.finish(&self.files, &self.options, (0, full.order))?;
                made[direction as usize] = Some(segment);
            }
        }
        self.publish(|version| {
            version.buffers.pop();
            for (first, made) in version.first.iter_mut().zip(made) {
                drop(first.splice(0..0, made));
            }
        });
        Ok(true)
    }

    fn collect_buffer(
        &self,
        version: &Version,
        buffer: &MemGraph,
        direction: Direction,
        active: &Active,
    ) -> Builder {
        let levels = &version.levels[direction as usize];
        let below =
            !version.first[direction as usize].is_empty() || levels.iter().any(|level| !level.is_empty());
        let (mut builder, mut versions) = (Builder::default(), Versions::new());
        for (v, list) in buffer.all(direction) {
            let (list, from) = (list.read(), builder.begin());
            let mut position = list.seek(VertexId(0));
            while let Some((&entry, next)) = list.get(position) {
                versions.push(entry);
                position = next;
                if list.get(next).is_none_or(|(next, _)| next.target != entry.target) {
                    prune(&mut versions, active, below);
                    versions.drain(..).for_each(|entry| builder.push(entry, from, self.form.weighted));
                }
            }
            builder.end(v, from);
        }
        builder
    }

    /// Compacts the first level that is over its limit. Returns true if there was one.
    fn compact(&self, picks: &mut Picks, active: &Active) -> Result<bool, LabError> {
        let version = self.version();
        for &direction in self.form.directions() {
            let (first, levels) = (&version.first[direction as usize], &version.levels[direction as usize]);
            let is_over = |level: &usize| entries(&levels[level - 1]) > self.options.level_entries(*level);
            let (level, mut inputs): (usize, Vec<Segments>) =
                if first.len() >= self.options.first_level_files.max(1) {
                    (0, first.iter().map(|file| vec![file.clone()]).collect())
                } else if let Some(level) = (1..LEVELS).find(is_over) {
                    let pick = &mut picks.0[direction as usize][level];
                    (level, vec![vec![next_segment(&levels[level - 1], pick)]])
                } else {
                    continue;
                };
            let least = inputs.iter().flatten().map(|segment| segment.least).min();
            let greatest = inputs.iter().flatten().map(|segment| segment.greatest).max();
            let meets =
                |segment: &&Arc<Segment>| Some(segment.greatest) >= least && Some(segment.least) <= greatest;
            inputs.push(levels[level].iter().filter(meets).cloned().collect());
            self.replace(direction, inputs, level + 1, active)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Merges segments into a level, and replaces them with the result. The inputs go from new to old.
    fn replace(
        &self,
        direction: Direction,
        inputs: Vec<Segments>,
        level: usize,
        active: &Active,
    ) -> Result<(), LabError> {
        let below = self.version().levels[direction as usize][level..].iter().any(|level| !level.is_empty());
        let old: Segments = inputs.iter().flatten().cloned().collect();
        let merged = Merge { graph: self, active, below, level }.run(inputs)?;
        if self.options.is_indexed() {
            self.move_index(direction, &old, &merged);
        }
        let is_kept = |segment: &Arc<Segment>| old.iter().all(|old| old.number != segment.number);
        self.publish(|version| {
            version.first[direction as usize].retain(is_kept);
            let levels = &mut version.levels[direction as usize];
            levels.iter_mut().for_each(|level| level.retain(is_kept));
            levels[level - 1].extend(merged.segments);
            levels[level - 1].sort_unstable_by_key(|segment| segment.least);
        });
        Ok(())
    }

    /// Changes the index of each vertex to its new place, vertex by vertex (section 4.3).
    fn move_index(&self, direction: Direction, old: &[Arc<Segment>], merged: &Merged) {
        let mut numbers: Vec<u32> = old.iter().map(|segment| segment.number).collect();
        numbers.sort_unstable();
        let files = old.iter().filter(|segment| segment.level == 0);
        let floor = files.map(|file| file.order + 1).max().unwrap_or(0);
        let skipped = usize::from(is_on(Planted::LastVertexNotMoved));
        for (v, place) in merged.moves.iter().rev().skip(skipped) {
            let mut record = self.record(*v).write();
            let side = record.side_mut(direction);
            side.floor = side.floor.max(floor);
            side.places.retain(|place| numbers.binary_search(&place.segment.number).is_err());
            if let Some(place) = place {
                let before = side.places.partition_point(|p| p.segment.level < place.segment.level);
                side.places.insert(before, place.clone());
            }
            if side.places.len() <= side.places.inline_size() {
                side.places.shrink_to_fit();
            }
        }
    }
}

/// Returns the segment after the segment that was taken last.
fn next_segment(level: &[Arc<Segment>], pick: &mut Option<VertexId>) -> Arc<Segment> {
    let next = level.iter().find(|segment| Some(segment.least) > *pick).unwrap_or(&level[0]);
    *pick = Some(next.greatest);
    next.clone()
}
