//! The argument by which reads take a choice of edges.

use std::borrow::Cow;

use hedgerow_catalog::error::Result;
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{Direction, GraphConfig, LabelId, VertexId, VertexKeyRef};

use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenEdges, EdgeDirection};

/// The edges that a read takes, as an argument: an [`EdgeSelection`] by reference, or a short form of a
/// selection without conditions.
///
/// | argument | edges |
/// | --- | --- |
/// | `Direction::In`, `EdgeDirection::Both` | all edges in that direction, of all labels and ranks |
/// | `"pays"`, a [`LabelId`], a [`LabelRef`] | the outgoing edges of one label; `""` is the default label |
/// | `("pays", Direction::In)` | the edges of one label in that direction |
/// | `&selection` | the edges that the selection chooses |
///
/// ```
/// use hedgerow::{Comparison, Direction, EdgeKey, EdgeSelection, Graph};
///
/// let graph = Graph::in_memory()?;
/// let mut tx = graph.write()?;
/// tx.put_edge((1, 2))?;
/// tx.put_edge_with(EdgeKey::new("pays", 1, 3), [("amount", 20)])?;
/// tx.commit()?;
/// let snapshot = graph.snapshot()?;
/// assert_eq!(snapshot.degree(1, Direction::Out)?, Some(2));
/// assert_eq!(snapshot.degree(1, "pays")?, Some(1));
/// assert_eq!(snapshot.degree(3, ("pays", Direction::In))?, Some(1));
/// let large = EdgeSelection::of("pays").filter("amount", Comparison::Greater, 100);
/// assert_eq!(snapshot.degree(1, &large)?, Some(0));
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EdgeSelectionRef<'a>(Form<'a>);

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    /// All edges of a label, or of all labels.
    Whole(Option<LabelRef<'a>>, EdgeDirection),
    Selected(&'a EdgeSelection<'a>),
}

impl From<EdgeDirection> for EdgeSelectionRef<'_> {
    fn from(direction: EdgeDirection) -> Self {
        EdgeSelectionRef(Form::Whole(None, direction))
    }
}

impl From<Direction> for EdgeSelectionRef<'_> {
    #[inline]
    fn from(direction: Direction) -> Self {
        EdgeDirection::from(direction).into()
    }
}

impl<'a> From<LabelRef<'a>> for EdgeSelectionRef<'a> {
    fn from(label: LabelRef<'a>) -> Self {
        EdgeSelectionRef(Form::Whole(Some(label), EdgeDirection::Out))
    }
}

impl<'a> From<&'a str> for EdgeSelectionRef<'a> {
    fn from(label: &'a str) -> Self {
        LabelRef::from(label).into()
    }
}

impl<'a> From<&'a String> for EdgeSelectionRef<'a> {
    fn from(label: &'a String) -> Self {
        LabelRef::from(label.as_str()).into()
    }
}

impl From<&Label> for EdgeSelectionRef<'_> {
    fn from(label: &Label) -> Self {
        LabelRef::from(label).into()
    }
}

impl From<LabelId> for EdgeSelectionRef<'_> {
    fn from(label: LabelId) -> Self {
        LabelRef::from(label).into()
    }
}

impl<'a, L: Into<LabelRef<'a>>, D: Into<EdgeDirection>> From<(L, D)> for EdgeSelectionRef<'a> {
    #[inline]
    fn from((label, direction): (L, D)) -> Self {
        EdgeSelectionRef(Form::Whole(Some(label.into()), direction.into()))
    }
}

impl<'a> From<&'a EdgeSelection<'_>> for EdgeSelectionRef<'a> {
    fn from(selection: &'a EdgeSelection<'_>) -> Self {
        EdgeSelectionRef(Form::Selected(selection))
    }
}

impl<'a> EdgeSelectionRef<'a> {
    /// Returns the selection.
    pub(crate) fn selection(self) -> Cow<'a, EdgeSelection<'a>> {
        match self.0 {
            Form::Selected(selection) => Cow::Borrowed(selection),
            Form::Whole(None, direction) => Cow::Owned(EdgeSelection::all().direction(direction)),
            Form::Whole(Some(label), direction) => Cow::Owned(EdgeSelection::of(label).direction(direction)),
        }
    }

    /// Returns label and direction, if the lists of one label or of all labels are read wholly.
    #[inline]
    pub(crate) fn whole(self) -> Option<(Option<LabelRef<'a>>, EdgeDirection)> {
        match self.0 {
            Form::Whole(label, direction) => Some((label, direction)),
            Form::Selected(selection) => selection.whole_lists(),
        }
    }

