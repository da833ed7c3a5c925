//! Weakly connected components, kept.
//!
//! **Result.** As of [`wcc`](crate::wcc()): the least vertex id of each vertex's component.
//!
//! **Edges that came** join components: the larger name leads to the smaller one, and one pass over the vertices renames those that are concerned.
//!
//! **Edges that went.** A *certificate* is kept: a part of the edges that connects what all of them do, at first a forest. An edge that went and is not in
//! it changes nothing, and of a real graph few are: a forest has fewer edges than vertices. For one that is in it the graph as it is now is
//! searched from both its ends, a vertex at a time where less is to be read. Where the searches meet, the way between the ends goes into the certificate. Where one ends, it
//! has found a component of its own, whole, which gets its name.
//!
//! **Why the rest is right.** Call what had one name before a *group*. When the edges that went are added to the graph again, a group is one component; so
//! each component that a group falls into has an edge that went. Each of these edges was searched: either its ends are still connected, or
//! one of them lies in a component that was found whole and named. The other end is then compared with what else is left of its group
//! (`settle`): with one vertex, kept for each group, by the same search. So at the end all that still has the group's name is connected. The ways that were found, and the trees of
//! the components that were found whole, make the certificate one of the graph as it is now.
//!
//! **Cited.** M. Henzinger, V. King, *Randomized fully dynamic graph algorithms with polylogarithmic time per operation*, JACM 1999, for keeping a certificate whose
//! edges are replaced by search; the searches from both ends go back to Y. Shiloach, S. Even, *An on-line edge-deletion problem*, JACM 1981.
//!
//! **Cost.** O(changes); O(vertices) where components joined, or lost their least vertex; and for edges of the certificate that went their searches, in the worst case
//! O(edges) for each. 8 bytes per id of the domain.

use std::collections::{HashMap, HashSet};

use hedgerow_core::{Changes, EdgeChangeKind, Resident, VertexId};
use rayon::prelude::*;

use super::Maintained;
use crate::error::checked_bound;
use crate::par::CHUNK_VERTICES;
use crate::wcc::NO_COMPONENT;
use crate::{Cancel, KernelError};

mod certificate;
mod search;

use certificate::Certificate;
use search::{Met, search};

/// The component of every vertex, kept. See the [module](self).
#[derive(Clone, Debug)]
pub struct Components {
    /// The least vertex of the component, which names it; [`NO_COMPONENT`] for holes.
    names: Vec<u32>,
    certificate: Certificate,
}

impl Components {
    /// The component of every vertex by id, named by its least vertex; [`NO_COMPONENT`] for holes.
    pub fn names(&self) -> &[u32] {
        &self.names
    }

    fn name(&self, v: VertexId) -> u32 {
        self.names.get(v.index()).copied().unwrap_or(NO_COMPONENT)
    }

    fn set_name(&mut self, v: VertexId, name: u32) {
        if let Some(slot) = self.names.get_mut(v.index()) {
            *slot = name;
        }
    }

    /// The name that a name leads to while components are being joined.
    fn root(&self, mut name: u32) -> u32 {
        while let Some(&next) = self.names.get(name as usize).filter(|&&next| next != name) {
            name = next;
        }
        name
    }

    /// Joins components by the edges that came. Vertices have the names that names lead to afterwards.
    fn join(&mut self, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError> {
        let mut joined = Vec::new();
        for edge in changes.edges.iter().filter(|edge| edge.kind == EdgeChangeKind::Inserted) {
            let (a, b) = (self.root(self.name(edge.src)), self.root(self.name(edge.dst)));
            if a == b {
                continue;
            }
            joined.push(a.max(b));
            self.set_name(VertexId(a.max(b)), a.min(b));
            self.certificate.add(edge.src, edge.dst);
        }
        if !joined.is_empty() {
            self.rename(&joined);
        }
        cancel.check()
    }

    /// Gives each vertex whose name was `joined` with a smaller one the name that this leads to.
    fn rename(&mut self, joined: &[u32]) {
        let ends: HashMap<u32, u32> = joined.iter().map(|&name| (name, self.root(name))).collect();
        // Nearly all names stay: a bit tells them.
        let mut bits = vec![0u64; self.names.len().div_ceil(64)];
        joined.iter().for_each(|&name| bits[name as usize / 64] |= 1 << (name % 64));
        hedgerow_par::for_each(self.names.par_chunks_mut(CHUNK_VERTICES), |names| {
            for name in names {
                let is_joined =
                    bits.get(*name as usize / 64).is_some_and(|word| word >> (*name % 64) & 1 != 0);
                if is_joined && let Some(&end) = ends.get(name) {
                    *name = end;
                }
            }
        });
    }
}

/// What is known of groups that lost edges of the certificate.
struct Splitting<'a, G> {
    g: &'a G,
    cancel: &'a Cancel,
    /// A vertex of what is left of each group, by name.
    rest: HashMap<u32, VertexId>,
    /// The names of components that were found whole.
    whole: HashSet<u32>,
}

