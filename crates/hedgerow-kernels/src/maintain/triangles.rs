//! The number of triangles, as a kept answer.
//!
//! **Result.** Like [`triangle_count`](crate::triangle_count()).
//!
//! **Trick.** The kernel takes changed pairs of vertices one after another: it removes the pairs that are no
//! longer joined, then inserts the pairs that are joined now. Each pair adds or removes as many triangles as
//! its ends have common neighbors at its turn. The kernel counts these in the present lists, and corrects the
//! count by the few pairs whose turn comes later, or came earlier. So it needs no list of the earlier state.
//! It groups pairs by their end with the longer list, turns that list into bits once, and looks up the
//! shorter list in these bits. If the entries are few, it looks them up in the list itself.
//!
//! **Cited.** D. Eppstein, E. Spiro, *The h-index of a graph and its application to dynamic subgraph
//! statistics*, WADS 2009, for counting by pair under change.
//!
//! **Cost.** O(Σ over changed pairs of the shorter list), and the longer list once for each vertex that has a
//! changed pair; a bit per id of the domain for each thread.

use hedgerow_core::{Changes, Direction, EdgeChangeKind, Resident, VertexId};
use rayon::prelude::*;

use super::Maintained;
use crate::error::checked_bound;
use crate::frontier::all_ways;
use crate::{Cancel, KernelError};

/// The pairs whose lists a thread reads at once.
const PAIRS_AT_ONCE: usize = 256;

/// A list is turned into bits if more entries than 1 / `ENTRIES_PER_SEARCH` of its length are looked up in
/// it.
const ENTRIES_PER_SEARCH: usize = 24;

/// The number of triangles, as a kept answer. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triangles {
    count: u64,
}

impl Triangles {
    /// Returns the number of triangles.
    pub fn count(&self) -> u64 {
        self.count
    }
}

impl Maintained for Triangles {
    fn from_scratch<G: Resident>(g: &G, cancel: &Cancel) -> Result<Self, KernelError> {
        crate::triangle_count_until(g, cancel).map(|count| Triangles { count })
    }

    fn update<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError> {
        checked_bound::<std::convert::Infallible>(g.vertex_bound())?;
        let pairs = ChangedPairs::of(g, changes);
        let removed = pairs.count(g, Turn::Removed, cancel)?;
        let inserted = pairs.count(g, Turn::Inserted, cancel)?;
        self.count = self.count.saturating_add(inserted).saturating_sub(removed);
        Ok(())
    }
}

/// A pair of vertices, the smaller first.
type Pair = (VertexId, VertexId);

fn pair(a: VertexId, b: VertexId) -> Pair {
    (a.min(b), a.max(b))
}

/// The pairs whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Removed,
    Inserted,
}

/// Pairs of vertices, ascending, each with its place in this order.
#[derive(Default)]
struct Pairs {
    pairs: Vec<Pair>,
    /// One end, the other end, and the place, for both ends of each pair; ascending.
    ends: Vec<(VertexId, VertexId, usize)>,
}

impl Pairs {
    fn new(pairs: Vec<Pair>) -> Pairs {
        let both = |(place, &(a, b)): (usize, &Pair)| [(a, b, place), (b, a, place)];
        let mut ends: Vec<_> = pairs.iter().enumerate().flat_map(both).collect();
        ends.sort_unstable();
        Pairs { pairs, ends }
    }

    /// Returns the entries of a vertex.
    fn of(&self, v: VertexId) -> &[(VertexId, VertexId, usize)] {
        let from = &self.ends[self.ends.partition_point(|end| end.0 < v)..];
        &from[..from.partition_point(|end| end.0 == v)]
    }

    fn place(&self, v: VertexId, w: VertexId) -> Option<usize> {
        let at = self.ends.binary_search_by_key(&(v, w), |&(v, w, _)| (v, w)).ok()?;
        Some(self.ends[at].2)
    }
}

/// The pairs that are joined now and were not before, and those that were joined before and are not now.
struct ChangedPairs {
    inserted: Pairs,
    removed: Pairs,
}

