//! The memory buffer (MemGraph, section 4.1). Vertices with few edges keep them in one large array; the other
//! vertices keep them in skip lists.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::RwLock;
use smallvec::SmallVec;

use super::entry::{Entry, begin};
use super::options::{ENTRY_BYTES, MemoryCache};
use super::record::PLACES;
use super::skip::SkipList;
use crate::LabError;
use crate::planted::{Planted, is_on};

/// The number of entries of a vertex in its segment of the edge array.
const SEGMENT: usize = 4;

/// The entries of one vertex in one direction.
#[derive(Debug)]
pub(super) enum MemList {
    /// A sorted array. It is inside the edge array while it has at most [`SEGMENT`] entries.
    Array(SmallVec<[Entry; SEGMENT]>),
    Skip(Box<SkipList>),
}

impl Default for MemList {
    fn default() -> Self {
        MemList::Array(SmallVec::new())
    }
}

impl MemList {
    /// Returns the first position that is not before `target`.
    #[inline]
    pub(super) fn seek(&self, target: VertexId) -> u32 {
        match self {
            MemList::Array(entries) => entries.partition_point(|entry| entry.target < target) as u32,
            MemList::Skip(list) => list.seek(target),
        }
    }

    /// Returns the entry at a position, and the next position.
    #[inline]
    pub(super) fn get(&self, position: u32) -> Option<(&Entry, u32)> {
        match self {
            MemList::Array(entries) => entries.get(position as usize).map(|entry| (entry, position + 1)),
            MemList::Skip(list) => list.get(position),
        }
    }

    /// Prefetches entries, in at most `lines` cache lines.
    #[inline]
    pub(super) fn prefetch(&self, lines: usize) {
        if let MemList::Skip(list) = self {
            list.prefetch(lines);
        }
    }

    /// Returns the version of `target` that a reader at `at` sees.
    #[inline]
    pub(super) fn find(&self, target: VertexId, at: u64) -> Option<Entry> {
        let mut position = self.seek(target);
        while let Some((entry, next)) = self.get(position).filter(|(entry, _)| entry.target == target) {
            if begin(entry.stamp) <= at {
                return Some(*entry);
            }
            position = next;
        }
        None
    }

    /// Updates the list as [`SkipList::update`] does.
    fn update(
        &mut self,
        target: VertexId,
        cache: MemoryCache,
        versioned: bool,
        decide: impl FnOnce(Option<&Entry>) -> Result<Option<Entry>, LabError>,
    ) -> Result<(bool, bool), LabError> {
        let entries = match self {
            MemList::Array(entries) => entries,
            MemList::Skip(list) => return list.update(target, versioned, decide),
        };
        let place = entries.partition_point(|entry| entry.target < target);
        let found = entries.get_mut(place).filter(|found| found.target == target);
        let Some(entry) = decide(found.as_deref())? else { return Ok((false, false)) };
        if let Some(found) = found
            && (!versioned || begin(found.stamp) == begin(entry.stamp))
        {
            *found = entry;
            return Ok((true, false));
        }
        let has_room = match cache {
            MemoryCache::ArrayThenSkipList => entries.len() < SEGMENT,
            MemoryCache::ArrayOnly => true,
            MemoryCache::SkipListOnly => false,
        };
        if has_room {
            entries.insert(place, entry);
        } else {
            let mut list = SkipList::default();
            let moved = entries.len().saturating_sub(usize::from(is_on(Planted::ArrayLosesLast)));
            // The oldest entry of a target goes first.
            entries[..moved].iter().rev().for_each(|&moved| list.put(moved));
            list.put(entry);
            *self = MemList::Skip(Box::new(list));
        }
        Ok((true, true))
    }

