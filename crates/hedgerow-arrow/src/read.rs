//! Columns of record batches as keys, ranks, weights and properties of a store.
//!
//! A value that does not fit is a fault of its row, which the caller reports or leaves out. A column whose
//! type does not fit is an error.

use std::collections::BTreeMap;

use arrow_array::Array;
pub use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

pub use arrow_array::RecordBatch;
pub use arrow_schema::Field;
use arrow_schema::{DataType, TimeUnit};
use hedgerow::{Column, KeyColumn, KeyKind, PropertyType, TextColumn, ValueRef};
use hedgerow_core::assemble::ColumnBuilder;

use crate::{Error, reserved};

/// The reason why a whole number is no float.
const INEXACT: &str = "has a number that a 64-bit float does not have exactly";

/// The rows of a batch with a value that does not fit, with the reason.
#[derive(Debug, Default)]
pub struct Faults(BTreeMap<usize, String>);

impl Faults {
    /// Returns the reason why a row does not fit, if it does not.
    pub fn of(&self, row: usize) -> Option<&str> {
        self.0.get(&row).map(String::as_str)
    }

    /// Returns the first row that does not fit, and the reason.
    pub fn first(&self) -> Option<(usize, &str)> {
        self.0.iter().next().map(|(row, why)| (*row, why.as_str()))
    }

    /// Notes that a row does not fit, unless a reason was noted before: the column `name` and `why`, which
    /// begins with a verb.
    pub fn add(&mut self, row: usize, name: &str, why: &str) {
        self.0.entry(row).or_insert_with(|| format!("column {name} {why}"));
    }
}

/// True if a column of this type may have keys of whole numbers, or ranks.
pub fn is_whole(data_type: &DataType) -> bool {
    property_type(data_type) == Some(PropertyType::I64)
}

/// True if a column of this type may have keys of text, or names.
pub fn is_text(data_type: &DataType) -> bool {
    property_type(data_type) == Some(PropertyType::Utf8)
}

/// Returns the type of the property that a column of this type becomes; `None` if there is none.
pub fn property_type(data_type: &DataType) -> Option<PropertyType> {
    use DataType::{
        Binary, BinaryView, Boolean, Dictionary, FixedSizeBinary, Float16, Float32, Float64, Int8, Int16,
        Int32, Int64, LargeBinary, LargeUtf8, Timestamp, UInt8, UInt16, UInt32, UInt64, Utf8, Utf8View,
    };
    Some(match data_type {
        Boolean => PropertyType::Bool,
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => PropertyType::I64,
        Float16 | Float32 | Float64 => PropertyType::F64,
        Utf8 | LargeUtf8 | Utf8View => PropertyType::Utf8,
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => PropertyType::Bytes,
        Timestamp(..) => PropertyType::Timestamp,
        Dictionary(_, values) => return property_type(values).filter(|kind| *kind == PropertyType::Utf8),
        _ => return None,
    })
}

/// Returns the name of the property that a column becomes: the column's name, or in the form `NAME:TYPE` the
/// part before the type, if `NAME` is [reserved] and `TYPE` is that of the column. Exports use that form.
pub fn property_name(field: &Field) -> &str {
    let stated = field.name().rsplit_once(':').filter(|(name, kind)| {
        reserved(name) && property_type(field.data_type()).is_some_and(|found| found.to_string() == *kind)
    });
    stated.map_or(field.name(), |(name, _)| name)
}

/// Reads a column of keys. A key of another type than `wanted` is no key: numbers are not read from texts. A
/// row without a key, or with a negative number, is a fault.
///
/// # Errors
/// [`Error::Column`] if the type of the column has no such keys.
pub fn keys(array: &ArrayRef, name: &str, wanted: KeyKind, faults: &mut Faults) -> Result<KeyColumn, Error> {
    if wanted == KeyKind::Str {
        let mut texts = TextColumn::default();
        let read = for_each_text(array, &mut |row, text| match text {
            Some(text) => texts.push(text),
            None => {
                faults.add(row, name, "has no key");
                texts.push("");
            }
        });
        return match read {
            Some(()) => Ok(KeyColumn::Str(texts)),
            None => Err(wrong_type(name, array, "the keys are texts")),
        };
    }
    let numbers = whole_numbers(array, name, "key", faults);
    numbers.map(KeyColumn::U64).ok_or_else(|| wrong_type(name, array, "the keys are whole numbers"))
}

