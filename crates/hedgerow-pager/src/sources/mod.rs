//! The sources of the lists of a store, and their merge.
//!
//! - [`Source`]: a source of lists. It answers a query about a chain with nothing, with words, or with the
//!   whole list.
//! - [`Word`]: the result of the operations on one edge.
//! - [`merge()`]: the one function that merges sources, newest first.
//! - [`Sources`]: the open segments of a store, whose images and deltas are sources.
//! - [`Inboxes`]: operations on chains that are not in memory; above images they are sources of words.

mod delta_words;
mod deltas;
mod edges;
mod images;
mod inboxes;
mod merge;
mod named_segment;
mod newest;
mod segments;
mod source;
mod stacked;
mod word;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub(crate) use delta_words::weight_of;
pub use images::ImageList;
pub(crate) use images::item_of;
pub use inboxes::{InboxBase, InboxEntry, InboxLook, InboxView, Inboxes};
pub use merge::{Merged, merge, merge_mask};
pub use named_segment::NamedSegment;
pub use newest::sort_newest_first;
pub(crate) use segments::page_of_vertices;
pub use segments::{Sources, page_of};
pub use source::{Answer, ChainId, Extent, HasMemory, MaskAnswer, Query, Source, WholeList};
pub use word::{EdgeAt, Identity, Word, WordKind, compose};
