//! The parameters of LLAMA.

use super::table::Paging;
use crate::GraphForm;

/// Parameters of LLAMA's vertex table, snapshots and merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlamaOptions {
    /// The number of vertices whose records share a page of a large multiversioned array: a power of two from
    /// 64 to 65,536. Other numbers are rounded up.
    pub page: usize,
    /// The number of changes of lists and vertices after which the buffer is frozen even if no reader opens a
    /// snapshot. With 1, each transaction makes a snapshot, as in the study.
    pub delta: usize,
    /// The growth factor: a level is merged with all newer levels if it has at most this many times as many
    /// entries as they have. With 0, only levels whose entries are all removed are merged.
    pub growth: usize,
    /// The garbage limit: a level is merged with all newer levels if more than one in this many of its
    /// entries is removed. With 0, no level is merged for this reason.
    pub garbage: usize,
    /// Whether a fragment is sorted when it is frozen, and searched by halving. If not, a search starts at
    /// its beginning.
    pub sorted: bool,
}

impl Default for LlamaOptions {
    fn default() -> Self {
        LlamaOptions { page: 512, delta: 1 << 18, growth: 1, garbage: 4, sorted: true }
    }
}

/// The options in the form that the structure uses.
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
