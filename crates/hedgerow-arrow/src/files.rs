//! Files of Parquet and of Arrow's IPC format, read and written batch by batch.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
pub use arrow_array::RecordBatchReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::properties::WriterProperties;

use crate::{BATCH_BYTES, BATCH_ROWS, Error};
use ipc::IpcReader;

mod ipc;

/// The rows of a row group, and the bytes in memory from which on a row group ends.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 1 << 25;

/// The format of a file of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Parquet.
    Parquet,
    /// Arrow's IPC format for files, also called Feather 2.
    Arrow,
}

impl FileFormat {
    /// Returns the format that the first bytes of a file show; `None` for another format.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn of(file: &mut File) -> std::io::Result<Option<FileFormat>> {
        let mut first = Vec::new();
        file.rewind()?;
        Read::by_ref(file).take(6).read_to_end(&mut first)?;
        file.rewind()?;
        Ok(match &first[..] {
            [b'P', b'A', b'R', b'1', ..] => Some(FileFormat::Parquet),
            b"ARROW1" => Some(FileFormat::Arrow),
            _ => None,
        })
    }
}

thread_local!(static READS: Cell<bool> = const { Cell::new(false) });

/// True while this thread is in a library that reads a file of a table. These libraries panic at some damaged
/// files; such a panic becomes an [`Error`], so a hook for panics need not show it.
pub fn is_reading() -> bool {
    READS.get()
}

/// Calls `read`, and makes an error of its panic: the libraries check many properties of a file by asserts.
fn guarded<R>(path: &Path, read: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    READS.set(true);
    // A reader that panicked is not used again: it is in the error state, or was not opened.
    let done = catch_unwind(AssertUnwindSafe(read));
    READS.set(false);
    done.unwrap_or_else(|_| Err(damaged(path, "damaged: its content contradicts itself")))
}

fn damaged(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::Table(format!("{}: {why}", path.display()))
}

/// Returns the columns with times of 96 bits as microseconds, if there are such columns: as nanoseconds,
/// which the library makes of them, times outside the years 1677 to 2262 would become other times.
fn with_micros(read: &ArrowReaderMetadata) -> Option<SchemaRef> {
    let columns = read.metadata().file_metadata().schema_descr();
    let is_96 = |at: usize| at < columns.num_columns() && columns.column(at).physical_type() == Type::INT96;
    let fields = read.schema().fields();
    // In a table without nested columns, fields and columns are the same.
    if columns.num_columns() != fields.len() || !(0..fields.len()).any(is_96) {
        return None;
    }
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    let field = |(at, field): (usize, &Arc<Field>)| match is_96(at) {
        true => Arc::new(field.as_ref().clone().with_data_type(micros.clone())),
        false => field.clone(),
    };
    let fields: Vec<Arc<Field>> = fields.iter().enumerate().map(field).collect();
    Some(Arc::new(Schema::new(fields)))
}

/// Returns the rows of a file, and the bytes of a row in the row group with the largest rows, at least 1.
fn sizes(metadata: &ParquetMetaData) -> Result<(u64, u64), &'static str> {
    let (mut rows, mut most) = (0_u64, 1);
    for group in metadata.row_groups() {
        let sizes = u64::try_from(group.num_rows()).ok().zip(u64::try_from(group.total_byte_size()).ok());
        let (of_group, bytes) = sizes.ok_or("a negative size")?;
        rows = rows.saturating_add(of_group);
        most = most.max(bytes / of_group.max(1));
    }
    match u64::try_from(metadata.file_metadata().num_rows()) {
        Ok(stated) if stated == rows => Ok((rows, most)),
        _ => Err("its row groups have other rows than its footer states"),
    }
}

/// A file of a table that is read batch by batch.
pub struct TableReader {
    path: std::path::PathBuf,
    schema: SchemaRef,
    rows: Option<u64>,
    read: u64,
    /// `None` after an error.
    batches: Option<Batches>,
}

enum Batches {
    Parquet(Box<ParquetRecordBatchReader>),
    Arrow(Box<IpcReader>),
}

impl TableReader {
    /// Opens a file of the format that its first bytes show; messages call it `path`. Reads the schema.
    /// Parquet: memory holds the pages of one row group of a column, decompressed, and a batch; Arrow: a
    /// batch of the file.
    ///
    /// # Errors
    /// [`Error::Table`], with the path: the errors of the system; another format; damage.
    pub fn open(mut file: File, path: &Path) -> Result<TableReader, Error> {
        let format = FileFormat::of(&mut file).map_err(|why| damaged(path, why))?;
        guarded(path, || TableReader::of_format(file, format, path))
    }

