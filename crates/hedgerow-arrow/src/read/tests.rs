//! Tests of columns that come in: each type, and each value that does not fit.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::*;
use hedgerow::{KeyColumn, KeyKind, Value};

use super::*;

fn array(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

#[test]
fn keys_are_whole_numbers_or_texts_and_never_converted() {
    let mut faults = Faults::default();
    let numbers = array(Int32Array::from(vec![Some(5), None, Some(-1), Some(i32::MAX)]));
    let read = keys(&numbers, "a", KeyKind::U64, &mut faults).unwrap();
    assert_eq!(read, KeyColumn::U64(vec![5, 0, 0, i32::MAX as u64]));
    let why: Vec<Option<&str>> = (0..4).map(|row| faults.of(row)).collect();
    assert_eq!(why, [None, Some("column a has no key"), Some("column a has a negative key"), None]);
    assert_eq!(faults.first(), Some((1, "column a has no key")));
    let large = array(UInt64Array::from(vec![u64::MAX]));
    assert_eq!(keys(&large, "a", KeyKind::Dense, &mut faults).unwrap(), KeyColumn::U64(vec![u64::MAX]));
    let mut faults = Faults::default();
    let of_words: DictionaryArray<Int32Type> = [Some("x"), None, Some("x"), Some("")].into_iter().collect();
    for words in [
        array(StringArray::from(vec![Some("x"), None, Some("x"), Some("")])),
        array(LargeStringArray::from(vec![Some("x"), None, Some("x"), Some("")])),
        array(StringViewArray::from(vec![Some("x"), None, Some("x"), Some("")])),
        array(of_words),
    ] {
        let read = keys(&words, "b", KeyKind::Str, &mut faults).unwrap();
        let KeyColumn::Str(texts) = read else { panic!("{read:?}") };
        assert!(texts.iter().eq(["x", "", "x", ""]));
        assert_eq!(faults.first(), Some((1, "column b has no key")));
        let error = keys(&words, "b", KeyKind::U64, &mut faults).unwrap_err().to_string();
        assert!(error.contains("column b: has the type") && error.ends_with("whole numbers"), "{error}");
    }
    let empty: DictionaryArray<Int32Type> = [None::<&str>, None].into_iter().collect();
    let read = keys(&array(empty), "b", KeyKind::Str, &mut faults).unwrap();
    assert_eq!((read.len(), faults.of(0)), (2, Some("column b has no key")));
    let floats = array(Float64Array::from(vec![1.0]));
    for kind in [KeyKind::U64, KeyKind::Str, KeyKind::Dense] {
        assert!(keys(&floats, "c", kind, &mut faults).is_err());
    }
    assert!(keys(&numbers, "c", KeyKind::Str, &mut faults).is_err());
}

#[test]
fn a_weight_is_a_number_that_a_float_has() {
    let mut faults = Faults::default();
    let floats = array(Float32Array::from(vec![Some(0.5), None, Some(f32::NAN), Some(f32::INFINITY)]));
    assert_eq!(weights(&floats, "w", &mut faults).unwrap()[..2], [0.5, 1.0]);
    let why: Vec<bool> = (0..4).map(|row| faults.of(row).is_some()).collect();
    assert_eq!(why, [false, true, true, false]);
    let mut faults = Faults::default();
    let whole = array(Int64Array::from(vec![-3, (1 << 53) + 1, 1 << 60]));
    assert_eq!(weights(&whole, "w", &mut faults).unwrap()[0], -3.0);
    assert_eq!(faults.first().map(|(row, _)| row), Some(1));
    assert!(faults.of(2).is_none());
    assert!(weights(&array(BooleanArray::from(vec![true])), "w", &mut faults).is_err());
    let mut faults = Faults::default();
    assert_eq!(ranks(&array(UInt8Array::from(vec![7])), "r", &mut faults).unwrap(), [7]);
    assert_eq!(ranks(&array(Int8Array::from(vec![-7])), "r", &mut faults).unwrap(), [0]);
    assert_eq!(faults.first(), Some((0, "column r has a negative rank")));
}

#[test]
fn each_type_of_property_comes_in_with_its_nulls() {
    let time = |n| Value::Timestamp(n);
    let cases: Vec<(ArrayRef, Vec<Value>)> = vec![
        (array(BooleanArray::from(vec![Some(true), None])), vec![Value::Bool(true), Value::Null]),
        (array(UInt16Array::from(vec![Some(7), None])), vec![Value::I64(7), Value::Null]),
        (array(Float32Array::from(vec![Some(0.5), None])), vec![Value::F64(0.5), Value::Null]),
        (array(StringArray::from(vec![Some(""), None])), vec![Value::from(""), Value::Null]),
        (
            array(BinaryArray::from(vec![Some(&b"\xff"[..]), None])),
            vec![Value::from(&b"\xff"[..]), Value::Null],
        ),
        (
            array(BinaryViewArray::from(vec![Some(&b"z"[..]), None])),
            vec![Value::from(&b"z"[..]), Value::Null],
        ),
        (array(TimestampSecondArray::from(vec![Some(-2), None])), vec![time(-2_000_000), Value::Null]),
        (array(TimestampMillisecondArray::from(vec![Some(3), None])), vec![time(3_000), Value::Null]),
        (array(TimestampMicrosecondArray::from(vec![Some(4), None])), vec![time(4), Value::Null]),
        (array(TimestampNanosecondArray::from(vec![Some(-1_000), None])), vec![time(-1), Value::Null]),
    ];
    for (values, expected) in cases {
        let mut faults = Faults::default();
        let (column, cut) = property(&values, "p", &mut faults).unwrap();
        let found: Vec<Value> = (0..2).map(|row| column.get(row).to_owned()).collect();
        assert_eq!(found, expected, "{}", values.data_type());
        assert!(cut.is_empty() && faults.first().is_none());
    }
    let mut faults = Faults::default();
    let nanos = array(TimestampNanosecondArray::from(vec![-1, 1_000, 1_999]).with_timezone("+02:00"));
    let (column, cut) = property(&nanos, "p", &mut faults).unwrap();
    assert_eq!((column.get(0).to_owned(), column.get(2).to_owned()), (time(-1), time(1)));
    assert_eq!(cut, [0, 2]);
    let nulls = array(StringArray::new_null(3));
    let (column, _) = property(&nulls, "p", &mut faults).unwrap();
    assert_eq!((column.len(), column.get(2).to_owned()), (3, Value::Null));
    let far = array(TimestampSecondArray::from(vec![i64::MAX]));
    property(&far, "p", &mut faults).unwrap();
    assert_eq!(faults.first(), Some((0, "column p has a time out of the range of microseconds")));
    let mut faults = Faults::default();
    property(&array(UInt64Array::from(vec![1, 1 << 63])), "p", &mut faults).unwrap();
    assert_eq!(faults.first().map(|(row, _)| row), Some(1));
    for refused in
        [array(Date32Array::from(vec![1])), array(NullArray::new(1)), array(Time32SecondArray::new_null(1))]
    {
        let error = property(&refused, "day", &mut faults).unwrap_err().to_string();
        let has = refused.data_type().to_string();
        assert_eq!(error, format!("column day: no property has the type {has}"));
    }
}
