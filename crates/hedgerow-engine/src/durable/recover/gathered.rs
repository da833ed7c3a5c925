//! Operations of commits, collected and sorted by subgraph until there are enough to apply.

use hedgerow_core::{
    Direction, LabelId, LocalVertex, Row, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
};
use hedgerow_log::CommitPlace;

/// A batch is applied when it holds this many sides of operations: 96 MiB of them.
pub(super) const MOST_SIDES: usize = 1 << 22;
/// The first batches are applied at this many sides (24 MiB), or at the limit if that is lower: while lists
/// are short, merging them twice costs less than sorting sides that exceed the cache.
const FIRST_SIDES: usize = 1 << 20;
/// A batch is applied when it holds about this many bytes of properties.
const MOST_ROW_BYTES: usize = 16 << 20;
/// The number of lists among which subgraphs are divided. One thread sorts and applies a list.
const LISTS: usize = 256;

/// Returns the number of sides in a batch of `bytes`.
pub(super) fn most_sides(bytes: u64) -> usize {
    let sides = bytes / size_of::<ReplayEntry>() as u64;
    usize::try_from(sides).map_or(MOST_SIDES, |sides| sides.clamp(1, MOST_SIDES))
}

/// The effect of an operation at one edge copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// The edge exists from now on, with the weight in the entry.
    Put,
    /// The edge is gone.
    Remove,
    /// The vertex must exist: an edge leads to it that only the list of the other end has.
    Exists,
    /// The vertex is inserted.
    InsertVertex,
    /// The vertex is removed.
    RemoveVertex,
    /// Like `Put`, with rank or properties: instead of a weight the entry has their place.
    PutItem,
    /// Like `Remove`, with a rank.
    RemoveItem,
}

impl Act {
    const ALL: [Act; 8] = [
        Act::Put,
        Act::Remove,
        Act::Exists,
        Act::InsertVertex,
        Act::RemoveVertex,
        Act::PutItem,
        Act::RemoveItem,
        Act::Exists,
    ];

    /// True if the edge exists from now on.
    pub(super) fn puts(self) -> bool {
        matches!(self, Act::Put | Act::PutItem)
    }

    /// True if the edge is gone.
    pub(super) fn removes(self) -> bool {
        matches!(self, Act::Remove | Act::RemoveItem)
    }
}

/// One side of an operation: its effect at one edge copy. Sorts by subgraph, label, direction, vertex, other
/// end, order.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplayEntry {
    place: u64,
    target: u64,
    weight: f64,
}

impl ReplayEntry {
    pub(super) fn key(&self) -> (u64, u64) {
        (self.place, self.target)
    }

    pub(super) fn subgraph(&self) -> SubgraphId {
        SubgraphId((self.place >> 32) as u32)
    }

    /// Returns the value that all sides of one chain have in common: subgraph, label and direction.
    pub(super) fn chain(&self) -> u64 {
        self.place >> 8
    }

    /// Returns the value that all sides of a subgraph in one label have in common.
    pub(super) fn table(&self) -> u64 {
        self.place >> 16
    }

    pub(super) fn label(&self) -> LabelId {
        LabelId((self.place >> 16) as u16)
    }

    pub(super) fn direction(&self) -> Direction {
        if self.place >> 8 & 1 == 0 { Direction::Out } else { Direction::In }
    }

    pub(super) fn local(&self) -> LocalVertex {
        LocalVertex(self.place as u8 & (SUBGRAPH_VERTICES as u8 - 1))
    }

    pub(super) fn other(&self) -> VertexId {
        VertexId((self.target >> 32) as u32)
    }

    /// True if two sides concern the same entry of a list.
    pub(super) fn same_edge(&self, other: &ReplayEntry) -> bool {
        self.place == other.place && self.target >> 32 == other.target >> 32
    }

    /// Returns the number of the operation in its batch.
    pub(super) fn order(&self) -> u32 {
        (self.target as u32) >> 3
    }

    pub(super) fn act(&self) -> Act {
        Act::ALL[(self.target & 7) as usize]
    }

    pub(super) fn weight(&self) -> f64 {
        self.weight
    }
}

/// The data of an operation that does not fit into a [`ReplayEntry`].
#[derive(Debug)]
pub(super) struct ReplayAttributes {
    pub(super) rank: u64,
    pub(super) weight: f64,
    pub(super) row: Option<Row>,
}

/// The first operation of a commit in a batch.
#[derive(Clone, Copy, Debug)]
struct Begin {
    order: u32,
    commit: CommitPlace,
}

/// Operations of consecutive commits.
#[derive(Debug)]
pub(super) struct Batch {
    most_sides: usize,
    /// The number of sides in batches before this one.
    applied: usize,
    lists: Vec<Vec<ReplayEntry>>,
    sides: usize,
    items: Vec<ReplayAttributes>,
    row_bytes: usize,
    commits: Vec<Begin>,
    order: u32,
}

