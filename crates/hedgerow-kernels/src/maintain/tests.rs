//! Tests of kept answers against answers from scratch, with random inserts and removals of edges and
//! vertices, in graphs of many shapes.

use std::collections::BTreeSet;

use hedgerow_core::{Changes, EdgeChange, EdgeChangeKind, VertexId};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions};

use crate::testing::with_threads;
use hedgerow_kernels::maintain::{Components, Degrees, Maintained, Ranks, Triangles};
use hedgerow_kernels::{Cancel, KernelError, PageRankConfig};

/// A graph that changes.
#[derive(Clone, Default)]
struct State {
    live: BTreeSet<u32>,
    /// The edges. In an undirected graph, the smaller end comes first.
    edges: BTreeSet<(u32, u32)>,
    bound: u32,
}

impl State {
    fn csr(&self, directed: bool) -> Csr {
        let live = (0..self.bound).map(|v| self.live.contains(&v)).collect();
        let edges: Vec<(u32, u32)> = self.edges.iter().copied().collect();
        let options = CsrOptions { directed, live: Some(live), ..CsrOptions::default() };
        Csr::from_edges(self.bound as usize, &edges, &options).expect("ends are live")
    }

    fn entries(&self, directed: bool) -> BTreeSet<(u32, u32)> {
        let back = self.edges.iter().filter(|_| !directed).map(|&(a, b)| (b, a));
        self.edges.iter().copied().chain(back).collect()
    }

    fn changes_to(&self, later: &State, directed: bool) -> Changes {
        let (old, new) = (self.entries(directed), later.entries(directed));
        let of = |edges: Vec<&(u32, u32)>, kind| {
            let change = move |&(a, b): &(u32, u32)| EdgeChange {
                src: VertexId(a),
                dst: VertexId(b),
                kind,
                weight: 1.0,
            };
            edges.into_iter().map(change).collect::<Vec<_>>()
        };
        let mut edges = of(new.difference(&old).collect(), EdgeChangeKind::Inserted);
        edges.extend(of(old.difference(&new).collect(), EdgeChangeKind::Removed));
        edges.sort_by_key(|change| (change.src, change.dst));
        let differ = self.live.symmetric_difference(&later.live);
        let vertices = differ.map(|&v| (VertexId(v), later.live.contains(&v))).collect();
        Changes { vertices, edges }
    }

    /// Changes the graph by some operations. Sparse graphs are split and joined again repeatedly.
    fn step(&mut self, rng: &mut Rng, operations: u64, directed: bool) {
        for _ in 0..operations {
            let any = |rng: &mut Rng, bound: u32| rng.below(u64::from(bound).max(1)) as u32;
            match rng.below(20) {
                0 => self.bound += rng.below(3) as u32,
                1 => _ = self.live.insert(any(rng, self.bound)),
                2 => {
                    let v = any(rng, self.bound);
                    self.live.remove(&v);
                    self.edges.retain(|&(a, b)| a != v && b != v);
                }
                3..11 => {
                    let at = rng.below(self.edges.len().max(1) as u64) as usize;
                    if let Some(&edge) = self.edges.iter().nth(at) {
                        self.edges.remove(&edge);
                    }
                }
                _ => {
                    let (a, b) = (any(rng, self.bound), any(rng, self.bound));
                    if self.live.contains(&a) && self.live.contains(&b) {
                        self.edges.insert(if directed { (a, b) } else { (a.min(b), a.max(b)) });
                    }
                }
            }
        }
    }
}

fn begin(rng: &mut Rng, vertices: u32, edges: u64, directed: bool) -> State {
    let mut state = State { live: (0..vertices).collect(), edges: BTreeSet::new(), bound: vertices };
    for _ in 0..edges {
        let (a, b) = (rng.below(u64::from(vertices)) as u32, rng.below(u64::from(vertices)) as u32);
        state.edges.insert(if directed { (a, b) } else { (a.min(b), a.max(b)) });
    }
    state
}

/// Makes random changes of a graph. After each change, calls `must_hold` with the graph and the changes that
/// led to it.
fn follow(seed: u64, steps: usize, mut must_hold: impl FnMut(&Csr, Option<&Changes>)) {
    let mut rng = Rng::new(seed);
    let directed = seed % 2 == 1;
    let vertices = [1, 5, 60, 200][(seed / 2 % 4) as usize];
    let edges = u64::from(vertices) * [0, 1, 2, 6][(seed / 8 % 4) as usize];
    let mut state = begin(&mut rng, vertices, edges, directed);
    must_hold(&state.csr(directed), None);
    for _ in 0..steps {
        let before = state.clone();
        let operations = [1, 3, 30][rng.below(3) as usize];
        state.step(&mut rng, operations, directed);
        must_hold(&state.csr(directed), Some(&before.changes_to(&state, directed)));
    }
}

