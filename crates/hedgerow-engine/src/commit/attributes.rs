//! Attributes of the operations of a transaction, in a table of the transaction. Most operations have none;
//! others have one number, or a place in columns. In a large batch each edge or vertex may have attributes.

use std::sync::Arc;

use hedgerow_core::{Columns, PropertyId, PropertyType, Row, RowRef, ValueRef, simd};

use super::op::{Given, OpAttributes};

/// The bit of handles that refer to a word.
const WORD: u32 = 1 << 31;
/// The bit of handles that refer to a place in the columns.
const PLACE: u32 = 1 << 30;
const _: () = assert!(hedgerow_pager::limits::MAX_OPERATIONS < PLACE as usize, "handles are told apart");

/// The attributes of a transaction's operations, while the program adds operations.
#[derive(Default)]
pub(crate) struct AttributesOfOps {
    /// Attributes that fit neither into `words` nor into `columns`.
    all: Vec<OpAttributes>,
    words: Words,
    /// The columns of the first call that passed columns.
    columns: Option<Arc<Columns>>,
}

/// The values of one property of fixed width. Each is the only attribute of its operation, which makes an
/// edge without a rank.
#[derive(Default)]
struct Words {
    property: Option<(PropertyId, PropertyType)>,
    words: Vec<u64>,
}

/// The lengths of a table at some moment, for a later `truncate`.
#[derive(Clone, Copy)]
pub(crate) struct Filled {
    all: usize,
    words: usize,
}

impl AttributesOfOps {
    /// Makes room for `count` words.
    pub(crate) fn reserve_words(&mut self, count: usize) {
        self.words.words.reserve(count);
    }

    /// Adds the attributes of an operation; returns the handle that the operation keeps.
    pub(crate) fn push(&mut self, attributes: OpAttributes) -> u32 {
        self.all.push(attributes);
        self.all.len() as u32
    }

    /// Adds the only property of an edge without a rank, a value of fixed width; returns the handle that the
    /// operation keeps.
    #[inline]
    pub(crate) fn push_word(&mut self, property: PropertyId, kind: PropertyType, word: u64) -> u32 {
        if *self.words.property.get_or_insert((property, kind)) == (property, kind) {
            self.words.words.push(word);
            return WORD | (self.words.words.len() - 1) as u32;
        }
        let row = Row::new([(property, ValueRef::from_word(kind, word).to_owned())]);
        row.map_or(0, |row| self.push(OpAttributes::of_row(row)))
    }

    /// Adds columns. Returns how to make handles of the places in them.
    pub(crate) fn push_columns(&mut self, columns: Columns) -> PlacesOf {
        let columns = Arc::new(columns);
        if self.columns.is_some() {
            return PlacesOf::Later(columns);
        }
        self.columns = Some(columns);
        PlacesOf::First
    }

    /// Returns the handle of a place in the columns at which some property has a value.
    #[inline]
    pub(crate) fn push_place(&mut self, of: &PlacesOf, at: u32) -> u32 {
        match of {
            PlacesOf::First => PLACE | at,
            PlacesOf::Later(columns) => self.push(OpAttributes::of_place(columns, at)),
        }
    }

    /// Returns the present lengths of the table.
    pub(crate) fn filled(&self) -> Filled {
        Filled { all: self.all.len(), words: self.words.words.len() }
    }

    /// Drops the additions since `filled`.
    pub(crate) fn truncate(&mut self, filled: Filled) {
        self.all.truncate(filled.all);
        self.words.words.truncate(filled.words);
    }

    /// Returns the table in the form that commits read.
    pub(crate) fn table(&self) -> AttributesTable<'_> {
        let (words, columns) = (&self.words, self.columns.as_deref());
        AttributesTable { all: &self.all, words: &words.words, property: words.property, columns }
    }
}

/// The form of handles that refer to places in the columns of a call.
pub(crate) enum PlacesOf {
    /// The handle holds the place, since the table has these columns.
    First,
    /// The table has the columns of an earlier call: each operation refers to these columns.
    Later(Arc<Columns>),
}

/// The table as commits read it, by the handles in operations; handle 0 means no attributes.
#[derive(Clone, Copy, Default)]
pub(crate) struct AttributesTable<'a> {
    all: &'a [OpAttributes],
    words: &'a [u64],
    property: Option<(PropertyId, PropertyType)>,
    columns: Option<&'a Columns>,
}

