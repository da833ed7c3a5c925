//! Validation: if two transactions each read the item that the other one writes, at most one of them commits.
//! The order of timestamps is a serial order.

use std::sync::Arc;

use hedgerow_core::{Direction, LocalVertex, Timestamp, VertexId};
use hedgerow_mem::Ops;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{EdgeOp, Horizon, Latched, Pin, ReadItem, Subgraph};
use hedgerow_txn::{Clock, Counts};
use loom::thread;

const V: LocalVertex = LocalVertex(0);
const EDGE: ReadItem = ReadItem::Edge(V, VertexId(9));

struct Nobody(Timestamp);

impl Horizon for Nobody {
    fn published(&self) -> Timestamp {
        self.0
    }

    fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
        None
    }
}

/// Inserts the edge, releases the latch and completes the commit.
fn apply(clock: &Clock, mut latched: Latched<'_>, ts: Timestamp) {
    let op = LocalOp { local: V, op: EdgeOp::Insert, dst: VertexId(9), weight: 0.0 };
    let _ = latched.apply(Direction::Out, Ops::plain(&[op]), ts, &Nobody(clock.published()));
    drop(latched);
    clock.complete(ts, 0, 0);
}

/// Runs the phases of a commit: reads the edge in `reads` at `start`, and writes it in `writes` if it is
/// absent.
fn transaction(clock: &Clock, reads: &Subgraph, writes: &Subgraph, start: Timestamp) -> Option<Timestamp> {
    let absent = reads
        .read(Direction::Out, start, |read| !read.contains_edge(V, VertexId(9)))
        .unwrap()
        .unwrap_or(true);
    assert!(absent, "nothing is written before the start");
    let latched = writes.latch();
    let ts = {
        let mut order = clock.order();
        let other = reads.try_latch()?;
        if other.changed_since(Direction::Out, start, EDGE) {
            return None;
        }
        drop(other);
        order.draw()
    };
    apply(clock, latched, ts);
    Some(ts)
}

#[test]
fn write_skew_is_impossible() {
    loom::model(|| {
        let clock = Arc::new(Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY));
        let subgraphs = Arc::new((Subgraph::default(), Subgraph::default()));
        let (other_clock, other) = (clock.clone(), subgraphs.clone());
        let crossing = thread::spawn(move || transaction(&other_clock, &other.1, &other.0, Timestamp(0)));
        let mine = transaction(&clock, &subgraphs.0, &subgraphs.1, Timestamp(0));
        let theirs = crossing.join().unwrap();
        assert!(mine.is_none() || theirs.is_none(), "both committed: {mine:?} {theirs:?}");
    });
}

/// Writes the edge without reading. Draws the timestamp outside of the ordering section if possible.
fn blind(clock: &Clock, writes: &Subgraph) -> Timestamp {
    let latched = writes.latch();
    let ts = clock.draw_outside().unwrap_or_else(|| clock.order().draw());
    apply(clock, latched, ts);
    ts
}

#[test]
fn a_transaction_does_not_miss_an_earlier_commit_that_drew_outside_of_the_section() {
    loom::model(|| {
        let clock = Arc::new(Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY));
        let subgraphs = Arc::new((Subgraph::default(), Subgraph::default()));
        let (other_clock, other) = (clock.clone(), subgraphs.clone());
        let writer = thread::spawn(move || blind(&other_clock, &other.0));
        let mine = transaction(&clock, &subgraphs.0, &subgraphs.1, Timestamp(0));
        let theirs = writer.join().unwrap();
        assert!(mine.is_none_or(|mine| mine < theirs), "{mine:?} did not see {theirs:?}");
    });
}
