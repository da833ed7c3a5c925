//! Rows of an edge file.

use std::path::Path;

use super::error::shorten;
use super::fields::Field;
use super::matrix_error::MatrixError;
use super::matrix_market::{Matrix, Symmetry};
use super::names::{are_usual, usual};
use super::numbers::{parse_time, parse_weight};
use super::records::Records;
use super::{Column, Delimiter, EdgeFormat, Header, Lines, Progress, ReadError, RowError, Syntax};

/// One edge of the file; everything borrows from the reader.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// The source.
    pub src: &'a str,
    /// The destination.
    pub dst: &'a str,
    /// The positions of source and destination, from 0.
    pub columns: [usize; 2],
    /// The weight, if the format has one. Never NaN.
    pub weight: Option<f64>,
    /// The time in whole seconds, if the format has one.
    pub time: Option<i64>,
    /// The further columns of the format, in its order.
    pub extra: Extra<'a>,
    /// True if source or destination had blanks around it, which were removed.
    pub is_trimmed: bool,
}

impl Row<'_> {
    /// Returns the entry on the other side of the diagonal.
    fn turned(mut self, symmetry: Symmetry) -> Self {
        std::mem::swap(&mut self.src, &mut self.dst);
        self.columns.reverse();
        if symmetry == Symmetry::SkewSymmetric {
            self.weight = self.weight.map(|weight| -weight);
        }
        self
    }
}

/// The further columns of a row.
#[derive(Clone, Copy, Debug)]
pub struct Extra<'a> {
    text: &'a str,
    fields: &'a [Field],
    at: &'a [usize],
    format: &'a EdgeFormat,
}

impl<'a> Extra<'a> {
    /// Returns the text of the further column number `i`; nothing for null.
    pub fn get(&self, i: usize) -> Option<&'a str> {
        let field = self.fields.get(*self.at.get(i)?)?;
        (!is_null(*field, self.text, self.format)).then(|| field.of(self.text))
    }

    /// Returns the name of a label or a kind in the further column number `i`: without the blanks around it,
    /// unless quotes keep them.
    pub fn get_name(&self, i: usize) -> Option<&'a str> {
        let is_quoted = self.at.get(i).and_then(|at| self.fields.get(*at)).is_some_and(|field| field.quoted);
        let name = self.get(i)?;
        Some(if is_quoted || self.format.exact { name } else { name.trim() })
    }

    /// Returns the position in the row of the further column number `i`, from 0.
    pub fn column(&self, i: usize) -> usize {
        self.at.get(i).copied().unwrap_or_default()
    }
}

/// A reader of the rows of an edge file in order.
pub struct EdgeReader {
    records: Records,
    format: EdgeFormat,
    columns: Columns,
    /// The first record, once it was read.
    first: Option<First>,
    /// Positions of the further columns.
    extra_at: Vec<usize>,
    /// The names in the header, if there is one.
    names: Vec<String>,
    /// The most columns of a row.
    widest: usize,
    /// The type and the sizes from the first lines of a Matrix Market file.
    matrix: Option<Matrix>,
    /// True if the present record is returned turned around; `turns`: true if it is next.
    turned: bool,
    turns: bool,
}

/// Positions of source, destination, weight and time; a format or a row may lack the last two.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    at: [Option<usize>; 4],
    required: [bool; 4],
}

/// The first record: the others have as many columns.
#[derive(Clone, Copy, Debug)]
struct First {
    line: u64,
    width: usize,
    header: bool,
}

const WHAT: [&str; 4] = ["source", "destination", "weight", "time"];

impl EdgeReader {
    /// Opens `path`, compressed or not.
    ///
    /// # Errors
    /// The errors of [`Lines::open`].
    pub fn open(path: &Path, format: &EdgeFormat) -> Result<EdgeReader, ReadError> {
        Ok(EdgeReader::of(Lines::open(path)?, format))
    }

    /// Returns the rows of `lines`.
    pub fn of(lines: Lines, format: &EdgeFormat) -> EdgeReader {
        EdgeReader {
            records: Records::of(lines, format),
            columns: Columns::default(),
            first: None,
            format: format.clone(),
            extra_at: Vec::new(),
            names: Vec::new(),
            widest: 0,
            matrix: None,
            turned: false,
            turns: false,
        }
    }

    /// Returns the progress of reading the file.
    pub fn progress(&self) -> Progress {
        self.records.progress()
    }

    /// Returns the syntax of lines.
    pub fn syntax(&self) -> Syntax {
        self.format.syntax
    }

    /// Returns the number of comments passed so far.
    pub fn comments(&self) -> u64 {
        self.records.comments()
    }

    /// Returns the number of arcs in the problem line of a DIMACS file, and the number read so far, if they
    /// differ.
    pub fn other_arcs(&self) -> Option<(u64, u64)> {
        self.records.other_arcs()
    }

