//! Planted faults: negative controls of the tests. Each is a plausible mistake, at the place in the code
//! where it could be made. They exist only in builds with the feature `planted-faults`. In every other build
//! [`is_on`] is the constant `false`, and the compiler removes their code.
//!
//! A test chooses a fault at run time, for the whole process, because commits, checkpoints and clients run on
//! separate threads. [`plant`](fn@plant) waits until no test holds a [`sound`](fn@sound) guard, and no test
//! gets such a guard or another fault meanwhile. `docs/design/testing/faults.md` lists the faults with the
//! tests that find each.

macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident,)*) => {
        /// A fault that a test can turn on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PlantedFault {
            $($(#[$doc])* $fault,)*
        }

        impl PlantedFault {
            /// All faults.
            pub const ALL: &[PlantedFault] = &[$(PlantedFault::$fault),*];

            /// Returns the fault with this name.
            pub fn named(name: &str) -> Option<PlantedFault> {
                PlantedFault::ALL.iter().copied().find(|fault| format!("{fault:?}") == name)
            }
        }
    };
}

faults! {
    // The log.
    /// Recovery accepts log records without comparing the checksum of their operations.
    UncheckedTail,
    /// Recovery does not sync the records that it accepted and wrote again, before it removes the files from
    /// which it read them.
    RecoveredTailNotSynced,
    /// Recovery keeps log segments that can be read although nothing proves them durable.
    UnprovenTailKept,
    /// Recovery ignores the statements of witnesses: it treats a durable log that lost its end as a torn one.
    WitnessesIgnored,
    /// A sync of the log that failed is tried once more.
    FailedSyncRetried,
    /// Commits are acknowledged before the log is synced.
    AcknowledgedEarly,
    /// A sync of the log is assumed to cover records that were appended during the sync.
    LateCommitAcknowledged,
    /// Commits are published, and so acknowledged, although they are not durable in the log.
    PublishedBeforeDurable,

    // Checkpoints and recovery.
    /// A checkpoint removes the log segments that it covers before the manifest that replaces them is
    /// durable.
    LogDeletedEarly,
    /// A checkpoint removes merged segments too early: the manifest without them is not durable yet.
    SegmentsDeletedEarly,
    /// A manifest is renamed into place before it is synced.
    ManifestNotSynced,
    /// A manifest names a segment that was not synced.
    SegmentNotSynced,
    /// A manifest names a segment whose directory entry may not be durable.
    SegmentNotListed,
    /// A checkpoint searches for changed subgraphs only in the default label.
    ChangesOfLabelsMissed,
    /// Segments are read without comparing the checksums of their blocks.
    BlocksNotChecked,
    /// A page is loaded with images of older segments although newer segments have them too.
    OlderImageLoaded,
    /// The operations of an inbox leave memory although a reader needs an older state.
    InboxFoldedUnderReader,
    /// A checkpoint writes the image of a chain without the operations of its inbox.
    InboxNotWritten,
    /// A load of a chain drops the operations of its inbox.
    InboxNotLoaded,
    /// A read takes an image without the newer deltas.
    DeltaNotRead,
    /// A checkpoint that merges segments drops their older deltas when it writes a newer one.
    OlderDeltaDropped,
    /// A checkpoint that writes a delta takes the image below it for replaced.
    ImageBelowDeltaForgotten,
    /// A commit uses an answer about an edge although the state below the inbox changed after the read.
    AnswerOutdated,
    /// A commit ignores the operations of the inbox when it looks an edge up.
    InboxNotLookedUp,
    /// A checkpoint that merges a segment omits its images that were not loaded.
    UnloadedImagesLost,
    /// Eviction removes changes from memory that are newer than the last checkpoint.
    EvictedDirty,
    /// A block is cached for point reads before its checksum is compared.
    BlockCachedUnverified,
    /// The cache of directories for point reads has the page as its key, without the file.
    StaleDirectory,
    /// Eviction removes a version that a snapshot reads, although files have only later states.
    SnapshotsVersionEvicted,
    /// A page version is dropped although a snapshot reads it.
    PageVersionForgotten,
    /// A page version omits subgraphs that were made after its timestamp, so that they are read from newer
    /// segments.
    EmptyImagesLeftOut,
    /// Older readers mistake an image that was loaded again for the oldest version of its chain.
    MarkBehindLost,
    /// A cooling chain is linked again without checking that the subgraph has not changed.
    CooledNotCompared,
    /// The space of a segment that no manifest names any more is freed although images are still read from
    /// it.
    FileUnlinkedUnderReader,
    /// The check of a store does not compare the two copies of the edges.
    SidesNotCompared,
    /// The parallel replay of the log mixes up the order of operations on one subgraph.
    ReplayedOutOfOrder,

    // The merge of sources.
    /// A word replaces newer words about the same edge.
    OlderWordWins,
    /// A put that needs an absent edge replaces older words, also if the edge existed before.
    PutIfAbsentEndsSearch,
    /// Words that remove an edge are dropped although an older list has the edge.
    TombstoneDropped,

    // Transactions.
    /// Commits are not validated against their reads.
    ReadsNotValidated,
    /// A commit does not validate its reads in subgraphs to which it also writes.
    LatchedReadsNotValidated,
    /// A subgraph that another committer has latched is assumed to be unchanged.
    LatchedElsewhereUnchanged,
    /// Two transactions may both write an edge under snapshot isolation: the first committer does not win.
    WritesNotChecked,
    /// Inserting or removing a vertex does not conflict, under snapshot isolation, with another insertion or
    /// removal of it.
    KeysNotChecked,
    /// A commit does not check again, under its latches, whether the vertices that it looked up still exist.
    VerticesNotLookedAtAgain,
    /// A single operation does not check again, under its latches, whether the ids that it looked up still
    /// have its keys.
    IdsNotLookedAtAgain,
    /// A single operation does not check, under its latches, whether the vertices that it guessed have its
    /// keys.
    GuessNotVerified,
    /// Like [`VerticesNotLookedAtAgain`](Self::VerticesNotLookedAtAgain), but in large transactions.
    BatchKeysNotLookedAtAgain,
    /// Like [`VerticesNotLookedAtAgain`](Self::VerticesNotLookedAtAgain), but in transactions of a few
    /// operations on edges.
    FewKeysNotLookedAtAgain,
    /// A commit does not check again whether the pages that it found missing are still missing.
    AbsentNotLookedAtAgain,
    /// The removal of a vertex does not remove edges whose other end is in a subgraph to which the commit
    /// does not write.
    FarEdgesLeft,
    /// The id of a removed vertex is reused while a snapshot sees that vertex.
    IdReusedEarly,
    /// A commit that completes while another thread publishes is forgotten.
    CompletedCommitForgotten,
    /// A commit draws its timestamp outside of the ordering section while another commit is in it.
    DrawnDuringSection,

    // Kinds.
    /// An id that is reused for a vertex of the default kind keeps its former kind.
    KindOfIdKept,
    /// A commit that checks again whether an id has a key does not compare kinds.
    KindsNotCompared,
    /// A manifest leaves out the defined kinds.
    KindsLeftOutOfManifest,
    /// Replay over a manifest with kinds does not add to the schema the kinds that the log defines later.
    LaterKindsLost,
    /// Edges that are written as rows are not checked against the kinds of ends that their label states.
    EndsOfRowsNotChecked,

    // Memory.
    /// A version is reclaimed although a snapshot reads it.
    VersionReclaimedEarly,
    /// A version is reclaimed although a reader that is registering may need it.
    RegisteringReaderMissed,
    /// A long-lived snapshot is forgotten when its slot is given to another.
    HeldReaderForgotten,
    /// A version waits for the close of a snapshot that had already closed before.
    ClosedReaderWaitedFor,
    /// A version is freed although a walk may be reading it.
    WalkNotWaitedFor,
    /// A page of a table is freed although a hold keeps it.
    HoldNotWaitedFor,
    /// A chain is loaded into a page that was evicted from its table.
    EvictedPageFilled,
    /// The place of an evicted page loses the timestamp of the page's last operation.
    EvictedPageUnstamped,
    /// A page that is loaded again has no marks in place of its chains.
    LoadedPageUnmarked,
    /// The record of changed vertices in a reclaimed version is lost.
    UnlinkedChangesLost,
    /// A merge loses the newest entry of the delta.
    NewestEntryLost,
    /// An entry of a delta is not added to the Bloom filter that look-ups read first.
    EntryNotNoted,
    /// Degrees ignore the patch of a large main part.
    PatchForgotten,
    /// An edge of a label is not written to its incoming list.
    ReverseEdgeLost,
    /// A view that is refreshed from another one misses the changes.
    ViewNotRefreshed,
    /// The buffer in which records wait to be written is not charged to the account of the store.
    BufferNotCharged,
    /// Memory that reads take from the budget is not charged.
    TakenNotCharged,
    /// Subgraphs that a commit has loaded are evicted before it has ended.
    PinForgotten,
    /// Needs of every kind may take the slack of the limit.
    SlackIgnored,
    /// A commit keeps its memory while it waits for memory, and after that.
    WaitsWithMemory,

    // Reads.
    /// Reads that lend the newest edges of a vertex return them in list order, not newest first.
    LentInListOrder,
    /// A read that lends a property's value treats a vertex without that value as a missing vertex.
    LentNullMissed,

    // Defaults.
    /// Kernels that read weights take each weight of a label as 1.
    WeightsOfLabelsIgnored,
    /// A key without a kind names a vertex of the default kind, although the labels of the call state another
    /// kind.
    StatedKindIgnored,
    /// A kernel over labels that state the kinds of their ends runs on the vertices of all kinds.
    OtherKindsKept,
    /// A kernel that is allowed to sample starts its searches at eight random vertices, but reports the
    /// result as exact.
    EstimateNotReported,
    /// Bulk calls of Python give rank 0 to each edge of a `multi` label that has no given rank.
    ParallelEdgesMerged,
    /// Bulk calls of Python replace the properties of existing vertices although they should merge them.
    VerticesReplaced,

    // Tools.
    /// A backup leaves out the defined labels and properties.
    BackupWithoutSchema,
    /// Salvage does not report subgraphs that it could not read.
    SalvageSilent,
}