impl<G: Resident> Splitting<'_, G> {
    /// Takes an edge out that was in the certificate.
    fn take_out(&mut self, kept: &mut Components, a: VertexId, b: VertexId) -> Result<(), KernelError> {
        if kept.name(a) == kept.name(b) {
            match search(self.g, a, b, self.cancel)? {
                Met::Way(way) => {
                    way.iter().zip(way.iter().skip(1)).for_each(|(&u, &v)| kept.certificate.add(u, v));
                    return Ok(());
                }
                Met::Ended { whole, other } => {
                    self.name_whole(kept, &whole)?;
                    return self.settle(kept, other);
                }
            }
        }
        // One of the two was found whole; the other one may be what is left of the group.
        self.settle(kept, a)?;
        self.settle(kept, b)
    }

    /// Makes sure that a vertex is connected with what is left of its group.
    fn settle(&mut self, kept: &mut Components, v: VertexId) -> Result<(), KernelError> {
        let name = kept.name(v);
        if self.whole.contains(&name) {
            return Ok(());
        }
        let Some(&rest) = self.rest.get(&name) else {
            self.rest.insert(name, v);
            return Ok(());
        };
        match search(self.g, rest, v, self.cancel)? {
            Met::Way(way) => {
                way.iter().zip(way.iter().skip(1)).for_each(|(&u, &v)| kept.certificate.add(u, v));
                Ok(())
            }
            Met::Ended { whole, other } => {
                self.rest.insert(name, other);
                self.name_whole(kept, &whole)
            }
        }
    }

    /// Names a component that was found whole, and what is left of its group if that lost its least vertex.
    fn name_whole(
        &mut self,
        kept: &mut Components,
        whole: &[(VertexId, VertexId)],
    ) -> Result<(), KernelError> {
        // What connected it may have led through what it is not connected with any more.
        kept.certificate.set_tree(whole);
        let Some(least) = whole.iter().map(|(v, _)| v).min() else { return Ok(()) };
        let group = kept.name(*least);
        whole.iter().for_each(|&(v, _)| kept.set_name(v, NO_COMPONENT));
        if least.0 == group {
            self.cancel.check()?;
            let rest = kept.names.par_chunks(CHUNK_VERTICES).enumerate();
            let least_in = |(chunk, names): (usize, &[u32])| {
                names.iter().position(|&name| name == group).map(|at| (chunk * CHUNK_VERTICES + at) as u32)
            };
            let first = hedgerow_par::map(rest, least_in).into_iter().flatten().next();
            if let Some(first) = first {
                hedgerow_par::for_each(kept.names.par_chunks_mut(CHUNK_VERTICES), |names| {
                    names.iter_mut().filter(|name| **name == group).for_each(|name| *name = first);
                });
                if let Some(rest) = self.rest.remove(&group) {
                    self.rest.insert(first, rest);
                }
            }
        }
        whole.iter().for_each(|&(v, _)| kept.set_name(v, least.0));
        self.whole.insert(least.0);
        Ok(())
    }
}

impl Maintained for Components {
    fn from_scratch<G: Resident>(g: &G, cancel: &Cancel) -> Result<Self, KernelError> {
        checked_bound::<std::convert::Infallible>(g.vertex_bound())?;
        let names = crate::wcc_until(g, cancel)?;
        let certificate = Certificate::forest(g, cancel)?;
        Ok(Components { names, certificate })
    }

    fn update<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError> {
        let bound = checked_bound(g.vertex_bound())?;
        self.names.resize(bound, NO_COMPONENT);
        self.certificate.resize(bound);
        let came = changes.vertices.iter().filter(|(_, came)| *came);
        came.for_each(|&(v, _)| self.set_name(v, v.0));
        self.join(changes, cancel)?;
        let mut taken_out = Vec::new();
        for edge in changes.edges.iter().filter(|edge| edge.kind == EdgeChangeKind::Removed) {
            // Of an undirected edge both copies are told: the second one is not in the certificate any more.
            if edge.src != edge.dst && self.certificate.remove(edge.src, edge.dst) {
                taken_out.push((edge.src, edge.dst));
            }
        }
        let mut splitting = Splitting { g, cancel, rest: HashMap::new(), whole: HashSet::new() };
        taken_out.into_iter().try_for_each(|(a, b)| splitting.take_out(self, a, b))?;
        let went = changes.vertices.iter().filter(|(_, came)| !came);
        went.for_each(|&(v, _)| self.set_name(v, NO_COMPONENT));
        if self.certificate.is_scattered() {
            self.certificate = Certificate::forest(g, cancel)?;
        }
        Ok(())
    }
}
