//! An answer by name that goes from snapshot to snapshot.

use hedgerow_core::{Changeable, Changing, Topology};

use super::{Components, Degrees, Maintained, Ranks, Triangles};
use crate::{Cancel, KernelError};

/// Where more than this share of all entries of lists differ, an answer is made from scratch.
const MOST_CHANGED: u64 = 8;

/// Begins to keep answers about a graph.
pub trait Maintain: Changeable {
    /// An answer by the name of its kernel that is kept from snapshot to snapshot: `wcc`, `tc`, `pagerank`, or `degrees`. Nothing is computed before
    /// the first [`Handle::at`]. O(1).
    ///
    /// # Errors
    /// [`KernelError::NoSuchKernel`] for other names.
    fn maintain(&self, name: &str) -> Result<Handle<Self::Snapshot>, KernelError> {
        Handle::new(name)
    }
}

impl<G: Changeable> Maintain for G {}

/// An answer about a graph, and the snapshot that it is of.
///
/// It keeps that snapshot open, and so in memory what was changed since, until the next call of [`at`](Self::at), or [`release`](Self::release).
/// It belongs to the program that made it: after the store was closed and opened it is made anew, from scratch.
#[derive(Debug)]
pub struct Handle<S> {
    kind: Kind,
    last: Option<(S, Answer)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Components,
    Degrees,
    Triangles,
    Ranks,
}

/// The names of answers that can be kept.
pub const NAMES: [&str; 4] = ["degrees", "pagerank", "tc", "wcc"];

/// An answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// `wcc`.
    Components(Components),
    /// `degrees`.
    Degrees(Degrees),
    /// `tc`.
    Triangles(Triangles),
    /// `pagerank`.
    Ranks(Ranks),
}

/// How an answer was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Of the one before, and of so many entries of lists that differ.
    FromChanges(usize),
    /// From scratch: it is the first one.
    First,
    /// From scratch: the snapshot is earlier than that of the one before, or of another graph.
    NotLater,
    /// From scratch: so many entries of lists differ that this is less work.
    TooManyChanges(usize),
}

impl<S: Changing> Handle<S> {
    /// As [`Maintain::maintain`].
    ///
    /// # Errors
    /// As of that.
    pub fn new(name: &str) -> Result<Handle<S>, KernelError> {
        let kind = match name {
            "wcc" => Kind::Components,
            "degrees" => Kind::Degrees,
            "tc" => Kind::Triangles,
            "pagerank" => Kind::Ranks,
            _ => return Err(KernelError::NoSuchKernel { name: name.to_owned() }),
        };
        Ok(Handle { kind, last: None })
    }

    /// The answer about `snapshot`, and how it was come by. Blocks until it is there; what it costs says the [module](super).
    ///
    /// # Errors
    /// [`KernelError::Topology`] where the graph cannot be read; [`KernelError::TooManyVertices`].
    pub fn at(&mut self, snapshot: &S) -> Result<(&Answer, Made), KernelError<S::Error>> {
        self.at_until(snapshot, &Cancel::new())
    }

    /// As [`at`](Self::at), until `cancel` ends it. After an error the next answer is made from scratch.
    ///
    /// # Errors
    /// As of [`at`](Self::at), and [`KernelError::Cancelled`].
    pub fn at_until(
        &mut self,
        snapshot: &S,
        cancel: &Cancel,
    ) -> Result<(&Answer, Made), KernelError<S::Error>> {
        let view = snapshot.view().map_err(KernelError::Topology)?;
        let (answer, made) = match self.last.take() {
            None => (self.kind.anew(view, cancel)?, Made::First),
            Some((earlier, _)) if !snapshot.comes_after(&earlier) => {
                (self.kind.anew(view, cancel)?, Made::NotLater)
            }
            Some((earlier, mut answer)) => {
                let changes = snapshot.changes_since(&earlier).map_err(KernelError::Topology)?;
                let differ = changes.edges.len();
                if differ as u64 > view.edge_count() / MOST_CHANGED + 1 {
                    (self.kind.anew(view, cancel)?, Made::TooManyChanges(differ))
                } else {
                    answer.update(view, &changes, cancel)?;
                    (answer, Made::FromChanges(differ))
                }
            }
        };
        let (_, answer) = self.last.insert((snapshot.clone(), answer));
        Ok((answer, made))
    }

    /// Closes the snapshot of the last answer, which is dropped: the next one is made from scratch.
    pub fn release(&mut self) {
        self.last = None;
    }
}

impl Kind {
    fn anew<G, E>(self, g: &G, cancel: &Cancel) -> Result<Answer, KernelError<E>>
    where
        G: hedgerow_core::Resident,
    {
        let made = match self {
            Kind::Components => Components::from_scratch(g, cancel).map(Answer::Components),
            Kind::Degrees => Degrees::from_scratch(g, cancel).map(Answer::Degrees),
            Kind::Triangles => Triangles::from_scratch(g, cancel).map(Answer::Triangles),
            Kind::Ranks => Ranks::from_scratch(g, cancel).map(Answer::Ranks),
        };
        made.map_err(KernelError::of_any)
    }
}

impl Answer {
    fn update<G, E>(
        &mut self,
        g: &G,
        changes: &hedgerow_core::Changes,
        cancel: &Cancel,
    ) -> Result<(), KernelError<E>>
    where
        G: hedgerow_core::Resident,
    {
        let updated = match self {
            Answer::Components(kept) => kept.update(g, changes, cancel),
            Answer::Degrees(kept) => kept.update(g, changes, cancel),
            Answer::Triangles(kept) => kept.update(g, changes, cancel),
            Answer::Ranks(kept) => kept.update(g, changes, cancel),
        };
        updated.map_err(KernelError::of_any)
    }
}
