//! Permutations of numbers that can be evaluated in both directions.

use crate::rng::mix;

/// The rounds of the cipher.
const ROUNDS: u64 = 4;

/// A permutation of the numbers below a bound, fixed by a seed: a Feistel cipher on an even number of bits,
/// repeated until the number is below the bound again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    bound: u64,
    /// The bits of one half.
    bits: u32,
    seed: u64,
}

impl Shuffle {
    pub(super) fn new(bound: u64, seed: u64) -> Shuffle {
        let bits = (u64::BITS - bound.max(2).saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
        Shuffle { bound, bits, seed }
    }

    /// Returns the number with this place. O(1) expected.
    pub(super) fn at(&self, place: u64) -> u64 {
        self.walk(place, 0..ROUNDS, false)
    }

    /// Returns the place of a number: the inverse of [`at`](Self::at).
    pub(super) fn place_of(&self, number: u64) -> u64 {
        self.walk(number, 0..ROUNDS, true)
    }

    fn walk(&self, mut number: u64, rounds: std::ops::Range<u64>, backwards: bool) -> u64 {
        debug_assert!(number < self.bound);
        let mask = (1 << self.bits) - 1;
        let key = |round: u64, half: u64| mix(mix(self.seed ^ round << 32) ^ half) & mask;
        loop {
            let (mut high, mut low) = (number >> self.bits, number & mask);
            for round in rounds.clone() {
                (high, low) = match backwards {
                    false => (low, high ^ key(round, low)),
                    true => (low ^ key(ROUNDS - 1 - round, high), high),
                };
            }
            number = high << self.bits | low;
            if number < self.bound {
                return number;
            }
        }
    }
}
