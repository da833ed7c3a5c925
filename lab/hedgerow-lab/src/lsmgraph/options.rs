//! Parameters and switches of the paper.

use std::path::PathBuf;

/// The most levels on disk, the first of them included.
pub(super) const LEVELS: usize = 5;
/// What an entry counts for in the memory buffer: a node of a skip list.
pub(super) const ENTRY_BYTES: usize = 32;

/// Where the memory buffer keeps the edges of a vertex (figure 15).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryCache {
    /// A few in a segment of the edge array, more in a skip list.
    #[default]
    ArrayThenSkipList,
    /// All in a sorted array of the vertex.
    ArrayOnly,
    /// All in a skip list of the vertex.
    SkipListOnly,
}

/// How the levels are asked for the edges of a vertex (figures 16 and 17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelIndex {
    /// By the positions that are kept for each vertex.
    #[default]
    MultiLevel,
    /// By the ranges of vertices of the segments, and the offsets in each.
    Ranges,
    /// As by ranges, where a Bloom filter of the segment says that the vertex may be there.
    BloomFilters,
}

/// What the container is created with. The defaults are the paper's where it states one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LsmGraphOptions {
    /// The bytes of edges that the memory buffer takes before it is written to the first level: 256 and more.
    pub memory_bytes: usize,
    /// How many files of the first level are merged into the second: 1 and more.
    pub first_level_files: usize,
    /// How many times as much as the level before it a level holds (T): 2 and more.
    pub size_ratio: usize,
    /// The bytes of a segment after which the next vertex begins another one: 256 and more.
    pub segment_bytes: usize,
    /// How many bytes of blocks that were read are kept: half of ids, a quarter of timestamps, a quarter of
    /// weights.
    pub cache_bytes: usize,
    /// Where the memory buffer keeps edges.
    pub memory_cache: MemoryCache,
    /// How the levels are asked.
    pub level_index: LevelIndex,
    /// Whether the Bloom filter of a file is asked before an edge is looked for there.
    pub edge_filters: bool,
    /// Where the directory of the files is made: that of the system for temporary files, if none. It is
    /// removed with the container.
    pub directory: Option<PathBuf>,
}

impl Default for LsmGraphOptions {
    fn default() -> Self {
        LsmGraphOptions {
            memory_bytes: 64 << 20,
            first_level_files: 4,
            size_ratio: 10,
            segment_bytes: 4 << 20,
            cache_bytes: 256 << 20,
            memory_cache: MemoryCache::default(),
            level_index: LevelIndex::default(),
            edge_filters: true,
            directory: None,
        }
    }
}

impl LsmGraphOptions {
    /// The entries of a full memory buffer.
    pub(super) fn memory_entries(&self) -> usize {
        self.memory_bytes.max(256) / ENTRY_BYTES
    }

    /// The entries after which a segment ends.
    pub(super) fn segment_entries(&self) -> usize {
        // An id and a timestamp each.
        self.segment_bytes.max(256) / 12
    }

    /// The entries that a level holds before some are moved to the next one. The last level holds any number.
    pub(super) fn level_entries(&self, level: usize) -> usize {
        if level + 1 >= LEVELS {
            return usize::MAX;
        }
        let ratio = self.size_ratio.max(2).saturating_pow(level as u32);
        self.memory_entries().saturating_mul(ratio)
    }

    pub(super) fn is_indexed(&self) -> bool {
        self.level_index == LevelIndex::MultiLevel
    }
}
