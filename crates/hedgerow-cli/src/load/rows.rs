//! Rows of the files: what is malformed, and what becomes of it.

use std::io::Write;

use clap::ValueEnum;
use hedgerow::{KeyKind, PropertyType, Value, VertexKeyRef};
use hedgerow_workload::read::{Column, EdgeFormat, EdgeReader, Lines, ReadError, Row};

use super::input::{Content, Input};
use super::reject_row;
use crate::error::CliError;
use crate::keys;
use crate::progress::Bar;
use crate::property;

/// At most this many rejected rows are described; all are counted.
const MAX_DESCRIBED: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// The first one fails the load; nothing is loaded
    Raise,
    /// They are left out and counted; the first is described
    Skip,
    /// They are left out, and described, up to 1,000 of them
    Collect,
}

/// What a row must be.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) kind: KeyKind,
    /// Whether weights count; else they are not looked at.
    pub(super) weighted: bool,
    /// Whether rows without a weight are malformed where the format does not leave it open.
    pub(super) weight_required: bool,
    /// Whether weights must be finite: sums of those are never NaN.
    pub(super) finite: bool,
    pub(super) on_error: OnError,
    /// Whether the first further column is the rank.
    pub(super) rank: bool,
    /// The properties of edges, in the order of the other further columns.
    pub(super) properties: Vec<(String, PropertyType)>,
}

