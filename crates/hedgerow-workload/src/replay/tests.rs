//! Tests of the model against a simpler one, and of its comparisons.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::VertexKey;

use super::State;
use crate::rng::Rng;
use crate::stream::{Event, Transaction};

fn random_event(rng: &mut Rng) -> Event {
    let mut key = || VertexKey::U64(rng.below(12) * 1000);
    let (src, dst) = (key(), key());
    match rng.below(10) {
        0 => Event::RemoveVertex { by: (dst != src).then_some(dst), vertex: src },
        1 => Event::InsertVertex { vertex: src },
        2 | 3 => Event::RemoveEdge { src, dst },
        _ => Event::Upsert { src, dst },
    }
}

/// The rules of [`Event`] in their simplest form.
#[derive(Default)]
struct Plain {
    vertices: BTreeSet<VertexKey>,
    edges: BTreeMap<(VertexKey, VertexKey), f64>,
}

impl Plain {
    fn apply(&mut self, event: &Event) {
        match event.clone() {
            Event::Upsert { src, dst } => {
                self.vertices.extend([src.clone(), dst.clone()]);
                *self.edges.entry((src, dst)).or_default() += 1.0;
            }
            Event::InsertVertex { vertex } => {
                self.vertices.insert(vertex);
            }
            Event::RemoveEdge { src, dst } => {
                self.edges.remove(&(src, dst));
            }
            Event::RemoveVertex { vertex, by } => {
                self.vertices.extend(by);
                self.vertices.remove(&vertex);
                self.edges.retain(|(src, dst), _| *src != vertex && *dst != vertex);
            }
        }
    }
}

#[test]
fn agrees_with_plain_rules() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let (mut state, mut plain) = (State::new(), Plain::default());
        for _ in 0..400 {
            let event = random_event(&mut rng);
            state.apply_event(&event);
            plain.apply(&event);
            assert_eq!(state.vertex_count(), plain.vertices.len());
            assert_eq!(state.edge_count(), plain.edges.len());
        }
        assert_eq!(state.sorted_vertices(), plain.vertices.iter().cloned().collect::<Vec<_>>());
        let edges = plain.edges.iter().map(|((u, v), w)| (u.clone(), v.clone(), *w));
        assert_eq!(state.sorted_edges(), edges.clone().collect::<Vec<_>>());
        let other = State::from_parts(plain.vertices.iter().cloned(), edges);
        assert_eq!((state.digest(), state.diff(&other).is_empty()), (other.digest(), true));
        assert!(state == other);
        let graph = state.to_graph();
        assert_eq!((graph.vertices, graph.edges.len()), (plain.vertices.len(), plain.edges.len()));
        assert_eq!(graph.keys, Some(state.sorted_vertices()));
        let keyed = graph.edges.iter().map(|&(u, v)| (graph.key(u), graph.key(v)));
        let keyed = keyed.zip(graph.weights.iter().flatten().copied());
        assert_eq!(keyed.collect::<BTreeMap<_, _>>(), plain.edges);
    }
}

fn transaction(index: u64, pairs: &[(u64, u64)]) -> Transaction {
    let upsert = |&(u, v): &(u64, u64)| Event::Upsert { src: VertexKey::U64(u), dst: VertexKey::U64(v) };
    Transaction { index, events: pairs.iter().map(upsert).collect() }
}

#[test]
fn differences_are_seen() {
    let mut state = State::new();
    state.apply(&transaction(0, &[(1, 2), (2, 3)]));
    let key = VertexKey::U64;
    let edges = [(key(1), key(2), 1.0), (key(2), key(3), 1.0)];
    let full = [key(1), key(2), key(3)];
    let whole = State::from_parts(full.clone(), edges.clone());
    assert!(whole == state);
    let lost_vertex = State::from_parts([key(1), key(2)], edges.clone());
    assert_eq!(state.diff(&lost_vertex).vertices, (1, 0));
    assert!(lost_vertex != state && lost_vertex.digest() != state.digest());
    let lost_edge = State::from_parts(full.clone(), [edges[0].clone()]);
    assert_eq!((state.diff(&lost_edge).edges, lost_edge.diff(&state).edges), ((1, 0), (0, 1)));
    let turned = State::from_parts(full.clone(), [edges[0].clone(), (key(3), key(2), 1.0)]);
    assert_eq!(state.diff(&turned).edges, (1, 1));
    assert_ne!(turned.digest(), state.digest());
    let heavier = State::from_parts(full, [edges[0].clone(), (key(2), key(3), 2.0)]);
    assert_eq!(state.diff(&heavier).weights, 1);
    assert_ne!(heavier.digest(), state.digest());
    assert_eq!(state.diff(&heavier).examples.len(), 1);
}

#[test]
fn subsets_in_flight_explain_a_state() {
    let mut base = State::new();
    base.apply(&transaction(0, &[(1, 2)]));
    let (a, b) = (transaction(1, &[(3, 4)]), transaction(2, &[(5, 6), (5, 6)]));
    for chosen in [[false, false], [true, false], [false, true], [true, true]] {
        let mut observed = base.clone();
        [&a, &b].into_iter().zip(chosen).filter(|(_, c)| *c).for_each(|(t, _)| observed.apply(t));
        assert_eq!(base.explain(&[&a, &b], &observed), Some(chosen.to_vec()));
    }
    let mut half = base.clone();
    half.apply_event(&b.events[0]);
    assert_eq!(base.explain(&[&a, &b], &half), None, "half a transaction is no explanation");
    assert_eq!(base.explain(&[&a], &State::new()), None, "a lost acknowledged one is no explanation");
}
