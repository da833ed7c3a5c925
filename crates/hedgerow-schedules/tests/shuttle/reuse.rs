//! A program in which the id of a vertex goes to another vertex while a single operation writes to the first
//! one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{Direction, KeyKind, Options, VertexKey};

/// The number of rounds of the test. Each explores many schedules.
pub(crate) const ROUNDS: u64 = 50;

/// The vertex that the operation names.
const GONE: u64 = 1;
/// The vertex that gets the id of the removed one.
const NEXT: u64 = 2;
/// The other end of the edge.
const END: u64 = 3;

#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) schedules: Arc<AtomicU64>,
    /// The number of schedules in which the new vertex got the id.
    pub(crate) moved: Arc<AtomicU64>,
}

/// One thread joins two vertices in a transaction of its own. Another one removes one of them and inserts a
/// third vertex, which gets the same id, because no snapshot sees the removed vertex any more.
///
/// In each schedule, the third vertex has no edge. The removed vertex exists again if and only if the edge
/// was inserted last, and then it has the edge.
pub(crate) fn program(tally: &Tally) -> impl Fn() + Send + Sync + 'static {
    let tally = tally.clone();
    move || {
        let graph = Options::new().keys(KeyKind::U64).background_settling(false).in_memory().expect("new");
        let mut tx = graph.write().expect("open");
        [GONE, END].into_iter().for_each(|v| _ = tx.insert_vertex(v).expect("new"));
        tx.commit().expect("nothing conflicts");
        let first = graph.snapshot().expect("open").vertex_id(GONE).expect("inserted");
        let other = {
            let (graph, tally) = (graph.clone(), tally.clone());
            shuttle::thread::spawn(move || {
                graph.transact(100, |tx| tx.remove_vertex(GONE)).expect("it retries");
                graph.transact(100, |tx| tx.insert_vertex(NEXT)).expect("it retries");
                let id = graph.snapshot().expect("open").vertex_id(NEXT).expect("inserted");
                tally.moved.fetch_add(u64::from(id == first), Ordering::Relaxed);
            })
        };
        graph.insert_edge((GONE, END)).expect("it makes what it lacks");
        other.join().expect("no thread panics");
        let snapshot = graph.snapshot().expect("open");
        let into: Vec<VertexKey> = snapshot.neighbors(END, ("", Direction::In)).unwrap().expect("it stays");
        assert_eq!(
            snapshot.degree(NEXT, ("", Direction::Out)).unwrap(),
            Some(0),
            "an edge that nobody asked for, {into:?}"
        );
        let expected: &[VertexKey] =
            if snapshot.contains_vertex(GONE).unwrap() { &[VertexKey::U64(GONE)] } else { &[] };
        assert_eq!(into, expected);
        tally.schedules.fetch_add(1, Ordering::Relaxed);
    }
}
