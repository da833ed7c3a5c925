//! The anomalies of `anomalies` with eight threads.

use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::Direction::{In, Out};
use hedgerow::{Isolation, Value};

use crate::anomalies::is_one_ring;
use crate::arena::{Arena, Job};
use crate::interleave::End;
use crate::model::{Edge, State};
use crate::script::{Ctx, Flow};
use crate::suite::Test;

const JOBS: u64 = 6;

pub(crate) const TESTS: [(&str, Test); 8] = [
    ("DE", dangling),
    ("AS", asymmetric),
    ("DC", degrees),
    ("UC", unique),
    ("MC", moderator),
    ("CY", ring),
    ("BK", bank),
    ("IX", index),
];

const fn knows(src: u64, dst: u64) -> Edge {
    ("knows", src, dst, 0)
}

/// Removes and inserts vertices concurrently with edges to them. Every look checks that all edges have their
/// endpoints.
fn dangling(arena: &mut Arena) -> u64 {
    const HUBS: u64 = 2;
    arena.next(|c| (1..=HUBS).for_each(|hub| c.put_edge(knows(10, hub))));
    arena.run(JOBS, |job| {
        let (removes, id) = (job.thread < 3, job.id() as u64);
        job.attempt(|c, window, rng| {
            let hub = 1 + rng.below(HUBS);
            if removes {
                c.remove_vertex(hub);
                window.open();
                return Flow::Go;
            }
            c.vertex(10 + id);
            window.open();
            match rng.below(3) {
                0 => c.put_edge(knows(10 + id, hub)),
                1 => c.put_edge(("list", hub, 10 + id, id)),
                _ => {
                    c.insert_edge(("likes", 10, hub, 0));
                }
            }
            Flow::Go
        });
        job.look();
    });
    arena.end();
    0
}

/// Puts and removes edges in both directions. Every look compares the lists of both directions.
fn asymmetric(arena: &mut Arena) -> u64 {
    arena.next(|c| (1..=4).for_each(|v| c.put_edge(knows(v, v % 4 + 1))));
    arena.run(JOBS, |job| {
        job.attempt(|c, window, rng| {
            let (u, v) = (1 + rng.below(4), 1 + rng.below(4));
            let had = c.has_edge(knows(u, v));
            window.open();
            match (had, rng.below(2)) {
                (true, _) => {
                    c.remove_edge(knows(u, v));
                }
                (false, 0) => {
                    c.insert_edge(knows(u, v));
                }
                (false, _) => c.put_edge(knows(v, u)),
            }
            window.open();
            let there = c.list("knows", u, Out).iter().any(|&(w, _)| w == v);
            let back = c.list("knows", v, In).iter().any(|&(w, _)| w == u);
            assert_eq!(there, back);
            Flow::Go
        });
        job.look();
    });
    arena.end();
    0
}

fn degrees(arena: &mut Arena) -> u64 {
    arena.next(|c| c.put_edge(knows(1, 2)));
    arena.run(JOBS, |job| {
        let id = job.id() as u64;
        job.attempt(|c, window, rng| {
            let agree = |c: &mut Ctx<'_>, label: &'static str| {
                assert_eq!(c.degree(label, 1, Out), c.list(label, 1, Out).len());
                assert_eq!(c.degree(label, 2, In), c.list(label, 2, In).len());
            };
            match rng.below(4) {
                0 => c.put_edge(knows(1, 10 + rng.below(20))),
                1 => c.put_edge(("list", 1, 2, id)),
                2 => c.put_edge(knows(10 + rng.below(20), 2)),
                _ => {
                    c.remove_edge(knows(1, 10 + rng.below(20)));
                }
            }
            window.open();
            agree(c, "knows");
            window.open();
            agree(c, "list");
            Flow::Go
        });
        // Compares the degree of every vertex with its list.
        job.look();
    });
    arena.end();
    0
}

/// Makes all threads insert the same items. An item in the final state was new to exactly one committed
/// transaction. An absent item was new to no committed transaction.
///
/// All transactions with the same inserts may conflict. Each may conflict with a commit of another item at
/// vertex 1, because `insert_edge` reads the list of that vertex.
fn unique(arena: &mut Arena) -> u64 {
    arena.next(|c| {
        c.insert_vertex(1);
    });
    let told = [const { AtomicU64::new(0) }; 3 * JOBS as usize];
    arena.run(JOBS, |job| {
        let n = job.number;
        let (end, trace) = job.attempt(|c, window, _| {
            window.open();
            let new =
                [c.insert_vertex(10 + n), c.insert_edge(knows(1, 30 + n)), c.insert_edge(("list", 1, 1, n))];
            window.open();
            new.into_iter().for_each(|new| c.keep(i64::from(new)));
            Flow::Go
        });
        if end == End::Committed {
            for (i, &new) in trace.kept.iter().enumerate() {
                told[3 * n as usize + i].fetch_add(new as u64, Ordering::Relaxed);
            }
        }
    });
    let state = arena.end();
    let there = |n: u64| {
        let edges = [knows(1, 30 + n), ("list", 1, 1, n)].map(|edge| state.edges.contains_key(&edge));
        [state.vertices.contains_key(&(10 + n)), edges[0], edges[1]]
    };
    let there: Vec<bool> = (0..JOBS).flat_map(there).collect();
    assert!(
        there.iter().zip(&told).all(|(&there, told)| told.load(Ordering::Relaxed) == u64::from(there)),
        "{told:?}"
    );
    assert!(there.chunks(3).all(|n| n[0] == n[1] && n[1] == n[2]) && there.contains(&true), "{there:?}");
    0
}

