//! Comparisons of conditions with each other, and of tests of columns with tests of rows.

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

/// The comparisons of two values of one type follow from `<` and `>`. With a NaN only `!=` holds. With a
/// null, or between two types, no comparison holds.
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

/// Returns conditions of each form, with values of this type. The values include null and NaN.
fn conditions(of_kind: &[Value]) -> Vec<Condition> {
    let mut conditions = vec![Condition::Null, Condition::NotNull];
    for value in of_kind {
        let compares = |comparison| Condition::Compares(comparison, value.clone());
        conditions.extend(Comparison::ALL.map(compares));
        conditions.push(Condition::Prefix(value.clone()));
        conditions.push(Condition::one_of([value.clone()]));
    }
    for step in 1..4 {
        conditions.push(Condition::one_of(of_kind.iter().step_by(step).cloned()));
    }
    conditions.extend(conditions.clone().into_iter().map(Condition::negated));
    conditions
}

fn of_kind(kind: PropertyType) -> Vec<Value> {
    values().into_iter().filter(|v| v.is_null() || v.property_type() == Some(kind)).collect()
}

/// A set matches each value that equals a member; null equals no member.
#[test]
fn conditions_follow_from_comparisons() {
    for found in values() {
        let found = found.as_ref();
        assert_eq!(Condition::Null.holds(found), found.is_null());
        assert_eq!(Condition::NotNull.holds(found), !found.is_null());
        for step in 1..4 {
            let some: Vec<Value> = values().into_iter().step_by(step).collect();
            let equals = some.iter().any(|v| Comparison::Equal.holds(found, v.as_ref()));
            assert_eq!(Condition::one_of(some).holds(found), equals, "{found} {step}");
        }
    }
    let starts = |found: &str, start: &str| Condition::prefix(start).holds(found.into());
    assert!(starts("Anna", "Ann") && starts("Ann", "Ann") && starts("", "") && starts("ä", ""));
    assert!(!starts("An", "Ann") && !starts("ann", "Ann") && !starts("Joann", "ann"));
    let bytes = Condition::prefix(&b"\xff"[..]);
    assert!(bytes.holds((&b"\xff\0"[..]).into()) && !bytes.holds("\u{ff}".into()));
    assert!(!Condition::prefix("").holds(ValueRef::Null));
}

/// A value meets a condition or its opposite, and null meets neither unless the condition is about null.
#[test]
fn an_opposite_condition_is_met_by_all_other_values() {
    for condition in conditions(&values()) {
        let opposite = condition.clone().negated();
        assert_eq!(opposite.clone().negated(), condition);
        for found in values() {
            let is_open = found.is_null() && !matches!(condition, Condition::Null | Condition::NotNull);
            let [one, other] = [&condition, &opposite].map(|condition| condition.holds(found.as_ref()));
            assert_eq!((one != other, one || other), (!is_open, !is_open), "{found} {condition:?}");
        }
    }
}

/// Groups of tests are equal whatever their order, and different if a part differs.
#[test]
fn groups_of_tests_are_sorted_within() {
    let test = |number: i64| {
        let condition = Condition::Compares(Comparison::Less, number.into());
        EdgeTest::Property(PropertyTest { property: PropertyId(1), kind: PropertyType::I64, condition })
    };
    let any = |numbers: &[i64]| EdgeTest::Any(numbers.iter().map(|&number| test(number)).collect());
    let sorted = |mut tests: Vec<EdgeTest>| {
        EdgeTest::sort(&mut tests);
        tests
    };
    let one =
        sorted(vec![any(&[3, 1, 2]), test(5), EdgeTest::All(vec![test(7), any(&[9, 8])]), any(&[4, 4])]);
    let other = sorted(vec![EdgeTest::All(vec![any(&[8, 9]), test(7)]), any(&[4]), any(&[1, 2, 3]), test(5)]);
    assert_eq!(one, other);
    assert_eq!(one[0], test(5));
    assert_ne!(
        one,
        sorted(vec![EdgeTest::All(vec![any(&[8, 9]), test(6)]), any(&[4]), any(&[1, 2, 3]), test(5)])
    );
    let texts =
        PropertyTest { property: PropertyId(1), kind: PropertyType::Utf8, condition: Condition::prefix("a") };
    let nested = EdgeTest::Any(vec![test(1), EdgeTest::All(vec![EdgeTest::Property(texts)])]);
    assert!(nested.reads_text() && nested.reads_properties() && !any(&[1]).reads_text());
    assert!(!EdgeTest::Any(vec![EdgeTest::Weight(Condition::NotNull)]).reads_properties());
}

