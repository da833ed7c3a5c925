//! A transaction as sorted changes of single lists.

use hedgerow_core::{Direction, Update, VertexId};
use smallvec::SmallVec;

use crate::{GraphForm, LabError};

/// A change of one neighbour in a list: its weight from now on, or none if it is removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    pub(crate) target: VertexId,
    pub(crate) weight: Option<f64>,
}

/// What changes did to a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Neighbours more, less those that are gone.
    pub(crate) entries: i64,
    /// Whether anything is different, weights included.
    pub(crate) changed: bool,
}

impl Effect {
    pub(crate) fn add(&mut self, other: Effect) {
        self.entries += other.entries;
        self.changed |= other.changed;
    }
}

/// A change with the list that it is for.
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

    /// Whether two entries are for one list.
    pub(crate) fn same_list(&self, other: &Entry) -> bool {
        (self.owner, self.direction) == (other.owner, other.direction)
    }
}

/// Refuses updates that a container with ids up to `most` cannot make, before the first is made.
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

/// The updates before the first removal of a vertex, that vertex if there is one, and the updates behind it.
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

/// The changes of lists that these updates make, by list and target, each once: the last of those that
/// contradict one another. An undirected edge changes two lists, or one if it is a loop; a directed one an
/// outgoing and an incoming list.
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
        // Stable: of equal places the last is the newest.
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

/// The vertices that these updates make sure of.
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

/// All vertices that these updates name.
pub(crate) fn named(updates: &[Update]) -> impl Iterator<Item = VertexId> {
    updates
        .iter()
        .flat_map(|update| match *update {
            Update::InsertVertex(v) | Update::RemoveVertex(v) => [Some(v), None],
            Update::InsertEdge(src, dst, _) | Update::RemoveEdge(src, dst) => [Some(src), Some(dst)],
        })
        .flatten()
}

/// What a transaction changes: the lists of the vertices that it has locked.
pub(crate) trait Draft {
    /// Makes a vertex exist, or not. Returns whether that changed anything.
    fn set_present(&mut self, v: VertexId, present: bool) -> bool;
    /// Changes one list; `changes` ascend, each target once.
    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect;
    /// Whether a list has a neighbour.
    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool;
    /// The neighbours in a list, ascending.
    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId>;
}

/// How many vertices and edges there are more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct More {
    pub(crate) vertices: i64,
    pub(crate) edges: i64,
    /// Whether anything is different, weights included.
    pub(crate) changed: bool,
}

/// Makes the updates in their order.
pub(crate) fn make(updates: &[Update], form: GraphForm, draft: &mut impl Draft) -> More {
    let mut more = More::default();
    // Ends of undirected edges: two of each, of loops too.
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

/// Changes one list, and counts the ends of edges in outgoing ones.
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
