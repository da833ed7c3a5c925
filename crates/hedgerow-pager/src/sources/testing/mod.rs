//! Sources for tests, and the model with which merges are compared. Two of the sources have words: a list of
//! operations, and a reader of delta records.

pub(crate) mod model;
pub(crate) mod operations;
pub(crate) mod records;
pub(crate) mod stack;

use hedgerow_core::{Direction, LabelId, LocalVertex, Row, SubgraphId};
use hedgerow_tier::{ImageId, ReadMemory, TierError};

use crate::sources::{ChainId, HasMemory, Identity, Word, WordKind};

/// An operation.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// An operation on one edge of a chain. A remove ignores the edge's weight and row.
    Edge { chain: ChainId, at: Identity, kind: WordKind, edge: Edge },
    /// A vertex of an image of the default label is inserted or removed.
    Vertex { image: ImageId, local: LocalVertex, exists: bool },
}

/// The weight and the properties of an edge.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) weight: f64,
    pub(crate) row: Option<Row>,
}

impl Edge {
    /// Returns the word about this edge.
    pub(crate) fn word(&self, at: Identity, kind: WordKind) -> Word<'_> {
        let (weight, row) = (self.weight, self.row.as_ref().into());
        let item = hedgerow_mem::items::ItemRef { dst: at.other, rank: at.rank, weight, row };
        if kind == WordKind::Remove { Word::remove(at) } else { Word { local: at.local, kind, item } }
    }
}

/// Returns the image of a subgraph in a label.
pub(crate) fn image(label: u16, subgraph: u32) -> ImageId {
    ImageId { label: LabelId(label), subgraph: SubgraphId(subgraph) }
}

/// Returns both chains of an image.
pub(crate) fn chains(image: ImageId) -> [ChainId; 2] {
    [Direction::Out, Direction::In].map(|direction| ChainId::new(image, direction))
}

/// Asks for the memory of `count` words.
pub(crate) fn ask_for_words(count: usize, has_memory: HasMemory<'_>) -> Result<(), TierError> {
    let needed = (count * size_of::<Word<'_>>()) as u64;
    if has_memory(ReadMemory::Buffers(needed)) { Ok(()) } else { Err(TierError::NoRoom { needed }) }
}

/// Returns a guard. While it exists, no test plants a fault.
#[cfg(feature = "planted-faults")]
pub(crate) fn sound() -> hedgerow_core::faults::Sound {
    hedgerow_core::faults::sound()
}

/// Returns a guard without effect: this build has no planted faults.
#[cfg(not(feature = "planted-faults"))]
pub(crate) fn sound() -> Sound {
    Sound
}

/// A guard without effect, for a build without planted faults.
#[cfg(not(feature = "planted-faults"))]
pub(crate) struct Sound;
