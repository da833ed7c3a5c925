//! Splitting a line into the fields that are wanted, without allocation.

use std::ops::Range;

use super::{Delimiter, RowError};

/// A field's place in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The bytes between delimiters or quotes.
    pub(crate) range: Range<usize>,
    /// Whether `""` inside stands for one quote.
    pub(crate) escaped: bool,
}

/// Calls `f` with the position and place of each field; returns their number.
pub(crate) fn split(
    line: &str,
    delimiter: Delimiter,
    mut f: impl FnMut(usize, Field),
) -> Result<usize, RowError> {
    match delimiter {
        Delimiter::Byte(byte) => split_at_byte(line.as_bytes(), byte, f),
        Delimiter::Auto | Delimiter::Whitespace => {
            let start = line.as_ptr() as usize;
            let mut count = 0;
            for field in line.split_ascii_whitespace() {
                let from = field.as_ptr() as usize - start;
                f(count, Field { range: from..from + field.len(), escaped: false });
                count += 1;
            }
            Ok(count)
        }
    }
}

fn split_at_byte(line: &[u8], delimiter: u8, mut f: impl FnMut(usize, Field)) -> Result<usize, RowError> {
    let (mut at, mut count) = (0, 0);
    loop {
        let (field, end) = match line.get(at) {
            Some(b'"') => quoted(line, at)?,
            _ => {
                let rest = line.get(at..).unwrap_or_default();
                let end = at + rest.iter().position(|&b| b == delimiter).unwrap_or(rest.len());
                (Field { range: at..end, escaped: false }, end)
            }
        };
        f(count, field);
        count += 1;
        match line.get(end) {
            None => return Ok(count),
            Some(&b) if b == delimiter => at = end + 1,
            Some(_) => return Err(RowError::Quote),
        }
    }
}

/// The field whose opening quote is at `at`, and the position after its closing quote.
fn quoted(line: &[u8], at: usize) -> Result<(Field, usize), RowError> {
    let mut end = at + 1;
    let mut escaped = false;
    loop {
        match (line.get(end), line.get(end + 1)) {
            (None, _) => return Err(RowError::Quote),
            (Some(b'"'), Some(b'"')) => {
                escaped = true;
                end += 2;
            }
            (Some(b'"'), _) => return Ok((Field { range: at + 1..end, escaped }, end + 1)),
            _ => end += 1,
        }
    }
}