/// One end of pairs, whose list is read once, and the other ends with their places in
/// [`ChangedPairs::inserted`] or [`ChangedPairs::removed`].
type ByLonger = (VertexId, Vec<(VertexId, usize)>);

impl ChangedPairs {
    fn of<G: Resident>(g: &G, changes: &Changes) -> ChangedPairs {
        // The change of the number of list entries that join each pair.
        let mut grown: Vec<(Pair, i64)> = Vec::new();
        for change in &changes.edges {
            let step = match change.kind {
                EdgeChangeKind::Inserted => 1,
                EdgeChangeKind::Removed => -1,
                EdgeChangeKind::Reweighted => continue,
            };
            // An undirected edge is in the lists of both ends.
            if change.src != change.dst && (g.is_directed() || change.src < change.dst) {
                grown.push((pair(change.src, change.dst), step));
            }
        }
        grown.sort_unstable_by_key(|&(pair, _)| pair);
        let grown: Vec<&[(Pair, i64)]> = grown.chunk_by(|a, b| a.0 == b.0).collect();
        let joined = hedgerow_par::fine::map(grown.par_iter().with_min_len(PAIRS_AT_ONCE), |of_pair| {
            let Some(&((a, b), _)) = of_pair.first() else { return (false, false) };
            let now = entries(g, a, b);
            (now - of_pair.iter().map(|(_, step)| step).sum::<i64>() > 0, now > 0)
        });
        let chosen = |wanted: (bool, bool)| {
            let of = grown.iter().zip(&joined).filter(|(_, joined)| **joined == wanted);
            Pairs::new(of.filter_map(|(of_pair, _)| Some(of_pair.first()?.0)).collect())
        };
        ChangedPairs { inserted: chosen((false, true)), removed: chosen((true, false)) }
    }

    /// Returns the number of triangles that inserted pairs add, or removed pairs remove.
    fn count<G: Resident>(&self, g: &G, turn: Turn, cancel: &Cancel) -> Result<u64, KernelError> {
        let by_longer = self.by_longer(g, turn);
        let words = g.vertex_bound().div_ceil(64);
        let counts = hedgerow_par::fine::fold(
            by_longer.par_iter().with_max_len(by_longer.len().div_ceil(8 * hedgerow_par::threads()).max(1)),
            || (0, Vec::new()),
            |(mut sum, mut bits): (u64, Vec<u64>), (longer, others)| {
                let Some(mut meter) = cancel.meter() else { return (sum, bits) };
                let in_others: usize = others.iter().map(|&(shorter, _)| length(g, shorter)).sum();
                let marks = in_others > length(g, *longer) / ENTRIES_PER_SEARCH;
                if marks {
                    bits.resize(words, 0);
                    for_each_entry(g, *longer, |w| bits[w.index() / 64] |= 1 << (w.0 % 64));
                }
                for &(shorter, place) in others {
                    if !meter.spend(length(g, shorter).min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
                        break;
                    }
                    let when = (turn, place);
                    sum += match marks {
                        true => self.common(g, *longer, shorter, when, |w| {
                            bits[w.index() / 64] >> (w.0 % 64) & 1 != 0
                        }),
                        false => self.common(g, *longer, shorter, when, |w| is_neighbor(g, *longer, w)),
                    };
                }
                if marks {
                    for_each_entry(g, *longer, |w| bits[w.index() / 64] = 0);
                }
                (sum, bits)
            },
        );
        cancel.check()?;
        Ok(counts.into_iter().map(|(sum, _)| sum).sum())
    }

    fn by_longer<G: Resident>(&self, g: &G, turn: Turn) -> Vec<ByLonger> {
        let of = if turn == Turn::Inserted { &self.inserted } else { &self.removed };
        let pairs = of.pairs.par_iter().enumerate().with_min_len(PAIRS_AT_ONCE);
        let mut all = hedgerow_par::fine::map(pairs, |(place, &(a, b))| match length(g, a) >= length(g, b) {
            true => (a, b, place),
            false => (b, a, place),
        });
        all.sort_unstable();
        let one = |of: &[(VertexId, VertexId, usize)]| {
            Some((of.first()?.0, of.iter().map(|&(_, shorter, place)| (shorter, place)).collect()))
        };
        all.chunk_by(|a, b| a.0 == b.0).filter_map(one).collect()
    }

