//! Each point in the engine, with each possible action there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use hedgerow::io::failpoint::{self, Action, FailPoint};
use hedgerow::{
    CommitError, Direction, Durability, Error, Graph, KeyKind, Options, StateError, StorageError,
};
use hedgerow_testkit::{Effort, FOR_EVER, SimFs, explored};

use crate::world::{Verdict, World, in_time, options};

/// The numbers of passes through a point before the action happens.
const PASSES: [u64; 3] = [0, 1, 4];

/// Returns the possible actions at a point. A point without a possible error has no error action.
fn actions(point: FailPoint) -> &'static [Action] {
    use FailPoint::*;
    match point {
        CheckpointThread | SettleThread | SyncThread | TicketThread => &[Action::Error],
        CheckpointSwitched | SettleTurn | SettleSubgraph | ViewPart | BatchCompute | BatchApply => {
            &[Action::Panic, Action::Delay]
        }
        CheckpointBegin | CheckpointImage | CheckpointWritten | CheckpointRemove | SyncTurn | TicketTurn => {
            &[Action::Error, Action::Panic, Action::Delay]
        }
    }
}

fn run(point: FailPoint, action: Action, pass: u64, seed: u64) -> Verdict<()> {
    use FailPoint::*;
    // An error of a sync turn matters only if the turn has bytes to sync, so every turn gets the error.
    let times = if (point, action) == (SyncTurn, Action::Error) { u64::MAX } else { 1 };
    failpoint::arm(point, action, pass, times);
    match point {
        CheckpointThread => no_checkpoint_thread(seed),
        CheckpointBegin | CheckpointImage | CheckpointWritten | CheckpointSwitched | CheckpointRemove => {
            checkpoint(point, action, seed)
        }
        SettleThread | SettleTurn | SettleSubgraph => settle(action, seed),
        SyncThread => no_sync_thread(seed),
        SyncTurn => sync(action, seed),
        TicketThread | TicketTurn => ticket(point, action, seed),
        ViewPart => view(action, seed),
        BatchCompute | BatchApply => batch(point, action, seed),
    }
}

fn expect(what: &str, holds: bool) -> Verdict<()> {
    if holds { Ok(()) } else { Err(format!("expected: {what}")) }
}

fn open(options: Options, seed: u64) -> Verdict<World> {
    World::open(SimFs::new(), options, seed).map_err(|e| e.to_string())
}

fn failures(world: &World) -> u64 {
    world.graph.stats().map_or(0, |stats| stats.failed_checkpoints)
}

fn checkpoints(world: &World) -> u64 {
    world.graph.stats().map_or(0, |stats| stats.background_checkpoints)
}

fn no_checkpoint_thread(seed: u64) -> Verdict<()> {
    let mut world = open(options(), seed)?;
    expect("commits go on", world.commit_until(|_| failpoint::happened() > 0)?)?;
    expect("no thread is reported", world.graph.checkpoint_error().is_some())?;
    for _ in 0..30 {
        expect("commits do not wait for who does not come", world.commit()?)?;
    }
    world.graph.checkpoint().map_err(|e| e.to_string())?;
    expect("the report is taken back", world.graph.checkpoint_error().is_none())?;
    world.end()
}

fn checkpoint(point: FailPoint, action: Action, seed: u64) -> Verdict<()> {
    let mut world = open(options(), seed)?;
    let mut going = world.commit_until(|_| failpoint::happened() > 0)?;
    // If a removal fails, the files stay until the next opening; this is no failure of the checkpoint.
    let fails = action != Action::Delay && !(point == FailPoint::CheckpointRemove && action == Action::Error);
    let in_switch = matches!(point, FailPoint::CheckpointSwitched | FailPoint::CheckpointRemove);
    if action == Action::Panic && in_switch {
        going = going && world.commit_until(|_| false).map_err(|_| "it is never poisoned".to_owned())?;
        expect("a panic in a switch of manifests poisons", !going && world.is_poisoned())?;
        return world.end();
    }
    expect("commits go on", going)?;
    let done = checkpoints(&world);
    if fails {
        going = world.commit_until(|w| failures(w) > 0)?;
        expect("commits go on", going)?;
    }
    going = world.commit_until(|w| checkpoints(w) > done + u64::from(!fails))?;
    expect("checkpoints go on", going)?;
    expect("the report is taken back", world.graph.checkpoint_error().is_none())?;
    expect("failures are counted", (failures(&world) > 0) == fails)?;
    world.end()
}

fn no_sync_thread(seed: u64) -> Verdict<()> {
    let disk = SimFs::new();
    let group = || options().durability(Durability::Group(Duration::from_millis(1)));
    let refused =
        matches!(World::open(disk.clone(), group(), seed), Err(Error::Storage(StorageError::Io { .. })));
    expect("no thread, no store that promises to sync", refused)?;
    let mut world = World::open(disk, group(), seed).map_err(|e| e.to_string())?;
    expect("it opens later", world.commit()?)?;
    world.graph.flush().map_err(|e| e.to_string())?;
    world.end()
}