    fn of_format(file: File, format: Option<FileFormat>, path: &Path) -> Result<TableReader, Error> {
        let (schema, rows, batches) = match format {
            Some(FileFormat::Parquet) => {
                let len = file.metadata().map_err(|why| damaged(path, why))?.len();
                let options = ArrowReaderOptions::new();
                let mut read = ArrowReaderMetadata::load(&file, options.clone())
                    .map_err(|why: ParquetError| damaged(path, why))?;
                if let Some(schema) = with_micros(&read) {
                    read = ArrowReaderMetadata::try_new(read.metadata().clone(), options.with_schema(schema))
                        .map_err(|why| damaged(path, why))?;
                }
                let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, read);
                // The library takes memory for a chunk before it reads it.
                let groups = builder.metadata().row_groups().iter();
                let ranges = groups.flat_map(|group| group.columns()).map(ColumnChunkMetaData::byte_range);
                if ranges.into_iter().any(|(from, bytes)| from.checked_add(bytes).is_none_or(|end| end > len))
                {
                    return Err(damaged(path, "a column is outside of the file"));
                }
                let (rows, bytes) = sizes(builder.metadata()).map_err(|why| damaged(path, why))?;
                let schema = builder.schema().clone();
                let most = (BATCH_BYTES as u64 / bytes).clamp(1, BATCH_ROWS as u64);
                let reader = builder.with_batch_size(most as usize).build();
                (schema, Some(rows), Batches::Parquet(Box::new(reader.map_err(|why| damaged(path, why))?)))
            }
            Some(FileFormat::Arrow) => {
                let reader = IpcReader::open(file).map_err(|why| damaged(path, why))?;
                (reader.schema.clone(), None, Batches::Arrow(Box::new(reader)))
            }
            None => return Err(damaged(path, "neither Parquet nor an Arrow file")),
        };
        Ok(TableReader { path: path.to_owned(), schema, rows, read: 0, batches: Some(batches) })
    }

    /// Returns the columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows, if the file states it.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Reads the next batch; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Table`], with the path: the errors of the system; damage. After an error the file ends.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        // After an error the file ends: the reader may be in any state.
        let Some(mut batches) = self.batches.take() else { return Ok(None) };
        let next = guarded(&self.path, || match &mut batches {
            Batches::Parquet(reader) => reader.next().transpose().map_err(|why| damaged(&self.path, why)),
            Batches::Arrow(reader) => reader.next_batch().map_err(|why| damaged(&self.path, why)),
        })?;
        self.read += next.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        match self.rows.filter(|rows| next.is_none() && *rows != self.read) {
            Some(rows) => {
                Err(damaged(&self.path, format_args!("{} rows, but its footer states {rows}", self.read)))
            }
            None => {
                self.batches = Some(batches);
                Ok(next)
            }
        }
    }
}

/// A table that is written batch by batch. Without [`finish`](Self::finish) the file cannot be read.
pub struct TableWriter<W: Write + Send>(Writer<W>);

enum Writer<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table in `to`. Parquet is compressed with zstd and has row groups of 2^20 rows, or fewer if
    /// they take 32 MiB in memory.
    ///
    /// # Errors
    /// [`Error::Table`] if `to` cannot be written, or the format has no such column.
    pub fn new(to: W, format: FileFormat, schema: &SchemaRef) -> Result<TableWriter<W>, Error> {
        let failed = |why: &dyn std::fmt::Display| Error::Table(why.to_string());
        Ok(TableWriter(match format {
            FileFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(GROUP_ROWS))
                    .build();
                let writer = ArrowWriter::try_new(to, schema.clone(), Some(properties));
                Writer::Parquet(Box::new(writer.map_err(|why| failed(&why))?))
            }
            FileFormat::Arrow => {
                let writer = FileWriter::try_new(to, schema);
                Writer::Arrow(Box::new(writer.map_err(|why| failed(&why))?))
            }
        }))
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        match &mut self.0 {
            Writer::Parquet(writer) => {
                writer.write(batch).map_err(|why| Error::Table(why.to_string()))?;
                if writer.in_progress_size() > GROUP_BYTES {
                    writer.flush().map_err(|why| Error::Table(why.to_string()))?;
                }
                Ok(())
            }
            Writer::Arrow(writer) => Ok(writer.write(batch)?),
        }
    }

    /// Writes the end of the table; returns where it was written.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn finish(self) -> Result<W, Error> {
        match self.0 {
            Writer::Parquet(writer) => writer.into_inner().map_err(|why| Error::Table(why.to_string())),
            Writer::Arrow(writer) => {
                let mut writer = *writer;
                writer.finish()?;
                Ok(writer.into_inner()?)
            }
        }
    }
}
