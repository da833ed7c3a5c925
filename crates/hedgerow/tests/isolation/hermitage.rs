//! The fourteen scripts of Hermitage (Kleppmann, github.com/ept/hermitage), as transactions on vertices 1 and
//! 2 whose values are 10 and 20. The test runs all interleavings of each script instead of one.

use hedgerow::Direction::Out;

use crate::interleave::{Case, Done};
use crate::model::State;
use crate::script::{Ctx, Flow, Script, Step, pause, step};

fn rows() -> Script {
    vec![step(|c| {
        for id in [1, 2] {
            c.insert_vertex(id);
            c.set(id, "value", 10 * id as i64);
        }
    })]
}

fn set(id: u64, value: i64) -> Step {
    step(move |c| {
        c.set(id, "value", value);
    })
}

fn get(id: u64) -> Step {
    step(move |c| {
        let n = c.number(id, "value");
        c.keep(n);
    })
}

/// Reads both vertices and keeps the two values.
fn get_both(c: &mut Ctx<'_>) {
    for id in [1, 2] {
        let n = c.number(id, "value");
        c.keep(n);
    }
}

/// Makes the step `select ... where value fits`, which keeps the number of matches.
fn count_where(fits: fn(i64) -> bool) -> Step {
    step(move |c| {
        let n = c.scan(16, "value").iter().filter(|&&(_, n)| fits(n)).count();
        c.keep(n as i64);
    })
}

/// Makes the step `delete ... where value = 20`.
fn delete_twenty() -> Step {
    step(|c| {
        let found: Vec<u64> =
            c.scan(16, "value").iter().filter(|&&(_, n)| n == 20).map(|&(v, _)| v).collect();
        c.keep(found.len() as i64);
        found.into_iter().for_each(|v| {
            c.remove_vertex(v);
        });
    })
}

/// Makes the step `update ... set value = value + 10`.
fn raise_all() -> Step {
    step(|c| {
        for (v, n) in c.scan(16, "value") {
            c.set(v, "value", n + 10);
        }
    })
}

fn insert(id: u64, value: i64) -> Step {
    step(move |c| {
        c.insert_vertex(id);
        c.set(id, "value", value);
    })
}

fn value(state: &State, id: u64) -> Option<i64> {
    match state.vertices.get(&id)?.get("value") {
        Some(hedgerow::Value::I64(n)) => Some(*n),
        _ => None,
    }
}

fn both_committed(done: &[Done]) -> bool {
    done[0].committed() && done[1].committed()
}

fn case(name: &'static str, scripts: Vec<Script>, anomaly: fn(&[Done], &State) -> bool) -> Case {
    Case::new(name, rows(), scripts, anomaly)
}

fn items() -> Vec<Case> {
    vec![
        case("G0", vec![vec![set(1, 11), set(2, 21)], vec![set(1, 12), set(2, 22)]], |_, state| {
            value(state, 2) != value(state, 1).map(|n| n + 10)
        }),
        case(
            "G1a",
            vec![vec![set(1, 101), pause(), Box::new(|_| Flow::Abort)], vec![get(1), get(1), get(1)]],
            |done, _| done[1].trace.kept.iter().any(|&n| n != 10),
        ),
        case("G1b", vec![vec![set(1, 101), pause(), set(1, 11)], vec![get(1), get(1), get(1)]], |done, _| {
            done[1].trace.kept.contains(&101)
        }),
        // Neither transaction sees the other's write. The information does not flow in a circle, but this is
        // write skew.
        case("G1c", vec![vec![set(1, 11), get(2), pause()], vec![set(2, 22), get(1), pause()]], |done, _| {
            done[0].trace.kept == [22] && done[1].trace.kept == [11]
        })
        .not_serial(),
        case(
            "OTV",
            vec![
                vec![set(1, 11), set(2, 19)],
                vec![set(1, 12), set(2, 18)],
                vec![step(get_both), step(get_both)],
            ],
            |done, _| {
                let kept = &done[2].trace.kept;
                kept[..2] != kept[2..]
                    || ![[10, 20], [11, 19], [12, 18]].iter().any(|pair| kept[..2] == pair[..])
            },
        ),
        case("P4", vec![vec![get(1), pause(), set(1, 11)], vec![get(1), pause(), set(1, 11)]], |done, _| {
            both_committed(done) && done[0].trace.kept == done[1].trace.kept
        }),
        case(
            "G-single",
            vec![vec![get(1), pause(), get(2)], vec![get(1), set(1, 12), set(2, 18)]],
            |done, _| done[0].trace.kept[0] + done[0].trace.kept[1] != 30,
        ),
        case(
            "G2-item",
            vec![vec![step(get_both), pause(), set(1, 11)], vec![step(get_both), pause(), set(2, 21)]],
            |done, _| both_committed(done) && done.iter().all(|t| t.trace.kept == [10, 20]),
        )
        .skewed(),
    ]
}

