//! The number of triangles, kept.
//!
//! **Result.** As of [`triangle_count`](crate::triangle_count()).
//!
//! **Trick.** The kernel takes changed pairs of vertices one after another: it removes the pairs that are no longer joined, then inserts the pairs that are joined now.
//! Each pair adds or removes as many triangles as its ends have common neighbors at its turn. The kernel counts these in the present lists, and corrects the
//! count by the few pairs whose turn comes later, or came earlier. So it needs no list of the earlier state. It groups pairs by their end with the longer list, turns that list
//! into bits once, and looks the shorter list up in them.
//!
//! **Cited.** D. Eppstein, E. Spiro, *The h-index of a graph and its application to dynamic subgraph statistics*, WADS 2009, for counting by pair under change.
//!
//! **Cost.** O(Σ over changed pairs of the shorter list), and the longer list once for each vertex that has a changed pair; a bit per id of the domain for each thread.

use std::collections::HashMap;

use hedgerow_core::{Changes, Direction, EdgeChangeKind, Resident, VertexId};
use rayon::prelude::*;

use super::{Maintained, directions};
use crate::error::checked_bound;
use crate::{Cancel, KernelError};

/// How many triangles there are, kept. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triangles {
    count: u64,
}

impl Triangles {
    /// How many there are.
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
        let pairs = Pairs::of(g, changes);
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

/// Which pairs the kernel takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Removed,
    Inserted,
}

/// Changed pairs of vertices, each with its place in the order: joined now and not before, or before and not now.
#[derive(Default)]
struct Pairs {
    inserted: HashMap<Pair, usize>,
    removed: HashMap<Pair, usize>,
    /// The other ends of inserted and of removed pairs, by vertex.
    ends_of_inserted: HashMap<VertexId, Vec<VertexId>>,
    ends_of_removed: HashMap<VertexId, Vec<VertexId>>,
}

impl Pairs {
    fn of<G: Resident>(g: &G, changes: &Changes) -> Pairs {
        // By how many entries the lists that join each pair have grown.
        let mut grown: HashMap<Pair, i64> = HashMap::new();
        for change in &changes.edges {
            let step = match change.kind {
                EdgeChangeKind::Inserted => 1,
                EdgeChangeKind::Removed => -1,
                EdgeChangeKind::Reweighted => continue,
            };
            // An undirected edge is listed at both ends.
            if change.src != change.dst && (g.is_directed() || change.src < change.dst) {
                *grown.entry(pair(change.src, change.dst)).or_default() += step;
            }
        }
        let mut all: Vec<(Pair, i64)> = grown.into_iter().collect();
        all.sort_unstable();
        let mut pairs = Pairs::default();
        for ((a, b), growth) in all {
            let now = entries(g, a, b);
            let before = now - growth;
            let (of, ends) = match (before > 0, now > 0) {
                (false, true) => (&mut pairs.inserted, &mut pairs.ends_of_inserted),
                (true, false) => (&mut pairs.removed, &mut pairs.ends_of_removed),
                _ => continue,
            };
            of.insert((a, b), of.len());
            ends.entry(a).or_default().push(b);
            ends.entry(b).or_default().push(a);
        }
        pairs
    }

    /// The number of triangles that inserted pairs add, or removed pairs remove.
    fn count<G: Resident>(&self, g: &G, turn: Turn, cancel: &Cancel) -> Result<u64, KernelError> {
        let of = if turn == Turn::Inserted { &self.inserted } else { &self.removed };
        let length = |v: VertexId| directions(g).iter().map(|&d| g.degree(v, d)).sum::<usize>();
        let mut by_longer: HashMap<VertexId, Vec<(VertexId, usize)>> = HashMap::new();
        for (&(a, b), &place) in of {
            let (longer, shorter) = if length(a) >= length(b) { (a, b) } else { (b, a) };
            by_longer.entry(longer).or_default().push((shorter, place));
        }
        let by_longer: Vec<(VertexId, Vec<(VertexId, usize)>)> = by_longer.into_iter().collect();
        let words = g.vertex_bound().div_ceil(64);
        let counts = hedgerow_par::fold(
            by_longer.par_iter().with_max_len(by_longer.len().div_ceil(4 * hedgerow_par::threads()).max(1)),
            || (0, Vec::new()),
            |(mut sum, mut bits): (u64, Vec<u64>), (longer, others)| {
                bits.resize(words, 0);
                let Some(mut meter) = cancel.meter() else { return (sum, bits) };
                each_neighbor(g, *longer, |w| bits[w.index() / 64] |= 1 << (w.0 % 64));
                for &(shorter, place) in others {
                    if !meter.spend(length(shorter).min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
                        break;
                    }
                    sum += self.common(g, (*longer, &bits), shorter, (turn, place));
                }
                each_neighbor(g, *longer, |w| bits[w.index() / 64] = 0);
                (sum, bits)
            },
        );
        cancel.check()?;
        Ok(counts.into_iter().map(|(sum, _)| sum).sum())
    }

