//! Conditions for the value of a property.

use std::cmp::Ordering;
use std::slice;
use std::sync::Arc;

use super::comparison::Comparison;
use crate::property::{Value, ValueRef};

/// A condition for the value of a property.
///
/// Null meets only [`Null`](Condition::Null). A condition with values is met only by a value of their type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// The property's value meets the comparison with the given one.
    Compares(Comparison, Value),
    /// The value equals a member of the set.
    OneOf(ValueSet),
    /// The value is a text, or bytes, that begins with the given text or bytes. All texts begin with the
    /// empty text.
    Prefix(Value),
    /// The property has no value.
    Null,
    /// The property has a value.
    NotNull,
    /// The property has a value, and it does not meet the condition.
    Not(Box<Condition>),
}

impl Condition {
    /// The most values that [`OneOf`](Condition::OneOf) may have in a read: 2^20.
    pub const MAX_VALUES: usize = 1 << 20;

    /// Returns the condition that the value equals `value`.
    pub fn equal(value: impl Into<Value>) -> Condition {
        Condition::Compares(Comparison::Equal, value.into())
    }

    /// Returns the condition that the value equals one of `values`. O(n log n).
    pub fn one_of(values: impl IntoIterator<Item = impl Into<Value>>) -> Condition {
        Condition::OneOf(ValueSet::new(values.into_iter().map(Into::into)))
    }

    /// Returns the condition that a text, or bytes, begins with `start`.
    pub fn prefix(start: impl Into<Value>) -> Condition {
        Condition::Prefix(start.into())
    }

    /// Returns the opposite condition. Null meets only [`Null`](Condition::Null), and so, like in SQL,
    /// neither a comparison nor its opposite.
    #[must_use]
    pub fn negated(self) -> Condition {
        match self {
            Condition::Null => Condition::NotNull,
            Condition::NotNull => Condition::Null,
            Condition::Not(condition) => *condition,
            condition => Condition::Not(Box::new(condition)),
        }
    }

    /// Returns the values of the condition, each once.
    pub fn values(&self) -> &[Value] {
        match self {
            Condition::Not(condition) => condition.values(),
            Condition::Compares(_, value) | Condition::Prefix(value) => slice::from_ref(value),
            Condition::OneOf(set) => &set.0,
            Condition::Null | Condition::NotNull => &[],
        }
    }

    /// True if `found` meets the condition. O(log n) for a set of n values.
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
            Condition::Not(condition) => !found.is_null() && !condition.holds(found),
        }
    }

    /// Compares two conditions in a total order, which makes equal conditions adjacent.
    pub(super) fn order(&self, other: &Condition) -> Ordering {
        fn form(condition: &Condition) -> (u8, u8) {
            match condition {
                Condition::Compares(comparison, _) => (0, *comparison as u8),
                Condition::OneOf(_) => (1, 0),
                Condition::Prefix(_) => (2, 0),
                Condition::Null => (3, 0),
                Condition::NotNull => (4, 0),
                Condition::Not(condition) => {
                    let (kind, comparison) = form(condition);
                    (5 + kind, comparison)
                }
            }
        }
        let values = || {
            let pairs = self.values().iter().zip(other.values());
            let lengths = self.values().len().cmp(&other.values().len());
            pairs.map(|(a, b)| order(a.as_ref(), b.as_ref())).find(|order| order.is_ne()).unwrap_or(lengths)
        };
        form(self).cmp(&form(other)).then_with(values)
    }
}

/// A sorted set of values; 0.0 and -0.0 are one value. Cloning copies a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSet(Arc<[Value]>);

impl ValueSet {
    /// Makes the set of these values. O(n log n).
    pub fn new(values: impl IntoIterator<Item = Value>) -> ValueSet {
        let zero = |value| if let Value::F64(number) = value { Value::F64(number + 0.0) } else { value };
        let mut values: Vec<Value> = values.into_iter().map(zero).collect();
        values.sort_unstable_by(|a, b| order(a.as_ref(), b.as_ref()));
        values.dedup();
        ValueSet(values.into())
    }

    /// True if `found` equals a member, as [`Comparison::Equal`] defines it: null and NaN equal no member.
    /// O(log n).
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

/// Orders values by type, then by value; floats by `f64::total_cmp`.
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
