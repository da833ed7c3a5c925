//! The state of the graph after some transactions of a stream: an independent model, plain maps from the
//! standard library, to check a store against.

use std::collections::HashMap;

use hedgerow_core::{KindId, VertexKey, VertexKeyRef};

use crate::rng::mix;
use crate::spec::LoadedGraph;
use crate::stream::{Event, Transaction};

mod hash;
#[cfg(test)]
mod tests;

use hash::MixState;

/// The live vertices and the edges of a directed graph with weights that count events. Two states are equal
/// if they have the same keys and edges, independent of their history.
///
/// Cost per event: a few hash look-ups; removing a vertex costs the edges it ever had. Cloning copies
/// everything.
#[derive(Clone, Debug, Default)]
pub struct State {
    ids: HashMap<VertexKey, u32, MixState>,
    keys: Vec<VertexKey>,
    live: Vec<bool>,
    live_count: usize,
    /// The edges, by keys with the source in the upper half and the destination in the lower.
    edges: HashMap<u64, f64, MixState>,
    /// The ends of the edges that each vertex has or had; `edges` has only the present ones. Cleared when the
    /// vertex is removed.
    outgoing: Vec<Vec<u32>>,
    incoming: Vec<Vec<u32>>,
}

/// An edge as a state lists it: source, destination, weight.
pub type KeyedEdge = (VertexKey, VertexKey, f64);

/// The difference of two states: [`State::diff`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// The number of vertices that are only in the first state, and the number only in the second.
    pub vertices: (usize, usize),
    /// The number of edges that are only in the first state, and the number only in the second.
    pub edges: (usize, usize),
    /// The number of edges in both, with different weights.
    pub weights: usize,
    /// A few of the differences in words.
    pub examples: Vec<String>,
}

/// The most examples of a [`Diff`].
const MAX_EXAMPLES: usize = 10;

impl Diff {
    /// True if there is no difference.
    pub fn is_empty(&self) -> bool {
        *self == Diff::default()
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(text());
        }
    }
}

impl State {
    /// Returns the empty graph.
    pub fn new() -> State {
        State::default()
    }

    /// Returns the state that another program reports, for comparison. Endpoints of edges count as live
    /// vertices only if `vertices` names them. So a report that forgets some of them gives another state.
    pub fn from_parts(
        vertices: impl IntoIterator<Item = VertexKey>,
        edges: impl IntoIterator<Item = KeyedEdge>,
    ) -> State {
        let mut state = State::new();
        for key in vertices {
            let id = state.intern(&key);
            state.revive(id);
        }
        for (src, dst, weight) in edges {
            let (src, dst) = (state.intern(&src), state.intern(&dst));
            state.put(src, dst, |_| weight);
        }
        state
    }

    /// Applies the events in order.
    pub fn apply(&mut self, transaction: &Transaction) {
        for event in &transaction.events {
            self.apply_event(event);
        }
    }

    /// Applies one event by the rules of [`Event`].
    pub fn apply_event(&mut self, event: &Event) {
        match event {
            Event::Upsert { src, dst } => {
                let (src, dst) = (self.intern(src), self.intern(dst));
                self.revive(src);
                self.revive(dst);
                self.put(src, dst, |old| old.unwrap_or(0.0) + 1.0);
            }
            Event::InsertVertex { vertex } => {
                let id = self.intern(vertex);
                self.revive(id);
            }
            Event::RemoveEdge { src, dst } => {
                if let (Some(&src), Some(&dst)) = (self.ids.get(src), self.ids.get(dst)) {
                    self.edges.remove(&pack(src, dst));
                }
            }
            Event::RemoveVertex { vertex, by } => {
                if let Some(by) = by {
                    let by = self.intern(by);
                    self.revive(by);
                }
                if let Some(&id) = self.ids.get(vertex) {
                    self.remove_vertex(id);
                }
            }
        }
    }

