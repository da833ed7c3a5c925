//! Whether two vertices are connected: a search from both, which ends when they meet, or when one has found its component.

use std::collections::HashMap;
use std::ops::ControlFlow;

use hedgerow_core::{Resident, VertexId};

use super::certificate::directions;
use crate::cancel::Meter;
use crate::{Cancel, KernelError};

/// What a search from two vertices came to.
pub(super) enum Met {
    /// A way from the one to the other.
    Way(Vec<VertexId>),
    /// One of them has a component of its own.
    Ended {
        /// All of it, each vertex with that from which it was reached: the first one from itself.
        whole: Vec<(VertexId, VertexId)>,
        /// The other vertex.
        other: VertexId,
    },
}

/// One of the two searches, breadth first.
struct Side {
    begin: VertexId,
    /// All that was reached, in order; from `at` on their lists were not read.
    reached: Vec<VertexId>,
    at: usize,
    /// Where each was reached from.
    from: HashMap<VertexId, VertexId>,
    /// The lengths of lists read.
    read: usize,
}

impl Side {
    fn new(begin: VertexId) -> Side {
        Side { begin, reached: vec![begin], at: 0, from: HashMap::from([(begin, begin)]), read: 0 }
    }

    /// All that was reached, and where from.
    fn tree(&self) -> Vec<(VertexId, VertexId)> {
        self.reached.iter().map(|v| (*v, self.from.get(v).copied().unwrap_or(*v))).collect()
    }

    /// The way back from `v` to the begin, both included.
    fn way_from(&self, mut v: VertexId) -> Vec<VertexId> {
        let mut way = vec![v];
        while let Some(&before) = self.from.get(&v).filter(|&&before| before != v) {
            way.push(before);
            v = before;
        }
        way
    }

    /// Reads the lists of the next vertex. Returns a neighbor that the other side has reached, if there is one.
    fn step<G: Resident>(
        &mut self,
        g: &G,
        other: &Side,
        meter: &mut Meter<'_>,
    ) -> Result<Option<VertexId>, KernelError> {
        let Some(&v) = self.reached.get(self.at) else { return Ok(None) };
        self.at += 1;
        for &direction in directions(g) {
            let list = g.neighbors(v, direction);
            if !meter.spend(list.len().min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
                return Err(KernelError::Cancelled);
            }
            self.read += list.len();
            let found = list.try_for_each(|u| {
                if other.from.contains_key(&u) {
                    self.from.entry(u).or_insert(v);
                    return ControlFlow::Break(u);
                }
                self.from.entry(u).or_insert_with(|| {
                    self.reached.push(u);
                    v
                });
                ControlFlow::Continue(())
            });
            if let ControlFlow::Break(u) = found {
                return Ok(Some(u));
            }
        }
        Ok(None)
    }

    fn is_done(&self) -> bool {
        self.at == self.reached.len()
    }
}

/// Searches from `a` and `b`, each time on the side that has read less.
pub(super) fn search<G: Resident>(
    g: &G,
    a: VertexId,
    b: VertexId,
    cancel: &Cancel,
) -> Result<Met, KernelError> {
    if a == b {
        return Ok(Met::Way(Vec::new()));
    }
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    if let Some(way) = short_way(g, a, b) {
        return Ok(Met::Way(way));
    }
    let (mut near, mut far) = (Side::new(a), Side::new(b));
    loop {
        for (side, other) in [(&near, &far), (&far, &near)] {
            if side.is_done() {
                return Ok(Met::Ended { whole: side.tree(), other: other.begin });
            }
        }
        let next = |side: &Side| side.read + side.reached.get(side.at).map_or(0, |&v| total_degree(g, v));
        let (side, other) = if next(&near) <= next(&far) { (&mut near, &far) } else { (&mut far, &near) };
        if let Some(meeting) = side.step(g, other, &mut meter)? {
            let mut way = side.way_from(meeting);
            way.reverse();
            way.extend(other.way_from(meeting).into_iter().skip(1));
            return Ok(Met::Way(way));
        }
    }
}

/// A way of one edge or two, by a look for each neighbor of the one among those of the other: most ends of an edge have some in common.
fn short_way<G: Resident>(g: &G, a: VertexId, b: VertexId) -> Option<Vec<VertexId>> {
    let (few, many) = if total_degree(g, a) <= total_degree(g, b) { (a, b) } else { (b, a) };
    let of_many =
        |v: VertexId| directions(g).iter().any(|&direction| g.neighbors(many, direction).contains(v));
    if of_many(few) {
        return Some(vec![a, b]);
    }
    directions(g).iter().find_map(|&direction| {
        let found = g.neighbors(few, direction).try_for_each(|v| match v != few && of_many(v) {
            true => ControlFlow::Break(v),
            false => ControlFlow::Continue(()),
        });
        found.break_value().map(|v| vec![a, v, b])
    })
}

fn total_degree<G: Resident>(g: &G, v: VertexId) -> usize {
    directions(g).iter().map(|&direction| g.degree(v, direction)).sum()
}