/// Reads a column of ranks: whole numbers from 0. A row without one is a fault.
///
/// # Errors
/// [`Error::Column`] if the column has no whole numbers.
pub fn ranks(array: &ArrayRef, name: &str, faults: &mut Faults) -> Result<Vec<u64>, Error> {
    whole_numbers(array, name, "rank", faults)
        .ok_or_else(|| wrong_type(name, array, "ranks are whole numbers"))
}

/// Reads a column of weights. A row without a weight, with NaN, or with a whole number that a float does not
/// have, is a fault.
///
/// # Errors
/// [`Error::Column`] if the column has no numbers.
pub fn weights(array: &ArrayRef, name: &str, faults: &mut Faults) -> Result<Vec<f64>, Error> {
    let mut weights = Vec::with_capacity(array.len());
    let mut push = |row: usize, weight: Option<Option<f64>>| {
        weights.push(weight.flatten().unwrap_or(1.0));
        match weight {
            None => faults.add(row, name, "has no weight"),
            Some(None) => faults.add(row, name, INEXACT),
            Some(Some(weight)) if weight.is_nan() => faults.add(row, name, "is NaN: a weight is a number"),
            Some(Some(_)) => {}
        }
    };
    let read = for_each_float(array, |row, float| push(row, float.map(Some)));
    let read = read.or_else(|| for_each_whole(array, |row, n| push(row, n.map(exact_float))));
    read.map(|()| weights).ok_or_else(|| wrong_type(name, array, "weights are numbers"))
}

/// Reads a column of texts, such as names of labels.
///
/// # Errors
/// [`Error::Column`] if the column has no texts.
pub fn texts(array: &ArrayRef, name: &str, mut f: impl FnMut(usize, Option<&str>)) -> Result<(), Error> {
    for_each_text(array, &mut f).ok_or_else(|| wrong_type(name, array, "texts are needed"))
}

/// Reads a column of numbers as values of a property of floats. A whole number that a float does not have is
/// a fault of its row.
///
/// # Errors
/// [`Error::Column`] if the column has no numbers.
pub fn floats(array: &ArrayRef, name: &str, faults: &mut Faults) -> Result<Column, Error> {
    let mut values = ColumnBuilder::new(PropertyType::F64, array.len());
    let mut push = |row: usize, number: Option<Option<f64>>| {
        if number == Some(None) {
            faults.add(row, name, INEXACT);
        }
        values.push(number.flatten().map_or(ValueRef::Null, ValueRef::F64));
    };
    let read = for_each_float(array, |row, float| push(row, float.map(Some)));
    let read = read.or_else(|| for_each_whole(array, |row, n| push(row, n.map(exact_float))));
    let column = read.and_then(|()| finished(values, PropertyType::F64, array.len()));
    column.ok_or_else(|| wrong_type(name, array, "the property has numbers"))
}