/// Keeps an answer over random changes, and compares it with the answer from scratch.
fn keep<M: Maintained>(steps: usize, must_agree: impl Fn(&M, &M) + Sync) {
    with_threads(2, || {
        for seed in 0..32 {
            let mut kept: Option<M> = None;
            follow(seed, steps, |g, changes| {
                let cancel = Cancel::new();
                let fresh = M::from_scratch(g, &cancel).expect("fits");
                match (&mut kept, changes) {
                    (Some(kept), Some(changes)) => kept.update(g, changes, &cancel).expect("fits"),
                    (kept, _) => *kept = Some(M::from_scratch(g, &cancel).expect("fits")),
                }
                kept.iter().for_each(|kept| must_agree(kept, &fresh));
            });
        }
    });
}

#[test]
fn kept_components_are_those_from_scratch() {
    keep(60, |kept: &Components, fresh: &Components| assert_eq!(kept.names(), fresh.names()));
}

/// Rings, and chains of their vertices, are split and closed again. Their trees are much deeper than the
/// longest way to a root that the kernel follows.
#[test]
fn kept_components_of_long_paths_are_those_from_scratch() {
    let cancel = Cancel::new();
    for seed in 0..6 {
        let (mut rng, directed, bound) = (Rng::new(seed), seed % 2 == 1, 600);
        let mut state = State { live: (0..bound).collect(), edges: BTreeSet::new(), bound };
        let ring = |v: u32| {
            if directed { (v, (v + 1) % bound) } else { (v.min((v + 1) % bound), v.max((v + 1) % bound)) }
        };
        state.edges.extend((0..bound).map(ring));
        let mut kept = Components::from_scratch(&state.csr(directed), &cancel).expect("fits");
        for _ in 0..80 {
            let before = state.clone();
            for _ in 0..1 + rng.below(4) {
                let edge = ring(rng.below(u64::from(bound)) as u32);
                if !state.edges.remove(&edge) {
                    state.edges.insert(edge);
                }
            }
            let absent = (0..bound).map(ring).find(|edge| !state.edges.contains(edge));
            state.edges.extend(absent.filter(|_| rng.below(2) == 0));
            let g = state.csr(directed);
            kept.update(&g, &before.changes_to(&state, directed), &cancel).expect("fits");
            assert_eq!(kept.names(), Components::from_scratch(&g, &cancel).expect("fits").names());
        }
    }
}

#[test]
fn kept_degrees_are_those_from_scratch() {
    keep(40, |kept: &Degrees, fresh: &Degrees| assert_eq!(kept, fresh));
}

#[test]
fn kept_triangles_are_those_from_scratch() {
    keep(60, |kept: &Triangles, fresh: &Triangles| assert_eq!(kept, fresh));
}

#[test]
fn an_update_that_is_cancelled_says_so() {
    let mut rng = Rng::new(3);
    let state = begin(&mut rng, 50, 100, false);
    let (g, cancel) = (state.csr(false), Cancel::new());
    let mut kept = Components::from_scratch(&g, &cancel).expect("fits");
    cancel.cancel();
    assert_eq!(kept.update(&g, &Changes::default(), &cancel), Err(KernelError::Cancelled));
    assert_eq!(Triangles::from_scratch(&g, &cancel), Err(KernelError::Cancelled));
    assert_eq!(Degrees::from_scratch(&g, &cancel), Err(KernelError::Cancelled));
}

/// Both are within the tolerance, divided by one minus the damping, of the same scores.
#[test]
fn kept_ranks_are_those_from_scratch_within_the_tolerance() {
    keep(12, |kept: &Ranks, fresh: &Ranks| {
        let apart: f64 = kept.scores().iter().zip(fresh.scores()).map(|(a, b)| (a - b).abs()).sum();
        assert!(apart <= 2.0 * Ranks::TOLERANCE / (1.0 - PageRankConfig::DEFAULT.damping), "{apart}");
        assert_eq!(kept.scores().len(), fresh.scores().len());
        assert!(kept.scores().iter().zip(fresh.scores()).all(|(a, b)| (*a == 0.0) == (*b == 0.0)));
    });
}
