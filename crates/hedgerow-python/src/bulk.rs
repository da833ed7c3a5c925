//! Many edges in one call: columns from NumPy arrays or sequences, checked before anything is written.

use std::collections::BTreeMap;
use std::ops::Range;

use hedgerow::{ArgumentError, EdgeKey, Error, Graph, LabelRef, Snapshot, Value, VertexKeyRef, WriteTxn};
use pyo3::prelude::*;

use crate::added::{Added, Found, OnConflict};
use crate::columns::Column;
use crate::edge_arguments::{edges_so_far, has_ranks};
use crate::ending::calling;
use crate::error::{DataError, NotSupportedError};
use crate::handle::Handle;
use crate::key_columns::{Keys, key_types, read_keys, read_ranks, read_weights};
use crate::named_columns::{check_type, read_columns};
use crate::names::{Kinds, Names};
use crate::repeats::Ends;
use crate::value::{Owner, Types, WEIGHT};

/// The edges to put, all checked to be valid for the graph.
pub(crate) struct Edges {
    src: Keys,
    dst: Keys,
    weights: Option<Vec<f64>>,
    /// The attributes of the edges, if they have a label, ranks or properties.
    rich: Option<Rich>,
    ends: Ends,
    names: Names,
    /// The place of the first edge in its table; `None` if the edges are columns of the call.
    first_row: Option<usize>,
}

/// The columns of edges; `None` for those that the call does not give.
pub(crate) struct EdgeParts {
    pub(crate) src: Keys,
    pub(crate) dst: Keys,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) ranks: Option<Vec<u64>>,
    pub(crate) columns: Option<Vec<Column>>,
}

/// The label, ranks and properties of edges; a labelled edge has its weight among the properties.
struct Rich {
    label: String,
    ranks: Ranks,
    columns: Vec<Column>,
}

/// The ranks of the edges of a call, which distinguish edges between the same two vertices.
enum Ranks {
    /// No ranks: two vertices have at most one edge.
    None,
    Given(Vec<u64>),
    /// Ranks that the call assigns, if the label is `multi` and the caller gave no ranks. Each row becomes a
    /// new edge.
    Counted,
}

/// The arguments of `add_edges`.
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) src: Bound<'py, PyAny>,
    pub(crate) dst: Bound<'py, PyAny>,
    pub(crate) weights: Option<Bound<'py, PyAny>>,
    pub(crate) label: Option<&'a str>,
    pub(crate) ranks: Option<&'a Bound<'py, PyAny>>,
    pub(crate) properties: Option<&'a Bound<'py, PyAny>>,
}

impl Edges {
    /// Reads the arguments of `add_edges`.
    pub(crate) fn read(handle: &Handle, arguments: &Arguments<'_, '_>) -> PyResult<Edges> {
        let _calling = calling(arguments.src.py());
        let label = arguments.label.unwrap_or("");
        let [src, dst] = key_types(&handle.origin, handle, label)?;
        let src = read_keys(handle, src, "src", &arguments.src)?;
        let dst = read_keys(handle, dst, "dst", &arguments.dst)?;
        if src.len() != dst.len() {
            let (src, dst) = (src.len(), dst.len());
            return Err(DataError::new_err(format!("src has {src} elements and dst has {dst}")));
        }
        if arguments.weights.is_some() && label.is_empty() && !handle.config.weighted {
            return Err(NotSupportedError::new_err("the graph has no weights"));
        }
        let weights = arguments.weights.as_ref().map(|w| read_weights(w, src.len())).transpose()?;
        let ranks = arguments.ranks.map(|ranks| read_ranks(ranks, src.len())).transpose()?;
        let columns = match arguments.properties {
            Some(_) => {
                let types = Types::new(handle, Owner::Edges(label))?;
                Some(read_columns(arguments.properties, &types, src.len(), None)?)
            }
            None => None,
        };
        Edges::of(handle, label, EdgeParts { src, dst, weights, ranks, columns }, None)
    }

