//! The report of a load.

use std::path::PathBuf;

use hedgerow::KeyKind;
use hedgerow_workload::read::{Delimiter, Sniffed};

use crate::existing::Existing;
use crate::input::Input;
use crate::rejects::{Reject, Rejects};
use crate::write::Loaded;

/// The result of a load.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadReport {
    /// The rows that were loaded.
    pub rows: u64,
    /// The malformed rows that were left out.
    pub rejected: u64,
    /// The lines that were left out as comments.
    pub comments: u64,
    /// The vertices that the store did not have before.
    pub new_vertices: u64,
    /// The edges that the store did not have before.
    pub new_edges: u64,
    /// The rows whose edge is new to the store, but already in an earlier row of the load.
    pub repeated_edges: u64,
    /// The rows whose edge the store had before.
    pub existing_edges: u64,
    /// The rows of vertices whose vertex the store had before.
    pub existing_vertices: u64,
    /// The rows of vertices whose vertex is new to the store, but already in an earlier row.
    pub repeated_vertices: u64,
    /// The vertices of the store after the load.
    pub vertices: u64,
    /// The edges of the store after the load.
    pub edges: u64,
    /// The type of the keys of the default kind.
    pub keys: KeyKind,
    /// The transactions that were committed.
    pub transactions: u64,
    /// The timestamp after the load.
    pub timestamp: u64,
    /// The size of the segment that the load's checkpoint wrote; `None` without a checkpoint.
    pub segment_bytes: Option<u64>,
    /// The parts of files that were left out or changed, and other decisions of the load.
    pub notes: Vec<Note>,
    /// The described malformed rows: one under [`OnError::Skip`](crate::OnError::Skip), at most 1,000 under
    /// [`OnError::Collect`](crate::OnError::Collect).
    pub rejects: Vec<Reject>,
    /// The files whose layout was detected.
    pub files: Vec<Detected>,
}

/// A note on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The file.
    pub file: PathBuf,
    /// A sentence without a full stop.
    pub note: String,
}

/// The detected layout of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Detected {
    /// The file.
    pub file: PathBuf,
    /// The separator of fields.
    pub delimiter: Delimiter,
    /// True if the first record names the columns.
    pub header: bool,
    /// The fields of the first record.
    pub first: Vec<String>,
}

impl LoadReport {
    pub(crate) fn new(
        loaded: &Loaded,
        existing: Existing,
        inputs: &[Input],
        rejects: Rejects,
        keys: KeyKind,
    ) -> LoadReport {
        let detected = |input: &Input, found: &Sniffed| Detected {
            file: input.path.clone(),
            delimiter: found.delimiter,
            header: found.header,
            first: found.first.clone(),
        };
        LoadReport {
            rows: loaded.rows,
            rejected: rejects.count(),
            comments: loaded.passed.iter().map(|passed| passed.comments).sum(),
            new_vertices: loaded.new_vertices,
            new_edges: loaded.new_edges,
            repeated_edges: loaded.edge_rows.saturating_sub(loaded.new_edges + existing.edges),
            existing_edges: existing.edges,
            existing_vertices: existing.vertices,
            repeated_vertices: loaded.table_rows.saturating_sub(loaded.table_vertices + existing.vertices),
            vertices: loaded.vertices,
            edges: loaded.edges,
            keys,
            transactions: loaded.transactions,
            timestamp: loaded.timestamp.0,
            segment_bytes: loaded.segment_bytes,
            notes: notes(loaded, inputs),
            rejects: rejects.into_described(),
            files: inputs.iter().filter_map(|i| Some(detected(i, i.sniffed.as_ref()?))).collect(),
        }
    }
}

/// Returns the notes on each file: the parts that the load left out or changed.
fn notes(loaded: &Loaded, inputs: &[Input]) -> Vec<Note> {
    let of = |input: &Input, note: String| Note { file: input.path.clone(), note };
    let said = inputs.iter().flat_map(|input| input.notes.iter().map(|note| of(input, note.clone())));
    let files = inputs.iter().zip(&loaded.passed);
    let alone = matrix_without_entries(loaded, inputs).map(|(input, left)| {
        of(input, format!("{left} of the vertices of the matrix have no entry and are not loaded"))
    });
    said.chain(alone)
        .chain(files.flat_map(|(input, passed)| {
            passed.notes(!input.has_vertices()).into_iter().map(|n| of(input, n))
        }))
        .collect()
}

/// Returns the number of a matrix's vertices without an edge; `None` if the store also has other vertices.
fn matrix_without_entries<'a>(loaded: &Loaded, inputs: &'a [Input]) -> Option<(&'a Input, u64)> {
    let [input] = inputs else { return None };
    let (_, sizes) = input.matrix?;
    let is_all = loaded.vertices == loaded.new_vertices && sizes.rows == sizes.columns;
    let left = sizes.rows.saturating_sub(loaded.vertices);
    (is_all && left > 0).then_some((input, left))
}
