//! Checks of every graph type that changes. One suite serves the store and the containers that the store is
//! compared with.
//!
//! [`sequences`] compares random transactions and their open snapshots with plain sets. [`histories`] runs
//! writing and reading threads, and replays the reads in the order of the commits. [`memory_returns`] removes
//! all edges that it inserted.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hedgerow_core::{
    Capability, Direction, DynamicGraph, GraphSnapshot, Resident, Topology, Update, VertexId, Written,
};
use hedgerow_workload::rng::Rng;

use super::{PlainGraph, check};
use crate::history::{self, Event, Level, Txn};

/// The number of ids in sequences; they are in several subgraphs.
const IDS: u32 = 300;
/// The number of vertices whose lists become long.
const HUBS: u32 = 4;
/// The number of snapshots that are open at one time.
const HELD: usize = 3;

fn lacks<G: DynamicGraph>(capability: Capability) -> bool {
    G::LACKS.contains(&capability)
}

/// Returns the key of an edge in a plain graph.
fn key(graph: &PlainGraph, src: VertexId, dst: VertexId) -> (u32, u32) {
    if graph.directed { (src.0, dst.0) } else { (src.0.min(dst.0), src.0.max(dst.0)) }
}

/// Applies one update. The graph has room for all ids.
fn apply(graph: &mut PlainGraph, update: Update) {
    match update {
        Update::InsertVertex(v) => graph.live[v.index()] = true,
        Update::RemoveVertex(v) => {
            graph.live[v.index()] = false;
            graph.edges.retain(|&(a, b), _| a != v.0 && b != v.0);
        }
        Update::InsertEdge(src, dst, weight) => {
            graph.live[src.index()] = true;
            graph.live[dst.index()] = true;
            let weight = if graph.weighted { weight } else { 1.0 };
            graph.edges.insert(key(graph, src, dst), weight);
        }
        Update::RemoveEdge(src, dst) => {
            graph.edges.remove(&key(graph, src, dst));
        }
    }
}

/// Draws an update. Most updates concern edges. Many edges end at hubs, and many exist already or existed
/// earlier.
fn random_update(rng: &mut Rng, graph: &PlainGraph) -> Update {
    let any = |rng: &mut Rng| VertexId(rng.below(u64::from(IDS)) as u32);
    let end = |rng: &mut Rng| match rng.chance(0.5) {
        true => VertexId(rng.below(u64::from(HUBS)) as u32 * (IDS / HUBS)),
        false => any(rng),
    };
    let known = |rng: &mut Rng| {
        let at = rng.below(graph.edges.len().max(1) as u64) as usize;
        graph.edges.keys().nth(at).map(|&(src, dst)| (VertexId(src), VertexId(dst)))
    };
    match rng.below(100) {
        0..2 => Update::InsertVertex(any(rng)),
        2..4 => Update::RemoveVertex(end(rng)),
        4..25 => match known(rng) {
            Some((src, dst)) => Update::RemoveEdge(src, dst),
            None => Update::RemoveEdge(any(rng), any(rng)),
        },
        25..30 => match known(rng) {
            Some((src, dst)) => Update::InsertEdge(src, dst, rng.below(9) as f64),
            None => Update::InsertEdge(any(rng), any(rng), 2.5),
        },
        _ => Update::InsertEdge(end(rng), any(rng), rng.below(9) as f64 - 3.0),
    }
}

/// Compares random transactions on an empty graph of this form with plain sets. Open snapshots must not
/// change.
///
/// # Panics
/// If there is a difference.
pub fn sequences<G: DynamicGraph>(new: impl Fn(bool, bool) -> G, seed: u64) {
    let mut rng = Rng::new(seed);
    let (directed, weighted) = (rng.chance(0.5), rng.chance(0.5));
    let graph = new(directed, weighted);
    let mut plain = PlainGraph { directed, weighted, live: vec![false; IDS as usize], ..Default::default() };
    let mut held: Vec<(G::Snapshot, PlainGraph)> = Vec::new();
    let mut last = 0;
    for step in 0..30 {
        // Most steps have one update. Some steps have batches, and few batches are larger than the graph.
        let size = [1, 1, 1, 1, 2, 7, 60, 500][rng.below(8) as usize];
        let before = plain.clone();
        let mut updates = Vec::with_capacity(size);
        for _ in 0..size {
            let update = random_update(&mut rng, &plain);
            apply(&mut plain, update);
            updates.push(update);
        }
        let written = write(&graph, &updates);
        assert!(written.timestamp.0 >= last, "timestamps ascend");
        last = written.timestamp.0;
        assert_eq!(
            written.edges,
            plain.edges.len() as i64 - before.edges.len() as i64,
            "edges by {updates:?}"
        );
        let live = |graph: &PlainGraph| graph.live.iter().filter(|&&live| live).count() as i64;
        assert_eq!(written.vertices, live(&plain) - live(&before), "vertices by {updates:?}");
        if step % 2 == 0 || size > 1 {
            let snapshot = graph.snapshot().expect("a snapshot");
            edges_are(&mut rng, &snapshot, &plain);
            if step % 8 == 0 {
                check(&snapshot, &plain);
            }
            if !lacks::<G>(Capability::Versions) && rng.chance(0.5) {
                held.push((snapshot, plain.clone()));
            }
        }
        if held.len() > HELD {
            let (snapshot, then) = held.remove(rng.below(held.len() as u64) as usize);
            same(&mut rng, &snapshot, &then);
        }
        if rng.chance(0.05) {
            graph.reclaim().expect("memory is given back");
        }
    }
    for (snapshot, then) in &held {
        same(&mut rng, snapshot, then);
    }
    drop(held);
    graph.reclaim().expect("memory is given back");
    same(&mut rng, &graph.snapshot().expect("a snapshot"), &plain);
}

