//! Weakly connected components, as a kept answer.
//!
//! **Result.** Like [`wcc`](crate::wcc()): the least vertex id of each vertex's component.
//!
//! **Inserted edges** join components: the larger name is replaced by the smaller one (`rename`). A search
//! visits the vertices of the component that loses its name; if there are many, a pass over all vertices
//! takes less time.
//!
//! **Removed edges.** The kernel keeps a *certificate*: a part of the edges that has the same components as
//! all edges, at first a spanning forest. Removing an edge outside the certificate changes no component. Few
//! edges of a real graph are in it, since a forest has fewer edges than vertices. If an edge of the
//! certificate is removed, the end whose tree is cut off looks for a neighbor in the tree of the other end:
//! its edge replaces the removed one. If none of a few neighbors is there, a bidirectional search runs on the
//! present graph. If the search connects the ends, its path joins the certificate. If one half visits a whole
//! component, that component is separate now and gets its own name.
//!
//! **Why the other vertices are right.** Call the vertices that had one name before a *group*. With the
//! removed edges put back, a group is one component; so each component into which a group splits has an end
//! of a removed edge. The search of that edge either connected both ends, or separated the component of one
//! end. The other end is then connected, by the same search, with one representative of its group
//! (`connect_with_group`), or separated too. So in the end all vertices that still have the group's name are
//! connected. The paths found and the search trees of separated components make the certificate one of the
//! present graph.
//!
//! **Cited.** M. Henzinger, V. King, *Randomized fully dynamic graph algorithms with polylogarithmic time per
//! operation*, JACM 1999, for keeping a certificate whose edges are replaced by search; the bidirectional
//! search goes back to Y. Shiloach, S. Even, *An on-line edge-deletion problem*, JACM 1981.
//!
//! **Cost.** O(changes). If components join, the smaller of O(vertices) and O(edges of the components that
//! lose their name). If a component loses its least vertex, O(vertices). For each removed edge of the
//! certificate, the read of a few neighbors or a search, at worst O(edges) each. 8 bytes per id of the
//! domain.

use std::collections::{HashMap, HashSet};

use hedgerow_core::{Changes, EdgeChange, EdgeChangeKind, Resident, VertexId};
use rayon::prelude::*;

use super::Maintained;
use crate::error::checked_bound;
use crate::par::CHUNK_VERTICES;
use crate::wcc::NO_COMPONENT;
use crate::{Cancel, KernelError};

mod certificate;
mod rename;
mod search;

use certificate::Certificate;
use search::{Connection, connection};

/// The component of every vertex, as a kept answer. See the [module](self).
#[derive(Clone, Debug)]
pub struct Components {
    /// The least vertex of the component, which names it; [`NO_COMPONENT`] for holes.
    names: Vec<u32>,
    certificate: Certificate,
}

impl Components {
    /// Returns for every vertex the least vertex of its component, by id; [`NO_COMPONENT`] for holes.
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

    /// Returns the name that replaces `name` while components are being joined.
    fn root(&self, mut name: u32) -> u32 {
        while let Some(&next) = self.names.get(name as usize).filter(|&&next| next != name) {
            name = next;
        }
        name
    }

    /// Joins the components that inserted edges connect, and renames their vertices.
    fn join<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError> {
        let mut joined = Vec::new();
        for edge in once_each(g, changes, EdgeChangeKind::Inserted) {
            let (a, b) = (self.name(edge.src), self.name(edge.dst));
            if a == b {
                continue;
            }
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                continue;
            }
            joined.push(a.max(b));
            self.set_name(VertexId(a.max(b)), a.min(b));
            self.certificate.join(edge.src, edge.dst);
        }
        let ends = joined.into_iter().map(|name| (name, self.root(name))).collect();
        rename::rename(g, changes, &mut self.names, ends);
        cancel.check()
    }
}

/// Returns the edges with this `kind` of change. An undirected edge is in the lists of both ends, but is
/// returned once.
fn once_each<'a, G: Resident>(
    g: &G,
    changes: &'a Changes,
    kind: EdgeChangeKind,
) -> impl Iterator<Item = &'a EdgeChange> {
    let directed = g.is_directed();
    changes.edges.iter().filter(move |edge| edge.kind == kind && (directed || edge.src <= edge.dst))
}

