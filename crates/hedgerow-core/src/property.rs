//! Typed properties of vertices and edges: types, values, and small ids for names.

use std::fmt;
use std::sync::Arc;

/// The longest name of a label or property, in bytes.
pub const MAX_NAME_BYTES: usize = 255;
/// The longest value of a property, in bytes: 16 MiB.
pub const MAX_VALUE_BYTES: usize = 16 << 20;
/// The most properties that one label, or the vertices, may have.
pub const MAX_PROPERTIES: usize = 4096;

/// The type of a property, fixed when it is declared or first used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PropertyType {
    /// True or false.
    Bool = 1,
    /// A signed 64-bit number.
    I64 = 2,
    /// An IEEE 754 number of 64 bits. NaN is a value like others, and its bits are preserved.
    F64 = 3,
    /// UTF-8 text of at most [`MAX_VALUE_BYTES`].
    Utf8 = 4,
    /// Bytes, at most [`MAX_VALUE_BYTES`].
    Bytes = 5,
    /// Microseconds since 1970-01-01 00:00 UTC.
    Timestamp = 6,
}

impl PropertyType {
    /// Returns the type stored as `byte` in a file, if one is.
    pub fn from_byte(byte: u8) -> Option<PropertyType> {
        use PropertyType::{Bool, Bytes, F64, I64, Timestamp, Utf8};
        [Bool, I64, F64, Utf8, Bytes, Timestamp].into_iter().find(|t| *t as u8 == byte)
    }

    /// True if all values have the same size.
    pub fn is_fixed(self) -> bool {
        !matches!(self, PropertyType::Utf8 | PropertyType::Bytes)
    }

    /// Returns the name that users give to the type: `bool`, `i64`, `f64`, `utf8`, `bytes`, `timestamp`.
    pub fn name(self) -> &'static str {
        match self {
            PropertyType::Bool => "bool",
            PropertyType::I64 => "i64",
            PropertyType::F64 => "f64",
            PropertyType::Utf8 => "utf8",
            PropertyType::Bytes => "bytes",
            PropertyType::Timestamp => "timestamp",
        }
    }

    /// Returns the type with the given [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<PropertyType> {
        (1..=6).filter_map(PropertyType::from_byte).find(|t| t.name() == name)
    }
}

impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The number of a property of one label, or of the vertices, counted from 0 in the order of declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct PropertyId(pub u16);

/// A value, owned. Cloning copies a reference, not the text.
///
/// Two values are equal if their types and bits are equal: a NaN equals itself, and 0.0 differs from -0.0.
#[derive(Clone, Debug)]
pub enum Value {
    /// No value. Setting a property to null removes it.
    Null,
    /// See [`PropertyType::Bool`].
    Bool(bool),
    /// See [`PropertyType::I64`].
    I64(i64),
    /// See [`PropertyType::F64`].
    F64(f64),
    /// See [`PropertyType::Utf8`].
    Utf8(Arc<str>),
    /// See [`PropertyType::Bytes`].
    Bytes(Arc<[u8]>),
    /// See [`PropertyType::Timestamp`].
    Timestamp(i64),
}

/// A value, borrowed. Equal under the same rule as [`Value`].
#[derive(Clone, Copy, Debug)]
pub enum ValueRef<'a> {
    /// No value.
    Null,
    /// See [`PropertyType::Bool`].
    Bool(bool),
    /// See [`PropertyType::I64`].
    I64(i64),
    /// See [`PropertyType::F64`].
    F64(f64),
    /// See [`PropertyType::Utf8`].
    Utf8(&'a str),
    /// See [`PropertyType::Bytes`].
    Bytes(&'a [u8]),
    /// See [`PropertyType::Timestamp`].
    Timestamp(i64),
}

impl Value {
    /// Returns this value as a borrowed one.
    #[inline]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Bool(b) => ValueRef::Bool(*b),
            Value::I64(n) => ValueRef::I64(*n),
            Value::F64(x) => ValueRef::F64(*x),
            Value::Utf8(s) => ValueRef::Utf8(s),
            Value::Bytes(b) => ValueRef::Bytes(b),
            Value::Timestamp(t) => ValueRef::Timestamp(*t),
        }
    }

    /// Returns the type of the value; `None` for null.
    pub fn property_type(&self) -> Option<PropertyType> {
        self.as_ref().property_type()
    }

    /// True if there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}

