//! A look-up of a vertex by name reads at most one block of each segment that it searches, and no directory.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::{CountingFs, IoCounters};
use hedgerow::{Graph, LEAST_MEMORY_LIMIT, Thresholds, VertexKey};
use hedgerow_testkit::SimFs;

use crate::opening_keys::{ALL, HARDLY_ANY, Names, PAGE, store_of};

const PAGES: u64 = 12;
/// The number of vertices that a further segment adds.
const FURTHER: u64 = 30;
/// The number of vertices of the first segment that a further segment removes.
const REMOVED: u64 = 8;
/// The most bytes of a block of keys here: no key is longer than a block.
const BLOCK: u64 = 4096;

/// Returns vertex number `i` of the vertices that further segment number `round` added.
fn further(names: Names, round: u64, i: u64) -> VertexKey {
    names.key(1_000_000 + round * 1_000 + i)
}

/// Makes a store with vertices in the first segment, and other vertices in each of some further segments.
/// Returns the number of segments.
fn store_of_segments(names: Names) -> (SimFs, u64) {
    let disk = store_of(names, PAGES);
    let mut segments = 0;
    for round in 0..2 {
        // The later segments are smaller, so that a checkpoint does not merge the segments before it.
        let graph = names.options().open_on(disk.handle()).unwrap();
        let mut tx = graph.write().unwrap();
        let new = || 0..FURTHER >> (2 * round);
        new().for_each(|i| assert!(tx.insert_vertex(&further(names, round, i)).unwrap()));
        tx.commit().unwrap();
        let mut tx = graph.write().unwrap();
        let gone = || (0..REMOVED >> (2 * round)).map(|i| round * 64 + i);
        gone().for_each(|v| assert!(tx.remove_vertex(&names.key(v)).unwrap()));
        tx.commit().unwrap();
        segments = graph.checkpoint().unwrap().segments as u64;
        graph.close().unwrap();
    }
    (disk, segments)
}

/// A newly opened store with a limit, and the counters of its reads.
struct Opened {
    graph: Graph,
    counters: Arc<IoCounters>,
    names: Names,
}

impl Opened {
    fn new(names: Names, disk: &SimFs, keys_kept: u64) -> Opened {
        let fs = CountingFs::new(disk.handle());
        let counters = fs.counters();
        let options = names.options().thresholds(Thresholds { keys_kept, ..Thresholds::SMALL });
        let graph = options.memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap();
        Opened { graph, counters, names }
    }

    /// Returns the result of `look`, which may read at most `blocks` blocks.
    fn within(&self, blocks: u64, look: impl FnOnce() -> bool) -> bool {
        let read = || (self.counters.reads.load(Relaxed), self.counters.read_bytes.load(Relaxed));
        let before = read();
        let found = look();
        let (reads, bytes) = (read().0 - before.0, read().1 - before.1);
        assert!(reads <= blocks, "{:?}: {reads} reads where {blocks} blocks do", self.names);
        assert!(bytes <= reads * BLOCK, "{:?}: {bytes} bytes in {reads} reads", self.names);
        found
    }

    /// Looks up one vertex in each way. It is in segment number `age` from the newest on, or in none.
    fn look_up(&self, key: &VertexKey, is_there: bool, age: u64) {
        let snapshot = self.graph.snapshot().unwrap();
        let id = || snapshot.vertex_id(key).unwrap().is_some();
        assert_eq!(self.within(age, id), is_there, "{key}");
        assert_eq!(self.within(age, || snapshot.contains_vertex(key).unwrap()), is_there, "{key}");
    }

    /// Looks up vertices of each segment, absent ones, and removed ones, all over the pages. These are few
    /// enough that the store does not read all keys.
    fn look_up_all(&self, segments: u64) {
        for v in (0..PAGES * PAGE).skip(300).step_by(1_013) {
            self.look_up(&self.names.key(v), true, segments);
            self.look_up(&self.names.key(5_000_000 + v), false, segments);
        }
        for round in 0..segments - 1 {
            for i in (0..FURTHER >> (2 * round)).step_by(3) {
                self.look_up(&further(self.names, round, i), true, segments - 1 - round);
            }
        }
        for v in [0, 1, 64, 65] {
            self.look_up(&self.names.key(v), false, segments);
        }
    }

    /// Other vertices get the ids of removed vertices, while segments still have the earlier keys of these
    /// ids.
    fn with_ids_that_are_used_again(&self, segments: u64) {
        let held = self.graph.snapshot().unwrap();
        let old: Vec<VertexKey> = (2_000..2_010).map(|v| self.names.key(v)).collect();
        let id = |key: &VertexKey| self.graph.snapshot().unwrap().vertex_id(key).unwrap();
        let ids: Vec<_> = old.iter().map(|key| id(key).unwrap()).collect();
        self.write(|tx| old.iter().for_each(|key| assert!(tx.remove_vertex(key).unwrap())));
        old.iter().for_each(|key| self.look_up(key, false, segments));
        // A snapshot that was opened before still sees the vertices.
        for key in &old {
            assert!(self.within(segments, || held.contains_vertex(key).unwrap()), "{key}");
        }
        drop(held);
        let mut new: Vec<VertexKey> = Vec::new();
        while !new.last().is_some_and(|key| ids.contains(&id(key).unwrap())) {
            assert!(new.len() < 60, "no id was given out again");
            let key = self.names.key(9_500_000 + new.len() as u64);
            self.write(|tx| assert!(tx.insert_vertex(&key).unwrap()));
            new.push(key);
        }
        old.iter().for_each(|key| self.look_up(key, false, segments));
        new.iter().for_each(|key| self.look_up(key, true, 0));
    }

    fn write(&self, f: impl FnOnce(&mut hedgerow::WriteTxn)) {
        let mut tx = self.graph.write().unwrap();
        f(&mut tx);
        tx.commit().unwrap();
    }
}

#[test]
fn a_look_up_by_name_reads_at_most_one_block_of_each_segment() {
    for names in ALL {
        let (disk, segments) = store_of_segments(names);
        assert!(segments > 2, "{segments} segments");
        for kept in [u64::MAX, HARDLY_ANY] {
            let disk = SimFs::from_files(&disk.files());
            let opened = Opened::new(names, &disk, kept);
            let before = opened.counters.reads.load(Relaxed);
            opened.look_up_all(segments);
            // The look-ups do read: most keys are in the oldest segment.
            let reads = opened.counters.reads.load(Relaxed) - before;
            assert!(reads > 48 * segments, "{reads} reads");
            // From the commit on, new keys name vertices, and removed keys do not.
            let mut tx = opened.graph.write().unwrap();
            let (old, new) = (names.key(500), names.key(9_000_000));
            let mut contains = |key| opened.within(segments, || tx.contains_vertex(key).unwrap());
            assert_eq!((contains(&old), contains(&new)), (true, false));
            assert!(tx.remove_vertex(&old).unwrap() && tx.insert_vertex(&new).unwrap());
            tx.commit().unwrap();
            opened.look_up(&old, false, segments);
            opened.look_up(&new, true, 0);
            opened.with_ids_that_are_used_again(segments);
            crate::common::account::check(&opened.graph).unwrap();
            assert!(opened.graph.check().unwrap().is_ok());
        }
        names.options().open_on(disk.handle()).unwrap().compact().unwrap();
        Opened::new(names, &disk, HARDLY_ANY).look_up_all(1);
    }
}
