//! The anomalies that only graphs have, as scripts; `graphs` runs them with threads.
//! - Dangling edges (DE).
//! - Lists that disagree in the two directions (AS) or with the degree (DC).
//! - Two inserts that both report "new" (UC).
//! - More edges than a rule allows (MC).
//! - Rings that break (CY).
//! - Weight that is lost between edges (BK).
//! - Scans that disagree with look-ups (IX).

use hedgerow::Direction::{In, Out};
use hedgerow::Value;

use crate::interleave::{Case, Done};
use crate::model::{Edge, State};
use crate::script::{Ctx, Script, Step, pause, step};

const fn knows(src: u64, dst: u64) -> Edge {
    ("knows", src, dst, 0)
}

fn put(edge: Edge) -> Step {
    step(move |c| c.put_edge(edge))
}

fn two_committed(done: &[Done]) -> bool {
    done.iter().filter(|d| d.committed()).count() > 1
}

/// Makes the case in which one transaction removes a vertex, and other transactions write edges to it.
fn dangling(name: &'static str) -> Case {
    let remover = vec![
        step(|c| {
            c.remove_vertex(2);
        }),
        pause(),
    ];
    let linker = vec![put(knows(1, 2)), step(|c| c.put_edge(("list", 2, 1, 7)))];
    let other = vec![
        step(|c| {
            c.insert_edge(("likes", 1, 2, 0));
        }),
        step(|c| {
            c.remove_edge(knows(3, 2));
            c.set_edge(("list", 3, 2, 9), "history", "x");
        }),
    ];
    let setup = vec![step(|c| {
        (1..=4).for_each(|v| {
            c.insert_vertex(v);
        });
        c.put_edge(knows(3, 2));
        c.put_edge(("list", 3, 2, 9));
    })];
    Case::new(name, setup, vec![remover, linker, other], |done, state| {
        // A removed vertex has no edges, in any order of the commits.
        let dangles = state.edges.keys().any(|e| !state.vertices.contains_key(&e.2));
        dangles || (done[0].committed() && !two_committed(done) && state.vertices.contains_key(&2))
    })
}

fn asymmetric() -> Case {
    let one = vec![
        step(|c| {
            c.insert_edge(knows(1, 2));
        }),
        step(|c| {
            c.remove_edge(knows(2, 1));
        }),
    ];
    let two = vec![
        step(|c| {
            c.remove_edge(knows(1, 3));
        }),
        put(knows(3, 1)),
    ];
    let look = || {
        step(|c| {
            for v in [1, 2, 3] {
                for (u, _) in c.list("knows", v, Out) {
                    let back = c.list("knows", u, In).iter().any(|&(w, _)| w == v);
                    c.keep(i64::from(back));
                }
            }
        })
    };
    let setup = vec![step(|c| [knows(2, 1), knows(1, 3)].into_iter().for_each(|e| c.put_edge(e)))];
    Case::new("AS", setup, vec![one, two, vec![look(), look()]], |done, _| done[2].trace.kept.contains(&0))
}

fn degrees() -> Case {
    let one = vec![put(knows(1, 2)), put(knows(4, 2))];
    let two = vec![
        step(|c| {
            c.remove_edge(knows(1, 3));
        }),
        put(("list", 1, 2, 5)),
    ];
    let look = || {
        step(|c| {
            for (label, v, direction) in [("knows", 1, Out), ("knows", 2, In), ("list", 1, Out)] {
                let agree = c.degree(label, v, direction) == c.list(label, v, direction).len();
                c.keep(i64::from(agree));
            }
        })
    };
    let setup = vec![step(|c| {
        c.put_edge(knows(1, 3));
        c.put_edge(("list", 1, 2, 4));
    })];
    Case::new("DC", setup, vec![one, two, vec![look(), look()]], |done, _| done[2].trace.kept.contains(&0))
}

/// Counts the committed transactions whose insert was reported as new.
fn told_new(done: &[Done]) -> i64 {
    done.iter().filter(|d| d.committed()).map(|d| d.trace.kept[0]).sum()
}

fn unique(name: &'static str, insert: fn(&mut Ctx<'_>) -> bool) -> Case {
    let txn = || -> Script {
        vec![
            step(move |c| {
                let new = insert(c);
                c.keep(i64::from(new));
            }),
            pause(),
        ]
    };
    let setup = vec![step(|c| {
        c.insert_vertex(1);
    })];
    Case::new(name, setup, vec![txn(), txn(), txn()], |done, _| told_new(done) != 1)
}

fn moderator() -> Case {
    let txn = |moderator: u64| -> Script {
        vec![
            step(|c| {
                let n = c.list("knows", 1, Out).len();
                c.keep(n as i64);
            }),
            step(move |c| {
                if c.kept(0) == 0 {
                    c.put_edge(knows(1, moderator));
                }
            }),
        ]
    };
    let setup = vec![step(|c| {
        c.insert_vertex(1);
    })];
    Case::new("MC", setup, vec![txn(11), txn(12), txn(13)], |_, state| state.edges.len() != 1).skewed()
}

