//! The blocks of a long list and the links between them.
//!
//! - **S1** *All ids of a block are at least its key, and less than the key of the next block.* The key of
//!   the first block is 0.
//! - **S2** *A block of height h is linked at the levels 0 to h - 1. At each level, it is behind the last
//!   block of that level with a smaller key.* The first block has all levels, and stays the first.
//! - **S3** *If neighbours leave a block, which is then less than 45 % full, the block is balanced with a
//!   neighbouring block, if there is one.*

use hedgerow_core::VertexId;

use super::piece::{Marks, Piece, View, count_marks};
use super::transaction::Transaction;
use super::versions::Versions;
use crate::planted::{Planted, is_on};

mod balance;

/// The number of levels of links, as in the authors' code.
const LEVELS: usize = 6;
/// The number that means that there is no block.
const NONE: u32 = u32::MAX;

/// For each level, the last block whose key is at most the target of a search.
pub(super) type Path = [u32; LEVELS];

/// The part of a block that a search reads: half a cache line.
#[derive(Clone, Copy, Debug)]
struct Header {
    next: [u32; LEVELS],
    key: u32,
    len: u16,
    height: u8,
}

/// The blocks of one list, all of one size. The first block of the list has the number 0.
pub(super) struct Blocks {
    headers: Vec<Header>,
    targets: Vec<VertexId>,
    /// As many weights as targets, or none.
    weights: Vec<f64>,
    marks: Vec<Marks>,
    /// The first number without a block. Such numbers are linked.
    free: u32,
    vacant: u32,
    size: u32,
    /// The random state for the heights of blocks.
    random: u32,
}

impl Blocks {
    /// Makes a list of one block.
    pub(super) fn new(first: View<'_>, marks: Marks, txn: &Transaction<'_>) -> Blocks {
        let mut blocks = Blocks {
            headers: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
            marks: Vec::new(),
            free: NONE,
            vacant: 0,
            size: txn.block as u32,
            random: 0x9e37_79b9,
        };
        blocks.reserve(2, txn.weighted);
        let head = blocks.allot(txn.weighted);
        blocks.headers[0].height = LEVELS as u8;
        blocks.headers[0].len = first.targets.len() as u16;
        blocks.targets[..first.targets.len()].copy_from_slice(first.targets);
        if txn.weighted {
            blocks.weights[..first.weights.len()].copy_from_slice(first.weights);
        }
        blocks.marks[head as usize] = marks;
        blocks
    }

    fn reserve(&mut self, blocks: usize, weighted: bool) {
        self.headers.reserve_exact(blocks);
        self.marks.reserve_exact(blocks);
        self.targets.reserve_exact(blocks * self.size());
        if weighted {
            self.weights.reserve_exact(blocks * self.size());
        }
    }

    pub(super) fn size(&self) -> usize {
        self.size as usize
    }

    #[inline]
    pub(super) fn len(&self, block: u32) -> usize {
        usize::from(self.headers[block as usize].len)
    }

    pub(super) fn key(&self, block: u32) -> u32 {
        self.headers[block as usize].key
    }

    #[inline]
    pub(super) fn next(&self, block: u32) -> Option<u32> {
        Some(self.headers[block as usize].next[0]).filter(|&next| next != NONE)
    }

    pub(super) fn is_full(&self, block: u32) -> bool {
        self.len(block) == self.size()
    }

    pub(super) fn is_single(&self) -> bool {
        self.headers[0].next[0] == NONE
    }

    /// Returns the block that contains `target` if the list contains it.
    #[inline]
    pub(super) fn find(&self, target: u32) -> u32 {
        self.locate(target)[0]
    }

    /// Returns the path to the block that contains `target` if the list contains it. O(log blocks).
    #[inline]
    pub(super) fn locate(&self, target: u32) -> Path {
        let mut path = [0; LEVELS];
        let mut here = 0;
        for level in (0..LEVELS).rev() {
            loop {
                let next = self.headers[here as usize].next[level];
                if next == NONE || self.headers[next as usize].key > target {
                    break;
                }
                here = next;
            }
            path[level] = here;
        }
        path
    }

