//! Operations that are kept outside of a chain that is not in memory, beside readers and a load (rule N4 of
//! `docs/design/inboxes.md`).

use std::sync::Arc;

use hedgerow_core::{Direction, Timestamp, VertexId};
use hedgerow_mem::EdgeOp;
use hedgerow_mem::subgraph::LocalOp;
use loom::sync::Mutex;
use loom::thread;

use crate::evict::{Tier, image, model, tier};
use crate::versions::{V, inserted};

/// A chain whose files have the edge to 1, and its inbox.
struct Outside {
    tier: Arc<Tier>,
    inbox: Mutex<Vec<(Timestamp, LocalOp)>>,
}

impl Outside {
    fn new() -> Arc<Outside> {
        let tier = tier(1);
        assert!(tier.evict());
        Arc::new(Outside { tier, inbox: Mutex::new(Vec::new()) })
    }

    /// Commits the insertion of the edge to `dst` without loading the chain.
    fn commit(&self, dst: u32) {
        let store = &self.tier.store;
        let mut latched = store.subgraph().latch();
        assert!(!latched.is_resident());
        let ts = store.clock.order().draw();
        latched.mark_outside(&[Direction::Out]);
        let op = LocalOp { local: V, op: EdgeOp::Insert, dst: VertexId(dst), weight: 0.0 };
        self.inbox.lock().unwrap().push((ts, op));
        latched.note_outside(ts);
        drop(latched);
        store.clock.complete(ts, 0, 0);
    }

    /// Loads the chain with the operations of the inbox.
    fn load(&self) {
        let store = &self.tier.store;
        let mut latched = store.subgraph().latch_for_upkeep();
        let commits: Vec<_> = self.inbox.lock().unwrap().iter().map(|&(ts, op)| (ts, vec![op])).collect();
        let below = (Timestamp(1), image(vec![1], store.memory.arena()));
        assert!(latched.reload_with(Direction::Out, below, &commits, &store.horizon()));
        latched.note_loaded();
        self.inbox.lock().unwrap().clear();
    }

    /// Reads at `t` without loading the chain.
    fn read(&self, t: Timestamp) -> Vec<u32> {
        let subgraph = self.tier.store.subgraph();
        loop {
            let stamp = subgraph.stamp();
            let mut seen = Vec::new();
            let read =
                subgraph.read(Direction::Out, t, |read| read.for_each_neighbor(V, |v, _| seen.push(v.0)));
            if read.is_ok() {
                return seen;
            }
            let inbox = self.inbox.lock().unwrap().clone();
            let upto = inbox.iter().filter(|(ts, _)| *ts <= t).map(|(_, op)| op.dst.0);
            let list = std::iter::once(1).chain(upto).collect();
            if !inbox.is_empty() || subgraph.stamp() == stamp {
                return list;
            }
        }
    }
}

#[test]
fn a_reader_beside_a_load_with_operations_sees_all_of_them() {
    model(|| {
        let chain = Outside::new();
        chain.commit(2);
        let other = chain.clone();
        let loads = thread::spawn(move || other.load());
        assert_eq!(chain.read(Timestamp(2)), [1, 2]);
        loads.join().unwrap();
        assert_eq!(chain.read(Timestamp(2)), [1, 2]);
    });
}

#[test]
fn a_reader_beside_a_commit_outside_of_the_chain_sees_its_moment() {
    model(|| {
        let chain = Outside::new();
        let writer = chain.clone();
        let writes = thread::spawn(move || {
            writer.commit(2);
            writer.load();
        });
        let registration = chain.tier.store.register();
        let t = registration.ts();
        assert_eq!(chain.read(t), inserted(t));
        chain.tier.store.readers.close(registration);
        writes.join().unwrap();
        assert_eq!(chain.read(Timestamp(2)), [1, 2]);
    });
}
