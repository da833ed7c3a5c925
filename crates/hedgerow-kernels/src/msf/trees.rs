//! Trees that edges join.

/// Which vertices the forest has joined: a parent for each, that of a root is itself.
pub(super) struct Trees(Vec<u32>);

impl Trees {
    pub(super) fn new(count: usize) -> Trees {
        Trees((0..count as u32).collect())
    }

    pub(super) fn clear(&mut self) {
        (0..).zip(&mut self.0).for_each(|(v, parent)| *parent = v);
    }

    /// Returns the root of the tree of `v`. Points vertices on the way farther up.
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

    /// Joins the trees of `u` and `v`; whether they were two.
    #[inline]
    pub(super) fn join(&mut self, u: u32, v: u32) -> bool {
        let (u, v) = (self.root(u), self.root(v));
        // The lesser root stays: which one does changes the time alone.
        self.0[u.max(v) as usize] = u.min(v);
        u != v
    }

    /// Points each vertex at its root.
    pub(super) fn flatten(&mut self) {
        (0..self.0.len() as u32).for_each(|v| self.0[v as usize] = self.root(v));
    }

    /// True if two vertices have the same parent: after [`flatten`](Self::flatten), whether they are in one
    /// tree.
    #[inline]
    pub(super) fn have_one_parent(&self, u: u32, v: u32) -> bool {
        self.0[u as usize] == self.0[v as usize]
    }
}