    /// Makes edges of columns that were read. `first_row` is the place of the first one in its table, if
    /// they are of one.
    pub(crate) fn of(
        handle: &Handle,
        label: &str,
        parts: EdgeParts,
        first_row: Option<usize>,
    ) -> PyResult<Edges> {
        let EdgeParts { src, dst, mut weights, ranks, columns } = parts;
        let plain = label.is_empty() && ranks.is_none() && columns.is_none();
        let columns = columns.unwrap_or_default();
        let rich = if plain { None } else { Some(Rich::of(handle, label, ranks, columns, weights.take())?) };
        let schema = handle.kind_schema()?;
        let ends = Ends::of(&schema, label, handle.config.directed);
        Ok(Edges { src, dst, weights, rich, ends, names: Names::of(schema), first_row })
    }

    pub(crate) fn len(&self) -> usize {
        self.src.len()
    }

    fn ranks(&self) -> &Ranks {
        self.rich.as_ref().map_or(&Ranks::None, |rich| &rich.ranks)
    }

    /// Returns the number of rows whose edge an earlier row names. Takes 16 bytes per row while it runs.
    pub(crate) fn repeated(&self) -> usize {
        let ranks = match self.ranks() {
            Ranks::Counted => return 0,
            Ranks::Given(ranks) => Some(&ranks[..]),
            Ranks::None => None,
        };
        self.ends.repeated(&self.src, &self.dst, ranks)
    }

    /// Returns the counts of a call that put `rows` edges, these last. `repeated` is the result of
    /// [`repeated`](Self::repeated) if these are all, `found` has the counts of the store.
    pub(crate) fn added(
        &self,
        rows: usize,
        repeated: Option<usize>,
        found: Found,
        conflict: OnConflict,
    ) -> Added {
        if matches!(self.ranks(), Ranks::Counted) {
            return Added { rows, repeated, found: Some(found) };
        }
        if conflict == OnConflict::Replace {
            return Added { rows, repeated, found: None };
        }
        // The store also counted rows that repeat an earlier row as existing.
        let existing = found.existing.saturating_sub(repeated.unwrap_or(0));
        let rows = if conflict == OnConflict::Skip { found.new } else { rows };
        Added { rows, repeated, found: Some(Found { existing, ..found }) }
    }

    /// Refuses an edge that exists. So no batch is written before a later batch is refused.
    pub(crate) fn check_new(&self, snapshot: &Snapshot) -> hedgerow::Result<()> {
        if matches!(self.ranks(), Ranks::Counted) || snapshot.schema().label(self.label()).is_none() {
            return Ok(());
        }
        (0..self.len()).try_for_each(|at| match snapshot.contains_edge(self.edge(at))? {
            true => Err(self.exists(at)),
            false => Ok(()),
        })
    }

    fn exists(&self, at: usize) -> Error {
        let [src, dst] = [&self.src, &self.dst].map(|keys| self.names.shown(keys.at(at)));
        let row = self.first_row.unwrap_or(0) + at;
        let of = if self.first_row.is_some() { " of the table" } else { "" };
        let what = format!(
            "row {row}{of}: the edge from {src} to {dst} exists, or an earlier row names it, and on_conflict is \"raise\""
        );
        ArgumentError::Invalid(what).into()
    }

    fn label(&self) -> &str {
        self.rich.as_ref().map_or("", |rich| &rich.label)
    }

