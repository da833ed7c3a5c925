//! What a load says when it is done.

use std::io::Write;
use std::time::Instant;

use hedgerow_workload::read::{Delimiter, Sniffed};
use serde_json::{Value, json};

use super::input::Input;
use super::rows::{Rejects, Rules};
use super::write::Loaded;
use crate::error::CliError;
use crate::keys::kind_name;
use crate::output::{Report, Style};

/// Times a load.
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Clock {
        Clock(Instant::now())
    }
}

/// Prints the report, and on standard error what was left out and how files were read; in JSON these are part of it.
pub(super) fn print(
    loaded: &Loaded,
    inputs: &[Input],
    rejects: &Rejects,
    rules: &Rules<'_>,
    clock: Clock,
    style: Style,
) -> Result<(), CliError> {
    if style == Style::Text {
        rejects.print();
    }
    if style != Style::Json {
        print_sniffed(inputs);
        print_notes(inputs);
    }
    let seconds = clock.0.elapsed().as_secs_f64();
    let mut report = Report::default()
        .field("rows", loaded.rows)
        .field("rejected", rejects.count())
        .field("new_vertices", loaded.new_vertices)
        .field("new_edges", loaded.new_edges)
        .field("vertices", loaded.vertices)
        .field("edges", loaded.edges)
        .field("keys", kind_name(rules.kinds.default_keys()))
        .field("transactions", loaded.transactions)
        .field("timestamp", loaded.timestamp.0)
        .field("segment_bytes", loaded.segment_bytes)
        .field("seconds", (seconds * 1e3).round() / 1e3)
        .field("rows_per_second", (loaded.rows as f64 / seconds).round() as u64);
    if style == Style::Json {
        report = report
            .field("files", sniffed(inputs).map(|(input, found)| to_json(input, found)).collect::<Vec<_>>())
            .field(
                "notes",
                notes(inputs).map(|(file, note)| json!({"file": file, "note": note})).collect::<Vec<_>>(),
            );
    }
    let rejected = if style == Style::Text { Vec::new() } else { rejects.rows() };
    report.table("rejects", &["file", "line", "reason"], rejected).print(style)
}

/// The files about which something was found out.
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
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(err, "read {file}: {columns} columns between {separator}, {header}");
    }
}

/// What is said of each file beside how it was read: what was left out, or changed.
fn notes(inputs: &[Input]) -> impl Iterator<Item = (String, &String)> {
    inputs.iter().flat_map(|input| input.notes.iter().map(|note| (input.path.display().to_string(), note)))
}

fn print_notes(inputs: &[Input]) {
    let mut err = std::io::stderr().lock();
    for (file, note) in notes(inputs) {
        // Where standard error is closed there is nobody to tell.
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