impl Batch {
    /// Makes an empty batch that is full at `most_sides`, or earlier while few sides have been applied.
    pub(super) fn new(most_sides: usize) -> Batch {
        Batch {
            most_sides,
            applied: 0,
            lists: (0..LISTS).map(|_| Vec::new()).collect(),
            sides: 0,
            items: Vec::new(),
            row_bytes: 0,
            commits: Vec::new(),
            order: 0,
        }
    }

    /// Begins the operations of `commit`.
    pub(super) fn begin(&mut self, commit: CommitPlace) {
        self.commits.push(Begin { order: self.order, commit });
    }

    /// Begins the next operation.
    pub(super) fn next_operation(&mut self) {
        self.order += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        let enough = (self.applied / 4).max(FIRST_SIDES).min(self.most_sides);
        self.sides >= enough || self.row_bytes >= MOST_ROW_BYTES
    }

    /// Returns the number of sides in the batch.
    pub(super) fn len(&self) -> usize {
        self.sides
    }

    /// Adds one side of the present operation.
    #[inline]
    pub(super) fn push(
        &mut self,
        act: Act,
        label: LabelId,
        direction: Direction,
        (at, other): (VertexId, VertexId),
        weight: f64,
    ) {
        let (subgraph, local) = (at.subgraph(), at.local());
        let place = u64::from(subgraph.0) << 32 | u64::from(label.0) << 16;
        let place = place | (direction as u64) << 8 | u64::from(local.0);
        let target = u64::from(other.0) << 32 | u64::from(self.order) << 3 | act as u64;
        self.lists[subgraph.0 as usize % LISTS].push(ReplayEntry { place, target, weight });
        self.sides += 1;
    }

    /// Stores an item and returns the word that replaces the weight in its entry.
    pub(super) fn keep(&mut self, item: ReplayAttributes) -> f64 {
        let at = self.items.len() as u64;
        self.row_bytes += size_of::<ReplayAttributes>() + item.row.as_ref().map_or(0, Row::bytes);
        self.items.push(item);
        f64::from_bits(at)
    }

    pub(super) fn item(&self, side: &ReplayEntry) -> Option<&ReplayAttributes> {
        self.items.get(side.weight.to_bits() as usize)
    }

    /// True if the operations on an edge or a vertex can be reduced to the last one. A removal of a vertex
    /// cannot: its effect depends on the order.
    pub(super) fn is_sortable(&self, side: &ReplayEntry) -> bool {
        match side.act() {
            Act::Put | Act::Remove | Act::Exists | Act::InsertVertex => true,
            // An item that is missing in the batch is damaged; `apply` reports it.
            Act::PutItem | Act::RemoveItem => self.item(side).is_some(),
            Act::RemoveVertex => false,
        }
    }

    /// Returns the rank of the edge.
    pub(super) fn rank(&self, side: &ReplayEntry) -> u64 {
        match side.act() {
            Act::PutItem | Act::RemoveItem => self.item(side).map_or(0, |item| item.rank),
            _ => 0,
        }
    }

    /// Returns the weight and the properties that an operation gives to an edge.
    pub(super) fn state(&self, side: &ReplayEntry) -> (f64, Option<&Row>) {
        match side.act() {
            Act::PutItem => self.item(side).map_or((0.0, None), |item| (item.weight, item.row.as_ref())),
            _ => (side.weight(), None),
        }
    }

    /// Returns the commit of an operation.
    pub(super) fn commit(&self, order: u32) -> Option<CommitPlace> {
        let after = self.commits.partition_point(|begin| begin.order <= order);
        self.commits.get(after.checked_sub(1)?).map(|begin| begin.commit)
    }

    /// Returns the timestamp of an operation.
    pub(super) fn ts(&self, order: u32) -> Timestamp {
        self.commit(order).map_or(Timestamp::ZERO, |commit| commit.ts)
    }

    /// Returns all sides, in no order.
    pub(super) fn sides(&self) -> impl Iterator<Item = &ReplayEntry> {
        self.lists.iter().flatten()
    }

    /// Takes the lists of sides; [`put_back`](Self::put_back) returns their memory.
    pub(super) fn take_lists(&mut self) -> Vec<Vec<ReplayEntry>> {
        std::mem::take(&mut self.lists)
    }

    /// Empties the batch but keeps its memory. The present commit continues in it.
    pub(super) fn put_back(&mut self, mut lists: Vec<Vec<ReplayEntry>>) {
        let present = self.commits.last().copied();
        self.applied = self.applied.saturating_add(self.sides);
        lists.iter_mut().for_each(Vec::clear);
        self.lists = lists;
        self.items.clear();
        self.commits.clear();
        (self.sides, self.row_bytes, self.order) = (0, 0, 0);
        self.commits.extend(present.map(|begin| Begin { order: 0, ..begin }));
    }
}

/// The first operation that does not fit the state before it, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Misfit {
    pub(super) order: u32,
    pub(super) what: &'static str,
}