/// Makes each transaction give a moderator to a forum that has none.
fn moderator(arena: &mut Arena) -> u64 {
    arena.next(|c| {
        (1..=JOBS).for_each(|forum| {
            c.insert_vertex(forum);
        })
    });
    arena.run(JOBS, |job| {
        let (forum, person) = (1 + job.number, 10 + job.thread);
        job.attempt(|c, window, _| {
            let none = c.list("knows", forum, Out).is_empty();
            window.open();
            if none {
                c.put_edge(knows(forum, person));
            }
            window.open();
            Flow::Go
        });
    });
    let (isolation, state) = (arena.isolation, arena.end());
    let crowded = |forum: &u64| state.list("knows", *forum, Out).unwrap().len() > 1;
    let violations = (1..=JOBS).filter(crowded).count() as u64;
    assert!(violations == 0 || isolation == Isolation::Snapshot, "{state:?}");
    violations
}

fn ring(arena: &mut Arena) -> u64 {
    const RING: u64 = 12;
    arena.next(|c| (1..=RING).for_each(|v| c.put_edge(knows(v, v % RING + 1))));
    let look = |job: &mut Job<'_>| assert!(is_one_ring(&job.look(), RING));
    arena.run(JOBS, |job| {
        job.attempt(|c, window, rng| {
            let a = 1 + rng.below(RING);
            let mut next = |v: u64| c.list("knows", v, Out)[0].0;
            let b = next(a);
            let to_c = next(b);
            let to_d = next(to_c);
            window.open();
            [knows(a, b), knows(b, to_c), knows(to_c, to_d)].into_iter().for_each(|e| {
                c.remove_edge(e);
            });
            [knows(a, to_c), knows(to_c, b), knows(b, to_d)].into_iter().for_each(|e| c.put_edge(e));
            window.open();
            Flow::Go
        });
        look(job);
    });
    let state = arena.end();
    assert!(is_one_ring(&state, RING), "{state:?}");
    0
}

fn sum(state: &State) -> i64 {
    let weight = |row: &crate::model::Props| if let Some(Value::I64(n)) = row.get("weight") { *n } else { 0 };
    state.edges.values().map(weight).sum()
}

fn bank(arena: &mut Arena) -> u64 {
    const ACCOUNTS: u64 = 8;
    // Half of the accounts are parallel edges of one pair.
    let account = |i: u64| if i.is_multiple_of(2) { knows(1, 2 + i) } else { ("list", 1, 2, i) };
    arena.next(|c| {
        for edge in (0..ACCOUNTS).map(account) {
            c.put_edge(edge);
            c.set_edge(edge, "weight", 100);
        }
    });
    let total = 100 * ACCOUNTS as i64;
    arena.run(JOBS, |job| {
        job.attempt(|c, window, rng| {
            let (from, to) = (rng.below(ACCOUNTS), rng.below(ACCOUNTS));
            let mut weight = |i: u64| match c.edge_property(account(i), "weight") {
                Some(Value::I64(n)) => n,
                other => panic!("{other:?}"),
            };
            let (a, b) = (weight(from), weight(to));
            window.open();
            if from != to {
                let amount = rng.below(30) as i64;
                c.set_edge(account(from), "weight", a - amount);
                window.open();
                c.set_edge(account(to), "weight", b + amount);
            }
            Flow::Go
        });
        assert_eq!(sum(&job.look()), total);
    });
    assert_eq!(sum(&arena.end()), total);
    0
}

/// Writes vertices, labelled edges and properties together. Look-ups by key, the id map, the lists of a label
/// and scans agree in every snapshot, during any merge or checkpoint.
fn index(arena: &mut Arena) -> u64 {
    arena.next(|c| {
        c.insert_vertex(1);
    });
    arena.run(JOBS, |job| {
        job.attempt(|c, window, rng| {
            let v = 10 + rng.below(12);
            if c.vertex(v) {
                window.open();
                c.remove_vertex(v);
            } else {
                window.open();
                c.insert_vertex(v);
                c.set(v, "tag", v as i64);
                c.put_edge(("likes", v, 1, 0));
                c.put_edge(("list", 1, v, v));
                c.set_edge(("list", 1, v, v), "tag", v as i64);
            }
            Flow::Go
        });
        let state = job.look();
        for v in state.vertices.keys().filter(|&&v| v >= 10) {
            let complete = state.vertices[v].get("tag") == Some(&Value::I64(*v as i64))
                && state.edges.contains_key(&("likes", *v, 1, 0))
                && state.edges.get(&("list", 1, *v, *v)).is_some_and(|row| row.contains_key("tag"));
            assert!(complete, "part of {v}: {state:?}");
        }
        assert_eq!(state.edges.len(), 2 * (state.vertices.len() - 1));
    });
    arena.end();
    0
}
