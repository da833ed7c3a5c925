//! What a search reached, level by level.

use hedgerow_core::VertexId;

/// The vertices that a search reached, those of a level together, in an order that depends on threads.
pub(crate) struct Levels {
    vertices: Vec<VertexId>,
    /// Where each level ends. There are no more vertices than 32 bits count, and as many levels where each has one vertex.
    ends: Vec<u32>,
}

impl Levels {
    /// No levels, with room for so many vertices.
    pub(crate) fn new(vertices: usize) -> Levels {
        Levels { vertices: Vec::with_capacity(vertices), ends: Vec::new() }
    }

    /// Adds one behind the others.
    pub(crate) fn add(&mut self, level: &[VertexId]) {
        self.vertices.extend_from_slice(level);
        self.ends.push(self.vertices.len() as u32);
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.vertices.clear();
        self.ends.clear();
    }

    /// The number of levels, that of the source among them.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The vertices of a level; none where there is no such level.
    pub(crate) fn level(&self, at: usize) -> &[VertexId] {
        let from = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).map_or(&[], |&end| &self.vertices[from as usize..end as usize])
    }

    /// All vertices reached.
    pub(crate) fn all(&self) -> &[VertexId] {
        &self.vertices
    }
}
