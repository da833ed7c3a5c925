//! Conditions on several properties, joined by and, or and not.

use std::ops::{BitAnd, BitOr, Not};

use super::condition::Condition;

/// A condition on properties: conditions on one property each, joined by `&`, `|` and `!`. `P` names a
/// property.
///
/// It has the three values of SQL: a comparison with a property that has no value is neither true nor false,
/// and so is its negation. Only what is true passes.
///
/// ```
/// use hedgerow_core::{Comparison, Condition, Predicate};
///
/// let large = Predicate::new("amount", Condition::Compares(Comparison::Greater, 100.into()));
/// let rent = Predicate::new("note", Condition::prefix("rent"));
/// assert!(matches!(large | !rent, Predicate::Any(both) if both.len() == 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate<P = Box<str>> {
    /// The property meets the condition.
    Is(P, Condition),
    /// All of these are true; with none, always.
    All(Vec<Predicate<P>>),
    /// One of these is true, or several; with none, never.
    Any(Vec<Predicate<P>>),
}

impl Predicate {
    /// Returns the predicate that a property meets a condition.
    pub fn new(property: impl Into<Box<str>>, condition: Condition) -> Predicate {
        Predicate::Is(property.into(), condition)
    }
}

impl<P> Predicate<P> {
    /// Returns the number of conditions. O(conditions).
    pub fn conditions(&self) -> usize {
        match self {
            Predicate::Is(..) => 1,
            Predicate::All(parts) | Predicate::Any(parts) => parts.iter().map(Predicate::conditions).sum(),
        }
    }
}

impl<P> BitAnd for Predicate<P> {
    type Output = Predicate<P>;

    fn bitand(self, other: Predicate<P>) -> Predicate<P> {
        match self {
            Predicate::All(mut parts) => {
                parts.push(other);
                Predicate::All(parts)
            }
            one => Predicate::All(vec![one, other]),
        }
    }
}

impl<P> BitOr for Predicate<P> {
    type Output = Predicate<P>;

    fn bitor(self, other: Predicate<P>) -> Predicate<P> {
        match self {
            Predicate::Any(mut parts) => {
                parts.push(other);
                Predicate::Any(parts)
            }
            one => Predicate::Any(vec![one, other]),
        }
    }
}

impl<P> Not for Predicate<P> {
    type Output = Predicate<P>;

    /// Negates each condition, and exchanges and with or. This is exact with three values too.
    fn not(self) -> Predicate<P> {
        let negated = |parts: Vec<Predicate<P>>| parts.into_iter().map(Not::not).collect();
        match self {
            Predicate::Is(property, condition) => Predicate::Is(property, condition.negated()),
            Predicate::All(parts) => Predicate::Any(negated(parts)),
            Predicate::Any(parts) => Predicate::All(negated(parts)),
        }
    }
}