impl<'a> AttributesTable<'a> {
    /// Makes a table of `all`, with handles that count from 1.
    pub(crate) fn of(all: &'a [OpAttributes]) -> AttributesTable<'a> {
        AttributesTable { all, ..AttributesTable::default() }
    }

    /// Prefetches the attributes of an operation.
    #[inline]
    pub(crate) fn prefetch(self, handle: u32) {
        if handle & WORD != 0 {
            simd::prefetch(self.words.as_ptr().wrapping_add((handle & !WORD) as usize));
        } else if let Some(attributes) = self.all.get((handle as usize).wrapping_sub(1)) {
            attributes.prefetch();
        }
    }

    #[inline]
    fn get(self, handle: u32) -> &'a OpAttributes {
        let place = (handle as usize).checked_sub(1);
        place.and_then(|place| self.all.get(place)).unwrap_or(OpAttributes::NONE)
    }

    /// Returns the lengths of all texts and bytes. O(attributes).
    pub(crate) fn variable_bytes(self) -> usize {
        let of_columns = self.columns.map_or(0, Columns::bytes);
        self.all.iter().map(OpAttributes::variable_bytes).sum::<usize>() + of_columns
    }

    /// Returns the rank of the edge.
    #[inline]
    pub(crate) fn rank(self, handle: u32) -> u64 {
        if is_whole(handle) { 0 } else { self.get(handle).rank }
    }

    /// Returns the properties of the edge that an operation makes.
    #[inline]
    pub(crate) fn row(self, handle: u32) -> RowRef<'a> {
        if !is_whole(handle) {
            return self.get(handle).row();
        }
        if handle & PLACE != 0 {
            let at = (handle & !PLACE) as usize;
            return self.columns.map_or(RowRef::Empty, |columns| RowRef::Columns(columns, at));
        }
        match (self.property, self.words.get((handle & !WORD) as usize)) {
            (Some((property, kind)), Some(&word)) => RowRef::Word(property, kind, word),
            _ => RowRef::Empty,
        }
    }

    /// Returns the properties that an operation was given.
    #[inline]
    pub(crate) fn given(self, handle: u32) -> Given<'a> {
        if is_whole(handle) { Given::row(self.row(handle)) } else { self.get(handle).given() }
    }
}

/// True if the attributes are properties without a rank, so that the handle alone gives all of them.
#[inline]
fn is_whole(handle: u32) -> bool {
    handle & (WORD | PLACE) != 0
}

#[cfg(test)]
mod tests {
    use hedgerow_core::{Column, Value};

    use super::*;

    #[test]
    fn each_operation_finds_what_it_was_given() {
        let (a, b) = (PropertyId(0), PropertyId(1));
        let row = |property, value: i64| Row::new([(property, Value::I64(value))]);
        let mut all = AttributesOfOps::default();
        let ranked = OpAttributes::new(crate::commit::op::OpKind::Put, 9, hedgerow_core::Cells::new());
        let handles = [
            all.push_word(a, PropertyType::I64, 5),
            all.push(ranked),
            all.push_word(b, PropertyType::I64, 6),
            all.push_word(a, PropertyType::I64, 7),
        ];
        let (table, rows) = (all.table(), [row(a, 5), None, row(b, 6), row(a, 7)]);
        for (handle, row) in handles.into_iter().zip(&rows) {
            assert_eq!(
                (table.row(handle).to_row(), table.given(handle).row.to_row()),
                (row.clone(), row.clone())
            );
            assert_eq!(table.rank(handle), if row.is_none() { 9 } else { 0 });
        }
        assert!(table.row(0).is_empty());
        let filled = all.filled();
        let more = [all.push_word(a, PropertyType::I64, 8), all.push_word(b, PropertyType::I64, 8)];
        all.truncate(filled);
        assert!(more.iter().all(|&handle| all.table().row(handle).is_empty()));
        assert_eq!(all.table().row(handles[3]).to_row(), rows[3]);
    }

    /// A place in the columns of the first call is a handle without a table entry. Places in other columns
    /// are in the table.
    #[test]
    fn places_in_columns_are_found_among_words_and_rows() {
        let (a, b) = (PropertyId(0), PropertyId(1));
        let columns = |property, values: Vec<i64>| {
            let len = values.len();
            Columns::from_parts(vec![(property, Column::from(values))], len).expect("one column")
        };
        let mut all = AttributesOfOps::default();
        let word = all.push_word(a, PropertyType::I64, 1);
        let first = all.push_columns(columns(a, vec![2, 3]));
        let second = all.push_columns(columns(b, vec![4, 5]));
        let handles = [
            word,
            all.push_place(&first, 1),
            all.push_place(&second, 0),
            all.push_place(&first, 0),
            all.push_place(&second, 1),
        ];
        let rows = [(a, 1), (a, 3), (b, 4), (a, 2), (b, 5)];
        for (handle, (property, value)) in handles.into_iter().zip(rows) {
            let row = Row::new([(property, Value::I64(value))]);
            assert_eq!(all.table().row(handle).to_row(), row);
            assert_eq!((all.table().given(handle).row.to_row(), all.table().rank(handle)), (row, 0));
        }
    }
}