/// The groups that lost edges of the certificate.
struct SplitGroups<'a, G> {
    g: &'a G,
    cancel: &'a Cancel,
    /// The vertex of each group with which its other vertices are compared, by the group's name.
    representatives: HashMap<u32, VertexId>,
    /// The names of components that searches separated from their groups.
    separated: HashSet<u32>,
}

impl<G: Resident> SplitGroups<'_, G> {
    /// Restores names and certificate after the removal of an edge of the certificate.
    fn repair(&mut self, kept: &mut Components, a: VertexId, b: VertexId) -> Result<(), KernelError> {
        if kept.name(a) == kept.name(b) {
            if kept.certificate.connects(a, b) {
                return Ok(());
            }
            match connection(self.g, a, b, self.cancel)? {
                Connection::Path(path) => {
                    kept.certificate.add_path(&path);
                    return Ok(());
                }
                Connection::Separate { component, other } => {
                    self.separate(kept, &component)?;
                    return self.connect_with_group(kept, other);
                }
            }
        }
        // An earlier search separated the component of one end; the other end may still have the group's
        // name.
        self.connect_with_group(kept, a)?;
        self.connect_with_group(kept, b)
    }

    /// Connects `v` with the representative of its group, or separates the component of one of the two.
    fn connect_with_group(&mut self, kept: &mut Components, v: VertexId) -> Result<(), KernelError> {
        let name = kept.name(v);
        if self.separated.contains(&name) {
            return Ok(());
        }
        let Some(&representative) = self.representatives.get(&name) else {
            self.representatives.insert(name, v);
            return Ok(());
        };
        if kept.certificate.connects(representative, v) {
            return Ok(());
        }
        match connection(self.g, representative, v, self.cancel)? {
            Connection::Path(path) => {
                kept.certificate.add_path(&path);
                Ok(())
            }
            Connection::Separate { component, other } => {
                self.representatives.insert(name, other);
                self.separate(kept, &component)
            }
        }
    }

    /// Names a whole component after its least vertex, and renames its former group if that vertex had named
    /// the group.
    fn separate(
        &mut self,
        kept: &mut Components,
        component: &[(VertexId, VertexId)],
    ) -> Result<(), KernelError> {
        // The certificate may have connected the component through vertices that are in another component
        // now.
        kept.certificate.set_tree(component);
        let Some(least) = component.iter().map(|(v, _)| v).min() else { return Ok(()) };
        let group = kept.name(*least);
        component.iter().for_each(|&(v, _)| kept.set_name(v, NO_COMPONENT));
        if least.0 == group {
            self.cancel.check()?;
            let chunks = kept.names.par_chunks(CHUNK_VERTICES).enumerate();
            let least_in = |(chunk, names): (usize, &[u32])| {
                names.iter().position(|&name| name == group).map(|at| (chunk * CHUNK_VERTICES + at) as u32)
            };
            let first = hedgerow_par::map(chunks, least_in).into_iter().flatten().next();
            if let Some(first) = first {
                hedgerow_par::for_each(kept.names.par_chunks_mut(CHUNK_VERTICES), |names| {
                    names.iter_mut().filter(|name| **name == group).for_each(|name| *name = first);
                });
                if let Some(representative) = self.representatives.remove(&group) {
                    self.representatives.insert(first, representative);
                }
            }
        }
        component.iter().for_each(|&(v, _)| kept.set_name(v, least.0));
        self.separated.insert(least.0);
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
        let inserted = changes.vertices.iter().filter(|(_, inserted)| *inserted);
        inserted.for_each(|&(v, _)| self.set_name(v, v.0));
        self.join(g, changes, cancel)?;
        let mut to_repair = Vec::new();
        for edge in once_each(g, changes, EdgeChangeKind::Removed) {
            if edge.src != edge.dst && self.certificate.remove(edge.src, edge.dst) {
                to_repair.push((edge.src, edge.dst));
            }
        }
        self.certificate.relink(g, &mut to_repair);
        let mut groups =
            SplitGroups { g, cancel, representatives: HashMap::new(), separated: HashSet::new() };
        to_repair.into_iter().try_for_each(|(a, b)| groups.repair(self, a, b))?;
        let removed = changes.vertices.iter().filter(|(_, inserted)| !inserted);
        removed.for_each(|&(v, _)| self.set_name(v, NO_COMPONENT));
        if self.certificate.is_scattered() {
            self.certificate = Certificate::forest(g, cancel)?;
        }
        Ok(())
    }
}
