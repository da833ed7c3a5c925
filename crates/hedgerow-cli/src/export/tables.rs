//! Tables of edges and of vertices in files of Parquet and Arrow.

use hedgerow::{KindId, Label, Snapshot};
use hedgerow_arrow::files::{FileFormat, RecordBatchReader, TableWriter};
use hedgerow_arrow::{EdgeBatches, VertexBatches};

use crate::error::CliError;
use crate::target::Target;

/// Writes the edges of one label. Returns their number, and the target, which the caller finishes.
pub(super) fn write_edges(
    snapshot: &Snapshot,
    label: &Label,
    with_properties: bool,
    format: FileFormat,
    to: Target,
) -> Result<(u64, Target), CliError> {
    write(EdgeBatches::new(snapshot, label.id(), with_properties)?, format, to)
}

/// Writes the vertices of one kind, like [`write_edges`].
pub(super) fn write_vertices(
    snapshot: &Snapshot,
    kind: KindId,
    with_properties: bool,
    format: FileFormat,
    to: Target,
) -> Result<(u64, Target), CliError> {
    write(VertexBatches::new(snapshot, kind, with_properties)?, format, to)
}

fn write(table: impl RecordBatchReader, format: FileFormat, to: Target) -> Result<(u64, Target), CliError> {
    let (name, failure) = (to.name().to_owned(), to.failure());
    let failed = |error: hedgerow_arrow::Error| match (failure.take(), error) {
        (Some(source), _) => CliError::Write { to: name.clone(), source },
        (None, hedgerow_arrow::Error::Table(why)) => CliError::Failed(format!("writing {name}: {why}")),
        (None, other) => other.into(),
    };
    let mut writer = TableWriter::new(to, format, &table.schema()).map_err(failed)?;
    let mut rows = 0;
    for batch in table {
        let batch = batch.map_err(hedgerow_arrow::Error::from)?;
        rows += batch.num_rows() as u64;
        writer.write(&batch).map_err(failed)?;
    }
    Ok((rows, writer.finish().map_err(failed)?))
}
