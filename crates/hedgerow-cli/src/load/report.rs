//! The report of a load.

use std::io::Write;
use std::time::Instant;

use hedgerow_export::text::kind_name;
use hedgerow_workload::read::{Delimiter, Sniffed};
use serde_json::{Value, json};

use super::existing::Existing;
use super::input::Input;
use super::item::Rules;
use super::rejects::Rejects;
use super::write::Loaded;
use crate::error::CliError;
use crate::output::{Report, Style};

/// The clock of a load.
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Clock {
        Clock(Instant::now())
    }
}

/// The content of the report of a load.
pub(super) struct Told<'a> {
    pub(super) loaded: &'a Loaded,
    /// The numbers of rows whose edge or vertex the store had before.
    pub(super) existing: Existing,
    pub(super) inputs: &'a [Input],
    pub(super) rejects: &'a Rejects,
}

impl Told<'_> {
    /// Returns the number of rows whose edge is new to the store, but already in an earlier row of the load.
    fn repeated_edges(&self) -> u64 {
        let (rows, others) = (self.loaded.edge_rows, self.loaded.new_edges + self.existing.edges);
        rows.saturating_sub(others)
    }

    /// Returns the number of rows of vertices whose vertex is new to the store, but already in an earlier
    /// row.
    fn repeated_vertices(&self) -> u64 {
        let (rows, others) = (self.loaded.table_rows, self.loaded.table_vertices + self.existing.vertices);
        rows.saturating_sub(others)
    }

    fn comments(&self) -> u64 {
        self.loaded.passed.iter().map(|passed| passed.comments).sum()
    }

    /// Returns the number of a matrix's vertices without an edge; `None` if the store also has other
    /// vertices.
    fn matrix_without_entries(&self) -> Option<(&Input, u64)> {
        let [input] = self.inputs else { return None };
        let (_, sizes) = input.matrix?;
        let is_all = self.loaded.vertices == self.loaded.new_vertices && sizes.rows == sizes.columns;
        let left = sizes.rows.saturating_sub(self.loaded.vertices);
        (is_all && left > 0).then_some((input, left))
    }

    /// Returns the notes on each file: the parts that the load left out or changed.
    fn notes(&self) -> Vec<(String, String)> {
        let of = |input: &Input, note: String| (input.path.display().to_string(), note);
        let said =
            self.inputs.iter().flat_map(|input| input.notes.iter().map(|note| of(input, note.clone())));
        let files = self.inputs.iter().zip(&self.loaded.passed);
        let alone = self.matrix_without_entries().map(|(input, left)| {
            of(input, format!("{left} of the vertices of the matrix have no entry and are not loaded"))
        });
        said.chain(alone)
            .chain(files.flat_map(|(input, passed)| {
                passed.notes(!input.has_vertices()).into_iter().map(|n| of(input, n))
            }))
            .collect()
    }
}

/// Prints the report. The rejected rows and the detected formats go to standard error; in JSON they are
/// fields of the report.
pub(super) fn print(told: &Told<'_>, rules: &Rules<'_>, clock: Clock, style: Style) -> Result<(), CliError> {
    let Told { loaded, inputs, rejects, existing } = told;
    if style == Style::Text {
        rejects.print();
    }
    if style != Style::Json {
        print_sniffed(inputs);
        print_notes(&told.notes());
    }
    let seconds = clock.0.elapsed().as_secs_f64();
    let mut report = Report::default()
        .field("rows", loaded.rows)
        .field("rejected", rejects.count())
        .field("comments", told.comments())
        .field("new_vertices", loaded.new_vertices)
        .field("new_edges", loaded.new_edges)
        .field("repeated_edges", told.repeated_edges());
    // The text output contains these figures only if they are not 0.
    let seldom = [
        ("existing_edges", existing.edges),
        ("existing_vertices", existing.vertices),
        ("repeated_vertices", told.repeated_vertices()),
    ];
    for (name, count) in seldom.into_iter().filter(|(_, count)| style != Style::Text || *count > 0) {
        report = report.field(name, count);
    }
    report = report
        .field("vertices", loaded.vertices)
        .field("edges", loaded.edges)
        .field("keys", kind_name(rules.kinds.default_keys()))
        .field("transactions", loaded.transactions)
        .field("timestamp", loaded.timestamp.0);
    report = match loaded.segment_bytes {
        Some(bytes) => report.bytes("segment_bytes", bytes),
        None => report.field("segment_bytes", loaded.segment_bytes),
    };
    report = report
        .field("seconds", (seconds * 1e3).round() / 1e3)
        .field("rows_per_second", (loaded.rows as f64 / seconds).round() as u64);
    if style == Style::Json {
        let note = |(file, note): &(String, String)| json!({"file": file, "note": note});
        report = report
            .field("files", sniffed(inputs).map(|(input, found)| to_json(input, found)).collect::<Vec<_>>())
            .field("notes", told.notes().iter().map(note).collect::<Vec<_>>());
    }
    let rejected = if style == Style::Text { Vec::new() } else { rejects.rows() };
    report.details("rejects", &["file", "line", "reason"], rejected).print(style)
}

/// Returns the files whose format was detected.
fn sniffed(inputs: &[Input]) -> impl Iterator<Item = (&Input, &Sniffed)> {
    inputs.iter().filter_map(|input| Some((input, input.sniffed.as_ref()?)))
}

fn print_sniffed(inputs: &[Input]) {
    let mut err = std::io::stderr().lock();
    for (input, found) in sniffed(inputs) {
        let separator = match found.delimiter {
            Delimiter::Byte(b',') => "commas".to_owned(),
            Delimiter::Byte(b'\t') => "tabs".to_owned(),
            Delimiter::Byte(b';') => "semicolons".to_owned(),
            Delimiter::Byte(b'|') => "vertical bars".to_owned(),
            Delimiter::Byte(byte) => format!("{:?}", char::from(byte)),
            Delimiter::Auto | Delimiter::Whitespace => "blanks".to_owned(),
        };
        let names: String =
            found.first.join(", ").chars().map(|c| if c.is_control() { ' ' } else { c }).take(100).collect();
        let header = if found.header { format!("header: {names}") } else { "no header".to_owned() };
        let (file, columns) = (input.path.display(), found.first.len());
        // A failed write is ignored: standard error is closed.
        let _ = writeln!(err, "read {file}: {columns} columns between {separator}, {header}");
    }
}

fn print_notes(notes: &[(String, String)]) {
    let mut err = std::io::stderr().lock();
    for (file, note) in notes {
        // A failed write is ignored: standard error is closed.
        let _ = writeln!(err, "note: {file}: {note}");
    }
}

fn to_json(input: &Input, found: &Sniffed) -> Value {
    let delimiter = match found.delimiter {
        Delimiter::Byte(byte) => char::from(byte).to_string(),
        Delimiter::Auto | Delimiter::Whitespace => "blanks".to_owned(),
    };
    json!({
        "file": input.path.display().to_string(),
        "delimiter": delimiter,
        "columns": found.first.len(),
        "header": found.header.then_some(&found.first),
    })
}
