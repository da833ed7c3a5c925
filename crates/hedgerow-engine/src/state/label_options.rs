//! Options of a label.

use hedgerow_core::{KindId, PropertyType};

/// Options of a label. See [`Graph::define_label`](crate::Graph::define_label).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct LabelOptions {
    pub(crate) multi: bool,
    pub(crate) ends: Option<[KindId; 2]>,
    pub(crate) properties: Vec<(String, PropertyType)>,
}

impl LabelOptions {
    /// Returns the defaults: at most one edge from one vertex to another, no properties yet.
    pub fn new() -> LabelOptions {
        LabelOptions::default()
    }

    /// Sets whether edges have a `u64` rank, so that several edges may lead from one vertex to another
    /// (default: no).
    pub fn multi(mut self, multi: bool) -> LabelOptions {
        self.multi = multi;
        self
    }

    /// Sets the kinds of source and destination (default: any). A key without a kind, at an end of such an
    /// edge, then gets the kind of that end. A vertex of another kind is an error.
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
