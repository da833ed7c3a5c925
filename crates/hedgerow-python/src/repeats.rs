//! The search for rows of a call that name the same vertex or edge. Sorted hashes find candidates, and
//! comparing keys decides.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, RandomState};

use hedgerow::{KindId, Label, Schema, VertexKeyRef};

use crate::key_columns::Keys;

/// The approximate number of hashes that are sorted together.
const RUN: usize = 1 << 10;

/// The golden ratio in 64 bits. If close numbers are multiplied by it, the products differ in their highest
/// bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hashes that occur more than once.
enum Twice {
    /// A sorted list, if there are few.
    Few(Vec<u64>),
    Many(HashSet<u64>),
}

impl Twice {
    /// The maximal number for which a search in a sorted list is faster than a hash set.
    const FEW: usize = 64;

    fn contains(&self, number: u64) -> bool {
        match self {
            Twice::Few(numbers) => numbers.binary_search(&number).is_ok(),
            Twice::Many(numbers) => numbers.contains(&number),
        }
    }
}

/// Returns the numbers that occur more than once; `None` if none do. They are divided into groups by their
/// highest bits, and each group is sorted in the cache.
fn twice(numbers: &[u64]) -> Option<Twice> {
    let bits = (numbers.len() / RUN).max(2).ilog2();
    let run = |number: u64| (number >> (u64::BITS - bits)) as usize;
    let mut ends = vec![0; (1 << bits) + 1];
    numbers.iter().for_each(|&number| ends[run(number) + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![0; numbers.len()];
    for &number in numbers {
        let at = &mut ends[run(number)];
        sorted[*at] = number;
        *at += 1;
    }
    let (mut from, mut found) = (0, Vec::new());
    for &end in &ends[..1 << bits] {
        let run = &mut sorted[from..end];
        from = end;
        run.sort_unstable();
        found.extend(run.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
    }
    found.dedup();
    match found.len() {
        0 => None,
        few if few <= Twice::FEW => Some(Twice::Few(found)),
        _ => Some(Twice::Many(found.into_iter().collect())),
    }
}

/// Hashes of keys. A number is only multiplied: that is fast, and needs no protection against chosen keys,
/// since equal hashes are compared by key. A text is hashed by the standard library.
struct Hashes(RandomState);

impl Hashes {
    /// Returns a hash that is equal for equal keys, whatever column they are in.
    fn of(&self, key: VertexKeyRef<'_>) -> u64 {
        match key {
            VertexKeyRef::U64(number) => number.wrapping_mul(SPREAD),
            VertexKeyRef::Str(text) => self.0.hash_one(text),
            of_kind => self.0.hash_one(of_kind),
        }
    }
}

/// Returns the number of rows that equal an earlier row. If rows ascend, each takes one comparison.
fn count<T: Ord + Hash>(rows: usize, hash: impl Fn(usize) -> u64, row: impl Fn(usize) -> T) -> usize {
    if (1..rows).all(|at| row(at - 1) < row(at)) {
        return 0;
    }
    let hashes: Vec<u64> = (0..rows).map(hash).collect();
    let Some(twice) = twice(&hashes) else { return 0 };
    let mut seen = HashSet::new();
    (0..rows).filter(|&at| twice.contains(hashes[at]) && !seen.insert(row(at))).count()
}

/// Returns the number of keys that occur earlier in the column.
pub(crate) fn of_keys(keys: &Keys) -> usize {
    let hashes = Hashes(RandomState::new());
    count(keys.len(), |at| hashes.of(keys.at(at)), |at| keys.at(at))
}

/// The rules that decide if two rows name the same edge.
pub(crate) struct Ends {
    /// The kinds that the label states for ids without a kind.
    kinds: [KindId; 2],
    /// True if an edge with exchanged ends is the same edge.
    either_way: bool,
}

impl Ends {
    pub(crate) fn of(schema: &Schema, label: &str, directed: bool) -> Ends {
        let kinds = schema.label(label).and_then(Label::ends).unwrap_or_default();
        Ends { kinds, either_way: !directed }
    }

    /// Returns the number of rows that name the same edge as an earlier row: the same ends and rank.
    pub(crate) fn repeated(&self, src: &Keys, dst: &Keys, ranks: Option<&[u64]>) -> usize {
        let hashes = Hashes(RandomState::new());
        let rank = |at: usize| ranks.map_or(0, |ranks| ranks[at]);
        let row = |at: usize| {
            let (src, dst) = (src.of_kind_at(self.kinds[0], at), dst.of_kind_at(self.kinds[1], at));
            let (src, dst) = if self.either_way && dst < src { (dst, src) } else { (src, dst) };
            (src, dst, rank(at))
        };
        let hash = |at: usize| {
            let (src, dst, rank) = row(at);
            let ends = hashes.of(src).wrapping_add(hashes.of(dst).rotate_left(32));
            (ends ^ (ends >> 32)).wrapping_add(rank.wrapping_mul(SPREAD)).wrapping_mul(SPREAD)
        };
        count(src.len(), hash, row)
    }
}
