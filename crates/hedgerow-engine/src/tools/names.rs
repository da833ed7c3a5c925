//! What labels and properties are called in a salvaged graph, also where their definition is lost.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::{LabelId, Op, PropertyId, PropertyType, Row};

use crate::error::Result;
use crate::graph::Graph;
use crate::state::schema::{LabelOptions, Property, Schema};

#[derive(Clone, Debug)]
struct LabelName {
    name: String,
    multi: bool,
}

/// The labels and properties of a damaged store, by the ids that edges carry. Ids may be missing.
pub(super) struct Names {
    labels: BTreeMap<u16, LabelName>,
    properties: BTreeMap<(u16, u16), (String, PropertyType)>,
    /// Names made up for what has lost its own.
    made_up: Vec<String>,
}

impl Names {
    pub(super) fn new(schema: &Schema) -> Names {
        let mut names = Names { labels: BTreeMap::new(), properties: BTreeMap::new(), made_up: Vec::new() };
        for label in schema.labels() {
            let known = LabelName { name: label.name().to_string(), multi: label.is_multi() };
            names.labels.insert(label.id().0, known);
            names.add_properties(label.id(), label.properties());
        }
        names.add_properties(LabelId::VERTICES, schema.vertex_properties());
        names
    }

    fn add_properties(&mut self, label: LabelId, properties: &[Property]) {
        let known =
            properties.iter().map(|p| ((label.0, p.id().0), (p.name().to_string(), p.property_type())));
        self.properties.extend(known);
    }

    /// Adds what the log defines. Definitions before it may be lost.
    pub(super) fn define(&mut self, op: Op<'_>) {
        match op {
            Op::DefineLabel { label, multi, name } => {
                self.labels.entry(label.0).or_insert(LabelName { name: name.to_owned(), multi });
            }
            Op::DefineProperty { label, property, kind, name } => {
                self.properties.entry((label.0, property.0)).or_insert((name.to_owned(), kind));
            }
            _ => {}
        }
    }

    /// Makes up names for the labels and properties of `edges` (label, rank, properties) that have none.
    pub(super) fn complete<'a>(&mut self, edges: impl Iterator<Item = (u16, u64, Option<&'a Row>)>) {
        let mut ranked: BTreeMap<u16, bool> = BTreeMap::new();
        let mut typed: BTreeMap<(u16, u16), PropertyType> = BTreeMap::new();
        for (label, rank, row) in edges {
            if label != LabelId::VERTICES.0 && !self.labels.contains_key(&label) {
                *ranked.entry(label).or_default() |= rank != 0;
            }
            for (id, value) in row.map_or(&[][..], Row::cells) {
                if !self.properties.contains_key(&(label, id.0)) {
                    typed.extend(value.property_type().map(|kind| ((label, id.0), kind)));
                }
            }
        }
        for (label, multi) in ranked {
            let taken = self.labels.values().map(|label| label.name.clone()).collect();
            let name = unlike(format!("label-{label}"), &taken);
            self.made_up.push(name.clone());
            self.labels.insert(label, LabelName { name, multi });
        }
        for ((label, id), kind) in typed {
            let of_label = self.properties.range((label, 0)..=(label, u16::MAX));
            let name =
                unlike(format!("property-{id}"), &of_label.map(|(_, (name, _))| name.clone()).collect());
            self.made_up.push(name.clone());
            self.properties.insert((label, id), (name, kind));
        }
    }

    /// Defines everything in `graph`, in the order of ids. Returns the names that were made up.
    pub(super) fn define_in(&self, graph: &Graph) -> Result<Vec<String>> {
        for LabelName { name, multi } in self.labels.values().filter(|label| !label.name.is_empty()) {
            graph.define_label(name, LabelOptions::new().multi(*multi))?;
        }
        for (&(label, _), (name, kind)) in &self.properties {
            match self.label(LabelId(label)) {
                _ if label == LabelId::VERTICES.0 => graph.define_vertex_property(name, *kind)?,
                Some(label) => graph.define_edge_property(label, name, *kind)?,
                // A label without edges whose definition is lost.
                None => continue,
            };
        }
        Ok(self.made_up.clone())
    }

    pub(super) fn label(&self, label: LabelId) -> Option<&str> {
        self.labels.get(&label.0).map(|label| label.name.as_str())
    }

    pub(super) fn property(&self, label: LabelId, id: PropertyId) -> Option<&str> {
        self.properties.get(&(label.0, id.0)).map(|(name, _)| name.as_str())
    }

    /// Whether edges of `label` may have properties.
    pub(super) fn has_properties(&self, label: LabelId) -> bool {
        self.properties.range((label.0, 0)..=(label.0, u16::MAX)).next().is_some()
    }
}

/// `name`, or something like it that is not taken.
fn unlike(name: String, taken: &BTreeSet<String>) -> String {
    let other = (2u32..).map(|n| format!("{name}-{n}"));
    std::iter::once(name.clone()).chain(other).find(|name| !taken.contains(name)).unwrap_or(name)
}