const RING: u64 = 6;

fn next(c: &mut Ctx<'_>, v: u64) -> u64 {
    c.list("knows", v, Out)[0].0
}

/// Makes the steps that change the path a -> b -> c -> d to a -> c -> b -> d.
fn rewire(a: u64) -> Script {
    vec![
        step(move |c| {
            let mut at = a;
            for _ in 0..3 {
                at = next(c, at);
                c.keep(at as i64);
            }
        }),
        step(move |ctx| {
            let [b, c, d] = [0, 1, 2].map(|i| ctx.kept(i) as u64);
            [knows(a, b), knows(b, c), knows(c, d)].into_iter().for_each(|e| {
                ctx.remove_edge(e);
            });
            [knows(a, c), knows(c, b), knows(b, d)].into_iter().for_each(|e| ctx.put_edge(e));
        }),
    ]
}

/// Returns the number of steps until the ring closes.
fn ring_length(mut next: impl FnMut(u64) -> u64) -> u64 {
    let mut at = 1;
    (1..=RING + 1)
        .find(|_| {
            at = next(at);
            at == 1
        })
        .unwrap_or(0)
}

fn ring() -> Case {
    let look = || {
        step(|c| {
            let length = ring_length(|v| next(c, v));
            c.keep(length as i64);
        })
    };
    let setup = vec![step(|c| (1..=RING).for_each(|v| c.put_edge(knows(v, v % RING + 1))))];
    Case::new("CY", setup, vec![rewire(1), rewire(3), vec![look(), look()]], |done, state| {
        let broken = done[2].trace.kept.iter().any(|&n| n != RING as i64);
        broken || ring_length(|v| state.list("knows", v, Out).map_or(1, |list| list[0].0)) != RING
    })
}

fn weight(c: &mut Ctx<'_>, edge: Edge) -> i64 {
    match c.edge_property(edge, "weight") {
        Some(Value::I64(n)) => n,
        other => panic!("{other:?}"),
    }
}

fn bank() -> Case {
    const EDGES: [Edge; 3] = [knows(1, 2), knows(2, 3), ("list", 1, 2, 3)];
    let transfer = |from: Edge, to: Edge| -> Script {
        vec![
            step(move |c| {
                let n = weight(c, from);
                c.set_edge(from, "weight", n - 10);
            }),
            step(move |c| {
                let n = weight(c, to);
                c.set_edge(to, "weight", n + 10);
            }),
        ]
    };
    let look = || {
        step(|c| {
            let sum: i64 = EDGES.into_iter().map(|e| weight(c, e)).sum();
            c.keep(sum);
        })
    };
    let setup = vec![step(|c| {
        for edge in EDGES {
            c.put_edge(edge);
            c.set_edge(edge, "weight", 100);
        }
    })];
    let scripts = vec![transfer(EDGES[0], EDGES[1]), transfer(EDGES[1], EDGES[2]), vec![look(), look()]];
    Case::new("BK", setup, scripts, |done, state| {
        let all = state.edges.values().map(|row| match row.get("weight") {
            Some(Value::I64(n)) => *n,
            _ => 0,
        });
        all.sum::<i64>() != 300 || done[2].trace.kept.iter().any(|&n| n != 300)
    })
}

fn index() -> Case {
    let one = vec![
        step(|c| {
            c.insert_vertex(5);
        }),
        put(("likes", 5, 1, 0)),
    ];
    let two = vec![
        step(|c| {
            c.remove_vertex(1);
        }),
        put(knows(2, 6)),
    ];
    let look = || {
        step(|c| {
            c.audit();
        })
    };
    let setup = vec![step(|c| [knows(1, 2), ("list", 1, 2, 1)].into_iter().for_each(|e| c.put_edge(e)))];
    // The script compares look-ups with scans, and the run compares both with the model.
    Case::new("IX", setup, vec![one, two, vec![look(), look()]], |done, _| {
        done[2].trace.log[0] != done[2].trace.log[1]
    })
}

/// Returns all cases of this module.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        dangling("DE").strict(),
        dangling("DE, endpoints created"),
        asymmetric(),
        degrees(),
        unique("UC of a vertex", |c| c.insert_vertex(5)),
        unique("UC of an edge", |c| c.insert_edge(knows(1, 2))),
        unique("UC of a ranked edge", |c| c.insert_edge(("list", 1, 2, 3))),
        moderator(),
        ring(),
        bank(),
        index(),
    ]
}

/// True if the edges of a label form one ring of this length from vertex 1.
pub(crate) fn is_one_ring(state: &State, length: u64) -> bool {
    let mut at = 1;
    let closes = (1..=length).find(|_| {
        at = state.list("knows", at, Out).map_or(0, |list| if list.len() == 1 { list[0].0 } else { 0 });
        at <= 1
    });
    at == 1 && closes == Some(length)
}
