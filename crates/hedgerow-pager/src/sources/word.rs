//! Words: the results of operations on one edge, and the rules by which they compose (D4 of
//! `docs/design/blind-writes.md`).

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LocalVertex, RowRef, VertexId};
use hedgerow_mem::items::ItemRef;

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// The edge exists, with this weight and this row, whether or not it existed before.
    Put,
    /// The edge exists. It has this weight and this row if it did not exist before.
    PutIfAbsent,
    /// The edge does not exist.
    Remove,
}

/// The identity of an edge within a chain. Lists ascend in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The vertex, by its number in the subgraph.
    pub local: LocalVertex,
    /// The other endpoint.
    pub other: VertexId,
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
}

/// An edge of a subgraph: the direction of the list that has it, the vertex of the list, and the other
/// endpoint.
pub type EdgeAt = (Direction, LocalVertex, VertexId);

/// The result of the operations on one edge of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// The vertex, by its number in the subgraph.
    pub local: LocalVertex,
    /// The kind.
    pub kind: WordKind,
    /// The other endpoint and the rank; for a put also the weight and the whole row.
    pub item: ItemRef<'a>,
}

impl Identity {
    /// Returns the identity of an edge of the vertex `local`.
    #[inline]
    pub fn of(local: LocalVertex, item: &ItemRef<'_>) -> Identity {
        Identity { local, other: item.dst, rank: item.rank }
    }
}

impl<'a> Word<'a> {
    /// Makes the word that removes an edge.
    pub fn remove(at: Identity) -> Word<'static> {
        let item = ItemRef { dst: at.other, rank: at.rank, weight: 1.0, row: RowRef::Empty };
        Word { local: at.local, kind: WordKind::Remove, item }
    }

    /// Returns the identity of the edge.
    #[inline]
    pub fn identity(&self) -> Identity {
        Identity::of(self.local, &self.item)
    }

    /// True if older words about the edge, and its state in an older whole list, have no effect on the
    /// result.
    pub fn ends_search(&self) -> bool {
        self.kind != WordKind::PutIfAbsent || faults::is_on(PlantedFault::PutIfAbsentEndsSearch)
    }

    /// Returns one word that has the effect of `older` followed by this word. Both words are about the same
    /// edge.
    pub fn over(self, older: Word<'a>) -> Word<'a> {
        if self.ends_search() {
            return if faults::is_on(PlantedFault::OlderWordWins) { older } else { self };
        }
        match older.kind {
            WordKind::Put | WordKind::PutIfAbsent => older,
            WordKind::Remove => Word { kind: WordKind::Put, ..self },
        }
    }

    /// Returns the edge after this word is applied to the state `before`. Both for `before` and for the
    /// result, `None` means that the edge does not exist.
    pub fn applied(self, before: Option<ItemRef<'a>>) -> Option<ItemRef<'a>> {
        match self.kind {
            WordKind::Put => Some(self.item),
            WordKind::PutIfAbsent => before.or(Some(self.item)),
            WordKind::Remove => None,
        }
    }
}

/// Composes words of one chain, so that each edge has one word. Afterwards the words ascend by identity.
/// Several words about the same edge must come newest first; other words may be in any order. A *remove*
/// stays, since an older list may have the edge that it removes. O(words log words), and O(words) if the
/// words ascend already.
pub fn compose(words: &mut Vec<Word<'_>>) {
    words.sort_by_key(Word::identity);
    words.dedup_by(|older, newer| {
        let is_same = older.identity() == newer.identity();
        if is_same {
            *newer = newer.over(*older);
        }
        is_same
    });
    if faults::is_on(PlantedFault::TombstoneDropped) {
        words.retain(|word| word.kind != WordKind::Remove);
    }
}
