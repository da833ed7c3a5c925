//! The parameters of the paper.

use crate::GraphForm;

/// Where lists lie that are not long enough for a tree of their own: what the paper's ablation (table 6)
/// compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShortLists {
    /// Together, in the order of their vertices: the clustered index.
    #[default]
    Clustered,
    /// Each in an array of its own.
    Vectors,
}

/// The parameters of the paper, and the switches of its ablation. The defaults are those of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RapidStoreOptions {
    /// The most ids in a leaf (B), 2 to 4,096.
    pub segment: usize,
    /// Lists with more neighbours are trees, at most `segment`; 0 makes every list a tree.
    pub longest_short: usize,
    /// Where shorter lists lie.
    pub short_lists: ShortLists,
    /// Each leaf of a tree has the ids of one byte of its node alone: the leaves are not compressed, as in a
    /// plain radix tree.
    pub leaf_per_key: bool,
}

impl Default for RapidStoreOptions {
    fn default() -> Self {
        let short_lists = ShortLists::Clustered;
        RapidStoreOptions { segment: 512, longest_short: 256, short_lists, leaf_per_key: false }
    }
}

/// The options as the structures use them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) segment: usize,
    pub(super) longest_short: usize,
    pub(super) short_lists: ShortLists,
    pub(super) leaf_per_key: bool,
    pub(super) weighted: bool,
}

impl Shape {
    pub(super) fn new(form: GraphForm, options: RapidStoreOptions) -> Shape {
        let segment = options.segment.clamp(2, 4096);
        Shape {
            segment,
            longest_short: options.longest_short.min(segment),
            short_lists: options.short_lists,
            leaf_per_key: options.leaf_per_key,
            weighted: form.weighted,
        }
    }
}
