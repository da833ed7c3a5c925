//! The encoding of property columns. The layout is drawn in `docs/format/segment.md`.

use hedgerow_core::column::{Data, Ends};
use hedgerow_core::property::MAX_PROPERTIES;
use hedgerow_core::{Column, Columns, PropertyId, PropertyType};

use crate::bytes::{Bytes, Fault};

/// The flag of a column that begins with a mask of the rows that have a value.
const MASKED: u8 = 1;
/// The flag of a column of texts whose end positions take eight bytes.
const WIDE: u8 = 2;

/// Appends the columns of a part that has at least one column.
pub(super) fn encode(columns: &Columns, out: &mut Vec<u8>) {
    out.extend((columns.iter().len() as u32).to_le_bytes());
    for (id, column) in columns.iter() {
        let wide = matches!(column.data(), Data::Heap(Ends::Wide(_), _));
        let flags = if column.valid().is_some() { MASKED } else { 0 } | if wide { WIDE } else { 0 };
        out.extend(id.0.to_le_bytes());
        out.extend([column.kind() as u8, flags]);
        out.extend(column.valid().unwrap_or(&[]).iter().flat_map(|word| word.to_le_bytes()));
        match column.data() {
            Data::Bits(words) | Data::Words(words) => {
                out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            }
            Data::Heap(ends, heap) => {
                match ends {
                    Ends::Narrow(ends) => out.extend(ends.iter().flat_map(|end| end.to_le_bytes())),
                    Ends::Wide(ends) => out.extend(ends.iter().flat_map(|end| end.to_le_bytes())),
                }
                out.extend_from_slice(heap);
            }
        }
    }
}

/// Reads the columns of a part with `entries` edges. Allocates only in proportion to the bytes that it finds.
pub(super) fn decode(bytes: &mut Bytes<'_>, entries: usize) -> Result<Columns, Fault> {
    let count = bytes.u32()? as usize;
    bytes.require((1..=MAX_PROPERTIES).contains(&count), "number of columns out of range")?;
    // The list grows as columns are found: a count alone does not justify an allocation.
    let mut columns = Vec::new();
    for _ in 0..count {
        columns.push(decode_column(bytes, entries)?);
    }
    Columns::from_parts(columns, entries).ok_or_else(|| bytes.fault("columns out of order"))
}

fn decode_column(bytes: &mut Bytes<'_>, entries: usize) -> Result<(PropertyId, Column), Fault> {
    let id = PropertyId(bytes.u16()?);
    let kind = PropertyType::from_byte(bytes.u8()?);
    let kind = kind.ok_or_else(|| bytes.fault("unknown type of property"))?;
    let flags = bytes.u8()?;
    bytes.require(flags & !(MASKED | WIDE) == 0, "unknown column flags")?;
    bytes.require(flags & WIDE == 0 || !kind.is_fixed(), "ends in a column of fixed width")?;
    let words = |bytes: &mut Bytes<'_>, count: usize| {
        bytes.array(count, u64::from_le_bytes).map(Vec::into_boxed_slice)
    };
    let mask_words = entries.div_ceil(64);
    let valid = if flags & MASKED == 0 { None } else { Some(words(bytes, mask_words)?) };
    let data = match kind {
        PropertyType::Bool => Data::Bits(words(bytes, mask_words)?),
        kind if kind.is_fixed() => Data::Words(words(bytes, entries)?),
        _ => {
            let (ends, length) = if flags & WIDE == 0 {
                let ends = bytes.array(entries, u32::from_le_bytes)?;
                let last = ends.last().map_or(0, |last| u64::from(*last));
                (Ends::Narrow(ends.into()), last)
            } else {
                let ends = words(bytes, entries)?;
                let last = ends.last().copied().unwrap_or(0);
                (Ends::Wide(ends), last)
            };
            let length = usize::try_from(length).map_err(|_| bytes.fault("length overflows"))?;
            Data::Heap(ends, bytes.take(length)?.into())
        }
    };
    let column = Column::from_parts(kind, entries, valid, data);
    Ok((id, column.ok_or_else(|| bytes.fault("values of a column that do not fit each other"))?))
}
