//! Property columns: the values of one property for a run of edges, beside the array of their neighbours.
//!
//! Fixed-width values take one word or one bit each, text and bytes lie end to end in a heap. A column is built once
//! and never changed; a scan of the topology never touches it.

use crate::property::{Cells, PropertyId, PropertyType, Row, Value, ValueRef};

/// The columns of a run of edges, ascending by property. A property without a column is null for all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(Vec<(PropertyId, Column)>);

/// The values of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    kind: PropertyType,
    len: usize,
    /// Bit `i` says whether value `i` is there; absent if all are.
    valid: Option<Box<[u64]>>,
    data: Data,
}

/// How the values of a column are kept. Places of nulls hold zeros, or an empty stretch of the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// One bit each, of a `bool`.
    Bits(Box<[u64]>),
    /// Eight bytes each: the bits of an `i64`, `f64` or `timestamp`.
    Words(Box<[u64]>),
    /// Where each value ends in the heap, and the heap.
    Heap(Ends, Box<[u8]>),
}

/// The ends of values in a heap: four bytes each unless the heap is larger than that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Of a heap below 4 GiB.
    Narrow(Box<[u32]>),
    /// Of a larger one.
    Wide(Box<[u64]>),
}

impl Ends {
    fn get(&self, at: usize) -> usize {
        match self {
            Ends::Narrow(ends) => ends.get(at).copied().unwrap_or(0) as usize,
            Ends::Wide(ends) => ends.get(at).copied().unwrap_or(0) as usize,
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Ends::Narrow(ends) => ends.len(),
            Ends::Wide(ends) => ends.len(),
        }
    }

    /// Whether there is no value.
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

/// Whether a mask for `len` values has the right size and no bit beyond them.
fn mask_fits(words: &[u64], len: usize) -> bool {
    let beyond = match len % 64 {
        0 => 0,
        used => words.last().map_or(0, |last| last >> used),
    };
    words.len() == len.div_ceil(64) && beyond == 0
}

impl Column {
    /// A column from its arrays, as a file holds them. `None` unless they fit each other: equal lengths, no bits beyond
    /// the last value, ends that ascend to the end of the heap, text that is UTF-8 value by value. O(bytes).
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

    /// The type of the values.
    pub fn kind(&self) -> PropertyType {
        self.kind
    }

    /// The number of values, nulls included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Which values are there: bit `i` for value `i`; `None` if all are.
    pub fn valid(&self) -> Option<&[u64]> {
        self.valid.as_deref()
    }

    /// The values.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The value at `at`; null beyond the end. O(1).
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
            // Checked when the column was made; a value that is not text reads as null rather than as something else.
            PropertyType::Utf8 => std::str::from_utf8(bytes).map_or(ValueRef::Null, ValueRef::Utf8),
            _ => ValueRef::Bytes(bytes),
        }
    }

    /// The bytes of the arrays.
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
    /// Columns from those of a file. `None` unless they ascend strictly by property and have `len` values each.
    pub fn from_parts(columns: Vec<(PropertyId, Column)>, len: usize) -> Option<Columns> {
        let sound = columns.is_sorted_by(|a, b| a.0 < b.0) && columns.iter().all(|(_, c)| c.len == len);
        sound.then_some(Columns(columns))
    }

    /// The columns, ascending by property.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (PropertyId, &Column)> {
        self.0.iter().map(|(id, column)| (*id, column))
    }

    /// Whether there is no column: no edge has a property.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The column of a property.
    #[inline]
    pub fn column(&self, id: PropertyId) -> Option<&Column> {
        self.0.iter().find(|(found, _)| *found == id).map(|(_, column)| column)
    }

    /// The value of a property of edge `at`; null without a column.
    #[inline]
    pub fn get(&self, at: usize, id: PropertyId) -> ValueRef<'_> {
        self.column(id).map_or(ValueRef::Null, |column| column.get(at))
    }

    /// The properties of edge `at` as a row of its own.
    pub fn row(&self, at: usize) -> Option<Row> {
        Row::new(self.0.iter().map(|(id, column)| (*id, column.get(at).to_owned())).collect::<Cells>())
    }

    /// The bytes of all arrays.
    pub fn bytes(&self) -> usize {
        self.0.len() * size_of::<(PropertyId, Column)>()
            + self.0.iter().map(|(_, column)| column.bytes()).sum::<usize>()
    }

    /// The columns of a new run of edges, made of stretches of this one and of rows. O(bytes of the result).
    pub fn assembled(&self, pieces: &[Piece<'_>]) -> Columns {
        let len = pieces.iter().map(Piece::len).sum();
        let mut kinds: Vec<(PropertyId, PropertyType)> =
            self.0.iter().map(|(id, column)| (*id, column.kind)).collect();
        for piece in pieces {
            let Piece::Row(row) = piece else { continue };
            row.for_each(|id, value| {
                if let Err(at) = kinds.binary_search_by_key(&id, |(id, _)| *id)
                    && let Some(kind) = value.property_type()
                {
                    kinds.insert(at, (id, kind));
                }
            });
        }
        let built = kinds.into_iter().filter_map(|(id, kind)| {
            let mut builder = Builder::new(kind, len);
            let from = self.column(id);
            for piece in pieces {
                match piece {
                    Piece::Copy(range) => builder.copy(from, range.clone()),
                    Piece::Row(row) => builder.push(row.get(id)),
                }
            }
            Some((id, builder.finish()?))
        });
        Columns(built.collect())
    }
}

