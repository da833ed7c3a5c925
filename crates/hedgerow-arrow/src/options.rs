//! The choice of the columns and rows of a table.

use std::ops::Range;

use arrow_schema::Field;
use hedgerow::VertexId;

use crate::Error;

/// The columns that a table has, and the part of the graph whose rows it has. By default all.
///
/// ```
/// use hedgerow::{EdgeSelection, Graph};
/// use hedgerow_arrow::{EdgeBatches, TableOptions};
///
/// let graph = Graph::in_memory()?;
/// graph.insert_edges(&[(1, 2), (3, 4)])?;
/// let snapshot = graph.snapshot()?;
/// let mut rows = 0;
/// for part in snapshot.partitions(2)? {
///     let options = TableOptions::new().columns(["dst"]).within(part);
///     for batch in EdgeBatches::new(&snapshot, &EdgeSelection::of(""), &options)? {
///         rows += batch?.num_rows();
///     }
/// }
/// assert_eq!(rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TableOptions {
    columns: Columns,
    pub(crate) within: Option<Range<VertexId>>,
}

#[derive(Clone, Debug, Default)]
enum Columns {
    #[default]
    All,
    /// All that are no properties.
    OfKeys,
    Named(Vec<String>),
}

impl TableOptions {
    /// Returns options for all columns and all rows.
    pub fn new() -> TableOptions {
        TableOptions::default()
    }

    /// Leaves properties out, unless columns were named.
    pub fn without_properties(mut self) -> TableOptions {
        if matches!(self.columns, Columns::All) {
            self.columns = Columns::OfKeys;
        }
        self
    }

    /// Takes only these columns, in this order. What no column needs is neither read nor made.
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> TableOptions {
        self.columns = Columns::Named(names.into_iter().map(N::into).collect());
        self
    }

    /// Takes only rows whose source, or whose vertex, is in a range of ids: a range of
    /// [`partitions`](hedgerow::Snapshot::partitions).
    pub fn within(mut self, ids: Range<VertexId>) -> TableOptions {
        self.within = Some(ids);
        self
    }

    /// Returns the places of the columns among `all`, of which the first `keys` are no properties.
    pub(crate) fn places(&self, all: &[Field], keys: usize) -> Result<Vec<usize>, Error> {
        let names = match &self.columns {
            Columns::All => return Ok((0..all.len()).collect()),
            Columns::OfKeys => return Ok((0..keys).collect()),
            Columns::Named(names) => names,
        };
        let mut places: Vec<usize> = Vec::with_capacity(names.len());
        for name in names {
            let place = all.iter().position(|field| field.name() == name).ok_or_else(|| {
                let known: Vec<&str> = all.iter().map(|field| field.name().as_str()).collect();
                Error::column(name, format!("there is none; the columns are {}", known.join(", ")))
            })?;
            if places.contains(&place) {
                return Err(Error::column(name, "is named twice"));
            }
            places.push(place);
        }
        Ok(places)
    }
}
