//! Orders and equality of two values.

use std::cmp::Ordering;
use std::fmt;

use crate::property::ValueRef;

/// A comparison of a property's value with a given value.
///
/// Both values must have the same type; every comparison with null is false. Numbers are compared by IEEE
/// 754: 0.0 equals -0.0, and a NaN differs from every number, also from itself. Text and bytes are compared
/// byte by byte, timestamps by time, and false precedes true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// All comparisons. A symbol that begins with another symbol precedes it.
    pub const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::LessOrEqual,
        Comparison::GreaterOrEqual,
        Comparison::Less,
        Comparison::Greater,
    ];

    /// Returns the symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }

    /// Returns the comparison with this [`symbol`](Self::symbol); `=` means `==`.
    pub fn from_symbol(symbol: &str) -> Option<Comparison> {
        let symbol = if symbol == "=" { "==" } else { symbol };
        Comparison::ALL.into_iter().find(|comparison| comparison.symbol() == symbol)
    }

    /// True if two values with this order meet the comparison; `None` is the order of a NaN.
    #[inline]
    fn holds_of(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::NotEqual => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }

    /// True if the edge's value `found` and the `given` one meet the comparison. Always false for null, and
    /// for values of different types.
    #[inline]
    pub fn holds(self, found: ValueRef<'_>, given: ValueRef<'_>) -> bool {
        let order = match (found, given) {
            (ValueRef::Bool(a), ValueRef::Bool(b)) => Some(a.cmp(&b)),
            (ValueRef::I64(a), ValueRef::I64(b)) | (ValueRef::Timestamp(a), ValueRef::Timestamp(b)) => {
                Some(a.cmp(&b))
            }
            (ValueRef::F64(a), ValueRef::F64(b)) => a.partial_cmp(&b),
            (ValueRef::Utf8(a), ValueRef::Utf8(b)) => Some(a.cmp(b)),
            (ValueRef::Bytes(a), ValueRef::Bytes(b)) => Some(a.cmp(b)),
            _ => return false,
        };
        self.holds_of(order)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}
