//! Results on standard output: as text, as JSON or as CSV. `docs/design/command-line.md` has the rules.

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::path::Path;

use hedgerow_export::target::Target;
use hedgerow_export::text::quoted;
use serde_json::Value;

use crate::error::CliError;
use crate::size;

/// The form in which results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Text for people: `name: value` lines, then the table.
    Text,
    /// One object on one line.
    Json,
    /// The rows, or `field,value` rows if the result has none.
    Csv,
}

/// The facts of a result, its rows, and details such as rejected lines.
#[derive(Debug, Default)]
pub(crate) struct Report {
    fields: Vec<(&'static str, Fact)>,
    rows: Option<Table>,
    details: Vec<Table>,
}

/// The value of a field.
#[derive(Debug)]
enum Fact {
    Value(Value),
    /// A number of bytes, which text output shows with a unit.
    Bytes(u64),
}

#[derive(Debug)]
struct Table {
    name: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Report {
    /// Adds a fact.
    pub(crate) fn field(mut self, name: &'static str, value: impl Into<Value>) -> Report {
        self.fields.push((name, Fact::Value(value.into())));
        self
    }

    /// Adds a number of bytes: text shows it with a unit, JSON and CSV exactly.
    pub(crate) fn bytes(mut self, name: &'static str, bytes: u64) -> Report {
        self.fields.push((name, Fact::Bytes(bytes)));
        self
    }

    /// Adds the rows for which the command exists. CSV output is these rows alone.
    pub(crate) fn rows(
        mut self,
        name: &'static str,
        columns: &[impl AsRef<str>],
        rows: Vec<Vec<Value>>,
    ) -> Report {
        self.rows = Some(Table::new(name, columns, rows));
        self
    }

    /// Adds a table that explains the facts. In CSV it is one field, as JSON.
    pub(crate) fn details(
        mut self,
        name: &'static str,
        columns: &[impl AsRef<str>],
        rows: Vec<Vec<Value>>,
    ) -> Report {
        self.details.push(Table::new(name, columns, rows));
        self
    }

    /// Prints everything to standard output. If CSV leaves out that there are more rows, a note on standard
    /// error says it.
    pub(crate) fn print(&self, style: Style) -> Result<(), CliError> {
        let mut out = Target::stdout();
        out.write(|w| self.write(style, w))?;
        out.finish()?;
        if style == Style::Csv && self.rows.is_some() && self.has_more() {
            // A failed write is ignored: standard error is closed.
            let _ = writeln!(io::stderr().lock(), "note: there are more rows than the limit lets through");
        }
        Ok(())
    }

    fn has_more(&self) -> bool {
        self.fields
            .iter()
            .any(|(name, fact)| *name == "more" && matches!(fact, Fact::Value(Value::Bool(true))))
    }

    fn tables(&self) -> impl Iterator<Item = &Table> {
        self.rows.iter().chain(&self.details)
    }

    /// Writes everything to `out`.
    pub(crate) fn write(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        match style {
            Style::Text => self.write_text(out),
            Style::Json => self.write_json(out),
            Style::Csv => self.write_csv(out),
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = self.fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
        for (name, value) in &self.fields {
            writeln!(out, "{:width$}{}", format!("{}:", name.replace('_', " ")), value.text())?;
        }
        for table in self.tables() {
            if !self.fields.is_empty() && !table.rows.is_empty() {
                writeln!(out)?;
                writeln!(out, "{}", table.columns.join("\t"))?;
            }
            for row in &table.rows {
                writeln!(out, "{}", row.iter().map(text_field).collect::<Vec<_>>().join("\t"))?;
            }
        }
        Ok(())
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut separator = "{";
        for (name, value) in &self.fields {
            write!(out, "{separator}\"{name}\":{}", value.exact())?;
            separator = ",";
        }
        for table in self.tables() {
            write!(out, "{separator}\"{}\":{}", table.name, table.json())?;
            separator = ",";
        }
        writeln!(out, "{}", if separator == "{" { "{}" } else { "}" })
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(table) = &self.rows {
            writeln!(out, "{}", csv_header(&table.columns))?;
            return table
                .rows
                .iter()
                .try_for_each(|row| writeln!(out, "{}", csv_line(row.iter().map(csv_field))));
        }
        writeln!(out, "field,value")?;
        for (name, value) in &self.fields {
            writeln!(out, "{name},{}", csv_field(&value.exact()))?;
        }
        for table in &self.details {
            writeln!(out, "{},{}", table.name, quoted(&table.json(), b','))?;
        }
        Ok(())
    }
}

impl Table {
    fn new(name: &'static str, columns: &[impl AsRef<str>], rows: Vec<Vec<Value>>) -> Table {
        Table { name, columns: columns.iter().map(|column| column.as_ref().to_owned()).collect(), rows }
    }

    /// Returns the rows as a list of objects, with members in the order of the columns.
    fn json(&self) -> String {
        let rows: Vec<String> = self.rows.iter().map(|row| json_object(&self.columns, row)).collect();
        format!("[{}]", rows.join(","))
    }
}

/// Rows that are written one by one, because there may be very many.
pub(crate) struct Rows {
    style: Style,
    /// The columns in the form of JSON, with the colon behind each.
    members: Vec<String>,
    out: Target,
    line: String,
}

/// A field of [`Rows`].
pub(crate) enum Cell {
    Value(Value),
    /// The name of a vertex, which lines of text have without quotes.
    Key(Value),
    /// A number that lines of text and CSV have with an exponent.
    Exponent(f64),
}

impl Rows {
    /// Opens `path`, or standard output for none or `-`. CSV begins with the columns, lines of text do not.
    pub(crate) fn begin(style: Style, path: Option<&Path>, columns: &[String]) -> Result<Rows, CliError> {
        let mut out = Target::open(path)?;
        if style == Style::Csv {
            out.write(|w| writeln!(w, "{}", csv_header(columns)))?;
        }
        let members = columns.iter().map(|name| format!("{}:", Value::from(name.as_str()))).collect();
        Ok(Rows { style, members, out, line: String::new() })
    }

    /// Writes one row: a line between blanks, a JSON object on one line, or a line of CSV.
    pub(crate) fn write(&mut self, cells: &[Cell]) -> Result<(), CliError> {
        self.line.clear();
        let (begin, separator, end) = match self.style {
            Style::Text => ("", " ", ""),
            Style::Json => ("{", ",", "}"),
            Style::Csv => ("", ",", ""),
        };
        self.line += begin;
        for (at, (cell, member)) in cells.iter().zip(&self.members).enumerate() {
            self.line += if at > 0 { separator } else { "" };
            self.line += if self.style == Style::Json { member } else { "" };
            // A String takes every text.
            let _ = cell.add_to(&mut self.line, self.style);
        }
        self.line += end;
        self.line.push('\n');
        let Rows { out, line, .. } = self;
        Ok(out.write(|w| w.write_all(line.as_bytes()))?)
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        Ok(self.out.finish()?)
    }
}

impl Cell {
    fn add_to(&self, line: &mut String, style: Style) -> fmt::Result {
        match (self, style) {
            (Cell::Value(Value::Number(number)) | Cell::Key(Value::Number(number)), _) => {
                write!(line, "{number}")
            }
            (Cell::Exponent(value), Style::Json) => write!(line, "{}", number(*value)),
            (Cell::Exponent(value), _) => write!(line, "{value:e}"),
            (Cell::Value(value) | Cell::Key(value), Style::Json) => write!(line, "{value}"),
            (Cell::Value(value) | Cell::Key(value), Style::Csv) => line.write_str(&csv_field(value)),
            (Cell::Value(value), Style::Text) => line.write_str(&quoted(&plain(value), b' ')),
            (Cell::Key(value), Style::Text) => line.write_str(&plain(value)),
        }
    }
}

/// Returns an object on one line, with its members in the order of `columns`.
fn json_object(columns: &[String], row: &[Value]) -> String {
    let member = |(name, value): (&String, &Value)| format!("{}:{value}", Value::from(name.as_str()));
    format!("{{{}}}", columns.iter().zip(row).map(member).collect::<Vec<_>>().join(","))
}

fn csv_header(columns: &[String]) -> String {
    csv_line(columns.iter().map(|name| quoted(name, b',').into_owned()))
}

fn csv_line(fields: impl Iterator<Item = String>) -> String {
    fields.collect::<Vec<_>>().join(",")
}

/// Returns a field of a table for people, with truth values as properties have them.
fn text_field(value: &Value) -> String {
    if value.is_boolean() { value.to_string() } else { plain(value) }
}

/// Returns a field of CSV: null is empty, a list or an object is JSON.
fn csv_field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => quoted(text, b',').into_owned(),
        other => quoted(&other.to_string(), b',').into_owned(),
    }
}

impl Fact {
    fn text(&self) -> String {
        match self {
            Fact::Value(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
            Fact::Value(value) => plain(value),
            Fact::Bytes(bytes) => size::shown(*bytes),
        }
    }

    fn exact(&self) -> Value {
        match self {
            Fact::Value(value) => value.clone(),
            Fact::Bytes(bytes) => (*bytes).into(),
        }
    }
}

/// Returns a number as JSON; one that JSON cannot represent becomes its name.
pub(crate) fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number)
}

/// Returns the text of a value for people, without the quotes of JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(values) => between_blanks(&values.iter().map(plain).collect::<Vec<_>>()),
        other => other.to_string(),
    }
}

/// Returns names on one line, separated by spaces; a name that contains a space is quoted.
pub(crate) fn between_blanks(names: &[String]) -> String {
    names.iter().map(|name| quoted(name, b' ')).collect::<Vec<_>>().join(" ")
}
