//! The edges of a view, by ids: the key under which a view is shared.

use std::sync::{Arc, Weak};

use hedgerow_core::sync::Mutex;
use hedgerow_core::{EdgeTest, KindId, LabelId, PropertyId, Timestamp};
use hedgerow_mem::View;

/// The edges of some labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenEdges {
    /// The labels, ascending. A label without such edges may be left out.
    pub(crate) labels: Vec<ChosenLabel>,
    pub(crate) direction: EdgeDirection,
    /// True if edges have weights. A requested label decides this even if it has no edges.
    pub(crate) weighted: bool,
    /// The kinds of the vertices, ascending, if the view does not have all vertices of the graph.
    pub(crate) kinds: Option<Vec<KindId>>,
}

/// The edges of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenLabel {
    pub(crate) label: LabelId,
    /// The first and the last rank, if not all ranks are chosen.
    pub(crate) ranks: Option<(u64, u64)>,
    /// The tests, all of which an edge must pass. They are sorted, so that the same tests in another order
    /// are an equal choice.
    pub(crate) tests: Vec<EdgeTest>,
    pub(crate) weight: ChosenWeight,
}

/// The weight of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChosenWeight {
    /// The stored weight.
    Stored,
    /// The value of a property, or else a number, given as its bits.
    Property(Option<PropertyId>, Option<u64>),
}

/// A direction along edges, against them, or both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EdgeDirection {
    /// The direction from source to destination.
    #[default]
    Out,
    /// The direction from destination to source.
    In,
    /// Both directions: each edge once, also a self-loop. In an undirected graph all three are the same.
    Both,
}

impl EdgeDirection {
    /// Returns the other direction.
    pub fn turned(self) -> EdgeDirection {
        match self {
            EdgeDirection::Out => EdgeDirection::In,
            EdgeDirection::In => EdgeDirection::Out,
            EdgeDirection::Both => EdgeDirection::Both,
        }
    }
}

impl From<hedgerow_core::Direction> for EdgeDirection {
    fn from(direction: hedgerow_core::Direction) -> EdgeDirection {
        match direction {
            hedgerow_core::Direction::Out => EdgeDirection::Out,
            hedgerow_core::Direction::In => EdgeDirection::In,
        }
    }
}

impl ChosenLabel {
    /// Chooses all edges of a label, with their stored weights.
    pub(crate) fn whole_of(label: LabelId) -> ChosenLabel {
        ChosenLabel { label, ranks: None, tests: Vec::new(), weight: ChosenWeight::Stored }
    }

    /// Returns the label, if all its edges are chosen with their stored weights.
    pub(crate) fn whole(&self) -> Option<LabelId> {
        let plain = self.ranks.is_none() && self.tests.is_empty() && self.weight == ChosenWeight::Stored;
        plain.then_some(self.label)
    }

    /// True if a test reads a property.
    pub(crate) fn tests_properties(&self) -> bool {
        self.tests.iter().any(EdgeTest::reads_properties)
    }

    /// True if a property must be read; copies of edges in incoming lists have none.
    pub(crate) fn reads_properties(&self) -> bool {
        self.tests_properties() || matches!(self.weight, ChosenWeight::Property(..))
    }
}

impl ChosenEdges {
    /// Chooses all edges of a label, unchanged, with or without weights, among all vertices.
    pub(crate) fn whole(label: LabelId, weighted: bool) -> ChosenEdges {
        let label = ChosenLabel::whole_of(label);
        ChosenEdges { labels: vec![label], direction: EdgeDirection::Out, weighted, kinds: None }
    }

    /// Returns the label, if all edges of just one label are chosen, unchanged, for any choice of vertices.
    pub(crate) fn only_whole_label(&self) -> Option<LabelId> {
        match &self.labels[..] {
            _ if self.direction != EdgeDirection::Out => None,
            // Only edges of the default label have stored weights: other edges weigh 1 if both are chosen.
            [one] if self.weighted && one.label != LabelId::DEFAULT => None,
            [one] => one.whole(),
            _ => None,
        }
    }
}

/// The views of chosen edges that snapshots use now. This table keeps none in memory: a view is freed with
/// the last snapshot that requested it.
#[derive(Default)]
pub(crate) struct ChosenViews(Mutex<Vec<(Timestamp, ChosenEdges, Weak<View>)>>);

impl ChosenViews {
    /// Returns the view of a snapshot of this timestamp, if there is one.
    pub(crate) fn find(&self, ts: Timestamp, chosen: &ChosenEdges) -> Option<Arc<View>> {
        let views = self.0.lock();
        let found = views.iter().find(|(at, edges, _)| (*at, edges) == (ts, chosen));
        found.and_then(|(.., view)| view.upgrade())
    }

    /// Offers a view to other snapshots of the timestamp. Returns the view to use.
    pub(crate) fn offer(&self, ts: Timestamp, chosen: &ChosenEdges, view: Arc<View>) -> Arc<View> {
        let mut views = self.0.lock();
        views.retain(|(.., view)| view.strong_count() > 0);
        let found = views.iter().find(|(at, edges, _)| (*at, edges) == (ts, chosen));
        if let Some(same) = found.and_then(|(.., view)| view.upgrade()) {
            return same;
        }
        views.push((ts, chosen.clone(), Arc::downgrade(&view)));
        view
    }

    /// Forgets all views.
    pub(crate) fn forget(&self) {
        let forgotten = std::mem::take(&mut *self.0.lock());
        drop(forgotten);
    }
}

/// The greatest number of views of chosen edges that a snapshot keeps: the last requested ones.
const MOST: usize = 8;

/// The views of chosen edges of a snapshot; the last requested one is the last element.
#[derive(Default)]
pub(crate) struct SelectedViews(Mutex<Vec<(ChosenEdges, Arc<View>)>>);

impl SelectedViews {
    pub(crate) fn find(&self, chosen: &ChosenEdges) -> Option<Arc<View>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(edges, _)| edges == chosen)?;
        let found = kept.remove(at);
        let view = found.1.clone();
        kept.push(found);
        Some(view)
    }

    pub(crate) fn keep(&self, chosen: ChosenEdges, view: &Arc<View>) {
        let mut kept = self.0.lock();
        if kept.iter().any(|(edges, _)| *edges == chosen) {
            return;
        }
        let oldest = (kept.len() == MOST).then(|| kept.remove(0));
        kept.push((chosen, view.clone()));
        drop(kept); // before the view, which may be the last reference to many lists
        drop(oldest);
    }
}
