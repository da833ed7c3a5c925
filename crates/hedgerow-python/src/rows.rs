//! The rows of calls about many vertices, or about many existing edges. Their columns are checked before
//! anything is written.

use std::collections::HashSet;
use std::ops::Range;

use hedgerow::{EdgeKey, KindId, Schema, Value, VertexKey, VertexKeyRef, WriteTxn};
use hedgerow_core::faults::{self, PlantedFault};
use pyo3::prelude::*;

use crate::added::{Added, Found, OnConflict};
use crate::columns::Column;
use crate::ending::calling;
use crate::error::{DataError, raise};
use crate::handle::Handle;
use crate::key_columns::{Keys, key_types, read_keys, read_ranks};
use crate::named_columns::read_columns;
use crate::names::{Kinds, Names};
use crate::repeats;
use crate::value::{Owner, Types};

/// The choice of one row, if several rows have the same key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Raise,
    First,
    Last,
}

impl Duplicates {
    pub(crate) fn read(text: &str) -> PyResult<Duplicates> {
        match text {
            "raise" => Ok(Duplicates::Raise),
            "first" => Ok(Duplicates::First),
            "last" => Ok(Duplicates::Last),
            other => {
                let message = format!("duplicates must be \"raise\", \"first\" or \"last\", found {other:?}");
                Err(DataError::new_err(message))
            }
        }
    }
}

/// The rows of a call about vertices of one kind.
pub(crate) struct VertexRows {
    kind: KindId,
    names: Names,
    keys: Keys,
    /// The columns, with only the rows that were not left out.
    columns: Vec<Column>,
    /// The given rows that were not left out, ascending; `None` if none was left out.
    kept: Option<Vec<usize>>,
    /// The place of the first row in its table; `None` if the rows are columns of the call.
    first_row: Option<usize>,
}

impl VertexRows {
    pub(crate) fn read(
        handle: &Handle,
        keys: &Bound<'_, PyAny>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: Duplicates,
    ) -> PyResult<VertexRows> {
        handle.check_usable()?;
        let schema = handle.kind_schema()?;
        let named = kind.map(|kind| schema.find_kind(kind).map_err(raise)).transpose()?;
        let of = schema.kind_by_id(named.unwrap_or_default());
        let of = of.map_or(handle.config.keys, hedgerow::Kind::keys);
        let _calling = calling(keys.py());
        let given = keys;
        let keys = read_keys(handle, of, "keys", given)?;
        let names = Names::of(schema);
        let kind = one_kind(&keys, named, &names)?;
        let types = Types::new(handle, Owner::Vertices(kind))?;
        let mut columns = read_columns(properties, &types, keys.len(), Some(given))?;
        let kept = kept(&keys, duplicates, &names)?;
        if let Some(kept) = &kept {
            columns = columns.iter().map(|column| column.of_rows(kept)).collect();
        }
        Ok(VertexRows { kind, names, keys, columns, kept, first_row: None })
    }

    /// Makes rows of columns that were read from a table. `is_new` says of each key, in order, if no earlier
    /// row has it. `first_row` is the place of the first one in the table.
    pub(crate) fn of(
        handle: &Handle,
        (kind, keys): (KindId, Keys),
        mut columns: Vec<Column>,
        (duplicates, first_row): (Duplicates, usize),
        mut is_new: impl FnMut(&VertexKey) -> bool,
    ) -> PyResult<VertexRows> {
        let names = Names::of(handle.kind_schema()?);
        let mut kept = Vec::with_capacity(keys.len());
        for at in 0..keys.len() {
            if is_new(&keys.at(at).to_owned()) {
                kept.push(at);
            } else if duplicates == Duplicates::Raise {
                let (row, shown) = (first_row + at, names.shown(keys.at(at)));
                return Err(DataError::new_err(format!(
                    "row {row} of the table: vertex {shown} comes twice"
                )));
            }
        }
        let kept = Some(kept).filter(|kept| kept.len() < keys.len());
        if let Some(kept) = &kept {
            columns = columns.iter().map(|column| column.of_rows(kept)).collect();
        }
        Ok(VertexRows { kind, names, keys, columns, kept, first_row: Some(first_row) })
    }

