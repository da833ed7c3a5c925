//! The parameters.

use super::table::Paging;
use crate::GraphForm;

/// Parameters of LLAMA's vertex table, snapshots and merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlamaOptions {
    /// How many vertices have their records in one page of a large multiversioned array: a power of two from
    /// 64 to 65,536; other numbers are rounded up.
    pub page: usize,
    /// The number of changes of lists and vertices after which the buffer is frozen even if no reader opens a
    /// snapshot. With 1 each transaction makes a snapshot, as the study has it.
    pub delta: usize,
    /// A level is merged with all newer ones when it has at most this many times as many entries as they
    /// have; 0 merges only levels of which all entries are removed.
    pub growth: usize,
    /// A level is merged with all newer ones when more than one in this many of its entries is removed; 0
    /// merges none for that.
    pub garbage: usize,
    /// Whether a fragment is sorted when it is frozen, and searched by halving; if not, it is searched from
    /// its beginning.
    pub sorted: bool,
}

impl Default for LlamaOptions {
    fn default() -> Self {
        LlamaOptions { page: 512, delta: 1 << 18, growth: 1, garbage: 4, sorted: true }
    }
}

/// The options as the structure uses them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) paging: Paging,
    pub(super) delta: usize,
    pub(super) growth: usize,
    pub(super) garbage: usize,
    pub(super) sorted: bool,
    pub(super) weighted: bool,
}

impl Shape {
    pub(super) fn new(form: GraphForm, options: LlamaOptions) -> Shape {
        Shape {
            paging: Paging::of(options.page),
            delta: options.delta.max(1),
            growth: options.growth,
            garbage: options.garbage,
            sorted: options.sorted,
            weighted: form.weighted,
        }
    }
}
