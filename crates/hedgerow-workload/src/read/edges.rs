//! Rows of an edge file.

use std::path::Path;

use super::fields::{Field, split};
use super::{Column, Delimiter, EdgeFormat, Header, Lines, Progress, ReadError, RowError, Syntax};

/// One edge as the file has it; the names borrow from the reader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// The line, from 1.
    pub line: u64,
    /// The source.
    pub src: &'a str,
    /// The destination.
    pub dst: &'a str,
    /// The weight, where the format has one. Never NaN.
    pub weight: Option<f64>,
    /// The time, where the format has one; fractions are cut off.
    pub time: Option<i64>,
    /// The further columns of the format, in its order; nothing for a field that is empty and not quoted.
    pub extra: &'a [Option<String>],
}

/// Reads the rows of an edge file in order.
pub struct EdgeReader {
    lines: Lines,
    format: EdgeFormat,
    delimiter: Delimiter,
    columns: Columns,
    header_seen: bool,
    /// Fields in which quotes had to be undone.
    scratch: [String; 2],
    /// Positions of the further columns, and what the row at hand has in them.
    extra_at: Vec<usize>,
    extra: Vec<Option<String>>,
}

/// Positions of source, destination, weight and time; the last two may be absent, from the format or from a row.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    at: [Option<usize>; 4],
    required: [bool; 4],
}

const WHAT: [&str; 4] = ["source", "destination", "weight", "time"];

/// Usual names of the four columns in headers, in lower case.
const NAMES: [&[&str]; 4] = [
    &["src", "source", "from", "source_id", "from_id", "u", "start", "start_id", ":start_id"],
    &["dst", "dest", "destination", "target", "to", "target_id", "to_id", "v", "end", "end_id", ":end_id"],
    &["weight", "w"],
    &["time", "timestamp", "ts", "unixts", "date"],
];

impl EdgeReader {
    /// Opens `path`, compressed or not.
    ///
    /// # Errors
    /// [`ReadError::Open`].
    pub fn open(path: &Path, format: &EdgeFormat) -> Result<EdgeReader, ReadError> {
        Ok(EdgeReader::of(Lines::open(path)?, format))
    }

    /// The rows of `lines`.
    pub fn of(lines: Lines, format: &EdgeFormat) -> EdgeReader {
        EdgeReader {
            lines,
            delimiter: format.delimiter,
            columns: Columns::default(),
            header_seen: false,
            format: format.clone(),
            scratch: Default::default(),
            extra_at: Vec::new(),
            extra: Vec::new(),
        }
    }

    /// How much of the file has been read.
    pub fn progress(&self) -> Progress {
        self.lines.progress()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    /// The next row, or `None` at the end. After an error for which [`ReadError::is_row`] holds, the next call goes
    /// on with the next row.
    pub fn next_row(&mut self) -> Option<Result<Row<'_>, ReadError>> {
        loop {
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            if self.lines.line() <= self.format.skip_lines || !self.is_data() {
                continue;
            }
            if !self.header_seen {
                match self.read_header() {
                    Ok(false) => {}
                    Ok(true) => continue,
                    Err(error) => return Some(Err(error)),
                }
            }
            break;
        }
        Some(self.parse_row())
    }

    fn is_data(&self) -> bool {
        let text = self.lines.text();
        match self.format.syntax {
            Syntax::Rows => !(text.trim_ascii().is_empty() || text.starts_with(['#', '%'])),
            Syntax::Dimacs => !(text.trim_ascii().is_empty() || text.starts_with(['c', 'p'])),
        }
    }

    /// Settles delimiter and columns with the first line that holds data; true if that line is a header.
    fn read_header(&mut self) -> Result<bool, ReadError> {
        let text = self.lines.text();
        if self.delimiter == Delimiter::Auto {
            let found = [b'\t', b',', b';'].into_iter().find(|&b| text.as_bytes().contains(&b));
            self.delimiter = found.map_or(Delimiter::Whitespace, Delimiter::Byte);
        }
        let mut names = Vec::new();
        // A line that cannot be split is no header; as a row it will be reported.
        let _ = split(text, self.delimiter, |_, field| names.push(text[field.range].trim().to_lowercase()));
        let usual = |i: usize| names.iter().position(|name| NAMES[i].contains(&name.as_str()));
        let chosen = [&self.format.src, &self.format.dst, &self.format.weight, &self.format.time];
        let is_name = |c: &Column| matches!(c, Column::Name(_));
        let named = chosen.iter().any(|c| c.as_ref().is_some_and(is_name));
        let named = named || self.format.extra.iter().any(is_name);
        let is_header = match self.format.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => named || (usual(0).is_some() && usual(1).is_some()),
        };
        let mut columns = Columns::default();
        for (i, choice) in chosen.into_iter().enumerate() {
            (columns.at[i], columns.required[i]) = match choice {
                Some(Column::Index(at)) => (Some(*at), true),
                Some(Column::IfPresent(at)) => (Some(*at), i < 2),
                Some(Column::Name(name)) => {
                    let wanted = name.to_lowercase();
                    let found = names.iter().position(|n| is_header && *n == wanted);
                    let absent =
                        || ReadError::Column { path: self.lines.path().into(), column: name.clone() };
                    (Some(found.ok_or_else(absent)?), true)
                }
                None => (if is_header { usual(i) } else { None }.or((i < 2).then_some(i)), true),
            };
        }
        let mut extra_at = Vec::new();
        for column in &self.format.extra {
            extra_at.push(match column {
                Column::Index(at) | Column::IfPresent(at) => *at,
                Column::Name(name) => {
                    let wanted = name.to_lowercase();
                    let found = names.iter().position(|n| is_header && *n == wanted);
                    // As `hedgerow export` names them: with the type behind a colon.
                    let typed = |n: &String| n.rsplit_once(':').is_some_and(|(name, _)| name == wanted);
                    let found = found.or_else(|| names.iter().position(|n| is_header && typed(n)));
                    let absent =
                        || ReadError::Column { path: self.lines.path().into(), column: name.clone() };
                    found.ok_or_else(absent)?
                }
            });
        }
        self.extra_at = extra_at;
        self.columns = columns;
        self.header_seen = true;
        Ok(is_header)
    }

    fn parse_row(&mut self) -> Result<Row<'_>, ReadError> {
        let line = self.lines.line();
        let failed = |reason| ReadError::row(self.lines.path(), line, reason);
        if !self.extra_at.is_empty() {
            read_extra(self.lines.text(), self.delimiter, &self.extra_at, &mut self.extra).map_err(failed)?;
        }
        let mut row =
            parse(self.lines.text(), &self.format, self.delimiter, &self.columns, &mut self.scratch, line)
                .map_err(failed)?;
        row.extra = &self.extra;
        Ok(row)
    }
}

