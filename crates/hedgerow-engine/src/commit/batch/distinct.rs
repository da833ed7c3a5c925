//! The distinct keys of a large transaction.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use crate::commit::names::TxnKey;

/// Keys without repetitions, in the order of their first use; the place of a key is found by its hash.
pub(super) struct Distinct {
    pub(super) keys: Vec<TxnKey>,
    /// Places plus one; 0 marks a free slot. A key takes the first slot that is free from its hash on. At
    /// most half of the slots are taken.
    slots: Box<[u32]>,
    hasher: RandomState,
}

impl Distinct {
    /// Makes room for about `expected` keys; the table grows for more.
    pub(super) fn new(expected: usize) -> Distinct {
        let slots = vec![0; (expected * 2).next_power_of_two()].into();
        Distinct { keys: Vec::with_capacity(expected), slots, hasher: RandomState::default() }
    }

    /// Returns the place of a key, and adds the key if it is new.
    #[inline]
    pub(super) fn place(&mut self, key: TxnKey) -> u32 {
        let slot = self.slot(key);
        if let Some(place) = self.slots[slot].checked_sub(1) {
            return place;
        }
        let place = self.keys.len() as u32;
        self.keys.push(key);
        self.slots[slot] = place + 1;
        if self.keys.len() * 2 > self.slots.len() {
            self.grow();
        }
        place
    }

    /// Returns the slot of the key, or the free slot for it.
    #[inline]
    fn slot(&self, key: TxnKey) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.hasher.hash_one(key) as usize & mask;
        while let Some(place) = self.slots[slot].checked_sub(1)
            && self.keys[place as usize] != key
        {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2].into();
        for (place, &key) in (1u32..).zip(&self.keys) {
            let slot = self.slot(key);
            self.slots[slot] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key gets the next place when it first occurs, and the same place again later. This also holds for
    /// more keys than expected.
    #[test]
    fn keys_find_their_places_again() {
        for expected in [0, 1, 100, 10_000] {
            let mut names = Distinct::new(expected);
            let key = |n: u64| TxnKey((n * n) << 7);
            for n in 0..5_000 {
                assert_eq!(names.place(key(n)), n as u32);
                assert_eq!(names.place(key(n / 2)), n as u32 / 2);
            }
            assert!(names.keys.iter().copied().eq((0..5_000).map(key)));
        }
    }
}
