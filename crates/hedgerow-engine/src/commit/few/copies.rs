//! The edges of the operations of a transaction, and their copies in the order of chains.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, KeyKind, SubgraphId, VertexId, VertexKeyRef};
use hedgerow_mem::{EdgeOp, Hold, Latched, Subgraph};
use smallvec::SmallVec;

use crate::commit::names::{NOW, TxnKey};
use crate::commit::request::Request;
use crate::state::store::Engine;

/// The greatest number of operations: the places of their copies fit into [`EdgeCopy`].
pub(super) const MOST: usize = 1 << (PLACE_BITS - 1);
/// The number of operations up to which nothing is allocated.
pub(super) const INLINE: usize = 32;
/// The number of keys that are looked up together, so that their cache misses overlap.
const TOGETHER: usize = 8;
/// The number of bits for the place of a copy.
const PLACE_BITS: u32 = 11;
/// The number of bits of the other end in a copy. Operations on one edge have equal bits there, other
/// operations hardly ever.
const OTHER_BITS: u32 = 20;
const LOCAL_BITS: u32 = 6;
const _: () = assert!(26 + 1 + LOCAL_BITS + OTHER_BITS + PLACE_BITS == u64::BITS, "a copy is one word");

/// One copy of the edge of an operation, packed so that copies compare as numbers: subgraph, direction,
/// vertex, some bits of the other end, and the place. The place is twice the operation's place, plus one for
/// the second copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeCopy(u64);

impl EdgeCopy {
    #[inline]
    pub(super) fn new(at: VertexId, direction: Direction, other: VertexId, place: usize) -> EdgeCopy {
        let chain = u64::from(at.subgraph().0) << 1 | direction as u64;
        let vertex = chain << LOCAL_BITS | u64::from(at.local().0);
        let other = u64::from(other.0) & ((1 << OTHER_BITS) - 1);
        EdgeCopy((vertex << OTHER_BITS | other) << PLACE_BITS | place as u64)
    }

    #[inline]
    pub(super) fn chain(self) -> u64 {
        self.0 >> (LOCAL_BITS + OTHER_BITS + PLACE_BITS)
    }

    #[inline]
    pub(super) fn subgraph(self) -> SubgraphId {
        SubgraphId((self.chain() >> 1) as u32)
    }

    #[inline]
    pub(super) fn direction(self) -> Direction {
        if self.chain() & 1 == Direction::Out as u64 { Direction::Out } else { Direction::In }
    }

    /// Returns the place of the operation, and whether this is the second copy.
    #[inline]
    pub(super) fn place(self) -> (usize, bool) {
        let place = self.0 as usize & ((1 << PLACE_BITS) - 1);
        (place / 2, place % 2 == 1)
    }

    /// True if both may be copies of one edge; if false, they are not. Copies of one edge are neighbors in
    /// sorted order.
    #[inline]
    pub(super) fn may_be_same_edge(self, other: EdgeCopy) -> bool {
        (self.0 ^ other.0) >> PLACE_BITS == 0
    }
}

/// The edge of an operation, in the order in which it is stored.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) src: VertexId,
    pub(super) dst: VertexId,
    /// The indices of the latches of `src` and `dst`.
    pub(super) latches: [u16; 2],
    /// True if the operation names the key of `dst` first.
    turned: bool,
    /// True if the list of `src` is the shorter one.
    pub(super) at_src: bool,
    /// The change by the operation, and the weight after it.
    pub(super) change: Option<(EdgeOp, f64)>,
}

pub(super) type Edges = SmallVec<[Edge; INLINE]>;
pub(super) type Copies = SmallVec<[EdgeCopy; 2 * INLINE]>;

/// Returns the edges of the operations, and their copies in the order of chains. `None` if a key names no
/// vertex that memory knows, or two operations may be on one edge.
pub(super) fn gather(engine: &Engine, request: &Request<'_>) -> Option<(Edges, Copies)> {
    let placement = engine.catalog.placement();
    let (mut edges, mut copies) = (Edges::new(), Copies::new());
    edges.reserve(request.ops.len());
    copies.reserve(2 * request.ops.len());
    let header = |id: VertexId| {
        engine
            .pager
            .subgraphs
            .get(id.subgraph(), Hold::none())
            .into_iter()
            .for_each(Subgraph::prefetch_header);
    };
    for (at, &[first, second]) in ends(engine, request)?.as_chunks().0.iter().enumerate() {
        let (src, dst) = placement.ends(first, second);
        header(src);
        header(dst);
        copies.push(EdgeCopy::new(src, Direction::Out, dst, 2 * at));
        if placement.has_second(src, dst) {
            copies.push(EdgeCopy::new(dst, placement.second_direction(), src, 2 * at + 1));
        }
        edges.push(Edge { src, dst, latches: [0; 2], turned: src != first, at_src: true, change: None });
    }
    copies.sort_unstable();
    let twice = copies.windows(2).any(|pair| pair[0].may_be_same_edge(pair[1]));
    (!twice).then_some((edges, copies))
}

/// Returns the vertices that the keys of the operations name, two for each operation. In a dense graph the
/// vertices need not exist.
fn ends(engine: &Engine, request: &Request<'_>) -> Option<SmallVec<[VertexId; 2 * INLINE]>> {
    let keys = request.ops.iter().flat_map(|op| [op.src, op.dst]);
    if engine.catalog.config.keys == KeyKind::Dense {
        return keys.map(TxnKey::dense_id).collect();
    }
    let keys: SmallVec<[VertexKeyRef<'_>; 2 * INLINE]> = keys.map(|key| request.keys.key(key)).collect();
    let mut ids = SmallVec::with_capacity(keys.len());
    let (groups, rest) = keys.as_chunks::<TOGETHER>();
    for group in groups {
        for id in engine.keys.ids.lookup_all(*group, NOW, |_, _, _| ()) {
            ids.push(id?);
        }
    }
    for &key in rest {
        ids.push(engine.keys.ids.lookup(key, NOW)?);
    }
    Some(ids)
}

/// True if all ends still have the keys by which they were looked up. The caller holds all latches, and the
/// vertices exist (invariant I4).
pub(super) fn are_named(engine: &Engine, request: &Request<'_>, edges: &[Edge]) -> bool {
    let unasked = faults::is_on(PlantedFault::FewKeysNotLookedAtAgain);
    if unasked || engine.catalog.config.keys == KeyKind::Dense {
        return true;
    }
    request.ops.iter().zip(edges).all(|(op, edge)| {
        let (first, second) = if edge.turned { (edge.dst, edge.src) } else { (edge.src, edge.dst) };
        let carries = |id, key| engine.keys.ids.carries(id, request.keys.key(key));
        carries(first, op.src) && carries(second, op.dst)
    })
}

impl Edge {
    /// Returns the latched subgraphs of both ends.
    #[inline]
    pub(super) fn latched<'l, 'e>(&self, latches: &'l [Latched<'e>]) -> [&'l Latched<'e>; 2] {
        self.latches.map(|at| &latches[usize::from(at)])
    }
}
