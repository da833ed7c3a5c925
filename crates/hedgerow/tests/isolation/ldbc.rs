//! The twelve tests of the LDBC ACID suite (SNB specification, chapter "ACID Test Suite"), as scripts of a
//! few steps. If the check of a test is weaker than its definition, the script uses the definition.

use hedgerow::Direction::{In, Out};

use crate::interleave::{Case, Done};
use crate::model::State;
use crate::script::{Ctx, Flow, Script, elements, pause, step};

const KNOWS: (&str, u64, u64, u64) = ("knows", 1, 2, 0);
const CYCLE: [u64; 4] = [1, 2, 3, 4];

/// Makes a step that inserts these persons, each with one numeric property.
pub(crate) fn persons(ids: &'static [u64], name: &'static str, value: i64) -> Script {
    vec![step(move |c| {
        for &id in ids {
            c.insert_vertex(id);
            c.set(id, name, value);
        }
    })]
}

fn number(state: &State, v: u64, name: &str) -> i64 {
    match state.vertices.get(&v).and_then(|row| row.get(name)) {
        Some(hedgerow::Value::I64(n)) => *n,
        _ => 0,
    }
}

fn committed(done: &[Done]) -> usize {
    done.iter().filter(|d| d.committed()).count()
}

fn with_emails() -> Script {
    vec![step(|c| {
        for (id, name, emails) in [(1, "Alice", 1), (2, "Bob", 2)] {
            c.insert_vertex(id);
            c.set(id, "name", name);
            (0..emails).for_each(|e| c.append(id, "emails", e));
        }
    })]
}

/// Counts the persons, the persons with a name, and the emails.
fn atomicity_counts(state: &State) -> (usize, usize, usize) {
    let rows = || state.vertices.values();
    let emails = rows().map(|row| elements(row.get("emails")).len()).sum();
    (rows().count(), rows().filter(|row| row.contains_key("name")).count(), emails)
}

fn atomicity_c() -> Case {
    let txn = |id: u64| -> Script {
        vec![
            step(move |c| c.append(1, "emails", id as i64)),
            step(move |c| {
                c.insert_vertex(id);
            }),
            step(move |c| {
                c.put_edge(("knows", 1, id, 0));
                c.set_edge(("knows", 1, id, 0), "since", 2020);
            }),
        ]
    };
    Case::new("Atomicity-C", with_emails(), vec![txn(10), txn(11)], |done, state| {
        let n = committed(done);
        atomicity_counts(state) != (2 + n, 2, 3 + n) || state.edges.len() != n
    })
}

fn atomicity_rb() -> Case {
    let txn = |id: u64| -> Script {
        vec![
            step(move |c| c.append(1, "emails", id as i64)),
            Box::new(move |c: &mut Ctx<'_>| {
                if c.vertex(2) {
                    return Flow::Abort;
                }
                c.insert_vertex(2);
                Flow::Go
            }),
            pause(),
        ]
    };
    let reader = vec![
        step(|c| {
            c.property(1, "emails");
        }),
        step(|c| {
            c.property(1, "emails");
        }),
        pause(),
    ];
    Case::new("Atomicity-RB", with_emails(), vec![txn(10), reader], |_, state| {
        atomicity_counts(state) != (2, 2, 3)
    })
}

fn g0() -> Case {
    let txn = |t: i64| -> Script {
        vec![
            step(move |c| c.append(1, "versionHistory", t)),
            step(move |c| c.append(2, "versionHistory", t)),
            step(move |c| c.append_to_edge(KNOWS, "history", t)),
        ]
    };
    Case::new(
        "G0",
        vec![step(|c| {
            c.put_edge(KNOWS);
            c.set_edge(KNOWS, "history", "0");
            [1, 2].into_iter().for_each(|id| c.append(id, "versionHistory", 0));
        })],
        vec![txn(1), txn(2)],
        |_, state| {
            let one = elements(state.vertices[&1].get("versionHistory"));
            let two = elements(state.vertices[&2].get("versionHistory"));
            one != two || one != elements(state.edges[&KNOWS].get("history"))
        },
    )
}

