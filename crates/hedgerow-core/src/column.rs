//! Property columns: the values of one property for a sequence of edges, parallel to the array of their
//! neighbours.
//!
//! A value of fixed width takes one word or one bit; texts and bytes are stored one after another in a heap.
//! A column is built once and never changed. A scan of the topology never reads it.

use crate::property::{PropertyId, PropertyType, ValueRef};
use crate::row::{Cells, Row};

/// The columns of a sequence of edges, ascending by property. A property without a column is null for all
/// edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(pub(crate) Vec<(PropertyId, Column)>);

impl Columns {
    /// Columns in which no property has a value.
    pub const NONE: Columns = Columns(Vec::new());
}

/// The values of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub(crate) kind: PropertyType,
    pub(crate) len: usize,
    /// The mask of present values: bit `i` is set if value `i` is present. `None` if all values are present.
    pub(crate) valid: Option<Box<[u64]>>,
    pub(crate) data: Data,
}

/// The storage of a column's values. A null is stored as zeros, or as an empty stretch of the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// One bit for each `bool`.
    Bits(Box<[u64]>),
    /// Eight bytes for each value: the bits of an `i64`, `f64` or `timestamp`.
    Words(Box<[u64]>),
    /// The end position of each value in the heap, and the heap.
    Heap(Ends, Box<[u8]>),
}

/// The end positions of values in a heap: four bytes each unless the heap is larger than 4 GiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ends {
    /// End positions in a heap below 4 GiB.
    Narrow(Box<[u32]>),
    /// End positions in a larger heap.
    Wide(Box<[u64]>),
}

impl Ends {
    pub(crate) fn get(&self, at: usize) -> usize {
        match self {
            Ends::Narrow(ends) => ends.get(at).copied().unwrap_or(0) as usize,
            Ends::Wide(ends) => ends.get(at).copied().unwrap_or(0) as usize,
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Ends::Narrow(ends) => ends.len(),
            Ends::Wide(ends) => ends.len(),
        }
    }

    /// True if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bytes(&self) -> usize {
        match self {
            Ends::Narrow(ends) => ends.len() * 4,
            Ends::Wide(ends) => ends.len() * 8,
        }
    }
}

fn bit(words: &[u64], at: usize) -> bool {
    words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

/// True if a mask for `len` values has the right size and no set bit beyond them.
fn mask_fits(words: &[u64], len: usize) -> bool {
    let beyond = match len % 64 {
        0 => 0,
        used => words.last().map_or(0, |last| last >> used),
    };
    words.len() == len.div_ceil(64) && beyond == 0
}

impl Column {
    /// Returns a column from its arrays, as a file has them. `None` unless they are consistent: equal
    /// lengths, no set bits beyond the last value, end positions that ascend to the end of the heap, and
    /// texts that are UTF-8 each. O(bytes).
    pub fn from_parts(
        kind: PropertyType,
        len: usize,
        valid: Option<Box<[u64]>>,
        data: Data,
    ) -> Option<Column> {
        if valid.as_ref().is_some_and(|mask| !mask_fits(mask, len)) {
            return None;
        }
        let fits = match (&data, kind) {
            (Data::Bits(bits), PropertyType::Bool) => mask_fits(bits, len),
            (Data::Words(words), PropertyType::I64 | PropertyType::F64 | PropertyType::Timestamp) => {
                words.len() == len
            }
            (Data::Heap(ends, heap), PropertyType::Utf8 | PropertyType::Bytes) => {
                heap_fits(ends, heap, len, kind == PropertyType::Utf8)
            }
            _ => false,
        };
        fits.then_some(Column { kind, len, valid, data })
    }

    /// Returns the type of the values.
    pub fn kind(&self) -> PropertyType {
        self.kind
    }

    /// Returns the number of values, nulls included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the mask of present values, bit `i` for value `i`; `None` if all values are present.
    pub fn valid(&self) -> Option<&[u64]> {
        self.valid.as_deref()
    }

    /// Returns the values.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the value at `at`; null if `at` is beyond the last value. O(1).
    #[inline]
    pub fn get(&self, at: usize) -> ValueRef<'_> {
        if at >= self.len || self.valid.as_ref().is_some_and(|mask| !bit(mask, at)) {
            return ValueRef::Null;
        }
        match &self.data {
            Data::Bits(bits) => ValueRef::Bool(bit(bits, at)),
            Data::Words(words) => match (words.get(at), self.kind) {
                (Some(&word), PropertyType::I64) => ValueRef::I64(word as i64),
                (Some(&word), PropertyType::F64) => ValueRef::F64(f64::from_bits(word)),
                (Some(&word), _) => ValueRef::Timestamp(word as i64),
                (None, _) => ValueRef::Null,
            },
            Data::Heap(ends, heap) => self.text(heap_range(ends, at), heap),
        }
    }

    fn text<'a>(&self, range: std::ops::Range<usize>, heap: &'a [u8]) -> ValueRef<'a> {
        let bytes = heap.get(range).unwrap_or(&[]);
        match self.kind {
            // The text was checked when the column was made. A value that is not UTF-8 all the same is read
            // as null.
            PropertyType::Utf8 => std::str::from_utf8(bytes).map_or(ValueRef::Null, ValueRef::Utf8),
            _ => ValueRef::Bytes(bytes),
        }
    }

    /// Returns the bytes of the arrays.
    pub fn bytes(&self) -> usize {
        let data = match &self.data {
            Data::Bits(words) | Data::Words(words) => words.len() * 8,
            Data::Heap(ends, heap) => ends.bytes() + heap.len(),
        };
        data + self.valid.as_ref().map_or(0, |mask| mask.len() * 8)
    }
}

