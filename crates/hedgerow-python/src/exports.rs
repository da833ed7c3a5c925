//! Exports of a snapshot into a directory.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_export::{Error, ExportFormat, ExportOptions};
use hedgerow_kernels::Cancel;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{DataError, DiskFullError, OperationalError, raise};
use crate::key::count;
use crate::pool::{On, cancellable, telling};
use crate::results::make;
use crate::snapshot::Snapshot;

fn format_of(name: &str) -> PyResult<ExportFormat> {
    match name {
        "csv" => Ok(ExportFormat::Csv),
        "parquet" => Ok(ExportFormat::Parquet),
        "arrow" => Ok(ExportFormat::Arrow),
        other => {
            let message = format!("format must be \"parquet\", \"arrow\" or \"csv\", found {other:?}");
            Err(DataError::new_err(message))
        }
    }
}

fn raise_export(error: Error) -> PyErr {
    let shown = error.to_string();
    match error {
        Error::Store(error) => raise(error),
        Error::Write { source, .. } if source.kind() == ErrorKind::StorageFull => {
            DiskFullError::new_err(shown)
        }
        Error::Write { .. } => OperationalError::new_err(shown),
        _ => DataError::new_err(shown),
    }
}

#[pymethods]
impl Snapshot {
    /// Write all vertices and edges with their properties into a directory: a table for each kind and each
    /// label, and ``schema.json``, which describes the store.
    ///
    /// Commits continue meanwhile, and change nothing in the files. Ctrl-C ends the export. The
    /// command ``hedgerow load STORE DIR`` loads the directory into an equal store. If the export fails, the
    /// directory is as before.
    ///
    /// Parameters
    /// ----------
    /// path : str or path
    ///     A directory that does not exist or is empty.
    /// format : {"parquet", "arrow", "csv"}
    ///     The form of the files.
    /// partitions : int
    ///     The maximal number of files for each table of Parquet or Arrow. ``Snapshot.partitions`` sets the
    ///     ranges of vertices, and threads write the files in parallel. Programs such as Spark read them side
    ///     by side. More than 1 gives each file the number of its part: ``edges.0.parquet``,
    ///     ``edges-1-pays.0.parquet``.
    /// progress : callable, optional
    ///     A function that is called from time to time with the number of rows written, of vertices and
    ///     edges, and the number of all rows; the last call has the same number twice. An exception that it
    ///     raises ends the export.
    ///
    /// Returns
    /// -------
    /// Exported
    ///
    /// Raises
    /// ------
    /// DataError
    ///     The directory is not empty or is inside the store, or there is no such format.
    /// OperationalError
    ///     A file cannot be written.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow, os, tempfile
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1], [2, 3])
    /// 2
    /// >>> exported = db.snapshot().export(os.path.join(tempfile.mkdtemp(), "tables"))
    /// >>> exported.vertices, exported.edges, [os.path.basename(file) for file in exported.files]
    /// (3, 2, ['vertices.parquet', 'edges.parquet', 'schema.json'])
    #[pyo3(signature = (path, *, format="parquet", partitions=None, progress=None), text_signature = "($self, path, *, format='parquet', partitions=1, progress=None)")]
    fn export(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: &str,
        partitions: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let format = format_of(format)?;
        let partitions = partitions.map_or(Ok(1), |object| count("partitions", object, 1))? as usize;
        let (reading, store) = (self.reading()?, self.path.clone());
        let written = Arc::new(AtomicU64::new(0));
        let (counted, snapshot) = (written.clone(), reading.snapshot.clone());
        let work = move |cancel: &Cancel| {
            let until = || cancel.poll();
            let count = |rows| {
                counted.fetch_add(rows, Relaxed);
            };
            let options = ExportOptions::new(format).partitions(partitions).progress(&count);
            let options = options.store(store.as_deref()).until(&until);
            hedgerow_export::export(&reading.snapshot, &path, &options)
        };
        let rows = match progress {
            Some(_) => py.detach(|| Ok(snapshot.vertex_count() + snapshot.edge_count()?)).map_err(raise)?,
            None => 0,
        };
        drop(snapshot);
        let done = |_: &Cancel| (written.load(Relaxed), rows);
        let exported = match progress {
            Some(_) => telling(py, &self.handle, On::Pool, progress, done, work),
            None => cancellable(py, &self.handle, work),
        }?;
        let exported = exported.map_err(raise_export)?;
        let arguments = PyDict::new(py);
        arguments.set_item("vertices", exported.vertices)?;
        arguments.set_item("edges", exported.edges)?;
        let files: Vec<String> = exported.files.iter().map(|file| file.display().to_string()).collect();
        arguments.set_item("files", files)?;
        make(py, "Exported", &arguments)
    }
}
