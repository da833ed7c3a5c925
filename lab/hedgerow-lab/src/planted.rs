//! Planted faults: negative controls of the conformance suite. Each is a mistake that could have been made,
//! at the one place where it would have been made; they exist in the tests of this crate alone. One at a
//! time, for the whole process, since containers are used by several threads.

/// A fault that a test can turn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// The tracer's slots are not looked at: versions are reclaimed although snapshots see them.
    ReadersForgotten,
    /// A reader enters its timestamp in the tracer and does not look whether that one is still the published
    /// one.
    RegisteringReaderMissed,
    /// A transaction is published before its versions are linked.
    PublishedEarly,
    /// A list takes the newest version of a neighbour, whatever the snapshot.
    NewestVersionRead,
    /// A neighbour that is inserted again after its removal keeps the mark of the removal.
    RemovalKept,
    /// Removed neighbours stay where they were.
    TombstonesKept,
    /// An id goes into a node of the tree by the node's own byte, whatever the bytes before it.
    PrefixNotCompared,
    /// When a leaf is split, what is behind the split is lost if it is a single id.
    SplitLosesLast,
    /// The position of a list in the clustered index is not moved when a list before it grows.
    PlacesNotMoved,
    /// The CSR finds an edge by its source alone.
    TargetNotCompared,
    /// The CSR takes updates and does nothing.
    UpdatesSwallowed,
    // LiveGraph.
    /// A list that is copied to a larger block leaves its Bloom filter empty there.
    FilterNotRefilled,
    /// A transaction that rolls back does not take its marks out of the entries that it invalidated.
    AbortKeepsMarks,
    /// The entries that a transaction appended get no timestamp if their list was copied to another block.
    MovedEntriesNotStamped,
    /// Compaction keeps invalidated entries.
    InvalidatedKept,
    /// A transaction that is applied publishes those before it too that are not.
    PublishedOutOfTurn,
    /// A block that was replaced is free at once, whoever reads it.
    ReplacedBlocksFreed,
    /// A list that has no room for a new weight keeps the entries of the old ones.
    FullListKept,
    // Aspen.
    /// Ids behind a new head stay in the chunk before it.
    TailBeforeItsHead,
    /// The ids behind a head are lost when the head is removed.
    TailLostWithItsHead,
    /// A list that is united with new edges keeps the weights of heads that it has already.
    UnionKeepsOldWeight,
    /// The flat snapshot has outgoing lists in both directions.
    FlatListsOfOneDirection,
    /// A writer takes the version that it changes before it has the writer's lock.
    BaseOfAnotherWriter,
    /// A snapshot takes its timestamp from one version and its root from the next.
    TimestampReadApart,
    /// Teseo: a reader that a vertex table entry leads to a segment does not look at its fence keys.
    FencesNotChecked,
    /// Teseo: a rebalance moves the words of a write-optimised segment, and not its buffer.
    BufferLost,
    /// Teseo: a rebalance moves edges without their versions.
    VersionsLeftBehind,
    /// Teseo: a transaction changes what an unpublished one has changed.
    ConflictIgnored,
    /// Teseo: once a change is taken back, the older entry behind it says whether there is the edge, although
    /// the one between them may have been pruned.
    UncoveredEntryTrusted,
    /// Teseo: a reader takes under the latch where a list lies among the words, and reads the words that the
    /// segment has later.
    WordsTakenLater,
    /// Sortledton: a neighbour that was removed is not seen by those who read before the removal.
    RemovalForgetsBefore,
    /// Sortledton: the key of a block stays as it was when neighbours are moved into it from the block before
    /// it.
    KeyStays,
    /// Sortledton: versions that move to another block with their neighbours are taken for those of others.
    VersionsReversed,
    // LLAMA.
    /// A deletion vector is read as if all of its marks were of the snapshot that reads it.
    MarksOfLaterSnapshots,
    /// A new fragment has no continuation record.
    ContinuationLost,
    /// A merge takes removed entries along.
    RemovedMerged,
    /// Removed entries are not counted, so levels are not merged for them.
    RemovedNotCounted,
    /// A snapshot is published as the current one when its writer's lock is released, though others may have
    /// written since.
    PublishedOutsideLock,
    /// LSMGraph: a compaction drops the markers of removals although there are levels below.
    MarkersDropped,
    /// LSMGraph: a compaction keeps the markers of removals in the last level.
    MarkersKept,
    /// LSMGraph: a flush or compaction keeps the newest version of an edge alone, whoever reads.
    MergeForgetsReaders,
    /// LSMGraph: the last entry stays behind when those of a vertex move from the edge array to a skip list.
    ArrayLosesLast,
    /// LSMGraph: the Bloom filter of a file does not have the last edge of each list.
    LastEdgeNotInFilter,
    /// LSMGraph: a compaction leaves the index of the last vertex as it was.
    LastVertexNotMoved,
    /// LSMGraph: a snapshot takes its version before it is registered.
    VersionBeforeTimestamp,
    /// LSMGraph: a transaction that cannot read a file leaves what it has changed before that.
    FailureKept,
}

/// Whether `fault` is planted: never, outside of tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn is_on(_: Planted) -> bool {
    false
}

#[cfg(test)]
pub(crate) use planting::{is_on, plant, sound};

#[cfg(test)]
mod planting {
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

    use super::Planted;

    static ON: AtomicU8 = AtomicU8::new(u8::MAX);
    static REACHED: AtomicU64 = AtomicU64::new(0);
    static TURN: RwLock<()> = RwLock::new(());

    /// Whether `fault` is planted.
    pub(crate) fn is_on(fault: Planted) -> bool {
        let on = ON.load(Ordering::Relaxed) == fault as u8;
        if on {
            REACHED.fetch_add(1, Ordering::Relaxed);
        }
        on
    }

    /// A fault that is planted until this is dropped.
    pub(crate) struct Planting(#[allow(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>);

    /// Plants `fault`. Waits for all who plant, or hold [`sound`].
    pub(crate) fn plant(fault: Planted) -> Planting {
        let turn = TURN.write().unwrap_or_else(PoisonError::into_inner);
        REACHED.store(0, Ordering::Relaxed);
        ON.store(fault as u8, Ordering::Relaxed);
        Planting(turn)
    }

    /// Waits until nothing is planted, and keeps it so while this is held.
    pub(crate) fn sound() -> RwLockReadGuard<'static, ()> {
        TURN.read().unwrap_or_else(PoisonError::into_inner)
    }

    impl Planting {
        /// How often the code went the wrong way so far.
        pub(crate) fn reached(&self) -> u64 {
            REACHED.load(Ordering::Relaxed)
        }
    }

    impl Drop for Planting {
        fn drop(&mut self) {
            ON.store(u8::MAX, Ordering::Relaxed);
        }
    }
}