/// Makes one update through its own method, and several updates as a transaction.
fn write<G: DynamicGraph>(graph: &G, updates: &[Update]) -> Written {
    graph.write(updates).expect("ids and weights are valid")
}

/// Checks all answers of a snapshot.
fn same<S: GraphSnapshot>(rng: &mut Rng, snapshot: &S, plain: &PlainGraph) {
    edges_are(rng, snapshot, plain);
    check(snapshot, plain);
}

/// Checks the counts and single edges.
fn edges_are<S: GraphSnapshot>(rng: &mut Rng, snapshot: &S, plain: &PlainGraph) {
    assert_eq!(snapshot.edge_count(), plain.edges.len() as u64);
    for _ in 0..50 {
        let (src, dst) =
            (VertexId(rng.below(u64::from(IDS)) as u32), VertexId(rng.below(u64::from(IDS)) as u32));
        let expected = plain.edges.get(&key(plain, src, dst)).copied();
        assert_eq!(snapshot.search_edge(src, dst), expected, "edge {src:?} {dst:?}");
    }
    for (&(src, dst), &weight) in plain.edges.iter().take(200) {
        assert_eq!(snapshot.search_edge(VertexId(src), VertexId(dst)), Some(weight), "edge {src} {dst}");
    }
}

/// Checks each kind of update through its own method: its results, a second insertion after a removal, and
/// loops.
///
/// # Panics
/// If there is a difference.
pub fn single_updates<G: DynamicGraph>(new: impl Fn(bool, bool) -> G) {
    let (a, b, c) = (VertexId(3), VertexId(64), VertexId(200));
    for (directed, weighted) in [(false, false), (false, true), (true, false), (true, true)] {
        let graph = new(directed, weighted);
        let made = "the update is valid";
        assert!(graph.insert_vertex(a).expect(made) && !graph.insert_vertex(a).expect(made));
        for round in 0..3 {
            assert!(graph.insert_edge(a, b, 2.0).expect(made) && !graph.insert_edge(a, b, 3.0).expect(made));
            assert!(graph.insert_edge(b, b, 1.5).expect(made), "a loop is new in round {round}");
            assert!(graph.insert_edge(c, b, 4.0).expect(made));
            let snapshot = graph.snapshot().expect("a snapshot");
            assert_eq!((snapshot.vertex_count(), snapshot.edge_count()), (3, 3));
            assert_eq!(snapshot.search_edge(a, b), Some(if weighted { 3.0 } else { 1.0 }));
            assert_eq!(snapshot.search_edge(b, a).is_some(), !directed);
            assert_eq!(snapshot.degree(b, Direction::In), 3);
            drop(snapshot);
            assert!(graph.remove_edge(a, b).expect(made) && !graph.remove_edge(a, b).expect(made));
            assert!(graph.remove_vertex(b).expect(made) && !graph.remove_vertex(b).expect(made));
            let snapshot = graph.snapshot().expect("a snapshot");
            assert_eq!((snapshot.vertex_count(), snapshot.edge_count()), (2, 0));
            assert!(!snapshot.contains(b) && snapshot.contains(c) && snapshot.search_edge(c, b).is_none());
        }
        let out_of_range = graph.insert_edge(a, VertexId(u32::MAX), 1.0);
        assert!(out_of_range.is_err() && (!weighted || graph.insert_edge(a, c, f64::NAN).is_err()));
        assert_eq!(graph.snapshot().expect("a snapshot").edge_count(), 0, "what is refused changes nothing");
    }
}

