//! The rows that are fit to load, from a file of any form, and the rules for them.

use hedgerow::{Value, VertexKeyRef};

use super::args::OnError;
use super::input::EdgeTable;
use super::interrupt::Interrupts;
use super::kinds::Kinds;
use crate::property::ColumnType;

/// The rules for rows of any file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) kinds: &'a Kinds,
    /// True if weights must be finite, so that their sums are never NaN.
    pub(super) finite: bool,
    pub(super) on_error: OnError,
    pub(super) interrupts: &'a Interrupts,
}

/// A row that is fit to load.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    /// A vertex by its key alone.
    Vertex(VertexKeyRef<'a>),
    /// A vertex with a value, perhaps null, for each property of its file.
    VertexRow(VertexKeyRef<'a>, &'a [(String, ColumnType)], &'a [Value]),
    Edge(EdgeItem<'a>, &'a EdgeTable),
}

/// An edge that is fit to load.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeItem<'a> {
    pub(super) line: u64,
    pub(super) src: VertexKeyRef<'a>,
    pub(super) dst: VertexKeyRef<'a>,
    pub(super) weight: f64,
    pub(super) label: &'a str,
    pub(super) rank: Option<u64>,
    /// A value, perhaps null, for each property.
    pub(super) values: &'a [Value],
}