    /// Returns the columns that no row so far used: position from 0, and name in the header.
    pub fn columns_left_out(&self) -> impl Iterator<Item = (usize, Option<&str>)> {
        let is_read = |at: &usize| self.columns.at.contains(&Some(*at)) || self.extra_at.contains(at);
        let name = |at: usize| (at, self.names.get(at).map(String::as_str));
        (0..self.widest).filter(move |at| !is_read(at)).map(name)
    }

    /// Returns the position of the weight (2) or of the time (3), from 0, unless a further column keeps it.
    pub fn column(&self, what: usize) -> Option<usize> {
        self.columns.at.get(what).copied().flatten().filter(|at| !self.extra_at.contains(at))
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        self.records.path()
    }

    /// Returns the next row, or `None` at the end. After an error for which [`ReadError::is_row`] is true,
    /// the next call continues with the next row.
    pub fn next_row(&mut self) -> Option<Result<Row<'_>, ReadError>> {
        self.turned = std::mem::take(&mut self.turns);
        if !self.turned {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            self.turns = self.format.both_ways && self.is_pair();
        }
        Some(self.parse_row().map_err(|reason| ReadError::row(self.path(), self.records.line(), reason)))
    }

    /// Reads on to the next record that is a row; false at the end.
    fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            let found = self.records.advance();
            if let Ok(false) = found {
                let ended = self.matrix.take().map_or(Ok(()), |matrix| matrix.end());
                return ended.map(|()| false).map_err(|why| self.matrix_fault(why));
            }
            // A line that cannot be read was an entry, too.
            if let Some(matrix) = self.matrix.as_mut().filter(|_| self.first.is_some()) {
                matrix.count().map_err(|why| self.matrix_fault(why))?;
            }
            found?;
            if self.first.is_some() || !self.read_first()? {
                self.widest = self.widest.max(self.records.fields().len());
                return Ok(true);
            }
        }
    }

    /// Ends reading with a fault of the whole matrix.
    fn matrix_fault(&mut self, reason: MatrixError) -> ReadError {
        self.records.stop();
        self.matrix = None;
        ReadError::Matrix { path: self.path().to_owned(), line: self.records.line(), reason }
    }

    /// True if the present record is a sound entry of a symmetric matrix off its diagonal.
    fn is_pair(&self) -> bool {
        let symmetric = self.matrix.is_some_and(|matrix| matrix.symmetry() != Symmetry::General);
        let number = |key: &str| key.parse::<u64>().ok();
        symmetric && self.parse_row().is_ok_and(|row| number(row.src) != number(row.dst))
    }

    /// Reads the banner and the size line, the records before the first entry.
    fn read_matrix(&mut self) -> Result<(), ReadError> {
        let line: Vec<&str> = self.records.fields().iter().map(|f| f.of(self.records.text())).collect();
        let (line, two_sets) = (line.join(" "), self.format.two_sets);
        let Some(mut matrix) = self.matrix else {
            self.matrix = Some(Matrix::begin(&line).map_err(|why| self.matrix_fault(why))?);
            return Ok(());
        };
        matrix.size(&line, two_sets).map_err(|why| self.matrix_fault(why))?;
        self.matrix = Some(matrix);
        self.columns.at = [Some(0), Some(1), matrix.has_values().then_some(2), None];
        self.columns.required = [true; 4];
        if self.format.weight == Some(Column::Absent) {
            self.columns.at[2] = None;
        }
        let (names, extra) = (Vec::new(), self.format.extra.clone());
        self.extra_at = self.extra_columns(&names, &extra, false)?;
        self.first = Some(First { line: self.records.line(), width: 3, header: true });
        Ok(())
    }

    /// Finds the columns by the first record; true if that is a header.
    fn read_first(&mut self) -> Result<bool, ReadError> {
        if self.format.syntax == Syntax::MatrixMarket {
            return self.read_matrix().map(|()| true);
        }
        let text = self.records.text();
        let names: Vec<String> = self.records.fields().iter().map(|f| f.of(text).trim().to_owned()).collect();
        let chosen = [&self.format.src, &self.format.dst, &self.format.weight, &self.format.time];
        let is_name = |c: &Column| matches!(c, Column::Name(_));
        let named = chosen.iter().any(|c| c.as_ref().is_some_and(is_name));
        let named = named || self.format.extra.iter().any(is_name);
        let header = match self.format.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => named || are_usual(&names),
        };
        let mut columns = Columns::default();
        for (i, choice) in chosen.into_iter().enumerate() {
            (columns.at[i], columns.required[i]) = match choice {
                Some(Column::Index(at)) => (Some(*at), true),
                Some(Column::IfPresent(at)) => (Some(*at), i < 2),
                Some(Column::Name(name)) => (Some(self.named(&names, name, header)?), true),
                Some(Column::Absent) => (None, false),
                None if header && usual(&names, i).is_some() => (usual(&names, i), true),
                None => ((i < 2).then(|| self.format.usual_key(i)), true),
            };
        }
        let extra_at = self.extra_columns(&names, &self.format.extra, header)?;
        self.first = Some(First { line: self.records.line(), width: names.len(), header });
        (self.extra_at, self.columns) = (extra_at, columns);
        if header {
            self.names = names;
        }
        Ok(header)
    }

    /// Returns the positions of the further columns.
    fn extra_columns(
        &self,
        names: &[String],
        columns: &[Column],
        header: bool,
    ) -> Result<Vec<usize>, ReadError> {
        let position = |column: &Column| match column {
            Column::Index(at) | Column::IfPresent(at) => Some(Ok(*at)),
            Column::Name(name) => Some(self.named(names, name, header)),
            Column::Absent => None,
        };
        columns.iter().filter_map(position).collect()
    }

    /// Returns the column with this name, or with this name and its type behind a colon, as in exports.
    fn named(&self, names: &[String], name: &str, header: bool) -> Result<usize, ReadError> {
        let wanted = name.to_lowercase();
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let typed = |n: &String| n.rsplit_once(':').is_some_and(|(name, _)| name == wanted);
        let found = names.iter().position(|n| *n == wanted).or_else(|| names.iter().position(typed));
        found
            .filter(|_| header)
            .ok_or_else(|| ReadError::Column { path: self.records.path().into(), column: name.to_owned() })
    }

    fn parse_row(&self) -> Result<Row<'_>, RowError> {
        let (text, fields) = (self.records.text(), self.records.fields());
        self.check_width(fields.len())?;
        let (src, src_at) = self.key(0)?;
        let (dst, dst_at) = self.key(1)?;
        let has_blanks = |key: &str, at: usize| fields.get(at).is_some_and(|f| f.of(text).len() > key.len());
        let is_trimmed = has_blanks(src, src_at) || has_blanks(dst, dst_at);
        let weight = self.number(2, parse_weight)?;
        let time = self.number(3, parse_time)?;
        if let Some(&column) = self.extra_at.iter().find(|&&at| at >= fields.len()) {
            return Err(RowError::MissingColumn { what: "property", column, found: fields.len() });
        }
        let extra = Extra { text, fields, at: &self.extra_at, format: &self.format };
        let (line, columns) = (self.records.line(), [src_at, dst_at]);
        let row = Row { line, src, dst, columns, weight, time, extra, is_trimmed };
        match self.matrix {
            None => Ok(row),
            Some(matrix) => {
                matrix.check(fields.len(), src, dst)?;
                Ok(if self.turned { row.turned(matrix.symmetry()) } else { row })
            }
        }
    }

    /// Refuses a row of another width than the first; if blanks separate columns, some may be absent.
    fn check_width(&self, found: usize) -> Result<(), RowError> {
        match (self.first, self.records.delimiter()) {
            (Some(First { line: first, width: expected, header }), Delimiter::Byte(_))
                if found != expected =>
            {
                Err(RowError::Width { found, expected, first, header })
            }
            _ => Ok(()),
        }
    }

    /// Returns the field of column `i` of the four, and its position; nothing if it is absent and optional.
    fn field(&self, i: usize) -> Result<Option<(Field, usize)>, RowError> {
        let Some(column) = self.columns.at[i] else { return Ok(None) };
        match self.records.fields().get(column) {
            Some(&field) => Ok(Some((field, column))),
            None if self.columns.required[i] => {
                Err(RowError::MissingColumn { what: WHAT[i], column, found: self.records.fields().len() })
            }
            None => Ok(None),
        }
    }

    /// Returns the source or the destination, and its position.
    fn key(&self, i: usize) -> Result<(&str, usize), RowError> {
        let text = self.records.text();
        let Some((field, at)) = self.field(i)? else { return Err(RowError::Empty { what: WHAT[i] }) };
        let key = field.of(text);
        let key = if field.quoted || self.format.exact { key } else { trim(key) };
        let empty = key.is_empty() && !(field.quoted && self.format.exact);
        if empty || is_null(field, text, &self.format) {
            return Err(null(WHAT[i], key).in_column(at));
        }
        Ok((key, at))
    }

    /// Returns the weight or the time.
    fn number<T>(
        &self,
        i: usize,
        parse: impl FnOnce(&str) -> Result<T, RowError>,
    ) -> Result<Option<T>, RowError> {
        let Some((field, at)) = self.field(i)? else { return Ok(None) };
        let text = trim(field.of(self.records.text()));
        if text.is_empty() || is_null(field, self.records.text(), &self.format) {
            return Err(null(WHAT[i], text).in_column(at));
        }
        parse(text).map(Some).map_err(|reason| reason.in_column(at))
    }
}

/// Returns `text` without blanks around it. Tests bytes first, since it runs for every key.
fn trim(text: &str) -> &str {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bytes = text.as_bytes();
    if is_plain(bytes.first()) && is_plain(bytes.last()) { text } else { text.trim() }
}

/// True if a field is null: without quotes, it is empty or one of the texts for null.
fn is_null(field: Field, text: &str, format: &EdgeFormat) -> bool {
    let text = field.of(text);
    !field.quoted && (text.is_empty() || format.nulls.iter().any(|null| null == text.trim()))
}

fn null(what: &'static str, text: &str) -> RowError {
    if text.is_empty() { RowError::Empty { what } } else { RowError::Null { what, text: shorten(text) } }
}
