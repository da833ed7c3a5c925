//! Tests of edges by the values of their properties.

use std::cmp::Ordering;

use crate::column::{Column, Columns, Data};
use crate::property::{PropertyId, PropertyType, Value, ValueRef};
use crate::row_ref::RowRef;
use crate::simd;

mod comparison;
mod condition;
#[cfg(test)]
mod tests;
mod tree;

pub use comparison::Comparison;
pub use condition::{Condition, ValueSet};
pub use tree::Predicate;

/// A test of one property of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyTest {
    /// The property.
    pub property: PropertyId,
    /// The type of the property.
    pub kind: PropertyType,
    /// The condition that the property's value must meet.
    pub condition: Condition,
}

impl PropertyTest {
    /// True if an edge with these properties passes.
    #[inline]
    pub fn passes(&self, row: RowRef<'_>) -> bool {
        self.condition.holds(row.get(self.property))
    }

    /// Clears the marks of the edges that do not pass. `marks` has a bit for each edge of the columns.
    /// O(edges).
    pub fn clear_marks(&self, columns: Option<&Columns>, marks: &mut [u64]) {
        match columns.and_then(|columns| columns.column(self.property)) {
            Some(column) => self.clear_marks_of(column, marks),
            None if self.condition == Condition::Null => {}
            None => marks.fill(0),
        }
    }

    /// Clears marks like [`clear_marks`](Self::clear_marks), but takes the edges' values of one property as
    /// `words`. Returns false, and clears nothing, if values of this type are not stored as words, or if
    /// edges without a value pass.
    pub fn clear_marks_of_words(
        &self,
        (property, kind): (PropertyId, PropertyType),
        words: &[u64],
        marks: &mut [u64],
    ) -> bool {
        use PropertyType::{F64, I64, Timestamp};
        match (&self.condition, kind) {
            (Condition::Null, _) => return false,
            _ if property != self.property => marks.fill(0),
            (Condition::NotNull, _) => {}
            (&Condition::Compares(comparison, Value::I64(given)), I64)
            | (&Condition::Compares(comparison, Value::Timestamp(given)), Timestamp) => {
                clear_words(words, marks, comparison, given, |word| word as i64);
            }
            (&Condition::Compares(comparison, Value::F64(given)), F64) => {
                clear_words(words, marks, comparison, given, f64::from_bits);
            }
            (Condition::OneOf(set), I64 | F64 | Timestamp) => {
                keep(words, marks, |word| set.contains(ValueRef::from_word(kind, word)));
            }
            _ => return false,
        }
        true
    }

    fn clear_marks_of(&self, column: &Column, marks: &mut [u64]) {
        match (column.valid(), &self.condition) {
            (Some(valid), Condition::Null) => {
                return marks.iter_mut().zip(valid).for_each(|(mark, valid)| *mark &= !valid);
            }
            (None, Condition::Null) => return marks.fill(0),
            (Some(valid), _) => marks.iter_mut().zip(valid).for_each(|(mark, valid)| *mark &= valid),
            (None, _) => {}
        }
        if let Data::Words(words) = column.data()
            && self.clear_marks_of_words((self.property, column.kind()), words, marks)
        {
            return;
        }
        for (at, mark) in marks.iter_mut().enumerate() {
            let passes = |bit: usize| self.condition.holds(column.get(at * 64 + bit));
            *mark = (0..64)
                .fold(0, |passed, bit| passed | u64::from(*mark >> bit & 1 == 1 && passes(bit)) << bit);
        }
    }
}

/// A test of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EdgeTest {
    /// A test of a property.
    Property(PropertyTest),
    /// A test of the stored weight.
    Weight(Condition),
    /// Tests that an edge must all pass.
    All(Vec<EdgeTest>),
    /// Tests of which an edge must pass one.
    Any(Vec<EdgeTest>),
}

impl EdgeTest {
    /// True if an edge with this weight and these properties passes.
    #[inline]
    pub fn passes(&self, weight: f64, row: RowRef<'_>) -> bool {
        match self {
            EdgeTest::Property(test) => test.passes(row),
            EdgeTest::Weight(condition) => condition.holds(weight.into()),
            EdgeTest::All(tests) => tests.iter().all(|test| test.passes(weight, row)),
            EdgeTest::Any(tests) => tests.iter().any(|test| test.passes(weight, row)),
        }
    }

