use super::*;
use crate::property::Value;

fn row(cells: &[(u16, Value)]) -> Option<Row> {
    Row::new(cells.iter().map(|(id, value)| (PropertyId(*id), value.clone())).collect::<Cells>())
}

#[test]
fn the_last_of_equal_cells_counts_and_nulls_vanish() {
    let found = row(&[(2, 1.into()), (1, 5.into()), (2, 7.into()), (3, Value::Null)]).unwrap();
    assert_eq!(found.cells(), &[(PropertyId(1), 5.into()), (PropertyId(2), 7.into())]);
    assert_eq!(row(&[(1, 5.into()), (1, Value::Null)]), None);
    assert_eq!(row(&[]), None);
}

#[test]
fn a_patch_replaces_adds_and_removes() {
    let base = row(&[(0, "a".into()), (1, true.into())]);
    let patch = [(PropertyId(1), Value::Null), (PropertyId(4), 2.5.into())];
    let found = Row::merged(base.as_ref(), &patch).unwrap();
    assert_eq!(found.get(PropertyId(0)), ValueRef::Utf8("a"));
    assert_eq!(found.get(PropertyId(1)), ValueRef::Null);
    assert_eq!(found.get(PropertyId(4)), ValueRef::F64(2.5));
    assert_eq!(found.fixed_only(), row(&[(4, 2.5.into())]));
    assert_eq!(Row::merged(None, &[(PropertyId(0), Value::Null)]), None);
}

#[test]
fn values_are_equal_by_their_bits() {
    assert_eq!(Value::F64(f64::NAN), Value::F64(f64::NAN));
    assert_ne!(Value::F64(0.0), Value::F64(-0.0));
    assert_ne!(Value::I64(1), Value::Timestamp(1));
    assert_eq!(Value::I64(7).as_ref().as_number(), Some(7.0));
    for kind in (1..=6).filter_map(PropertyType::from_byte) {
        assert_eq!(PropertyType::from_name(kind.name()), Some(kind));
    }
    assert_eq!((PropertyType::from_byte(0), PropertyType::from_byte(7)), (None, None));
}