    /// Returns the number of common neighbors of a pair at its turn. `is_beside_a` is true for a vertex that
    /// is a neighbor of `a` now.
    fn common<G: Resident>(
        &self,
        g: &G,
        a: VertexId,
        b: VertexId,
        when: (Turn, usize),
        is_beside_a: impl Fn(VertexId) -> bool,
    ) -> u64 {
        let mut found = 0;
        each_neighbor(g, b, |w| found += u64::from(is_beside_a(w)));
        // A loop makes an end a common neighbor. A pair that is not joined at this turn makes its ends no
        // common neighbors.
        let is_present = |w: VertexId| is_beside_a(w) && is_neighbor(g, b, w);
        found -= [a, b].into_iter().filter(|&w| is_present(w)).count() as u64;
        let absent = |place: usize| when.0 == Turn::Removed || place > when.1;
        let not_there = self.others(&self.inserted, (a, b), absent).into_iter();
        found -= not_there.filter(|&w| is_present(w)).count() as u64;
        if when.0 == Turn::Inserted {
            return found;
        }
        // Removed pairs with an earlier place are joined again at this turn; the present lists lack them.
        let is_joined = |v: VertexId, w: VertexId| {
            self.removed.place(v, w).is_some_and(|place| place < when.1)
                || is_neighbor(g, v, w) && self.inserted.place(v, w).is_none()
        };
        let back = self.others(&self.removed, (a, b), |place| place < when.1).into_iter();
        found + back.filter(|&w| is_joined(a, w) && is_joined(b, w)).count() as u64
    }

    /// Returns the other ends of pairs of `a` and of `b` whose place is chosen, each once, without `a` and
    /// `b`.
    fn others(&self, of: &Pairs, (a, b): Pair, is_chosen: impl Fn(usize) -> bool) -> Vec<VertexId> {
        let entries = of.of(a).iter().chain(of.of(b));
        let chosen = entries.filter(|&&(_, w, place)| w != a && w != b && is_chosen(place));
        let mut others: Vec<VertexId> = chosen.map(|&(_, w, _)| w).collect();
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// Returns the length of the lists of a vertex.
fn length<G: Resident>(g: &G, v: VertexId) -> usize {
    all_ways(g).iter().map(|&direction| g.degree(v, direction)).sum()
}

/// True if two vertices are neighbors now, directions ignored.
fn is_neighbor<G: Resident>(g: &G, v: VertexId, w: VertexId) -> bool {
    all_ways(g).iter().any(|&direction| g.neighbors(v, direction).contains(w))
}

/// Calls `f` with each entry of the lists of `v`, in any order.
fn for_each_entry<G: Resident>(g: &G, v: VertexId, mut f: impl FnMut(VertexId)) {
    all_ways(g).iter().for_each(|&direction| g.neighbors(v, direction).for_each(&mut f));
}

/// Calls `f` once with each neighbor of `v`, directions ignored.
fn each_neighbor<G: Resident>(g: &G, v: VertexId, mut f: impl FnMut(VertexId)) {
    let mut all = Vec::new();
    if g.is_directed() {
        for_each_entry(g, v, |w| all.push(w));
        all.sort_unstable();
    }
    let sorted = if g.is_directed() { &all } else { g.neighbors(v, Direction::Out).sorted(&mut all) };
    let mut last = None;
    for &w in sorted {
        if last.replace(w) != Some(w) {
            f(w);
        }
    }
}

/// Returns the number of list entries that join two vertices; in an undirected graph only entries in the list
/// of `a`.
fn entries<G: Resident>(g: &G, a: VertexId, b: VertexId) -> i64 {
    let of = |a: VertexId, b: VertexId| {
        let list = g.neighbors(a, Direction::Out);
        let count = |list: &[VertexId]| {
            let from = &list[list.partition_point(|&v| v < b)..];
            from.iter().take_while(|&&v| v == b).count() as i64
        };
        count(list.main) + count(list.added) - count(list.removed)
    };
    of(a, b) + if g.is_directed() { of(b, a) } else { 0 }
}
