//! The names of labels and properties in a salvaged graph, also if their definition is lost.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_catalog::error::Result;
use hedgerow_catalog::kinds::Kind;
use hedgerow_catalog::label::Property;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{KeyKind, KindId, LabelId, Op, PropertyId, PropertyType, Row};

use crate::graph::Graph;
use crate::state::label_options::LabelOptions;

#[derive(Clone, Debug)]
struct LabelName {
    name: String,
    multi: bool,
    ends: Option<[KindId; 2]>,
}

#[derive(Clone, Debug)]
struct KindName {
    name: String,
    text: bool,
}

#[derive(Clone, Debug)]
struct PropertyName {
    name: String,
    kind: PropertyType,
    /// The kind of the vertices that have the property.
    of: KindId,
}

/// The data of a found edge, or of a vertex's properties, that needs names.
#[derive(Clone, Copy)]
pub(super) struct Unnamed<'a> {
    pub(super) label: u16,
    pub(super) rank: u64,
    pub(super) row: Option<&'a Row>,
    /// The kinds of the edge's ends, as far as they are known.
    pub(super) ends: [Option<KindId>; 2],
}

/// The labels, kinds and properties of a damaged store, by the ids that edges and vertices use. Ids may be
/// missing.
pub(super) struct Names {
    kinds: BTreeMap<KindId, KindName>,
    labels: BTreeMap<u16, LabelName>,
    properties: BTreeMap<(u16, u16), PropertyName>,
    /// Labels of edges without a known name; true if an edge of the label has a rank.
    ranked: BTreeMap<u16, bool>,
    /// Properties without a known name that edges or vertices have.
    typed: BTreeMap<(u16, u16), (PropertyType, KindId)>,
    /// Names made up to replace lost ones.
    made_up: Vec<String>,
}

impl Names {
    pub(super) fn new(schema: &Schema) -> Names {
        let kind = |kind: &Kind| {
            (kind.id(), KindName { name: kind.name().to_string(), text: kind.keys() == KeyKind::Str })
        };
        let mut names = Names {
            kinds: schema.kinds().iter().map(kind).collect(),
            labels: BTreeMap::new(),
            properties: BTreeMap::new(),
            ranked: BTreeMap::new(),
            typed: BTreeMap::new(),
            made_up: Vec::new(),
        };
        for label in schema.labels() {
            let (name, multi) = (label.name().to_string(), label.is_multi());
            let known = LabelName { name, multi, ends: label.ends() };
            names.labels.insert(label.id().0, known);
            names.add_properties(label.id(), label.properties());
        }
        names.add_properties(LabelId::VERTICES, schema.vertex_properties());
        names
    }

    fn add_properties(&mut self, label: LabelId, properties: &[Property]) {
        let known = |p: &Property| {
            let (name, kind, of) = (p.name().to_string(), p.property_type(), p.vertex_kind());
            ((label.0, p.id().0), PropertyName { name, kind, of })
        };
        self.properties.extend(properties.iter().map(known));
    }

    /// Adds a definition of the log, unless one is known already. Earlier definitions may be lost.
    pub(super) fn define(&mut self, op: Op<'_>) {
        match op {
            Op::DefineKind { kind, text, name } => {
                self.kinds.entry(kind).or_insert(KindName { name: name.to_owned(), text });
            }
            Op::DefineLabel { label, multi, ends, name } => {
                self.labels.entry(label.0).or_insert(LabelName { name: name.to_owned(), multi, ends });
            }
            Op::DefineProperty { label, of, property, kind, name } => {
                let named = PropertyName { name: name.to_owned(), kind, of };
                self.properties.entry((label.0, property.0)).or_insert(named);
            }
            _ => {}
        }
    }

    /// True if vertices are of `kind` and its name is lost.
    pub(super) fn lacks(&self, kind: KindId) -> bool {
        kind != KindId::DEFAULT && !self.kinds.contains_key(&kind)
    }

