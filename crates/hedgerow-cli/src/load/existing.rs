//! The content of a store before a load, so that the summary distinguishes new edges from existing ones.

use hedgerow::{EdgeKey, Graph, Schema, Snapshot, VertexKey, VertexKeyRef};

use crate::error::CliError;

/// The edges that are looked up together, which overlaps their waits for memory.
const TOGETHER: usize = 4096;

/// The numbers of rows that name edges and vertices that the store had before the load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Existing {
    pub(super) edges: u64,
    pub(super) vertices: u64,
}

impl std::ops::AddAssign for Existing {
    fn add_assign(&mut self, other: Existing) {
        self.edges += other.edges;
        self.vertices += other.vertices;
    }
}

/// The store before the load. Dropped before the load begins, so that it keeps no replaced versions.
pub(super) struct Before {
    snapshot: Snapshot,
    schema: Schema,
}

impl Before {
    pub(super) fn of(graph: &Graph) -> Result<Before, CliError> {
        let snapshot = graph.snapshot()?;
        let schema = snapshot.schema();
        Ok(Before { snapshot, schema })
    }

    /// True if the store has the kind of a key; false if the load defines it.
    fn has_kind(&self, key: VertexKeyRef<'_>) -> bool {
        usize::from(key.split().0.0) <= self.schema.kinds().len()
    }
}

/// A look-up of the rows of a file in a store, which counts those that it has.
pub(super) struct LookUp<'a> {
    before: &'a Before,
    /// The label of the edges that wait.
    label: String,
    waiting: Vec<[VertexKey; 2]>,
    existing: Existing,
}

impl<'a> LookUp<'a> {
    pub(super) fn new(before: &'a Before) -> LookUp<'a> {
        LookUp { before, label: String::new(), waiting: Vec::new(), existing: Existing::default() }
    }

    /// Looks up a vertex. O(1).
    pub(super) fn vertex(&mut self, key: VertexKeyRef<'_>) -> Result<(), CliError> {
        let has = self.before.has_kind(key) && found(self.before.snapshot.vertex_id(key))?.is_some();
        self.existing.vertices += u64::from(has);
        Ok(())
    }

    /// Looks up an edge, now or together with others of its label. O(log degree).
    pub(super) fn edge(
        &mut self,
        label: &str,
        ends: [VertexKeyRef<'_>; 2],
        rank: Option<u64>,
    ) -> Result<(), CliError> {
        let Some(known) = self.before.schema.label(label) else { return Ok(()) };
        if !ends.iter().all(|key| self.before.has_kind(*key)) {
            return Ok(());
        }
        if known.is_multi() || rank.is_some() {
            let edge = EdgeKey::new(label, ends[0], ends[1]).rank(rank.unwrap_or(0));
            self.existing.edges += u64::from(found(self.before.snapshot.contains_edge_of(edge))?);
            return Ok(());
        }
        if self.label != label {
            self.look()?;
            label.clone_into(&mut self.label);
        }
        self.waiting.push(ends.map(VertexKeyRef::to_owned));
        if self.waiting.len() >= TOGETHER { self.look() } else { Ok(()) }
    }

    /// Looks up the edges that wait.
    fn look(&mut self) -> Result<(), CliError> {
        let edges: Vec<_> = self.waiting.iter().map(|[src, dst]| (src.as_ref(), dst.as_ref())).collect();
        let has = found(self.before.snapshot.contains_edges_of(self.label.as_str(), &edges))?;
        self.existing.edges += has.into_iter().filter(|has| *has).count() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Returns the counts, once all rows were looked up.
    pub(super) fn finish(mut self) -> Result<Existing, CliError> {
        self.look()?;
        Ok(self.existing)
    }
}

/// Treats a refusal as "not there": the store refuses the load itself later, with a better message.
fn found<T: Default>(answer: hedgerow::Result<T>) -> Result<T, CliError> {
    match answer {
        Err(hedgerow::Error::Argument(_)) => Ok(T::default()),
        answer => Ok(answer?),
    }
}
