//! Copies of lists in one piece, for kernels that read two lists at a time.

use std::sync::OnceLock;

use hedgerow_core::{Direction, VertexId};

/// The number of lists in a part; the first read of one of them allocates the places of all.
const PART: usize = 4096;

type Part = Box<[OnceLock<Box<[VertexId]>>]>;
type Parts = Box<[OnceLock<Part>]>;

/// Copies of lists that are not in one piece. Each copy is made at its first read and kept as long as the
/// snapshot (the flat snapshots of Aspen, by list). The copies take no memory before the first read. The
/// first list takes 24 bytes for each 4,096 ids of the graph, and 24 bytes for each of the 4,096 ids around
/// its own. So an id that is far from all other ids takes no memory for the ids between them.
#[derive(Debug, Default)]
pub(crate) struct FlatLists {
    by_direction: [OnceLock<Parts>; 2],
}

impl FlatLists {
    /// Returns the list of `v`. `fill` writes the list at the first call for `v`. `vertices` is greater than
    /// the id of any vertex. O(1) after the first call.
    pub(crate) fn get(
        &self,
        v: VertexId,
        direction: Direction,
        vertices: usize,
        fill: impl FnOnce(&mut Vec<VertexId>),
    ) -> &[VertexId] {
        if v.index() >= vertices {
            return &[];
        }
        let parts = self.by_direction[direction as usize].get_or_init(|| unfilled(vertices.div_ceil(PART)));
        let Some(part) = parts.get(v.index() / PART) else { return &[] };
        part.get_or_init(|| unfilled(PART))[v.index() % PART].get_or_init(|| {
            let mut copy = Vec::new();
            fill(&mut copy);
            copy.into_boxed_slice()
        })
    }
}

fn unfilled<T>(count: usize) -> Box<[OnceLock<T>]> {
    (0..count).map(|_| OnceLock::new()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A far id allocates only the parts that it needs: an array with a place for each id would take 103 GB
    /// here.
    #[test]
    fn a_far_id_costs_the_places_around_it() {
        const BOUND: usize = u32::MAX as usize;
        let lists = FlatLists::default();
        let id = |v: usize| VertexId(v as u32);
        for v in [BOUND - 1, 0, PART - 1, PART] {
            let list = lists.get(id(v), Direction::Out, BOUND, |list| list.push(id(v)));
            assert_eq!(list, [id(v)]);
            assert_eq!(lists.get(id(v), Direction::Out, BOUND, |_| panic!("it is kept")), list);
            assert!(lists.get(id(v), Direction::In, BOUND, |_| {}).is_empty());
        }
        assert!(lists.get(id(BOUND), Direction::Out, BOUND, |_| panic!("it is no vertex")).is_empty());
        let made = |parts: &Parts| parts.iter().filter(|part| part.get().is_some()).count();
        assert_eq!(lists.by_direction.each_ref().map(|parts| parts.get().map(made)), [Some(3); 2]);
    }
}
