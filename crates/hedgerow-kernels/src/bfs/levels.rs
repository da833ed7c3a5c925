//! The vertices that a search reached, level by level.

use hedgerow_core::VertexId;

/// The vertices that a search reached, level by level. The order within a level depends on threads.
pub(crate) struct Levels {
    vertices: Vec<VertexId>,
    /// The place where each level ends. There are at most 2^32 vertices, and no more levels than vertices.
    ends: Vec<u32>,
}

impl Levels {
    /// Returns no levels, with room for `vertices` vertices.
    pub(crate) fn new(vertices: usize) -> Levels {
        Levels { vertices: Vec::with_capacity(vertices), ends: Vec::new() }
    }

    /// Adds a level behind the others.
    pub(crate) fn add(&mut self, level: &[VertexId]) {
        self.vertices.extend_from_slice(level);
        self.ends.push(self.vertices.len() as u32);
    }

    /// Removes all levels.
    pub(crate) fn clear(&mut self) {
        self.vertices.clear();
        self.ends.clear();
    }

    /// Returns the number of levels, including the level of the source.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the vertices of a level; none if there is no such level.
    pub(crate) fn level(&self, at: usize) -> &[VertexId] {
        let from = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).map_or(&[], |&end| &self.vertices[from as usize..end as usize])
    }

    /// Returns all vertices reached.
    pub(crate) fn all(&self) -> &[VertexId] {
        &self.vertices
    }
}
