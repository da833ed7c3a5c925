//! A transaction as sorted changes of single lists.

use hedgerow_core::{Direction, Update, VertexId};
use smallvec::SmallVec;

use crate::{GraphForm, LabError};

/// A change of one neighbour in a list: the new weight, or `None` for a removal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    pub(crate) target: VertexId,
    pub(crate) weight: Option<f64>,
}

/// The effect of changes on a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The number of added neighbours minus the number of removed ones.
    pub(crate) entries: i64,
    /// Whether anything changed, weights included.
    pub(crate) changed: bool,
}

impl Effect {
    pub(crate) fn add(&mut self, other: Effect) {
        self.entries += other.entries;
        self.changed |= other.changed;
    }
}

/// A change and the list that it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) owner: VertexId,
    pub(crate) direction: Direction,
    pub(crate) change: Change,
}

impl Entry {
    fn place(&self) -> (u32, u8, u32) {
        (self.owner.0, self.direction as u8, self.change.target.0)
    }

    /// True if both entries change the same list.
    pub(crate) fn same_list(&self, other: &Entry) -> bool {
        (self.owner, self.direction) == (other.owner, other.direction)
    }
}

/// Refuses the updates if one of them has an id above `most` or a weight that is not a number. Runs before
/// the container makes the first update.
pub(crate) fn check(updates: &[Update], most: VertexId) -> Result<(), LabError> {
    let vertex = |v: VertexId| match v > most {
        true => Err(LabError::Vertex { vertex: v.0, most: most.0 }),
        false => Ok(()),
    };
    updates.iter().try_for_each(|update| match *update {
        Update::InsertVertex(v) | Update::RemoveVertex(v) => vertex(v),
        Update::InsertEdge(src, dst, weight) => {
            vertex(src)?;
            vertex(dst)?;
            if weight.is_nan() { Err(LabError::Weight { src: src.0, dst: dst.0 }) } else { Ok(()) }
        }
        Update::RemoveEdge(src, dst) => {
            vertex(src)?;
            vertex(dst)
        }
    })
}

/// Splits the updates at the first removal of a vertex. Returns the updates before it, the removed vertex if
/// there is one, and the updates after it.
pub(crate) fn until_removal(updates: &[Update]) -> (&[Update], Option<VertexId>, &[Update]) {
    let removal = |update: &Update| matches!(update, Update::RemoveVertex(_));
    match updates.iter().position(removal) {
        None => (updates, None, &[]),
        Some(at) => {
            let Update::RemoveVertex(v) = updates[at] else { return (updates, None, &[]) };
            (&updates[..at], Some(v), &updates[at + 1..])
        }
    }
}

/// Returns the changes of lists that these updates make, sorted by list and target. If several updates change
/// one target, it keeps the last change. An undirected edge changes two lists, or one list if it is a loop. A
/// directed edge changes an outgoing and an incoming list.
pub(crate) fn entries(updates: &[Update], form: GraphForm) -> SmallVec<[Entry; 2]> {
    let mut entries: SmallVec<[Entry; 2]> = SmallVec::with_capacity(2 * updates.len());
    for update in updates {
        let (src, dst, weight) = match *update {
            Update::InsertEdge(src, dst, weight) => {
                (src, dst, Some(if form.weighted { weight } else { 1.0 }))
            }
            Update::RemoveEdge(src, dst) => (src, dst, None),
            Update::InsertVertex(_) | Update::RemoveVertex(_) => continue,
        };
        entries.push(Entry { owner: src, direction: Direction::Out, change: Change { target: dst, weight } });
        if form.directed || src != dst {
            let direction = if form.directed { Direction::In } else { Direction::Out };
            entries.push(Entry { owner: dst, direction, change: Change { target: src, weight } });
        }
    }
    sort(&mut entries);
    entries
}

fn sort(entries: &mut SmallVec<[Entry; 2]>) {
    match entries.as_mut_slice() {
        [] | [_] => {}
        [a, b] => {
            if a.place() > b.place() {
                std::mem::swap(a, b);
            }
        }
        // A stable sort: among equal places, the last entry is the newest.
        all => all.sort_by_key(Entry::place),
    }
    entries.dedup_by(|later, kept| {
        let same = later.place() == kept.place();
        if same {
            *kept = *later;
        }
        same
    });
}

