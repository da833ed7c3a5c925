//! A named answer that is kept from snapshot to snapshot.

use hedgerow_core::{Changing, Topology};

use super::{Components, Degrees, Maintained, Ranks, Triangles};
use crate::{Cancel, KernelError};

/// A handle computes an answer from scratch if more than one list entry per `MOST_CHANGED` edges differs.
const MOST_CHANGED: u64 = 8;

/// The last answer about a graph, and its snapshot.
///
/// The handle keeps that snapshot open, so all versions that the snapshot sees stay in memory. It does not
/// keep a view. It closes the snapshot at the next call of [`at`](Self::at) or [`release`](Self::release). It
/// does not survive its store: the first answer about a store that was opened again is computed from scratch.
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

/// An answer about a graph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The answer of `wcc`.
    Components(Components),
    /// The answer of `degrees`.
    Degrees(Degrees),
    /// The answer of `tc`.
    Triangles(Triangles),
    /// The answer of `pagerank`.
    Ranks(Ranks),
}

/// The way in which a handle computed an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// An update from the last answer by this number of list entries that differ.
    FromChanges(usize),
    /// A computation from scratch: it is the first answer.
    First,
    /// A computation from scratch: the snapshot is earlier than the last one, or of another graph.
    NotLater,
    /// A computation from scratch: this number of list entries differs, so an update would be more work.
    TooManyChanges(usize),
}

impl<S: Changing> Handle<S> {
    /// Returns a handle that keeps the answer of a kernel: `wcc`, `tc`, `pagerank` or `degrees`. It computes
    /// nothing before the first [`at`](Self::at). O(1).
    ///
    /// # Errors
    /// [`KernelError::NoSuchKernel`] for other names.
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

    /// Returns the answer about `snapshot`, and how the handle computed it. Blocks until it is computed; the
    /// [module](super) states the cost.
    ///
    /// # Errors
    /// [`KernelError::Topology`] if the graph cannot be read; [`KernelError::TooManyVertices`].
    pub fn at(&mut self, snapshot: &S) -> Result<(&Answer, Made), KernelError<S::Error>> {
        self.at_until(snapshot, &Cancel::new())
    }

    /// Like [`at`](Self::at), but until `cancel` ends it. After an error the handle computes the next answer
    /// from scratch.
    ///
    /// # Errors
    /// The errors of [`at`](Self::at), and [`KernelError::Cancelled`].
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
        let (_, answer) = self.last.insert((snapshot.without_view(), answer));
        Ok((answer, made))
    }

    /// Drops the last answer and closes its snapshot: the next answer is computed from scratch.
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
