//! Planted faults: negative controls of the conformance suite. Each fault is a plausible mistake, at the
//! place in the code where that mistake would occur. The faults exist only in the tests of this crate. Only
//! one fault is planted at a time in the whole process, because several threads use a container.

/// A fault that a test can plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Writers ignore the slots of the tracer: they reclaim versions that snapshots still see.
    ReadersForgotten,
    /// A reader enters its timestamp in the tracer and does not check that it is still the published one.
    RegisteringReaderMissed,
    /// A transaction is published before its versions are linked.
    PublishedEarly,
    /// A list returns the newest version of a neighbour, whatever the timestamp of the snapshot.
    NewestVersionRead,
    /// A neighbour that is removed and inserted again keeps the mark of the removal.
    RemovalKept,
    /// Removed neighbours stay in their list, even if no reader needs them.
    TombstonesKept,
    /// A tree node places an id by the node's own byte and ignores the bytes before it.
    PrefixNotCompared,
    /// A split of a leaf loses the part after the split point if that part is a single id.
    SplitLosesLast,
    /// The position of a list in the clustered index does not move when a list before it grows.
    PlacesNotMoved,
    /// The CSR finds an edge by its source and does not compare the target.
    TargetNotCompared,
    /// The CSR accepts updates and does nothing.
    UpdatesSwallowed,
    // LiveGraph.
    /// A list that moves to a larger block has an empty Bloom filter there.
    FilterNotRefilled,
    /// A transaction that rolls back leaves its marks in the entries that it invalidated.
    AbortKeepsMarks,
    /// The entries that a transaction appended get no timestamp if their list moved to another block.
    MovedEntriesNotStamped,
    /// Compaction keeps invalidated entries.
    InvalidatedKept,
    /// A transaction that is applied also publishes earlier transactions that are not yet applied.
    PublishedOutOfTurn,
    /// A replaced block is free at once, even if a reader still reads it.
    ReplacedBlocksFreed,
    /// A list without room for a new weight keeps the entries of the old weights.
    FullListKept,
    // Aspen.
    /// Ids after a new head stay in the chunk before it.
    TailBeforeItsHead,
    /// The removal of a head loses the ids after the head.
    TailLostWithItsHead,
    /// A union with new edges keeps the old weights of heads that the list already has.
    UnionKeepsOldWeight,
    /// The flat snapshot has the outgoing lists for both directions.
    FlatListsOfOneDirection,
    /// A writer reads the version that it changes before it takes the writer's lock.
    BaseOfAnotherWriter,
    /// A snapshot takes its timestamp from one version and its root from the next version.
    TimestampReadApart,
    /// Teseo: a reader that finds a segment through a vertex table entry does not check the segment's fence
    /// keys.
    FencesNotChecked,
    /// Teseo: a rebalance moves the words of a write-optimised segment, but not its buffer.
    BufferLost,
    /// Teseo: a rebalance moves edges without their versions.
    VersionsLeftBehind,
    /// Teseo: a transaction changes an edge or a vertex that an unpublished transaction changed.
    ConflictIgnored,
    /// Teseo: after the rollback of a change, the older entry alone says whether the edge exists. But an
    /// entry between the change and the older entry may have been pruned.
    UncoveredEntryTrusted,
    /// Teseo: a reader reads the position of a list under the latch, and then reads the words that the
    /// segment has later.
    WordsTakenLater,
    /// Sortledton: snapshots from before a removal do not see the removed neighbour.
    RemovalForgetsBefore,
    /// Sortledton: the key of a block does not change when neighbours move into it from the block before it.
    KeyStays,
    /// Sortledton: versions that move to another block with their neighbours get the wrong neighbours.
    VersionsReversed,
    // LLAMA.
    /// A reader applies all marks of a deletion vector, also the marks of later snapshots.
    MarksOfLaterSnapshots,
    /// A new fragment has no continuation record.
    ContinuationLost,
    /// A merge copies removed entries.
    RemovedMerged,
    /// Removed entries are not counted, so they never cause a merge of levels.
    RemovedNotCounted,
    /// A snapshot becomes the current one after its writer's lock is released, although other writers may
    /// have written since.
    PublishedOutsideLock,
    /// LSMGraph: a compaction drops the markers of removals although there are levels below.
    MarkersDropped,
    /// LSMGraph: a compaction keeps the markers of removals in the last level.
    MarkersKept,
    /// LSMGraph: a flush or compaction keeps only the newest version of an edge, even if a reader needs older
    /// ones.
    MergeForgetsReaders,
    /// LSMGraph: when the entries of a vertex move from the edge array to a skip list, the last one stays
    /// behind.
    ArrayLosesLast,
    /// LSMGraph: the Bloom filter of a file lacks the last edge of each list.
    LastEdgeNotInFilter,
    /// LSMGraph: a compaction does not update the index of the last vertex.
    LastVertexNotMoved,
    /// LSMGraph: a snapshot takes its version before it is registered.
    VersionBeforeTimestamp,
    /// LSMGraph: a transaction that fails to read a file keeps the changes that it made before the failure.
    FailureKept,
}

/// True if `fault` is planted; always false outside tests.
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

    /// True if `fault` is planted.
    pub(crate) fn is_on(fault: Planted) -> bool {
        let on = ON.load(Ordering::Relaxed) == fault as u8;
        if on {
            REACHED.fetch_add(1, Ordering::Relaxed);
        }
        on
    }

    /// A guard of a planted fault; dropping the guard removes the fault.
    pub(crate) struct Planting(#[allow(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>);

    /// Plants `fault`. Waits until every other guard of a fault or of [`sound`] is dropped.
    pub(crate) fn plant(fault: Planted) -> Planting {
        let turn = TURN.write().unwrap_or_else(PoisonError::into_inner);
        REACHED.store(0, Ordering::Relaxed);
        ON.store(fault as u8, Ordering::Relaxed);
        Planting(turn)
    }

    /// Waits until no fault is planted. No fault is planted while the caller holds the guard.
    pub(crate) fn sound() -> RwLockReadGuard<'static, ()> {
        TURN.read().unwrap_or_else(PoisonError::into_inner)
    }

    impl Planting {
        /// Returns the number of times that the code took the faulty path.
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