/// Returns false: no fault is planted in this build.
#[cfg(not(feature = "planted-faults"))]
#[inline(always)]
pub const fn is_on(_: PlantedFault) -> bool {
    false
}

#[cfg(feature = "planted-faults")]
pub use planting::{Planting, Sound, is_on, plant, sound};

#[cfg(feature = "planted-faults")]
mod planting {
    // Not the atomics of `crate::sync`: schedulers do not explore the planting.
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

    use super::PlantedFault;

    /// The planted fault, counted from 1.
    static ON: AtomicU8 = AtomicU8::new(0);
    /// The number of times that the fault took effect.
    static REACHED: AtomicU64 = AtomicU64::new(0);
    static TURN: RwLock<()> = RwLock::new(());

    /// True if `fault` is planted.
    #[inline]
    pub fn is_on(fault: PlantedFault) -> bool {
        let on = ON.load(Ordering::Relaxed) == fault as u8 + 1;
        if on {
            REACHED.fetch_add(1, Ordering::Relaxed);
        }
        on
    }

    /// A fault that is planted until this is dropped.
    #[derive(Debug)]
    pub struct Planting(#[allow(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>);

    /// A guard that prevents faults until it is dropped.
    #[derive(Debug)]
    pub struct Sound(#[allow(dead_code, reason = "held")] RwLockReadGuard<'static, ()>);

    /// Plants `fault` in the whole process. Waits until no other thread has planted a fault or holds a
    /// [`sound`] guard.
    pub fn plant(fault: PlantedFault) -> Planting {
        // A test that panicked during its turn must not stop later tests.
        let turn = TURN.write().unwrap_or_else(PoisonError::into_inner);
        REACHED.store(0, Ordering::Relaxed);
        ON.store(fault as u8 + 1, Ordering::Relaxed);
        Planting(turn)
    }

    /// Waits until no fault is planted. The guard prevents new faults.
    pub fn sound() -> Sound {
        Sound(TURN.read().unwrap_or_else(PoisonError::into_inner))
    }

    impl Planting {
        /// Returns how often the fault has taken effect so far.
        pub fn reached(&self) -> u64 {
            REACHED.load(Ordering::Relaxed)
        }
    }

    impl Drop for Planting {
        fn drop(&mut self) {
            ON.store(0, Ordering::Relaxed);
        }
    }
}
