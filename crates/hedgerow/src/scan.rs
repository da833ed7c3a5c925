//! All edges of a label with their properties, and a property as the weights of edges.

use hedgerow_core::{
    ByVertex, Direction, LabelId, Neighbors, PropertyId, SubgraphId, Topology, ValueRef, VertexId,
    WeightedNeighbors, WeightedTopology,
};
use hedgerow_mem::{ItemRef, View};

use crate::error::{Error, Result};
use crate::schema::{Label, LabelRef};
use crate::snapshot::Snapshot;
use crate::write::WEIGHT;

/// An edge met by [`Snapshot::for_each_edge_row`].
#[derive(Clone, Copy)]
pub struct EdgeRow<'a> {
    src: VertexId,
    item: ItemRef<'a>,
}

impl<'a> EdgeRow<'a> {
    /// The source; of an undirected edge the endpoint with the smaller id.
    pub fn src(&self) -> VertexId {
        self.src
    }

    /// The destination.
    pub fn dst(&self) -> VertexId {
        self.item.dst
    }

    /// The rank; 0 unless the label is `multi`.
    pub fn rank(&self) -> u64 {
        self.item.rank
    }

    /// The weight; 1 in a graph without weights, and of labels other than the default one.
    pub fn weight(&self) -> f64 {
        self.item.weight
    }

    /// The value of a property; null if it has none.
    pub fn get(&self, property: PropertyId) -> ValueRef<'a> {
        self.item.row.get(property)
    }
}

impl Snapshot {
    /// Calls `f` with every edge of a label, by ascending source id; of an undirected graph once per edge. Properties
    /// are found where the edge is found: nothing is looked up or copied. O(edges).
    ///
    /// # Errors
    /// [`Error::NoSuchLabel`].
    pub fn for_each_edge_row<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        mut f: impl FnMut(EdgeRow<'_>),
    ) -> Result<()> {
        let label = self.engine().label(label.into())?;
        let directed = self.engine().config.directed;
        for v in (0..self.engine().ids.bound()).map(VertexId) {
            self.for_each_item(label, v, Direction::Out, |item| {
                if directed || v <= item.dst {
                    f(EdgeRow { src: v, item });
                }
            });
        }
        Ok(())
    }

    /// The graph of one label for kernels with a property of its edges as their weight: a `bool` (as 0 or 1), `i64`, `f64` or
    /// `timestamp` property, or of a weighted graph's default label `weight`. Built at each call: O(vertices + edges),
    /// 12 bytes per edge and direction.
    ///
    /// # Errors
    /// [`Error::NoSuchLabel`]; [`Error::InvalidArgument`] if the label has no such property, if it holds no numbers, or if an
    /// edge has no value of it.
    pub fn weighted_view_of<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        property: &str,
    ) -> Result<PropertyWeights> {
        let id = self.engine().label(label.into())?;
        let column = self.weight_column(id, property)?;
        let view = self.build_view_of(id);
        let out = self.weighted_rows(id, column, view.vertex_bound(), property)?;
        let into = self.engine().config.directed.then(|| out.turned());
        Ok(PropertyWeights { view, out, into })
    }

    /// Where the weights are: in a property, or for `None` with the edges.
    fn weight_column(&self, label: LabelId, property: &str) -> Result<Option<PropertyId>> {
        if self.engine().is_weighted(label) && property == WEIGHT {
            return Ok(None);
        }
        let schema = self.engine().schema.load();
        let owner = schema.label_by_id(label);
        let Some(found) = owner.and_then(|label| label.property(property)) else {
            let name = owner.map_or("", |label: &Label| label.name());
            return Err(Error::InvalidArgument(format!("label {name:?} has no property {property}")));
        };
        let kind = found.property_type();
        if !kind.is_fixed() {
            let message = format!("property {property} is of type {kind}: a weight must be a number");
            return Err(Error::InvalidArgument(message));
        }
        Ok(Some(found.id()))
    }

    fn weighted_rows(
        &self,
        label: LabelId,
        column: Option<PropertyId>,
        bound: usize,
        property: &str,
    ) -> Result<Rows> {
        let mut rows = Rows { offsets: Vec::with_capacity(bound + 1), ..Rows::default() };
        let mut without = None;
        rows.offsets.push(0);
        for v in (0..bound as u32).map(VertexId) {
            self.for_each_item(label, v, Direction::Out, |item| {
                let weight = column.map_or(Some(item.weight), |id| item.row.get(id).as_number());
                if weight.is_none() {
                    without.get_or_insert((v, item.dst));
                }
                rows.targets.push(item.dst);
                rows.weights.push(weight.unwrap_or(f64::NAN));
            });
            rows.offsets.push(rows.targets.len());
        }
        match without {
            None => Ok(rows),
            Some((src, dst)) => {
                let (src, dst) = (self.engine().ids.key_of(src), self.engine().ids.key_of(dst));
                let message = format!("the edge from {src} to {dst} has no value of property {property}");
                Err(Error::InvalidArgument(message))
            }
        }
    }
}

