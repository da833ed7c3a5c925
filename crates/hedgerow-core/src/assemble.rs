//! Making the columns of a new run of edges, of stretches of an old run and of rows.

use std::ops::Range;

use crate::column::{Column, Columns, Data, Ends};
use crate::property::{PropertyId, PropertyType, ValueRef};
use crate::row_ref::RowRef;

impl Columns {
    /// The columns of edges with these properties, one after another. O(values).
    pub fn of_rows<'a>(rows: impl IntoIterator<Item = RowRef<'a>>) -> Columns {
        let mut columns = ColumnsBuilder::new(const { &Columns::NONE }, 0);
        rows.into_iter().for_each(|row| columns.push(row));
        columns.finish()
    }
}

/// Columns that are being written, edge by edge: stretches of an old run and rows, one after another.
///
/// A step costs O(columns), a stretch O(bytes of its values). A property that no edge has gets no column.
pub struct ColumnsBuilder<'a> {
    /// About how many edges there will be.
    expected: usize,
    len: usize,
    /// Ascending by property; each with the old column that stretches come from, if there is one.
    columns: Vec<(PropertyId, Option<&'a Column>, Builder)>,
}

impl<'a> ColumnsBuilder<'a> {
    /// For about `expected` edges, some of them of the run that `from` belongs to. Allocates 8 bytes for each edge and column of
    /// fixed width.
    pub fn new(from: &'a Columns, expected: usize) -> ColumnsBuilder<'a> {
        let columns =
            from.0.iter().map(|(id, column)| (*id, Some(column), Builder::new(column.kind, expected)));
        ColumnsBuilder { expected, len: 0, columns: columns.collect() }
    }

    /// Adds one edge with these properties.
    #[inline]
    pub fn push(&mut self, row: RowRef<'_>) {
        // Most edges with properties have one number each.
        if let (RowRef::Word(id, kind, word), [(column, _, builder)]) = (row, &mut self.columns[..])
            && (*column, builder.kind) == (id, kind)
            && builder.push_word(word)
        {
            self.len += 1;
        } else {
            self.push_any(row);
        }
    }

    #[inline(never)]
    fn push_any(&mut self, row: RowRef<'_>) {
        // Both ascend by property.
        let (mut at, len, expected) = (0, self.len, self.expected);
        let columns = &mut self.columns;
        row.for_each(|id, value| {
            while let Some((_, _, builder)) = columns.get_mut(at).filter(|(column, ..)| *column < id) {
                builder.nulls(1);
                at += 1;
            }
            if columns.get(at).is_none_or(|(column, ..)| *column != id) {
                let Some(kind) = value.property_type() else { return };
                let mut builder = Builder::new(kind, expected);
                builder.nulls(len);
                columns.insert(at, (id, None, builder));
            }
            columns[at].2.push(value);
            at += 1;
        });
        columns[at..].iter_mut().for_each(|(_, _, builder)| builder.nulls(1));
        self.len += 1;
    }

    /// Adds the edges of the old run in this range, which must lie inside it.
    #[inline]
    pub fn copy(&mut self, range: Range<usize>) {
        let count = range.len();
        if let [(_, Some(from), builder)] = &mut self.columns[..]
            && builder.copy_words(from, range.clone())
        {
            self.len += count;
        } else {
            self.copy_any(range);
        }
    }

    #[inline(never)]
    fn copy_any(&mut self, range: Range<usize>) {
        self.columns.iter_mut().for_each(|(_, from, builder)| builder.copy(*from, range.clone()));
        self.len += range.len();
    }

    /// The columns of all that was added.
    pub fn finish(self) -> Columns {
        let columns = self.columns.into_iter();
        Columns(columns.filter_map(|(id, _, builder)| Some((id, builder.finish()?))).collect())
    }
}

/// Appends the first `count` of `values`; a few of them without a call, by copying a fixed number.
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

/// Sets bit `at` of a mask that grows to it.
fn set(mask: &mut Vec<u64>, at: usize, bit: bool) {
    if at / 64 >= mask.len() {
        mask.resize(at / 64 + 1, 0);
    }
    mask[at / 64] |= u64::from(bit) << (at % 64);
}

/// Collects the values of a column.
struct Builder {
    kind: PropertyType,
    /// Which values are there; empty while all are.
    valid: Vec<u64>,
    found: usize,
    len: usize,
    bits: Vec<u64>,
    words: Vec<u64>,
    ends: Vec<u64>,
    heap: Vec<u8>,
}

impl Builder {
    /// For about `expected` values.
    fn new(kind: PropertyType, expected: usize) -> Builder {
        let is_bits = kind == PropertyType::Bool;
        let room = |wanted: bool, size: usize| if wanted { size } else { 0 };
        Builder {
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

    /// A value that is the word as it stands, which one bit is not. Returns whether it was added: only while there is no mask.
    #[inline]
    fn push_word(&mut self, word: u64) -> bool {
        let simple = self.valid.is_empty() && self.kind != PropertyType::Bool;
        if simple {
            self.words.push(word);
            (self.found, self.len) = (self.found + 1, self.len + 1);
        }
        simple
    }

    fn push(&mut self, value: ValueRef<'_>) {
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

    /// The next values are there.
    #[inline]
    fn found(&mut self, count: usize) {
        if !self.valid.is_empty() {
            (self.len..self.len + count).for_each(|at| set(&mut self.valid, at, true));
        }
        self.found += count;
        self.len += count;
    }

    /// The next values are null. The first null makes the mask: most columns have none.
    fn missing(&mut self, count: usize) {
        if count > 0 && self.valid.is_empty() {
            (0..self.len).for_each(|at| set(&mut self.valid, at, true));
        }
        self.len += count;
        if count > 0 {
            self.valid.resize(self.len.div_ceil(64), 0);
        }
    }

    /// Takes over a stretch of an old column of words. Returns whether it did: only while neither has a null.
    #[inline]
    fn copy_words(&mut self, from: &Column, range: Range<usize>) -> bool {
        let (Data::Words(words), None, true) = (&from.data, &from.valid, self.valid.is_empty()) else {
            return false;
        };
        extend_few(&mut self.words, words.get(range.start..).unwrap_or(&[]), range.len());
        (self.found, self.len) = (self.found + range.len(), self.len + range.len());
        true
    }

    /// Takes over a stretch of an old column, or as many nulls.
    fn copy(&mut self, from: Option<&Column>, range: Range<usize>) {
        let Some(from) = from else {
            return self.nulls(range.len());
        };
        match (&from.data, &from.valid) {
            (Data::Words(words), None) => {
                extend_few(&mut self.words, words.get(range.start..).unwrap_or(&[]), range.len());
                self.found(range.len());
            }
            _ => range.for_each(|at| self.push(from.get(at))),
        }
    }

    fn nulls(&mut self, count: usize) {
        self.missing(count);
        if self.kind == PropertyType::Bool {
            self.bits.resize(self.len.div_ceil(64), 0);
        } else if self.kind.is_fixed() {
            self.words.resize(self.len, 0);
        } else {
            self.ends.resize(self.len, self.heap.len() as u64);
        }
    }

    /// The column; `None` if every value is null.
    fn finish(self) -> Option<Column> {
        if self.found == 0 {
            return None;
        }
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
        Some(Column { kind: self.kind, len: self.len, valid, data })
    }
}
