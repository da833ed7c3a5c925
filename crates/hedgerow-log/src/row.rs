//! The properties of one edge or vertex as bytes: property (2), type (1), value; ascending by property.

use hedgerow_core::property::MAX_VALUE_BYTES;
use hedgerow_core::{PropertyId, PropertyType, Row, RowRef, ValueRef};
use hedgerow_io::codec::{PutLe, Reader};

/// Appends the bytes of `row` in a record. O(bytes).
pub fn encode_row(row: RowRef<'_>, out: &mut Vec<u8>) {
    row.for_each(|id, value| {
        let Some(kind) = value.property_type() else { return };
        out.put_u16(id.0);
        out.put_u8(kind as u8);
        match value {
            ValueRef::Null => {}
            ValueRef::Bool(b) => out.put_u8(u8::from(b)),
            ValueRef::I64(n) | ValueRef::Timestamp(n) => out.put_u64(n as u64),
            ValueRef::F64(x) => out.put_f64(x),
            ValueRef::Utf8(s) => put_variable(s.as_bytes(), out),
            ValueRef::Bytes(b) => put_variable(b, out),
        }
    });
}

fn put_variable(bytes: &[u8], out: &mut Vec<u8>) {
    out.put_u32(bytes.len() as u32);
    out.put_bytes(bytes);
}

/// Reads the row in `bytes`; `None` for no bytes.
///
/// # Errors
/// The broken rule, if the bytes are not a row. Allocates only if the bytes exist.
pub fn decode_row(bytes: &[u8]) -> Result<Option<Row>, &'static str> {
    let mut cells = Vec::new();
    walk(bytes, |id, value| cells.push((id, value.to_owned())))?;
    Ok(Row::new(cells))
}

/// Checks like [`decode_row`], but stores nothing.
pub(crate) fn check_row(bytes: &[u8]) -> Result<(), &'static str> {
    walk(bytes, |_, _| ())
}

fn walk<'a>(bytes: &'a [u8], mut found: impl FnMut(PropertyId, ValueRef<'a>)) -> Result<(), &'static str> {
    let mut r = Reader::new(bytes);
    let mut last = None;
    while !r.is_empty() {
        let id = PropertyId(r.u16().map_err(|_| SHORT)?);
        if last.is_some_and(|last| last >= id) {
            return Err("properties out of order");
        }
        last = Some(id);
        found(id, read_value(&mut r)?);
    }
    Ok(())
}

const SHORT: &str = "properties cut short";

fn read_value<'a>(r: &mut Reader<'a>) -> Result<ValueRef<'a>, &'static str> {
    let kind = PropertyType::from_byte(r.u8().map_err(|_| SHORT)?).ok_or("an unknown type of property")?;
    Ok(match kind {
        PropertyType::Bool => match r.u8().map_err(|_| SHORT)? {
            0 => ValueRef::Bool(false),
            1 => ValueRef::Bool(true),
            _ => return Err("a bool that is neither true nor false"),
        },
        PropertyType::I64 => ValueRef::I64(r.u64().map_err(|_| SHORT)? as i64),
        PropertyType::Timestamp => ValueRef::Timestamp(r.u64().map_err(|_| SHORT)? as i64),
        PropertyType::F64 => ValueRef::F64(r.f64().map_err(|_| SHORT)?),
        PropertyType::Utf8 | PropertyType::Bytes => {
            let len = r.u32().map_err(|_| SHORT)? as usize;
            if len > MAX_VALUE_BYTES {
                return Err("a value longer than values may be");
            }
            let bytes = r.bytes(len).map_err(|_| SHORT)?;
            if kind == PropertyType::Bytes {
                return Ok(ValueRef::Bytes(bytes));
            }
            ValueRef::Utf8(std::str::from_utf8(bytes).map_err(|_| "text that is not UTF-8")?)
        }
    })
}

#[cfg(test)]
mod tests {
    use hedgerow_core::Value;

    use super::*;

    fn row() -> Row {
        let cells = [
            (0, Value::Bool(true)),
            (1, Value::I64(-5)),
            (2, Value::F64(f64::NAN)),
            (7, "text é".into()),
            (8, Value::Bytes([0, 255].as_slice().into())),
            (900, Value::Timestamp(i64::MIN)),
        ];
        Row::new(cells.map(|(id, value)| (PropertyId(id), value)).to_vec()).unwrap()
    }

    #[test]
    fn rows_come_back() {
        let mut bytes = Vec::new();
        encode_row(RowRef::Row(&row()), &mut bytes);
        assert_eq!(decode_row(&bytes), Ok(Some(row())));
        assert_eq!(decode_row(&[]), Ok(None));
    }

    #[test]
    fn damaged_rows_are_refused_or_differ() {
        let mut bytes = Vec::new();
        encode_row(RowRef::Row(&row()), &mut bytes);
        for cut in 1..bytes.len() {
            assert_ne!(decode_row(&bytes[..cut]), Ok(Some(row())));
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_ne!(decode_row(&damaged), Ok(Some(row())), "byte {at}, bit {bit}");
            }
        }
        let twice = [bytes.clone(), bytes].concat();
        assert_eq!(decode_row(&twice), Err("properties out of order"));
    }
}
