//! Matrix Market files in coordinate format: a banner, comments, a size line, then an entry a line.
//!
//! An entry is an edge from its row to its column. Ids in the file begin at 1, and are not changed. A
//! symmetric file has each pair of entries once; [`EdgeFormat::both_ways`](super::EdgeFormat) returns both.

use super::error::shorten;
use super::matrix_error::MatrixError;
use super::{Lines, ReadError, RowError};

/// The first line of a Matrix Market file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixMarket {
    /// The values of entries.
    pub values: MatrixValues,
    /// The entries that the file leaves out.
    pub symmetry: Symmetry,
}

/// The values of the entries of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixValues {
    /// Numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// No values: an entry is present or absent.
    Pattern,
}

/// The entries that a file leaves out, since others imply them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// No entries.
    General,
    /// Entry (j, i) for each entry (i, j).
    Symmetric,
    /// Entry (j, i) for each entry (i, j), with the opposite sign.
    SkewSymmetric,
}

/// The size line of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixSizes {
    /// The number of rows.
    pub rows: u64,
    /// The number of columns.
    pub columns: u64,
    /// The number of entries in the file.
    pub entries: u64,
}

impl MatrixMarket {
    /// True if `line` begins like the first line of a Matrix Market file; some publishers write one `%`.
    pub fn is_banner(line: &str) -> bool {
        let word = line.split_ascii_whitespace().next().unwrap_or_default();
        let name = word.strip_prefix('%').map(|rest| rest.strip_prefix('%').unwrap_or(rest));
        name.is_some_and(|name| name.eq_ignore_ascii_case("MatrixMarket"))
    }

    /// Reads the first line. Words may be in any case.
    ///
    /// # Errors
    /// [`MatrixError::Banner`]; [`MatrixError::Unsupported`] for arrays, complex values and Hermitian
    /// matrices.
    pub fn of_banner(line: &str) -> Result<MatrixMarket, MatrixError> {
        let banner = || MatrixError::Banner { text: shorten(line) };
        let words: Vec<String> = line.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        let [_, object, form, values, symmetry] = &words[..] else { return Err(banner()) };
        let refused =
            |what, text: &str, instead| Err(MatrixError::Unsupported { what, text: shorten(text), instead });
        if !MatrixMarket::is_banner(line) || object != "matrix" {
            return Err(banner());
        }
        match form.as_str() {
            "coordinate" => {}
            "array" => {
                let instead = "an array has a value for every pair of vertices; write coordinate";
                return refused("format", form, instead);
            }
            _ => return Err(banner()),
        }
        let values = match values.as_str() {
            "real" | "double" => MatrixValues::Real,
            "integer" | "unsigned-integer" => MatrixValues::Integer,
            "pattern" => MatrixValues::Pattern,
            "complex" => {
                return refused("field", values, "a weight is one number; write real, integer or pattern");
            }
            _ => return Err(banner()),
        };
        let symmetry = match symmetry.as_str() {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" if values == MatrixValues::Pattern => {
                return refused("symmetry", symmetry, "a pattern has no signs; write symmetric");
            }
            "skew-symmetric" => Symmetry::SkewSymmetric,
            "hermitian" => {
                return refused("symmetry", symmetry, "write general, symmetric or skew-symmetric");
            }
            _ => return Err(banner()),
        };
        Ok(MatrixMarket { values, symmetry })
    }

    /// Reads on to the size line, if the first of `lines` behind `skip_lines` is a banner; else returns
    /// nothing.
    ///
    /// # Errors
    /// [`ReadError::Matrix`] for a malformed banner or size line, and the errors of reading.
    pub fn look(
        lines: &mut Lines,
        skip_lines: u64,
    ) -> Result<Option<(MatrixMarket, MatrixSizes)>, ReadError> {
        let mut banner = None;
        loop {
            match lines.advance() {
                Ok(true) => {}
                Ok(false) if banner.is_none() => return Ok(None),
                Ok(false) => return Err(fault(lines, MatrixError::NoSizes)),
                Err(error) if error.is_row() => {}
                Err(error) => return Err(error),
            }
            let text = lines.text();
            match banner {
                _ if lines.line() <= skip_lines => {}
                None if !MatrixMarket::is_banner(text) => return Ok(None),
                None => banner = Some(MatrixMarket::of_banner(text).map_err(|why| fault(lines, why))?),
                Some(_) if is_comment(text) => {}
                Some(banner) => {
                    let sizes = MatrixSizes::of_line(text).map_err(|why| fault(lines, why))?;
                    return Ok(Some((banner, sizes)));
                }
            }
        }
    }
}

