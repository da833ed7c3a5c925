//! Records of a file: a line each, or several if a quoted field contains line breaks.

use std::path::Path;

use csv_core::{ReadFieldResult, Terminator};

use super::error::shorten;
use super::fields::{Field, Unsplit, split_at, split_at_blanks};
use super::matrix_market::is_comment;
use super::{Comment, Delimiter, EdgeFormat, Lines, Progress, ReadError, RowError, Syntax};

/// A file's records, one at a time, split into fields.
pub(super) struct Records {
    lines: Lines,
    syntax: Syntax,
    delimiter: Delimiter,
    skip_lines: u64,
    exact: bool,
    comment: Comment,
    /// The number of comments passed.
    comments: u64,
    /// The number of records read.
    count: u64,
    /// The number of arcs in the problem line of a DIMACS file.
    arcs: Option<u64>,
    /// The number of fields of the first record.
    width: usize,
    /// The line on which the record begins.
    line: u64,
    fields: Vec<Field>,
    /// The state for undoing quotes, made at the first record that has any.
    unquoter: Option<Box<Unquoter>>,
    /// The text of a record with quotes, after they are undone; other records are in the text of their line.
    unquoted: String,
    is_unquoted: bool,
    ended: bool,
}

impl Records {
    pub(super) fn of(lines: Lines, format: &EdgeFormat) -> Records {
        Records {
            lines,
            syntax: format.syntax,
            delimiter: format.delimiter,
            skip_lines: format.skip_lines,
            exact: format.exact,
            comment: format.comment,
            comments: 0,
            count: 0,
            arcs: None,
            width: 0,
            line: 0,
            fields: Vec::new(),
            unquoter: None,
            unquoted: String::new(),
            is_unquoted: false,
            ended: false,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        self.lines.progress()
    }

    pub(super) fn path(&self) -> &Path {
        self.lines.path()
    }

    /// Returns the delimiter of fields; the first record decides it if the format does not.
    pub(super) fn delimiter(&self) -> Delimiter {
        self.delimiter
    }

    /// Returns the number of comments passed.
    pub(super) fn comments(&self) -> u64 {
        self.comments
    }

    /// Returns the number of arcs in the problem line of a DIMACS file, and the number read, if they differ.
    pub(super) fn other_arcs(&self) -> Option<(u64, u64)> {
        let said = self.arcs?;
        (said != self.count).then_some((said, self.count))
    }

    /// Returns the line on which the present record begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the fields of the present record, in [`text`](Self::text).
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the text that contains the fields of the present record.
    pub(super) fn text(&self) -> &str {
        if self.is_unquoted { &self.unquoted } else { self.lines.text() }
    }

    /// Ends reading: there is no next record.
    pub(super) fn stop(&mut self) {
        self.ended = true;
    }

    /// Reads the next record; false at the end.
    ///
    /// # Errors
    /// The errors of [`Lines::advance`]; [`ReadError::Row`] for text behind a closing quote, for a carriage
    /// return outside of quotes and for a comment that may be a row, after which the next record can be read;
    /// [`ReadError::Record`] for quotes that do not close, after which nothing can.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        self.fields.clear();
        if self.ended {
            return Ok(false);
        }
        loop {
            match self.lines.advance() {
                Ok(true) if self.lines.line() <= self.skip_lines => {}
                Ok(true) if self.is_data() => break,
                Ok(true) => self.pass()?,
                Ok(false) => return Ok(false),
                Err(error) if error.is_row() && self.lines.line() <= self.skip_lines => {}
                Err(error) => return Err(error),
            }
        }
        self.line = self.lines.line();
        self.count += 1;
        self.is_unquoted = false;
        match self.settle_delimiter() {
            Delimiter::Byte(byte) => self.split(byte)?,
            Delimiter::Auto | Delimiter::Whitespace => {
                let text = self.lines.text();
                split_at_blanks(text, &mut self.fields);
                self.check_plain()?;
                if self.syntax == Syntax::Dimacs && text.starts_with("a ") {
                    self.fields.remove(0);
                }
            }
        }
        if self.width == 0 {
            self.width = self.fields.len();
        }
        Ok(true)
    }

    fn split(&mut self, delimiter: u8) -> Result<(), ReadError> {
        let split = split_at(self.lines.text(), delimiter, &mut self.fields);
        let Err(why) = split else { return Ok(()) };
        self.fields.clear();
        match why {
            Unsplit::Quote => self.read_quoted(delimiter),
            Unsplit::CarriageReturn => Err(self.fault(RowError::CarriageReturn)),
        }
    }