    /// Makes up names for kinds that have none. `lost` is true for kinds whose keys are texts. Kinds are
    /// numbered without gaps, so all numbers up to the last one get names.
    pub(super) fn complete_kinds(&mut self, lost: &BTreeMap<KindId, bool>) {
        let last = self.kinds.keys().chain(lost.keys()).max().map_or(0, |kind| kind.0);
        for kind in (1..=last).map(KindId) {
            if !self.kinds.contains_key(&kind) {
                let taken = self.kinds.values().map(|kind| kind.name.clone()).collect();
                let name = unlike(format!("kind-{}", kind.0), &taken);
                self.made_up.push(name.clone());
                let text = lost.get(&kind).copied().unwrap_or(false);
                self.kinds.insert(kind, KindName { name, text });
            }
        }
    }

    /// Notes an edge, or the properties of a vertex, so that [`complete`](Self::complete) makes up the names
    /// that it lacks. If an edge contradicts the kinds that a label states for its ends, drops these kinds.
    pub(super) fn see(&mut self, Unnamed { label, rank, row, ends }: Unnamed<'_>) {
        if let Some(known) = self.labels.get_mut(&label) {
            let fits = |said: [KindId; 2]| {
                said.iter().zip(ends).all(|(said, end)| end.is_none_or(|end| end == *said))
            };
            // An undirected edge may have its ends in either order.
            known.ends = known.ends.filter(|&[a, b]| fits([a, b]) || fits([b, a]));
        } else if label != LabelId::VERTICES.0 {
            *self.ranked.entry(label).or_default() |= rank != 0;
        }
        let of = ends[0].filter(|_| label == LabelId::VERTICES.0).unwrap_or_default();
        for (id, value) in row.map_or(&[][..], Row::cells) {
            if !self.properties.contains_key(&(label, id.0)) {
                self.typed.extend(value.property_type().map(|kind| ((label, id.0), (kind, of))));
            }
        }
    }

    /// Makes up names for the labels and properties of edges that have none.
    pub(super) fn complete(&mut self) {
        for (label, multi) in std::mem::take(&mut self.ranked) {
            let taken = self.labels.values().map(|label| label.name.clone()).collect();
            let name = unlike(format!("label-{label}"), &taken);
            self.made_up.push(name.clone());
            self.labels.insert(label, LabelName { name, multi, ends: None });
        }
        for ((label, id), (kind, of)) in std::mem::take(&mut self.typed) {
            let of_label = self.properties.range((label, 0)..=(label, u16::MAX));
            let name = unlike(format!("property-{id}"), &of_label.map(|(_, p)| p.name.clone()).collect());
            self.made_up.push(name.clone());
            self.properties.insert((label, id), PropertyName { name, kind, of });
        }
    }

    /// Defines all labels, kinds and properties in `graph`, in the order of ids. Returns the made-up names.
    pub(super) fn define_in(&self, graph: &Graph) -> Result<Vec<String>> {
        for KindName { name, text } in self.kinds.values() {
            graph.define_kind(name, if *text { KeyKind::Str } else { KeyKind::U64 })?;
        }
        for LabelName { name, multi, ends } in self.labels.values().filter(|label| !label.name.is_empty()) {
            let options = LabelOptions::new().multi(*multi);
            graph.define_label(name, ends.map_or(options.clone(), |[src, dst]| options.ends(src, dst)))?;
        }
        for (&(label, _), PropertyName { name, kind, of }) in &self.properties {
            match self.label(LabelId(label)) {
                _ if label == LabelId::VERTICES.0 => graph.define_vertex_property(*of, name, *kind)?,
                Some(label) => graph.define_edge_property(label, name, *kind)?,
                // The label has no edges, and its definition is lost.
                None => continue,
            };
        }
        Ok(self.made_up.clone())
    }

    pub(super) fn label(&self, label: LabelId) -> Option<&str> {
        self.labels.get(&label.0).map(|label| label.name.as_str())
    }

    pub(super) fn property(&self, label: LabelId, id: PropertyId) -> Option<&str> {
        self.properties.get(&(label.0, id.0)).map(|p| p.name.as_str())
    }

    /// True if edges of `label` may have properties.
    pub(super) fn has_properties(&self, label: LabelId) -> bool {
        self.properties.range((label.0, 0)..=(label.0, u16::MAX)).next().is_some()
    }
}

/// Returns `name`, or a similar name that is not taken.
fn unlike(name: String, taken: &BTreeSet<String>) -> String {
    let other = (2u32..).map(|n| format!("{name}-{n}"));
    std::iter::once(name.clone()).chain(other).find(|name| !taken.contains(name)).unwrap_or(name)
}
