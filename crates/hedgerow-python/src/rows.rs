//! Rows of calls about many vertices, or about many edges that are there: columns, checked before anything is written.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use hedgerow::{EdgeKey, KindId, Value, VertexKeyRef, WriteTxn};
use pyo3::prelude::*;

use crate::bulk::{Keys, key_types, read_columns, read_keys, read_ranks};
use crate::columns::Column;
use crate::ending::calling;
use crate::error::{DataError, raise};
use crate::handle::Handle;
use crate::names::Kinds;
use crate::value::{Owner, Types};

/// About so many numbers are sorted at a time.
const RUN: usize = 1 << 10;

/// Which of several rows with one key counts.
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

/// Rows of a call about the vertices of one kind.
pub(crate) struct VertexRows {
    kind: KindId,
    keys: Keys,
    /// Of the rows that count.
    columns: Vec<Column>,
    /// The keys that count, ascending by place; all if none is left out.
    kept: Option<Vec<usize>>,
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
        let kind = schema.find_kind(kind.unwrap_or_default()).map_err(raise)?;
        let of = schema.kind_by_id(kind).map_or(handle.config.keys, hedgerow::Kind::keys);
        let _calling = calling(keys.py());
        let keys = read_keys(of, "keys", keys)?;
        let types = Types::new(handle, Owner::Vertices(kind))?;
        let mut columns = read_columns(properties, &types, keys.len())?;
        let kept = kept(&keys, duplicates)?;
        if let Some(kept) = &kept {
            columns.iter_mut().for_each(|column| column.keep(kept));
        }
        Ok(VertexRows { kind, keys, columns, kept })
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.keys.len(), Vec::len)
    }

    /// The key of a row that counts.
    fn key(&self, row: usize) -> VertexKeyRef<'_> {
        self.kind.key(self.keys.at(self.kept.as_ref().map_or(row, |kept| kept[row])))
    }

    pub(crate) fn put(&self, txn: &mut WriteTxn, range: Range<usize>) -> hedgerow::Result<usize> {
        let columns: Vec<_> =
            self.columns.iter().map(|column| (column.name.as_str(), &column.values)).collect();
        let keys = range.clone().map(|row| self.key(row));
        txn.put_vertex_columns(self.kind, keys, &columns, range.start)?;
        Ok(range.len())
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

fn cells(columns: &[Column], at: usize) -> impl Iterator<Item = (&str, Value)> {
    columns.iter().map(move |column| (column.name.as_str(), column.value(at)))
}

/// The rows that count, where some do not.
fn kept(keys: &Keys, duplicates: Duplicates) -> PyResult<Option<Vec<usize>>> {
    if all_differ(keys) {
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
            let message = format!("keys[{at}]: vertex {} comes twice", keys.at(at));
            return Err(DataError::new_err(message));
        } else {
            dropped = true;
        }
    }
    if backwards {
        kept.reverse();
    }
    Ok(dropped.then_some(kept))
}

/// Whether no key comes twice; now and then it is not seen that all texts differ. Ascending numbers take one look at each. Others are
/// shared out to runs by the highest bits of a product that differs if they do, and sorted there, in the cache.
fn all_differ(keys: &Keys) -> bool {
    let hasher = RandomState::new();
    let numbers: Vec<u64> = match keys {
        Keys::Numbers(numbers) if numbers.is_sorted_by(|a, b| a < b) => return true,
        Keys::Numbers(numbers) => numbers.iter().map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect(),
        Keys::Texts(texts) => texts.iter().map(|text| hasher.hash_one(&**text)).collect(),
    };
    let bits = (numbers.len() / RUN).max(2).ilog2();
    let run = |number: u64| (number >> (u64::BITS - bits)) as usize;
    let mut ends = vec![0; (1 << bits) + 1];
    numbers.iter().for_each(|&number| ends[run(number) + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![0; numbers.len()];
    for &number in &numbers {
        let at = &mut ends[run(number)];
        sorted[*at] = number;
        *at += 1;
    }
    let mut from = 0;
    ends[..1 << bits].iter().all(|&end| {
        let run = &mut sorted[from..end];
        from = end;
        run.sort_unstable();
        run.windows(2).all(|pair| pair[0] != pair[1])
    })
}

/// Rows of a call about edges of one label.
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
        let (src, dst) = (read_keys(of_src, "src", src)?, read_keys(of_dst, "dst", dst)?);
        if src.len() != dst.len() {
            let (src, dst) = (src.len(), dst.len());
            return Err(DataError::new_err(format!("src has {src} elements and dst has {dst}")));
        }
        let ranks = ranks.map(|ranks| read_ranks(ranks, src.len())).transpose()?;
        let columns = read_columns(properties, &Types::new(handle, Owner::Edges(label))?, src.len())?;
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
            removed += usize::from(txn.remove_edge_of(self.edge(at))?);
        }
        Ok(removed)
    }
}