    /// Refuses a line whose delimiters are blanks if it would be misread: if it has a carriage return, or a
    /// quote before a field.
    fn check_plain(&self) -> Result<(), ReadError> {
        let text = self.lines.text();
        match memchr::memchr2(b'\r', b'"', text.as_bytes()) {
            None => Ok(()),
            Some(_) if self.lines.has_return() => Err(self.fault(RowError::CarriageReturn)),
            Some(_) => match self.fields.iter().map(|f| f.of(text)).find(|field| field.starts_with('"')) {
                Some(field) => Err(self.fault(RowError::QuoteBetweenBlanks { text: shorten(field) })),
                None => Ok(()),
            },
        }
    }

    /// Returns the error for a fault of the present line.
    fn fault(&self, reason: RowError) -> ReadError {
        ReadError::row(self.lines.path(), self.lines.line(), reason)
    }

    /// Skips a line that is no data, and counts it if it is a comment.
    fn pass(&mut self) -> Result<(), ReadError> {
        let text = self.lines.text();
        let Some(start) = text.chars().next().filter(|_| !text.trim_ascii().is_empty()) else {
            return Ok(());
        };
        if self.syntax == Syntax::Dimacs && start == 'p' {
            // The fields are `p`, the kind of problem, vertices, arcs.
            let arcs = text.split_ascii_whitespace().nth(3).and_then(|arcs| arcs.parse().ok());
            self.arcs = self.arcs.or(arcs);
            return Ok(());
        }
        if self.lines.has_return() {
            return Err(self.fault(RowError::CarriageReturn));
        }
        if let (Comment::Doubted, Delimiter::Byte(byte)) = (self.comment, self.delimiter) {
            let fields = 1 + memchr::memchr_iter(byte, text.as_bytes()).count();
            if fields == self.width && self.syntax == Syntax::Rows {
                return Err(self.fault(RowError::CommentOrRow { start, fields }));
            }
        }
        self.comments += 1;
        Ok(())
    }

    fn is_data(&self) -> bool {
        let text = self.lines.text();
        match self.syntax {
            Syntax::Rows if self.exact => true,
            Syntax::Rows => !(self.is_comment(text) || text.trim_ascii().is_empty()),
            Syntax::Dimacs => !(text.starts_with(['c', 'p']) || text.trim_ascii().is_empty()),
            // The banner looks like a comment, but is data.
            Syntax::MatrixMarket => self.lines.line() == self.skip_lines + 1 || !is_comment(text),
        }
    }

    fn is_comment(&self, text: &str) -> bool {
        match self.comment {
            Comment::Usual | Comment::Doubted => text.starts_with(['#', '%']),
            Comment::Byte(byte) => text.as_bytes().first() == Some(&byte),
            Comment::None => false,
        }
    }

    fn settle_delimiter(&mut self) -> Delimiter {
        if self.delimiter == Delimiter::Auto {
            let text = self.lines.text().as_bytes();
            let found = [b'\t', b',', b';'].into_iter().find(|b| text.contains(b));
            self.delimiter = found.map_or(Delimiter::Whitespace, Delimiter::Byte);
        }
        self.delimiter
    }

    /// Reads the record that begins with the present line, with all further lines within its quotes.
    fn read_quoted(&mut self, delimiter: u8) -> Result<(), ReadError> {
        let (exact, limit) = (self.exact, self.lines.limit());
        let unquoter = self.unquoter.get_or_insert_with(|| Box::new(Unquoter::new(delimiter, exact)));
        unquoter.begin();
        let mut bytes = 0;
        // If a field does not close, the beginning of the next record is unknown: nothing after it can be
        // read.
        let lost = loop {
            bytes += self.lines.with_end().len();
            if bytes > limit + 2 {
                break RowError::Unclosed { limit };
            }
            if unquoter.feed(self.lines.with_end(), &mut self.fields) {
                unquoter.text_into(&mut self.unquoted);
                self.is_unquoted = true;
                let fault = unquoter.fault.take();
                return fault.map_or(Ok(()), |why| Err(ReadError::row(self.lines.path(), self.line, why)));
            }
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => break RowError::Unclosed { limit },
                Err(ReadError::Row { reason, .. }) => break reason,
                Err(other) => return Err(other),
            }
        };
        self.ended = true;
        self.fields.clear();
        Err(ReadError::Record { path: self.lines.path().to_owned(), line: self.line, reason: lost })
    }
}

