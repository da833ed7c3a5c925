//! Freezing: the buffer and the levels that are merged become a new level.
//!
//! A continuation record cannot change, so only the newest levels can be merged. All references to these
//! levels are in these levels or in the vertex table, which is copied page by page.

use std::mem;
use std::sync::Arc;

use hedgerow_core::{Direction, VertexId};

use super::buffer::Buffer;
use super::level::{Level, LevelBuilder};
use super::lists::Lists;
use super::options::Shape;
use super::record::{Fragment, Record};
use super::root::Root;
use super::writer::Writer;
use crate::merged::Merged;
use crate::planted::{Planted, is_on};

/// The largest number of entries in a level that a merge makes. With their continuation records, they take
/// fewer than 2^32 places.
const MOST_ENTRIES: usize = u32::MAX as usize / (1 + Fragment::WORDS);
/// The last epoch. Deletion vectors use one more value, for entries that are not removed.
pub(super) const LAST_EPOCH: u32 = u32::MAX - 1;

/// The levels that a freeze merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merging {
    /// The levels that the parameters require.
    Due,
    /// Also the levels with removed entries.
    Garbage,
    /// All levels.
    All,
}

/// Makes a snapshot of the writer's changes. `root` becomes the next snapshot; it is the last snapshot or a
/// copy of it.
pub(super) fn freeze(root: &mut Root, writer: &mut Writer, merging: Merging, shape: &Shape) {
    let epoch = root.next_epoch();
    let is_last = epoch == LAST_EPOCH;
    let merging = if is_last { Merging::All } else { merging };
    for direction in [Direction::Out, Direction::In] {
        let buffer = mem::replace(&mut writer.buffers[direction as usize], Buffer::new(shape));
        let lists = &mut root.lists[direction as usize];
        let kept = levels_kept(&lists.levels, buffer.entries, merging, shape);
        if !buffer.nodes.is_empty() || kept < lists.levels.len() {
            lists.table.cover(writer.bound);
            lists.freeze(&buffer, kept, epoch, shape);
        }
    }
    writer.changes = 0;
    // Levels without removed entries read the same in all epochs.
    root.epoch = if is_last { 0 } else { epoch };
    (root.at, root.vertices, root.edges, root.bound) =
        (writer.at, writer.vertices, writer.edges, writer.bound);
}

/// Returns the number of the oldest levels that stay unchanged when `added` entries are frozen. Each level
/// that stays has more than `growth` times as many entries as all newer levels together. So there are O(log
/// entries) such levels, and an entry is merged O(log entries) times.
fn levels_kept(levels: &[Arc<Level>], added: usize, merging: Merging, shape: &Shape) -> usize {
    let has_garbage = |level: &Arc<Level>| match merging {
        Merging::Due => level.removed().saturating_mul(shape.garbage) > level.entries(),
        Merging::Garbage => level.removed() > 0,
        Merging::All => true,
    };
    let (mut kept, mut entries) = (levels.len(), added);
    for (i, level) in levels.iter().enumerate().rev() {
        let is_due = has_garbage(level) || level.live() <= shape.growth.saturating_mul(entries);
        entries += level.live();
        if is_due && (entries <= MOST_ENTRIES || merging == Merging::All) {
            kept = i;
        }
    }
    kept
}

/// Returns the vertices whose records change, ascending: the vertices of the buffer and of the merged levels.
fn touched(levels: &[Arc<Level>], buffer: &Buffer) -> Vec<VertexId> {
    let mut touched: Vec<VertexId> = buffer.nodes.iter().map(|node| node.vertex).collect();
    touched.sort_unstable();
    if !levels.is_empty() {
        levels.iter().for_each(|level| touched.extend_from_slice(level.vertices()));
        // The vertices are a few ascending parts, which this sort detects.
        touched.sort();
        touched.dedup();
    }
    touched
}