#[test]
fn tests_that_all_must_pass_are_sorted_whatever_their_order() {
    let test = |property, kind, condition| {
        EdgeTest::Property(PropertyTest { property: PropertyId(property), kind, condition })
    };
    let above = |n: i64| Condition::Compares(Comparison::Greater, n.into());
    let text = test(0, PropertyType::Utf8, Condition::prefix("a"));
    let mut sorted = vec![
        EdgeTest::Weight(Condition::Compares(Comparison::Less, 2.0.into())),
        test(1, PropertyType::I64, above(1)),
        test(1, PropertyType::I64, above(2)),
        test(1, PropertyType::I64, Condition::one_of([1, 2])),
        test(1, PropertyType::I64, Condition::one_of([1, 3])),
        test(1, PropertyType::I64, Condition::one_of([1, 3, 5])),
        test(1, PropertyType::I64, Condition::NotNull),
        test(2, PropertyType::I64, above(1)),
        text,
    ];
    let mut others: Vec<EdgeTest> = sorted.iter().rev().chain(&sorted).cloned().collect();
    EdgeTest::sort(&mut others);
    assert_eq!(others, sorted);
    EdgeTest::sort(&mut sorted);
    assert_eq!(others, sorted);
    assert_eq!(Condition::one_of([3, 1, 3]), Condition::one_of([1, 3]));
}

/// Clearing the marks of a column agrees with the test of each row.
#[test]
fn marks_say_what_rows_say() {
    let property = PropertyId(3);
    for kind in (1..=6).filter_map(PropertyType::from_byte) {
        let of_kind = of_kind(kind);
        for with_nulls in [false, true] {
            let some = of_kind.iter().filter(|v| with_nulls || !v.is_null()).cycle();
            let column: Vec<Value> = some.take(150).cloned().collect();
            let rows: Vec<_> = column.iter().map(|value| Row::new([(property, value.clone())])).collect();
            let columns = Columns::of_rows(rows.iter().map(|row| row.as_ref().into()));
            for condition in conditions(&of_kind) {
                let test = PropertyTest { property, kind, condition };
                let mut marks = vec![u64::MAX; 3];
                marks[1] = 0xff00_ff00_ff00_ff00;
                marks[2] = (1 << (150 - 128)) - 1;
                let before = marks.clone();
                test.clear_marks(Some(&columns), &mut marks);
                let bit = |marks: &[u64], at: usize| marks[at / 64] >> (at % 64) & 1 == 1;
                for at in 0..192 {
                    let passes = at < column.len() && test.passes(RowRef::Columns(&columns, at));
                    assert_eq!(bit(&marks, at), bit(&before, at) && passes, "{at} {test:?}");
                }
                words_say_what_rows_say(&test, &column);
                let other = PropertyTest { property: PropertyId(0), ..test };
                other.clear_marks(Some(&columns), &mut marks);
                if other.condition != Condition::Null {
                    assert_eq!(marks, [0; 3]);
                }
            }
        }
    }
}

/// Checks the test of a column of a delta: words, and marks of the words that are values.
fn words_say_what_rows_say(test: &PropertyTest, column: &[Value]) {
    let words: Vec<u64> = column.iter().map(|v| v.as_ref().to_word().map_or(0, |(_, word)| word)).collect();
    let mut marks = vec![0u64; 3];
    (0..column.len()).filter(|&at| !column[at].is_null()).for_each(|at| marks[at / 64] |= 1 << (at % 64));
    let before = marks.clone();
    if !test.clear_marks_of_words((test.property, test.kind), &words, &mut marks) {
        return assert_eq!(marks, before);
    }
    for (at, value) in column.iter().enumerate() {
        assert_eq!(
            marks[at / 64] >> (at % 64) & 1 == 1,
            test.condition.holds(value.as_ref()),
            "{at} {test:?}"
        );
    }
}
