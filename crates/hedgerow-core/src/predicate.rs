//! Tests of one property: how an edge is chosen by a value.

use std::cmp::Ordering;
use std::fmt;

use crate::column::{Column, Columns, Data};
use crate::property::{PropertyId, PropertyType, Value, ValueRef};
use crate::row_ref::RowRef;
use crate::simd;

/// How the value of a property is compared with a given one.
///
/// Both have the same type; null compares with nothing. Numbers compare as IEEE 754 says: 0.0 equals -0.0, and a NaN differs from
/// every number, itself included. Text and bytes compare byte by byte, times by their moment, false comes before true.
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
    /// All of them; where one symbol begins as another, the longer one comes first.
    pub const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::LessOrEqual,
        Comparison::GreaterOrEqual,
        Comparison::Less,
        Comparison::Greater,
    ];

    /// The symbol.
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

    /// The comparison with this [`symbol`](Self::symbol); `=` is `==`.
    pub fn from_symbol(symbol: &str) -> Option<Comparison> {
        let symbol = if symbol == "=" { "==" } else { symbol };
        Comparison::ALL.into_iter().find(|comparison| comparison.symbol() == symbol)
    }

    /// Whether it holds of two values that compare so; `None` is that of a NaN.
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

    /// Whether it holds between the value that was found and the one that was given: never of null, nor of values of different
    /// types.
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

/// A test of one property of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyTest {
    /// The property.
    pub property: PropertyId,
    /// How its value is compared...
    pub comparison: Comparison,
    /// ...with this one.
    pub value: Value,
}

impl PropertyTest {
    /// Whether an edge with these properties passes.
    #[inline]
    pub fn passes(&self, row: RowRef<'_>) -> bool {
        self.comparison.holds(row.get(self.property), self.value.as_ref())
    }

    /// Clears the marks, a bit for each edge, of those edges of the columns that do not pass. O(edges).
    pub fn clear_marks(&self, columns: Option<&Columns>, marks: &mut [u64]) {
        match columns.and_then(|columns| columns.column(self.property)) {
            Some(column) => self.clear_marks_of(column, marks),
            None => marks.fill(0),
        }
    }

    /// As [`clear_marks`](Self::clear_marks), of edges whose value of one property of this type is the word. False, and nothing
    /// is cleared, where such values do not lie in words.
    pub fn clear_marks_of_words(
        &self,
        (property, kind): (PropertyId, PropertyType),
        words: &[u64],
        marks: &mut [u64],
    ) -> bool {
        match (kind, self.value.as_ref()) {
            _ if property != self.property => marks.fill(0),
            (PropertyType::I64, ValueRef::I64(given))
            | (PropertyType::Timestamp, ValueRef::Timestamp(given)) => {
                clear_words(words, marks, self.comparison, given, |word| word as i64);
            }
            (PropertyType::F64, ValueRef::F64(given)) => {
                clear_words(words, marks, self.comparison, given, f64::from_bits);
            }
            _ => return false,
        }
        true
    }

    fn clear_marks_of(&self, column: &Column, marks: &mut [u64]) {
        if let Some(valid) = column.valid() {
            marks.iter_mut().zip(valid).for_each(|(mark, valid)| *mark &= valid);
        }
        if let Data::Words(words) = column.data()
            && self.clear_marks_of_words((self.property, column.kind()), words, marks)
        {
            return;
        }
        for (at, mark) in marks.iter_mut().enumerate() {
            let passes = |bit: usize| self.comparison.holds(column.get(at * 64 + bit), self.value.as_ref());
            *mark = (0..64)
                .fold(0, |passed, bit| passed | u64::from(*mark >> bit & 1 == 1 && passes(bit)) << bit);
        }
    }
}

/// One loop for each comparison, so that the compiler makes vectors of it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    fn values() -> Vec<Value> {
        let mut values = vec![Value::Null, Value::Bool(false), Value::Bool(true)];
        values.extend([i64::MIN, -1, 0, 7, i64::MAX].map(Value::I64));
        values.extend([f64::NEG_INFINITY, -0.0, 0.0, 2.5, f64::NAN].map(Value::F64));
        values.extend(["", "a", "b", "ab"].map(Value::from));
        values.extend([&b""[..], b"\x01", b"\xff"].map(Value::from));
        values.extend([-5, 0, 5].map(Value::Timestamp));
        values
    }

    /// What a comparison says follows from two of them, but for null and NaN, which no comparison but `!=` takes.
    #[test]
    fn comparisons_agree_with_each_other() {
        for found in values() {
            for given in values() {
                let (a, b) = (found.as_ref(), given.as_ref());
                let holds = |comparison: Comparison| comparison.holds(a, b);
                let comparable = !a.is_null() && a.property_type() == b.property_type();
                let nan = |v: ValueRef<'_>| v.as_number().is_some_and(f64::is_nan);
                let all: Vec<bool> = Comparison::ALL.into_iter().map(holds).collect();
                if !comparable {
                    assert!(all.iter().all(|holds| !holds), "{found} {given}");
                } else if nan(a) || nan(b) {
                    assert_eq!(all, [false, true, false, false, false, false], "{found} {given}");
                } else {
                    let (less, greater) = (holds(Comparison::Less), holds(Comparison::Greater));
                    let equal = !less && !greater;
                    assert!(!(less && greater));
                    assert_eq!(all, [equal, !equal, less || equal, greater || equal, less, greater]);
                }
            }
        }
    }

    #[test]
    fn symbols_name_their_comparisons() {
        for comparison in Comparison::ALL {
            assert_eq!(Comparison::from_symbol(comparison.symbol()), Some(comparison));
        }
        assert_eq!(Comparison::from_symbol("="), Some(Comparison::Equal));
        assert_eq!(Comparison::from_symbol("<>"), None);
    }

    /// Marks of columns say what the test says of each row.
    #[test]
    fn marks_say_what_rows_say() {
        let property = PropertyId(3);
        for kind in (1..=6).filter_map(PropertyType::from_byte) {
            let of_kind: Vec<Value> =
                values().into_iter().filter(|v| v.is_null() || v.property_type() == Some(kind)).collect();
            for with_nulls in [false, true] {
                let some = of_kind.iter().filter(|v| with_nulls || !v.is_null()).cycle();
                let column: Vec<Value> = some.take(150).cloned().collect();
                let rows: Vec<_> = column.iter().map(|value| Row::new([(property, value.clone())])).collect();
                let columns = Columns::of_rows(rows.iter().map(|row| row.as_ref().into()));
                for comparison in Comparison::ALL {
                    for value in &of_kind {
                        let test = PropertyTest { property, comparison, value: value.clone() };
                        let mut marks = vec![u64::MAX; 3];
                        marks[1] = 0xff00_ff00_ff00_ff00;
                        let before = marks.clone();
                        test.clear_marks(Some(&columns), &mut marks);
                        for at in 0..192 {
                            let bit = |marks: &[u64]| marks[at / 64] >> (at % 64) & 1 == 1;
                            let passes = at < column.len() && test.passes(RowRef::Columns(&columns, at));
                            assert_eq!(bit(&marks), bit(&before) && passes, "{at} {test:?}");
                        }
                        let other = PropertyTest { property: PropertyId(0), ..test };
                        other.clear_marks(Some(&columns), &mut marks);
                        assert_eq!(marks, [0; 3]);
                    }
                }
            }
        }
    }
}
