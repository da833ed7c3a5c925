//! The rows of files, and the treatment of malformed ones.

use std::collections::HashSet;

use hedgerow::{KeyKind, KindId, LabelId, Value, VertexKeyRef};
use hedgerow_core::property::MAX_NAME_BYTES;
use hedgerow_workload::read::{Comment, EdgeFormat, EdgeReader, Extra, ReadError, Row, RowError};

use crate::Error;
use crate::existing::{Before, Existing, LookUp};
use crate::graphml;
use crate::input::{Content, EdgeTable, Input};
use crate::item::{EdgeItem, Item, Rules};
use crate::kinds::Ends;
use crate::passed::Passed;
use crate::property::{self, ColumnType};
use crate::rejects::Rejects;
use crate::table_rows;
use crate::watch::Meter;

/// The result of the check of a file.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The rows that are fit to load.
    pub(crate) rows: u64,
    /// The labels that a column names, in the order of their first rows.
    pub(crate) labels: Vec<String>,
    /// The numbers of rows whose edge or vertex the store has.
    pub(crate) existing: Existing,
}

/// Reads all of `input` without loading it, and counts the rows whose edge or vertex `store` has. Under
/// `raise` it returns the first malformed row as an error.
pub(crate) fn validate(
    input: &Input,
    rules: &Rules<'_>,
    rejects: &mut Rejects,
    store: Option<&Before>,
) -> Result<Seen, Error> {
    let (mut seen, mut known) = (Seen::default(), HashSet::new());
    let mut store = store.map(LookUp::new);
    for_each(
        input,
        rules,
        "checking",
        |item| {
            seen.rows += 1;
            if let Some(store) = &mut store {
                look_up(store, &item)?;
            }
            let Item::Edge(edge, EdgeTable { label: None, .. }) = item else { return Ok(()) };
            if known.contains(edge.label) {
                return Ok(());
            }
            // Stops early if the column contains no labels but arbitrary texts, which would fill the memory.
            // The default label is counted.
            if seen.labels.len() >= usize::from(LabelId::MAX.0) {
                let most = LabelId::MAX.0;
                let why = format!("label {:?} is beyond the limit of {most} labels", edge.label);
                return Err(Error::row(&input.path, edge.line, why));
            }
            known.insert(edge.label.to_owned());
            seen.labels.push(edge.label.to_owned());
            Ok(())
        },
        |line, reason| rejects.add(input, line, reason, rules.on_error),
    )?;
    if let Some(store) = store {
        seen.existing = store.finish()?;
    }
    Ok(seen)
}

/// Looks up the edge or the vertex of a row in the store.
fn look_up(store: &mut LookUp<'_>, item: &Item<'_>) -> Result<(), Error> {
    match item {
        Item::Vertex(key) | Item::VertexRow(key, ..) => store.vertex(*key),
        // An edge to which the load gives a rank by counting is always new.
        Item::Edge(_, table) if table.is_counted() => Ok(()),
        Item::Edge(edge, _) => store.edge(edge.label, [edge.src, edge.dst], edge.rank),
    }
}