/// Returns the vertices that these updates insert, ends of inserted edges included.
pub(crate) fn inserted(updates: &[Update]) -> impl Iterator<Item = VertexId> {
    updates
        .iter()
        .flat_map(|update| match *update {
            Update::InsertVertex(v) => [Some(v), None],
            Update::InsertEdge(src, dst, _) => [Some(src), Some(dst)],
            _ => [None, None],
        })
        .flatten()
}

/// Returns all vertices that these updates name.
pub(crate) fn named(updates: &[Update]) -> impl Iterator<Item = VertexId> {
    updates
        .iter()
        .flat_map(|update| match *update {
            Update::InsertVertex(v) | Update::RemoveVertex(v) => [Some(v), None],
            Update::InsertEdge(src, dst, _) | Update::RemoveEdge(src, dst) => [Some(src), Some(dst)],
        })
        .flatten()
}

/// The interface through which a transaction changes the lists of the vertices that it locked.
pub(crate) trait Draft {
    /// Inserts the vertex if `present`, else removes it. Returns true if that changed anything.
    fn set_present(&mut self, v: VertexId, present: bool) -> bool;
    /// Changes one list; `changes` ascend by target and name each target once.
    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect;
    /// True if the list has `target` as a neighbour.
    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool;
    /// Returns the neighbours in a list, ascending.
    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId>;
}

/// The growth of a graph: the numbers of added vertices and edges minus the numbers of removed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct More {
    pub(crate) vertices: i64,
    pub(crate) edges: i64,
    /// Whether anything changed, weights included.
    pub(crate) changed: bool,
}

/// Makes the updates in their order. Returns the growth of the graph.
pub(crate) fn make(updates: &[Update], form: GraphForm, draft: &mut impl Draft) -> More {
    let mut more = More::default();
    // The ends of undirected edges: two for each edge, also for a loop.
    let mut ends = 0;
    let mut rest = updates;
    while !rest.is_empty() {
        let (before, removed, behind) = until_removal(rest);
        more.vertices += inserted(before).map(|v| i64::from(draft.set_present(v, true))).sum::<i64>();
        let entries = entries(before, form);
        let mut changes = SmallVec::<[Change; 8]>::new();
        for list in entries.chunk_by(Entry::same_list) {
            changes.clear();
            changes.extend(list.iter().map(|entry| entry.change));
            more.changed |= change_list(form, draft, list[0].owner, list[0].direction, &changes, &mut ends);
        }
        if let Some(v) = removed {
            for direction in form.directions() {
                let gone: Vec<VertexId> = draft.targets(v, *direction);
                for &other in &gone {
                    let mirrored = form.mirrored(*direction);
                    if (other, mirrored) != (v, *direction) {
                        let change = [Change { target: v, weight: None }];
                        change_list(form, draft, other, mirrored, &change, &mut ends);
                    }
                }
                let gone: Vec<Change> = gone.iter().map(|&target| Change { target, weight: None }).collect();
                change_list(form, draft, v, *direction, &gone, &mut ends);
            }
            more.vertices -= i64::from(draft.set_present(v, false));
        }
        rest = behind;
    }
    more.edges = if form.directed { ends } else { ends / 2 };
    more.changed |= more.vertices != 0 || more.edges != 0;
    more
}

/// Changes one list. For an outgoing list, adds the difference in edge ends to `ends`.
fn change_list(
    form: GraphForm,
    draft: &mut impl Draft,
    owner: VertexId,
    direction: Direction,
    changes: &[Change],
    ends: &mut i64,
) -> bool {
    let changes_loop = !form.directed && changes.binary_search_by_key(&owner, |c| c.target).is_ok();
    let before = changes_loop && draft.has(owner, direction, owner);
    let effect = draft.apply(owner, direction, changes);
    if direction == Direction::Out {
        let after = changes_loop && draft.has(owner, direction, owner);
        *ends += effect.entries + i64::from(after) - i64::from(before);
    }
    effect.changed
}
