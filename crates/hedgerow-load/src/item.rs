//! The rows that are fit to load, from a file of any form, and the rules for them.

use hedgerow::{Value, VertexKeyRef};

use crate::input::EdgeTable;
use crate::kinds::Kinds;
use crate::options::OnError;
use crate::property::ColumnType;
use crate::watch::Course;

/// The rules for rows of any file.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) kinds: &'a Kinds,
    /// True if weights must be finite, so that their sums are never NaN.
    pub(crate) finite: bool,
    pub(crate) on_error: OnError,
    pub(crate) course: &'a Course<'a>,
}

/// A row that is fit to load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    /// A vertex by its key alone.
    Vertex(VertexKeyRef<'a>),
    /// A vertex with a value, perhaps null, for each property of its file.
    VertexRow(VertexKeyRef<'a>, &'a [(String, ColumnType)], &'a [Value]),
    Edge(EdgeItem<'a>, &'a EdgeTable),
}

/// An edge that is fit to load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeItem<'a> {
    pub(crate) line: u64,
    pub(crate) src: VertexKeyRef<'a>,
    pub(crate) dst: VertexKeyRef<'a>,
    pub(crate) weight: f64,
    pub(crate) label: &'a str,
    pub(crate) rank: Option<u64>,
    /// A value, perhaps null, for each property.
    pub(crate) values: &'a [Value],
}
