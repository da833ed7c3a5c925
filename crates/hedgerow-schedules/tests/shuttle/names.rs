//! The keys under which programs name their vertices.

use hedgerow::{EdgeKey, Graph, KeyKind, KindId, PropertyType, VertexKey, VertexKeyRef};

use crate::program::{Item, LABEL, PROPERTY, VERTICES};

/// The keys of [`VERTICES`] in programs with kinds. Three of them have the same number and differ in their
/// kinds, and so do the last two.
const OF_KINDS: [(KindId, u64); 5] =
    [(KindId::DEFAULT, 0), (KindId(1), 0), (KindId(2), 0), (KindId(1), 5_003), (KindId(2), 5_003)];
const KINDS: [&str; 2] = ["a", "b"];

/// The keys of a program's vertices: their numbers, or keys of three kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Numbers,
    OfKinds,
}

impl Names {
    /// Returns the names of a program: kinds for half of the programs of each scheduler, if the keys are not
    /// dense.
    pub(crate) fn of(seed: u64, keys: KeyKind) -> Names {
        if keys != KeyKind::Dense && seed / 2 % 2 == 1 { Names::OfKinds } else { Names::Numbers }
    }

    /// Defines the kinds, and with `labels` their properties too.
    pub(crate) fn define(self, graph: &Graph, labels: bool) {
        for name in KINDS.into_iter().filter(|_| self == Names::OfKinds) {
            let kind = graph.define_kind(name, KeyKind::U64).expect("new");
            if labels {
                graph.define_vertex_property(kind, PROPERTY, PropertyType::I64).expect("new");
            }
        }
    }

    /// Returns the key of one of [`VERTICES`].
    pub(crate) fn key(self, v: u64) -> VertexKeyRef<'static> {
        let place = VERTICES.iter().position(|&vertex| vertex == v).expect("a vertex of the program");
        match self {
            Names::Numbers => VertexKeyRef::U64(v),
            Names::OfKinds => OF_KINDS[place].0.key(OF_KINDS[place].1),
        }
    }

    pub(crate) fn edge(self, item: Item) -> EdgeKey<'static> {
        EdgeKey::new(LABEL, self.key(item.0), self.key(item.1)).rank(item.2)
    }

    /// Returns keys as a bit mask over [`VERTICES`].
    pub(crate) fn mask<'a>(self, keys: impl IntoIterator<Item = &'a VertexKey>) -> u64 {
        let place = |key: &VertexKey| VERTICES.iter().position(|&v| key.as_ref() == self.key(v));
        keys.into_iter().fold(0, |m, key| m | 1 << place(key).expect("a vertex of the program"))
    }
}
