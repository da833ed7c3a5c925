//! Assembly of one column.

use std::ops::Range;

use crate::column::{Column, Data, Ends};
use crate::property::{PropertyType, ValueRef};

/// Sets bit `at` of a mask, which grows if necessary.
fn set(mask: &mut Vec<u64>, at: usize, bit: bool) {
    if at / 64 >= mask.len() {
        mask.resize(at / 64 + 1, 0);
    }
    mask[at / 64] |= u64::from(bit) << (at % 64);
}

/// Appends the first `count` of `values`. If `count` is small, copies a fixed number of words, without a
/// call.
#[inline]
fn extend_few(words: &mut Vec<u64>, values: &[u64], count: usize) {
    const FEW: usize = 16;
    let len = words.len();
    match values.first_chunk::<FEW>() {
        Some(few) if count <= FEW && words.capacity() - len >= FEW => {
            words.extend_from_slice(few);
            words.truncate(len + count);
        }
        _ => words.extend_from_slice(values.get(..count).unwrap_or(&[])),
    }
}

/// A builder of one column, value by value and stretch by stretch.
pub struct ColumnBuilder {
    pub(super) kind: PropertyType,
    /// The mask of present values; empty while all values are present.
    valid: Vec<u64>,
    found: usize,
    len: usize,
    bits: Vec<u64>,
    words: Vec<u64>,
    ends: Vec<u64>,
    heap: Vec<u8>,
}

impl ColumnBuilder {
    /// Makes a builder for about `expected` values of a type.
    pub fn new(kind: PropertyType, expected: usize) -> ColumnBuilder {
        let is_bits = kind == PropertyType::Bool;
        let room = |wanted: bool, size: usize| if wanted { size } else { 0 };
        ColumnBuilder {
            kind,
            valid: Vec::new(),
            found: 0,
            len: 0,
            bits: Vec::with_capacity(room(is_bits, expected.div_ceil(64))),
            words: Vec::with_capacity(room(kind.is_fixed() && !is_bits, expected)),
            ends: Vec::with_capacity(room(!kind.is_fixed(), expected)),
            heap: Vec::new(),
        }
    }

    /// Adds a value of eight bytes by its bits. Returns false, and adds nothing, if the column has a mask or
    /// its values are single bits.
    #[inline]
    pub(super) fn push_word(&mut self, word: u64) -> bool {
        let simple = self.valid.is_empty() && self.kind != PropertyType::Bool;
        if simple {
            self.words.push(word);
            (self.found, self.len) = (self.found + 1, self.len + 1);
        }
        simple
    }

    /// Adds a value of the type of the column, or a null.
    #[inline]
    pub fn push(&mut self, value: ValueRef<'_>) {
        let here = value.property_type() == Some(self.kind);
        debug_assert!(here || value.is_null(), "a value of another type than its column");
        match (value, self.kind) {
            (value, PropertyType::Bool) => set(&mut self.bits, self.len, value == ValueRef::Bool(true)),
            (ValueRef::I64(n), PropertyType::I64) | (ValueRef::Timestamp(n), PropertyType::Timestamp) => {
                self.words.push(n as u64);
            }
            (ValueRef::F64(x), PropertyType::F64) => self.words.push(x.to_bits()),
            (_, PropertyType::I64 | PropertyType::Timestamp | PropertyType::F64) => self.words.push(0),
            (value, kind) => {
                match value {
                    ValueRef::Utf8(s) if kind == PropertyType::Utf8 => {
                        self.heap.extend_from_slice(s.as_bytes());
                    }
                    ValueRef::Bytes(b) if kind == PropertyType::Bytes => self.heap.extend_from_slice(b),
                    _ => {}
                }
                self.ends.push(self.heap.len() as u64);
            }
        }
        if here { self.found(1) } else { self.missing(1) }
    }

    /// Counts the next values as present.
    #[inline]
    fn found(&mut self, count: usize) {
        if !self.valid.is_empty() {
            (self.len..self.len + count).for_each(|at| set(&mut self.valid, at, true));
        }
        self.found += count;
        self.len += count;
    }

    /// Counts the next values as null. The mask is made at the first null, because most columns have none.
    fn missing(&mut self, count: usize) {
        if count > 0 && self.valid.is_empty() {
            (0..self.len).for_each(|at| set(&mut self.valid, at, true));
        }
        self.len += count;
        if count > 0 {
            self.valid.resize(self.len.div_ceil(64), 0);
        }
    }

