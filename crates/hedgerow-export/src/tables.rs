//! Tables of edges and of vertices in files of Parquet and Arrow.

use hedgerow::{EdgeSelection, KindId, Label, Snapshot};
use hedgerow_arrow::files::{FileFormat, RecordBatchReader, TableWriter};
use hedgerow_arrow::{EdgeBatches, TableOptions, VertexBatches};

use crate::Error;
use crate::target::Target;

/// Writes edges of one label. Calls `next` at the beginning and after each batch, with the number of rows
/// since the last call. Returns the number of rows, and the target, which the caller finishes.
///
/// # Errors
/// Those of a read of the snapshot, and of a write; the error of `next`.
pub fn write_edges(
    snapshot: &Snapshot,
    label: &Label,
    options: &TableOptions,
    format: FileFormat,
    to: Target,
    next: &dyn Fn(u64) -> Result<(), Error>,
) -> Result<(u64, Target), Error> {
    write(EdgeBatches::new(snapshot, &EdgeSelection::of(label.id()), options)?, format, to, next)
}

/// Writes vertices of one kind, like [`write_edges`].
///
/// # Errors
/// Those of [`write_edges`].
pub fn write_vertices(
    snapshot: &Snapshot,
    kind: KindId,
    options: &TableOptions,
    format: FileFormat,
    to: Target,
    next: &dyn Fn(u64) -> Result<(), Error>,
) -> Result<(u64, Target), Error> {
    write(VertexBatches::new(snapshot, kind, options)?, format, to, next)
}

fn write(
    table: impl RecordBatchReader,
    format: FileFormat,
    to: Target,
    next: &dyn Fn(u64) -> Result<(), Error>,
) -> Result<(u64, Target), Error> {
    let (name, failure) = (to.name().to_owned(), to.failure());
    let failed = |error: hedgerow_arrow::Error| match (failure.take(), error) {
        (Some(source), _) => Error::Write { to: name.clone(), source },
        (None, hedgerow_arrow::Error::Table(why)) => {
            Error::Table(hedgerow_arrow::Error::Table(format!("writing {name}: {why}")))
        }
        (None, other) => other.into(),
    };
    let mut writer = TableWriter::new(to, format, &table.schema()).map_err(failed)?;
    let mut rows = 0;
    next(0)?;
    for batch in table {
        let batch = batch.map_err(hedgerow_arrow::Error::from)?;
        rows += batch.num_rows() as u64;
        writer.write(&batch).map_err(failed)?;
        next(batch.num_rows() as u64)?;
    }
    Ok((rows, writer.finish().map_err(failed)?))
}
