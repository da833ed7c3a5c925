//! The edges that a view by the page has, and the ways to read them.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::ItemRef;
use hedgerow_mem::version::Read;
use hedgerow_mem::view::Take;
use hedgerow_pager::pager::census::Census;
use hedgerow_pager::pager::pages::StoredLists;

use super::lists::Lists;
use crate::read::compose::{take_of, tests_text};
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, ChosenWeight, EdgeDirection};
use crate::state::store::Core;

/// The choice of edges that a view by the page has.
pub(super) struct Taken {
    /// The labels, ascending.
    labels: Vec<ChosenLabel>,
    /// The censuses of these labels.
    edges: Vec<Arc<Census>>,
    direction: EdgeDirection,
    /// The label, if the view takes all edges of one label unchanged.
    pub(super) plain: Option<LabelId>,
    pub(super) weighted: bool,
    /// True if the store is directed.
    directed: bool,
    /// True if second copies are made by reversing first copies: in an undirected store only the first copy
    /// of an edge has the text that a test reads.
    first_copies: bool,
    /// True if incoming lists are stored with all data that the view reads of an edge.
    stores_incoming: bool,
    /// The name of the weight property.
    weight_name: Box<str>,
}

/// The source of the lists in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The lists in a stored direction.
    Stored(Direction),
    /// A search for incoming edges in the outgoing lists, which alone can be read.
    Searched,
    /// The lists of both directions: each edge once, also self-loops.
    Joined,
}

impl Taken {
    /// Makes the choice of edges of a snapshot with these `vertices`. Of several labels it takes those that
    /// have edges, like views in memory.
    pub(super) fn new(
        snapshot: &Snapshot,
        chosen: ChosenEdges,
        weight: &str,
        vertices: &Arc<Census>,
    ) -> Result<Taken> {
        let core = snapshot.engine();
        let several = chosen.labels.len() > 1;
        let mut chosen_of_used = ChosenEdges { labels: Vec::new(), ..chosen };
        let mut edges = Vec::new();
        for label in chosen.labels {
            let census = snapshot.census_of(label.label, vertices)?;
            if !several || census.entries() > 0 {
                chosen_of_used.labels.push(label);
                edges.push(census);
            }
        }
        let chosen = chosen_of_used;
        let by_property = chosen.labels.iter().any(ChosenLabel::reads_properties);
        let config = &core.catalog.config;
        Ok(Taken {
            plain: chosen.only_whole_label(),
            weighted: chosen.weighted,
            directed: config.directed,
            first_copies: !config.directed && chosen.labels.iter().any(tests_text),
            stores_incoming: !config.is_one_way() && !by_property,
            direction: chosen.direction,
            labels: chosen.labels,
            edges,
            weight_name: weight.into(),
        })
    }

    /// True if the edges of the view have a direction.
    pub(super) fn is_directed(&self) -> bool {
        self.directed && self.direction != EdgeDirection::Both
    }

    /// Returns the source of the view's lists in a direction.
    pub(super) fn side(&self, direction: Direction) -> Side {
        let along = match self.direction {
            _ if self.first_copies => return Side::Joined,
            _ if !self.directed => true,
            EdgeDirection::Both => return Side::Joined,
            EdgeDirection::Out => direction == Direction::Out,
            EdgeDirection::In => direction == Direction::In,
        };
        if along { Side::Stored(Direction::Out) } else { self.against() }
    }

    /// Returns the source of the incoming lists.
    pub(super) fn against(&self) -> Side {
        let is_stored = self.directed && self.stores_incoming;
        if is_stored { Side::Stored(Direction::In) } else { Side::Searched }
    }

    /// Estimates the mean number of outgoing edges of a subgraph's vertices, including edges of the labels
    /// that are not chosen.
    pub(super) fn mean(&self, id: SubgraphId) -> usize {
        self.edges.iter().map(|edges| edges.mean(id)).sum()
    }