impl Lists {
    /// Replaces the levels from `kept` on and the buffer by one level. `epoch` is the first epoch that does
    /// not see the entries that the buffer removed.
    fn freeze(&mut self, buffer: &Buffer, kept: usize, epoch: u32, shape: &Shape) {
        let Lists { table, levels } = self;
        let touched = touched(&levels[kept..], buffer);
        let entries = buffer.entries + levels[kept..].iter().map(|level| level.live()).sum::<usize>();
        let builder = LevelBuilder::new(kept, touched.len(), entries, shape);
        let mut next = NextLevel { levels, kept, epoch, builder };
        let mut list = MergedList { is_sorted: shape.sorted, ..MergedList::default() };
        for vertices in touched.chunk_by(|&a, &b| shape.paging.page_of(a) == shape.paging.page_of(b)) {
            let number = shape.paging.page_of(vertices[0]);
            let page = table.page_mut(number);
            let mut is_left = false;
            for &v in vertices {
                let record = &mut page[shape.paging.place_in_page(v)];
                list.merged.clear();
                let (before, degree) = match buffer.get(v) {
                    Some(node) => {
                        list.merged.extend((&node.targets[..], &node.weights[..]));
                        (node.record, node.degree())
                    }
                    None => (*record, record.degree()),
                };
                *record = next.append(v, &before, degree, &mut list);
                is_left |= *record == Record::default();
            }
            if is_left && page.iter().all(|record| *record == Record::default()) {
                table.give_back(number);
            }
        }
        let level = next.builder.finish();
        levels.truncate(kept);
        levels.extend(level.map(Arc::new));
    }
}

/// A new level, and the levels that it is made of.
struct NextLevel<'a> {
    levels: &'a [Arc<Level>],
    kept: usize,
    epoch: u32,
    builder: LevelBuilder,
}

impl NextLevel<'_> {
    /// Appends the list of a vertex. `list` has the added neighbours, and `before` leads to the other ones.
    /// Returns the new record of the vertex.
    fn append(&mut self, v: VertexId, before: &Record, degree: usize, list: &mut MergedList) -> Record {
        let rest = self.collect(before.newest(), &mut list.merged);
        // The number of neighbours in older levels.
        let older = degree - list.merged.len();
        let rest = if older == 0 { Fragment::NONE } else { rest };
        let marked = before.is_marked() && older != self.entries(rest);
        let newest = match list.merged.len() {
            0 => rest,
            _ => self.builder.push(v, list.sort(), rest),
        };
        Record::new(newest, degree, before.is_present(), marked)
    }

    /// Appends the entries of a list from the merged levels. Returns the fragment in the kept levels where
    /// the list continues.
    fn collect(&self, newest: Fragment, merged: &mut Merged) -> Fragment {
        let epoch = if is_on(Planted::RemovedMerged) { 0 } else { self.epoch };
        let mut fragment = newest;
        while !fragment.is_none() && fragment.level() >= self.kept {
            let level = &self.levels[fragment.level()];
            level.for_each_piece(fragment.range(), epoch, |targets, weights| {
                merged.extend((targets, weights))
            });
            fragment = level.rest(fragment);
        }
        fragment
    }

    /// Returns the number of entries in a list from a fragment on, removed entries included.
    fn entries(&self, mut fragment: Fragment) -> usize {
        let mut entries = 0;
        while !fragment.is_none() {
            entries += fragment.len();
            fragment = self.levels[fragment.level()].rest(fragment);
        }
        entries
    }
}

/// A list that is merged from the buffer and some levels.
#[derive(Default)]
struct MergedList {
    merged: Merged,
    /// A buffer for sorting targets with their weights.
    pairs: Vec<(VertexId, f64)>,
    is_sorted: bool,
}

impl MergedList {
    /// Returns the list, in ascending order if fragments are sorted.
    fn sort(&mut self) -> (&[VertexId], &[f64]) {
        let Merged { targets, weights } = &mut self.merged;
        if self.is_sorted && !targets.is_sorted() {
            if weights.is_empty() {
                // Usually the list is a few ascending parts, which this sort detects.
                targets.sort();
            } else {
                self.pairs.clear();
                self.pairs.extend(targets.iter().copied().zip(weights.iter().copied()));
                self.pairs.sort_by_key(|pair| pair.0);
                for (i, &(target, weight)) in self.pairs.iter().enumerate() {
                    (targets[i], weights[i]) = (target, weight);
                }
            }
        }
        self.merged.whole()
    }
}