    /// The number of common neighbors of a pair at its turn. `bits`: the present neighbors of `a`.
    fn common<G: Resident>(
        &self,
        g: &G,
        (a, bits): (VertexId, &[u64]),
        b: VertexId,
        when: (Turn, usize),
    ) -> u64 {
        let is_set = |w: VertexId| bits[w.index() / 64] >> (w.0 % 64) & 1 != 0;
        let has_changed = [a, b]
            .iter()
            .any(|v| self.ends_of_inserted.contains_key(v) || self.ends_of_removed.contains_key(v));
        let counts = |w: VertexId| {
            w != a && w != b && !(has_changed && (self.is_later(a, w, when) || self.is_later(b, w, when)))
        };
        let mut found = 0;
        each_neighbor(g, b, |w| found += u64::from(is_set(w) && counts(w)));
        if when.0 == Turn::Inserted {
            return found;
        }
        // Removed pairs with an earlier place are still there; the present lists lack them.
        let joined = |v: VertexId, w: VertexId| {
            self.is_back(v, w, when.1) || (entries(g, v, w) > 0 && !self.inserted.contains_key(&pair(v, w)))
        };
        let mut others: Vec<VertexId> =
            [a, b].iter().filter_map(|v| self.ends_of_removed.get(v)).flatten().copied().collect();
        others.sort_unstable();
        others.dedup();
        let back = |w: &VertexId| self.is_back(a, *w, when.1) || self.is_back(b, *w, when.1);
        found
            + others
                .iter()
                .filter(|&w| *w != a && *w != b && back(w) && joined(a, *w) && joined(b, *w))
                .count() as u64
    }

    /// Whether a pair in the present lists is inserted only after this turn.
    fn is_later(&self, v: VertexId, w: VertexId, (turn, place): (Turn, usize)) -> bool {
        let at = self.inserted.get(&pair(v, w));
        at.is_some_and(|&at| turn == Turn::Removed || at > place)
    }

    /// Whether a removed pair is still there at this turn: they are removed from the last place to the first.
    fn is_back(&self, v: VertexId, w: VertexId, place: usize) -> bool {
        self.removed.get(&pair(v, w)).is_some_and(|&at| at < place)
    }
}

/// Calls `f` once with each neighbor of `v`, directions ignored.
fn each_neighbor<G: Resident>(g: &G, v: VertexId, mut f: impl FnMut(VertexId)) {
    if !g.is_directed() {
        let mut last = None;
        return g.neighbors(v, Direction::Out).iter().for_each(|w| {
            if last.replace(w) != Some(w) {
                f(w);
            }
        });
    }
    let mut all: Vec<VertexId> = directions(g).iter().flat_map(|&d| g.neighbors(v, d).iter()).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().for_each(f);
}

/// The number of list entries that join two vertices; in an undirected graph those in the list of `a`.
fn entries<G: Resident>(g: &G, a: VertexId, b: VertexId) -> i64 {
    let of = |a: VertexId, b: VertexId| {
        let list = g.neighbors(a, Direction::Out);
        let count =
            |list: &[VertexId]| (list.partition_point(|&v| v <= b) - list.partition_point(|&v| v < b)) as i64;
        count(list.main) + count(list.added) - count(list.removed)
    };
    of(a, b) + if g.is_directed() { of(b, a) } else { 0 }
}
