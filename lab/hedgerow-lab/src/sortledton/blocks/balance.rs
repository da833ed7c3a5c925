//! The collection of versions in blocks, and the balancing of blocks that have become too empty (S3).

use hedgerow_core::VertexId;

use super::super::versions::Horizon;
use super::{Blocks, Path};

impl Blocks {
    pub(in super::super) fn collect(&mut self, block: u32, horizon: &Horizon<'_>) {
        if !self.marks[block as usize].is_empty() {
            self.write(block, |piece| piece.collect(horizon));
        }
    }

    /// Collects versions in the blocks that contain, or contained, the neighbours in `changed`, which ascend.
    /// Balances the blocks that have become too empty. O(log blocks + block) for each of these blocks, for
    /// any length of the list.
    pub(in super::super) fn collect_changed(&mut self, changed: &[VertexId], horizon: &Horizon<'_>) {
        let mut rest = changed;
        while let Some(first) = rest.first() {
            let mut path = self.locate(first.0);
            self.collect(path[0], horizon);
            let behind = self.next(path[0]).map(|next| self.key(next));
            let here = behind.map_or(rest.len(), |key| rest.partition_point(|target| target.0 < key));
            rest = &rest[here..];
            // A block that takes in its neighbour may still be too empty.
            while self.balance(&path) {
                path = self.locate(first.0);
            }
        }
    }

    /// Collects versions in all blocks, from the first on, and balances the blocks that have become too
    /// empty. O(length), and O(log blocks) for each balanced block.
    pub(in super::super) fn collect_all(&mut self, horizon: &Horizon<'_>) {
        let mut block = Some(0);
        while let Some(here) = block {
            self.collect(here, horizon);
            block = self.next(here);
        }
        let mut block = Some(0);
        while let Some(here) = block {
            let key = self.key(here);
            block = match self.is_sparse(here) && self.balance(&self.locate(key)) {
                // A block that takes in its neighbour may still be too empty. It may have another number now,
                // so the search begins with its key.
                true => Some(self.find(key)),
                false => self.next(here),
            };
        }
        self.give_back();
    }

    /// True if a block is less than 45 % full.
    fn is_sparse(&self, block: u32) -> bool {
        self.len(block) < self.size() * 9 / 20
    }

    /// Balances the block at the end of `path` with a neighbouring block, if it is too empty. If one block
    /// has room for both, they become one block. Otherwise each gets half of the neighbours. Returns true if
    /// there is one block less.
    pub(in super::super) fn balance(&mut self, path: &Path) -> bool {
        if !self.is_sparse(path[0]) || self.is_single() {
            return false;
        }
        let before;
        let (path, right) = match self.next(path[0]) {
            Some(next) => (path, next),
            None => {
                // The last block is balanced with the block before it.
                before = self.locate(self.key(path[0]).saturating_sub(1));
                (&before, path[0])
            }
        };
        let (left_len, right_len) = (self.len(path[0]), self.len(right));
        let half = (left_len + right_len) / 2;
        if left_len + right_len <= self.size() {
            self.move_before(path[0], right, right_len);
            self.unlink_next(path);
            self.give_back();
            return true;
        }
        if left_len < half {
            self.move_before(path[0], right, half - left_len);
        } else {
            self.move_behind(path[0], right, left_len - half);
        }
        false
    }
}
