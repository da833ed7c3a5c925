//! Reads of many vertices in one call: degrees, and lists of neighbors as columns.
//!
//! Lists are read from the view once all calls on a snapshot have asked for as many keys as there are
//! subgraphs. Making the view costs no more then. [Options](crate::Options::views_by_reads) can forbid that.
//! Fewer keys are read one by one. Either way the answers are the same as in a loop over the keys.

use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Error, Result, StorageError};
use hedgerow_core::{Direction, KeyColumn, LabelId, Resident, TextColumn, Topology, VertexId, VertexKeyRef};
use hedgerow_mem::View;
use rayon::prelude::*;

use crate::read::key_columns::KeyForm;
use crate::read::selection_ref::{ChosenLists, EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::ChosenEdges;

/// The number of keys that one task reads. The calling thread reads fewer alone.
pub(super) const PART: usize = 1 << 11;
/// The number of keys that are looked up together.
const TOGETHER: usize = 16;
/// The numbers of keys by which the prefetch of a list's place, and the prefetch of the list, are ahead.
const AHEAD: (usize, usize) = (16, 8);

/// The treatment of a key that names no vertex in a read of many vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingVertex {
    /// The read fails with [`ArgumentError::NoSuchVertex`].
    #[default]
    Refuse,
    /// The key counts as a vertex without edges.
    Empty,
}

/// Lists of neighbors, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NeighborLists {
    /// The bounds of the lists, one more than the number of lists: list `i` has the neighbors from
    /// `offsets[i]` up to, not including, `offsets[i + 1]`.
    pub offsets: Vec<i64>,
    /// The keys of the neighbors, ascending within a list; one entry for each edge.
    pub neighbors: KeyColumn,
}

/// The source from which the lists of one label are read.
pub(super) enum Source {
    View(Arc<View>),
    Chains(LabelId),
}

/// The sources of the lists of a read.
enum Origin<'l> {
    /// Whole lists in one direction: those of labels, or those of a view of chosen edges.
    Whole(Vec<Source>, Direction),
    Chosen(&'l ChosenEdges),
}