/// Checks the memory after the removal of all edges. If the graph has versions, a snapshot with the edges is
/// open during the removals, and is dropped before the check.
///
/// # Panics
/// If more than an eighth of the memory of the edges is left.
pub fn memory_returns<G: DynamicGraph>(new: impl Fn(bool, bool) -> G) {
    const EDGES: u64 = 12_000;
    /// The time for walks to end. Walks are short. A longer walk lost its processor, for a few seconds at
    /// most.
    const PATIENCE: Duration = Duration::from_secs(20);
    let graph = new(false, false);
    let vertices: Vec<Update> = (0..IDS).map(|v| Update::InsertVertex(VertexId(v))).collect();
    write(&graph, &vertices);
    let empty = graph.memory_bytes();
    let mut rng = Rng::new(9);
    let mut end = || VertexId(rng.below(u64::from(IDS)) as u32);
    let edges: Vec<(VertexId, VertexId)> = (0..EDGES).map(|_| (end(), end())).collect();
    for (i, chunk) in edges.chunks(100).enumerate() {
        let insert = |&(src, dst): &(VertexId, VertexId)| Update::InsertEdge(src, dst, 1.0);
        let batch = if i % 2 == 0 { chunk.len() } else { 1 };
        for batch in chunk.chunks(batch) {
            write(&graph, &batch.iter().map(insert).collect::<Vec<_>>());
        }
    }
    let full = graph.memory_bytes();
    let held = (!lacks::<G>(Capability::Versions)).then(|| graph.snapshot().expect("a snapshot"));
    let count = held.as_ref().map(|snapshot| snapshot.edge_count());
    for &(src, dst) in &edges {
        write(&graph, &[Update::RemoveEdge(src, dst)]);
    }
    if let (Some(held), Some(count)) = (&held, count) {
        let degrees = (0..IDS).map(|v| held.degree(VertexId(v), Direction::Out) as u64).sum::<u64>();
        let loops = (0..IDS).filter(|&v| held.search_edge(VertexId(v), VertexId(v)).is_some()).count() as u64;
        assert_eq!(degrees, 2 * count - loops, "a held snapshot keeps its edges");
    }
    drop(held);
    let (begun, most) = (Instant::now(), empty + (full - empty) / 8);
    let after = loop {
        graph.reclaim().expect("memory is given back");
        let after = graph.memory_bytes();
        // A walk of another test in the same process may keep unlinked versions.
        if after <= most || begun.elapsed() > PATIENCE {
            break after;
        }
        thread::sleep(Duration::from_millis(1));
    };
    assert!(after <= most, "{empty} bytes without edges, {full} with, {after} after");
}

/// Runs writing threads concurrently with threads that read `snapshots` snapshots each. Checks the result by
/// the order of the timestamps: [`history::check`].
///
/// # Panics
/// If the order of commits does not explain the reads.
pub fn histories<G: DynamicGraph>(new: impl Fn(bool, bool) -> G, seed: u64, snapshots: u32) {
    const WRITERS: u32 = 3;
    const READERS: u32 = 2;
    let graph = new(seed.is_multiple_of(2), false);
    let (moments, reading) = (&AtomicU64::new(0), &AtomicU64::new(u64::from(READERS)));
    let (graph, begin) = (&graph, &Barrier::new((WRITERS + READERS) as usize));
    let history: Vec<Txn> = thread::scope(|scope| {
        let writers = (0..WRITERS).map(|writer| {
            scope.spawn(move || {
                begin.wait();
                writes(graph, moments, seed, writer, reading)
            })
        });
        let readers = (0..READERS).map(|reader| {
            scope.spawn(move || {
                begin.wait();
                let txns = reads(graph, moments, Rng::part(seed, 100 + u64::from(reader)), snapshots);
                reading.fetch_sub(1, Ordering::SeqCst);
                txns
            })
        });
        let threads: Vec<_> = writers.chain(readers).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread fails")).collect()
    });
    if let Err(violation) = history::check(Level::Serializable, &history, |_| false) {
        panic!("seed {seed}: {violation}");
    }
    let added = |event: &Event| {
        i64::from(matches!(event, Event::Add(..))) - i64::from(matches!(event, Event::Remove(..)))
    };
    let edges: i64 = history.iter().flat_map(|txn| &txn.events).map(added).sum();
    assert_eq!(graph.snapshot().expect("a snapshot").edge_count() as i64, edges, "edges in the end");
}

/// The number of sources whose lists are written and read. They are in several subgraphs.
const ITEMS: u32 = 6;
/// The maximum number of transactions of a writer, in case the readers get no processor.
const MOST_TRANSACTIONS: u32 = 50_000;