    /// Returns the tests that this test has, or itself if it has none.
    pub fn parts(&self) -> &[EdgeTest] {
        match self {
            EdgeTest::All(tests) | EdgeTest::Any(tests) => tests,
            single => std::slice::from_ref(single),
        }
    }

    /// True if a test of a property is one for which `f` is true. O(tests).
    fn any_property(&self, f: fn(&PropertyTest) -> bool) -> bool {
        match self {
            EdgeTest::Property(test) => f(test),
            EdgeTest::Weight(_) => false,
            EdgeTest::All(tests) | EdgeTest::Any(tests) => tests.iter().any(|test| test.any_property(f)),
        }
    }

    /// True if the test reads a property.
    pub fn reads_properties(&self) -> bool {
        self.any_property(|_| true)
    }

    /// True if the test reads a property whose values have no fixed width.
    pub fn reads_text(&self) -> bool {
        self.any_property(|test| !test.kind.is_fixed())
    }

    /// Sorts tests that must all pass, with tests of text and bytes and with groups of tests last, and
    /// removes duplicates. So the same tests in any order become equal lists. O(n log n) for n values in the
    /// tests.
    pub fn sort(tests: &mut Vec<EdgeTest>) {
        for test in &mut *tests {
            if let EdgeTest::All(parts) | EdgeTest::Any(parts) = test {
                EdgeTest::sort(parts);
            }
        }
        tests.sort_by(EdgeTest::order);
        tests.dedup();
    }

    /// Compares two sorted tests in a total order, which makes equal tests adjacent.
    fn order(&self, other: &EdgeTest) -> Ordering {
        let key = |test: &EdgeTest| match test {
            EdgeTest::Weight(_) => (0, false, None),
            EdgeTest::Property(test) => (0, !test.kind.is_fixed(), Some(test.property)),
            EdgeTest::All(_) => (1, false, None),
            EdgeTest::Any(_) => (2, false, None),
        };
        key(self).cmp(&key(other)).then_with(|| match (self.condition(), other.condition()) {
            (Some(one), Some(other)) => one.order(other),
            _ => {
                let (one, other) = (self.parts(), other.parts());
                let orders = one.iter().zip(other).map(|(one, other)| one.order(other));
                orders.into_iter().find(|order| order.is_ne()).unwrap_or(one.len().cmp(&other.len()))
            }
        })
    }

    fn condition(&self) -> Option<&Condition> {
        match self {
            EdgeTest::Property(test) => Some(&test.condition),
            EdgeTest::Weight(condition) => Some(condition),
            EdgeTest::All(_) | EdgeTest::Any(_) => None,
        }
    }
}

/// Clears the marks of words that do not meet the comparison, by one loop for each comparison, so that the
/// compiler vectorizes it.
fn clear_words<T: PartialOrd + Copy>(
    words: &[u64],
    marks: &mut [u64],
    comparison: Comparison,
    given: T,
    read: impl Fn(u64) -> T + Copy,
) {
    match comparison {
        Comparison::Equal => simd::clear(words, marks, |word| read(word) == given),
        Comparison::NotEqual => simd::clear(words, marks, |word| read(word) != given),
        Comparison::Less => simd::clear(words, marks, |word| read(word) < given),
        Comparison::LessOrEqual => simd::clear(words, marks, |word| read(word) <= given),
        Comparison::Greater => simd::clear(words, marks, |word| read(word) > given),
        Comparison::GreaterOrEqual => simd::clear(words, marks, |word| read(word) >= given),
    }
}

/// Clears the marks of words that do not pass, and all marks beyond the last word. Reads only marked words.
fn keep(words: &[u64], marks: &mut [u64], passes: impl Fn(u64) -> bool) {
    let mut words = words.chunks(64);
    for mark in marks {
        let (words, mut rest) = (words.next().unwrap_or(&[]), *mark);
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            if !words.get(bit as usize).is_some_and(|&word| passes(word)) {
                *mark &= !(1 << bit);
            }
        }
    }
}