    /// Copies a stretch of another column of eight-byte values. Returns false, and copies nothing, if either
    /// column has a null.
    #[inline]
    pub(super) fn copy_words(&mut self, from: &Column, range: Range<usize>) -> bool {
        let (Data::Words(words), None, true) = (&from.data, &from.valid, self.valid.is_empty()) else {
            return false;
        };
        extend_few(&mut self.words, words.get(range.start..).unwrap_or(&[]), range.len());
        (self.found, self.len) = (self.found + range.len(), self.len + range.len());
        true
    }

    /// Copies a stretch of another column of the same type. If `from` is `None`, adds as many nulls.
    pub fn copy(&mut self, from: Option<&Column>, range: Range<usize>) {
        let Some(from) = from else {
            return self.nulls(range.len());
        };
        match (&from.data, &from.valid) {
            (Data::Words(words), None) => {
                extend_few(&mut self.words, words.get(range.start..).unwrap_or(&[]), range.len());
                self.found(range.len());
            }
            (Data::Heap(ends, heap), None) if from.kind == self.kind => self.copy_heap(ends, heap, range),
            _ => range.for_each(|at| self.push(from.get(at))),
        }
    }

    /// Copies a stretch of texts or bytes, all of them present.
    fn copy_heap(&mut self, ends: &Ends, heap: &[u8], range: Range<usize>) {
        let from = range.start.checked_sub(1).map_or(0, |before| ends.get(before));
        let mut last = from;
        for at in range.clone() {
            // End positions ascend. The end positions of a damaged column must not lead outside the heap.
            last = ends.get(at).clamp(last, heap.len().max(last));
            self.ends.push((self.heap.len() + last - from) as u64);
        }
        self.heap.extend_from_slice(heap.get(from..last).unwrap_or(&[]));
        self.found(range.len());
    }

    /// Adds `count` nulls.
    pub fn nulls(&mut self, count: usize) {
        self.missing(count);
        if self.kind == PropertyType::Bool {
            self.bits.resize(self.len.div_ceil(64), 0);
        } else if self.kind.is_fixed() {
            self.words.resize(self.len, 0);
        } else {
            self.ends.resize(self.len, self.heap.len() as u64);
        }
    }

    /// Returns the type of the values.
    #[inline]
    pub fn kind(&self) -> PropertyType {
        self.kind
    }

    /// Returns the number of values so far, nulls included.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the column; `None` if every value is null.
    pub fn finish(self) -> Option<Column> {
        (self.found > 0).then(|| self.finish_any())
    }

    /// Returns the column, also if every value is null.
    fn finish_any(self) -> Column {
        let data = if self.kind == PropertyType::Bool {
            Data::Bits(self.bits.into())
        } else if self.kind.is_fixed() {
            Data::Words(self.words.into())
        } else if u32::try_from(self.heap.len()).is_ok() {
            Data::Heap(Ends::Narrow(self.ends.iter().map(|&end| end as u32).collect()), self.heap.into())
        } else {
            Data::Heap(Ends::Wide(self.ends.into()), self.heap.into())
        };
        let valid = (self.found < self.len).then(|| self.valid.into());
        Column { kind: self.kind, len: self.len, valid, data }
    }
}

impl Column {
    /// Returns a column of values of one type and nulls. `None` if a value is of another type. O(bytes).
    pub fn of_values<'v>(
        kind: PropertyType,
        values: impl IntoIterator<Item = ValueRef<'v>>,
    ) -> Option<Column> {
        let values = values.into_iter();
        let mut column = ColumnBuilder::new(kind, values.size_hint().0);
        for value in values {
            if value.property_type().is_some_and(|found| found != kind) {
                return None;
            }
            column.push(value);
        }
        Some(column.finish_any())
    }

    fn of_words(kind: PropertyType, words: Vec<u64>) -> Column {
        Column { kind, len: words.len(), valid: None, data: Data::Words(words.into()) }
    }
}

impl From<Vec<i64>> for Column {
    /// Makes a column of these values. O(values).
    fn from(values: Vec<i64>) -> Column {
        Column::of_words(PropertyType::I64, values.into_iter().map(|n| n as u64).collect())
    }
}

impl From<Vec<f64>> for Column {
    /// Makes a column of these values. O(values).
    fn from(values: Vec<f64>) -> Column {
        Column::of_words(PropertyType::F64, values.into_iter().map(f64::to_bits).collect())
    }
}