/// Calls `keep` with each row that can be loaded, and `reject` with the line and the fault of each other row.
/// Returns the counts of skipped text.
pub(crate) fn for_each(
    input: &Input,
    rules: &Rules<'_>,
    what: &'static str,
    mut keep: impl FnMut(Item<'_>) -> Result<(), Error>,
    mut reject: impl FnMut(u64, String) -> Result<(), Error>,
) -> Result<Passed, Error> {
    if let Some(columns) = &input.table {
        return table_rows::for_each(input, columns, rules, what, keep, reject);
    }
    if let Some(xml) = &input.xml {
        return graphml::for_each(input, xml, rules, what, keep, reject);
    }
    let (mut values, mut passed) = (Vec::new(), Passed::default());
    let reader = match &input.content {
        Content::Edges(table) => for_each_row(input, &table.format, rules, what, |row| {
            let read = row.and_then(|row| {
                edge(&row, rules, table, &mut values, &mut passed).map_err(|why| (row.line, why))
            });
            match read {
                Ok(item) => keep(Item::Edge(EdgeItem { values: &values, ..item }, table)),
                Err((line, reason)) => reject(line, reason),
            }
        }),
        Content::VertexTable(format, properties) => for_each_row(input, format, rules, what, |row| {
            let read = row.and_then(|row| {
                vertex_row(&row, rules, input.kind, properties, &mut values, &mut passed)
                    .map_err(|why| (row.line, why))
            });
            match read {
                Ok(key) => keep(Item::VertexRow(key, properties, &values)),
                Err((line, reason)) => reject(line, reason),
            }
        }),
        Content::Vertices => return for_each_line(input, rules, what, keep, reject),
    }?;
    passed.finish(&reader);
    Ok(passed)
}

/// Does the work of [`for_each`] for a file with a vertex on each line.
fn for_each_line(
    input: &Input,
    rules: &Rules<'_>,
    what: &'static str,
    mut keep: impl FnMut(Item<'_>) -> Result<(), Error>,
    mut reject: impl FnMut(u64, String) -> Result<(), Error>,
) -> Result<Passed, Error> {
    let mut lines = input.lines()?;
    let mut passed = Passed::default();
    let mut meter = Meter::new(rules.course, what, input, lines.progress(), false)?;
    loop {
        meter.row()?;
        match lines.advance() {
            Ok(false) => {
                meter.finish();
                return Ok(passed);
            }
            Ok(true) if lines.has_return() => reject(lines.line(), RowError::CarriageReturn.to_string())?,
            Ok(true) => match vertex(lines.text(), rules, input, &mut passed) {
                None => {}
                Some(Ok(item)) => keep(item)?,
                Some(Err(reason)) => reject(lines.line(), reason)?,
            },
            Err(ReadError::Row { line, reason, .. }) => reject(line, reason.to_string())?,
            Err(other) => return Err(other.into()),
        }
    }
}

/// Calls `f` with every row. For a malformed row it gets the line and the fault.
fn for_each_row(
    input: &Input,
    format: &EdgeFormat,
    rules: &Rules<'_>,
    what: &'static str,
    mut f: impl FnMut(Result<Row<'_>, (u64, String)>) -> Result<(), Error>,
) -> Result<EdgeReader, Error> {
    let mut reader = EdgeReader::of(input.lines()?, format);
    let mut meter = Meter::new(rules.course, what, input, reader.progress(), false)?;
    while let Some(row) = reader.next_row() {
        meter.row()?;
        match row {
            Ok(row) => f(Ok(row))?,
            Err(ReadError::Row { line, reason, .. }) => f(Err((line, reason.to_string())))?,
            Err(other) => return Err(other.into()),
        }
    }
    meter.finish();
    Ok(reader)
}

/// Returns the key of the source (0) or of the destination (1), a vertex of `kind`.
fn key<'a>(rules: &Rules<'_>, kind: KindId, row: &Row<'a>, end: usize) -> Result<VertexKeyRef<'a>, String> {
    let text = [row.src, row.dst][end];
    rules.kinds.parse(kind, text).map_err(|why| in_column(why, row.columns[end]))
}

fn in_column(why: String, column: usize) -> String {
    format!("{why} in column {}", column + 1)
}

/// Returns the edge of a row without its property values; these are put into `values`.
fn edge<'a>(
    row: &Row<'a>,
    rules: &Rules<'_>,
    table: &'a EdgeTable,
    values: &mut Vec<Value>,
    passed: &mut Passed,
) -> Result<EdgeItem<'a>, String> {
    if table.weight_required && row.weight.is_none() {
        return Err("no weight; --weight-col says which column it is in".to_owned());
    }
    let weight = row.weight.filter(|_| table.weighted).unwrap_or(1.0);
    if rules.finite && !weight.is_finite() {
        return Err(format!("weight {weight} cannot be added: weights must be finite"));
    }
    let mut next = if table.ends == Ends::Columns { 2 } else { 0 };
    let mut column = || {
        next += 1;
        next - 1
    };
    let label = match &table.label {
        Some(label) => label,
        None => read_label(&row.extra, column())?,
    };
    let [from, to] = match table.ends {
        Ends::OfLabel => rules.kinds.ends_of(label),
        Ends::Stated(ends) | Ends::Fixed(ends) => ends,
        Ends::Columns => [read_kind(rules, &row.extra, 0)?, read_kind(rules, &row.extra, 1)?],
    };
    let (src, dst) = (key(rules, from, row, 0)?, key(rules, to, row, 1)?);
    let rank = if table.rank { Some(read_rank(&row.extra, column())?) } else { None };
    let cut = read_values(&table.properties, &row.extra, column(), values)?;
    passed.edge(row, table.weighted, cut);
    for (kind, text) in [(from, row.src), (to, row.dst)] {
        passed.key(rules.kinds.keys(kind), text);
    }
    if row.is_trimmed && [from, to].iter().any(|kind| rules.kinds.keys(*kind) == KeyKind::Str) {
        passed.trimmed += 1;
    }
    Ok(EdgeItem { line: row.line, src, dst, weight, label, rank, values: &[] })
}

/// Returns the kind that a field names; the default kind if there is no field.
fn read_kind(rules: &Rules<'_>, extra: &Extra<'_>, at: usize) -> Result<KindId, String> {
    let name = extra.get_name(at).unwrap_or_default();
    rules.kinds.find(name).map_err(|why| in_column(why.to_string(), extra.column(at)))
}

fn read_label<'a>(extra: &Extra<'a>, at: usize) -> Result<&'a str, String> {
    match extra.get_name(at) {
        None | Some("") => Err(in_column("no label".to_owned(), extra.column(at))),
        Some(label) if label.len() > MAX_NAME_BYTES => {
            let why = format!("label of {} bytes is longer than {MAX_NAME_BYTES}", label.len());
            Err(in_column(why, extra.column(at)))
        }
        Some(label) => Ok(label),
    }
}