fn g1a() -> Case {
    let read = || {
        step(|c| {
            let n = c.number(1, "version");
            c.keep(n)
        })
    };
    let writer = vec![
        step(|c| {
            c.number(1, "version");
        }),
        step(|c| {
            c.set(1, "version", 2);
        }),
        Box::new(|_: &mut Ctx<'_>| Flow::Abort) as crate::script::Step,
    ];
    Case::new("G1a", persons(&[1], "version", 1), vec![writer, vec![read(), read(), read()]], |done, _| {
        done[1].trace.kept.iter().any(|&n| n != 1)
    })
}

fn g1b() -> Case {
    let read = || {
        step(|c| {
            let n = c.number(1, "version");
            c.keep(n)
        })
    };
    let writer = vec![
        step(|c| {
            c.set(1, "version", 0);
        }),
        pause(),
        step(|c| {
            c.set(1, "version", 1);
        }),
    ];
    Case::new("G1b", persons(&[1], "version", 99), vec![writer, vec![read(), read(), read()]], |done, _| {
        done[1].trace.kept.iter().any(|&n| n % 2 == 0)
    })
}

/// Makes transactions that each write one vertex and read the next one. They must not read from each other in
/// a cycle of any length.
fn g1c(name: &'static str, count: u64) -> Case {
    let txn = |i: u64| -> Script {
        let mut script = vec![
            step(move |c| {
                c.set(i, "version", i as i64);
            }),
            step(move |c| {
                let n = c.number(i % count + 1, "version");
                c.keep(n)
            }),
        ];
        if count == 2 {
            script.push(pause());
        }
        script
    };
    Case::new(name, persons(&[1, 2, 3], "version", 0), (1..=count).map(txn).collect(), |done, _| {
        let read_from = |t: &Done| t.trace.kept.first().copied().unwrap_or(0);
        let unborn = done.iter().any(|t| {
            let writer = read_from(t);
            writer != 0 && !done[writer as usize - 1].committed()
        });
        unborn || done.iter().all(|t| t.committed() && read_from(t) != 0)
    })
    // Each transaction may miss the other's write: write skew.
    .not_serial()
}

fn imp() -> Case {
    let read = || {
        step(|c| {
            let n = c.number(1, "version");
            c.keep(n)
        })
    };
    let writer = || {
        vec![
            step(|c| {
                let n = c.number(1, "version");
                c.keep(n)
            }),
            step(|c| {
                let n = c.kept(0);
                c.set(1, "version", n + 1);
            }),
        ]
    };
    Case::new(
        "IMP",
        persons(&[1], "version", 1),
        vec![writer(), writer(), vec![read(), read()]],
        |done, _| done[2].trace.kept[0] != done[2].trace.kept[1],
    )
}

fn pmp() -> Case {
    const POST: u64 = 9;
    let likes = |person: u64| ("likes", person, POST, 0);
    let count = || {
        step(|c| {
            let likes = c.list("likes", POST, In).len();
            // This is also a pattern of two hops: the likes of the persons whom Alice knows.
            let hops =
                c.list("knows", 1, Out).iter().map(|&(v, _)| c.list("likes", v, Out).len()).sum::<usize>();
            c.keep((likes * 100 + hops) as i64);
        })
    };
    Case::new(
        "PMP",
        vec![step(move |c| {
            c.insert_vertex(POST);
            c.put_edge(KNOWS);
            c.put_edge(likes(2));
        })],
        vec![
            vec![step(move |c| c.put_edge(likes(1))), step(move |c| c.put_edge(("likes", 2, 8, 0)))],
            vec![
                pause(),
                step(move |c| {
                    c.remove_edge(likes(2));
                }),
            ],
            vec![count(), count()],
        ],
        |done, _| done[2].trace.kept[0] != done[2].trace.kept[1],
    )
}

fn read_cycle(c: &mut Ctx<'_>) {
    let mut at = CYCLE[0];
    for _ in CYCLE {
        let n = c.number(at, "version");
        c.keep(n);
        at = c.list("knows", at, Out)[0].0;
    }
    assert_eq!(at, CYCLE[0]);
}

fn cycle() -> Script {
    vec![step(|c| {
        for (i, v) in CYCLE.into_iter().enumerate() {
            c.put_edge(("knows", v, CYCLE[(i + 1) % 4], 0));
        }
        CYCLE.into_iter().for_each(|v| {
            c.set(v, "version", 1);
        });
    })]
}

fn raise(ids: &'static [u64]) -> crate::script::Step {
    step(move |c| {
        for &v in ids {
            let n = c.number(v, "version");
            c.set(v, "version", n + 1);
        }
    })
}

fn otv() -> Case {
    Case::new(
        "OTV",
        cycle(),
        vec![
            vec![raise(&[1, 2]), raise(&[3, 4])],
            vec![raise(&[3, 4]), raise(&[1, 2])],
            vec![step(read_cycle), step(read_cycle)],
        ],
        |done, _| {
            let (first, second) = done[2].trace.kept.split_at(4);
            first.iter().max() > second.iter().min()
        },
    )
}

fn fr() -> Case {
    Case::new(
        "FR",
        cycle(),
        vec![
            vec![raise(&[1]), raise(&[2, 3, 4])],
            vec![raise(&[4, 3]), raise(&[2, 1])],
            vec![step(read_cycle), step(read_cycle)],
        ],
        |done, _| done[2].trace.kept.windows(2).any(|pair| pair[0] != pair[1]),
    )
}

fn lu(name: &'static str, count: u64) -> Case {
    let txn = |t: u64| -> Script {
        let mut script = vec![
            step(move |c| {
                let n = c.number(1, "numFriends");
                c.keep(n);
                c.insert_vertex(10 + t);
                c.put_edge(("knows", 1, 10 + t, 0));
            }),
            step(|c| {
                let n = c.kept(0);
                c.set(1, "numFriends", n + 1);
            }),
        ];
        if count == 2 {
            script.insert(1, pause());
        }
        script
    };
    Case::new(name, persons(&[1], "numFriends", 0), (0..count).map(txn).collect(), |done, state| {
        let friends = number(state, 1, "numFriends") as usize;
        friends != state.edges.len() || friends != committed(done)
    })
}

fn ws() -> Case {
    let txn = |own: u64| -> Script {
        vec![
            Box::new(|c: &mut Ctx<'_>| {
                let sum = c.number(1, "value") + c.number(2, "value");
                if sum < 100 { Flow::Abort } else { Flow::Go }
            }),
            step(move |c| {
                let n = c.number(own, "value");
                c.keep(n)
            }),
            step(move |c| {
                let n = c.kept(0);
                c.set(own, "value", n - 100);
            }),
        ]
    };
    Case::new(
        "WS",
        vec![step(|c| {
            for (id, value) in [(1, 70), (2, 80)] {
                c.insert_vertex(id);
                c.set(id, "value", value);
            }
        })],
        vec![txn(1), txn(2)],
        |_, state| number(state, 1, "value") + number(state, 2, "value") <= 0,
    )
    .skewed()
}

/// Returns all cases; some in two sizes.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        atomicity_c(),
        atomicity_rb(),
        g0(),
        g1a(),
        g1b(),
        g1c("G1c", 2),
        g1c("G1c of three", 3),
        imp(),
        pmp(),
        otv(),
        fr(),
        lu("LU", 2),
        lu("LU of three", 3),
        ws(),
    ]
}
