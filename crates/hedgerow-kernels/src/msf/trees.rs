//! Trees that edges join.

/// The trees of the forest: a parent for each vertex; a root is its own parent.
pub(super) struct Trees(Vec<u32>);

impl Trees {
    pub(super) fn new(count: usize) -> Trees {
        Trees((0..count as u32).collect())
    }

    pub(super) fn clear(&mut self) {
        (0..).zip(&mut self.0).for_each(|(v, parent)| *parent = v);
    }

    /// Returns the root of the tree of `v`. Moves vertices on the way nearer to the root.
    #[inline]
    pub(super) fn root(&mut self, mut v: u32) -> u32 {
        loop {
            let parent = self.0[v as usize];
            if parent == v {
                return v;
            }
            let above = self.0[parent as usize];
            self.0[v as usize] = above;
            v = above;
        }
    }

    /// Joins the trees of `u` and `v`; true if they were two.
    #[inline]
    pub(super) fn join(&mut self, u: u32, v: u32) -> bool {
        let (u, v) = (self.root(u), self.root(v));
        // The lesser root stays: the choice affects the time alone.
        self.0[u.max(v) as usize] = u.min(v);
        u != v
    }

    /// Points each vertex at its root.
    pub(super) fn flatten(&mut self) {
        (0..self.0.len() as u32).for_each(|v| self.0[v as usize] = self.root(v));
    }

    /// True if two vertices have the same parent: after [`flatten`](Self::flatten), if they are in one tree.
    #[inline]
    pub(super) fn have_one_parent(&self, u: u32, v: u32) -> bool {
        self.0[u as usize] == self.0[v as usize]
    }
}
