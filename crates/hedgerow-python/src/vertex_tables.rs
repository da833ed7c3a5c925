//! Tables of other libraries with a vertex in each row: `add_vertices(table, ...)`.

use std::collections::HashSet;

use hedgerow::{KeyKind, KindId, VertexKey};
use hedgerow_arrow::read::Faults;
use pyo3::prelude::*;

use crate::error::{NotSupportedError, raise};
use crate::frames::{self, Table, is_table, read_properties};
use crate::handle::Handle;
use crate::names::Kinds;
use crate::rows::{Duplicates, VertexRows};
use crate::value::{Owner, Types};

/// The usual column of keys, as `vertex_stream` names it.
const ID: &str = "id";

/// A table of vertices while it is read.
pub(crate) struct VertexTable {
    table: Table,
    kind: KindId,
    keys: KeyKind,
    at: usize,
    /// The columns that become properties, with their names.
    properties: Vec<(usize, String)>,
    duplicates: Duplicates,
    /// The keys of the rows that were read.
    seen: HashSet<VertexKey>,
}

impl VertexTable {
    /// Returns the table, if the argument `keys` is one. `key` names its column of keys.
    pub(crate) fn of(
        handle: &Handle,
        keys: &Bound<'_, PyAny>,
        key: Option<&str>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: Duplicates,
    ) -> PyResult<Option<VertexTable>> {
        if key.is_none() && !is_table(keys)? {
            return Ok(None);
        }
        handle.check_usable()?;
        if duplicates == Duplicates::Last {
            return Err(NotSupportedError::new_err(
                "duplicates=\"last\" needs all rows at once: remove the others from the table, or give its columns as keys and properties",
            ));
        }
        let schema = handle.kind_schema()?;
        let kind = schema.find_kind(kind.unwrap_or_default()).map_err(raise)?;
        let of = schema.kind_by_id(kind).map_or(handle.config.keys, hedgerow::Kind::keys);
        let named = frames::names(properties)?;
        let table = Table::open(keys)?;
        let at = table.find("key", key.unwrap_or(ID))?;
        let types = Types::new(handle, Owner::Vertices(kind))?;
        let properties = table.properties(named.as_deref(), &[at], &types)?;
        Ok(Some(VertexTable { table, kind, keys: of, at, properties, duplicates, seen: HashSet::new() }))
    }

    /// Returns the vertices of the next rows, at most `most`; `None` at the end.
    pub(crate) fn next(
        &mut self,
        py: Python<'_>,
        handle: &Handle,
        most: usize,
    ) -> PyResult<Option<VertexRows>> {
        let Some(rows) = self.table.next(py, most)? else { return Ok(None) };
        let mut faults = Faults::default();
        let keys = frames::read_keys(&rows, self.at, self.keys, &mut faults)?;
        let types = Types::new(handle, Owner::Vertices(self.kind))?;
        let columns = read_properties(&rows, &self.properties, &types, &mut faults)?;
        self.table.check(&rows, &faults)?;
        let first_row = self.table.rows - rows.num_rows();
        let new = |key: &VertexKey| self.seen.insert(key.clone());
        VertexRows::of(handle, (self.kind, keys), columns, (self.duplicates, first_row), new).map(Some)
    }
}
