//! Chains that are evicted, read back, and read without loading, concurrent with readers and writers (rules
//! E1 to E4 and E6 of the protocol).

use std::sync::Arc;

use hedgerow_core::{Direction, SUBGRAPH_VERTICES, Timestamp, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{Arena, EdgeOp, Horizon, Main, Ops, Pin};
use loom::sync::Mutex;
use loom::thread;

use crate::versions::{Store, V, inserted, store};

/// A store with one chain, which has the edges to 1 up to `last`. Files have all these edges.
pub(crate) struct Tier {
    pub(crate) store: Arc<Store>,
    /// The last commit that files have.
    clean: Mutex<u64>,
    /// The timestamp that has a page version.
    kept: Mutex<Option<Timestamp>>,
}

/// The readers without a page version (rule E8): the horizon that an eviction uses.
struct Unkept<H> {
    live: H,
    kept: Option<Timestamp>,
}

impl<H: Horizon> Horizon for Unkept<H> {
    fn published(&self) -> Timestamp {
        self.live.published()
    }

    fn pin_in(&self, begin: Timestamp, mut end: Timestamp) -> Option<Pin> {
        loop {
            match self.live.pin_in(begin, end)? {
                Pin::Snapshot(t) if t > begin && self.kept == Some(t) => end = t,
                pin => return Some(pin),
            }
        }
    }
}

pub(crate) fn tier(last: u32) -> Arc<Tier> {
    let store = store();
    (1..=last).for_each(|dst| store.commit(dst, EdgeOp::Insert));
    Arc::new(Tier { store, clean: Mutex::new(u64::from(last)), kept: Mutex::new(None) })
}

/// Returns the image of a chain in which `V` has these neighbors.
pub(crate) fn image(list: Vec<u32>, arena: &Arena) -> Main {
    let neighbors: Vec<_> = list.into_iter().map(VertexId).collect();
    let mut offsets = [0; SUBGRAPH_VERTICES + 1];
    offsets[V.index() + 1..].fill(neighbors.len() as u32);
    Main::from_parts(0, &offsets, &neighbors, None, arena).unwrap()
}

impl Tier {
    /// Returns the content of the files: the edges to 1 up to the last commit that they have.
    fn list(&self) -> Vec<u32> {
        (1..=*self.clean.lock().unwrap() as u32).collect()
    }

    fn image(&self) -> Main {
        image(self.list(), self.store.memory.arena())
    }

    /// Reads the image back as the store does. It reads the applied timestamp before the mark, hence before
    /// the file, and again under the latch.
    pub(crate) fn reload(&self) {
        let applied = self.store.subgraph().stamp().applied();
        if self.store.subgraph().is_resident() {
            return;
        }
        let image = self.image();
        let mut latched = self.store.subgraph().latch();
        if latched.last_ts() == applied {
            latched.reload(Direction::Out, image);
        }
    }

    /// Evicts the chain and retires it.
    pub(crate) fn evict(&self) -> bool {
        let taken = self.cool();
        self.store.memory.retire_cooled(0);
        taken
    }

    pub(crate) fn cool(&self) -> bool {
        let clean = Timestamp(*self.clean.lock().unwrap());
        let mut latched = self.store.subgraph().latch();
        let kept = *self.kept.lock().unwrap();
        latched.evict_clean(clean, &Unkept { live: self.store.horizon(), kept })
    }

    /// Records that a page version has the state of a reader at `t`.
    fn keep(&self, t: Timestamp) {
        *self.kept.lock().unwrap() = Some(t);
    }

    /// Reads at `t`, from the page version if memory does not have the state.
    fn read_kept(&self, t: Timestamp) -> Vec<u32> {
        loop {
            let mut seen = Vec::new();
            let read = self.store.subgraph().read(Direction::Out, t, |read| {
                read.for_each_neighbor(V, |v, _| seen.push(v.0));
            });
            if read.is_ok() {
                return seen;
            }
            if *self.kept.lock().unwrap() == Some(t) {
                return inserted(t);
            }
            assert!(self.store.subgraph().stamp().applied() <= t, "it left memory, and nothing else has it");
            self.reload();
        }
    }

    /// Takes care that the chain is in memory: links it again if it is cooling, or else reads it back.
    pub(crate) fn touch(&self) {
        let subgraph = self.store.subgraph();
        if !subgraph.is_cooling() || !subgraph.try_latch().is_some_and(|mut latched| latched.relink()) {
            self.reload();
        }
    }

    /// Reads at `t`. Also returns whether it touched the chain, because the chain was not in memory.
    pub(crate) fn read(&self, t: Timestamp) -> (Vec<u32>, bool) {
        let mut reloaded = false;
        loop {
            let mut seen = Vec::new();
            let read = self.store.subgraph().read(Direction::Out, t, |read| {
                read.for_each_neighbor(V, |v, _| seen.push(v.0));
            });
            match read {
                Ok(_) => return (seen, reloaded),
                Err(NotInMemory) => self.touch(),
            }
            reloaded = true;
        }
    }

    /// Reads at `t` without loading the chain.
    fn read_cold(&self, t: Timestamp) -> Vec<u32> {
        let subgraph = self.store.subgraph();
        let absent = || {
            let applied = subgraph.stamp().applied();
            (!subgraph.is_resident()).then_some(applied)
        };
        loop {
            let mut seen = Vec::new();
            let read = subgraph.read(Direction::Out, t, |read| {
                read.for_each_neighbor(V, |v, _| seen.push(v.0));
            });
            if read.is_ok() {
                return seen;
            }
            let before = absent();
            let list = self.list();
            if before.is_some() && absent() == before {
                return list;
            }
        }
    }

    /// Commits the insertion of the edge to `dst`, the next one. As a writer does, checks under the latch
    /// that the chain is in memory.
    pub(crate) fn commit(&self, dst: u32) {
        let mut latched = self.store.subgraph().latch();
        while !latched.is_resident() {
            drop(latched);
            self.touch();
            latched = self.store.subgraph().latch();
        }
        let ts = self.store.clock.order().draw();
        let op = LocalOp { local: V, op: EdgeOp::Insert, dst: VertexId(dst), weight: 0.0 };
        let _ = latched.apply(Direction::Out, Ops::plain(&[op]), ts, &self.store.horizon());
        drop(latched);
        self.store.clock.complete(ts, 0, 0);
    }

    /// Makes a checkpoint of all commits up to `last`.
    pub(crate) fn checkpoint(&self, last: u64) {
        *self.clean.lock().unwrap() = last;
    }
}

pub(crate) fn model(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.unwrap_or(2).min(2));
    builder.check(f);
}