impl ValueRef<'_> {
    /// Returns the type of the value; `None` for null.
    pub fn property_type(self) -> Option<PropertyType> {
        Some(match self {
            ValueRef::Null => return None,
            ValueRef::Bool(_) => PropertyType::Bool,
            ValueRef::I64(_) => PropertyType::I64,
            ValueRef::F64(_) => PropertyType::F64,
            ValueRef::Utf8(_) => PropertyType::Utf8,
            ValueRef::Bytes(_) => PropertyType::Bytes,
            ValueRef::Timestamp(_) => PropertyType::Timestamp,
        })
    }

    /// True if there is no value.
    pub fn is_null(self) -> bool {
        matches!(self, ValueRef::Null)
    }

    /// Returns this value, owned; allocates for text and bytes.
    pub fn to_owned(self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Bool(b) => Value::Bool(b),
            ValueRef::I64(n) => Value::I64(n),
            ValueRef::F64(x) => Value::F64(x),
            ValueRef::Utf8(s) => Value::Utf8(Arc::from(s)),
            ValueRef::Bytes(b) => Value::Bytes(Arc::from(b)),
            ValueRef::Timestamp(t) => Value::Timestamp(t),
        }
    }

    /// Returns the number that kernels use as a weight for a value of `bool`, `i64`, `f64` or `timestamp`.
    pub fn as_number(self) -> Option<f64> {
        match self {
            ValueRef::Bool(b) => Some(f64::from(u8::from(b))),
            ValueRef::I64(n) | ValueRef::Timestamp(n) => Some(n as f64),
            ValueRef::F64(x) => Some(x),
            ValueRef::Null | ValueRef::Utf8(_) | ValueRef::Bytes(_) => None,
        }
    }

    /// Returns the type and the bits of a value of fixed width; `None` for other values.
    #[inline]
    pub fn to_word(self) -> Option<(PropertyType, u64)> {
        match self {
            ValueRef::Bool(b) => Some((PropertyType::Bool, u64::from(b))),
            ValueRef::I64(n) => Some((PropertyType::I64, n as u64)),
            ValueRef::F64(x) => Some((PropertyType::F64, x.to_bits())),
            ValueRef::Timestamp(t) => Some((PropertyType::Timestamp, t as u64)),
            ValueRef::Null | ValueRef::Utf8(_) | ValueRef::Bytes(_) => None,
        }
    }

    /// Returns the value with these bits, of a type of fixed width; null for other types.
    #[inline]
    pub fn from_word(kind: PropertyType, word: u64) -> ValueRef<'static> {
        match kind {
            PropertyType::Bool => ValueRef::Bool(word != 0),
            PropertyType::I64 => ValueRef::I64(word as i64),
            PropertyType::F64 => ValueRef::F64(f64::from_bits(word)),
            PropertyType::Timestamp => ValueRef::Timestamp(word as i64),
            PropertyType::Utf8 | PropertyType::Bytes => ValueRef::Null,
        }
    }

    /// Returns the length in bytes of a text or of bytes; 0 for other values.
    pub fn variable_bytes(self) -> usize {
        match self {
            ValueRef::Utf8(s) => s.len(),
            ValueRef::Bytes(b) => b.len(),
            _ => 0,
        }
    }
}

impl PartialEq for ValueRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ValueRef::Null, ValueRef::Null) => true,
            (ValueRef::Bool(a), ValueRef::Bool(b)) => a == b,
            (ValueRef::I64(a), ValueRef::I64(b)) | (ValueRef::Timestamp(a), ValueRef::Timestamp(b)) => a == b,
            (ValueRef::F64(a), ValueRef::F64(b)) => a.to_bits() == b.to_bits(),
            (ValueRef::Utf8(a), ValueRef::Utf8(b)) => a == b,
            (ValueRef::Bytes(a), ValueRef::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for ValueRef<'_> {}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Value {}

impl fmt::Display for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueRef::Null => f.write_str("null"),
            ValueRef::Bool(b) => b.fmt(f),
            ValueRef::I64(n) | ValueRef::Timestamp(n) => n.fmt(f),
            ValueRef::F64(x) => x.fmt(f),
            ValueRef::Utf8(s) => f.write_str(s),
            ValueRef::Bytes(b) => write!(f, "{} bytes", b.len()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

macro_rules! from_plain {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Value::$variant(value.into())
            }
        }
        impl From<$from> for ValueRef<'_> {
            fn from(value: $from) -> Self {
                ValueRef::$variant(value.into())
            }
        }
    )*};
}
from_plain!(bool => Bool, i64 => I64, i32 => I64, u32 => I64, f64 => F64);

impl<'a> From<&'a str> for ValueRef<'a> {
    fn from(s: &'a str) -> Self {
        ValueRef::Utf8(s)
    }
}

impl<'a> From<&'a [u8]> for ValueRef<'a> {
    fn from(b: &'a [u8]) -> Self {
        ValueRef::Bytes(b)
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        value.as_ref()
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Self {
        Value::Utf8(Arc::from(s))
    }
}

impl From<String> for Value {
    fn from(s: String) -> Self {
        Value::Utf8(Arc::from(s))
    }
}

impl From<&[u8]> for Value {
    fn from(b: &[u8]) -> Self {
        Value::Bytes(Arc::from(b))
    }
}
