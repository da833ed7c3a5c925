//! Views of the properties of one edge, without a copy.

use crate::column::Columns;
use crate::property::{PropertyId, PropertyType, Value, ValueRef};
use crate::row::{Cells, Row};

/// The properties of one edge without a copy: in columns, in a row of a delta, or none.
#[derive(Clone, Copy, Debug)]
pub enum RowRef<'a> {
    /// No property has a value.
    Empty,
    /// Edge number `.1` of the columns.
    Columns(&'a Columns, usize),
    /// A row.
    Row(&'a Row),
    /// The values of a row that have fixed width, without text and bytes.
    Fixed(&'a Row),
    /// The values of fixed width of edge number `.1` of the columns.
    FixedColumns(&'a Columns, usize),
    /// A single property: its id, its type, and the bits of its value of fixed width.
    Word(PropertyId, PropertyType, u64),
}

/// Returns the value if it has a fixed width, else null.
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
    /// Returns the values of fixed width.
    #[inline]
    pub fn fixed_only(self) -> RowRef<'a> {
        match self {
            RowRef::Row(row) => {
                let has_some = row.cells().iter().any(|(_, value)| !fixed(value.as_ref()).is_null());
                if has_some { RowRef::Fixed(row) } else { RowRef::Empty }
            }
            RowRef::Columns(columns, at) => {
                let rest = RowRef::FixedColumns(columns, at);
                if rest.is_empty() { RowRef::Empty } else { rest }
            }
            RowRef::Empty | RowRef::Fixed(_) | RowRef::FixedColumns(..) | RowRef::Word(..) => self,
        }
    }

    /// Returns the same properties. A single one of fixed width is returned by value, so that a later reader
    /// need not access the row.
    #[inline]
    pub fn by_value(self) -> RowRef<'a> {
        let only = match self {
            RowRef::Row(row) | RowRef::Fixed(row) => match row.cells() {
                [(property, value)] => Some((*property, value.as_ref())),
                _ => None,
            },
            RowRef::Columns(columns, at) | RowRef::FixedColumns(columns, at) => match &columns.0[..] {
                [(property, column)] => Some((*property, column.get(at))),
                _ => None,
            },
            RowRef::Empty | RowRef::Word(..) => None,
        };
        let word = only.and_then(|(property, value)| Some((property, value.to_word()?)));
        word.map_or(self, |(property, (kind, word))| RowRef::Word(property, kind, word))
    }

    /// Returns the sum of the lengths of texts and bytes. O(properties).
    pub fn variable_bytes(self) -> usize {
        match self {
            RowRef::Row(row) => row.cells().iter().map(|(_, value)| value.as_ref().variable_bytes()).sum(),
            RowRef::Columns(columns, at) => {
                columns.0.iter().map(|(_, column)| column.get(at).variable_bytes()).sum()
            }
            RowRef::Empty | RowRef::Fixed(_) | RowRef::FixedColumns(..) | RowRef::Word(..) => 0,
        }
    }

    /// Returns an upper bound of the bytes on the heap of the [owned row](Self::to_row). O(properties).
    pub fn owned_bytes(self) -> usize {
        let of_columns = |columns: &Columns| Row::most_bytes(columns.0.len());
        match self {
            RowRef::Empty | RowRef::Word(..) => 0,
            RowRef::Row(row) | RowRef::Fixed(row) => row.bytes(),
            RowRef::Columns(columns, _) => of_columns(columns) + self.variable_bytes(),
            RowRef::FixedColumns(columns, _) => of_columns(columns),
        }
    }

    /// True if no property has a value.
    #[inline]
    pub fn is_empty(self) -> bool {
        match self {
            RowRef::Empty => true,
            RowRef::Columns(columns, at) => columns.0.iter().all(|(_, column)| column.get(at).is_null()),
            RowRef::FixedColumns(columns, at) => {
                columns.0.iter().all(|(_, column)| fixed(column.get(at)).is_null())
            }
            RowRef::Row(_) | RowRef::Fixed(_) | RowRef::Word(..) => false,
        }
    }

    /// True if both have the same properties with the same values. O(properties).
    #[inline]
    pub fn is_same(self, other: RowRef<'_>) -> bool {
        match (self, other) {
            (RowRef::Empty, other) | (other, RowRef::Empty) => other.is_empty(),
            _ => self.to_row() == other.to_row(),
        }
    }

    /// Returns the value of a property; null if the edge lacks it.
    #[inline]
    pub fn get(self, id: PropertyId) -> ValueRef<'a> {
        match self {
            RowRef::Empty => ValueRef::Null,
            RowRef::Columns(columns, at) => columns.get(at, id),
            RowRef::Row(row) => row.get(id),
            RowRef::Fixed(row) => fixed(row.get(id)),
            RowRef::FixedColumns(columns, at) => fixed(columns.get(at, id)),
            RowRef::Word(found, kind, word) if found == id => ValueRef::from_word(kind, word),
            RowRef::Word(..) => ValueRef::Null,
        }
    }

    /// Returns an owned row; `None` if no property has a value. Copies text and bytes from columns.
    pub fn to_row(self) -> Option<Row> {
        match self {
            RowRef::Empty => None,
            RowRef::Columns(columns, at) => columns.row(at),
            RowRef::Row(row) => Some(row.clone()),
            RowRef::Fixed(row) => row.fixed_only(),
            RowRef::FixedColumns(columns, at) => {
                let cells = columns.0.iter().map(|(id, column)| (*id, fixed(column.get(at)).to_owned()));
                Row::new(cells.collect::<Cells>())
            }
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
                let values = columns.0.iter().map(|(id, column)| (*id, column.get(at)));
                values.filter(|(_, value)| !value.is_null()).for_each(|(id, value)| f(id, value));
            }
            RowRef::FixedColumns(columns, at) => {
                let values = columns.0.iter().map(|(id, column)| (*id, fixed(column.get(at))));
                values.filter(|(_, value)| !value.is_null()).for_each(|(id, value)| f(id, value));
            }
            RowRef::Row(row) => {
                row.cells().iter().for_each(|(id, value): &(_, Value)| f(*id, value.as_ref()))
            }
        }
    }
}
