//! The edges that a read takes: labels, ranks, direction, and values of properties.

use std::ops::{Bound, RangeBounds};

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::{LabelRef, Schema};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Comparison, Condition, KindId, LabelId, Predicate, PropertyType, Value, VertexKeyRef};

use crate::read::filter::{Filter, no_such_property};
use crate::read::snapshot::Snapshot;
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
/// assert_eq!(snapshot.degree_selected(&both, 3)?, Some(1));
/// assert_eq!(snapshot.degree_selected(&both.clone().direction(EdgeDirection::Both), 3)?, Some(2));
/// let recent = EdgeSelection::of("knows").filter("since", Comparison::Greater, 2020);
/// assert_eq!(snapshot.view_selected(&recent)?.edge_count(), 1);
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

    /// True if the selection names labels.
    pub(super) fn names_labels(&self) -> bool {
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
    pub(super) fn labels(&self, schema: &Schema) -> Result<Vec<LabelId>> {
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
            Weighing::Labels => self.weights_of_labels(snapshot, &schema, &labels)?,
            Weighing::Property(name, missing) => weights_by(core, &schema, &labels, name, missing)?,
        };
        let weighs = |(&label, weight): (&LabelId, &ChosenWeight)| {
            *weight != ChosenWeight::Stored || core.catalog.is_weighted(label)
        };
        let weighted = labels.iter().zip(&weights).any(weighs);
        let kinds = if has_vertices { self.vertex_kinds(snapshot, &schema, &labels)? } else { None };
        let ranks = self.rank_range();
        let mut chosen = Vec::new();
        for ((label, tests), weight) in labels.into_iter().zip(tests).zip(weights) {
            let multi = schema.label_by_id(label).is_some_and(|label| label.is_multi());
            let Some((first, last)) = ranks.filter(|(first, _)| multi || *first == 0) else { continue };
            let ranks = (multi && (first, last) != (0, u64::MAX)).then_some((first, last));
            // No snapshot has an edge of a label without a table.
            let Some(tests) = tests.filter(|_| core.pager.table(label).is_some()) else { continue };
            chosen.push(ChosenLabel { label, ranks, tests, weight });
        }
        let direction = if core.catalog.config.directed { self.direction } else { EdgeDirection::Out };
        Ok(ChosenEdges { labels: chosen, direction, weighted, kinds })
    }

    /// Returns the key of the vertex at which these edges are read, of the kind that the named labels state.
    /// If the selection names no label, a key without a kind is of the default kind.
    pub(crate) fn end_of<'k>(&self, snapshot: &Snapshot, key: VertexKeyRef<'k>) -> Result<VertexKeyRef<'k>> {
        let schema = snapshot.schema_seen();
        let named = self.named(&schema)?;
        self.end_of_named(snapshot, &schema, named.as_deref(), key)
    }

    /// Returns the named labels, if the selection names some, for look-ups of several keys.
    pub(crate) fn named<'s>(&self, schema: &'s Schema) -> Result<Option<Vec<&'s Label>>> {
        let Some(named) = &self.labels else { return Ok(None) };
        named.iter().map(|&label| schema.find_label(label)).collect::<Result<_>>().map(Some)
    }

    /// Returns the key like [`end_of`](Self::end_of), but for labels that were looked up before.
    pub(crate) fn end_of_named<'k>(
        &self,
        snapshot: &Snapshot,
        schema: &Schema,
        named: Option<&[&Label]>,
        key: VertexKeyRef<'k>,
    ) -> Result<VertexKeyRef<'k>> {
        let Some(named) = named else { return Ok(key) };
        snapshot.engine().catalog.end_of_all(schema, named.iter().copied(), key, self.direction)
    }

    /// Returns the weights of edges that their labels define.
    fn weights_of_labels(
        &self,
        snapshot: &Snapshot,
        schema: &Schema,
        labels: &[LabelId],
    ) -> Result<Vec<ChosenWeight>> {
        let own = |&id: &LabelId| {
            if snapshot.engine().catalog.is_weighted(id) {
                return Some(Ok(ChosenWeight::Stored));
            }
            let property = schema.label_by_id(id)?.property(WEIGHT)?;
            let kind = property.property_type();
            let is_number = matches!(kind, PropertyType::F64 | PropertyType::I64);
            Some(is_number.then_some(ChosenWeight::Property(Some(property.id()), None)).ok_or(kind))
        };
        let own: Vec<_> = labels.iter().map(own).collect();
        if own.iter().all(Option::is_none) || own.iter().all(|own| matches!(own, Some(Ok(_)))) {
            let stored =
                |own: Option<_>| own.and_then(std::result::Result::ok).unwrap_or(ChosenWeight::Stored);
            return Ok(own.into_iter().map(stored).collect());
        }
        // If no label is named, labels without edges are ignored.
        let used = match &self.labels {
            Some(_) => labels.to_vec(),
            None => snapshot.labels_with_edges()?,
        };
        let of_used = || labels.iter().zip(&own).filter(|(id, _)| used.contains(id));
        if let Some(kind) = of_used().find_map(|(_, own)| own.as_ref()?.as_ref().err()) {
            return Err(not_a_number(WEIGHT, *kind).into());
        }
        let name = |id: &LabelId| schema.label_by_id(*id).map_or("", |label| label.name());
        let with = |has: bool| of_used().find(|(_, own)| own.is_some() == has).map(|(id, _)| name(id));
        if let (Some(with), Some(without)) = (with(true), with(false)) {
            let message = format!(
                "edges of label {with:?} have weights, and those of label {without:?} have none: name labels that all have \
                 weights or that all have none, or name the property that is the weight"
            );
            return Err(ArgumentError::Invalid(message).into());
        }
        let weight =
            |(id, own): (&LabelId, &Option<std::result::Result<ChosenWeight, PropertyType>>)| match own {
                Some(Ok(weight)) if used.contains(id) => *weight,
                _ => ChosenWeight::Stored,
            };
        Ok(labels.iter().zip(&own).map(weight).collect())
    }
}

/// Returns the weights of edges that a property defines.
fn weights_by(
    core: &Core,
    schema: &Schema,
    labels: &[LabelId],
    name: &str,
    missing: Option<f64>,
) -> Result<Vec<ChosenWeight>> {
    let mut any = false;
    let mut weight = |&id: &LabelId| {
        if core.catalog.is_weighted(id) && name == WEIGHT {
            any = true;
            return Ok(ChosenWeight::Stored);
        }
        let property = schema.label_by_id(id).and_then(|label| label.property(name));
        any |= property.is_some();
        if let Some(property) = property.filter(|property| !property.property_type().is_fixed()) {
            return Err(Error::from(not_a_number(name, property.property_type())));
        }
        Ok(ChosenWeight::Property(property.map(|property| property.id()), missing.map(f64::to_bits)))
    };
    let weights = labels.iter().map(&mut weight).collect::<Result<_>>()?;
    if any || missing.is_some() {
        Ok(weights)
    } else {
        Err(no_such_property(core, schema, labels, name).into())
    }
}

fn not_a_number(property: &str, kind: PropertyType) -> ArgumentError {
    ArgumentError::Invalid(format!("property {property} is of type {kind}: a weight must be a number"))
}
