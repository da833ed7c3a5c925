//! What a read takes: which labels, which ranks, which direction, and the value of one property.

use std::ops::{Bound, RangeBounds};

use hedgerow_core::{Comparison, LabelId, PropertyTest, PropertyType, Value};

use crate::error::{ArgumentError, Result};
use crate::state::edge_key::WEIGHT;
use crate::state::schema::{LabelRef, Schema};
use crate::state::selection::{ChosenEdges, ChosenLabel, ChosenTest, ChosenWeight, EdgeDirection};
use crate::state::store::Core;

/// Which edges a read takes: those of one label, of several or of all; of all ranks or of a range; along edges, against them or both
/// ways; those whose property passes a test.
///
/// An edge is one entry: two vertices that edges of two labels join stand twice in each other's lists.
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
    /// All, where there is none.
    labels: Option<Vec<LabelRef<'a>>>,
    ranks: (Bound<u64>, Bound<u64>),
    direction: EdgeDirection,
    filter: Option<(&'a str, Comparison, Value)>,
    weight: Option<(&'a str, Option<f64>)>,
}

impl<'a> EdgeSelection<'a> {
    /// The outgoing edges of all labels.
    pub fn all() -> EdgeSelection<'a> {
        EdgeSelection {
            labels: None,
            ranks: (Bound::Unbounded, Bound::Unbounded),
            direction: EdgeDirection::Out,
            filter: None,
            weight: None,
        }
    }

    /// The outgoing edges of one label; the empty name is the default label.
    pub fn of(label: impl Into<LabelRef<'a>>) -> EdgeSelection<'a> {
        EdgeSelection::of_labels([label])
    }

    /// The outgoing edges of these labels; a label that is named twice is taken once.
    pub fn of_labels<L: Into<LabelRef<'a>>>(labels: impl IntoIterator<Item = L>) -> EdgeSelection<'a> {
        EdgeSelection { labels: Some(labels.into_iter().map(L::into).collect()), ..EdgeSelection::all() }
    }

    /// Those of these ranks alone. Edges of labels that are not `multi` have rank 0.
    pub fn ranks(mut self, ranks: impl RangeBounds<u64>) -> EdgeSelection<'a> {
        self.ranks = (ranks.start_bound().cloned(), ranks.end_bound().cloned());
        self
    }

    /// In this direction. A view is turned: [`In`](EdgeDirection::In) makes the source of each edge its destination,
    /// [`Both`](EdgeDirection::Both) makes an undirected graph of it.
    pub fn direction(mut self, direction: impl Into<EdgeDirection>) -> EdgeSelection<'a> {
        self.direction = direction.into();
        self
    }

    /// Those alone whose property compares so with `value`. An edge without a value never does, whatever the comparison; nor does one
    /// of a label without the property.
    pub fn filter(
        mut self,
        property: &'a str,
        comparison: Comparison,
        value: impl Into<Value>,
    ) -> EdgeSelection<'a> {
        self.filter = Some((property, comparison, value.into()));
        self
    }

    /// In a view each edge weighs the number that this property holds (`bool` as 0 or 1, `timestamp` in microseconds), and
    /// `missing` where it has none. Without this, edges of the default label of a weighted graph have its weights, and others weigh
    /// 1.
    pub fn weighted_by(mut self, property: &'a str, missing: Option<f64>) -> EdgeSelection<'a> {
        self.weight = Some((property, missing));
        self
    }

    /// The property that is the weight, where one was named.
    pub(crate) fn weight_name(&self) -> &'a str {
        self.weight.map_or("", |(name, _)| name)
    }

    /// The first and the last rank; `None` if there is none between the bounds.
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

    /// In ids: of labels that have edges, or had.
    pub(crate) fn resolve(&self, core: &Core) -> Result<ChosenEdges> {
        core.check_owner()?;
        let schema = core.schema.load_full();
        let mut labels: Vec<LabelId> = match &self.labels {
            None => (0..schema.labels().len() as u16).map(LabelId).collect(),
            Some(named) if named.is_empty() => {
                return Err(ArgumentError::Invalid("no label is named: name one, or take all".into()).into());
            }
            Some(named) => {
                let id = |label: &LabelRef<'_>| {
                    schema.find(*label).map(|found| found.id()).ok_or_else(|| label.missing(&schema))
                };
                named.iter().map(id).collect::<Result<_>>()?
            }
        };
        labels.sort_unstable();
        labels.dedup();
        let tests = self.tests(core, &schema, &labels)?;
        let weights = self.weights(core, &schema, &labels)?;
        let ranks = self.rank_range();
        let mut chosen = Vec::new();
        for ((label, test), weight) in labels.into_iter().zip(tests).zip(weights) {
            let multi = schema.label_by_id(label).is_some_and(|label| label.is_multi());
            let Some((first, last)) = ranks.filter(|(first, _)| multi || *first == 0) else { continue };
            let ranks = (multi && (first, last) != (0, u64::MAX)).then_some((first, last));
            let Some(test) = test.filter(|_| core.table(label).is_some()) else { continue };
            chosen.push(ChosenLabel { label, ranks, test, weight });
        }
        let direction = if core.config.directed { self.direction } else { EdgeDirection::Out };
        Ok(ChosenEdges { labels: chosen, direction })
    }

    /// The test of each label's edges: `None` if no edge can pass, and within it `None` if all do.
    fn tests(
        &self,
        core: &Core,
        schema: &Schema,
        labels: &[LabelId],
    ) -> Result<Vec<Option<Option<ChosenTest>>>> {
        let Some((name, comparison, value)) = &self.filter else { return Ok(vec![Some(None); labels.len()]) };
        let Some(found) = value.property_type() else {
            let message = format!("property {name} cannot be compared with null: no edge would pass");
            return Err(ArgumentError::Invalid(message).into());
        };
        let mut any = false;
        let mut test = |id: LabelId| {
            let label = schema.label_by_id(id);
            let mismatch = |expected| {
                let label = label.map_or_else(String::new, |label| label.name().to_string());
                ArgumentError::FilterType { label, property: (*name).to_owned(), expected, found }
            };
            if core.is_weighted(id) && *name == WEIGHT {
                any = true;
                let Value::F64(number) = value else { return Err(mismatch(PropertyType::F64).into()) };
                return Ok(Some(Some(ChosenTest::Weight(*comparison, number.to_bits()))));
            }
            let Some(property) = label.and_then(|label| label.property(name)) else { return Ok(None) };
            any = true;
            if property.property_type() != found {
                return Err(mismatch(property.property_type()).into());
            }
            let test =
                PropertyTest { property: property.id(), comparison: *comparison, value: value.clone() };
            Ok(Some(Some(ChosenTest::Property(test))))
        };
        let tests = labels.iter().map(|&id| test(id)).collect::<Result<_>>()?;
        if any { Ok(tests) } else { Err(no_such_property(schema, labels, name).into()) }
    }

    fn weights(&self, core: &Core, schema: &Schema, labels: &[LabelId]) -> Result<Vec<ChosenWeight>> {
        let Some((name, missing)) = self.weight else { return Ok(vec![ChosenWeight::Stored; labels.len()]) };
        let mut any = false;
        let mut weight = |&id: &LabelId| {
            if core.is_weighted(id) && name == WEIGHT {
                any = true;
                return Ok(ChosenWeight::Stored);
            }
            let property = schema.label_by_id(id).and_then(|label| label.property(name));
            any |= property.is_some();
            if let Some(property) = property.filter(|property| !property.property_type().is_fixed()) {
                let kind = property.property_type();
                let message = format!("property {name} is of type {kind}: a weight must be a number");
                return Err(ArgumentError::Invalid(message).into());
            }
            Ok(ChosenWeight::Property(property.map(|property| property.id()), missing.map(f64::to_bits)))
        };
        let weights = labels.iter().map(&mut weight).collect::<Result<_>>()?;
        if any || missing.is_some() {
            Ok(weights)
        } else {
            Err(no_such_property(schema, labels, name).into())
        }
    }
}

fn no_such_property(schema: &Schema, labels: &[LabelId], property: &str) -> ArgumentError {
    let name = |&id: &LabelId| schema.label_by_id(id).map_or_else(String::new, |l| l.name().to_string());
    ArgumentError::NoSuchProperty { property: property.to_owned(), labels: labels.iter().map(name).collect() }
}