/// Reads a column of property values. Returns the values, and the rows with a time that was finer than
/// microseconds, the unit of a store, and was cut. A whole number above 2^63 - 1 is a fault, and so is a
/// time out of the range of microseconds.
///
/// # Errors
/// [`Error::Column`] if no property has the type of the column.
pub fn property(array: &ArrayRef, name: &str, faults: &mut Faults) -> Result<(Column, Vec<usize>), Error> {
    let kind = property_type(array.data_type())
        .ok_or_else(|| Error::column(name, format!("no property has the type {}", array.data_type())))?;
    let (mut values, mut cut) = (ColumnBuilder::new(kind, array.len()), Vec::new());
    let read = match kind {
        PropertyType::Bool => {
            let bools = array.as_boolean_opt();
            bools
                .map(|bools| bools.iter().for_each(|b| values.push(b.map_or(ValueRef::Null, ValueRef::Bool))))
        }
        PropertyType::F64 => {
            for_each_float(array, |_, float| values.push(float.map_or(ValueRef::Null, ValueRef::F64)))
        }
        PropertyType::I64 => for_each_whole(array, |row, number| {
            let value = number.map(|number| i64::try_from(number).map(ValueRef::I64));
            if let Some(Err(_)) = value {
                faults.add(row, name, "has a number above 2^63 - 1, the greatest that a property has");
            }
            values.push(value.and_then(Result::ok).unwrap_or(ValueRef::Null));
        }),
        PropertyType::Timestamp => for_each_time(array, |row, time| {
            if let Some(Err(why)) = time {
                faults.add(row, name, why);
            }
            let time = time.and_then(Result::ok);
            cut.extend(time.filter(|(_, is_cut)| *is_cut).map(|_| row));
            values.push(time.map_or(ValueRef::Null, |(time, _)| ValueRef::Timestamp(time)));
        }),
        PropertyType::Utf8 => {
            for_each_text(array, &mut |_, text| values.push(text.map_or(ValueRef::Null, ValueRef::Utf8)))
        }
        PropertyType::Bytes => {
            for_each_bytes(array, |bytes| values.push(bytes.map_or(ValueRef::Null, ValueRef::Bytes)))
        }
    };
    let column = read.and_then(|()| finished(values, kind, array.len()));
    let unread = || Error::column(name, format!("cannot be read as {kind}: {}", array.data_type()));
    Ok((column.ok_or_else(unread)?, cut))
}

/// Returns the column that was built. A builder makes no column of nulls alone.
fn finished(values: ColumnBuilder, kind: PropertyType, rows: usize) -> Option<Column> {
    values.finish().or_else(|| Column::of_values(kind, std::iter::repeat_n(ValueRef::Null, rows)))
}

fn wrong_type(name: &str, array: &ArrayRef, wanted: &str) -> Error {
    Error::column(name, format!("has the type {}, but {wanted}", array.data_type()))
}

fn exact_float(number: i128) -> Option<f64> {
    let float = number as f64;
    (float as i128 == number).then_some(float)
}

/// Reads whole numbers from 0; `None` if the column has no whole numbers.
fn whole_numbers(array: &ArrayRef, name: &str, what: &str, faults: &mut Faults) -> Option<Vec<u64>> {
    let mut numbers = Vec::with_capacity(array.len());
    let read = for_each_whole(array, |row, number| {
        let number = number.map(u64::try_from);
        match number {
            None => faults.add(row, name, &format!("has no {what}")),
            Some(Err(_)) => faults.add(row, name, &format!("has a negative {what}")),
            Some(Ok(_)) => {}
        }
        numbers.push(number.and_then(Result::ok).unwrap_or(0));
    });
    read.map(|()| numbers)
}

/// Calls `f` with the row and the value of each row; `None` if the array has another type.
fn for_each<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    mut f: impl FnMut(usize, Option<T::Native>),
) -> Option<()> {
    let values = array.as_primitive_opt::<T>()?;
    values.iter().enumerate().for_each(|(row, value)| f(row, value));
    Some(())
}

fn for_each_whole(array: &ArrayRef, mut f: impl FnMut(usize, Option<i128>)) -> Option<()> {
    match array.data_type() {
        DataType::Int8 => for_each::<Int8Type>(array, |row, n| f(row, n.map(Into::into))),
        DataType::Int16 => for_each::<Int16Type>(array, |row, n| f(row, n.map(Into::into))),
        DataType::Int32 => for_each::<Int32Type>(array, |row, n| f(row, n.map(Into::into))),
        DataType::Int64 => for_each::<Int64Type>(array, |row, n| f(row, n.map(Into::into))),
        DataType::UInt8 => for_each::<UInt8Type>(array, |row, n| f(row, n.map(Into::into))),
        DataType::UInt16 => for_each::<UInt16Type>(array, |row, n| f(row, n.map(Into::into))),
        DataType::UInt32 => for_each::<UInt32Type>(array, |row, n| f(row, n.map(Into::into))),
        DataType::UInt64 => for_each::<UInt64Type>(array, |row, n| f(row, n.map(Into::into))),
        _ => None,
    }
}

