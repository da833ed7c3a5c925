//! The places of the copies of an edge. Commits, reads, replay, checks and salvage take these rules from
//! here.
//!
//! An edge has a first copy in the outgoing chain of its first end. A directed graph with incoming lists has
//! a second copy in the incoming chain of the other end. An undirected graph has it in the outgoing chain of
//! the other end, unless the edge is a self-loop. The smaller end of an undirected edge comes first.

use hedgerow_core::{Direction, GraphConfig, RowRef, VertexId};
use hedgerow_mem::EdgeOp;

/// The rules for a graph of one configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Placement {
    directed: bool,
    /// True if edges have second copies.
    both: bool,
}

impl Placement {
    #[inline]
    pub(crate) fn of(config: &GraphConfig) -> Placement {
        Placement { directed: config.directed, both: !config.is_one_way() }
    }

    /// True if edges have a direction.
    pub(crate) fn is_directed(self) -> bool {
        self.directed
    }

    /// Returns the ends in the order in which the edge is stored.
    #[inline]
    pub(crate) fn ends<T: Ord>(self, src: T, dst: T) -> (T, T) {
        if self.directed || src <= dst { (src, dst) } else { (dst, src) }
    }

    /// Returns the ends, in stored order, of the edge whose copy with `other` is in a chain of `direction` at
    /// `at`.
    #[inline]
    pub(crate) fn ends_of_copy<T: Ord>(self, at: T, other: T, direction: Direction) -> (T, T) {
        match direction {
            Direction::In if self.directed => (other, at),
            _ => self.ends(at, other),
        }
    }

    /// Returns the direction of the chains with second copies.
    #[inline]
    pub(crate) fn second_direction(self) -> Direction {
        if self.directed { Direction::In } else { Direction::Out }
    }

    /// True if an edge has a second copy, in the chain of [`second_direction`](Self::second_direction) at
    /// `dst`.
    #[inline]
    pub(crate) fn has_second<T: Eq>(self, src: T, dst: T) -> bool {
        self.both && (self.directed || src != dst)
    }

    /// True if an operation on an edge changes its second copy too. An incoming copy keeps no properties, so
    /// an update of properties alone leaves it as it is.
    #[inline]
    pub(crate) fn second_changes(self, op: EdgeOp, weighted: bool) -> bool {
        !self.directed || op != EdgeOp::Update || weighted
    }

    /// True if the copy in `direction` at `at` is the one that is counted, logged and listed: each edge has
    /// exactly one such copy.
    #[inline]
    pub(crate) fn counts_at<T: Ord>(self, direction: Direction, at: T, other: T) -> bool {
        direction == Direction::Out && (self.directed || at <= other)
    }

    /// True if the copies in a direction keep properties.
    #[inline]
    pub(crate) fn keeps_rows(self, direction: Direction) -> bool {
        direction == Direction::Out
    }

    /// Returns the properties in the copy in `direction` at `at`: all if the edge is counted at this copy;
    /// properties of fixed width at the other end of an undirected edge; none in an incoming chain.
    #[inline]
    pub(crate) fn row_at<'r>(
        self,
        direction: Direction,
        at: VertexId,
        other: VertexId,
        row: RowRef<'r>,
    ) -> RowRef<'r> {
        match direction {
            _ if !self.keeps_rows(direction) => RowRef::Empty,
            _ if self.counts_at(direction, at, other) => row,
            _ => row.fixed_only(),
        }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_core::{PropertyId, Row, Value};

    use super::*;

    fn of(directed: bool, reverse: bool) -> Placement {
        Placement::of(&GraphConfig { directed, reverse, ..GraphConfig::default() })
    }

    /// Every edge is stored with one order of its ends, all its copies return this order, and one of the
    /// copies is counted.
    #[test]
    fn each_edge_is_counted_by_one_of_its_copies() {
        for (directed, reverse) in [(true, true), (true, false), (false, true), (false, false)] {
            let placement = of(directed, reverse);
            for (a, b) in [(1, 2), (2, 1), (3, 3)] {
                let (src, dst) = placement.ends(a, b);
                let mut copies = vec![(src, dst, Direction::Out)];
                if placement.has_second(src, dst) {
                    copies.push((dst, src, placement.second_direction()));
                }
                let counted = copies.iter().filter(|&&(at, other, d)| placement.counts_at(d, at, other));
                assert_eq!(counted.count(), 1, "{placement:?} {a} {b}");
                for (at, other, direction) in copies {
                    assert_eq!(placement.ends_of_copy(at, other, direction), (src, dst), "{placement:?}");
                }
            }
        }
        assert_eq!((of(false, true).ends(2, 1), of(true, true).ends(2, 1)), ((1, 2), (2, 1)));
        assert!(!of(true, false).has_second(1, 2) && !of(false, true).has_second(3, 3));
    }

    /// The counted copy has all properties. The other copy of an undirected edge has the properties of fixed
    /// width.
    #[test]
    fn properties_are_kept_where_the_edge_is_counted() {
        let cells = vec![(PropertyId(0), Value::I64(7)), (PropertyId(1), Value::Utf8("long".into()))];
        let (row, fixed) = (Row::new(cells.clone()), Row::new(cells[..1].to_vec()));
        let (a, b) = (VertexId(1), VertexId(2));
        let kept =
            |p: Placement, direction, at, other| p.row_at(direction, at, other, row.as_ref().into()).to_row();
        assert_eq!(kept(of(false, true), Direction::Out, a, b), row);
        assert_eq!(kept(of(false, true), Direction::Out, b, a), fixed);
        assert_eq!(kept(of(true, true), Direction::Out, b, a), row);
        assert_eq!(kept(of(true, true), Direction::In, a, b), None);
    }
}
