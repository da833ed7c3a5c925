//! The sources of the lists of a store: the open segments, and which of their images is valid.
//!
//! `docs/design/pager.md` lists what moves into this crate later: the merge, pages, eviction, the budget.
#![forbid(unsafe_code)]

mod named_segment;
mod newest;
mod sources;

pub use named_segment::NamedSegment;
pub use newest::sort_newest_first;
pub use sources::{Sources, page_of_vertices};