    /// Returns label and direction like [`whole`](Self::whole), if the lists of one direction suffice: all
    /// directions of an undirected graph are the same.
    #[inline]
    pub(crate) fn whole_one_way(self, config: &GraphConfig) -> Option<(Option<LabelRef<'a>>, Direction)> {
        let (label, direction) = self.whole()?;
        match direction {
            EdgeDirection::Out => Some((label, Direction::Out)),
            EdgeDirection::In => Some((label, Direction::In)),
            EdgeDirection::Both => (!config.directed).then_some((label, Direction::Out)),
        }
    }
}

/// The edges of a read of lists. The first two forms are the common ones, and are read without a resolved
/// selection.
pub(super) enum Lists<'a> {
    /// All edges of one label.
    OfLabel(LabelId, Direction),
    /// All edges of all labels.
    OfAll(Direction),
    Chosen(Box<ChosenLists<'a>>),
}

/// A selection, and the edges that it chooses.
pub(super) struct ChosenLists<'a> {
    pub(super) selection: Cow<'a, EdgeSelection<'a>>,
    pub(super) edges: ChosenEdges,
}

impl Lists<'_> {
    /// True if a label may state the kind of the vertices at which these edges are read.
    pub(super) fn may_state_kinds(&self) -> bool {
        match self {
            Lists::OfLabel(label, _) => *label != LabelId::DEFAULT,
            Lists::OfAll(_) => false,
            Lists::Chosen(chosen) => chosen.selection.names_labels(),
        }
    }
}

impl Snapshot {
    /// Returns the direction, if edges of all labels are chosen in one direction and only the default label
    /// has edges.
    #[inline]
    pub(super) fn in_default_lists(&self, edges: EdgeSelectionRef<'_>) -> Option<Direction> {
        match edges.0 {
            Form::Whole(None, direction) if !self.engine().pager.labels.has_edges() => match direction {
                EdgeDirection::Out => Some(Direction::Out),
                EdgeDirection::In => Some(Direction::In),
                EdgeDirection::Both => None,
            },
            _ => None,
        }
    }

    /// Looks up the label of a choice of edges. In a graph without edges of other labels, edges of all labels
    /// are those of the default label. This is tested by one plain load: an atomic operation on the schema
    /// would keep the cache misses of consecutive reads from overlapping.
    #[inline]
    pub(super) fn lists<'a>(&self, edges: EdgeSelectionRef<'a>) -> Result<Lists<'a>> {
        let Some((label, direction)) = edges.whole_one_way(&self.engine().catalog.config) else {
            return self.chosen_lists(edges);
        };
        Ok(match label {
            Some(label) => Lists::OfLabel(self.label(label)?, direction),
            None if self.engine().pager.labels.has_edges() => Lists::OfAll(direction),
            None => Lists::OfLabel(LabelId::DEFAULT, direction),
        })
    }

    fn chosen_lists<'a>(&self, edges: EdgeSelectionRef<'a>) -> Result<Lists<'a>> {
        let selection = edges.selection();
        let edges = selection.resolve_lists(self)?;
        Ok(Lists::Chosen(Box::new(ChosenLists { selection, edges })))
    }

    /// Returns the vertex at which edges are read, if there is one.
    #[inline]
    pub(super) fn end_of_lists(&self, lists: &Lists<'_>, key: VertexKeyRef<'_>) -> Result<Option<VertexId>> {
        self.vertex_id(self.key_at(lists, key)?)
    }

    /// Returns the key of the vertex at which edges are read. If the key names no kind, it takes the kind
    /// that all named labels state for their ends.
    #[inline]
    pub(super) fn key_at<'k>(&self, lists: &Lists<'_>, key: VertexKeyRef<'k>) -> Result<VertexKeyRef<'k>> {
        match lists {
            Lists::OfLabel(label, direction) => self.engine().catalog.end_of(*label, key, *direction),
            Lists::OfAll(_) => Ok(key),
            Lists::Chosen(chosen) => chosen.selection.end_of(self, key),
        }
    }

    /// Calls `f` with label, direction, other endpoint and rank of each of these edges at a vertex. `f` must
    /// not read lists.
    pub(super) fn for_each_of(
        &self,
        lists: &Lists<'_>,
        id: VertexId,
        mut f: impl FnMut(LabelId, Direction, VertexId, u64),
    ) -> Result<()> {
        let mut whole = |label, direction| {
            self.for_each_end(label, id, direction, |other, rank| f(label, direction, other, rank))
        };
        match lists {
            Lists::OfLabel(label, direction) => whole(*label, *direction),
            Lists::OfAll(direction) => self.label_ids().try_for_each(|label| whole(label, *direction)),
            Lists::Chosen(chosen) => self.for_each_chosen(&chosen.edges, id, f),
        }
    }
}