    #[inline]
    pub(super) fn view(&self, block: u32) -> View<'_> {
        let first = block as usize * self.size();
        let places = first..first + self.len(block);
        View {
            weights: self.weights.get(places.clone()).unwrap_or_default(),
            targets: &self.targets[places],
            marks: &self.marks[block as usize],
        }
    }

    #[inline]
    pub(super) fn piece(&mut self, block: u32) -> Piece<'_> {
        let (first, size, len) = (block as usize * self.size(), self.size(), self.len(block));
        Piece {
            targets: &mut self.targets[first..first + size],
            weights: self.weights.get_mut(first..first + size).unwrap_or_default(),
            marks: &mut self.marks[block as usize],
            len,
        }
    }

    /// Calls `f` with a block. `f` may change the length of the block.
    #[inline]
    pub(super) fn write<T>(&mut self, block: u32, f: impl FnOnce(&mut Piece<'_>) -> T) -> T {
        let mut piece = self.piece(block);
        let made = f(&mut piece);
        let len = piece.len as u16;
        self.headers[block as usize].len = len;
        made
    }

    /// Draws a height: half of the blocks have height 1, a quarter have height 2, and so on.
    fn draw_height(&mut self) -> u8 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        1 + (self.random.trailing_ones() as u8).min(LEVELS as u8 - 1)
    }

    /// Makes a block without links. The arrays have room for it.
    fn allot(&mut self, weighted: bool) -> u32 {
        let empty = Header { next: [NONE; LEVELS], key: 0, len: 0, height: 1 };
        if self.free != NONE {
            let block = self.free;
            self.free = self.headers[block as usize].next[0];
            self.vacant -= 1;
            self.headers[block as usize] = empty;
            return block;
        }
        self.headers.push(empty);
        self.marks.push(Marks::new());
        self.targets.resize(self.headers.len() * self.size(), VertexId(0));
        if weighted {
            self.weights.resize(self.headers.len() * self.size(), 0.0);
        }
        self.headers.len() as u32 - 1
    }

    /// Makes sure that a block can be allotted. The numbers of blocks may change. A list of up to 7 blocks
    /// gets room for one more block, so that short lists have little unused room. A longer list gets room for
    /// a quarter more.
    #[inline]
    pub(super) fn make_room(&mut self) {
        if self.free == NONE && self.headers.len() == self.headers.capacity() {
            let count = self.headers.len();
            self.lay_out(count + (count / 4).max(1));
        }
    }

    /// Copies the blocks, in the order of the list, to arrays with room for `room` blocks.
    #[cold]
    fn lay_out(&mut self, room: usize) {
        let mut place = vec![NONE; self.headers.len()];
        let mut order = Vec::with_capacity(self.headers.len());
        let mut block = Some(0);
        while let Some(here) = block {
            place[here as usize] = order.len() as u32;
            order.push(here as usize);
            block = self.next(here);
        }
        let (size, weighted) = (self.size(), !self.weights.is_empty());
        let new = Blocks {
            headers: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
            marks: Vec::new(),
            free: NONE,
            vacant: 0,
            size: self.size,
            random: self.random,
        };
        let mut old = std::mem::replace(self, new);
        self.reserve(room, weighted);
        for &block in &order {
            let mut header = old.headers[block];
            let links = header.next.iter_mut().filter(|next| **next != NONE);
            links.for_each(|next| *next = place[*next as usize]);
            self.headers.push(header);
            self.marks.push(std::mem::take(&mut old.marks[block]));
            self.targets.extend_from_slice(&old.targets[block * size..][..size]);
            if weighted {
                self.weights.extend_from_slice(&old.weights[block * size..][..size]);
            }
        }
    }

    /// Releases room if more than half of it is free.
    fn give_back(&mut self) {
        let live = self.headers.len() - self.vacant as usize;
        if self.headers.capacity() > 2 * live + 2 {
            self.lay_out(live + (live / 4).max(1));
        }
    }

    /// Moves the upper half of the block at the end of `path` into a new block behind it. Returns the new
    /// block. The arrays have room for it.
    pub(super) fn split(&mut self, path: &Path) -> u32 {
        let right = self.allot(!self.weights.is_empty());
        let height = self.draw_height();
        self.headers[right as usize].height = height;
        for (level, &before) in path.iter().enumerate().take(usize::from(height)) {
            let next = std::mem::replace(&mut self.headers[before as usize].next[level], right);
            self.headers[right as usize].next[level] = next;
        }
        self.move_behind(path[0], right, self.len(path[0]) / 2);
        right
    }

    /// Takes the block behind the end of `path` out of the list.
    fn unlink_next(&mut self, path: &Path) {
        let Some(block) = self.next(path[0]) else { return };
        let header = self.headers[block as usize];
        for (level, &before) in path.iter().enumerate().take(usize::from(header.height)) {
            self.headers[before as usize].next[level] = header.next[level];
        }
        self.headers[block as usize].next[0] = self.free;
        self.free = block;
        self.vacant += 1;
    }

    /// Moves the first `count` neighbours of `right` to the end of `left`.
    fn move_before(&mut self, left: u32, right: u32, count: usize) {
        let (left_len, right_len) = (self.len(left), self.len(right));
        let (to, from) = (left as usize * self.size() + left_len, right as usize * self.size());
        let marked = count_marks(&self.targets[from..from + count]);
        self.targets.copy_within(from..from + count, to);
        self.targets.copy_within(from + count..from + right_len, from);
        if !self.weights.is_empty() {
            self.weights.copy_within(from..from + count, to);
            self.weights.copy_within(from + count..from + right_len, from);
        }
        let moved: Marks = self.marks[right as usize].drain(..marked).collect();
        self.marks[left as usize].extend(moved);
        self.moved(left, left_len + count, right, right_len - count);
    }

    /// Moves the last `count` neighbours of `left` to the beginning of `right`.
    fn move_behind(&mut self, left: u32, right: u32, count: usize) {
        let (left_len, right_len) = (self.len(left), self.len(right));
        let (from, to) = (left as usize * self.size() + left_len - count, right as usize * self.size());
        let marked = count_marks(&self.targets[from..from + count]);
        self.targets.copy_within(to..to + right_len, to + count);
        self.targets.copy_within(from..from + count, to);
        if !self.weights.is_empty() {
            self.weights.copy_within(to..to + right_len, to + count);
            self.weights.copy_within(from..from + count, to);
        }
        let marks = &mut self.marks[left as usize];
        let kept = marks.len() - marked;
        let mut moved: Marks = marks.drain(kept..).collect();
        if is_on(Planted::VersionsReversed) {
            moved.reverse();
        }
        moved.extend(std::mem::take(&mut self.marks[right as usize]));
        self.marks[right as usize] = moved;
        self.moved(left, left_len - count, right, right_len + count);
    }

    /// Enters the lengths of two neighbouring blocks, and the key of the second block.
    fn moved(&mut self, left: u32, left_len: usize, right: u32, right_len: usize) {
        let is_new = self.len(right) == 0;
        self.headers[left as usize].len = left_len as u16;
        self.headers[right as usize].len = right_len as u16;
        if !is_new && is_on(Planted::KeyStays) {
            return;
        }
        if let Some(first) = self.view(right).first() {
            self.headers[right as usize].key = first;
        }
    }

    /// Returns the only block, and takes its marks.
    pub(super) fn take_single(&mut self) -> (View<'_>, Marks) {
        let marks = std::mem::take(&mut self.marks[0]);
        (self.view(0), marks)
    }

    pub(super) fn bytes(&self) -> usize {
        let spilled =
            |marks: &Marks| if marks.spilled() { marks.capacity() * size_of::<Versions>() } else { 0 };
        let chains = |marks: &Marks| marks.iter().map(Versions::bytes).sum::<usize>();
        size_of::<Blocks>()
            + self.headers.capacity() * size_of::<Header>()
            + self.targets.capacity() * 4
            + self.weights.capacity() * 8
            + self.marks.capacity() * size_of::<Marks>()
            + self.marks.iter().map(|marks| spilled(marks) + chains(marks)).sum::<usize>()
    }
}