    /// Returns the number of live vertices.
    pub fn vertex_count(&self) -> usize {
        self.live_count
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Returns the sum of all weights. Exact while it is below 2^53, weights being counts.
    pub fn weight_sum(&self) -> f64 {
        self.edges.values().sum()
    }

    /// True if the vertex is live.
    pub fn contains(&self, key: VertexKeyRef<'_>) -> bool {
        self.ids.get(&key.to_owned()).is_some_and(|&id| self.live[id as usize])
    }

    /// Returns the weight of the edge, if it is there.
    pub fn weight(&self, src: VertexKeyRef<'_>, dst: VertexKeyRef<'_>) -> Option<f64> {
        let (src, dst) = (self.ids.get(&src.to_owned())?, self.ids.get(&dst.to_owned())?);
        self.edges.get(&pack(*src, *dst)).copied()
    }

    /// Returns the live vertices, in no particular order.
    pub fn vertices(&self) -> impl Iterator<Item = &VertexKey> {
        self.keys.iter().zip(&self.live).filter(|(_, live)| **live).map(|(key, _)| key)
    }

    /// Returns the edges, in no particular order.
    pub fn edges(&self) -> impl Iterator<Item = (&VertexKey, &VertexKey, f64)> {
        self.edges.iter().map(|(&edge, &weight)| {
            let (src, dst) = unpack(edge);
            (&self.keys[src as usize], &self.keys[dst as usize], weight)
        })
    }

    /// Returns the live vertices, ascending.
    pub fn sorted_vertices(&self) -> Vec<VertexKey> {
        let mut vertices: Vec<VertexKey> = self.vertices().cloned().collect();
        vertices.sort_unstable();
        vertices
    }

    /// Returns the edges, ascending by source and destination.
    pub fn sorted_edges(&self) -> Vec<KeyedEdge> {
        let mut edges: Vec<KeyedEdge> = self.edges().map(|(u, v, w)| (u.clone(), v.clone(), w)).collect();
        edges.sort_unstable_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        edges
    }

    /// Returns a number that equal states share and different ones almost surely do not. O(vertices + edges).
    pub fn digest(&self) -> u64 {
        let hashes: Vec<u64> = self.keys.iter().map(hash_key).collect();
        let live = hashes.iter().zip(&self.live).filter(|(_, live)| **live);
        let vertices = live.fold(0u64, |sum, (hash, _)| sum.wrapping_add(mix(*hash)));
        self.edges.iter().fold(vertices, |sum, (&edge, weight)| {
            let (src, dst) = unpack(edge);
            let pair = mix(hashes[src as usize]).rotate_left(1) ^ mix(hashes[dst as usize] ^ 1);
            sum.wrapping_add(mix(mix(pair) ^ weight.to_bits()))
        })
    }

    /// Returns the difference of `other` from this state; empty if the states are equal. O(vertices + edges)
    /// of both.
    pub fn diff(&self, other: &State) -> Diff {
        let mut diff = Diff::default();
        for key in self.vertices().filter(|key| !other.contains(key.as_ref())) {
            diff.vertices.0 += 1;
            diff.note(|| format!("vertex {key} only in the first"));
        }
        for key in other.vertices().filter(|key| !self.contains(key.as_ref())) {
            diff.vertices.1 += 1;
            diff.note(|| format!("vertex {key} only in the second"));
        }
        for (src, dst, weight) in self.edges() {
            match other.weight(src.as_ref(), dst.as_ref()) {
                None => {
                    diff.edges.0 += 1;
                    diff.note(|| format!("edge {src} to {dst} only in the first"));
                }
                Some(found) if found.to_bits() != weight.to_bits() => {
                    diff.weights += 1;
                    diff.note(|| format!("edge {src} to {dst} has weight {weight} against {found}"));
                }
                Some(_) => {}
            }
        }
        for (src, dst, _) in other.edges() {
            if self.weight(src.as_ref(), dst.as_ref()).is_none() {
                diff.edges.1 += 1;
                diff.note(|| format!("edge {src} to {dst} only in the second"));
            }
        }
        diff
    }

    /// Returns the subset of `in_flight` that, applied to this state in the given order, makes `observed`;
    /// `None` if no subset does. Tries all 2^n, the empty one first; transactions after the 16th count as not
    /// applied.
    pub fn explain(&self, in_flight: &[&Transaction], observed: &State) -> Option<Vec<bool>> {
        let count = in_flight.len().min(16);
        let target = observed.digest();
        (0u32..1 << count).find_map(|subset| {
            let chosen: Vec<bool> = (0..in_flight.len()).map(|i| i < count && subset >> i & 1 == 1).collect();
            let mut state = self.clone();
            for (transaction, _) in in_flight.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
                state.apply(transaction);
            }
            (state.digest() == target && state.diff(observed).is_empty()).then_some(chosen)
        })
    }