    /// Returns the number of given rows, with those that were left out.
    pub(crate) fn given(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.keys.len(), Vec::len)
    }

    /// Returns the position, among the given rows, of a row that was not left out.
    fn place(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept[row])
    }

    /// Returns the key of a row that was not left out.
    fn key(&self, row: usize) -> VertexKeyRef<'_> {
        self.kind.key(self.keys.at(self.place(row)))
    }

    /// Returns the counts of a call after these rows were put.
    pub(crate) fn added(&self, found: Option<Found>, conflict: OnConflict) -> Added {
        let repeated = Some(self.keys.len() - self.len());
        let skipped = found.filter(|_| conflict == OnConflict::Skip).map_or(0, |found| found.existing);
        Added { rows: self.len() - skipped, repeated, found }
    }

    /// Refuses a vertex that exists. So no batch is written before a later batch is refused.
    pub(crate) fn check_new(&self, snapshot: &hedgerow::Snapshot) -> hedgerow::Result<()> {
        (0..self.len()).try_for_each(|row| match snapshot.contains_vertex(self.key(row))? {
            true => Err(self.exists(row)),
            false => Ok(()),
        })
    }

    fn exists(&self, row: usize) -> hedgerow::Error {
        let (at, shown) = (self.place(row), self.names.shown(self.key(row)));
        let place = match self.first_row {
            Some(first) => format!("row {} of the table", first + at),
            None => format!("keys[{at}]"),
        };
        let what = format!("{place}: vertex {shown} exists, and on_conflict is \"raise\"");
        hedgerow::ArgumentError::Invalid(what).into()
    }

    /// True if each row of `range` has a value of every property of its kind. Then merging it into an
    /// existing vertex has the same result as replacing the vertex.
    pub(crate) fn are_full(&self, schema: &Schema, range: Range<usize>) -> bool {
        let mut properties = schema.vertex_properties_of(self.kind);
        let is_given = |name: &str| self.columns.iter().any(|column| column.name == name);
        let is_full = |column: &Column| {
            column.values.valid().is_none() || range.clone().all(|row| !column.values.get(row).is_null())
        };
        properties.all(|property| is_given(property.name())) && self.columns.iter().all(is_full)
    }

    /// Puts the vertices of `range`. Returns the number of vertices that existed, which is unknown if they
    /// are replaced without a read.
    pub(crate) fn put(
        &self,
        txn: &mut WriteTxn,
        range: Range<usize>,
        conflict: OnConflict,
    ) -> hedgerow::Result<Option<Found>> {
        let whole: Vec<_> =
            self.columns.iter().map(|column| (column.name.as_str(), &column.values)).collect();
        if conflict == OnConflict::Replace || faults::is_on(PlantedFault::VerticesReplaced) {
            txn.put_vertex_columns(self.kind, range.clone().map(|row| self.key(row)), &whole, range.start)?;
            return Ok(None);
        }
        let (mut new, mut existing) = (Vec::new(), Vec::new());
        for row in range.clone() {
            let rows = if txn.contains_vertex(self.key(row))? { &mut existing } else { &mut new };
            rows.push(row);
        }
        let found = Some(Found { new: new.len(), existing: existing.len() });
        if existing.is_empty() {
            txn.put_vertex_columns(self.kind, range.clone().map(|row| self.key(row)), &whole, range.start)?;
            return Ok(found);
        }
        match conflict {
            OnConflict::Raise => return Err(self.exists(existing[0])),
            OnConflict::Merge => {
                for row in existing {
                    let cells = cells(&self.columns, row).filter(|(_, value)| !value.is_null());
                    txn.update_vertex(self.key(row), cells)?;
                }
            }
            OnConflict::Skip | OnConflict::Replace => {}
        }
        let parts: Vec<Column> = self.columns.iter().map(|column| column.of_rows(&new)).collect();
        let parts: Vec<_> = parts.iter().map(|column| (column.name.as_str(), &column.values)).collect();
        txn.put_vertex_columns(self.kind, new.iter().map(|&row| self.key(row)), &parts, 0)?;
        Ok(found)
    }

    pub(crate) fn update(&self, txn: &mut WriteTxn, range: Range<usize>) -> hedgerow::Result<usize> {
        let mut updated = 0;
        for row in range {
            updated += usize::from(txn.update_vertex(self.key(row), cells(&self.columns, row))?);
        }
        Ok(updated)
    }

    pub(crate) fn remove(&self, txn: &mut WriteTxn, range: Range<usize>) -> hedgerow::Result<usize> {
        let mut removed = 0;
        for row in range {
            removed += usize::from(txn.remove_vertex(self.key(row))?);
        }
        Ok(removed)
    }
}

