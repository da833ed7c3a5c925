//! Results on standard output: as text, as JSON or as CSV.

use std::io::{self, Write};

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
    /// The table, or `field,value` rows if the result has none.
    Csv,
}

/// The facts of a result, and its tables.
#[derive(Debug, Default)]
pub(crate) struct Report {
    fields: Vec<(&'static str, Fact)>,
    tables: Vec<Table>,
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

    /// Adds a table. CSV output contains only the first table.
    pub(crate) fn table(
        mut self,
        name: &'static str,
        columns: &[impl AsRef<str>],
        rows: Vec<Vec<Value>>,
    ) -> Report {
        let columns = columns.iter().map(|column| column.as_ref().to_owned()).collect();
        self.tables.push(Table { name, columns, rows });
        self
    }

    /// Prints everything to standard output.
    pub(crate) fn print(&self, style: Style) -> Result<(), CliError> {
        let mut out = Target::stdout();
        out.write(|w| self.write(style, w))?;
        Ok(out.finish()?)
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
        for table in &self.tables {
            if !self.fields.is_empty() && !table.rows.is_empty() {
                writeln!(out)?;
                writeln!(out, "{}", table.columns.join("\t"))?;
            }
            for row in &table.rows {
                writeln!(out, "{}", row.iter().map(plain).collect::<Vec<_>>().join("\t"))?;
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
        for table in &self.tables {
            write!(out, "{separator}\"{}\":[", table.name)?;
            for (at, row) in table.rows.iter().enumerate() {
                let pairs = table
                    .columns
                    .iter()
                    .zip(row)
                    .map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())));
                write!(out, "{}{{{}}}", if at > 0 { "," } else { "" }, pairs.collect::<Vec<_>>().join(","))?;
            }
            write!(out, "]")?;
            separator = ",";
        }
        writeln!(out, "{}", if separator == "{" { "{}" } else { "}" })
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let cell = |value: &Value| quoted(&plain(value), b',').into_owned();
        if let Some(table) = self.tables.first() {
            let columns = table.columns.iter().map(|name| quoted(name, b',').into_owned());
            writeln!(out, "{}", columns.collect::<Vec<_>>().join(","))?;
            for row in &table.rows {
                writeln!(out, "{}", row.iter().map(cell).collect::<Vec<_>>().join(","))?;
            }
            return Ok(());
        }
        writeln!(out, "field,value")?;
        for (name, value) in &self.fields {
            writeln!(out, "{name},{}", cell(&value.exact()))?;
        }
        Ok(())
    }
}

impl Fact {
    fn text(&self) -> String {
        match self {
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

/// Returns the text of a value, without the quotes of JSON.
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
