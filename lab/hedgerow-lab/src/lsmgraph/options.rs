//! Parameters and switches of the paper.

use std::path::PathBuf;

/// The largest number of levels on disk, including the first level.
pub(super) const LEVELS: usize = 5;
/// The bytes for which an entry counts in the memory buffer: the size of a node of a skip list.
pub(super) const ENTRY_BYTES: usize = 32;

/// The structure in which the memory buffer keeps the edges of a vertex (figure 15).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryCache {
    /// A few edges in a segment of the edge array, more edges in a skip list.
    #[default]
    ArrayThenSkipList,
    /// All edges in a sorted array of the vertex.
    ArrayOnly,
    /// All edges in a skip list of the vertex.
    SkipListOnly,
}

/// The way to find the edges of a vertex in the levels (figures 16 and 17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelIndex {
    /// By the positions that the index keeps for each vertex.
    #[default]
    MultiLevel,
    /// By the vertex ranges of the segments, and the offsets in each segment.
    Ranges,
    /// By ranges, but only if a Bloom filter of the segment says that the vertex may be there.
    BloomFilters,
}

/// The options of a container. The defaults are the paper's values where the paper states one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LsmGraphOptions {
    /// The bytes of edges in a full memory buffer, which is then written to the first level: 256 and more.
    pub memory_bytes: usize,
    /// The number of files in the first level that are merged into the second level: 1 and more.
    pub first_level_files: usize,
    /// The capacity of a level divided by the capacity of the level before it (T): 2 and more.
    pub size_ratio: usize,
    /// The bytes of a segment after which the next vertex begins another segment: 256 and more.
    pub segment_bytes: usize,
    /// The bytes of the cache of blocks: half for ids, a quarter for timestamps, a quarter for weights.
    pub cache_bytes: usize,
    /// The structure in which the memory buffer keeps edges.
    pub memory_cache: MemoryCache,
    /// The way to find the edges of a vertex in the levels.
    pub level_index: LevelIndex,
    /// True if a search for an edge in a file checks the Bloom filter of the file first.
    pub edge_filters: bool,
    /// The parent of the directory of the files. If `None`, this is the system's directory for temporary
    /// files. The directory of the files is removed with the container.
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
    /// Returns the number of entries of a full memory buffer.
    pub(super) fn memory_entries(&self) -> usize {
        self.memory_bytes.max(256) / ENTRY_BYTES
    }

    /// Returns the number of entries after which a segment ends.
    pub(super) fn segment_entries(&self) -> usize {
        // Each entry has an id and a timestamp.
        self.segment_bytes.max(256) / 12
    }

    /// Returns the number of entries that a level holds before some move to the next level. The last level
    /// holds any number.
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