/// Returns the kind of all vertices: the named one, or else the kind of all pairs.
fn one_kind(keys: &Keys, named: Option<KindId>, names: &Names) -> PyResult<KindId> {
    let Keys::OfKinds(pairs) = keys else { return Ok(named.unwrap_or_default()) };
    // An id without a kind belongs to the kind that the call names.
    let says = |key: &VertexKey| Some(key.kind()).filter(|&kind| kind != KindId::DEFAULT).or(named);
    let mut kinds = pairs.iter().map(|key| says(key).unwrap_or_default());
    let first = named.or_else(|| kinds.clone().next()).unwrap_or_default();
    match kinds.position(|kind| kind != first) {
        None => Ok(first),
        Some(at) => {
            let (shown, of) = (names.shown(pairs[at].as_ref()), names.kind(first));
            let what = format!("keys[{at}]: {shown} is not of {of}: a call is about vertices of one kind");
            Err(DataError::new_err(what))
        }
    }
}

fn cells(columns: &[Column], at: usize) -> impl Iterator<Item = (&str, Value)> {
    columns.iter().map(move |column| (column.name.as_str(), column.value(at)))
}

/// Returns the rows that are not left out; `None` if none is left out.
fn kept(keys: &Keys, duplicates: Duplicates, names: &Names) -> PyResult<Option<Vec<usize>>> {
    if repeats::of_keys(keys) == 0 {
        return Ok(None);
    }
    let mut seen: HashSet<VertexKeyRef<'_>> = HashSet::with_capacity(keys.len());
    let backwards = duplicates == Duplicates::Last;
    let mut kept = Vec::new();
    let mut dropped = false;
    let rows = 0..keys.len();
    let in_order: Box<dyn Iterator<Item = usize>> =
        if backwards { Box::new(rows.rev()) } else { Box::new(rows) };
    for at in in_order {
        if seen.insert(keys.at(at)) {
            kept.push(at);
        } else if duplicates == Duplicates::Raise {
            let shown = names.shown(keys.at(at));
            return Err(DataError::new_err(format!("keys[{at}]: vertex {shown} comes twice")));
        } else {
            dropped = true;
        }
    }
    if backwards {
        kept.reverse();
    }
    Ok(dropped.then_some(kept))
}

/// The rows of a call about edges of one label.
pub(crate) struct EdgeRows<'a> {
    label: &'a str,
    src: Keys,
    dst: Keys,
    ranks: Option<Vec<u64>>,
    columns: Vec<Column>,
}

impl<'a> EdgeRows<'a> {
    pub(crate) fn read(
        handle: &Handle,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<&'a str>,
        ranks: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<EdgeRows<'a>> {
        handle.check_usable()?;
        let _calling = calling(src.py());
        let label = label.unwrap_or_default();
        let [of_src, of_dst] = key_types(&handle.origin, handle, label)?;
        let src = read_keys(handle, of_src, "src", src)?;
        let dst = read_keys(handle, of_dst, "dst", dst)?;
        if src.len() != dst.len() {
            let (src, dst) = (src.len(), dst.len());
            return Err(DataError::new_err(format!("src has {src} elements and dst has {dst}")));
        }
        let ranks = ranks.map(|ranks| read_ranks(ranks, src.len())).transpose()?;
        // An undefined label is refused here, since a call without rows would not notice it elsewhere.
        let is_multi = handle.kind_schema()?.find_label(label).map_err(raise)?.is_multi();
        // Without a rank, 0 would be used, which names only one of several edges, and often no edge.
        if ranks.is_none() && is_multi {
            let what =
                format!("label {label:?} is multi: name its edges by ranks= too, as edge_table gives them");
            return Err(DataError::new_err(what));
        }
        let types = Types::new(handle, Owner::Edges(label))?;
        let columns = read_columns(properties, &types, src.len(), None)?;
        Ok(EdgeRows { label, src, dst, ranks, columns })
    }

    pub(crate) fn len(&self) -> usize {
        self.src.len()
    }

    fn edge(&self, at: usize) -> EdgeKey<'_> {
        let rank = self.ranks.as_ref().map_or(0, |ranks| ranks[at]);
        EdgeKey::new(self.label, self.src.at(at), self.dst.at(at)).rank(rank)
    }

    pub(crate) fn update(&self, txn: &mut WriteTxn, range: Range<usize>) -> hedgerow::Result<usize> {
        let mut updated = 0;
        for at in range {
            updated += usize::from(txn.update_edge(self.edge(at), cells(&self.columns, at))?);
        }
        Ok(updated)
    }

    pub(crate) fn remove(&self, txn: &mut WriteTxn, range: Range<usize>) -> hedgerow::Result<usize> {
        let mut removed = 0;
        for at in range {
            removed += usize::from(txn.remove_edge(self.edge(at))?);
        }
        Ok(removed)
    }
}