/// A row that is fit to load.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    /// A vertex by its key alone.
    Vertex(VertexKeyRef<'a>),
    /// A vertex with a value, perhaps null, for each property of its file.
    VertexRow(VertexKeyRef<'a>, &'a [(String, PropertyType)], &'a [Value]),
    Edge(EdgeItem<'a>),
}

/// An edge that is fit to load.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeItem<'a> {
    pub(super) src: VertexKeyRef<'a>,
    pub(super) dst: VertexKeyRef<'a>,
    pub(super) weight: f64,
    pub(super) rank: Option<u64>,
    /// A value, perhaps null, for each property.
    pub(super) values: &'a [Value],
}

/// Rows that were left out.
#[derive(Debug, Default)]
pub(super) struct Rejects {
    described: Vec<(String, u64, String)>,
    count: u64,
}

impl Rejects {
    fn add(&mut self, input: &Input, line: u64, reason: String, on_error: OnError) {
        self.count += 1;
        let most = if on_error == OnError::Collect { MAX_DESCRIBED } else { 1 };
        if self.described.len() < most {
            self.described.push((input.path.display().to_string(), line, reason));
        }
    }

    /// How many.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Those that are described.
    pub(super) fn rows(&self) -> Vec<Vec<serde_json::Value>> {
        self.described.iter().map(|(file, line, reason)| reject_row(file, *line, reason)).collect()
    }

    /// Prints them to standard error.
    pub(super) fn print(&self) {
        let mut err = std::io::stderr().lock();
        for (file, line, reason) in &self.described {
            // Where standard error is closed there is nobody to tell.
            let _ = writeln!(err, "rejected: {file}:{line}: {reason}");
        }
        let more = self.count - self.described.len() as u64;
        if more > 0 {
            let _ = writeln!(err, "rejected: {more} more");
        }
    }
}

/// Reads `input` to its end without loading it. Under `raise` the first malformed row is the error.
pub(super) fn validate(input: &Input, rules: &Rules, rejects: &mut Rejects) -> Result<(), CliError> {
    for_each(
        input,
        rules,
        "checking",
        |_| Ok(()),
        |line, reason| {
            if rules.on_error == OnError::Raise {
                return Err(CliError::Failed(format!("{}:{line}: {reason}", input.path.display())));
            }
            rejects.add(input, line, reason, rules.on_error);
            Ok(())
        },
    )
}

/// Calls `keep` with each row that is fit to load, and `reject` with the line and the fault of each that is not.
pub(super) fn for_each(
    input: &Input,
    rules: &Rules,
    what: &'static str,
    mut keep: impl FnMut(Item<'_>) -> Result<(), CliError>,
    mut reject: impl FnMut(u64, String) -> Result<(), CliError>,
) -> Result<(), CliError> {
    match &input.content {
        Content::Edges(format) => {
            let required = rules.weight_required && !matches!(format.weight, Some(Column::IfPresent(_)));
            let mut values = Vec::new();
            for_each_row(input, format, what, |row| {
                match row
                    .and_then(|row| edge(&row, rules, required, &mut values).map_err(|why| (row.line, why)))
                {
                    Ok(item) => keep(Item::Edge(EdgeItem { values: &values, ..item })),
                    Err((line, why)) => reject(line, why),
                }
            })?;
        }
        Content::VertexTable(format, properties) => {
            let mut values = Vec::new();
            for_each_row(input, format, what, |row| {
                let read = row.and_then(|row| {
                    let key = keys::parse(rules.kind, row.src);
                    let read =
                        key.and_then(|key| read_values(properties, row.extra, &mut values).map(|()| key));
                    read.map_err(|why| (row.line, why))
                });
                match read {
                    Ok(key) => keep(Item::VertexRow(key, properties, &values)),
                    Err((line, why)) => reject(line, why),
                }
            })?;
        }
        Content::Vertices => {
            let mut lines = Lines::open(&input.path)?;
            let mut bar = Bar::new(what, &input.path, lines.progress());
            loop {
                bar.row();
                match lines.advance() {
                    Ok(false) => break,
                    Ok(true) => match vertex(lines.text(), rules) {
                        None => {}
                        Some(Ok(item)) => keep(item)?,
                        Some(Err(reason)) => reject(lines.line(), reason)?,
                    },
                    Err(ReadError::Row { line, reason, .. }) => reject(line, reason.to_string())?,
                    Err(other) => return Err(other.into()),
                }
            }
        }
    }
    Ok(())
}

/// Calls `f` with every row, or with the line and the fault of a malformed one.
fn for_each_row(
    input: &Input,
    format: &EdgeFormat,
    what: &'static str,
    mut f: impl FnMut(Result<Row<'_>, (u64, String)>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut reader = EdgeReader::open(&input.path, format)?;
    let mut bar = Bar::new(what, &input.path, reader.progress());
    while let Some(row) = reader.next_row() {
        bar.row();
        match row {
            Ok(row) => f(Ok(row))?,
            Err(ReadError::Row { line, reason, .. }) => f(Err((line, reason.to_string())))?,
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

/// The edge of a row without its values, which go into `values`.
fn edge<'a>(
    row: &Row<'a>,
    rules: &Rules,
    weight_required: bool,
    values: &mut Vec<Value>,
) -> Result<EdgeItem<'a>, String> {
    if weight_required && row.weight.is_none() {
        return Err("no weight; --weight-col says which column it is in".to_owned());
    }
    let src = keys::parse(rules.kind, row.src)?;
    let dst = keys::parse(rules.kind, row.dst)?;
    let weight = row.weight.filter(|_| rules.weighted).unwrap_or(1.0);
    if rules.finite && !weight.is_finite() {
        return Err(format!("weight {weight} cannot be added: weights must be finite"));
    }
    let (rank, fields) = match (rules.rank, row.extra) {
        (true, [rank, fields @ ..]) => (Some(read_rank(rank.as_deref())?), fields),
        (_, fields) => (None, fields),
    };
    read_values(&rules.properties, fields, values)?;
    Ok(EdgeItem { src, dst, weight, rank, values: &[] })
}

fn read_rank(text: Option<&str>) -> Result<u64, String> {
    let text = text.unwrap_or_default().trim();
    let shown: String = text.chars().take(40).collect();
    text.parse().map_err(|_| format!("rank {shown:?} is not a number from 0 to {}", u64::MAX))
}

/// Reads a field for each property; an empty one is null.
fn read_values(
    properties: &[(String, PropertyType)],
    fields: &[Option<String>],
    values: &mut Vec<Value>,
) -> Result<(), String> {
    values.clear();
    for ((name, kind), field) in properties.iter().zip(fields) {
        values.push(match field {
            Some(text) => property::parse(name, *kind, text)?,
            None => Value::Null,
        });
    }
    Ok(())
}

/// The first field of a line; nothing for an empty line or a comment. Keys of type `str` are the whole line.
fn vertex<'a>(text: &'a str, rules: &Rules) -> Option<Result<Item<'a>, String>> {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return None;
    }
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    let key = if rules.kind == KeyKind::Str { text } else { first };
    Some(keys::parse(rules.kind, key).map(Item::Vertex))
}
