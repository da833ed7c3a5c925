//! The rows of files of Parquet and Arrow.

use std::path::Path;

use hedgerow::{Column as Values, KeyColumn, KeyKind, KindId, Value, VertexKeyRef};
use hedgerow_arrow::read::{self, ArrayRef, Faults, RecordBatch};
use hedgerow_core::property::MAX_NAME_BYTES;
use hedgerow_workload::read::Progress;

use crate::Error;
use crate::columns::TableColumns;
use crate::input::{Content, EdgeTable, Input};
use crate::item::{EdgeItem, Item, Rules};
use crate::kinds::Ends;
use crate::passed::Passed;
use crate::table::reader_of;
use crate::watch::Meter;

/// Calls `keep` with each row that can be loaded, and `reject` with the number and the fault of each other
/// row.
pub(crate) fn for_each(
    input: &Input,
    columns: &TableColumns,
    rules: &Rules<'_>,
    what: &'static str,
    mut keep: impl FnMut(Item<'_>) -> Result<(), Error>,
    mut reject: impl FnMut(u64, String) -> Result<(), Error>,
) -> Result<Passed, Error> {
    let (mut reader, mut passed) = (reader_of(input)?, Passed::default());
    let progress = Progress::new(reader.rows().unwrap_or(0));
    let mut meter = Meter::new(rules.course, what, input, progress.clone(), true)?;
    let (mut before, mut values) = (0, Vec::new());
    while let Some(batch) = reader.next_batch()? {
        let rows = Rows::read(&input.path, &batch, columns).map_err(|error| in_file(input, error))?;
        passed.cut_times += rows.cuts.iter().filter(|&&at| rows.faults.of(at).is_none()).count() as u64;
        for at in 0..batch.num_rows() {
            meter.row()?;
            let line = before + at as u64 + 1;
            let fault = rows.faults.of(at).map(str::to_owned);
            rows.values(at, &mut values);
            let item = match (fault, &input.content) {
                (Some(fault), _) => Err(fault),
                (None, Content::Edges(table)) => rows
                    .edge(at, line, rules, table)
                    .map(|item| Item::Edge(EdgeItem { values: &values, ..item }, table)),
                (None, Content::VertexTable(_, properties)) => {
                    let key = rows.key(0, at, input.kind, rules);
                    key.map(|key| Item::VertexRow(key, properties, &values))
                }
                (None, Content::Vertices) => Err("no table of vertices".to_owned()),
            };
            match item {
                Ok(item) => keep(item)?,
                Err(reason) => reject(line, reason)?,
            }
        }
        before += batch.num_rows() as u64;
        progress.set(before);
    }
    meter.finish();
    Ok(passed)
}

/// Adds the file to the error of a column.
fn in_file(input: &Input, error: Error) -> Error {
    match error {
        Error::Table(error) => Error::file(&input.path, error),
        other => other,
    }
}

/// Returns the label of a row, if it can be one.
fn check_label<'a>(column: &str, label: &'a str) -> Result<&'a str, String> {
    match label.len() {
        0 => Err(format!("column {column}: no label")),
        1..=MAX_NAME_BYTES => Ok(label),
        bytes => Err(format!("column {column}: label of {bytes} bytes is longer than {MAX_NAME_BYTES}")),
    }
}

/// The rows of a batch.
struct Rows {
    keys: [KeyColumn; 2],
    names: [String; 2],
    /// The names of kinds, and of labels, with the names of their columns.
    kinds: Option<[(String, Vec<String>); 2]>,
    labels: Option<(String, Vec<String>)>,
    ranks: Option<Vec<u64>>,
    weights: Option<Vec<f64>>,
    properties: Vec<Values>,
    /// The rows of times that were cut to microseconds, once for each time.
    cuts: Vec<usize>,
    faults: Faults,
}

