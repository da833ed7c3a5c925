//! A skip list of the entries of one vertex. Its nodes are in arrays.

use hedgerow_core::{VertexId, simd};

use super::entry::{Entry, begin};

/// The largest number of links of a node. At each level, one node in [`BRANCHING`] also has a link at the
/// next level.
const HEIGHT: usize = 12;
const BRANCHING: u32 = 4;
/// The number that means that there is no node. As the node before another one, it means the head.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Node {
    entry: Entry,
    next: u32,
    /// The start of its links above the lowest level, if it has any.
    tower: u32,
}

/// Entries in the order of targets; the entries of one target go from new to old. The number of a node is its
/// place in the order of insertion.
#[derive(Debug)]
pub(super) struct SkipList {
    nodes: Vec<Node>,
    towers: Vec<u32>,
    head: [u32; HEIGHT],
    height: usize,
    random: u32,
}

impl Default for SkipList {
    fn default() -> Self {
        SkipList {
            nodes: Vec::new(),
            towers: Vec::new(),
            head: [NONE; HEIGHT],
            height: 0,
            random: 0x9e37_79b9,
        }
    }
}

impl SkipList {
    #[inline]
    fn link(&self, node: u32, level: usize) -> u32 {
        if node == NONE {
            return self.head[level];
        }
        let node = &self.nodes[node as usize];
        if level == 0 { node.next } else { self.towers[node.tower as usize + level - 1] }
    }

    fn set_link(&mut self, node: u32, level: usize, to: u32) {
        let place = if node == NONE {
            &mut self.head[level]
        } else if level == 0 {
            &mut self.nodes[node as usize].next
        } else {
            let tower = self.nodes[node as usize].tower as usize;
            &mut self.towers[tower + level - 1]
        };
        *place = to;
    }

    /// Returns the first node that is not before `target`. Calls `before` with each level, and with the node
    /// before it at this level.
    #[inline]
    fn lower_bound(&self, target: VertexId, mut before: impl FnMut(usize, u32)) -> u32 {
        let (mut node, mut next) = (NONE, NONE);
        for level in (0..self.height).rev() {
            next = self.link(node, level);
            while next != NONE && self.nodes[next as usize].entry.target < target {
                node = next;
                next = self.link(node, level);
            }
            before(level, node);
        }
        next
    }

    /// Returns the first node that is not before `target`.
    pub(super) fn seek(&self, target: VertexId) -> u32 {
        self.lower_bound(target, |_, _| {})
    }

    /// Prefetches the first nodes in memory, in this number of cache lines. Without this, a walk would wait
    /// for one cache line after another.
    #[inline]
    pub(super) fn prefetch(&self, lines: usize) {
        simd::prefetch_slice(&self.nodes, lines);
    }

    /// Returns the entry of a node, and the next node.
    #[inline]
    pub(super) fn get(&self, node: u32) -> Option<(&Entry, u32)> {
        self.nodes.get(node as usize).map(|node| (&node.entry, node.next))
    }

    /// Calls `decide` with the newest entry of `target`, and puts the returned entry before it. If both have
    /// one timestamp, or without versions, the returned entry replaces the newest one. Returns whether
    /// `decide` returned an entry, and whether there is one entry more.
    pub(super) fn update<E>(
        &mut self,
        target: VertexId,
        versioned: bool,
        decide: impl FnOnce(Option<&Entry>) -> Result<Option<Entry>, E>,
    ) -> Result<(bool, bool), E> {
        let mut before = [NONE; HEIGHT];
        let found = self.lower_bound(target, |level, node| before[level] = node);
        let found = self.nodes.get_mut(found as usize).map(|node| &mut node.entry);
        let found = found.filter(|found| found.target == target);
        let Some(entry) = decide(found.as_deref())? else { return Ok((false, false)) };
        if let Some(found) = found
            && (!versioned || begin(found.stamp) == begin(entry.stamp))
        {
            *found = entry;
            return Ok((true, false));
        }
        self.insert(entry, &before);
        Ok((true, true))
    }