#[test]
fn a_reader_beside_an_eviction_reads_back_what_it_sees() {
    model(|| {
        let tier = tier(1);
        let evictor = tier.clone();
        let evicts = thread::spawn(move || evictor.evict());
        let registration = tier.store.register();
        assert_eq!(tier.read(registration.ts()).0, [1]);
        tier.store.readers.close(registration);
        evicts.join().unwrap();
    });
}

/// A chain remains in memory for a reader that sees less than files have.
#[test]
fn a_reader_of_less_than_files_hold_keeps_the_chain_in_memory() {
    model(|| {
        let tier = tier(1);
        let evictor = tier.clone();
        let evicts = thread::spawn(move || {
            evictor.commit(2);
            evictor.checkpoint(2);
            evictor.evict()
        });
        let registration = tier.store.register();
        let t = registration.ts();
        let (seen, reloaded) = tier.read(t);
        assert_eq!(seen, inserted(t));
        assert!(t == Timestamp(2) || !reloaded, "a chain was read back that an older reader needs");
        tier.store.readers.close(registration);
        evicts.join().unwrap();
    });
}

#[test]
fn a_writer_beside_an_eviction_loses_nothing() {
    model(|| {
        let tier = tier(1);
        let evictor = tier.clone();
        let evicts = thread::spawn(move || evictor.evict());
        tier.commit(2);
        evicts.join().unwrap();
        assert_eq!(tier.read(Timestamp(2)).0, [1, 2]);
        assert!(!tier.evict(), "what changed since the checkpoint stays");
    });
}

