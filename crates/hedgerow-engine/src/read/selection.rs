//! The edges that a read takes: labels, ranks, direction, and values of properties.

use std::ops::{Bound, RangeBounds};

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::{LabelRef, Schema};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Comparison, Condition, EdgeTest, GraphConfig, KindId, LabelId, Predicate, Value, VertexKeyRef,
};

use crate::read::filter::Filter;
use crate::read::selection_weights::{weights_by, weights_of_labels};
use crate::read::snapshot::Snapshot;
use crate::state::catalog::Catalog;
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, ChosenWeight, EdgeDirection};
use crate::state::edge_key::WEIGHT;
use crate::state::store::Core;

/// The choice of edges that a read takes: edges of one label, of several or of all; of all ranks or of a
/// range; along edges, against them or both ways; with properties that meet conditions, or a
/// [`Predicate`] of conditions.
///
/// Each edge is one entry: if edges of two labels join two vertices, each vertex is twice in the list of the
/// other.
///
/// ```
/// use hedgerow::{Comparison, EdgeDirection, EdgeKey, EdgeSelection, Graph, Topology};
///
/// let graph = Graph::in_memory()?;
/// let mut tx = graph.write()?;
/// tx.put_edge_with(EdgeKey::new("knows", 1, 2), [("since", 2019)])?;
/// tx.put_edge_with(EdgeKey::new("knows", 2, 3), [("since", 2024)])?;
/// tx.put_edge_with(EdgeKey::new("likes", 3, 1), [("stars", 5)])?;
/// tx.commit()?;
/// let snapshot = graph.snapshot()?;
/// let both = EdgeSelection::of_labels(["knows", "likes"]);
/// assert_eq!(snapshot.degree(3, &both)?, Some(1));
/// assert_eq!(snapshot.degree(3, &both.clone().direction(EdgeDirection::Both))?, Some(2));
/// let recent = EdgeSelection::of("knows").filter("since", Comparison::Greater, 2020);
/// assert_eq!(snapshot.view(&recent)?.edge_count(), 1);
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EdgeSelection<'a> {
    /// The named labels; `None` for all.
    labels: Option<Vec<LabelRef<'a>>>,
    ranks: (Bound<u64>, Bound<u64>),
    direction: EdgeDirection,
    filter: Filter,
    weight: Weighing<'a>,
    kinds: VertexKinds,
}

/// The kinds of the vertices of the graph of chosen edges.
#[derive(Clone, Debug)]
pub(super) enum VertexKinds {
    /// The kinds that the named labels state for their ends.
    Stated,
    /// All kinds.
    All,
    /// The kinds in this list.
    Of(Vec<KindId>),
}

/// The source of an edge's weight.
#[derive(Clone, Copy, Debug)]
enum Weighing<'a> {
    /// The stored weight of the default label's edges in a weighted graph, and 1 for other edges.
    Stored,
    /// The weight that each label defines.
    Labels,
    /// The number in a property; the given number if the property has no value.
    Property(&'a str, Option<f64>),
}

