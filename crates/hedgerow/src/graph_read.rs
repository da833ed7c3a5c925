//! The reads that snapshots and write transactions share.

use hedgerow_core::{LabelId, Value, VertexKey, VertexKeyRef};
use hedgerow_engine::{EdgeKey, EdgePattern, EdgeSelectionRef, Properties, Result, Snapshot, WriteTxn};

/// Defines a trait of reads and implements it for snapshots and transactions with their methods of the same
/// names.
macro_rules! graph_read {
    ($(#[$about:meta])* trait $trait:ident: $($(#[$doc:meta])* fn $name:ident $(<$($life:lifetime),+>)? ($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(#[$about])*
        #[allow(clippy::missing_errors_doc, reason = "the trait says it once for all methods")]
        pub trait $trait {
            $($(#[$doc])* fn $name $(<$($life),+>)? (&mut self, $($arg: $type),*) -> Result<$answer>;)*
        }
        graph_read! { @for Snapshot, Snapshot, $trait: $(fn $name $(<$($life),+>)? ($($arg: $type),*) -> $answer;)* }
        graph_read! { @for &Snapshot, Snapshot, $trait: $(fn $name $(<$($life),+>)? ($($arg: $type),*) -> $answer;)* }
        graph_read! { @for WriteTxn, WriteTxn, $trait: $(fn $name $(<$($life),+>)? ($($arg: $type),*) -> $answer;)* }
    };
    (@for $reader:ty, $methods:ident, $trait:ident: $(fn $name:ident $(<$($life:lifetime),+>)? ($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl $trait for $reader {
            $(#[inline] fn $name $(<$($life),+>)? (&mut self, $($arg: $type),*) -> Result<$answer> {
                $methods::$name(self, $($arg),*)
            })*
        }
    };
}

graph_read! {
    /// Reads of one moment of a graph, for functions that work with a [`Snapshot`] as well as a [`WriteTxn`].
    /// The methods of these two types have the same names, and their documentation has the results and costs.
    ///
    /// A snapshot reads the commits up to its timestamp. A transaction reads its snapshot together with its
    /// own writes. Under [`Isolation::Serializable`](crate::Isolation::Serializable) it remembers what it has
    /// read, to validate it at commit. No read waits for a commit.
    ///
    /// The methods take `&mut self`, since a transaction records what it reads. A shared snapshot is read
    /// through `&mut &snapshot`.
    ///
    /// # Errors
    /// Each method returns an [`ArgumentError`](crate::ArgumentError) for a label that is not defined, and in
    /// a transaction for a key whose type is not that of the graph; a [`StateError`](crate::StateError) in a
    /// forked child; a [`StorageError`](crate::StorageError) if data of the graph cannot be read.
    ///
    /// ```
    /// use hedgerow::{Direction, Graph, GraphRead};
    ///
    /// /// How many of the accounts that `account` paid have paid it back.
    /// fn mutual(graph: &mut impl GraphRead, account: u64) -> hedgerow::Result<usize> {
    ///     let mut count = 0;
    ///     for other in graph.neighbors(account, Direction::Out)?.unwrap_or_default() {
    ///         count += usize::from(graph.contains_edge((&other, account))?);
    ///     }
    ///     Ok(count)
    /// }
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edge((1, 2))?;
    /// let mut tx = graph.write()?;
    /// tx.put_edge((2, 1))?;
    /// assert_eq!(mutual(&mut tx, 1)?, 1); // sees the write of the transaction
    /// assert_eq!(mutual(&mut graph.snapshot()?, 1)?, 0);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    trait GraphRead:
    /// True if the vertex exists. O(1).
    fn contains_vertex<'a>(key: impl Into<VertexKeyRef<'a>>) -> bool;

    /// True if an edge with this pattern exists: `(src, dst)` is any edge between two vertices, an
    /// [`EdgeKey`] just one. O(labels * log degree); in a `multi` label without a named rank also one step
    /// for each edge between the two vertices.
    fn contains_edge<'a>(edges: impl Into<EdgePattern<'a>>) -> bool;

    /// Returns the number of chosen edges at a vertex, or `None` if there is no such vertex. O(labels) and a
    /// search of a short delta in a snapshot if labels are chosen wholly and in one direction, else
    /// O(degree); O(labels + degree log degree) in a transaction.
    fn degree<'a, 's>(key: impl Into<VertexKeyRef<'a>>, edges: impl Into<EdgeSelectionRef<'s>>) -> Option<usize>;

    /// Returns the other endpoints of the chosen edges at a vertex, sorted by key, or `None` if there is no
    /// such vertex. O(labels + degree log degree).
    fn neighbors<'a, 's>(key: impl Into<VertexKeyRef<'a>>, edges: impl Into<EdgeSelectionRef<'s>>) -> Option<Vec<VertexKey>>;

    /// Returns other endpoint, label and rank of the chosen edges at a vertex, sorted by all three, or `None`
    /// if there is no such vertex. O(labels + degree log degree).
    fn edge_list<'a, 's>(key: impl Into<VertexKeyRef<'a>>, edges: impl Into<EdgeSelectionRef<'s>>) -> Option<Vec<(VertexKey, LabelId, u64)>>;

    /// Returns the properties of an edge that have a value, if the edge exists. O(log degree).
    fn edge_properties<'a>(edge: impl Into<EdgeKey<'a>>) -> Option<Properties>;

    /// Returns one property of an edge, if the edge exists; null if it has no such property. O(log degree).
    fn edge_property<'a>(edge: impl Into<EdgeKey<'a>>, property: &str) -> Option<Value>;

    /// Returns the properties of a vertex that have a value, if the vertex exists. O(1).
    fn vertex_properties<'a>(key: impl Into<VertexKeyRef<'a>>) -> Option<Properties>;

    /// Returns one property of a vertex, if the vertex exists; null if it has no such property. O(1).
    fn vertex_property<'a>(key: impl Into<VertexKeyRef<'a>>, property: &str) -> Option<Value>;
}
