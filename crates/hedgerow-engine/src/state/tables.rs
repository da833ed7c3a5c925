//! The tables of subgraphs of all labels.

use std::sync::OnceLock;

use hedgerow_core::{Direction, LabelId, SubgraphId};
use hedgerow_mem::{Memory, SubgraphTable};

const CHUNK: usize = 256;

type Chunk = Box<[OnceLock<Box<SubgraphTable>>]>;

/// The tables of all labels but the default one, made at the first edge of a label. A table never moves.
pub(crate) struct LabelTables {
    memory: Memory,
    chunks: Box<[OnceLock<Chunk>]>,
}

impl LabelTables {
    /// No tables; those to come allocate from `memory`.
    pub(crate) fn new(memory: &Memory) -> LabelTables {
        LabelTables { memory: memory.clone(), chunks: (0..CHUNK).map(|_| OnceLock::new()).collect() }
    }

    #[inline]
    pub(crate) fn get(&self, label: LabelId) -> Option<&SubgraphTable> {
        let (chunk, place) = (usize::from(label.0) / CHUNK, usize::from(label.0) % CHUNK);
        self.chunks.get(chunk)?.get()?.get(place)?.get().map(|table| &**table)
    }

    pub(crate) fn get_or_create(&self, label: LabelId) -> &SubgraphTable {
        let (chunk, place) = (usize::from(label.0) / CHUNK, usize::from(label.0) % CHUNK);
        let tables = self.chunks[chunk].get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect());
        tables[place].get_or_init(|| Box::new(SubgraphTable::new(self.memory.clone())))
    }

    /// The tables that exist, ascending by label.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LabelId, &SubgraphTable)> {
        let chunks = self.chunks.iter().enumerate().filter_map(|(i, chunk)| Some((i, chunk.get()?)));
        chunks.flat_map(|(i, tables)| {
            let of_chunk = tables.iter().enumerate();
            of_chunk.filter_map(move |(j, table)| Some((LabelId((i * CHUNK + j) as u16), &**table.get()?)))
        })
    }

    /// The bytes of the directory; the tables count themselves.
    pub(crate) fn bytes(&self) -> usize {
        let allocated = self.chunks.iter().filter(|chunk| chunk.get().is_some()).count();
        size_of_val(&*self.chunks) + allocated * CHUNK * size_of::<OnceLock<Box<SubgraphTable>>>()
    }
}

/// The subgraph of a label in one direction: the unit of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartitionKey {
    pub(crate) label: LabelId,
    pub(crate) subgraph: SubgraphId,
    pub(crate) direction: Direction,
}

impl PartitionKey {
    pub(crate) fn order(self) -> (LabelId, SubgraphId, u8) {
        (self.label, self.subgraph, self.direction as u8)
    }
}

impl From<(SubgraphId, Direction)> for PartitionKey {
    /// A chain of the default label.
    fn from((subgraph, direction): (SubgraphId, Direction)) -> Self {
        PartitionKey { label: LabelId::DEFAULT, subgraph, direction }
    }
}