fn source(item: u32) -> VertexId {
    VertexId(item * 50)
}

fn now(moments: &AtomicU64) -> u64 {
    moments.fetch_add(1, Ordering::SeqCst)
}

/// Writes transactions until no reader is left. Each transaction adds a new element to one or two items, or
/// removes an element that this thread added before. The removal is from one item, or of the vertex with all
/// its edges.
fn writes<G: DynamicGraph>(
    graph: &G,
    moments: &AtomicU64,
    seed: u64,
    writer: u32,
    reading: &AtomicU64,
) -> Vec<Txn> {
    let mut rng = Rng::part(seed, u64::from(writer));
    let mut own: Vec<(u32, u32)> = Vec::new();
    let mut next = 0;
    let go_on = (0..MOST_TRANSACTIONS).take_while(|_| reading.load(Ordering::SeqCst) > 0);
    go_on
        .map(|_| {
            let (mut events, mut updates) = (Vec::new(), Vec::new());
            for _ in 0..1 + rng.below(2) {
                if rng.chance(0.55) && !own.is_empty() {
                    remove(&mut rng, &mut own, &mut events, &mut updates);
                } else {
                    // Elements of different writers alternate, so that the writers change the same place of a
                    // list.
                    let element = 400 + next * 3 + writer;
                    next += 1;
                    let first = rng.below(u64::from(ITEMS)) as u32;
                    for item in (first..ITEMS).step_by(3).take(1 + rng.below(2) as usize) {
                        own.push((item, element));
                        events.push(Event::Add(item, element));
                        updates.push(Update::InsertEdge(source(item), VertexId(element), 1.0));
                    }
                }
            }
            let began = now(moments);
            let ts = write(graph, &updates).timestamp.0;
            Txn { began, ended: now(moments), start: ts, ts, events }
        })
        .collect()
}

/// Removes one of the edges that a thread added, or the vertex at the edge's end.
fn remove(rng: &mut Rng, own: &mut Vec<(u32, u32)>, events: &mut Vec<Event>, updates: &mut Vec<Update>) {
    let (item, element) = own[rng.below(own.len() as u64) as usize];
    let is_vertex = rng.chance(0.3);
    let goes = |edge: &(u32, u32)| edge.1 == element && (is_vertex || edge.0 == item);
    events.extend(own.iter().filter(|edge| goes(edge)).map(|&(item, element)| Event::Remove(item, element)));
    own.retain(|edge| !goes(edge));
    updates.push(match is_vertex {
        true => Update::RemoveVertex(VertexId(element)),
        false => Update::RemoveEdge(source(item), VertexId(element)),
    });
}

/// Reads the list of one item, and checks other answers of the snapshot about the item.
fn list_of<S: GraphSnapshot>(snapshot: &S, item: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let visited = snapshot.visit([source(item)], Direction::Out, |_, run| {
        found.extend(run.iter().map(|v| v.0));
    });
    visited.expect("the snapshot can be read");
    found.sort_unstable();
    assert_eq!(snapshot.degree(source(item), Direction::Out), found.len(), "the degree of item {item}");
    if let Some(&element) = found.first() {
        assert_eq!(
            snapshot.search_edge(source(item), VertexId(element)),
            Some(1.0),
            "an edge of item {item}"
        );
        assert!(snapshot.contains(VertexId(element)), "the end of an edge");
        let others = snapshot.degree(VertexId(element), Direction::In);
        assert!((1..=2).contains(&others), "{others} edges of an element");
    }
    found
}

/// Reads all items in snapshots, some of them twice.
fn reads<G: DynamicGraph>(graph: &G, moments: &AtomicU64, mut rng: Rng, snapshots: u32) -> Vec<Txn> {
    let mut txns = Vec::new();
    for _ in 0..snapshots {
        let began = now(moments);
        let snapshot = graph.snapshot().expect("a snapshot");
        let mut events = Vec::new();
        for _ in 0..1 + rng.below(2) {
            let lists: Vec<Vec<u32>> = (0..ITEMS).map(|item| list_of(&snapshot, item)).collect();
            // Every edge leads from an item to an element.
            assert_eq!(snapshot.edge_count(), lists.iter().map(|list| list.len() as u64).sum(), "edges");
            events.extend((0..ITEMS).zip(lists).map(|(item, list)| Event::Read(item, list)));
            thread::yield_now();
        }
        let ts = snapshot.timestamp().0;
        drop(snapshot);
        txns.push(Txn { began, ended: now(moments), start: ts, ts, events });
    }
    txns
}