impl<'a> EdgeSelection<'a> {
    /// Selects the outgoing edges of all labels.
    pub fn all() -> EdgeSelection<'a> {
        EdgeSelection {
            labels: None,
            ranks: (Bound::Unbounded, Bound::Unbounded),
            direction: EdgeDirection::Out,
            filter: Filter::default(),
            weight: Weighing::Stored,
            kinds: VertexKinds::Stated,
        }
    }

    /// Selects the outgoing edges of one label; the empty name is the default label.
    pub fn of(label: impl Into<LabelRef<'a>>) -> EdgeSelection<'a> {
        EdgeSelection::of_labels([label])
    }

    /// Selects the outgoing edges of these labels; a repeated label is taken once.
    pub fn of_labels<L: Into<LabelRef<'a>>>(labels: impl IntoIterator<Item = L>) -> EdgeSelection<'a> {
        EdgeSelection { labels: Some(labels.into_iter().map(L::into).collect()), ..EdgeSelection::all() }
    }

    /// Restricts the selection to these ranks. Edges of labels that are not `multi` have rank 0.
    pub fn ranks(mut self, ranks: impl RangeBounds<u64>) -> EdgeSelection<'a> {
        self.ranks = (ranks.start_bound().cloned(), ranks.end_bound().cloned());
        self
    }

    /// Sets the direction. This also turns a view: in an [`In`](EdgeDirection::In) view the source of each
    /// edge is its destination, a [`Both`](EdgeDirection::Both) view is an undirected graph.
    pub fn direction(mut self, direction: impl Into<EdgeDirection>) -> EdgeSelection<'a> {
        self.direction = direction.into();
        self
    }

    /// Reverses the direction.
    pub fn turned(mut self) -> EdgeSelection<'a> {
        self.direction = self.direction.turned();
        self
    }

    /// Takes only edges for whose property the `comparison` with `value` is true. An edge without a value
    /// never passes, nor does an edge of a label without the property. An edge must meet the conditions of
    /// all calls.
    pub fn filter(
        self,
        property: &str,
        comparison: Comparison,
        value: impl Into<Value>,
    ) -> EdgeSelection<'a> {
        self.filter_by(property, Condition::Compares(comparison, value.into()))
    }

    /// Takes only edges whose property meets the condition. An edge must meet the conditions of all calls, at
    /// most 1,024. In a label without the property no edge has a value, so all meet [`Condition::Null`].
    ///
    /// Reads fail with an error if none of the labels has the property, or if the type of a value differs
    /// from that of the property. They also fail if such a value is null or NaN, which equals no value, and
    /// if a set is empty or has more than 2^20 values.
    pub fn filter_by(self, property: &str, condition: Condition) -> EdgeSelection<'a> {
        self.matching(Predicate::new(property, condition))
    }

    /// Takes only edges for which the predicate is true, and what all other calls demand. Its conditions are
    /// like those of [`filter_by`](Self::filter_by), at most 1,024 with those of the other calls.
    ///
    /// ```
    /// use hedgerow::{Comparison, Condition, EdgeSelection, Predicate};
    ///
    /// let large = Predicate::new("amount", Condition::Compares(Comparison::Greater, 100.into()));
    /// let rent = Predicate::new("note", Condition::prefix("rent"));
    /// let selection = EdgeSelection::of("pays").matching(large | !rent);
    /// ```
    pub fn matching(mut self, predicate: Predicate) -> EdgeSelection<'a> {
        self.filter.push(predicate);
        self
    }

    /// Gives each edge of a view the number in this property as its weight, or `missing` if the edge has no
    /// number. A `bool` counts as 0 or 1, a `timestamp` in microseconds. Without this and
    /// [`weighted`](Self::weighted), edges of the default label of a weighted graph have its weights, and
    /// others weigh 1.
    pub fn weighted_by(mut self, property: &'a str, missing: Option<f64>) -> EdgeSelection<'a> {
        self.weight = Weighing::Property(property, missing);
        self
    }

    /// Gives each edge of a view the weight of its label, unless a property was named. This is the stored
    /// weight for a weighted graph's default label, the number in the property `weight` for another label,
    /// and 1 if no label has weights. Kernels that read weights use this selection.
    ///
    /// A view is refused with an error if some labels have weights and others have none. The rule applies to
    /// the named labels, or to the labels with edges if no label is named.
    pub fn weighted(mut self) -> EdgeSelection<'a> {
        if matches!(self.weight, Weighing::Stored) && !faults::is_on(PlantedFault::WeightsOfLabelsIgnored) {
            self.weight = Weighing::Labels;
        }
        self
    }

    /// Restricts a view to the vertices of these kinds; [`KindId::DEFAULT`] is one too. Without this call a
    /// view has vertices of the kinds that the named labels [state](crate::LabelOptions::ends) for their
    /// ends. If a label states none, or no label is named, it has all vertices. Lists of vertices do not
    /// depend on the kinds.
    ///
    /// A view is refused with an error unless the kinds include all kinds at which its edges may end. These
    /// are the kinds that the named labels state, or, if no label is named, the labels with edges. Edges of a
    /// label that states no kinds may end at vertices of any kind.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = KindId>) -> EdgeSelection<'a> {
        self.kinds = VertexKinds::Of(kinds.into_iter().collect());
        self
    }

    /// Gives a view all vertices, for reads of lists, which do not depend on the kinds of vertices.
    pub(super) fn of_all_vertices(mut self) -> EdgeSelection<'a> {
        self.kinds = VertexKinds::All;
        self
    }

    /// Takes stored weights, for reads that need no weights, and so must not fail at an edge without one.
    pub(super) fn without_weights(mut self) -> EdgeSelection<'a> {
        self.weight = Weighing::Stored;
        self
    }

    pub(super) fn kinds_of_vertices(&self) -> &VertexKinds {
        &self.kinds
    }

    /// Returns label and direction, if the selection takes all edges of one label, or of all labels, and
    /// their stored weights.
    pub(super) fn whole_lists(&self) -> Option<(Option<LabelRef<'a>>, EdgeDirection)> {
        let has_all_ranks = matches!(self.ranks, (Bound::Unbounded, Bound::Unbounded));
        if !has_all_ranks || !self.filter.is_empty() || !matches!(self.weight, Weighing::Stored) {
            return None;
        }
        match self.labels.as_deref() {
            None => Some((None, self.direction)),
            Some(&[label]) => Some((Some(label), self.direction)),
            Some(_) => None,
        }
    }

    /// True if the selection names labels.
    pub(crate) fn names_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// Returns the name of the weight property; empty for stored weights.
    pub(crate) fn weight_name(&self) -> &'a str {
        match self.weight {
            Weighing::Stored => "",
            Weighing::Labels => WEIGHT,
            Weighing::Property(name, _) => name,
        }
    }

    /// Returns the first and the last rank; `None` if no rank is between the bounds.
    fn rank_range(&self) -> Option<(u64, u64)> {
        let first = match self.ranks.0 {
            Bound::Included(rank) => rank,
            Bound::Excluded(rank) => rank.checked_add(1)?,
            Bound::Unbounded => 0,
        };
        let last = match self.ranks.1 {
            Bound::Included(rank) => rank,
            Bound::Excluded(rank) => rank.checked_sub(1)?,
            Bound::Unbounded => u64::MAX,
        };
        (first <= last).then_some((first, last))
    }

    /// Returns the named labels, or all labels that `schema` defines; each once, ascending.
    pub(crate) fn labels(&self, schema: &Schema) -> Result<Vec<LabelId>> {
        let mut labels: Vec<LabelId> = match &self.labels {
            None => (0..schema.labels().len() as u16).map(LabelId).collect(),
            Some(named) if named.is_empty() => {
                return Err(ArgumentError::Invalid("no label is named: name one, or take all".into()).into());
            }
            Some(named) => {
                named.iter().map(|&label| schema.find_label(label).map(Label::id)).collect::<Result<_>>()?
            }
        };
        labels.sort_unstable();
        labels.dedup();
        Ok(labels)
    }

    /// Resolves the selection to ids, as of a snapshot.
    pub(crate) fn resolve(&self, snapshot: &Snapshot) -> Result<ChosenEdges> {
        self.resolve_for(snapshot, true)
    }

    /// Resolves like [`resolve`](Self::resolve), but for reads of lists, which do not depend on the kinds of
    /// vertices.
    pub(crate) fn resolve_lists(&self, snapshot: &Snapshot) -> Result<ChosenEdges> {
        self.resolve_for(snapshot, false)
    }

    fn resolve_for(&self, snapshot: &Snapshot, has_vertices: bool) -> Result<ChosenEdges> {
        let core = snapshot.engine();
        core.check_owner()?;
        let schema = snapshot.schema_seen();
        let labels = self.labels(&schema)?;
        let tests = self.filter.tests(core, &schema, &labels)?;
        let weights = match self.weight {
            Weighing::Stored => vec![ChosenWeight::Stored; labels.len()],
            Weighing::Labels => weights_of_labels(snapshot, &schema, &labels, self.names_labels())?,
            Weighing::Property(name, missing) => weights_by(core, &schema, &labels, name, missing)?,
        };
        let weighs = |(&label, weight): (&LabelId, &ChosenWeight)| {
            *weight != ChosenWeight::Stored || core.catalog.is_weighted(label)
        };
        let weighted = labels.iter().zip(&weights).any(weighs);
        let kinds = if has_vertices { self.vertex_kinds(snapshot, &schema, &labels)? } else { None };
        // No snapshot has an edge of a label without a table.
        let mut chosen = self.chosen_of(&schema, labels, tests, weights);
        chosen.retain(|chosen| core.pager.table(chosen.label).is_some());
        let direction = self.stored_direction(&core.catalog.config);
        Ok(ChosenEdges { labels: chosen, direction, weighted, kinds })
    }

    fn chosen_of(
        &self,
        schema: &Schema,
        labels: Vec<LabelId>,
        tests: Vec<Option<Vec<EdgeTest>>>,
        weights: Vec<ChosenWeight>,
    ) -> Vec<ChosenLabel> {
        let ranks = self.rank_range();
        let mut chosen = Vec::new();
        for ((label, tests), weight) in labels.into_iter().zip(tests).zip(weights) {
            let multi = schema.label_by_id(label).is_some_and(|label| label.is_multi());
            let Some((first, last)) = ranks.filter(|(first, _)| multi || *first == 0) else { continue };
            let ranks = (multi && (first, last) != (0, u64::MAX)).then_some((first, last));
            let Some(tests) = tests else { continue };
            chosen.push(ChosenLabel { label, ranks, tests, weight });
        }
        chosen
    }

    /// Returns the edges of each label, for reads of lists without weights, as of a schema.
    pub(crate) fn chosen_labels(&self, core: &Core, schema: &Schema) -> Result<Vec<ChosenLabel>> {
        let labels = self.labels(schema)?;
        let tests = self.filter.tests(core, schema, &labels)?;
        let weights = vec![ChosenWeight::Stored; labels.len()];
        Ok(self.chosen_of(schema, labels, tests, weights))
    }

    /// Returns the direction; in an undirected graph all are the same.
    pub(crate) fn stored_direction(&self, config: &GraphConfig) -> EdgeDirection {
        if config.directed { self.direction } else { EdgeDirection::Out }
    }

    /// Returns the labels as they are named; none if the selection takes all.
    pub(crate) fn named_labels(&self) -> impl Iterator<Item = LabelRef<'a>> {
        self.labels.iter().flatten().copied()
    }

    /// Returns the key of the vertex at which these edges are read, of the kind that the named labels state.
    /// If the selection names no label, a key without a kind is of the default kind.
    pub(crate) fn end_of<'k>(&self, snapshot: &Snapshot, key: VertexKeyRef<'k>) -> Result<VertexKeyRef<'k>> {
        let schema = snapshot.schema_seen();
        let named = self.named(&schema)?;
        self.end_of_labels(&snapshot.engine().catalog, &schema, named.as_deref(), key)
    }

    /// Returns the named labels, if the selection names some, for look-ups of several keys.
    pub(crate) fn named<'s>(&self, schema: &'s Schema) -> Result<Option<Vec<&'s Label>>> {
        let Some(named) = &self.labels else { return Ok(None) };
        named.iter().map(|&label| schema.find_label(label)).collect::<Result<_>>().map(Some)
    }

    /// True if the selection has conditions on properties.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.filter.is_empty()
    }

    /// Returns the key like [`end_of`](Self::end_of), but for labels that were looked up before.
    pub(crate) fn end_of_labels<'k>(
        &self,
        catalog: &Catalog,
        schema: &Schema,
        named: Option<&[&Label]>,
        key: VertexKeyRef<'k>,
    ) -> Result<VertexKeyRef<'k>> {
        let Some(named) = named else { return Ok(key) };
        catalog.end_of_all(schema, named.iter().copied(), key, self.direction)
    }
}