    /// Puts an entry before the other entries of its target.
    pub(super) fn put(&mut self, entry: Entry) {
        let mut before = [NONE; HEIGHT];
        self.lower_bound(entry.target, |level, node| before[level] = node);
        self.insert(entry, &before);
    }

    /// Puts an entry behind the nodes in `before`, which has one node for each level.
    fn insert(&mut self, entry: Entry, before: &[u32; HEIGHT]) {
        let height = self.draw_height();
        let node = self.nodes.len() as u32;
        let tower = self.towers.len() as u32;
        for (level, &before) in before.iter().enumerate().take(height).skip(1) {
            self.towers.push(self.link(before, level));
        }
        self.nodes.push(Node { entry, next: self.link(before[0], 0), tower });
        for (level, &before) in before.iter().enumerate().take(height) {
            self.set_link(before, level, node);
        }
        self.height = self.height.max(height);
    }

    /// Removes the entries of a timestamp. O(list).
    pub(super) fn retract(&mut self, at: u64) {
        let mut kept = SkipList::default();
        let mut entries = Vec::with_capacity(self.nodes.len());
        let mut node = self.head[0];
        while let Some((entry, next)) = self.get(node) {
            entries.push(*entry);
            node = next;
        }
        // `put` places an entry before the other entries of its target, so the oldest entry goes first.
        for entry in entries.into_iter().rev().filter(|entry| begin(entry.stamp) != at) {
            kept.put(entry);
        }
        *self = kept;
    }

    fn draw_height(&mut self) -> usize {
        let mut height = 1;
        loop {
            // Xorshift.
            self.random ^= self.random << 13;
            self.random ^= self.random >> 17;
            self.random ^= self.random << 5;
            if height == HEIGHT || !self.random.is_multiple_of(BRANCHING) {
                return height;
            }
            height += 1;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.nodes.capacity() * size_of::<Node>() + self.towers.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::stamp;
    use super::*;

    fn entry(target: u32, at: u64) -> Entry {
        Entry { target: VertexId(target), stamp: stamp(at, false), weight: 0.0 }
    }

    fn all(list: &SkipList) -> Vec<(u32, u64)> {
        let (mut found, mut node) = (Vec::new(), list.seek(VertexId(0)));
        while let Some((entry, next)) = list.get(node) {
            found.push((entry.target.0, begin(entry.stamp)));
            node = next;
        }
        found
    }

    #[test]
    fn entries_stand_by_target_and_from_new_to_old() {
        let mut list = SkipList::default();
        let put = |list: &mut SkipList, entry: Entry, versioned| {
            list.update::<()>(entry.target, versioned, |_| Ok(Some(entry))).map(|made| made.1)
        };
        for i in 0..1000 {
            assert_eq!(put(&mut list, entry(i * 7 % 500, u64::from(i)), true), Ok(true));
        }
        let expected: Vec<(u32, u64)> = {
            let mut all: Vec<_> = (0..1000).map(|i| (i * 7 % 500, u64::MAX - u64::from(i))).collect();
            all.sort_unstable();
            all.into_iter().map(|(target, at)| (target, u64::MAX - at)).collect()
        };
        assert_eq!(all(&list), expected);
        assert_eq!(put(&mut list, entry(3, 1000), false), Ok(false), "without versions there is one of each");
        assert_eq!(put(&mut list, entry(4, 2000), true), Ok(true));
        assert_eq!(put(&mut list, entry(4, 2000), true), Ok(false), "of one timestamp the last counts");
        let found = list.update(VertexId(4), true, |found| Err(found.map(|entry| begin(entry.stamp))));
        assert_eq!(found, Err(Some(2000)));
        list.retract(2000);
        assert_eq!((all(&list).len(), list.height > 3), (1000, true));
        let seeked = list.get(list.seek(VertexId(499))).map(|(entry, _)| entry.target);
        assert_eq!((seeked, list.seek(VertexId(500))), (Some(VertexId(499)), NONE));
    }
}
