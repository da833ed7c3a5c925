//! Streams with the types that their consumer wants, where the conversion loses nothing.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3_arrow::PySchema;

/// Returns the stream with the types of the schema that `wanted` is the capsule of. A column keeps its type
/// if the schema has no column of its name, or if the conversion could fail or lose something: the protocol
/// then leaves it to the consumer.
pub(crate) fn reader(
    reader: Box<dyn RecordBatchReader + Send>,
    wanted: &Bound<'_, PyAny>,
) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let wanted = PySchema::from_arrow_pycapsule(wanted.cast()?)?.into_inner();
    let schema = reader.schema();
    let named = |field: &Field| match wanted.fields().find(field.name()) {
        Some((_, wanted)) if is_lossless(field.data_type(), wanted.data_type()) => {
            field.clone().with_data_type(wanted.data_type().clone())
        }
        _ => field.clone(),
    };
    let fields: Vec<Field> = schema.fields().iter().map(|field| named(field)).collect();
    let cast = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    if cast == schema { Ok(reader) } else { Ok(Box::new(Cast { reader, schema: cast })) }
}

/// True if each value of the first type is a value of the second one.
fn is_lossless(from: &DataType, to: &DataType) -> bool {
    match from {
        DataType::LargeUtf8 => matches!(to, DataType::Utf8 | DataType::Utf8View),
        DataType::LargeBinary => matches!(to, DataType::Binary | DataType::BinaryView),
        DataType::UInt32 => matches!(to, DataType::UInt64 | DataType::Int64 | DataType::Float64),
        _ => false,
    }
}

struct Cast {
    reader: Box<dyn RecordBatchReader + Send>,
    schema: SchemaRef,
}

impl Iterator for Cast {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.reader.next()?.and_then(|batch| {
            // Texts of more than 2 GiB do not fit the offsets of `Utf8`: this is an error, not a null.
            let options = CastOptions { safe: false, ..CastOptions::default() };
            let fields = self.schema.fields().iter();
            let columns = batch.columns().iter().zip(fields);
            let columns = columns.map(|(column, to)| cast_with_options(column, to.data_type(), &options));
            RecordBatch::try_new(self.schema.clone(), columns.collect::<Result<_, _>>()?)
        }))
    }
}

impl RecordBatchReader for Cast {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