    /// Removes the entries of a timestamp.
    fn retract(&mut self, at: u64) {
        match self {
            MemList::Array(entries) => entries.retain(|entry| begin(entry.stamp) != at),
            MemList::Skip(list) => list.retract(at),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            MemList::Array(entries) if entries.spilled() => entries.capacity() * size_of::<Entry>(),
            MemList::Array(_) => 0,
            MemList::Skip(list) => list.bytes(),
        }
    }
}

/// A memory buffer. Only the holder of the lock of a vertex writes to the lists of the vertex.
pub(super) struct MemGraph {
    /// The place in the order of buffers. The file of the first level that a buffer becomes has the same
    /// place.
    pub(super) order: u32,
    /// The number of the list, by direction and vertex. Numbers begin at 1; 0 means that there is no list.
    numbers: [Growing<AtomicU32, PLACES>; 2],
    lists: Growing<RwLock<MemList>, PLACES>,
    used: AtomicU32,
    entries: AtomicUsize,
}

impl MemGraph {
    pub(super) fn new(order: u32) -> MemGraph {
        MemGraph {
            order,
            numbers: Default::default(),
            lists: Growing::default(),
            used: AtomicU32::new(0),
            entries: AtomicUsize::new(0),
        }
    }

    /// Returns the list of a vertex, if there is one.
    #[inline]
    pub(super) fn list(&self, v: VertexId, direction: Direction) -> Option<&RwLock<MemList>> {
        let number = self.numbers[direction as usize].get(v.index())?.load(Ordering::Acquire);
        self.lists.get((number as usize).checked_sub(1)?)
    }

    /// Returns the list of a vertex. Makes it if it is missing. Only for the holder of the lock of the
    /// vertex.
    fn list_or_new(&self, v: VertexId, direction: Direction) -> &RwLock<MemList> {
        let number = self.numbers[direction as usize].get_or_create(v.index(), |_| {});
        let mut list = number.load(Ordering::Acquire);
        if list == 0 {
            list = self.used.fetch_add(1, Ordering::Relaxed) + 1;
            // The list is made before other threads find its number.
            self.lists.get_or_create(list as usize - 1, |_| {});
            number.store(list, Ordering::Release);
        }
        self.lists.get_or_create(list as usize - 1, |_| {})
    }

    /// Calls `decide` with the newest entry of an edge here, and puts the returned entry before it. Returns
    /// true if `decide` returned an entry. Only for the holder of the lock of `v`.
    pub(super) fn update(
        &self,
        (v, direction): (VertexId, Direction),
        target: VertexId,
        cache: MemoryCache,
        versioned: bool,
        decide: impl FnOnce(Option<&Entry>) -> Result<Option<Entry>, LabError>,
    ) -> Result<bool, LabError> {
        let mut list = self.list_or_new(v, direction).write();
        let (is_written, is_more) = list.update(target, cache, versioned, decide)?;
        if is_more {
            self.entries.fetch_add(1, Ordering::Relaxed);
        }
        Ok(is_written)
    }

    /// Removes the entries of a timestamp from a list. The buffer still counts them.
    pub(super) fn retract(&self, v: VertexId, direction: Direction, at: u64) {
        if let Some(list) = self.list(v, direction) {
            list.write().retract(at);
        }
    }

    /// Returns the number of entries in the buffer.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }

    /// Returns the lists in one direction with their vertices, in ascending order.
    pub(super) fn all(&self, direction: Direction) -> impl Iterator<Item = (VertexId, &RwLock<MemList>)> {
        let numbers = self.numbers[direction as usize].chunks();
        let ids =
            numbers.flat_map(|(first, numbers)| (first..first + numbers.len()).map(|v| VertexId(v as u32)));
        ids.filter_map(move |v| Some((v, self.list(v, direction)?)))
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self.lists.chunks().flat_map(|(_, lists)| lists).map(|list| list.read().bytes());
        self.numbers.iter().map(Growing::bytes).sum::<usize>() + self.lists.bytes() + lists.sum::<usize>()
    }
}

const _: () = assert!(ENTRY_BYTES == size_of::<Entry>() + 8);
