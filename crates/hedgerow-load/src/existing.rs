//! Look-ups in a store before a load, so that the summary distinguishes new edges from existing ones.

use hedgerow::{EdgeKey, Graph, Schema, Snapshot, VertexKey, VertexKeyRef};

use crate::Error;

/// The number of edges that are looked up together, so that their cache misses overlap.
const TOGETHER: usize = 4096;

/// The numbers of rows whose edge or vertex the store had before the load.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Existing {
    pub(crate) edges: u64,
    pub(crate) vertices: u64,
}

impl std::ops::AddAssign for Existing {
    fn add_assign(&mut self, other: Existing) {
        self.edges += other.edges;
        self.vertices += other.vertices;
    }
}

/// A snapshot of the store before the load. It is dropped before the load begins, so that it pins no replaced
/// versions.
pub(crate) struct Before {
    snapshot: Snapshot,
    schema: Schema,
}

impl Before {
    pub(crate) fn of(graph: &Graph) -> Result<Before, Error> {
        let snapshot = graph.snapshot()?;
        let schema = snapshot.schema();
        Ok(Before { snapshot, schema })
    }

    /// True if the store already has the kind of a key; false if the load will define it.
    fn has_kind(&self, key: VertexKeyRef<'_>) -> bool {
        usize::from(key.split().0.0) <= self.schema.kinds().len()
    }
}

/// The look-up of a file's rows in a store. It counts the rows whose edge or vertex the store has.
pub(crate) struct LookUp<'a> {
    before: &'a Before,
    /// The label of the edges that wait for their look-up.
    label: String,
    waiting: Vec<[VertexKey; 2]>,
    existing: Existing,
}

impl<'a> LookUp<'a> {
    pub(crate) fn new(before: &'a Before) -> LookUp<'a> {
        LookUp { before, label: String::new(), waiting: Vec::new(), existing: Existing::default() }
    }

    /// Looks up a vertex. O(1).
    pub(crate) fn vertex(&mut self, key: VertexKeyRef<'_>) -> Result<(), Error> {
        let has = self.before.has_kind(key) && found(self.before.snapshot.vertex_id(key))?.is_some();
        self.existing.vertices += u64::from(has);
        Ok(())
    }

    /// Looks up an edge, immediately or later together with others of its label. O(log degree).
    pub(crate) fn edge(
        &mut self,
        label: &str,
        ends: [VertexKeyRef<'_>; 2],
        rank: Option<u64>,
    ) -> Result<(), Error> {
        let Some(known) = self.before.schema.label(label) else { return Ok(()) };
        if !ends.iter().all(|key| self.before.has_kind(*key)) {
            return Ok(());
        }
        if known.is_multi() || rank.is_some() {
            let edge = EdgeKey::new(label, ends[0], ends[1]).rank(rank.unwrap_or(0));
            self.existing.edges += u64::from(found(self.before.snapshot.contains_edge(edge))?);
            return Ok(());
        }
        if self.label != label {
            self.look()?;
            label.clone_into(&mut self.label);
        }
        self.waiting.push(ends.map(VertexKeyRef::to_owned));
        if self.waiting.len() >= TOGETHER { self.look() } else { Ok(()) }
    }

    /// Looks up the edges that wait for it.
    fn look(&mut self) -> Result<(), Error> {
        let edges: Vec<_> = self.waiting.iter().map(|[src, dst]| (src.as_ref(), dst.as_ref())).collect();
        let has = found(self.before.snapshot.contains_edges(&edges, self.label.as_str()))?;
        self.existing.edges += has.into_iter().filter(|has| *has).count() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Returns the counts. All rows must have been added.
    pub(crate) fn finish(mut self) -> Result<Existing, Error> {
        self.look()?;
        Ok(self.existing)
    }
}

/// Treats a refusal of the store as "not found": the load will be refused later, with a better message.
fn found<T: Default>(answer: hedgerow::Result<T>) -> Result<T, Error> {
    match answer {
        Err(hedgerow::Error::Argument(_)) => Ok(T::default()),
        answer => Ok(answer?),
    }
}