fn for_each_float(array: &ArrayRef, mut f: impl FnMut(usize, Option<f64>)) -> Option<()> {
    match array.data_type() {
        DataType::Float16 => for_each::<Float16Type>(array, |row, x| f(row, x.map(Into::into))),
        DataType::Float32 => for_each::<Float32Type>(array, |row, x| f(row, x.map(Into::into))),
        DataType::Float64 => for_each::<Float64Type>(array, f),
        _ => None,
    }
}

/// A time in microseconds and whether it was cut, or the reason why there is none.
type Time = Result<(i64, bool), &'static str>;

fn for_each_time(array: &ArrayRef, mut f: impl FnMut(usize, Option<Time>)) -> Option<()> {
    const BEYOND: &str = "has a time out of the range of microseconds";
    let DataType::Timestamp(unit, _) = array.data_type() else { return None };
    let times = |number: i64, factor: i64| number.checked_mul(factor).map(|us| (us, false)).ok_or(BEYOND);
    match unit {
        TimeUnit::Second => {
            for_each::<TimestampSecondType>(array, |row, n| f(row, n.map(|n| times(n, 1_000_000))))
        }
        TimeUnit::Millisecond => {
            for_each::<TimestampMillisecondType>(array, |row, n| f(row, n.map(|n| times(n, 1_000))))
        }
        TimeUnit::Microsecond => {
            for_each::<TimestampMicrosecondType>(array, |row, n| f(row, n.map(|n| Ok((n, false)))))
        }
        TimeUnit::Nanosecond => for_each::<TimestampNanosecondType>(array, |row, n| {
            f(row, n.map(|n| Ok((n.div_euclid(1_000), n.rem_euclid(1_000) != 0))));
        }),
    }
}

/// Calls `f` with the row and the text of each row; `None` if the array has no texts.
fn for_each_text(array: &ArrayRef, f: &mut dyn FnMut(usize, Option<&str>)) -> Option<()> {
    match array.data_type() {
        DataType::Utf8 => {
            array.as_string_opt::<i32>()?.iter().enumerate().for_each(|(row, text)| f(row, text));
        }
        DataType::LargeUtf8 => {
            array.as_string_opt::<i64>()?.iter().enumerate().for_each(|(row, text)| f(row, text));
        }
        DataType::Utf8View => {
            array.as_string_view_opt()?.iter().enumerate().for_each(|(row, text)| f(row, text));
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            // A dictionary of nulls alone may have no values, for which the library has no keys.
            if dictionary.values().is_empty() {
                (0..array.len()).for_each(|row| f(row, None));
                return Some(());
            }
            let mut texts: Vec<Option<String>> = Vec::with_capacity(dictionary.values().len());
            for_each_text(dictionary.values(), &mut |_, text| texts.push(text.map(str::to_owned)))?;
            for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
                let text = texts.get(key).filter(|_| dictionary.keys().is_valid(row));
                f(row, text.and_then(Option::as_deref));
            }
        }
        _ => return None,
    }
    Some(())
}

fn for_each_bytes(array: &ArrayRef, f: impl FnMut(Option<&[u8]>)) -> Option<()> {
    match array.data_type() {
        DataType::Binary => array.as_binary_opt::<i32>()?.iter().for_each(f),
        DataType::LargeBinary => array.as_binary_opt::<i64>()?.iter().for_each(f),
        DataType::BinaryView => array.as_binary_view_opt()?.iter().for_each(f),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary_opt()?.iter().for_each(f),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests;