/// Compressed sparse rows with weights.
#[derive(Default)]
struct Rows {
    /// Row v is `offsets[v]..offsets[v + 1]`.
    offsets: Vec<usize>,
    targets: Vec<VertexId>,
    weights: Vec<f64>,
}

impl Rows {
    fn of(&self, v: VertexId) -> WeightedNeighbors<'_> {
        let ends = self.offsets.get(v.index()).zip(self.offsets.get(v.index() + 1));
        let Some((&from, &to)) = ends else { return WeightedNeighbors::default() };
        WeightedNeighbors::from_slices(&self.targets[from..to], &self.weights[from..to])
    }

    /// The same edges against their direction.
    fn turned(&self) -> Rows {
        let bound = self.offsets.len() - 1;
        let mut offsets = vec![0; bound + 1];
        for v in &self.targets {
            offsets[v.index() + 1] += 1;
        }
        for v in 0..bound {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let mut targets = vec![VertexId(0); self.targets.len()];
        let mut weights = vec![0.0; self.targets.len()];
        for v in (0..bound as u32).map(VertexId) {
            for at in self.offsets[v.index()]..self.offsets[v.index() + 1] {
                let place = &mut next[self.targets[at].index()];
                (targets[*place], weights[*place]) = (v, self.weights[at]);
                *place += 1;
            }
        }
        Rows { offsets, targets, weights }
    }
}

/// The edges of a label, weighted by one of their properties. Made by [`Snapshot::weighted_view_of`].
pub struct PropertyWeights {
    /// Tells which vertices there are.
    view: View,
    out: Rows,
    /// Against the direction, of a directed graph.
    into: Option<Rows>,
}

impl PropertyWeights {
    fn rows(&self, direction: Direction) -> &Rows {
        match (&self.into, direction) {
            (Some(into), Direction::In) => into,
            _ => &self.out,
        }
    }
}

impl Topology for PropertyWeights {
    type Block<'a> = ByVertex<'a, PropertyWeights>;

    fn block(&self, subgraph: SubgraphId, direction: Direction) -> Self::Block<'_> {
        ByVertex::new(self, subgraph, direction)
    }

    fn vertex_bound(&self) -> usize {
        self.view.vertex_bound()
    }

    fn vertex_count(&self) -> usize {
        self.view.vertex_count()
    }

    fn edge_count(&self) -> u64 {
        self.view.edge_count()
    }

    fn is_directed(&self) -> bool {
        self.view.is_directed()
    }

    fn contains(&self, v: VertexId) -> bool {
        self.view.contains(v)
    }

    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        self.rows(direction).of(v).neighbors
    }
}

impl WeightedTopology for PropertyWeights {
    type WeightedBlock<'a> = ByVertex<'a, PropertyWeights>;

    fn weighted_block(&self, subgraph: SubgraphId, direction: Direction) -> Self::WeightedBlock<'_> {
        ByVertex::new(self, subgraph, direction)
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn weighted_neighbors(&self, v: VertexId, direction: Direction) -> WeightedNeighbors<'_> {
        self.rows(direction).of(v)
    }
}