fn read_rank(extra: &Extra<'_>, at: usize) -> Result<u64, String> {
    let text = extra.get(at).unwrap_or_default().trim();
    let shown: String = text.chars().take(40).collect();
    let why = |_| format!("rank {shown:?} is not a number from 0 to {}", u64::MAX);
    text.parse().map_err(|error: std::num::ParseIntError| in_column(why(error), extra.column(at)))
}

/// Reads the field of each property, beginning with the further column `first`. Returns the number of times
/// that were cut.
fn read_values(
    properties: &[(String, ColumnType)],
    extra: &Extra<'_>,
    first: usize,
    values: &mut Vec<Value>,
) -> Result<u64, String> {
    values.clear();
    let mut cut = 0;
    for ((name, kind), at) in properties.iter().zip(first..) {
        let Some(text) = extra.get(at) else {
            values.push(Value::Null);
            continue;
        };
        let read = property::read(name, *kind, text).map_err(|why| in_column(why, extra.column(at)))?;
        cut += u64::from(read.is_cut);
        values.push(read.value);
    }
    Ok(cut)
}

/// Returns the key in a row of a table of vertices; the property values are put into `values`.
fn vertex_row<'a>(
    row: &Row<'a>,
    rules: &Rules<'_>,
    kind: KindId,
    properties: &[(String, ColumnType)],
    values: &mut Vec<Value>,
    passed: &mut Passed,
) -> Result<VertexKeyRef<'a>, String> {
    let key = key(rules, kind, row, 0)?;
    passed.cut_times += read_values(properties, &row.extra, 0, values)?;
    passed.key(rules.kinds.keys(kind), row.src);
    if row.is_trimmed && rules.kinds.keys(kind) == KeyKind::Str {
        passed.trimmed += 1;
    }
    Ok(key)
}

/// Returns the key in the first field of a line, or the whole line for keys of type `str`. Returns `None` for
/// an empty line or a comment.
fn vertex<'a>(
    text: &'a str,
    rules: &Rules<'_>,
    input: &Input,
    passed: &mut Passed,
) -> Option<Result<Item<'a>, String>> {
    let text = text.trim();
    let comment = match input.comment {
        Comment::Usual | Comment::Doubted => Some('#'),
        Comment::Byte(byte) => Some(char::from(byte)),
        Comment::None => None,
    };
    if text.is_empty() {
        return None;
    }
    if comment.is_some_and(|comment| text.starts_with(comment)) {
        passed.comments += 1;
        return None;
    }
    let keys = rules.kinds.keys(input.kind);
    let (first, rest) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
    let key = if keys == KeyKind::Str { text } else { first };
    let item = rules.kinds.parse(input.kind, key).map(Item::Vertex);
    if item.is_ok() {
        passed.key(keys, key);
        passed.behind_keys += u64::from(keys != KeyKind::Str && !rest.is_empty());
    }
    Some(item)
}
