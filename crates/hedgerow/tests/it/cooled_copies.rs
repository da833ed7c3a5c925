//! A chain cools while a thread that did not get its latch reads it back from files (rule E9 of
//! `docs/design/eviction.md`). Then the cooling chain is a copy, and may be outdated.

use hedgerow::{Direction, VertexId};
use hedgerow_core::{LocalVertex, Timestamp};
use hedgerow_mem::op::LocalOp;
use hedgerow_mem::{EdgeOp, Horizon, Main, Memory, Ops, Pin, Subgraph};

const OUT: Direction = Direction::Out;

/// A horizon without readers.
pub(crate) struct Nobody;

impl Horizon for Nobody {
    fn published(&self) -> Timestamp {
        Timestamp(100)
    }

    fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
        None
    }
}

/// Returns the state in the files: vertex 0 has an edge to 1.
fn image(memory: &Memory) -> Main {
    let mut offsets = [1; 65];
    offsets[0] = 0;
    Main::from_parts(1, &offsets, &[VertexId(1)], None, memory.arena()).unwrap()
}

fn list(chain: &Subgraph, at: u64) -> Vec<u32> {
    let mut list = Vec::new();
    let read = chain.read(OUT, Timestamp(at), |read| {
        read.for_each_neighbor(LocalVertex(0), |v, _| list.push(v.0));
    });
    assert!(read.is_ok(), "in memory");
    list.sort_unstable();
    list
}

fn insert(chain: &Subgraph, dst: u32, at: u64) {
    let op = LocalOp { local: LocalVertex(0), op: EdgeOp::Insert, dst: VertexId(dst), weight: 0.0 };
    let _ = chain.latch().apply(OUT, Ops::plain(&[op]), Timestamp(at), &Nobody);
}

pub(crate) fn what_cools_is_linked_again_only_if_it_is_what_it_was() {
    let memory = Memory::default();
    let chain = Subgraph::new(memory.clone());
    chain.latch().install(OUT, image(&memory), Timestamp(1));
    let cool = |clean| chain.latch().evict_clean(Timestamp(clean), &Nobody);
    assert!(cool(1) && chain.is_cooling() && !chain.is_resident());
    assert!(chain.latch().relink() && !chain.is_cooling());
    assert_eq!(list(&chain, 1), [1]);
    // Another thread has read the chain back, so the mark is gone. A thread that saw the mark before takes
    // the chain from the queue only now.
    assert!(cool(1) && chain.latch().reload(OUT, image(&memory)));
    assert!(!chain.latch().relink(), "what was read back stays");
    assert_eq!(list(&chain, 1), [1]);
    // A write follows the read, so the stamp differs, too.
    assert!(cool(1) && chain.latch().reload(OUT, image(&memory)));
    insert(&chain, 2, 2);
    assert!(!chain.latch().relink(), "the change stays");
    assert_eq!(list(&chain, 2), [1, 2]);
    // The chain that cools again has the write, in spite of the chain that cooled before.
    assert!(!cool(1) && cool(2) && chain.latch().relink());
    assert_eq!(list(&chain, 2), [1, 2]);
}
