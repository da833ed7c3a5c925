//! A write of vertices by columns equals a write by rows, one after another.

use hedgerow::{
    ArgumentError, Column, Error, Graph, KeyKind, KindId, Properties, PropertyType, Value, ValueRef,
    VertexKey,
};
use hedgerow_testkit::SimFs;

use crate::common;

/// A transaction makes room for the announced rows of an iterator. If these are more than it can take, it
/// refuses them before it makes room.
#[test]
fn more_vertices_than_a_transaction_takes_are_refused_before_any_is_read() {
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    let none_read = |_: u64| -> u64 { panic!("a row was read") };
    let rows = (0..u64::MAX).map(none_read).map(|n| (n, [n as i64]));
    let by_row = tx.put_vertices_with(KindId::DEFAULT, &["age"], rows).unwrap_err();
    let ages = Column::from(vec![1i64]);
    let by_column = tx
        .put_vertex_columns(KindId::DEFAULT, (0..u64::MAX).map(none_read), &[("age", &ages)], 0)
        .unwrap_err();
    for error in [by_row, by_column] {
        assert!(matches!(error, Error::Argument(ArgumentError::TooLarge { .. })), "{error}");
    }
    tx.put_vertices_with(KindId::DEFAULT, &["age"], [(1, [2i64])]).unwrap();
    tx.commit().unwrap();
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 1);
}

/// Returns the properties of each vertex, in the order of the vertex numbers.
fn content(graph: &Graph, keys: KeyKind) -> Vec<Option<Properties>> {
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.vertex_count(), ROWS as u64);
    (0..ROWS).map(|at| snapshot.vertex_properties(key(keys, at).as_ref()).unwrap()).collect()
}

/// Returns value `at` of a column, which is null at every `nulls`th place.
fn value(kind: PropertyType, at: usize, nulls: usize) -> Value {
    if nulls > 0 && at.is_multiple_of(nulls) {
        return Value::Null;
    }
    match kind {
        PropertyType::Bool => Value::Bool(at.is_multiple_of(3)),
        PropertyType::I64 => Value::I64(-(at as i64)),
        PropertyType::F64 => Value::F64(at as f64 / 7.0),
        PropertyType::Utf8 => Value::from("é".repeat(at % 5).as_str()),
        PropertyType::Bytes => Value::Bytes(vec![at as u8; at % 4].into()),
        _ => Value::Timestamp(at as i64),
    }
}

fn column(kind: PropertyType, rows: usize, nulls: usize) -> Column {
    let values: Vec<Value> = (0..rows).map(|at| value(kind, at, nulls)).collect();
    Column::of_values(kind, values.iter().map(Value::as_ref)).expect("values of one type")
}

const ROWS: usize = 3000;

/// Returns the columns of the test. `age` comes twice: the second column has only some values, which replace
/// values of the first.
fn columns() -> Vec<(&'static str, Column)> {
    vec![
        ("name", column(PropertyType::Utf8, ROWS, 0)),
        ("age", column(PropertyType::I64, ROWS, 0)),
        ("score", column(PropertyType::F64, ROWS, 2)),
        ("seen", column(PropertyType::Timestamp, ROWS, 1)),
        ("photo", column(PropertyType::Bytes, ROWS, 64)),
        ("adult", column(PropertyType::Bool, ROWS, 3)),
        ("age", Column::of_values(PropertyType::I64, (0..ROWS).map(late_age)).unwrap()),
    ]
}

fn late_age(at: usize) -> ValueRef<'static> {
    if at.is_multiple_of(5) { ValueRef::I64(at as i64 + 1000) } else { ValueRef::Null }
}

fn key(keys: KeyKind, at: usize) -> VertexKey {
    let number = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match keys {
        KeyKind::Dense => VertexKey::U64(at as u64),
        KeyKind::U64 => VertexKey::U64(number),
        KeyKind::Str => VertexKey::Str(format!("vertex {number}").as_str().into()),
    }
}

/// Puts all rows in transactions of `batch` rows, by columns or by rows. Then puts some rows again, with the
/// same values and with changed ones.
fn put(graph: &Graph, keys: KeyKind, batch: usize, by_column: bool) {
    let columns = columns();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let given: Vec<_> = columns.iter().map(|(name, column)| (*name, column)).collect();
    let starts = (0..ROWS).step_by(batch).map(|from| (from, from));
    // The same rows once more, and then vertices with the values of other rows.
    for (first, from) in starts.chain([(100, 100), (200, 1)]) {
        let all: Vec<VertexKey> = (first..ROWS.min(first + batch)).map(|at| key(keys, at)).collect();
        let mut tx = graph.write().unwrap();
        if by_column {
            tx.put_vertex_columns(KindId::DEFAULT, &all, &given, from).unwrap();
        } else {
            let rows = all.iter().enumerate().map(|(nth, key)| {
                (key, columns.iter().map(move |(_, column)| column.get(from + nth).to_owned()))
            });
            tx.put_vertices_with(KindId::DEFAULT, &names, rows).unwrap();
        }
        tx.commit().unwrap();
    }
}

