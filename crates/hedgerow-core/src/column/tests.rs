use super::*;
use crate::assemble::ColumnsBuilder;
use crate::property::Value;
use crate::row_ref::RowRef;

fn rows() -> Vec<Option<Row>> {
    let row = |cells: &[(u16, Value)]| {
        Row::new(cells.iter().map(|(id, v)| (PropertyId(*id), v.clone())).collect::<Cells>())
    };
    let mut rows = vec![
        row(&[(0, true.into()), (1, 5.into()), (3, "é".into())]),
        None,
        row(&[(0, false.into()), (2, f64::NAN.into())]),
        row(&[(3, "".into()), (4, Value::Bytes(Arc::from([1, 2].as_slice()))), (5, Value::Timestamp(-3))]),
    ];
    // More rows than the 64 bits of one word of a mask.
    for i in 0..150 {
        rows.push(row(&[(1, i.into()), (3, format!("text {i}").as_str().into())]));
    }
    rows
}

use std::sync::Arc;

fn build(rows: &[Option<Row>]) -> Columns {
    Columns::of_rows(rows.iter().map(|row| row.as_ref().into()))
}

#[test]
fn rows_come_back_from_columns() {
    let rows = rows();
    let columns = build(&rows);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(&columns.row(at), row, "row {at}");
        assert_eq!(&RowRef::Columns(&columns, at).to_row(), row);
        let fixed = RowRef::Columns(&columns, at).fixed_only();
        assert_eq!(fixed.to_row(), RowRef::from(row.as_ref()).fixed_only().to_row(), "row {at}");
        assert_eq!(fixed.is_empty(), fixed.to_row().is_none());
        let mut cells = Cells::new();
        fixed.for_each(|id, value| cells.push((id, value.to_owned())));
        assert_eq!(Row::new(cells), fixed.to_row());
    }
    assert_eq!(columns.iter().len(), 6);
    assert_eq!(columns.get(rows.len(), PropertyId(1)), ValueRef::Null);
    assert_eq!(columns.get(0, PropertyId(9)), ValueRef::Null);
}

#[test]
fn assembling_equals_building_from_rows() {
    let rows = rows();
    let columns = build(&rows);
    let new = Row::new(vec![(PropertyId(7), "new".into())]);
    let mut assembled = ColumnsBuilder::new(&columns, 160);
    assembled.copy(3..70);
    assembled.push(new.as_ref().into());
    assembled.push(RowRef::Empty);
    assembled.copy(0..2);
    assembled.copy(70..154);
    let mut expected = rows[3..70].to_vec();
    expected.extend([new.clone(), None]);
    expected.extend_from_slice(&rows[0..2]);
    expected.extend_from_slice(&rows[70..154]);
    assert_eq!(assembled.finish(), build(&expected));
    // If no copied row has a value of a property, the builder drops the column of the property.
    let copied = |range| {
        let mut copied = ColumnsBuilder::new(&columns, 1);
        copied.copy(range);
        copied.finish()
    };
    assert_eq!(copied(0..1).iter().len(), 3);
    assert!(copied(1..2).is_empty());
}

/// A builder copies rows of other columns in stretches: whole columns, a column with nulls, rows of two
/// sources in turns, and a column that the other source lacks.
#[test]
fn rows_of_columns_are_taken_over() {
    let rows = rows();
    let (all, late) = (build(&rows), build(&rows[4..]));
    let new = Row::new(vec![(PropertyId(7), "new".into())]);
    let mut assembled = ColumnsBuilder::new(&late, 160);
    let mut expected = Vec::new();
    for range in [4..154, 0..6, 5..6, 7..9, 9..10, 3..4] {
        range.clone().for_each(|at| assembled.push(RowRef::Columns(&all, at)));
        expected.extend_from_slice(&rows[range.clone()]);
        if range.start < 4 {
            assembled.push(new.as_ref().into());
            assembled.copy(3..5);
            expected.push(new.clone());
            expected.extend_from_slice(&rows[7..9]);
        } else {
            assembled.push(RowRef::Columns(&late, range.start - 4));
            expected.push(rows[range.start].clone());
        }
    }
    assert_eq!(assembled.finish(), build(&expected));
}

/// `by_value` returns a row of one number as that number, both from a row and from columns. A row with a text
/// or with several cells remains a reference.
#[test]
fn one_number_is_taken_by_value() {
    let number = Row::new([(PropertyId(1), Value::I64(5))]);
    let text = Row::new([(PropertyId(1), "text".into())]);
    let several = Row::new(vec![(PropertyId(1), Value::I64(5)), (PropertyId(2), Value::I64(6))]);
    for (row, is_word) in [(number, true), (text, false), (several, false)] {
        let columns = Columns::of_rows([RowRef::from(row.as_ref())]);
        for found in [RowRef::from(row.as_ref()), RowRef::Columns(&columns, 0)] {
            let by_value = found.by_value();
            assert_eq!(matches!(by_value, RowRef::Word(..)), is_word);
            assert_eq!(by_value.to_row(), row);
        }
        let fixed = RowRef::Columns(&columns, 0).fixed_only();
        assert_eq!(fixed.by_value().to_row(), fixed.to_row());
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let words = |n: usize| Data::Words(vec![0; n].into());
    let heap = |ends: &[u32], heap: &[u8]| Data::Heap(Ends::Narrow(ends.into()), heap.into());
    let made = |kind, len, valid: Option<&[u64]>, data| {
        Column::from_parts(kind, len, valid.map(Into::into), data).is_some()
    };
    assert!(made(PropertyType::I64, 3, None, words(3)));
    assert!(!made(PropertyType::I64, 3, None, words(2)));
    assert!(!made(PropertyType::Bool, 3, None, words(3)));
    assert!(made(PropertyType::I64, 3, Some(&[5]), words(3)));
    assert!(!made(PropertyType::I64, 3, Some(&[9]), words(3)), "a bit beyond the end");
    assert!(!made(PropertyType::I64, 3, Some(&[1, 0]), words(3)), "a mask too long");
    assert!(!made(PropertyType::Bool, 64, None, Data::Bits(Box::new([]))));
    assert!(made(PropertyType::Utf8, 2, None, heap(&[1, 3], "aé".as_bytes())));
    assert!(!made(PropertyType::Utf8, 2, None, heap(&[2, 3], "aé".as_bytes())), "a cut character");
    assert!(made(PropertyType::Bytes, 2, None, heap(&[2, 3], "aé".as_bytes())));
    assert!(!made(PropertyType::Bytes, 2, None, heap(&[2, 1], &[0; 3])));
    assert!(!made(PropertyType::Bytes, 2, None, heap(&[1, 2], &[0; 3])));
}