    /// Returns the number of entries of all outgoing lists of the labels, including edges that are not
    /// chosen.
    pub(super) fn entries(&self) -> u64 {
        self.edges.iter().map(|edges| edges.entries()).sum()
    }

    /// True if every entry is taken, with its stored weight.
    pub(super) fn is_all(&self) -> bool {
        let weighs = |label: &ChosenLabel| !matches!(label.weight, ChosenWeight::Property(_, None));
        self.labels.iter().all(|label| label.is_all() && weighs(label))
    }

    /// Returns the number of edges in outgoing lists with this many `entries`, of which `loops` are
    /// self-loops.
    pub(super) fn edges_of(&self, entries: u64, loops: u64) -> u64 {
        if self.directed || self.first_copies { entries } else { (entries + loops) / 2 }
    }

    pub(super) fn weight_name(&self) -> &str {
        &self.weight_name
    }

    /// Returns for each label the rule by which its edges are taken.
    pub(super) fn takers<'a>(&'a self, core: &'a Core) -> impl Iterator<Item = Taker<'a>> {
        self.labels.iter().map(move |label| {
            let id = label.label;
            let is_whole = label.whole().is_some()
                && !self.first_copies
                && core.catalog.is_weighted(id) == self.weighted;
            let take = take_of(label, self.first_copies);
            Taker { label: id, is_whole, take, weighted: self.weighted }
        })
    }
}

/// The edges taken of a subgraph's lists; or the ends of the least edge without a number for its weight.
pub(super) type Taking = std::result::Result<Lists, (VertexId, VertexId)>;

/// The rule by which edges of a label are chosen and copied.
pub(super) struct Taker<'a> {
    label: LabelId,
    /// True if lists are copied unchanged.
    is_whole: bool,
    take: Take<'a>,
    /// True if the edges of the view have weights.
    weighted: bool,
}

impl Taker<'_> {
    pub(super) fn label(&self) -> LabelId {
        self.label
    }

    /// Returns the most bytes that this many entries take.
    pub(super) fn bytes_of(&self, entries: usize) -> u64 {
        (entries * (size_of::<VertexId>() + if self.weighted { size_of::<f64>() } else { 0 })) as u64
    }

    /// Returns the bytes that lists made from stored ones take, in addition to those.
    pub(super) fn bytes_beside(&self, stored: &StoredLists) -> u64 {
        if self.is_whole { 0 } else { self.bytes_of(stored.entries()) }
    }

    /// Takes the edges that a reader sees in a subgraph's version. O(edges + delta).
    pub(super) fn of_version(&self, id: SubgraphId, read: Read<'_>) -> Taking {
        if self.is_whole {
            return Ok(Lists::copy(read, self.weighted));
        }
        self.taking((id, read.edge_entries() as usize), |local, take| read.for_each_item(local, take))
    }

    /// Takes the edges of lists from files. O(edges).
    pub(super) fn of_stored(&self, id: SubgraphId, stored: StoredLists) -> Taking {
        if self.is_whole {
            return Ok(stored.into());
        }
        self.taking((id, stored.entries()), |local, take| stored.for_each_item(local, take))
    }

    /// Takes the edges that `each` passes for each vertex, ascending; there are at most `most`.
    fn taking(
        &self,
        (id, most): (SubgraphId, usize),
        each: impl Fn(LocalVertex, &mut dyn FnMut(ItemRef<'_>)),
    ) -> Taking {
        let mut lists = Lists::with_capacity(most, if self.weighted { most } else { 0 });
        let mut unweighed = None;
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            let at = id.vertex(local);
            each(local, &mut |item| {
                if !self.take.takes(at, &item) {
                    return;
                }
                let weight = if self.weighted { self.take.weight_of(&item) } else { None };
                if self.weighted && weight.is_none() {
                    let edge = (at, item.dst);
                    unweighed = Some(unweighed.map_or(edge, |least: (VertexId, VertexId)| least.min(edge)));
                }
                lists.push(item.dst, weight);
            });
            lists.end_list(local);
        }
        lists.shrink();
        unweighed.map_or(Ok(lists), Err)
    }
}
