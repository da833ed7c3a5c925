//! The number of triangles, kept.
//!
//! **Result.** As of [`triangle_count`](crate::triangle_count()).
//!
//! **Trick.** Pairs of vertices that came to be joined, or are not any more, are taken one after another: first those that went are taken out, then those that
//! came are put in. Each adds or takes away as many triangles as its ends have neighbors in common at that time. These are counted in the lists as
//! they are now, and set right by the few pairs that come later, or went earlier, in that order. So no list of an earlier time is needed. Pairs are taken
//! together by their end with the longer list, which is turned into bits once; the shorter list is looked up in them.
//!
//! **Cited.** D. Eppstein, E. Spiro, *The h-index of a graph and its application to dynamic subgraph statistics*, WADS 2009, for counting by pair under change.
//!
//! **Cost.** O(Σ over changed pairs of the shorter list), and the longer list once for each vertex that has a changed pair; a bit per id of the domain for each thread.

use std::collections::{HashMap, HashSet};

use hedgerow_core::{Changes, Direction, EdgeChangeKind, Resident, VertexId};
use rayon::prelude::*;

use super::Maintained;
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
        let went = pairs.count(g, Turn::Went, cancel)?;
        let came = pairs.count(g, Turn::Came, cancel)?;
        self.count = self.count.saturating_add(came).saturating_sub(went);
        Ok(())
    }
}

/// A pair of vertices, the smaller first.
type Pair = (VertexId, VertexId);

fn pair(a: VertexId, b: VertexId) -> Pair {
    (a.min(b), a.max(b))
}

/// Which pairs are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Went,
    Came,
}

/// Pairs of vertices that are joined now and were not, or were and are not, each with its place in the order.
#[derive(Default)]
struct Pairs {
    came: HashMap<Pair, usize>,
    went: HashMap<Pair, usize>,
    /// By vertex the other ends of those that came, and of those that went.
    ends_of_came: HashMap<VertexId, Vec<VertexId>>,
    ends_of_went: HashMap<VertexId, Vec<VertexId>>,
}

impl Pairs {
    fn of<G: Resident>(g: &G, changes: &Changes) -> Pairs {
        // By how many entries of lists each pair differs, as the lists of its smaller end tell.
        let mut grown: HashMap<Pair, i64> = HashMap::new();
        let mut met = HashSet::new();
        for change in &changes.edges {
            let step = match change.kind {
                EdgeChangeKind::Inserted => 1,
                EdgeChangeKind::Removed => -1,
                EdgeChangeKind::Reweighted => continue,
            };
            // An undirected edge stands in both lists.
            if change.src != change.dst && (g.is_directed() || change.src < change.dst) {
                *grown.entry(pair(change.src, change.dst)).or_default() += step;
                met.insert(pair(change.src, change.dst));
            }
        }
        let mut all: Vec<Pair> = met.into_iter().collect();
        all.sort_unstable();
        let mut pairs = Pairs::default();
        for (a, b) in all {
            let now = entries(g, a, b);
            let before = now - grown.get(&(a, b)).copied().unwrap_or(0);
            let (of, ends) = match (before > 0, now > 0) {
                (false, true) => (&mut pairs.came, &mut pairs.ends_of_came),
                (true, false) => (&mut pairs.went, &mut pairs.ends_of_went),
                _ => continue,
            };
            of.insert((a, b), of.len());
            ends.entry(a).or_default().push(b);
            ends.entry(b).or_default().push(a);
        }
        pairs
    }

    /// How many triangles come with those that came, or go with those that went.
    fn count<G: Resident>(&self, g: &G, turn: Turn, cancel: &Cancel) -> Result<u64, KernelError> {
        let of = if turn == Turn::Came { &self.came } else { &self.went };
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

    /// The neighbors that two vertices have in common when the pair at a place has its turn. `bits`: those of `a` now.
    fn common<G: Resident>(
        &self,
        g: &G,
        (a, bits): (VertexId, &[u64]),
        b: VertexId,
        when: (Turn, usize),
    ) -> u64 {
        let is_set = |w: VertexId| bits[w.index() / 64] >> (w.0 % 64) & 1 != 0;
        let has_changed =
            [a, b].iter().any(|v| self.ends_of_came.contains_key(v) || self.ends_of_went.contains_key(v));
        let counts = |w: VertexId| {
            w != a && w != b && !(has_changed && (self.is_later(a, w, when) || self.is_later(b, w, when)))
        };
        let mut found = 0;
        each_neighbor(g, b, |w| found += u64::from(is_set(w) && counts(w)));
        if when.0 == Turn::Came {
            return found;
        }
        // Those that went and come back before: in the lists as they are now, one of the two edges is missing.
        let joined = |v: VertexId, w: VertexId| {
            self.is_back(v, w, when.1) || (entries(g, v, w) > 0 && !self.came.contains_key(&pair(v, w)))
        };
        let mut others: Vec<VertexId> =
            [a, b].iter().filter_map(|v| self.ends_of_went.get(v)).flatten().copied().collect();
        others.sort_unstable();
        others.dedup();
        let back = |w: &VertexId| self.is_back(a, *w, when.1) || self.is_back(b, *w, when.1);
        found
            + others
                .iter()
                .filter(|&w| *w != a && *w != b && back(w) && joined(a, *w) && joined(b, *w))
                .count() as u64
    }

    /// Whether a pair that is joined now is not yet.
    fn is_later(&self, v: VertexId, w: VertexId, (turn, place): (Turn, usize)) -> bool {
        let at = self.came.get(&pair(v, w));
        at.is_some_and(|&at| turn == Turn::Went || at > place)
    }

    /// Whether a pair that is not joined now is still, as those that went are taken out from the last to the first.
    fn is_back(&self, v: VertexId, w: VertexId, place: usize) -> bool {
        self.went.get(&pair(v, w)).is_some_and(|&at| at < place)
    }
}

fn directions<G: Resident>(g: &G) -> &'static [Direction] {
    if g.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}

/// Calls `f` with each neighbor, directions ignored, once.
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

/// How many entries of lists join two vertices: of an undirected graph in the list of the first.
fn entries<G: Resident>(g: &G, a: VertexId, b: VertexId) -> i64 {
    let of = |a: VertexId, b: VertexId| {
        let list = g.neighbors(a, Direction::Out);
        let count =
            |list: &[VertexId]| (list.partition_point(|&v| v <= b) - list.partition_point(|&v| v < b)) as i64;
        count(list.main) + count(list.added) - count(list.removed)
    };
    of(a, b) + if g.is_directed() { of(b, a) } else { 0 }
}