impl Snapshot {
    /// Returns the degrees of many vertices over the chosen edges, in the order of their keys, like a loop
    /// over [`degree`](Self::degree). In parallel on the current rayon pool if there are many keys. O(keys)
    /// for each label, and once O(subgraphs) when all calls together have asked for as many keys as there are
    /// subgraphs; for edges chosen by ranks or properties, or in both directions, O(their degrees). In a
    /// graph without incoming lists the latter reads the [view](Self::view) of the chosen edges.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchVertex`] if `missing` refuses unknown keys; the errors of
    /// [`view`](Self::view).
    pub fn degrees<'a, 's, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        keys: &[K],
        edges: impl Into<EdgeSelectionRef<'s>>,
        missing: MissingVertex,
    ) -> Result<Vec<u64>> {
        let lists = self.lists(edges.into())?;
        let origin = self.origin(&lists, keys.len())?;
        let degree = |id: VertexId| match &origin {
            Origin::Whole(sources, direction) => {
                let of = |source: &Source| match source {
                    Source::View(view) => Ok(view.degree(id, *direction) as u64),
                    Source::Chains(label) => Ok(self.degree_by_label(*label, id, *direction)? as u64),
                };
                sources.iter().map(of).sum::<Result<u64>>()
            }
            Origin::Chosen(chosen) => {
                let mut degree = 0;
                self.for_each_chosen(chosen, id, |_, _, _, _| degree += 1)?;
                Ok(degree)
            }
        };
        let parts = self.in_parts(&origin, &lists, keys, missing, |ids| {
            let mut degrees = Vec::with_capacity(ids.len());
            for (i, id) in ids.iter().enumerate() {
                prefetch(&origin, ids, i);
                degrees.push(id.map_or(Ok(0), degree)?);
            }
            Ok(degrees)
        })?;
        Ok(parts.concat())
    }

    /// Returns the neighbors of many vertices over the chosen edges, in the order of their keys, like a loop
    /// over [`neighbors`](Self::neighbors). In parallel on the current rayon pool if there are many keys.
    /// O(keys + edges log degree), and once O(subgraphs) when all calls together have asked for as many keys
    /// as there are subgraphs.
    ///
    /// ```
    /// use hedgerow::{Direction, Graph, KeyColumn, MissingVertex};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 3), (1, 2), (3, 1)])?;
    /// let snapshot = graph.snapshot()?;
    /// let lists = snapshot.neighbor_lists(&[3u64, 8, 1], Direction::Out, MissingVertex::Empty)?;
    /// assert_eq!(lists.offsets, [0, 1, 1, 3]);
    /// assert_eq!(lists.neighbors, KeyColumn::U64(vec![1, 2, 3]));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`degrees`](Self::degrees).
    pub fn neighbor_lists<'a, 's, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        keys: &[K],
        edges: impl Into<EdgeSelectionRef<'s>>,
        missing: MissingVertex,
    ) -> Result<NeighborLists> {
        let (form, lists) = (self.key_form(), self.lists(edges.into())?);
        let origin = self.origin(&lists, keys.len())?;
        let parts = self.in_parts(&origin, &lists, keys, missing, |ids| {
            let mut ends = Vec::with_capacity(ids.len());
            let mut found: Vec<VertexId> = Vec::new();
            for (i, id) in ids.iter().enumerate() {
                prefetch(&origin, ids, i);
                if let Some(id) = *id {
                    self.list_of(&origin, id, &mut found)?;
                }
                ends.push(found.len());
            }
            let keys = self.keys_of_lists(form, &found, &ends)?;
            Ok((ends, keys))
        })?;
        let mut lists =
            NeighborLists { offsets: Vec::with_capacity(keys.len() + 1), neighbors: form.column() };
        lists.offsets.push(0);
        let all = parts.iter().map(|(_, keys)| keys.len()).sum();
        if let KeyColumn::U64(numbers) = &mut lists.neighbors {
            numbers.reserve_exact(all);
        }
        for (ends, keys) in parts {
            let before = lists.neighbors.len();
            lists.offsets.extend(ends.into_iter().map(|end| (before + end) as i64));
            lists.neighbors.append(keys);
        }
        Ok(lists)
    }

    /// Returns the vertices at which edges are read, in the order of their keys.
    pub(super) fn vertices_of_lists<'a, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        lists: &Lists<'_>,
        keys: &[K],
        missing: MissingVertex,
    ) -> Result<Vec<Option<VertexId>>> {
        let no_lists = Origin::Whole(Vec::new(), Direction::Out);
        Ok(self.in_parts(&no_lists, lists, keys, missing, |ids| Ok(ids.to_vec()))?.concat())
    }

    /// Adds the other endpoints of the edges of a vertex to `found`.
    fn list_of(&self, origin: &Origin<'_>, id: VertexId, found: &mut Vec<VertexId>) -> Result<()> {
        let (sources, direction) = match origin {
            Origin::Whole(sources, direction) => (sources, *direction),
            Origin::Chosen(chosen) => {
                return self.for_each_chosen(chosen, id, |_, _, other, _| found.push(other));
            }
        };
        sources.iter().try_for_each(|source| match source {
            Source::View(view) => {
                view.neighbors(id, direction).for_each_run(|run| found.extend_from_slice(run));
                Ok(())
            }
            Source::Chains(label) => self.for_each_end(*label, id, direction, |other, _| found.push(other)),
        })
    }

    fn origin<'l>(&self, lists: &'l Lists<'_>, keys: usize) -> Result<Origin<'l>> {
        let (labels, direction) = match lists {
            Lists::OfLabel(label, direction) => (vec![*label], *direction),
            Lists::OfAll(direction) => (self.label_ids().collect(), *direction),
            Lists::Chosen(chosen) => match chosen.edges.whole_labels() {
                Some((labels, direction)) => (labels.collect(), direction),
                None => return self.origin_of(chosen),
            },
        };
        Ok(Origin::Whole(self.sources(labels, keys, direction)?, direction))
    }

    fn origin_of<'l>(&self, chosen: &'l ChosenLists<'_>) -> Result<Origin<'l>> {
        let searches = chosen.edges.directions().iter().any(|&direction| self.has_to_search(direction));
        if searches {
            // The view is turned already, so its outgoing lists are read. Lists do not depend on kinds.
            let selection = chosen.selection.clone().into_owned().of_all_vertices().without_weights();
            match self.view_of_selection(&selection) {
                Err(Error::Storage(StorageError::MemoryLimit { .. })) => {}
                view => return Ok(Origin::Whole(vec![Source::View(view?)], Direction::Out)),
            }
        }
        Ok(Origin::Chosen(&chosen.edges))
    }

    /// Returns the source of each label's lists for a read of this many keys.
    pub(super) fn sources(
        &self,
        labels: Vec<LabelId>,
        keys: usize,
        direction: Direction,
    ) -> Result<Vec<Source>> {
        self.engine().check_owner()?;
        let searches = self.has_to_search(direction);
        let by_view = searches || self.reads_by_view(keys);
        // Room for the view of one label does not imply room for the view of another.
        let fits = |label| by_view && (searches || self.engine().pager.has_room_for_label(label));
        let source = |label| match fits(label) {
            // This view has all vertices: a vertex whose kind the label does not state has an empty list.
            true => match self.label_view(label) {
                // Another thread took the room in the meantime.
                Err(Error::Storage(StorageError::MemoryLimit { .. })) if !searches => {
                    Ok(Source::Chains(label))
                }
                view => view.map(Source::View),
            },
            false => Ok(Source::Chains(label)),
        };
        labels.into_iter().map(source).collect()
    }

    /// Looks up the keys in groups, and returns the results of `f` for the vertices of each group, in order.
    fn in_parts<'a, K: Into<VertexKeyRef<'a>> + Copy + Sync, T: Send>(
        &self,
        origin: &Origin<'_>,
        lists: &Lists<'_>,
        keys: &[K],
        missing: MissingVertex,
        f: impl Fn(&[Option<VertexId>]) -> Result<T> + Sync + Send,
    ) -> Result<Vec<T>> {
        let first = match origin {
            Origin::Whole(sources, _) => sources.first(),
            Origin::Chosen(_) => None,
        };
        let look_up = |key| match first {
            Some(Source::View(view)) => {
                let id = self.engine().keys.vertex_to_read(&self.engine().pager, key, self.timestamp())?;
                Ok(id.filter(|&id| view.contains(id)))
            }
            _ => self.vertex_id(key),
        };
        // Keys are looked up together, so that their cache misses overlap, if lists are read from a view and
        // no label states the kind of the keys.
        let no_kinds = !lists.may_state_kinds();
        let look_up_all = |keys: &[K; TOGETHER]| match first {
            Some(Source::View(view)) if no_kinds => {
                let found = self.engine().keys.vertices_to_read(
                    &self.engine().pager,
                    keys.map(K::into),
                    self.timestamp(),
                    |_, _, _| (),
                )?;
                Ok(Some(found.map(|id| id.filter(|&id| view.contains(id)))))
            }
            _ => Ok::<_, Error>(None),
        };
        let part = |(at, keys): (usize, &[K])| {
            let mut ids = Vec::with_capacity(keys.len());
            let mut together = None;
            for (row, &key) in keys.iter().enumerate() {
                if row % TOGETHER == 0 {
                    together = keys[row..].first_chunk().map_or(Ok(None), look_up_all)?;
                }
                let key = self.key_at(lists, key.into())?;
                let id = match together {
                    Some(found) => found[row % TOGETHER],
                    None => look_up(key)?,
                };
                if id.is_none() && missing == MissingVertex::Refuse {
                    let row = at * PART + row;
                    return Err(ArgumentError::NoSuchVertex { key: key.to_string(), row }.into());
                }
                ids.push(id);
            }
            f(&ids)
        };
        if keys.len() <= PART {
            return Ok(vec![part((0, keys))?]);
        }
        hedgerow_par::map(keys.par_chunks(PART).enumerate(), part).into_iter().collect()
    }

    /// Returns the keys of the lists that end at `ends`, each list ascending.
    pub(super) fn keys_of_lists(&self, form: KeyForm, ids: &[VertexId], ends: &[usize]) -> Result<KeyColumn> {
        Ok(match self.vertex_keys_alone(form, ids)? {
            KeyColumn::U64(mut numbers) => {
                let mut rest = &mut numbers[..];
                let mut from = 0;
                for &end in ends {
                    let list = rest.split_off_mut(..end - from).unwrap_or_default();
                    if !list.is_sorted() {
                        list.sort_unstable();
                    }
                    from = end;
                }
                KeyColumn::U64(numbers)
            }
            KeyColumn::Str(texts) => {
                let mut sorted = TextColumn::default();
                sorted.reserve(texts.len(), texts.bytes());
                let mut all = texts.iter();
                let mut list: Vec<&str> = Vec::new();
                let mut from = 0;
                for &end in ends {
                    list.clear();
                    list.extend(all.by_ref().take(end - from));
                    list.sort_unstable();
                    list.iter().for_each(|text| sorted.push(text));
                    from = end;
                }
                KeyColumn::Str(sorted)
            }
            KeyColumn::Kinds(mut keys) => {
                let mut from = 0;
                for &end in ends {
                    keys.get_mut(from..end).unwrap_or_default().sort_unstable();
                    from = end;
                }
                KeyColumn::Kinds(keys)
            }
        })
    }
}

/// Prefetches the lists of the vertices after `i` in a view.
#[inline]
fn prefetch(origin: &Origin<'_>, ids: &[Option<VertexId>], i: usize) {
    let Origin::Whole(sources, direction) = origin else { return };
    let (Some(Source::View(view)), direction) = (sources.first(), *direction) else { return };
    if let Some(&Some(id)) = ids.get(i + AHEAD.0) {
        view.prefetch_place(id, direction);
    }
    if let Some(&Some(id)) = ids.get(i + AHEAD.1) {
        view.prefetch_list(id, direction);
    }
}
