//! What the value of a property must be.

use std::cmp::Ordering;
use std::slice;
use std::sync::Arc;

use super::comparison::Comparison;
use crate::property::{Value, ValueRef};

/// What the value of a property must be.
///
/// Null meets [`Null`](Condition::Null) alone. A value meets none of the others unless it has the type of those that they name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// It compares so with this one.
    Compares(Comparison, Value),
    /// It equals one of these.
    OneOf(ValueSet),
    /// It is a text or bytes, and begins with this one. All texts begin with the empty one.
    Prefix(Value),
    /// There is none.
    Null,
    /// There is one.
    NotNull,
}

impl Condition {
    /// The most values that [`OneOf`](Condition::OneOf) may name in a read: 2^20.
    pub const MAX_VALUES: usize = 1 << 20;

    /// The condition that a value equals this one.
    pub fn equal(value: impl Into<Value>) -> Condition {
        Condition::Compares(Comparison::Equal, value.into())
    }

    /// The condition that a value equals one of these. O(n log n).
    pub fn one_of(values: impl IntoIterator<Item = impl Into<Value>>) -> Condition {
        Condition::OneOf(ValueSet::new(values.into_iter().map(Into::into)))
    }

    /// The condition that a text or bytes begin with `start`.
    pub fn prefix(start: impl Into<Value>) -> Condition {
        Condition::Prefix(start.into())
    }

    /// The values that it names, each once.
    pub fn values(&self) -> &[Value] {
        match self {
            Condition::Compares(_, value) | Condition::Prefix(value) => slice::from_ref(value),
            Condition::OneOf(set) => &set.0,
            Condition::Null | Condition::NotNull => &[],
        }
    }

    /// Whether `found` meets it. O(log n) for a set of n values.
    #[inline]
    pub fn holds(&self, found: ValueRef<'_>) -> bool {
        match self {
            Condition::Compares(comparison, given) => comparison.holds(found, given.as_ref()),
            Condition::OneOf(set) => set.contains(found),
            Condition::Prefix(given) => match (found, given.as_ref()) {
                (ValueRef::Utf8(found), ValueRef::Utf8(given)) => found.starts_with(given),
                (ValueRef::Bytes(found), ValueRef::Bytes(given)) => found.starts_with(given),
                _ => false,
            },
            Condition::Null => found.is_null(),
            Condition::NotNull => !found.is_null(),
        }
    }

    /// A total order, in which equal conditions stand together.
    pub(super) fn order(&self, other: &Condition) -> Ordering {
        let form = |condition: &Condition| match condition {
            Condition::Compares(comparison, _) => (0, *comparison as u8),
            Condition::OneOf(_) => (1, 0),
            Condition::Prefix(_) => (2, 0),
            Condition::Null => (3, 0),
            Condition::NotNull => (4, 0),
        };
        let values = || {
            let pairs = self.values().iter().zip(other.values());
            let lengths = self.values().len().cmp(&other.values().len());
            pairs.map(|(a, b)| order(a.as_ref(), b.as_ref())).find(|order| order.is_ne()).unwrap_or(lengths)
        };
        form(self).cmp(&form(other)).then_with(values)
    }
}

/// Values of which one is looked for, sorted, each once; 0.0 and -0.0 are one. Cloning copies a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSet(Arc<[Value]>);

impl ValueSet {
    /// The set of these values. O(n log n).
    pub fn new(values: impl IntoIterator<Item = Value>) -> ValueSet {
        let zero = |value| if let Value::F64(number) = value { Value::F64(number + 0.0) } else { value };
        let mut values: Vec<Value> = values.into_iter().map(zero).collect();
        values.sort_unstable_by(|a, b| order(a.as_ref(), b.as_ref()));
        values.dedup();
        ValueSet(values.into())
    }

    /// Whether `found` equals one of the values, as [`Comparison::Equal`] has it: null and NaN equal none. O(log n).
    pub fn contains(&self, found: ValueRef<'_>) -> bool {
        let found = match found {
            ValueRef::Null => return false,
            ValueRef::F64(number) if number.is_nan() => return false,
            ValueRef::F64(number) => ValueRef::F64(number + 0.0),
            found => found,
        };
        self.0.binary_search_by(|value| order(value.as_ref(), found)).is_ok()
    }
}

/// By type, then by value; floats by `f64::total_cmp`.
fn order(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    match (a, b) {
        (ValueRef::Bool(a), ValueRef::Bool(b)) => a.cmp(&b),
        (ValueRef::I64(a), ValueRef::I64(b)) | (ValueRef::Timestamp(a), ValueRef::Timestamp(b)) => a.cmp(&b),
        (ValueRef::F64(a), ValueRef::F64(b)) => a.total_cmp(&b),
        (ValueRef::Utf8(a), ValueRef::Utf8(b)) => a.cmp(b),
        (ValueRef::Bytes(a), ValueRef::Bytes(b)) => a.cmp(b),
        (a, b) => a.property_type().cmp(&b.property_type()),
    }
}