/// What a run of edges is made of.
#[derive(Clone, Debug)]
pub enum Piece<'a> {
    /// These edges of the old run, unchanged.
    Copy(std::ops::Range<usize>),
    /// One edge with these properties.
    Row(RowRef<'a>),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Piece::Copy(range) => range.len(),
            Piece::Row(_) => 1,
        }
    }
}

/// Collects the values of a column.
struct Builder {
    kind: PropertyType,
    valid: Vec<u64>,
    found: usize,
    len: usize,
    bits: Vec<u64>,
    words: Vec<u64>,
    ends: Vec<u64>,
    heap: Vec<u8>,
}

impl Builder {
    fn new(kind: PropertyType, len: usize) -> Builder {
        let of = |wanted: bool, size: usize| Vec::with_capacity(if wanted { size } else { 0 });
        let is_bits = kind == PropertyType::Bool;
        Builder {
            kind,
            valid: vec![0; len.div_ceil(64)],
            found: 0,
            len: 0,
            bits: if is_bits { vec![0; len.div_ceil(64)] } else { Vec::new() },
            words: of(kind.is_fixed() && !is_bits, len),
            ends: of(!kind.is_fixed(), len),
            heap: Vec::new(),
        }
    }

    fn push(&mut self, value: ValueRef<'_>) {
        let here = value.property_type() == Some(self.kind);
        debug_assert!(here || value.is_null(), "a value of another type than its column");
        match (value, self.kind) {
            (ValueRef::Bool(true), PropertyType::Bool) => self.bits[self.len / 64] |= 1 << (self.len % 64),
            (_, PropertyType::Bool) => {}
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
        if here {
            self.valid[self.len / 64] |= 1 << (self.len % 64);
            self.found += 1;
        }
        self.len += 1;
    }

    /// Takes over a stretch of an old column, or as many nulls.
    fn copy(&mut self, from: Option<&Column>, range: std::ops::Range<usize>) {
        let Some(from) = from else {
            return self.nulls(range.len());
        };
        match (&from.data, &from.valid) {
            (Data::Words(words), None) => {
                self.words.extend_from_slice(words.get(range.clone()).unwrap_or(&[]));
                for at in self.len..self.len + range.len() {
                    self.valid[at / 64] |= 1 << (at % 64);
                }
                self.found += range.len();
                self.len += range.len();
            }
            _ => range.for_each(|at| self.push(from.get(at))),
        }
    }

    fn nulls(&mut self, count: usize) {
        self.len += count;
        if self.kind == PropertyType::Bool {
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

/// The properties of one edge where they lie: in columns, in a row of a delta, or nowhere.
#[derive(Clone, Copy, Debug)]
pub enum RowRef<'a> {
    /// No property has a value.
    Empty,
    /// Edge number `.1` of the columns.
    Columns(&'a Columns, usize),
    /// A row.
    Row(&'a Row),
    /// What of a row has a fixed width: without text and bytes.
    Fixed(&'a Row),
    /// One property: its type, and the bits of its value, which has a fixed width.
    Word(PropertyId, PropertyType, u64),
}

/// A value of fixed width; null for others.
#[inline]
fn fixed(value: ValueRef<'_>) -> ValueRef<'_> {
    match value {
        ValueRef::Utf8(_) | ValueRef::Bytes(_) => ValueRef::Null,
        value => value,
    }
}

impl<'a> From<Option<&'a Row>> for RowRef<'a> {
    #[inline]
    fn from(row: Option<&'a Row>) -> RowRef<'a> {
        row.map_or(RowRef::Empty, RowRef::Row)
    }
}

impl<'a> RowRef<'a> {
    /// What of a row has a fixed width.
    #[inline]
    pub fn fixed_of(row: Option<&'a Row>) -> RowRef<'a> {
        let has_some = |row: &&Row| row.cells().iter().any(|(_, value)| !fixed(value.as_ref()).is_null());
        row.filter(has_some).map_or(RowRef::Empty, RowRef::Fixed)
    }

    /// Whether no property has a value.
    #[inline]
    pub fn is_empty(self) -> bool {
        match self {
            RowRef::Empty => true,
            RowRef::Columns(..) => self.to_row().is_none(),
            RowRef::Row(_) | RowRef::Fixed(_) | RowRef::Word(..) => false,
        }
    }

    /// Whether both have the same properties with the same values. O(properties).
    #[inline]
    pub fn is_same(self, other: RowRef<'_>) -> bool {
        match (self, other) {
            (RowRef::Empty, other) | (other, RowRef::Empty) => other.is_empty(),
            _ => self.to_row() == other.to_row(),
        }
    }

    /// The value of a property; null if it has none.
    #[inline]
    pub fn get(self, id: PropertyId) -> ValueRef<'a> {
        match self {
            RowRef::Empty => ValueRef::Null,
            RowRef::Columns(columns, at) => columns.get(at, id),
            RowRef::Row(row) => row.get(id),
            RowRef::Fixed(row) => fixed(row.get(id)),
            RowRef::Word(found, kind, word) if found == id => ValueRef::from_word(kind, word),
            RowRef::Word(..) => ValueRef::Null,
        }
    }

    /// The row by itself; `None` if no property has a value. Copies text and bytes out of columns.
    pub fn to_row(self) -> Option<Row> {
        match self {
            RowRef::Empty => None,
            RowRef::Columns(columns, at) => columns.row(at),
            RowRef::Row(row) => Some(row.clone()),
            RowRef::Fixed(row) => row.fixed_only(),
            RowRef::Word(id, kind, word) => Row::new([(id, ValueRef::from_word(kind, word).to_owned())]),
        }
    }

    /// Calls `f` with each property that has a value, ascending.
    pub fn for_each(self, mut f: impl FnMut(PropertyId, ValueRef<'a>)) {
        match self {
            RowRef::Empty => {}
            RowRef::Word(id, kind, word) => f(id, ValueRef::from_word(kind, word)),
            RowRef::Fixed(row) => {
                let cells = row.cells().iter().map(|(id, value)| (*id, fixed(value.as_ref())));
                cells.filter(|(_, value)| !value.is_null()).for_each(|(id, value)| f(id, value));
            }
            RowRef::Columns(columns, at) => {
                for (id, column) in &columns.0 {
                    let value = column.get(at);
                    if !value.is_null() {
                        f(*id, value);
                    }
                }
            }
            RowRef::Row(row) => {
                row.cells().iter().for_each(|(id, value): &(_, Value)| f(*id, value.as_ref()))
            }
        }
    }
}

#[cfg(test)]
mod tests;
