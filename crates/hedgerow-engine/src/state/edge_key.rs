//! The name of an edge in the API.

use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{LabelId, VertexKeyRef};

/// The name of an edge: its label, its endpoints, and in a `multi` label its rank.
///
/// ```
/// use hedgerow::{EdgeKey, Graph, Value};
///
/// let graph = Graph::in_memory()?;
/// let mut tx = graph.write()?;
/// tx.put_edge_with(EdgeKey::new("knows", 1, 2), [("since", 2001), ("trust", 7)])?;
/// tx.commit()?;
/// let snapshot = graph.snapshot()?;
/// let since = snapshot.edge_property(EdgeKey::new("knows", 1, 2), "since")?;
/// assert_eq!(since, Some(Value::I64(2001)));
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct EdgeKey<'a> {
    pub(crate) label: LabelRef<'a>,
    pub(crate) src: VertexKeyRef<'a>,
    pub(crate) dst: VertexKeyRef<'a>,
    pub(crate) rank: u64,
}

impl<'a> EdgeKey<'a> {
    /// Names the edge of this label from `src` to `dst`, with rank 0. The empty label is the default one.
    #[inline]
    pub fn new(
        label: impl Into<LabelRef<'a>>,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> EdgeKey<'a> {
        EdgeKey { label: label.into(), src: src.into(), dst: dst.into(), rank: 0 }
    }

    /// True if this names an edge of the default label, without a rank.
    #[inline]
    pub(crate) fn is_default(&self) -> bool {
        self.rank == 0 && matches!(self.label, LabelRef::Name("") | LabelRef::Id(LabelId::DEFAULT))
    }

    /// Sets the rank of the edge; only edges of `multi` labels have one other than 0.
    pub fn rank(mut self, rank: u64) -> EdgeKey<'a> {
        self.rank = rank;
        self
    }
}

impl<'a, S, D> From<(S, D)> for EdgeKey<'a>
where
    S: Into<VertexKeyRef<'a>>,
    D: Into<VertexKeyRef<'a>>,
{
    /// Names the edge of the default label from the first to the second vertex.
    #[inline]
    fn from((src, dst): (S, D)) -> EdgeKey<'a> {
        EdgeKey { label: LabelRef::Name(""), src: src.into(), dst: dst.into(), rank: 0 }
    }
}

impl<'a, S, D> From<&(S, D)> for EdgeKey<'a>
where
    S: Into<VertexKeyRef<'a>> + Copy,
    D: Into<VertexKeyRef<'a>> + Copy,
{
    #[inline]
    fn from(&(src, dst): &(S, D)) -> EdgeKey<'a> {
        (src, dst).into()
    }
}

/// An edge for a write that puts or inserts it: `(src, dst)` or `(src, dst, weight)` for an edge of the
/// default label, or an [`EdgeKey`]. Without a weight the edge of a weighted graph weighs 1.
///
/// ```
/// use hedgerow::{EdgeKey, Options};
///
/// let graph = Options::new().weighted(true).in_memory()?;
/// graph.put_edge((1, 2))?;
/// graph.put_edge((1, 3, 0.5))?;
/// graph.put_edge(EdgeKey::new("knows", 1, 2))?;
/// assert_eq!(graph.snapshot()?.edge_count()?, 3);
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct EdgeToWrite<'a> {
    pub(crate) key: EdgeKey<'a>,
    pub(crate) weight: Option<f64>,
}

impl<'a, K: Into<EdgeKey<'a>>> From<K> for EdgeToWrite<'a> {
    #[inline]
    fn from(key: K) -> EdgeToWrite<'a> {
        EdgeToWrite { key: key.into(), weight: None }
    }
}

impl<'a, S, D> From<(S, D, f64)> for EdgeToWrite<'a>
where
    S: Into<VertexKeyRef<'a>>,
    D: Into<VertexKeyRef<'a>>,
{
    #[inline]
    fn from((src, dst, weight): (S, D, f64)) -> EdgeToWrite<'a> {
        EdgeToWrite { key: (src, dst).into(), weight: Some(weight) }
    }
}

impl<'a, S, D> From<&(S, D, f64)> for EdgeToWrite<'a>
where
    S: Into<VertexKeyRef<'a>> + Copy,
    D: Into<VertexKeyRef<'a>> + Copy,
{
    #[inline]
    fn from(&(src, dst, weight): &(S, D, f64)) -> EdgeToWrite<'a> {
        (src, dst, weight).into()
    }
}

/// The name under which the weight of an edge of a weighted graph is set and read as a property.
pub(crate) const WEIGHT: &str = "weight";
