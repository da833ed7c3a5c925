//! Vertex lists and expected results: `ID` or `ID VALUE` a line.

use std::path::Path;
use std::str::FromStr;

use super::{Lines, ReadError, RowError};

/// Returns the ids of a vertex file: the first field of each line, followed by anything.
///
/// # Errors
/// [`ReadError`]; the first malformed row ends reading.
pub fn read_vertices(path: &Path) -> Result<Vec<u64>, ReadError> {
    let mut ids = Vec::new();
    for_each_row(path, |mut fields| {
        ids.push(number("vertex id", fields.next())?);
        Ok(())
    })?;
    Ok(ids)
}

/// Reads an expected result: `ID VALUE` a line. As values, `u64` and `i64` are exact, and `f64` reads
/// `infinity` too.
///
/// # Errors
/// [`ReadError`]; the first malformed row ends reading.
pub fn read_expected<T: FromStr>(path: &Path) -> Result<Vec<(u64, T)>, ReadError> {
    let mut results = Vec::new();
    for_each_row(path, |mut fields| {
        let id = number("vertex id", fields.next())?;
        results.push((id, number("value", fields.next())?));
        Ok(())
    })?;
    Ok(results)
}

fn for_each_row(
    path: &Path,
    mut f: impl FnMut(std::str::SplitAsciiWhitespace<'_>) -> Result<(), RowError>,
) -> Result<(), ReadError> {
    let mut lines = Lines::open(path)?;
    while lines.advance()? {
        let text = lines.text();
        if !(text.trim_ascii().is_empty() || text.starts_with('#')) {
            f(text.split_ascii_whitespace()).map_err(|reason| ReadError::row(path, lines.line(), reason))?;
        }
    }
    Ok(())
}

fn number<T: FromStr>(what: &'static str, text: Option<&str>) -> Result<T, RowError> {
    let text = text.ok_or(RowError::Empty { what })?;
    text.parse().map_err(|_| RowError::not_a_number(what, text))
}
