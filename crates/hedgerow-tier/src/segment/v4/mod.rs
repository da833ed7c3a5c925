//! Segments of formats 1 to 4, which are read and no longer written: images of all labels in one stream that is cut into blocks of one
//! size. The layout is drawn in `docs/format/segment-4.md`.

mod block;
mod cursor;
mod footer;
mod index;
mod reader;
mod record;
mod salvage;

#[cfg(test)]
mod encode;
#[cfg(test)]
mod sink;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod writer;

pub(super) use reader::SegmentV4;
pub(super) use salvage::{has_footer, read_damaged};