fn heap_range(ends: &Ends, at: usize) -> std::ops::Range<usize> {
    let from = if at == 0 { 0 } else { ends.get(at - 1) };
    from..ends.get(at)
}

fn heap_fits(ends: &Ends, heap: &[u8], len: usize, utf8: bool) -> bool {
    let ascending = match ends {
        Ends::Narrow(ends) => ends.is_sorted(),
        Ends::Wide(ends) => ends.is_sorted(),
    };
    let last = if ends.is_empty() { 0 } else { ends.get(ends.len() - 1) };
    if !ascending || ends.len() != len || last != heap.len() {
        return false;
    }
    !utf8
        || (0..len)
            .all(|at| heap.get(heap_range(ends, at)).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok()))
}

impl Columns {
    /// Makes `Columns` from the columns of a file. `None` unless they ascend strictly by property and have
    /// `len` values each.
    pub fn from_parts(columns: Vec<(PropertyId, Column)>, len: usize) -> Option<Columns> {
        let sound = columns.is_sorted_by(|a, b| a.0 < b.0) && columns.iter().all(|(_, c)| c.len == len);
        sound.then_some(Columns(columns))
    }

    /// Returns the columns, ascending by property.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (PropertyId, &Column)> {
        self.0.iter().map(|(id, column)| (*id, column))
    }

    /// True if there is no column, because no edge has a property.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the column of a property.
    #[inline]
    pub fn column(&self, id: PropertyId) -> Option<&Column> {
        self.0.iter().find(|(found, _)| *found == id).map(|(_, column)| column)
    }

    /// Returns the value of a property of edge `at`; null if the property has no column.
    #[inline]
    pub fn get(&self, at: usize, id: PropertyId) -> ValueRef<'_> {
        self.column(id).map_or(ValueRef::Null, |column| column.get(at))
    }

    /// Returns the properties of edge `at` as an owned row.
    pub fn row(&self, at: usize) -> Option<Row> {
        Row::new(self.0.iter().map(|(id, column)| (*id, column.get(at).to_owned())).collect::<Cells>())
    }

    /// Returns the bytes of all arrays.
    pub fn bytes(&self) -> usize {
        self.0.len() * size_of::<(PropertyId, Column)>()
            + self.0.iter().map(|(_, column)| column.bytes()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