/// Reads the fields at the positions `wanted` into `extra`.
fn read_extra(
    text: &str,
    delimiter: Delimiter,
    wanted: &[usize],
    extra: &mut Vec<Option<String>>,
) -> Result<(), RowError> {
    let mut seen = vec![false; wanted.len()];
    extra.clear();
    extra.resize(wanted.len(), None);
    let found = split(text, delimiter, |at, field| {
        for (slot, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted == at) {
            seen[slot] = true;
            let is_quoted = field.range.start > 0 && text.as_bytes()[field.range.start - 1] == b'"';
            let raw = text.get(field.range.clone()).unwrap_or_default();
            let raw = if field.escaped { raw.replace("\"\"", "\"") } else { raw.to_owned() };
            extra[slot] = (is_quoted || !raw.is_empty()).then_some(raw);
        }
    })?;
    match seen.iter().position(|seen| !seen) {
        Some(slot) => Err(RowError::MissingColumn { what: "property", column: wanted[slot], found }),
        None => Ok(()),
    }
}

/// The names in the first line with data of a file whose fields `delimiter` separates.
///
/// # Errors
/// [`ReadError`] if the file cannot be read, is empty, or a name's quotes do not end.
pub fn read_header(path: &Path, delimiter: Delimiter) -> Result<Vec<String>, ReadError> {
    let mut lines = Lines::open(path)?;
    while lines.advance()? {
        let text = lines.text();
        if text.trim_ascii().is_empty() || text.starts_with(['#', '%']) {
            continue;
        }
        let mut names = Vec::new();
        split(text, delimiter, |_, field| names.push(text[field.range].trim().to_owned()))
            .map_err(|reason| ReadError::row(path, lines.line(), reason))?;
        return Ok(names);
    }
    Err(ReadError::row(path, lines.line(), RowError::unexpected("a header", "")))
}

fn parse<'a>(
    text: &'a str,
    format: &EdgeFormat,
    delimiter: Delimiter,
    columns: &Columns,
    scratch: &'a mut [String; 2],
    line: u64,
) -> Result<Row<'a>, RowError> {
    let text = match format.syntax {
        Syntax::Dimacs => text.strip_prefix("a ").unwrap_or(text),
        Syntax::Rows => text,
    };
    let mut fields: [Option<Field>; 4] = Default::default();
    let found = split(text, delimiter, |at, field| {
        for (slot, wanted) in fields.iter_mut().zip(columns.at) {
            if wanted == Some(at) {
                *slot = Some(field.clone());
            }
        }
    })?;
    for i in 0..4 {
        if let (None, Some(column), true) = (&fields[i], columns.at[i], columns.required[i]) {
            return Err(RowError::MissingColumn { what: WHAT[i], column, found });
        }
    }
    let [src, dst, weight, time] = fields;
    let [src_scratch, dst_scratch] = scratch;
    let src = key(text, src, src_scratch, WHAT[0])?;
    let dst = key(text, dst, dst_scratch, WHAT[1])?;
    let plain = |field: Option<Field>| field.and_then(|f| text.get(f.range)).map(str::trim);
    let weight = plain(weight).map(parse_weight).transpose()?;
    let time = plain(time).map(parse_time).transpose()?;
    Ok(Row { line, src, dst, weight, time, extra: &[] })
}

fn key<'a>(
    text: &'a str,
    field: Option<Field>,
    scratch: &'a mut String,
    what: &'static str,
) -> Result<&'a str, RowError> {
    let escaped = field.as_ref().is_some_and(|f| f.escaped);
    let raw = field.and_then(|f| text.get(f.range)).unwrap_or_default().trim();
    if raw.is_empty() {
        return Err(RowError::Empty { what });
    }
    if !escaped {
        return Ok(raw);
    }
    *scratch = raw.replace("\"\"", "\"");
    Ok(scratch)
}

fn parse_weight(text: &str) -> Result<f64, RowError> {
    match text.parse::<f64>() {
        Ok(weight) if !weight.is_nan() => Ok(weight),
        _ => Err(RowError::not_a_number("weight", text)),
    }
}

/// Seconds as an integer; a fraction is cut off, as some data sets have one.
fn parse_time(text: &str) -> Result<i64, RowError> {
    if let Ok(time) = text.parse::<i64>() {
        return Ok(time);
    }
    match text.parse::<f64>() {
        Ok(time) if time.abs() < i64::MAX as f64 => Ok(time.trunc() as i64),
        _ => Err(RowError::not_a_number("time", text)),
    }
}
