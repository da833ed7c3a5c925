//! Splitting a line without quotes into its fields, without allocation.

/// A field's place in the text of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    start: u32,
    end: u32,
    /// True if the field was in quotes, which are not part of it.
    pub(crate) quoted: bool,
}

impl Field {
    /// Makes a place. Records are bounded by [`MAX_LINE_BYTES`](super::MAX_LINE_BYTES), far below 2^32.
    pub(crate) fn new(start: usize, end: usize, quoted: bool) -> Field {
        Field { start: start as u32, end: end as u32, quoted }
    }

    /// Returns the text of the field in `text`.
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Adds the fields between blanks and tabs.
pub(crate) fn split_at_blanks(line: &str, fields: &mut Vec<Field>) {
    let start = line.as_ptr() as usize;
    fields.extend(line.split_ascii_whitespace().map(|field| {
        let from = field.as_ptr() as usize - start;
        Field::new(from, from + field.len(), false)
    }));
}

/// A reason why a line cannot be split in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsplit {
    /// The line has a quote.
    Quote,
    /// The line has a carriage return before any quote.
    CarriageReturn,
}

/// Adds the fields between `delimiter`s. After an error the caller clears the list.
pub(crate) fn split_at(line: &str, delimiter: u8, fields: &mut Vec<Field>) -> Result<(), Unsplit> {
    let bytes = line.as_bytes();
    let mut start = 0;
    for at in memchr::memchr3_iter(delimiter, b'"', b'\r', bytes) {
        match bytes[at] {
            b'"' => return Err(Unsplit::Quote),
            b'\r' => return Err(Unsplit::CarriageReturn),
            _ => {}
        }
        fields.push(Field::new(start, at, false));
        start = at + 1;
    }
    fields.push(Field::new(start, bytes.len(), false));
    Ok(())
}