    /// Returns the edge of a row, with the given rank, or 0 without one.
    fn edge(&self, at: usize) -> EdgeKey<'_> {
        let rank = if let Ranks::Given(ranks) = self.ranks() { ranks[at] } else { 0 };
        EdgeKey::new(self.label(), self.src.at(at), self.dst.at(at)).rank(rank)
    }

    /// Returns the values of a row, including the weight.
    fn cells(&self, at: usize) -> impl Iterator<Item = (&str, Value)> {
        let weight = self.weights.as_ref().map(|weights| (WEIGHT, Value::F64(weights[at])));
        let others = self.rich.as_ref().map(|rich| rich.cells(at));
        weight.into_iter().chain(others.into_iter().flatten())
    }

    /// Returns the first rank to assign: the number of edges of the label, as in `load --multi`.
    pub(crate) fn first_rank(
        &self,
        snapshot: impl FnOnce() -> hedgerow::Result<Snapshot>,
    ) -> hedgerow::Result<u64> {
        match &self.rich {
            Some(Rich { label, ranks: Ranks::Counted, .. }) => edges_so_far(&snapshot()?, label),
            _ => Ok(0),
        }
    }

    /// Returns the first rank like [`first_rank`](Self::first_rank), but reads a store.
    pub(crate) fn first_rank_in(&self, graph: &Graph) -> hedgerow::Result<u64> {
        self.first_rank(|| graph.snapshot())
    }

    /// Puts the edges of `range`; if the call assigns ranks, from `rank` on. Returns the next rank, and the
    /// numbers of new and existing edges, which are unknown if edges are replaced without a read.
    pub(crate) fn put(
        &self,
        txn: &mut WriteTxn,
        range: Range<usize>,
        conflict: OnConflict,
        rank: u64,
    ) -> hedgerow::Result<(u64, Found)> {
        if let Some(rich @ Rich { ranks: Ranks::Counted, .. }) = &self.rich {
            let new = range.len();
            let rank = range.into_iter().try_fold(rank, |rank, at| {
                rich.insert_counted(txn, self.src.at(at), self.dst.at(at), at, rank)
            })?;
            return Ok((rank, Found { new, existing: 0 }));
        }
        if conflict == OnConflict::Replace {
            return self.put_all(txn, range).map(|()| (rank, Found::default()));
        }
        let mut found = Found::default();
        for at in range {
            let new = match conflict {
                OnConflict::Merge => self.merge(txn, at)?,
                _ => txn.insert_edge_with(self.edge(at), self.cells(at))?,
            };
            if !new && conflict == OnConflict::Raise {
                return Err(self.exists(at));
            }
            found += Found { new: usize::from(new), existing: usize::from(!new) };
        }
        Ok((rank, found))
    }

    /// Merges the values of a row, including the weight, into the edge's. Returns true if the edge is new.
    fn merge(&self, txn: &mut WriteTxn, at: usize) -> hedgerow::Result<bool> {
        let edge = self.edge(at);
        if txn.insert_edge_with(edge, self.cells(at))? {
            return Ok(true);
        }
        let mut values: BTreeMap<Box<str>, Value> = BTreeMap::new();
        for (name, value) in txn.edge_properties(edge)?.unwrap_or_default() {
            values.insert((&*name).into(), value);
        }
        values.extend(self.cells(at).map(|(name, value)| (name.into(), value)));
        txn.put_edge_with(edge, values)?;
        Ok(false)
    }

    /// Puts the edges of `range` without reading anything.
    fn put_all(&self, txn: &mut WriteTxn, range: Range<usize>) -> hedgerow::Result<()> {
        match (&self.src, &self.dst) {
            (Keys::Numbers(src), Keys::Numbers(dst)) => self.put_pairs(
                txn,
                src[range.clone()].iter().copied().zip(dst[range.clone()].iter().copied()),
                range,
            ),
            (Keys::Texts(src), Keys::Texts(dst)) => {
                let (src, dst) = (src[range.clone()].iter(), dst[range.clone()].iter());
                self.put_pairs(txn, src.map(|s| &**s).zip(dst.map(|d| &**d)), range)
            }
            (src, dst) => self.put_pairs(txn, range.clone().map(|at| (src.at(at), dst.at(at))), range),
        }
    }

    /// Calls `f` with the ends and the weight of each edge of `range`; the weight is 1 if none is given.
    /// These edges have no other attributes.
    pub(crate) fn each(
        &self,
        range: Range<usize>,
        mut f: impl FnMut(VertexKeyRef<'_>, VertexKeyRef<'_>, f64) -> hedgerow::Result<()>,
    ) -> hedgerow::Result<()> {
        let weight = |at: usize| self.weights.as_ref().map_or(1.0, |weights| weights[at]);
        range.into_iter().try_for_each(|at| f(self.src.at(at), self.dst.at(at), weight(at)))
    }

    fn put_pairs<'a, K: Into<VertexKeyRef<'a>>>(
        &self,
        txn: &mut WriteTxn,
        mut pairs: impl Iterator<Item = (K, K)>,
        range: Range<usize>,
    ) -> hedgerow::Result<()> {
        match (&self.rich, &self.weights) {
            (Some(rich), _) if matches!(rich.ranks, Ranks::None) => rich.put_all(txn, pairs.zip(range)),
            (Some(rich), _) => {
                pairs.zip(range).try_for_each(|((src, dst), at)| rich.put(txn, src.into(), dst.into(), at))
            }
            (None, None) => pairs.try_for_each(|(src, dst)| txn.put_edge((src, dst))),
            (None, Some(weights)) => pairs
                .zip(&weights[range])
                .try_for_each(|((src, dst), &weight)| txn.put_edge((src, dst, weight))),
        }
    }
}

