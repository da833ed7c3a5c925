//! Assembly of the columns of a new sequence of edges, from stretches of old columns and from rows.

use std::ops::Range;

use crate::column::{Column, Columns};
use crate::property::{PropertyId, PropertyType};
use crate::row_ref::RowRef;

mod one;

pub use one::ColumnBuilder;

impl Columns {
    /// Returns the columns of edges with these properties, one after another. O(values).
    pub fn of_rows<'a>(rows: impl IntoIterator<Item = RowRef<'a>>) -> Columns {
        let mut columns = ColumnsBuilder::new(const { &Columns::NONE }, 0);
        rows.into_iter().for_each(|row| columns.push(row));
        columns.finish()
    }
}

/// A builder of columns, edge by edge, from stretches of old columns and from rows.
///
/// A step costs O(columns), a stretch O(bytes of its values). Consecutive edges of the same columns that are
/// added in order are also a stretch. A property that no edge has gets no column.
pub struct ColumnsBuilder<'a> {
    /// The approximate number of edges that will be added.
    expected: usize,
    len: usize,
    /// The builders, ascending by property; each with the old column from which stretches are copied, if it
    /// exists.
    columns: Vec<(PropertyId, Option<&'a Column>, ColumnBuilder)>,
    /// The pending stretch: edges to be added before the next edge. Later edges may extend it.
    stretch: Option<(&'a Columns, Range<usize>)>,
}

impl<'a> ColumnsBuilder<'a> {
    /// Makes a builder for about `expected` edges, some of them from the columns `from`. Allocates 8 bytes
    /// for each edge and column of fixed width.
    pub fn new(from: &'a Columns, expected: usize) -> ColumnsBuilder<'a> {
        let columns =
            from.0.iter().map(|(id, column)| (*id, Some(column), ColumnBuilder::new(column.kind, expected)));
        ColumnsBuilder { expected, len: 0, columns: columns.collect(), stretch: None }
    }

    /// Adds one edge with these properties.
    #[inline]
    pub fn push(&mut self, row: RowRef<'a>) {
        if let RowRef::Columns(columns, at) = row {
            return self.lengthen(columns, at);
        }
        self.add_stretch();
        // Most edges with properties have one property, a number.
        if let (RowRef::Word(id, kind, word), [(column, _, builder)]) = (row, &mut self.columns[..])
            && (*column, builder.kind) == (id, kind)
            && builder.push_word(word)
        {
            self.len += 1;
        } else {
            self.push_any(row);
        }
    }

    /// Adds the edge at position `at` of other columns.
    fn lengthen(&mut self, columns: &'a Columns, at: usize) {
        match &mut self.stretch {
            Some((from, range)) if std::ptr::eq(*from, columns) && range.end == at => range.end = at + 1,
            _ => {
                self.add_stretch();
                self.stretch = Some((columns, at..at + 1));
            }
        }
    }

    /// Adds the pending stretch, if there is one, column by column.
    #[inline]
    fn add_stretch(&mut self) {
        if let Some((from, range)) = self.stretch.take() {
            self.copy_from(from, range);
        }
    }

    #[inline(never)]
    fn copy_from(&mut self, from: &Columns, range: Range<usize>) {
        // Both ascend by property.
        let mut at = 0;
        for (id, column) in &from.0 {
            self.builder(&mut at, (*id, column.kind), range.len()).copy(Some(column), range.clone());
            at += 1;
        }
        self.columns[at..].iter_mut().for_each(|(_, _, builder)| builder.nulls(range.len()));
        self.len += range.len();
    }

    /// Returns the builder of a property's column and sets `at` to its index; makes the builder if it is
    /// missing. The columns before it, from index `at` on, get `nulls` nulls.
    #[inline]
    fn builder(
        &mut self,
        at: &mut usize,
        (id, kind): (PropertyId, PropertyType),
        nulls: usize,
    ) -> &mut ColumnBuilder {
        while let Some((_, _, builder)) = self.columns.get_mut(*at).filter(|(column, ..)| *column < id) {
            builder.nulls(nulls);
            *at += 1;
        }
        if self.columns.get(*at).is_none_or(|(column, ..)| *column != id) {
            let mut builder = ColumnBuilder::new(kind, self.expected);
            builder.nulls(self.len);
            self.columns.insert(*at, (id, None, builder));
        }
        &mut self.columns[*at].2
    }

    #[inline(never)]
    fn push_any(&mut self, row: RowRef<'_>) {
        // Both ascend by property.
        let mut at = 0;
        row.for_each(|id, value| {
            let Some(kind) = value.property_type() else { return };
            self.builder(&mut at, (id, kind), 1).push(value);
            at += 1;
        });
        self.columns[at..].iter_mut().for_each(|(_, _, builder)| builder.nulls(1));
        self.len += 1;
    }

    /// Adds the edges at the positions `range` of the old columns. The old columns must reach to its end.
    #[inline]
    pub fn copy(&mut self, range: Range<usize>) {
        self.add_stretch();
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

    /// Returns the columns of all added edges.
    pub fn finish(mut self) -> Columns {
        self.add_stretch();
        let columns = self.columns.into_iter();
        Columns(columns.filter_map(|(id, _, builder)| Some((id, builder.finish()?))).collect())
    }
}