    /// Returns the graph with its vertices numbered densely, in the order of their keys.
    pub fn to_graph(&self) -> LoadedGraph {
        let mut live: Vec<u32> = (0..self.keys.len() as u32).filter(|&id| self.live[id as usize]).collect();
        live.sort_unstable_by_key(|&id| &self.keys[id as usize]);
        let mut dense = vec![u32::MAX; self.keys.len()];
        (0u32..).zip(&live).for_each(|(new, &old)| dense[old as usize] = new);
        let (edges, weights): (Vec<(u32, u32)>, Vec<f64>) = self
            .edges
            .iter()
            .map(|(&edge, &weight)| {
                let (src, dst) = unpack(edge);
                ((dense[src as usize], dense[dst as usize]), weight)
            })
            .unzip();
        LoadedGraph {
            name: "state".to_owned(),
            vertices: live.len(),
            directed: true,
            edges,
            weights: Some(weights),
            keys: Some(live.into_iter().map(|id| self.keys[id as usize].clone()).collect()),
            in_time_order: false,
        }
    }

    fn intern(&mut self, key: &VertexKey) -> u32 {
        if let Some(&id) = self.ids.get(key) {
            return id;
        }
        let id = self.keys.len() as u32;
        self.ids.insert(key.clone(), id);
        self.keys.push(key.clone());
        self.live.push(false);
        self.outgoing.push(Vec::new());
        self.incoming.push(Vec::new());
        id
    }

    fn revive(&mut self, id: u32) {
        let live = &mut self.live[id as usize];
        self.live_count += usize::from(!*live);
        *live = true;
    }

    fn put(&mut self, src: u32, dst: u32, weight: impl FnOnce(Option<f64>) -> f64) {
        let old = self.edges.get(&pack(src, dst)).copied();
        self.edges.insert(pack(src, dst), weight(old));
        if old.is_none() {
            self.outgoing[src as usize].push(dst);
            self.incoming[dst as usize].push(src);
        }
    }

    fn remove_vertex(&mut self, id: u32) {
        let v = id as usize;
        self.live_count -= usize::from(self.live[v]);
        self.live[v] = false;
        for dst in std::mem::take(&mut self.outgoing[v]) {
            self.edges.remove(&pack(id, dst));
        }
        for src in std::mem::take(&mut self.incoming[v]) {
            self.edges.remove(&pack(src, id));
        }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.vertex_count() == other.vertex_count()
            && self.edge_count() == other.edge_count()
            && self.diff(other).is_empty()
    }
}

#[inline]
fn pack(src: u32, dst: u32) -> u64 {
    u64::from(src) << 32 | u64::from(dst)
}

#[inline]
fn unpack(edge: u64) -> (u32, u32) {
    ((edge >> 32) as u32, edge as u32)
}

fn hash_key(key: &VertexKey) -> u64 {
    let hash = match key {
        VertexKey::U64(n) | VertexKey::KindU64(_, n) => mix(*n),
        VertexKey::Str(text) | VertexKey::KindStr(_, text) => {
            text.bytes().fold(0x0053_5452, |hash, byte| mix(hash ^ u64::from(byte)))
        }
    };
    match key.kind() {
        KindId::DEFAULT => hash,
        kind => mix(hash ^ u64::from(kind.0) << 32),
    }
}