#[test]
fn columns_are_rows_one_after_another() {
    for keys in [KeyKind::U64, KeyKind::Str, KeyKind::Dense] {
        for batch in [1, 7, 300, ROWS] {
            let disk = SimFs::new();
            let options = common::small().keys(keys);
            let by_column = options.clone().open_on(disk.handle()).unwrap();
            put(&by_column, keys, batch, true);
            let by_row = options.clone().in_memory().unwrap();
            put(&by_row, keys, batch, false);
            let expected = content(&by_row, keys);
            assert!(expected.iter().all(Option::is_some));
            // Some vertices have the values of other rows after the last put.
            let photo = |at: usize| value(PropertyType::Bytes, at, 64);
            let moved = if batch > 30 { 31 } else { 230 };
            let read = by_row.snapshot().unwrap().vertex_property(key(keys, 230).as_ref(), "photo").unwrap();
            assert_eq!(read, Some(photo(moved)), "batches of {batch}");
            assert_eq!(content(&by_column, keys), expected, "batches of {batch}");
            common::sound(&by_column).unwrap();
            by_column.close().unwrap();
            let opened = options.open_on(disk.handle()).unwrap();
            assert_eq!(content(&opened, keys), expected, "after opening, batches of {batch}");
        }
    }
}

#[test]
fn a_transaction_reads_what_it_put_by_the_column() {
    let graph = Graph::in_memory().unwrap();
    let ages = Column::from(vec![30, 40, 50]);
    let mut tx = graph.write().unwrap();
    tx.put_edge((1, 2)).unwrap();
    tx.put_vertex_columns(KindId::DEFAULT, [2, 3], &[("age", &ages)], 1).unwrap();
    assert!(tx.contains_vertex(3).unwrap());
    assert_eq!(tx.vertex_property(2, "age").unwrap(), Some(Value::I64(40)));
    tx.update_vertex(3, [("name", "Ann")]).unwrap();
    tx.commit().unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.vertex_property(3, "age").unwrap(), Some(Value::I64(50)));
    assert_eq!(snapshot.vertex_property(3, "name").unwrap(), Some(Value::from("Ann")));
    assert!(snapshot.contains_edge((1, 2)).unwrap());
}

#[test]
fn columns_that_do_not_fit_add_nothing() {
    let graph = Graph::in_memory().unwrap();
    let page = graph.define_kind("page", KeyKind::U64).unwrap();
    let (ages, texts) = (Column::from(vec![1, 2, 3]), column(PropertyType::Utf8, 3, 0));
    let long = "x".repeat(hedgerow_core::property::MAX_VALUE_BYTES + 1);
    let long = Column::of_values(PropertyType::Utf8, [ValueRef::Utf8(&long)]).unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_vertex_columns(KindId::DEFAULT, [1], &[("age", &ages)], 0).unwrap();
    let mut refused = |kind, keys: &[VertexKey], columns: &[(&str, &Column)], from| {
        let before = tx.operation_count();
        let error = tx.put_vertex_columns(kind, keys, columns, from).unwrap_err();
        assert_eq!(tx.operation_count(), before);
        error
    };
    let two = [1, 2].map(VertexKey::U64);
    let short = refused(KindId::DEFAULT, &two, &[("age", &ages)], 2);
    let expected = "property age needs 2 values from row 2 on, but has 3 values";
    assert!(short.to_string().contains(expected), "{short}");
    refused(KindId::DEFAULT, &two, &[("age", &ages)], usize::MAX);
    let typed = refused(KindId::DEFAULT, &two, &[("age", &texts)], 1);
    assert!(matches!(typed, Error::Argument(ArgumentError::PropertyType { .. })), "{typed}");
    let long = refused(KindId::DEFAULT, &two[..1], &[("text", &long)], 0);
    assert!(matches!(long, Error::Argument(ArgumentError::TooLarge { .. })), "{long}");
    refused(KindId::DEFAULT, &[page.key(1).to_owned()], &[], 0);
    refused(page, &[VertexKey::Str("a".into())], &[], 0);
    refused(KindId(9), &two, &[], 0);
    tx.commit().unwrap();
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 1);
    assert!(Column::of_values(PropertyType::I64, [ValueRef::Null, ValueRef::Bool(true)]).is_none());
}