/// Between the read of the file and the latch, the chain may be loaded, changed, checkpointed and evicted
/// again.
#[test]
fn an_image_that_became_stale_is_not_put_back() {
    model(|| {
        let tier = tier(1);
        assert!(tier.evict());
        let writer = tier.clone();
        let writes = thread::spawn(move || {
            writer.commit(2);
            writer.checkpoint(2);
            writer.evict();
        });
        tier.reload();
        writes.join().unwrap();
        assert_eq!(tier.read(Timestamp(2)).0, [1, 2]);
    });
}

#[test]
fn two_readers_that_read_back_at_once_see_the_same() {
    model(|| {
        let tier = tier(1);
        assert!(tier.evict());
        let other = tier.clone();
        let reads = thread::spawn(move || other.read(Timestamp(1)).0);
        assert_eq!(tier.read(Timestamp(1)).0, [1]);
        assert_eq!(reads.join().unwrap(), [1]);
        assert_eq!(tier.store.versions(), 1);
    });
}

/// Between the read of the chain and the read of the files, the chain may be loaded, changed and
/// checkpointed. Then the files have more than an older reader sees.
#[test]
fn a_cold_read_beside_a_writer_that_promotes_and_an_eviction_sees_its_moment() {
    model(|| {
        let tier = tier(1);
        assert!(tier.evict());
        let registration = tier.store.register();
        let writer = tier.clone();
        let writes = thread::spawn(move || {
            writer.commit(2);
            writer.checkpoint(2);
            writer.evict();
        });
        assert_eq!(tier.read_cold(registration.ts()), [1]);
        tier.store.readers.close(registration);
        writes.join().unwrap();
        assert_eq!(tier.read_cold(Timestamp(2)), [1, 2]);
    });
}

/// A chain changes, and a checkpoint and an eviction follow, all before a reader registers. The reader sees
/// the state of that moment.
#[test]
fn a_cold_read_beside_an_eviction_and_one_who_reads_back_sees_everything() {
    model(|| {
        let tier = tier(1);
        let evictor = tier.clone();
        let evicts = thread::spawn(move || {
            evictor.commit(2);
            evictor.checkpoint(2);
            evictor.evict();
            evictor.reload();
        });
        let registration = tier.store.register();
        let t = registration.ts();
        assert_eq!(tier.read_cold(t), inserted(t));
        tier.store.readers.close(registration);
        evicts.join().unwrap();
    });
}

/// A page version has the state of an older reader. The eviction removes this state from memory, and reading
/// back loads only the newer one. The reader finds the page version, wherever its walk ends.
#[test]
fn an_older_reader_beside_an_eviction_and_one_who_reads_back_finds_its_page_version() {
    model(|| {
        let tier = tier(1);
        let registration = tier.store.register();
        let t = registration.ts();
        tier.commit(2);
        tier.checkpoint(2);
        let evictor = tier.clone();
        let evicts = thread::spawn(move || {
            evictor.keep(t);
            assert!(evictor.evict(), "the page version has what the reader sees");
            evictor.reload();
        });
        assert_eq!(tier.read_kept(t), [1]);
        evicts.join().unwrap();
        assert_eq!(tier.read_kept(t), [1]);
        tier.store.readers.close(registration);
        assert_eq!(tier.read(Timestamp(2)).0, [1, 2]);
    });
}

/// The test before with a writer that loads the chain and merges: the mark remains behind the writer's
/// versions.
#[test]
fn an_older_reader_beside_a_writer_that_promotes_finds_its_page_version() {
    model(|| {
        let tier = tier(1);
        let registration = tier.store.register();
        let t = registration.ts();
        tier.commit(2);
        tier.checkpoint(2);
        tier.keep(t);
        let writer = tier.clone();
        let writes = thread::spawn(move || {
            writer.evict();
            writer.commit(3);
        });
        assert_eq!(tier.read_kept(t), [1]);
        writes.join().unwrap();
        assert_eq!(tier.read_kept(t), [1]);
        tier.store.readers.close(registration);
    });
}
