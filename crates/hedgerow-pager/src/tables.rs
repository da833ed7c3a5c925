//! The tables of subgraphs of all labels.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow_core::account::Purpose;
use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, LabelId, SubgraphId, Timestamp};
use hedgerow_mem::{Hold, Memory, SubgraphTable};

/// The number of label ids.
const LABELS: usize = 1 << u16::BITS;

/// The tables of all labels except the default one, made at the first edge of a label. A table never moves.
pub struct LabelTables {
    memory: Memory,
    /// True if pages may be evicted: under a memory limit, and in test builds.
    evictable: bool,
    /// True once a label of edges has a table.
    has_edges: AtomicBool,
    /// The tables, boxed, so that a table chunk for labels without edges is small.
    tables: Growing<OnceLock<Box<SubgraphTable>>, LABELS>,
}

/// Returns the index of a label. Labels are numbered from 0, except that the label of vertices has the last
/// number. It is first here, so that a store that uses it needs no separate table chunk for it.
#[inline]
fn place(label: LabelId) -> usize {
    usize::from(label.0.wrapping_add(1))
}

impl LabelTables {
    /// Makes an empty set; later tables allocate from `memory`.
    pub fn new(memory: &Memory) -> LabelTables {
        // Tests evict without a limit.
        let evictable = memory.account().limit().is_some() || cfg!(feature = "planted-faults");
        let has_edges = AtomicBool::new(false);
        LabelTables { memory: memory.clone(), evictable, has_edges, tables: Growing::default() }
    }

    /// True if a label other than the default one may have edges. A commit that inserts the first edge of a
    /// label makes the label's table before it is published, so a reader for which this is false sees no such
    /// edge.
    #[inline]
    pub fn has_edges(&self) -> bool {
        self.has_edges.load(Relaxed)
    }

    fn note(&self, label: LabelId) {
        if label != LabelId::VERTICES && !self.has_edges.load(Relaxed) {
            self.has_edges.store(true, Relaxed);
        }
    }

    /// Returns a hold that suffices for all tables: an empty one if their pages stay in memory.
    #[inline]
    pub(crate) fn hold(&self) -> Hold {
        if self.evictable { Hold::begin() } else { Hold::empty() }
    }

    /// Frees evicted pages that no hold keeps; true if none is left. O(labels).
    pub(crate) fn free_pages(&self) -> bool {
        !self.evictable || self.iter().fold(true, |free, (_, table)| table.free_pages() && free)
    }

    fn table(&self, stored: (Vec<u32>, Timestamp)) -> Box<SubgraphTable> {
        let make = if self.evictable { SubgraphTable::evictable } else { SubgraphTable::with_stored };
        Box::new(make(self.memory.clone(), stored))
    }

    #[inline]
    /// Returns the table of a label, if it exists.
    pub fn get(&self, label: LabelId) -> Option<&SubgraphTable> {
        self.tables.get(place(label))?.get().map(|table| &**table)
    }

    /// Returns the table of a label; makes it if there is none.
    pub fn get_or_create(&self, label: LabelId) -> &SubgraphTable {
        let charge = |bytes| self.memory.account().charge(Purpose::Tables, bytes);
        let table = self.tables.get_or_create(place(label), charge);
        self.note(label);
        table.get_or_init(|| self.table((Vec::new(), Timestamp::ZERO)))
    }

    /// Makes the table of a label that has none yet; its pages `stored` are in files as of a timestamp.
    pub fn put_stored(&self, label: LabelId, stored: (Vec<u32>, Timestamp)) {
        let charge = |bytes| self.memory.account().charge(Purpose::Tables, bytes);
        let table = self.tables.get_or_create(place(label), charge);
        self.note(label);
        table.get_or_init(|| self.table(stored));
    }

    /// Returns the tables that exist, ascending by label.
    pub fn iter(&self) -> impl Iterator<Item = (LabelId, &SubgraphTable)> {
        let places = self.tables.chunks().flat_map(|(first, tables)| (first..).zip(tables));
        let numbered = places.filter(|&(at, _)| at != place(LabelId::VERTICES));
        let numbered = numbered.filter_map(|(at, table)| Some((LabelId((at - 1) as u16), &**table.get()?)));
        numbered.chain(self.get(LabelId::VERTICES).map(|table| (LabelId::VERTICES, table)))
    }

    /// Returns the bytes of the directory, without the tables themselves.
    pub fn bytes(&self) -> usize {
        self.tables.bytes()
    }
}

/// The subgraph of a label in one direction: the unit of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartitionKey {
    /// The label.
    pub label: LabelId,
    /// The subgraph.
    pub subgraph: SubgraphId,
    /// The direction.
    pub direction: Direction,
}

impl PartitionKey {
    /// Returns the key by which chains are sorted.
    pub fn order(self) -> (LabelId, SubgraphId, u8) {
        (self.label, self.subgraph, self.direction as u8)
    }
}

impl From<(SubgraphId, Direction)> for PartitionKey {
    /// Makes the key of a chain of the default label.
    fn from((subgraph, direction): (SubgraphId, Direction)) -> Self {
        PartitionKey { label: LabelId::DEFAULT, subgraph, direction }
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use super::*;

    #[test]
    fn each_label_has_a_table_of_its_own_that_stays_where_it_is() {
        let tables = LabelTables::new(&Memory::default());
        let labels =
            [LabelId::VERTICES, LabelId(1), LabelId(65_534), LabelId(63), LabelId(62), LabelId(9_000)];
        let mut made: Vec<(LabelId, *const SubgraphTable)> = Vec::new();
        for label in labels {
            assert!(tables.get(label).is_none(), "{label:?}");
            made.push((label, tables.get_or_create(label)));
        }
        made.sort();
        let found: Vec<(LabelId, *const SubgraphTable)> =
            tables.iter().map(|(label, table)| (label, std::ptr::from_ref(table))).collect();
        assert_eq!(found, made, "ascending, and where they were made");
        for (label, table) in made {
            assert!(std::ptr::eq(tables.get_or_create(label), table), "{label:?}");
        }
        assert!(tables.get(LabelId(2)).is_none() && tables.get(LabelId(30_000)).is_none());
    }

    #[test]
    fn a_store_with_few_labels_pays_for_one_small_chunk() {
        let tables = LabelTables::new(&Memory::default());
        assert_eq!(tables.bytes(), 0);
        (1..=62).map(LabelId).chain([LabelId::VERTICES]).for_each(|label| _ = tables.get_or_create(label));
        assert!(tables.bytes() <= 1024, "{}", tables.bytes());
    }
}