impl Rows {
    fn read(path: &Path, batch: &RecordBatch, columns: &TableColumns) -> Result<Rows, Error> {
        let (mut faults, schema) = (Faults::default(), batch.schema());
        let column = |at: usize| -> Result<(&ArrayRef, &str), Error> {
            let found = batch.columns().get(at).zip(schema.fields().get(at));
            let (array, field) = found.ok_or_else(|| Error::file(path, format!("no column {}", at + 1)))?;
            Ok((array, field.name().as_str()))
        };
        let mut keys = |at: usize| -> Result<KeyColumn, Error> {
            let (array, name) = column(at)?;
            let kind = if read::is_text(array.data_type()) { KeyKind::Str } else { KeyKind::U64 };
            Ok(read::keys(array, name, kind, &mut faults)?)
        };
        let keys = [keys(columns.ends[0])?, keys(columns.ends[1])?];
        let texts = |at: usize| -> Result<(String, Vec<String>), Error> {
            let (array, name) = column(at)?;
            let mut texts = Vec::with_capacity(batch.num_rows());
            read::texts(array, name, |_, text| texts.push(text.unwrap_or_default().to_owned()))?;
            Ok((name.to_owned(), texts))
        };
        let kinds = match columns.kinds {
            Some([from, to]) => Some([texts(from)?, texts(to)?]),
            None => None,
        };
        let labels = columns.label.map(texts).transpose()?;
        let (mut ranks, mut weights) = (None, None);
        if let Some((array, name)) = columns.rank.map(column).transpose()? {
            ranks = Some(read::ranks(array, name, &mut faults)?);
        }
        if let Some((array, name)) = columns.weight.map(column).transpose()? {
            weights = Some(read::weights(array, name, &mut faults)?);
        }
        let (mut properties, mut cuts) = (Vec::with_capacity(columns.properties.len()), Vec::new());
        for &at in &columns.properties {
            let (array, name) = column(at)?;
            let (values, cut) = read::property(array, name, &mut faults)?;
            cuts.extend(cut);
            properties.push(values);
        }
        let names = [column(columns.ends[0])?.1.to_owned(), column(columns.ends[1])?.1.to_owned()];
        Ok(Rows { keys, names, kinds, labels, ranks, weights, properties, cuts, faults })
    }

    /// Puts the property values of a row into `values`.
    fn values(&self, at: usize, values: &mut Vec<Value>) {
        values.clear();
        values.extend(self.properties.iter().map(|column| column.get(at).to_owned()));
    }

    /// Returns the edge of a row without its property values.
    fn edge<'a>(
        &'a self,
        at: usize,
        line: u64,
        rules: &Rules<'_>,
        table: &'a EdgeTable,
    ) -> Result<EdgeItem<'a>, String> {
        let label = match (&table.label, &self.labels) {
            (Some(label), _) => label,
            (None, Some((name, labels))) => check_label(name, &labels[at])?,
            (None, None) => return Err("no label".to_owned()),
        };
        let [from, to] = match (table.ends, &self.kinds) {
            (Ends::Columns, Some([from, to])) => {
                let find = |(column, names): &(String, Vec<String>)| {
                    rules.kinds.find(&names[at]).map_err(|why| format!("column {column}: {why}"))
                };
                [find(from)?, find(to)?]
            }
            (Ends::Stated(ends) | Ends::Fixed(ends), _) => ends,
            (Ends::OfLabel, _) => rules.kinds.ends_of(label),
            _ => Default::default(),
        };
        let weight = self.weights.as_ref().map_or(1.0, |weights| weights[at]);
        if rules.finite && !weight.is_finite() {
            return Err(format!("weight {weight} cannot be added: weights must be finite"));
        }
        let (src, dst) = (self.key(0, at, from, rules)?, self.key(1, at, to, rules)?);
        let rank = self.ranks.as_ref().map(|ranks| ranks[at]);
        Ok(EdgeItem { line, src, dst, weight, label, rank, values: &[] })
    }

    /// Returns the key at an end of a row. In an export of several kinds, numbers are texts if a kind has
    /// texts as keys.
    fn key(
        &self,
        end: usize,
        at: usize,
        kind: KindId,
        rules: &Rules<'_>,
    ) -> Result<VertexKeyRef<'_>, String> {
        let in_column = |why: String| format!("column {}: {why}", self.names[end]);
        match &self.keys[end] {
            KeyColumn::Str(texts) => {
                let is_number = rules.kinds.keys(kind) != KeyKind::Str;
                if is_number && self.kinds.is_none() {
                    return Err(in_column("a text, but the keys of this kind are numbers".to_owned()));
                }
                let text = texts.get(at).unwrap_or_default();
                // An export of kinds with texts writes the numbers of other kinds like this.
                if is_number && text.parse().ok().is_none_or(|number: u64| number.to_string() != text) {
                    return Err(in_column(format!("{text:?} is no number as an export writes it")));
                }
                rules.kinds.parse(kind, text).map_err(in_column)
            }
            KeyColumn::U64(numbers) => rules.kinds.number(kind, numbers[at]).map_err(in_column),
            KeyColumn::Kinds(_) => Err(in_column("no key".to_owned())),
        }
    }
}
