//! What a label is to be like.

use hedgerow_core::{KindId, PropertyType};

/// What a label is to be like. See [`Graph::define_label`](crate::Graph::define_label).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct LabelOptions {
    pub(crate) multi: bool,
    pub(crate) ends: Option<[KindId; 2]>,
    pub(crate) properties: Vec<(String, PropertyType)>,
}

impl LabelOptions {
    /// One edge at most from a vertex to another, no properties yet.
    pub fn new() -> LabelOptions {
        LabelOptions::default()
    }

    /// Whether edges have a `u64` rank, so that several may lead from one vertex to another (default: no).
    pub fn multi(mut self, multi: bool) -> LabelOptions {
        self.multi = multi;
        self
    }

    /// The kinds of source and destination (default: any). Then a key that says no kind, at an end of such an edge, is of the kind
    /// of that end, and a vertex of another kind is refused there.
    pub fn ends(mut self, src: KindId, dst: KindId) -> LabelOptions {
        self.ends = Some([src, dst]);
        self
    }

    /// Declares a property.
    pub fn property(mut self, name: impl Into<String>, kind: PropertyType) -> LabelOptions {
        self.properties.push((name.into(), kind));
        self
    }
}
