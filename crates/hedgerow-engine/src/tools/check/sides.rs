//! The check that the two copies of each edge agree, without a look-up of any copy.
//!
//! Each edge has a fingerprint of 128 bits over the data that both of its copies have. Each edge of a label
//! belongs to one of several sums. A pass over the lists adds the fingerprint of each first copy to the sum
//! of its edge, and subtracts the fingerprint of each second copy. If all copies agree, all sums are zero at
//! the end. The fingerprints have a random key. So if copies of an edge differ, the sum of the edge is zero
//! only with a chance of one in 2^128.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, Row, VertexId};
use hedgerow_mem::ItemRef;

use crate::state::placement::Placement;
use crate::state::store::Core;

/// The approximate number of edges that share a sum.
const EDGES_PER_SUM: u64 = 256;
/// The divisor of the memory limit. The quotient is the greatest memory of the sums, unless [`FEWEST`] sums
/// take more.
const SHARE: u64 = 64;
const FEWEST: u64 = 1 << 8;
const MOST: u64 = 1 << 20;

/// The sums of a label.
pub(super) struct Sides {
    placement: Placement,
    fingerprints: RandomState,
    /// The factors of the hash that chooses the sum of an edge. Both copies of an edge have the same sum.
    spread: [u64; 2],
    sums: Vec<u128>,
    /// The number of first copies that were added.
    edges: u64,
    _charge: Charge,
}

/// Source, destination and rank of an edge, as it is stored.
pub(super) type EdgeName = (VertexId, VertexId, u64);

/// A copy of an edge.
pub(super) struct Copied {
    pub(super) edge: EdgeName,
    /// True if it is the second copy.
    pub(super) second: bool,
    weight: f64,
    /// The properties of fixed width; `None` if there are none.
    fixed: Option<Row>,
}

impl Copied {
    /// Describes the difference from the other copy, in the data that both copies have.
    pub(super) fn difference(&self, other: Option<&Copied>, directed: bool) -> Option<String> {
        let Some(other) = other else { return Some("it has no other copy".to_owned()) };
        if other.weight.to_bits() != self.weight.to_bits() {
            return Some(format!("its weight is {}, and {} in its other copy", self.weight, other.weight));
        }
        (!directed && other.fixed != self.fixed).then(|| "its copies have different properties".to_owned())
    }
}

/// Returns a fingerprint of 128 bits of the data that `feed` writes, keyed with random numbers. One half is
/// the hash of the data, the other half the hash of the data and one more byte.
pub(super) fn fingerprint(keyed: &RandomState, feed: impl FnOnce(&mut DefaultHasher)) -> u128 {
    let mut hasher = keyed.build_hasher();
    feed(&mut hasher);
    let first = hasher.finish();
    hasher.write_u8(1);
    u128::from(first) << 64 | u128::from(hasher.finish())
}

impl Sides {
    /// Returns the sums for a label of a graph with this many edges.
    pub(super) fn new(core: &Core, edges: u64) -> Sides {
        let fingerprints = RandomState::new();
        let spread = [0_u64, 1].map(|n| fingerprints.hash_one(n) | 1);
        let room = core.pager.memory_limit.unwrap_or(u64::MAX) / SHARE / size_of::<u128>() as u64;
        let wanted = (edges / EDGES_PER_SUM).clamp(FEWEST, MOST).next_power_of_two();
        // A power of two, even if the limit determines the number: bits of a hash choose the sum.
        let count = wanted.min(1 << room.max(FEWEST).ilog2()) as usize;
        let charge = Charge::new(core.pager.account(), Purpose::Views, count * size_of::<u128>());
        let placement = core.catalog.placement();
        Sides { placement, fingerprints, spread, sums: vec![0; count], edges: 0, _charge: charge }
    }

    /// Returns the edge of a copy, and true if it is the second copy; `None` for an edge with only one copy.
    fn name(
        &self,
        at: VertexId,
        direction: Direction,
        other: VertexId,
        rank: u64,
    ) -> Option<(EdgeName, bool)> {
        let (src, dst) = self.placement.ends_of_copy(at, other, direction);
        let second = !self.placement.counts_at(direction, at, other);
        self.placement.has_second(src, dst).then_some(((src, dst, rank), second))
    }

    fn sum_of(&self, (src, dst, rank): EdgeName) -> usize {
        let ends = u64::from(src.0) << 32 | u64::from(dst.0);
        let mixed = ends.wrapping_mul(self.spread[0]).wrapping_add(rank.wrapping_mul(self.spread[1]));
        // The upper bits depend on all other bits; there are at least 256 sums.
        (mixed >> (u64::BITS - self.sums.len().ilog2())) as usize
    }

    fn fingerprint(&self, (src, dst, rank): EdgeName, item: &ItemRef<'_>) -> u128 {
        fingerprint(&self.fingerprints, |hasher| {
            hasher.write_u64(u64::from(src.0) << 32 | u64::from(dst.0));
            hasher.write_u64(rank);
            hasher.write_u64(item.weight.to_bits());
            if !self.placement.is_directed() {
                item.row.fixed_only().for_each(|property, value| {
                    if let Some((kind, word)) = value.to_word() {
                        hasher.write_u32(u32::from(property.0));
                        hasher.write_u8(kind as u8);
                        hasher.write_u64(word);
                    }
                });
            }
        })
    }

    /// Adds a first copy of an edge to the sum of the edge, or subtracts a second copy. The copy is in the
    /// list of `at` in `direction`.
    pub(super) fn note(&mut self, at: VertexId, direction: Direction, item: &ItemRef<'_>) {
        let Some((edge, second)) = self.name(at, direction, item.dst, item.rank) else { return };
        let fingerprint = self.fingerprint(edge, item);
        let at = self.sum_of(edge);
        let Some(sum) = self.sums.get_mut(at) else { return };
        if second {
            *sum = sum.wrapping_sub(fingerprint);
        } else {
            *sum = sum.wrapping_add(fingerprint);
            self.edges += 1;
        }
    }

    /// Returns the positions of the sums that are not zero: their edges have copies that differ.
    pub(super) fn differing(&self) -> Vec<usize> {
        if faults::is_on(PlantedFault::SidesNotCompared) {
            return Vec::new();
        }
        (0..).zip(&self.sums).filter(|(_, sum)| **sum != 0).map(|(at, _)| at).collect()
    }

    /// Returns the number of sums whose edges may be compared together, if the copies of these edges may take
    /// `bytes` of memory.
    pub(super) fn at_once(&self, bytes: u64) -> usize {
        let copies = 2 * (self.edges / self.sums.len().max(1) as u64 + 1);
        (bytes / (copies * size_of::<Copied>() as u64)).max(1) as usize
    }

    /// Returns the copy of an edge if its sum is chosen. `chosen` has the positions of sums, ascending.
    pub(super) fn chosen(
        &self,
        chosen: &[usize],
        at: VertexId,
        direction: Direction,
        item: &ItemRef<'_>,
    ) -> Option<Copied> {
        let (edge, second) = self.name(at, direction, item.dst, item.rank)?;
        chosen.binary_search(&self.sum_of(edge)).ok()?;
        let fixed = item.row.fixed_only().to_row();
        Some(Copied { edge, second, weight: item.weight, fixed })
    }
}
