//! The delta entries about one edge, split off sorted entries.

use hedgerow_core::{LocalVertex, VertexId};

use crate::op::EdgeOp;

/// The delta entries about one edge, reduced to the first and the last one.
pub(in crate::view) struct Reduced {
    pub(in crate::view) local: LocalVertex,
    pub(in crate::view) dst: VertexId,
    pub(in crate::view) first: EdgeOp,
    pub(in crate::view) last: EdgeOp,
    /// The index of the last entry in the delta.
    pub(in crate::view) entry: usize,
}

/// Splits the entries about the first edge off the sorted entries. Returns them reduced, and the rest.
#[inline]
pub(super) fn first_edge(entries: &[u64]) -> Option<(Reduced, &[u64])> {
    let (&head, mut rest) = entries.split_first()?;
    let mut last = head;
    while let Some((&entry, others)) = rest.split_first()
        && entry >> 26 == head >> 26
    {
        (last, rest) = (entry, others);
    }
    let op = |entry: u64| EdgeOp::from_bits(entry as u8 & 3);
    let edge = Reduced {
        local: LocalVertex((head >> 58) as u8),
        dst: VertexId((head >> 26) as u32),
        first: op(head),
        last: op(last),
        entry: (last >> 2 & 0xff_ffff) as usize,
    };
    Some((edge, rest))
}
