//! Making the columns of a new run of edges, of stretches of an old run and of rows.

use crate::column::{Column, Columns, Data, Ends};
use crate::property::{PropertyId, PropertyType, ValueRef};
use crate::row_ref::RowRef;

impl Columns {
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
    /// The values that there will be.
    total: usize,
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
    fn new(kind: PropertyType, len: usize) -> Builder {
        let of = |wanted: bool, size: usize| Vec::with_capacity(if wanted { size } else { 0 });
        let is_bits = kind == PropertyType::Bool;
        Builder {
            kind,
            total: len,
            valid: Vec::new(),
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
        if here { self.found(1) } else { self.missing(1) }
    }

    /// The next values are there.
    #[inline]
    fn found(&mut self, count: usize) {
        if !self.valid.is_empty() {
            (self.len..self.len + count).for_each(|at| self.valid[at / 64] |= 1 << (at % 64));
        }
        self.found += count;
        self.len += count;
    }

    /// The next values are null. The first null makes the mask: most columns have none.
    fn missing(&mut self, count: usize) {
        if count > 0 && self.valid.is_empty() {
            self.valid = vec![0; self.total.div_ceil(64)];
            (0..self.len).for_each(|at| self.valid[at / 64] |= 1 << (at % 64));
        }
        self.len += count;
    }

    /// Takes over a stretch of an old column, or as many nulls.
    fn copy(&mut self, from: Option<&Column>, range: std::ops::Range<usize>) {
        let Some(from) = from else {
            return self.nulls(range.len());
        };
        match (&from.data, &from.valid) {
            (Data::Words(words), None) => {
                self.words.extend_from_slice(words.get(range.clone()).unwrap_or(&[]));
                self.found(range.len());
            }
            _ => range.for_each(|at| self.push(from.get(at))),
        }
    }

    fn nulls(&mut self, count: usize) {
        self.missing(count);
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
