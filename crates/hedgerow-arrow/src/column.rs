//! Columns of property values while a batch is made.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, LargeBinaryBuilder, LargeStringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_schema::{DataType, Field, TimeUnit};
use hedgerow::{Property, PropertyId, PropertyType, ValueRef};

/// The zone of times: a store has microseconds since 1970 in this zone.
const ZONE: &str = "UTC";

/// Returns the Arrow type of a property.
pub(crate) fn type_of(kind: PropertyType) -> DataType {
    match kind {
        PropertyType::Bool => DataType::Boolean,
        PropertyType::I64 => DataType::Int64,
        PropertyType::F64 => DataType::Float64,
        PropertyType::Utf8 => DataType::LargeUtf8,
        PropertyType::Bytes => DataType::LargeBinary,
        PropertyType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some(ZONE.into())),
    }
}

/// Returns the field of a property, with the name `NAME:TYPE` if a column of the table has its name.
pub(crate) fn field_of(property: &Property, others: &[Field]) -> Field {
    let kind = property.property_type();
    let is_taken = others.iter().any(|other| other.name() == &**property.name());
    let name = if is_taken { format!("{}:{kind}", property.name()) } else { property.name().to_string() };
    Field::new(name, type_of(kind), true)
}

/// The values of a property for the rows of a batch.
pub(crate) struct PropertyColumn {
    pub(crate) id: PropertyId,
    values: Values,
}

enum Values {
    Bool(BooleanBuilder),
    I64(Int64Builder),
    F64(Float64Builder),
    Utf8(LargeStringBuilder),
    Bytes(LargeBinaryBuilder),
    Timestamp(TimestampMicrosecondBuilder),
}

impl PropertyColumn {
    pub(crate) fn new(property: &Property) -> PropertyColumn {
        let values = match property.property_type() {
            PropertyType::Bool => Values::Bool(BooleanBuilder::new()),
            PropertyType::I64 => Values::I64(Int64Builder::new()),
            PropertyType::F64 => Values::F64(Float64Builder::new()),
            PropertyType::Utf8 => Values::Utf8(LargeStringBuilder::new()),
            PropertyType::Bytes => Values::Bytes(LargeBinaryBuilder::new()),
            PropertyType::Timestamp => Values::Timestamp(TimestampMicrosecondBuilder::new()),
        };
        PropertyColumn { id: property.id(), values }
    }

    /// Adds a value; returns its bytes, if their number varies. A value of another type than the property's
    /// would be a fault of the store, which checks the types of all values that it writes and loads.
    pub(crate) fn push(&mut self, value: ValueRef<'_>) -> usize {
        match (&mut self.values, value) {
            (Values::Bool(to), ValueRef::Bool(value)) => to.append_value(value),
            (Values::I64(to), ValueRef::I64(value)) => to.append_value(value),
            (Values::F64(to), ValueRef::F64(value)) => to.append_value(value),
            (Values::Timestamp(to), ValueRef::Timestamp(value)) => to.append_value(value),
            (Values::Utf8(to), ValueRef::Utf8(value)) => {
                to.append_value(value);
                return value.len();
            }
            (Values::Bytes(to), ValueRef::Bytes(value)) => {
                to.append_value(value);
                return value.len();
            }
            (Values::Bool(to), _) => to.append_null(),
            (Values::I64(to), _) => to.append_null(),
            (Values::F64(to), _) => to.append_null(),
            (Values::Utf8(to), _) => to.append_null(),
            (Values::Bytes(to), _) => to.append_null(),
            (Values::Timestamp(to), _) => to.append_null(),
        }
        0
    }

    /// Returns the values, and begins anew.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match &mut self.values {
            Values::Bool(from) => Arc::new(from.finish()),
            Values::I64(from) => Arc::new(from.finish()),
            Values::F64(from) => Arc::new(from.finish()),
            Values::Utf8(from) => Arc::new(from.finish()),
            Values::Bytes(from) => Arc::new(from.finish()),
            Values::Timestamp(from) => Arc::new(from.finish().with_timezone(ZONE)),
        }
    }
}