fn fault(lines: &Lines, reason: MatrixError) -> ReadError {
    ReadError::Matrix { path: lines.path().to_owned(), line: lines.line(), reason }
}

/// True if a line after the banner is empty or a comment.
pub(super) fn is_comment(line: &str) -> bool {
    line.starts_with('%') || line.trim_ascii().is_empty()
}

impl MatrixSizes {
    fn of_line(line: &str) -> Result<MatrixSizes, MatrixError> {
        let numbers: Option<Vec<u64>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[rows, columns, entries]) => Ok(MatrixSizes { rows, columns, entries }),
            _ => Err(MatrixError::Sizes { text: shorten(line) }),
        }
    }
}

/// The state of a reader of a matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    banner: MatrixMarket,
    sizes: Option<MatrixSizes>,
    /// The number of entries read, including malformed ones.
    entries: u64,
}

impl Matrix {
    /// Begins a matrix with the line `banner`.
    pub(super) fn begin(banner: &str) -> Result<Matrix, MatrixError> {
        Ok(Matrix { banner: MatrixMarket::of_banner(banner)?, sizes: None, entries: 0 })
    }

    /// Parses the size line. `two_sets` permits rows and columns that are not the same vertices.
    pub(super) fn size(&mut self, line: &str, two_sets: bool) -> Result<(), MatrixError> {
        let sizes = MatrixSizes::of_line(line)?;
        let MatrixSizes { rows, columns, .. } = sizes;
        if rows != columns && self.banner.symmetry != Symmetry::General {
            return Err(MatrixError::NotSquare { rows, columns });
        }
        if rows != columns && !two_sets {
            return Err(MatrixError::Rectangular { rows, columns });
        }
        self.sizes = Some(sizes);
        Ok(())
    }

    /// Counts an entry, before it is checked.
    pub(super) fn count(&mut self) -> Result<(), MatrixError> {
        let Some(sizes) = self.sizes else { return Ok(()) };
        self.entries += 1;
        if self.entries > sizes.entries {
            return Err(MatrixError::Entries { expected: sizes.entries, found: self.entries });
        }
        Ok(())
    }

    /// Refuses a file with too few entries.
    pub(super) fn end(&self) -> Result<(), MatrixError> {
        match self.sizes {
            None => Err(MatrixError::NoSizes),
            Some(MatrixSizes { entries, .. }) if self.entries < entries => {
                Err(MatrixError::Entries { expected: entries, found: self.entries })
            }
            Some(_) => Ok(()),
        }
    }

    pub(super) fn has_values(&self) -> bool {
        self.banner.values != MatrixValues::Pattern
    }

    pub(super) fn symmetry(&self) -> Symmetry {
        self.banner.symmetry
    }

    /// Refuses an entry of another width, or outside the matrix.
    pub(super) fn check(&self, width: usize, row: &str, column: &str) -> Result<(), RowError> {
        let expected = if self.has_values() { 3 } else { 2 };
        if width != expected {
            return Err(MatrixError::Width { expected, found: width }.into());
        }
        let Some(sizes) = self.sizes else { return Ok(()) };
        let id = |what, text: &str, most| match text.parse::<u64>() {
            Ok(id) if (1..=most).contains(&id) => Ok(id),
            _ => Err(MatrixError::OutOfRange { what, text: shorten(text), most }),
        };
        let (row, column) = (id("row", row, sizes.rows)?, id("column", column, sizes.columns)?);
        if row == column && self.symmetry() == Symmetry::SkewSymmetric {
            return Err(MatrixError::Diagonal.into());
        }
        Ok(())
    }
}