/// The state that undoes the quotes of a record, line by line.
struct Unquoter {
    reader: csv_core::Reader,
    delimiter: u8,
    /// True if blanks before a quote belong to the field.
    exact: bool,
    /// The text so far, then room for more.
    out: Vec<u8>,
    used: usize,
    field: Begun,
    /// The fault of the record.
    fault: Option<RowError>,
}

/// The field that is being read.
#[derive(Default)]
struct Begun {
    /// The beginning of its text.
    start: usize,
    /// Its first byte in the file.
    first: Option<u8>,
    /// The number of its bytes in the file, including the delimiter or line break behind it.
    bytes: usize,
}

impl Unquoter {
    fn new(delimiter: u8, exact: bool) -> Unquoter {
        let mut reader =
            csv_core::ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(b'\n')).build();
        // This reader drops a byte order mark at the beginning of its input. So its first input is line
        // feeds.
        let _ = reader.read_field(b"\n\n\n", &mut [0; 4]);
        Unquoter { reader, delimiter, exact, out: Vec::new(), used: 0, field: Begun::default(), fault: None }
    }

    fn begin(&mut self) {
        self.used = 0;
        self.field = Begun::default();
        self.fault = None;
    }

    /// Reads the next line of the record; true if the record ends with it.
    fn feed(&mut self, line: &str, fields: &mut Vec<Field>) -> bool {
        if line.ends_with('\n') {
            return self.feed_bytes(line.as_bytes(), fields);
        }
        // The last line of the file may lack its line feed, and without one the reader waits for more.
        self.feed_bytes(format!("{line}\n").as_bytes(), fields)
    }

    fn feed_bytes(&mut self, mut input: &[u8], fields: &mut Vec<Field>) -> bool {
        // Undoing quotes makes no text longer. The reader treats an empty input as the end of the file.
        if self.out.len() < self.used + input.len() + 1 {
            self.out.resize(self.used + input.len() + 1, 0);
        }
        while !input.is_empty() {
            input = &input[self.blanks(input)..];
            let (result, read, written) = self.reader.read_field(input, &mut self.out[self.used..]);
            self.field.first = self.field.first.or_else(|| input.first().copied().filter(|_| read > 0));
            self.field.bytes += read;
            self.used += written;
            match result {
                ReadFieldResult::Field { record_end } => {
                    self.end_field(&input[..read], record_end, fields);
                    if record_end {
                        return true;
                    }
                    input = &input[read..];
                }
                ReadFieldResult::OutputFull => {
                    self.out.resize(self.out.len() + input.len() + 1, 0);
                    input = &input[read..];
                }
                ReadFieldResult::InputEmpty => return false,
                ReadFieldResult::End => return true,
            }
        }
        false
    }

    /// Returns the number of blanks before the quote of the field that begins here, like in `a, "b"`: they do
    /// not belong to the field.
    fn blanks(&self, input: &[u8]) -> usize {
        if self.exact || self.field.bytes > 0 {
            return 0;
        }
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t') && **byte != self.delimiter;
        let blanks = input.iter().take_while(is_blank).count();
        if input.get(blanks) == Some(&b'"') { blanks } else { 0 }
    }

    /// Ends the field under construction with `piece`, and appends it to `fields`. The last byte of `piece`
    /// is the delimiter or the line break.
    fn end_field(&mut self, piece: &[u8], record_end: bool, fields: &mut Vec<Field>) {
        let field = std::mem::take(&mut self.field);
        let mut piece = &piece[..piece.len().saturating_sub(1)];
        let mut bytes = field.bytes - 1;
        if let (true, [rest @ .., b'\r']) = (record_end, piece) {
            (piece, bytes, self.used) = (rest, bytes - 1, self.used.saturating_sub(1).max(field.start));
        }
        let text = &self.out[field.start..self.used];
        let quoted = field.first == Some(b'"');
        if quoted {
            // The reader accepts text behind a closing quote; here that is an error.
            let doubled = memchr::memchr_iter(b'"', text).count();
            if piece.last() != Some(&b'"') || bytes != text.len() + 2 + doubled {
                self.fault = Some(RowError::Quote);
            }
        } else if memchr::memchr(b'\r', text).is_some() {
            self.fault = self.fault.take().or(Some(RowError::CarriageReturn));
        }
        fields.push(Field::new(field.start, self.used, quoted));
        self.field.start = self.used;
    }

    /// Writes the text of the record to `text`: bytes of lines that are UTF-8, without some ASCII characters,
    /// are UTF-8.
    fn text_into(&self, text: &mut String) {
        text.clear();
        text.push_str(&String::from_utf8_lossy(&self.out[..self.used]));
    }
}
