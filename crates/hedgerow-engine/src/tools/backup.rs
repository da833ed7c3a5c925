//! Backup: a snapshot as a store of its own.

use std::path::Path;
use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result, StorageError, io_error};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::{Dir, FileId, StoreId, Vfs};
use hedgerow_log::{Log, LogOptions, LogPosition};
use hedgerow_pager::pager::room::buffers::Writing;
use hedgerow_tier::{LevelSegment, Manifest, SegmentInfo, SegmentReader};
use hedgerow_txn::Counts;

use super::{check_vacant, refuse_inside, vacant};
use crate::durable::checkpoint::write::{ImageMode, Target, write_run};
use crate::durable::sections;
use crate::files::log::log_refs;
use crate::graph::Graph;
use crate::open::LOCK;
use crate::state::pin::pin;
use crate::state::store::Core;

/// The result of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// The backup holds exactly the commits up to this timestamp.
    pub timestamp: Timestamp,
    /// The number of vertices in it.
    pub vertices: u64,
    /// The size of its segment in bytes.
    pub bytes: u64,
}

/// The size of a log segment in a backup. It can be small: the store that is opened from the backup makes log
/// segments of its own size.
const LOG_BYTES: u64 = 4096;

/// The shares of the memory limit that must be free when a backup begins: at the first attempt, and at those
/// after an attempt that met an image without room. A greater share makes more of the graph leave memory.
const SHARES_OF_LIMIT: [u64; 3] = [16, 8, 4];

impl Graph {
    /// Writes everything committed before the call into a new store in the directory `path`, which must be
    /// empty or not exist. Readers and writers are not stopped. Works on stores without files, too. O(edges);
    /// blocks no other thread, and keeps the versions of its timestamp in memory while it runs.
    ///
    /// The backup is a complete store: to restore it, open it or copy its directory. It has its own identity,
    /// so files of the two stores cannot be confused. The call reads back and verifies all bytes that it
    /// wrote before the backup becomes a store.
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) if `path` has content, or is the store's own
    /// directory or below it; a [`StorageError`], which is corruption if the bytes read
    /// back are not the bytes written, and [`MemoryLimit`](crate::StorageError::MemoryLimit) if a limit that
    /// the program set has no room for the buffers: the call waits until a 16th of the limit is free. If it
    /// then meets an image without room, it begins again with an eighth, and with a quarter. After an error
    /// the new files are removed as far as possible.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<Backup> {
        self.engine.check_usable()?;
        if let Some(directory) = &self.engine.directory {
            refuse_inside(&**directory, path.as_ref())?;
        }
        self.backup_on(vacant(path.as_ref())?)
    }

    /// Writes a backup into a directory behind the file-system trait, otherwise like
    /// [`backup`](Self::backup).
    ///
    /// # Errors
    /// The errors of [`backup`](Self::backup).
    pub fn backup_on(&self, fs: Arc<dyn Vfs>) -> Result<Backup> {
        self.engine.check_usable()?;
        check_vacant(&fs)?;
        let lock = Dir::new(fs.clone()).lock(LOCK)?;
        let mut shares = SHARES_OF_LIMIT.iter();
        let done = loop {
            if let Some(&share) = shares.next()
                && let Err(error) = self.engine.pager.make_room_for_backup(share)
            {
                break Err(error);
            }
            let done = write_backup(&self.engine, &fs);
            if done.is_err() {
                remove_files(&fs);
            }
            let lacks_room = matches!(done, Err(Error::Storage(StorageError::MemoryLimit(_))));
            if !lacks_room || shares.len() == 0 {
                break done;
            }
        };
        drop(lock);
        done
    }
}

fn write_backup(core: &Core, fs: &Arc<dyn Vfs>) -> Result<Backup> {
    if !core.catalog.read_only && !core.order.commits.is_failed() {
        core.wait_published(core.order.clock.drawn())?;
    }
    let pinned = pin(core);
    let as_of = pinned.timestamp();
    let manifest = Manifest::new(StoreId::generate(), core.catalog.config);
    let (store, config, file_id) = (manifest.store, manifest.config, manifest.next_file_id);
    let target = Target { fs: fs.clone(), file_id, store, config, writing: Writing::Backup, below: None };
    let written = write_run(core, as_of, target, |_| {
        core.check_usable()?;
        Ok(ImageMode::Image)
    })?;
    let (next_vertex, counts) = (core.keys.ids.bound(), pinned.counts());
    let schema = core.catalog.schema.load().as_of(as_of);
    finish_store(fs, manifest, written.info, StoreContent { as_of, next_vertex, schema, counts })?;
    Ok(Backup { timestamp: as_of, vertices: written.info.vertices, bytes: written.info.bytes })
}

/// Removes the files of an unfinished store from a directory that was empty before. Without a manifest it is
/// no store, and it has no other files.
pub(super) fn remove_files(fs: &Arc<dyn Vfs>) {
    for name in fs.list().unwrap_or_default() {
        if name != LOCK {
            let _ = fs.unlink(&name);
        }
    }
}

/// The facts about a new store, in addition to its segment.
pub(super) struct StoreContent {
    pub(super) as_of: Timestamp,
    pub(super) next_vertex: u32,
    pub(super) schema: Schema,
    pub(super) counts: Counts,
}

/// Makes a store of a written segment: reads the segment back, verifies it, and adds an empty log and a
/// manifest.
///
/// # Errors
/// The errors of writing files; corruption if the bytes read back are not the bytes written.
pub(super) fn finish_store(
    fs: &Arc<dyn Vfs>,
    mut manifest: Manifest,
    info: SegmentInfo,
    content: StoreContent,
) -> Result<()> {
    let StoreContent { as_of, next_vertex, schema, counts } = content;
    let options = LogOptions { segment_bytes: LOG_BYTES, ..LogOptions::new(manifest.store) };
    let log = Log::create(fs.clone(), options, LogPosition { last_ts: as_of, ..LogPosition::START })?;
    manifest.logs = log_refs(&log, as_of);
    log.close().map_err(|error| io_error(fs.path(), "close the log")(std::io::Error::other(error)))?;
    manifest.checkpoint = as_of;
    manifest.durable_lsn = log.durable();
    manifest.next_vertex = next_vertex;
    manifest.next_file_id = FileId(info.file_id.0 + 1);
    if !faults::is_on(PlantedFault::BackupWithoutSchema) {
        sections::put_schema(&mut manifest, &schema);
    }
    sections::put_counts(&mut manifest, counts);
    manifest.segments = vec![LevelSegment { level: 0, info }];
    SegmentReader::open(fs.clone(), &info, manifest.store)?.verify_whole()?;
    manifest.store(fs)?;
    Ok(())
}
