//! Lists in one piece, for kernels that look at two lists at a time.

use std::sync::OnceLock;

use hedgerow_core::{Direction, VertexId};

type Lists = Box<[OnceLock<Box<[VertexId]>>]>;

/// Copies of lists that do not lie in one piece, each made when it is first asked for and kept as long as the snapshot (the flat
/// snapshots of Aspen, by list). Nothing is taken before.
#[derive(Debug, Default)]
pub(crate) struct FlatLists {
    by_direction: [OnceLock<Lists>; 2],
}

impl FlatLists {
    /// The list of `v`, which `fill` writes if it was not asked for before; `vertices` is more than every id that is asked for.
    pub(crate) fn get(
        &self,
        v: VertexId,
        direction: Direction,
        vertices: usize,
        fill: impl FnOnce(&mut Vec<VertexId>),
    ) -> &[VertexId] {
        let lists = self.by_direction[direction as usize]
            .get_or_init(|| (0..vertices).map(|_| OnceLock::new()).collect());
        let Some(list) = lists.get(v.index()) else { return &[] };
        list.get_or_init(|| {
            let mut copy = Vec::new();
            fill(&mut copy);
            copy.into_boxed_slice()
        })
    }
}