fn predicates() -> Vec<Case> {
    let third = |n: i64| n % 3 == 0;
    vec![
        case(
            "PMP",
            vec![
                vec![count_where(|n| n == 30), pause(), count_where(third)],
                vec![pause(), insert(3, 30), pause()],
            ],
            |done, _| done[0].trace.kept[0] != done[0].trace.kept[1],
        ),
        case(
            "PMP for write predicates",
            vec![vec![raise_all(), pause(), pause()], vec![delete_twenty(), pause(), pause()]],
            // If both committed, the second transaction saw the result of the first.
            |done, state| {
                let deleted = done[1].trace.kept == [1];
                both_committed(done) && deleted && value(state, 1) == Some(20) && value(state, 2).is_some()
            },
        ),
        case(
            "G-single (predicate)",
            vec![
                vec![count_where(|n| n % 5 == 0), pause(), count_where(|n| n % 3 == 0)],
                vec![pause(), set(1, 12), pause()],
            ],
            |done, _| done[0].trace.kept != [2, 0] && done[0].trace.kept != [1, 1],
        ),
        case(
            "G-single (write predicate)",
            vec![vec![get(1), pause(), delete_twenty()], vec![step(get_both), set(1, 12), set(2, 18)]],
            |done, _| done[0].committed() && done[0].trace.kept == [10, 0],
        ),
        case(
            "G2",
            vec![
                vec![count_where(third), pause(), insert(3, 30)],
                vec![count_where(third), pause(), insert(4, 42)],
            ],
            |done, _| both_committed(done) && done.iter().all(|t| t.trace.kept == [0]),
        )
        .skewed(),
        // Fekete, O'Neil, O'Neil 2004: the third transaction only reads, and its answer fits no serial order.
        case(
            "G2 of two edges",
            vec![
                vec![step(get_both), set(1, 0)],
                vec![
                    step(|c| {
                        let n = c.number(2, "value");
                        c.set(2, "value", n + 5);
                    }),
                    pause(),
                ],
                vec![step(get_both), pause()],
            ],
            |done, _| {
                // The first transaction saw neither write. The third saw only the write of the second.
                both_committed(done)
                    && done[0].trace.kept == [10, 20]
                    && done[2].trace.kept == [10, 25]
                    && done[2].committed()
            },
        )
        .skewed(),
    ]
}

/// Makes the cases whose predicate is the adjacency list of a vertex, instead of a value.
fn adjacency() -> Vec<Case> {
    let degree = || {
        step(|c| {
            let n = c.list("knows", 1, Out).len() as i64;
            c.keep(n)
        })
    };
    let put = |dst: u64| step(move |c| c.put_edge(("knows", 1, dst, 0)));
    vec![
        case(
            "PMP (adjacency)",
            vec![vec![degree(), pause(), degree()], vec![put(2), pause(), put(3)]],
            |done, _| done[0].trace.kept[0] != done[0].trace.kept[1],
        ),
        case(
            "G2 (adjacency)",
            vec![vec![degree(), pause(), put(2)], vec![degree(), pause(), put(3)]],
            |done, _| both_committed(done) && done.iter().all(|t| t.trace.kept == [0]),
        )
        .skewed(),
    ]
}

/// Returns all cases: items, predicates, and two cases over adjacencies.
pub(crate) fn cases() -> Vec<Case> {
    items().into_iter().chain(predicates()).chain(adjacency()).collect()
}