impl Rich {
    fn of(
        handle: &Handle,
        label: &str,
        ranks: Option<Vec<u64>>,
        mut columns: Vec<Column>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Rich> {
        let ranks = match ranks {
            Some(ranks) => Ranks::Given(ranks),
            None if has_ranks(handle, label)? => Ranks::Counted,
            None => Ranks::None,
        };
        if let Some(weights) = weights {
            if columns.iter().any(|column| column.name == WEIGHT) {
                let what = "two columns are the weights: leave one of them out of properties=";
                return Err(DataError::new_err(what));
            }
            let column = Column { name: WEIGHT.to_owned(), values: weights.into() };
            check_type(&Types::new(handle, Owner::Edges(label))?, &column)?;
            columns.push(column);
        }
        Ok(Rich { label: label.to_owned(), ranks, columns })
    }

    /// Puts edges without ranks, each with its row in the columns. Label and properties are looked up once.
    fn put_all<'a, K: Into<VertexKeyRef<'a>>>(
        &self,
        txn: &mut WriteTxn,
        edges: impl Iterator<Item = ((K, K), usize)>,
    ) -> hedgerow::Result<()> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let edges = edges.map(|((src, dst), at)| {
            (src.into(), dst.into(), self.columns.iter().map(move |column| column.value(at)))
        });
        txn.put_edges_with(LabelRef::Name(&self.label), &names, edges)
    }

    fn put(
        &self,
        txn: &mut WriteTxn,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        at: usize,
    ) -> hedgerow::Result<()> {
        let rank = if let Ranks::Given(ranks) = &self.ranks { ranks[at] } else { 0 };
        txn.put_edge_with(EdgeKey::new(&self.label, src, dst).rank(rank), self.cells(at))
    }

    /// Inserts an edge under the first free rank from `rank` on. Returns the next rank.
    fn insert_counted(
        &self,
        txn: &mut WriteTxn,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        at: usize,
        rank: u64,
    ) -> hedgerow::Result<u64> {
        let after = |rank: u64| {
            rank.checked_add(1).ok_or_else(|| {
                let what = format!("no rank is left for an edge of label {:?}: give ranks=", self.label);
                Error::Argument(ArgumentError::Invalid(what))
            })
        };
        let mut rank = rank;
        while !txn.insert_edge_with(EdgeKey::new(&self.label, src, dst).rank(rank), self.cells(at))? {
            // Edges were removed or have given ranks. The ranks after the last one are free.
            let last = txn.ranks_between(self.label.as_str(), src, dst)?.last().copied();
            rank = after(last.unwrap_or(rank).max(rank))?;
        }
        after(rank)
    }

    /// Returns the properties of a row, except nulls, which a new edge does not need.
    fn cells(&self, at: usize) -> impl Iterator<Item = (&str, Value)> {
        let cells = self.columns.iter().map(move |column| (column.name.as_str(), column.value(at)));
        cells.filter(|(_, value)| !value.is_null())
    }
}