fn sync(action: Action, seed: u64) -> Verdict<()> {
    let mut world = open(options().durability(Durability::Group(Duration::from_millis(1))), seed)?;
    let until = Instant::now() + FOR_EVER;
    while failpoint::happened() == 0 && world.commit()? && Instant::now() < until {
        std::thread::sleep(Duration::from_micros(300));
    }
    if action == Action::Delay {
        for _ in 0..10 {
            expect("commits go on", world.commit()?)?;
        }
        world.graph.flush().map_err(|e| e.to_string())?;
        return world.end();
    }
    while !world.is_poisoned() {
        if !world.commit()? {
            break;
        }
        if Instant::now() > until {
            return Err("nothing syncs any more, and nobody says so".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    expect(
        "flush says that the log failed",
        matches!(
            world.graph.flush(),
            Err(Error::State(StateError::Poisoned) | Error::Commit(CommitError::OutcomeUnknown))
        ),
    )?;
    world.end_durable()
}

fn ticket(point: FailPoint, action: Action, seed: u64) -> Verdict<()> {
    let mut world = open(options(), seed)?;
    let fails = point == FailPoint::TicketTurn && action != Action::Delay;
    let until = Instant::now() + FOR_EVER;
    while failpoint::happened() == 0 && Instant::now() < until {
        if !world.submit()? {
            break;
        }
    }
    if fails {
        while !world.is_poisoned() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        expect("who waits for nobody is told by poison", world.is_poisoned())?;
    } else {
        for _ in 0..10 {
            expect("tickets go on", world.submit()?)?;
        }
    }
    world.end()
}

/// Makes a graph without files whose subgraphs merge.
fn merging(background: bool, seed: u64) -> Verdict<(Graph, Vec<Vec<u64>>)> {
    let options = crate::common::small().keys(KeyKind::Dense).background_settling(background);
    let graph = options.in_memory().map_err(|e| e.to_string())?;
    let mut rng = hedgerow_testkit::sim_fs::SplitMix64::new(seed);
    let mut expected = vec![std::collections::BTreeSet::new(); 300];
    for _ in 0..12_000 {
        let (u, v) = (rng.below(300), rng.below(300));
        graph.insert_edge((u, v)).map_err(|e| e.to_string())?;
        expected[u as usize].insert(v);
    }
    Ok((graph, expected.into_iter().map(|list| list.into_iter().collect()).collect()))
}

fn lists(graph: &Graph, through_a_view: bool) -> Vec<Vec<u64>> {
    let snapshot = graph.snapshot().expect("a snapshot");
    if through_a_view {
        snapshot.default_label().view().unwrap();
    }
    let key = |key| match key {
        hedgerow::VertexKey::U64(n) => n,
        other => panic!("{other}"),
    };
    let of = |v: u64| snapshot.neighbors(v, Direction::Out).unwrap().unwrap_or_default().into_iter().map(key);
    (0..300).map(|v| of(v).collect()).collect()
}

fn settle(action: Action, seed: u64) -> Verdict<()> {
    let (graph, expected) = merging(true, seed)?;
    let until = Instant::now() + FOR_EVER;
    while failpoint::happened() == 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    let stats = || graph.stats().map_err(|e| e.to_string());
    if action == Action::Error {
        graph.settle().map_err(|e| e.to_string())?;
    }
    while stats()?.delta_entries > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    expect("everything is settled in the end", stats()?.delta_entries == 0)?;
    expect("panics are counted", (stats()?.failed_settlings > 0) == (action == Action::Panic))?;
    expect("the graph is the same", lists(&graph, false) == expected)?;
    crate::common::sound(&graph)
}

fn view(action: Action, seed: u64) -> Verdict<()> {
    let (graph, mut expected) = merging(false, seed)?;
    // The first views may pass the point without the action.
    for round in 0..6 {
        let attempt = catch_unwind(AssertUnwindSafe(|| lists(&graph, true)));
        match attempt {
            Ok(found) => expect("a view is right", found == expected)?,
            Err(_) => expect("only a panic panics", action == Action::Panic)?,
        }
        expect("the next view is right", lists(&graph, true) == expected)?;
        let edge = (round, 299 - round);
        graph.insert_edge((edge.0, edge.1)).map_err(|e| e.to_string())?;
        let list = &mut expected[round as usize];
        if let Err(at) = list.binary_search(&edge.1) {
            list.insert(at, edge.1);
        }
    }
    crate::common::sound(&graph)
}

fn batch(point: FailPoint, action: Action, seed: u64) -> Verdict<()> {
    let disk = SimFs::new();
    let open =
        || crate::common::small().keys(KeyKind::Dense).open_on(disk.handle()).map_err(|e| e.to_string());
    let graph = open()?;
    let mut rng = hedgerow_testkit::sim_fs::SplitMix64::new(seed);
    let mut batch = |most: usize| -> Vec<(u64, u64)> {
        let edges = (0..most).map(|_| (rng.below(9_000), rng.below(9_000)));
        edges.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    };
    let insert = |edges: &[(u64, u64)]| -> hedgerow::Result<()> {
        let mut tx = graph.write()?;
        tx.insert_edges(edges)?;
        tx.commit().map(drop)
    };
    let count = |graph: &Graph| graph.snapshot().map(|s| s.edge_count().unwrap()).map_err(|e| e.to_string());
    let edges = batch(20_000);
    let attempt = catch_unwind(AssertUnwindSafe(|| insert(&edges)));
    expect("a panic, if there was one, reaches the caller", attempt.is_err() == (action == Action::Panic))?;
    let poisoned = matches!(graph.write(), Err(Error::State(StateError::Poisoned)));
    let half_applied = action == Action::Panic && point == FailPoint::BatchApply;
    expect("only what may be half applied poisons", poisoned == half_applied)?;
    let visible = if action == Action::Panic { 0 } else { edges.len() as u64 };
    expect("readers see all or nothing", count(&graph)? == visible)?;
    if half_applied {
        drop(graph);
        let graph = open()?;
        let found = count(&graph)?;
        expect("the outcome is all or nothing", found == 0 || found == edges.len() as u64)?;
        return crate::common::sound(&graph);
    }
    let all: std::collections::BTreeSet<_> =
        edges.iter().copied().filter(|_| visible > 0).chain(batch(9_000)).collect();
    insert(&all.iter().copied().collect::<Vec<_>>()).map_err(|e| e.to_string())?;
    expect("the next batch is whole", count(&graph)? == all.len() as u64)?;
    crate::common::sound(&graph)?;
    drop(graph);
    let graph = open()?;
    expect("and stays", count(&graph)? == all.len() as u64)
}

#[test]
fn every_point_with_every_action() {
    let _alone = crate::world::alone();
    crate::world::hush();
    let (mut pairs, mut runs) = (0, 0);
    let effort = Effort::rounds(1);
    while let Some(seed) = effort.next_seed() {
        for point in FailPoint::ALL {
            for &action in actions(point) {
                let mut happened = 0;
                for pass in PASSES {
                    let what = format!("HEDGEROW_ROUND={seed}, {action:?} at {point:?} after {pass}");
                    let only_once = format!("{point:?}").ends_with("Thread")
                        || format!("{point:?}").starts_with("Settle");
                    if only_once && pass > 0 {
                        break;
                    }
                    // If the point has fewer passes than requested, the action does not happen and has no
                    // effect.
                    let verdict = in_time(&what, move || run(point, action, pass, seed));
                    let times = failpoint::disarm();
                    if times > 0 {
                        verdict.unwrap_or_else(|e| panic!("{e}"));
                    }
                    happened += times;
                    runs += u64::from(times > 0);
                }
                pairs += u64::from(happened > 0);
                if happened == 0 {
                    println!("nothing happened: {action:?} at {point:?}");
                }
            }
        }
    }
    println!("{runs} runs");
    explored("points of background work x what happens there", pairs, 32);
}

/// Arms a point in the checkpoint that the close writes. The close must succeed, seal the log and release the
/// directory.
fn at_close(point: FailPoint, action: Action, pass: u64, seed: u64) -> Verdict<()> {
    let options = options().checkpoint_log_bytes(1 << 30).durability(Durability::Manual);
    let mut world = open(crate::common::checkpoints_at_close(options, true), seed)?;
    for _ in 0..6 {
        expect("commits go on", world.commit()?)?;
    }
    failpoint::arm(point, action, pass, 1);
    let graph = world.graph.clone();
    world.end_sealed()?;
    let told = graph.checkpoint_error();
    let removes = point == FailPoint::CheckpointRemove && action == Action::Error;
    let fails = failpoint::happened() > 0 && action != Action::Delay && !removes;
    expect("what failed is told, and nothing else", told.is_some() == fails)?;
    expect("closing again says the same", graph.close().is_ok())
}

#[test]
fn every_point_of_the_checkpoint_that_closing_writes() {
    use FailPoint::*;
    let _alone = crate::world::alone();
    crate::world::hush();
    let mut pairs = 0;
    for point in [CheckpointBegin, CheckpointImage, CheckpointWritten, CheckpointSwitched, CheckpointRemove] {
        for &action in actions(point) {
            for pass in [0, 1] {
                let what = format!("{action:?} at {point:?} after {pass}");
                let verdict = in_time(&what, move || at_close(point, action, pass, 1));
                pairs += u64::from(failpoint::disarm() > 0 && pass == 0);
                verdict.unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }
    explored("points of the checkpoint of a close x what happens there", pairs, 14);
}
