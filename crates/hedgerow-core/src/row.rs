//! Rows: the properties of one edge or vertex as one value.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::property::{PropertyId, PropertyType, Value, ValueRef};

/// Properties with their values, as operations have them; a single property needs no allocation.
pub type Cells = SmallVec<[(PropertyId, Value); 1]>;

/// The properties of one edge or vertex: at least one property, no nulls, ascending by id. A clone copies one
/// value, or a reference to several.
///
/// An edge without properties has no row.
#[derive(Clone, Debug)]
pub struct Row(Repr);

/// The form of a row. A single property, the usual case, is stored in place.
#[derive(Clone, Debug)]
enum Repr {
    One((PropertyId, Value)),
    Many(Arc<[(PropertyId, Value)]>),
}

impl Row {
    /// Returns the row of these cells, in any order. Of several cells of a property the last is used; nulls
    /// are left out. `None` if no cell remains.
    pub fn new(cells: impl Into<Cells>) -> Option<Row> {
        let mut cells = cells.into();
        if cells.len() == 1 {
            return cells.pop().filter(|(_, value)| !value.is_null()).map(|cell| Row(Repr::One(cell)));
        }
        if !cells.is_sorted_by(|a, b| a.0 < b.0) {
            // A stable sort: of several cells of a property, the last stays the last.
            cells.sort_by_key(|(id, _)| *id);
            cells.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    std::mem::swap(later, kept);
                }
                same
            });
        }
        cells.retain(|(_, value)| !value.is_null());
        match cells.len() {
            0 => None,
            1 => cells.pop().map(|cell| Row(Repr::One(cell))),
            _ => Some(Row(Repr::Many(cells.into_iter().collect()))),
        }
    }

    /// Returns `base`, in which the cells of `patch` replace or add properties; a null removes a property.
    pub fn merged(base: Option<&Row>, patch: &[(PropertyId, Value)]) -> Option<Row> {
        let mut cells: Cells = base.map_or(&[][..], Row::cells).iter().cloned().collect();
        cells.extend(patch.iter().cloned());
        Row::new(cells)
    }

    /// Returns the cells, ascending by id.
    #[inline]
    pub fn cells(&self) -> &[(PropertyId, Value)] {
        match &self.0 {
            Repr::One(cell) => std::slice::from_ref(cell),
            Repr::Many(cells) => cells,
        }
    }

    /// Returns the value of a property; null if the row lacks it.
    #[inline]
    pub fn get(&self, id: PropertyId) -> ValueRef<'_> {
        match &self.0 {
            Repr::One((found, value)) if *found == id => value.as_ref(),
            Repr::One(_) => ValueRef::Null,
            Repr::Many(cells) => match cells.binary_search_by_key(&id, |(id, _)| *id) {
                Ok(at) => cells[at].1.as_ref(),
                Err(_) => ValueRef::Null,
            },
        }
    }

    /// Returns the row without text and bytes, as the second copy of an undirected edge has it.
    pub fn fixed_only(&self) -> Option<Row> {
        let fixed = |value: &Value| value.property_type().is_some_and(PropertyType::is_fixed);
        if self.cells().iter().all(|(_, value)| fixed(value)) {
            return Some(self.clone());
        }
        Row::new(self.cells().iter().filter(|(_, value)| fixed(value)).cloned().collect::<Cells>())
    }

    /// Returns the most bytes on the heap of a row of so many properties, without texts and bytes.
    pub(crate) fn most_bytes(properties: usize) -> usize {
        properties * size_of::<(PropertyId, Value)>() + 2 * size_of::<usize>()
    }

    /// Returns the bytes of the row on the heap; shared values are counted in full.
    pub fn bytes(&self) -> usize {
        let own = match &self.0 {
            Repr::One(_) => 0,
            Repr::Many(cells) => size_of_val(&**cells) + 2 * size_of::<usize>(),
        };
        own + self.cells().iter().map(|(_, value)| value.as_ref().variable_bytes()).sum::<usize>()
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        self.cells() == other.cells()
    }
}

impl Eq for Row {}

#[cfg(test)]
mod tests;
