//! The parameters of the paper.

use crate::GraphForm;

/// The storage of lists that are too short for a tree of their own. The paper's ablation (table 6) compares
/// these forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShortLists {
    /// All lists together, in the order of their vertices: the clustered index.
    #[default]
    Clustered,
    /// An array for each list.
    Vectors,
}

/// The parameters of the paper, and the switches of its ablation. The defaults are the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RapidStoreOptions {
    /// The largest number of ids in a leaf (B), 2 to 4,096.
    pub segment: usize,
    /// The largest number of neighbours in a list without a tree, at most `segment`; 0 makes every list a
    /// tree.
    pub longest_short: usize,
    /// The storage of shorter lists.
    pub short_lists: ShortLists,
    /// Whether each leaf of a tree has only the ids of one byte of its node. Then the leaves are not
    /// compressed, as in a plain radix tree.
    pub leaf_per_key: bool,
}

impl Default for RapidStoreOptions {
    fn default() -> Self {
        let short_lists = ShortLists::Clustered;
        RapidStoreOptions { segment: 512, longest_short: 256, short_lists, leaf_per_key: false }
    }
}

/// The options in the form that the structures use.
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
