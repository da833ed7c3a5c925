//! Expressions of PyArrow. PyArrow writes an expression as an Arrow file: its literals are columns, and its
//! operations are pairs in the metadata of the schema, whose keys repeat. PyArrow's own reader keeps one pair
//! of each key.

use pyo3::prelude::*;

use crate::error::DataError;

/// The bytes of a file after its footer: the footer's length, and the magic.
const TRAILER: usize = 10;

/// Returns the pairs in the metadata of an Arrow file's schema, in order.
#[pyfunction(name = "_schema_pairs")]
pub(crate) fn schema_pairs(file: &[u8]) -> PyResult<Vec<(String, String)>> {
    let wrong = || DataError::new_err("the bytes are no Arrow file");
    let (rest, trailer) = file.split_last_chunk::<TRAILER>().ok_or_else(wrong)?;
    let len = arrow_ipc::reader::read_footer_length(*trailer).map_err(|_| wrong())?;
    let footer = rest.get(rest.len().checked_sub(len).ok_or_else(wrong)?..).ok_or_else(wrong)?;
    let footer = arrow_ipc::root_as_footer(footer).map_err(|_| wrong())?;
    let pairs = footer.schema().and_then(|schema| schema.custom_metadata()).into_iter().flatten();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Ok(pairs.map(|pair| (text(pair.key()), text(pair.value()))).collect())
}
