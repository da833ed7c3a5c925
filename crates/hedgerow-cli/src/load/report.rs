//! The report of a load.

use std::io::Write;
use std::time::Duration;

use hedgerow_export::text::kind_name;
use hedgerow_load::{Detected, LoadReport, Note, Reject};
use hedgerow_workload::read::Delimiter;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Report, Style};

/// Prints the report. The rejected rows and the detected formats go to standard error; in JSON they are
/// fields of the report.
pub(super) fn print(loaded: &LoadReport, time: Duration, style: Style) -> Result<(), CliError> {
    if style == Style::Text {
        print_rejects(loaded);
    }
    if style != Style::Json {
        print_detected(&loaded.files);
        print_notes(&loaded.notes);
    }
    let seconds = time.as_secs_f64();
    let mut report = Report::default()
        .field("rows", loaded.rows)
        .field("rejected", loaded.rejected)
        .field("comments", loaded.comments)
        .field("new_vertices", loaded.new_vertices)
        .field("new_edges", loaded.new_edges)
        .field("repeated_edges", loaded.repeated_edges);
    // The text output contains these figures only if they are not 0.
    let seldom = [
        ("existing_edges", loaded.existing_edges),
        ("existing_vertices", loaded.existing_vertices),
        ("repeated_vertices", loaded.repeated_vertices),
    ];
    for (name, count) in seldom.into_iter().filter(|(_, count)| style != Style::Text || *count > 0) {
        report = report.field(name, count);
    }
    report = report
        .field("vertices", loaded.vertices)
        .field("edges", loaded.edges)
        .field("keys", kind_name(loaded.keys))
        .field("transactions", loaded.transactions)
        .field("timestamp", loaded.timestamp);
    report = match loaded.segment_bytes {
        Some(bytes) => report.bytes("segment_bytes", bytes),
        None => report.field("segment_bytes", loaded.segment_bytes),
    };
    report = report
        .field("seconds", (seconds * 1e3).round() / 1e3)
        .field("rows_per_second", (loaded.rows as f64 / seconds).round() as u64);
    if style == Style::Json {
        let note = |note: &Note| json!({"file": note.file.display().to_string(), "note": note.note});
        report = report
            .field("files", loaded.files.iter().map(to_json).collect::<Vec<_>>())
            .field("notes", loaded.notes.iter().map(note).collect::<Vec<_>>());
    }
    let row = |reject: &Reject| -> Vec<Value> {
        vec![reject.file.display().to_string().into(), reject.line.into(), reject.reason.as_str().into()]
    };
    let rejected = if style == Style::Text { Vec::new() } else { loaded.rejects.iter().map(row).collect() };
    report.details("rejects", &["file", "line", "reason"], rejected).print(style)
}

fn print_rejects(loaded: &LoadReport) {
    let mut err = std::io::stderr().lock();
    for Reject { file, line, reason, .. } in &loaded.rejects {
        // A failed write is ignored: standard error is closed.
        let _ = writeln!(err, "rejected: {}:{line}: {reason}", file.display());
    }
    let more = loaded.rejected - loaded.rejects.len() as u64;
    if more > 0 {
        let _ = writeln!(err, "rejected: {more} more");
    }
}

fn print_detected(files: &[Detected]) {
    let mut err = std::io::stderr().lock();
    for found in files {
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
        let (file, columns) = (found.file.display(), found.first.len());
        // A failed write is ignored: standard error is closed.
        let _ = writeln!(err, "read {file}: {columns} columns between {separator}, {header}");
    }
}

fn print_notes(notes: &[Note]) {
    let mut err = std::io::stderr().lock();
    for Note { file, note, .. } in notes {
        // A failed write is ignored: standard error is closed.
        let _ = writeln!(err, "note: {}: {note}", file.display());
    }
}

fn to_json(found: &Detected) -> Value {
    let delimiter = match found.delimiter {
        Delimiter::Byte(byte) => char::from(byte).to_string(),
        Delimiter::Auto | Delimiter::Whitespace => "blanks".to_owned(),
    };
    json!({
        "file": found.file.display().to_string(),
        "delimiter": delimiter,
        "columns": found.first.len(),
        "header": found.header.then_some(&found.first),
    })
}
