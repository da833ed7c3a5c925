//! Creating and opening stores.

mod reserve;

use std::path::Path;
use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Error, OpenError, Result, io_error};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::account::Account;
use hedgerow_core::{GraphConfig, Timestamp};
use hedgerow_io::{FILE_MODE, FileId, LockHeld, RealFs, StoreId, Vfs, VfsLock};
use hedgerow_log::{Log, LogOptions, LogPosition, RecoverError, Witness, recover_commits};
use hedgerow_mem::{Memory, SubgraphTable};
use hedgerow_pager::Inboxes;
use hedgerow_pager::ids::IdMap;
use hedgerow_pager::limits::{beside_opened, fits_limit};
use hedgerow_pager::pager::pages::Pages;
use hedgerow_pager::tables::LabelTables;
use hedgerow_tier::{LoadedManifest, Manifest};
use hedgerow_txn::Counts;
use reserve::{Room, with_reserve};

use crate::background::{checkpoints, settle};
use crate::config::Durability;
use crate::durable::recover::{LAST_TIMESTAMP, Loaded, Replay, load_segments};
use crate::durable::sync;
use crate::files::image_table::Runs;
use crate::files::log::{Durable, log_refs};
use crate::options::Options;
use crate::state::store::{Engine, EngineParts, Threads};

/// The name of the lock file.
pub(crate) const LOCK: &str = "LOCK";

pub(crate) const THREADS: Threads = Threads {
    settle: settle::run,
    checkpoint: checkpoints::run,
    sync_at_intervals: sync::at_intervals,
    sync_for_tickets: sync::for_tickets,
    #[cfg(feature = "planted-faults")]
    checkpoint_now: checkpoints::write_one,
};

pub(crate) fn in_memory(options: Options) -> Result<Arc<Engine>> {
    options.check()?;
    let parts = empty(options.config(), options.memory(), None, None);
    Ok(Engine::new(&options, parts, THREADS))
}

/// Returns the parts of a store without any commit.
fn empty(
    config: GraphConfig,
    memory: Memory,
    durable: Option<Durable>,
    lock: Option<Box<dyn VfsLock>>,
) -> EngineParts {
    let account = memory.account().clone();
    let subgraphs = SubgraphTable::new(memory).with_weights(config.weighted);
    EngineParts {
        config,
        last: Timestamp::ZERO,
        counts: Counts::default(),
        labels: LabelTables::new(subgraphs.memory()),
        subgraphs,
        pages: Pages::none(config),
        inboxes: Inboxes::new(&account),
        evicted: 0,
        schema: Schema::default(),
        ids: IdMap::new(config.keys, account),
        directory: durable.as_ref().map(|durable| durable.fs.clone()),
        durable,
        lock,
    }
}

pub(crate) fn open_path(options: Options, path: &Path) -> Result<Arc<Engine>> {
    // Checked before the directory is created.
    options.check()?;
    let shown = || path.display().to_string();
    let fs = match path.symlink_metadata() {
        Ok(found) if found.is_dir() || found.is_symlink() => RealFs::open_dir(path).and_then(|fs| {
            // The program that created the directory may not have synced its entry, and a store in it must be
            // durable.
            let fresh = !fs.list()?.iter().any(|name| name.ends_with(".man"));
            if fresh && options.create && !options.read_only {
                RealFs::sync_entry(path)?;
            }
            Ok(fs)
        }),
        Ok(_) => return Err(OpenError::NotAStore { path: shown(), reason: "not a directory".into() }.into()),
        Err(error)
            if error.kind() == std::io::ErrorKind::NotFound && options.create && !options.read_only =>
        {
            RealFs::create_dir_with(path, options.mode.unwrap_or(FILE_MODE))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(OpenError::NotAStore { path: shown(), reason: "no such directory".into() }.into());
        }
        Err(error) => return Err(io_error(path, "open")(error)),
    };
    let fs = with_mode(&options, fs.map_err(io_error(path, "open"))?)?;
    open_on(options, Arc::new(fs))
}

/// Sets the permissions of new files: the store's own, or for a new store the permissions in the options.
fn with_mode(options: &Options, fs: RealFs) -> Result<RealFs> {
    if options.read_only {
        return Ok(fs);
    }
    let found = fs.mode_of(LOCK).map_err(io_error(fs.path(), "lock"))?;
    let mode = match (found, options.mode) {
        (Some(found), Some(wanted)) if wanted != found => {
            let path = fs.path().display().to_string();
            return Err(OpenError::ModeMismatch { path, wanted, found }.into());
        }
        (found, wanted) => found.or(wanted).unwrap_or(FILE_MODE),
    };
    Ok(fs.with_mode(mode))
}

pub(crate) fn open_on(options: Options, fs: Arc<dyn Vfs>) -> Result<Arc<Engine>> {
    options.check()?;
    let engine = if options.read_only {
        open_to_read(&options, fs.clone())?
    } else {
        open_to_write(&options, fs.clone())?
    };
    let mut failed = None;
    if matches!(options.durability, Durability::Group(_)) && engine.durable.is_some() {
        engine.work.group_syncer.start(|error| failed = Some(error));
    }
    match failed {
        Some(error) => Err(io_error(fs.path(), "start the thread that syncs")(error)),
        None => Ok(engine),
    }
}

/// Opens a store for reading only. Changes nothing in the directory, which may be read-only. Takes a shared
/// lock if the lock file exists.
fn open_to_read(options: &Options, fs: Arc<dyn Vfs>) -> Result<Arc<Engine>> {
    let lock = fs.lock_existing(LOCK).map_err(|e| not_locked(&fs, e))?;
    let loaded = Manifest::look(&fs)?.ok_or_else(|| is_empty(&fs))?;
    open_existing(options, fs, loaded, lock)
}

fn open_to_write(options: &Options, fs: Arc<dyn Vfs>) -> Result<Arc<Engine>> {
    // Looks for a manifest before it creates the lock file, so that a directory without a store stays as it
    // was.
    let found = Manifest::look(&fs)?;
    if found.is_none() && !options.create {
        return Err(is_empty(&fs));
    }
    let lock = fs.lock(LOCK).map_err(|e| not_locked(&fs, e))?;
    match Manifest::load(&fs)? {
        Some(loaded) => open_existing(options, fs, loaded, Some(lock)),
        None => create(options, fs, lock),
    }
}

fn is_empty(fs: &Arc<dyn Vfs>) -> Error {
    OpenError::NotAStore { path: fs.path().display().to_string(), reason: "it is empty".into() }.into()
}

fn not_locked(fs: &Arc<dyn Vfs>, source: std::io::Error) -> Error {
    match source.kind() {
        std::io::ErrorKind::WouldBlock => {
            let path = fs.path().display().to_string();
            OpenError::Locked { path, holder: LockHeld::holder_in(&source) }.into()
        }
        _ => io_error(fs.path(), "lock")(source),
    }
}

fn create(options: &Options, fs: Arc<dyn Vfs>, lock: Box<dyn VfsLock>) -> Result<Arc<Engine>> {
    let config = options.config();
    let manifest = Manifest::new(StoreId::generate(), config);
    manifest.store(&fs)?;
    start(options, fs, manifest, Some(lock))
}

/// Creates the first log of a store whose manifest names no log yet. Nothing was ever committed to the store.
fn start(
    options: &Options,
    fs: Arc<dyn Vfs>,
    mut manifest: Manifest,
    lock: Option<Box<dyn VfsLock>>,
) -> Result<Arc<Engine>> {
    let config = manifest.config;
    remove_unnamed_logs(&fs)?;
    let memory = options.memory();
    let account = memory.account();
    let log = Log::create(fs.clone(), log_options(options, manifest.store, account), LogPosition::START)?;
    manifest.logs = log_refs(&log, Timestamp::ZERO);
    manifest.sequence += 1;
    manifest.store(&fs)?;
    manifest.remove_older(&fs)?;
    log.renew_reserve()?;
    let durable = Durable::new(fs, log, manifest, Runs::default(), Timestamp::ZERO);
    let parts = empty(config, memory, Some(durable), lock);
    Ok(Engine::new(options, parts, THREADS))
}

/// Refuses a manifest without a log if other files have later commits. Such a manifest is the first one of a
/// store. If it came back, perhaps from a copy, files that later manifests named must not be removed because
/// of it.
fn refuse_older_manifest(
    fs: &Arc<dyn Vfs>,
    manifest_file: &str,
    manifest: &Manifest,
    stray: &[String],
) -> Result<()> {
    let holds_commits = |id: FileId| {
        let witness = Witness { store: manifest.store, live: &[id], durable: manifest.durable_lsn };
        // If a log cannot be read from its beginning, its creation may have been interrupted.
        recover_commits(fs.clone(), witness, |_, _| Err::<(), ()>(()))
            .is_err_and(|error| matches!(error, RecoverError::Visitor { .. }))
    };
    let names = hedgerow_io::Dir::new(fs.clone()).list()?;
    let mut logs = names.iter().filter_map(|name| hedgerow_log::parse_segment_name(name));
    if stray.iter().any(|name| name.ends_with(".csr")) || logs.any(holds_commits) {
        let what = "an older manifest than the files beside it";
        return Err(damaged(manifest_file, what));
    }
    Ok(())
}

fn damaged(file: &str, what: &'static str) -> Error {
    hedgerow_io::Corruption::new(file, 0, hedgerow_io::CorruptionKind::Invalid(what)).into()
}

/// Removes log files that no manifest names. If the first opening was interrupted between its first manifest
/// and its second, a log file may be left. It has no commits.
fn remove_unnamed_logs(fs: &Arc<dyn Vfs>) -> Result<()> {
    let dir = hedgerow_io::Dir::new(fs.clone());
    for name in dir.list()? {
        if hedgerow_log::parse_segment_name(&name).is_some() {
            dir.unlink(&name)?;
        }
    }
    Ok(())
}

fn open_existing(
    options: &Options,
    fs: Arc<dyn Vfs>,
    loaded: LoadedManifest,
    lock: Option<Box<dyn VfsLock>>,
) -> Result<Arc<Engine>> {
    let LoadedManifest { manifest, stray, file: manifest_file } = loaded;
    let config = manifest.config;
    options.agrees(config)?;
    check_manifest(&manifest_file, &manifest)?;
    if manifest.logs.is_empty() {
        refuse_older_manifest(&fs, &manifest_file, &manifest, &stray)?;
        if !options.read_only {
            return start(options, fs, manifest, lock);
        }
    }
    let schema = crate::durable::sections::schema(&manifest).map_err(|what| damaged(&manifest_file, what))?;
    let mut state = load_segments(&fs, (&manifest, &manifest_file), schema, config, options.memory())?;
    let recovered = if manifest.logs.is_empty() {
        None
    } else {
        let live: Vec<FileId> = manifest.logs.iter().map(|log| log.id).collect();
        let witness = Witness { store: manifest.store, live: &live, durable: manifest.durable_lsn };
        let mut replay = Replay::new(&mut state);
        let recovered = recover_commits(fs.clone(), witness, |commit, ops| replay.commit(commit, ops));
        // Commits that were read before the damage in the log may be damaged too: the first damage is
        // reported.
        replay.finish()?;
        let recovered = recovered.map_err(from_recovery)?;
        let named = manifest.logs.iter().map(|log| (log.id, log.first_lsn));
        if !named.eq(recovered.segments().take(manifest.logs.len())) {
            return Err(damaged(
                &manifest_file,
                "a log segment that begins at another position than the manifest says",
            ));
        }
        Some(recovered)
    };
    if !state.edges_lead_somewhere() {
        return Err(damaged(&manifest_file, "an edge of the store leads to no vertex"));
    }
    state.free_unused_ids();
    let last = recovered.as_ref().map_or(manifest.checkpoint, |r| r.last_ts.max(manifest.checkpoint));
    let account = state.subgraphs.memory().account().clone();
    fits_limit(&account, bytes_held(&state))?;
    let directory = Some(fs.clone());
    let durable = match recovered {
        Some(recovered) if !options.read_only => {
            let runs = std::mem::take(&mut state.runs);
            Some(resume(options, fs, manifest, recovered, &stray, (runs, last), &account)?)
        }
        _ => None,
    };
    let parts = state.into_parts(last, durable, directory, lock);
    Ok(Engine::new(options, parts, THREADS))
}

/// Returns the bytes in use after the replay of the log. Free memory of the arena does not count, since later
/// allocations use it. If the limit has no room, returns memory pages inside free blocks to the system.
fn bytes_held(state: &Loaded) -> u64 {
    let memory = state.subgraphs.memory();
    memory.retire_list().drain();
    memory.arena().trim();
    let account = memory.account();
    let lacking = account.limit().map_or(0, |limit| account.used().saturating_sub(limit));
    if lacking > 0 {
        memory.arena().return_pages(usize::try_from(lacking).unwrap_or(usize::MAX));
    }
    let held = account.used().saturating_sub(memory.arena().stats().free() as u64);
    // Free memory counts as room only up to the limit.
    held.max(account.used().saturating_sub(account.limit().map_or(0, beside_opened)))
}

/// Refuses contents that no manifest of this version has, even with a valid checksum.
fn check_manifest(file: &str, manifest: &Manifest) -> Result<()> {
    let without_checkpoint = manifest.segments.is_empty() && manifest.checkpoint == Timestamp::ZERO;
    let reason = if manifest.segments.is_empty() && !without_checkpoint {
        "a checkpoint without its segment"
    } else if manifest.logs.is_empty() && !without_checkpoint {
        "a checkpoint without a log"
    } else if manifest.checkpoint > LAST_TIMESTAMP || manifest.sequence > LAST_TIMESTAMP.0 {
        "a number that no store reaches"
    } else {
        return Ok(());
    };
    Err(damaged(file, reason))
}

/// Makes the commits that recovery accepted durable, then opens the log for writing, in the order that
/// [`hedgerow_log`] prescribes.
fn resume(
    options: &Options,
    fs: Arc<dyn Vfs>,
    mut manifest: Manifest,
    recovered: hedgerow_log::Recovered,
    stray: &[String],
    (runs, last): (Runs, Timestamp),
    account: &Arc<Account>,
) -> Result<Durable> {
    let dir = hedgerow_io::Dir::new(fs.clone());
    let log_options = log_options(options, manifest.store, account);
    let resume = |room: Room| Ok(recovered.resume(log_options.clone(), room.segment())?);
    let remove_strays = || {
        recovered.remove_strays()?;
        stray.iter().try_for_each(|name| dir.unlink_if_there(name).map(drop))
    };
    let resumed = with_reserve(&dir, remove_strays, resume)?;
    manifest.logs = log_refs(&resumed.log, manifest.checkpoint);
    manifest.durable_lsn = resumed.log.durable();
    manifest.sequence += 1;
    with_reserve(&dir, remove_strays, |_| Ok(manifest.store(&fs)?))?;
    manifest.remove_older(&fs)?;
    let log = resumed.remove_obsolete()?;
    remove_strays()?;
    log.renew_reserve()?;
    Ok(Durable::new(fs, log, manifest, runs, last))
}

fn log_options(options: &Options, store: StoreId, account: &Arc<Account>) -> LogOptions {
    let (segment_bytes, account) = (options.log_segment_bytes, account.clone());
    LogOptions { segment_bytes, account, ..LogOptions::new(store) }
}

fn from_recovery(error: RecoverError<Error>) -> Error {
    match error {
        RecoverError::File(error) => error.into(),
        RecoverError::Visitor { error, .. } => error,
        other => Error::Argument(ArgumentError::Invalid(other.to_string())),
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use hedgerow_testkit::SimFs;

    use super::*;
    use crate::options::Thresholds;

    /// If opening did not pass the thresholds on, the small graphs of tests would never have a patch.
    #[test]
    fn every_way_of_opening_passes_thresholds_on() {
        let options = || Options::new().thresholds(Thresholds::SMALL);
        let from = |engine: &Engine| {
            (engine.work.thresholds.threads_from, engine.pager.subgraphs.memory().arena().patch_sizes().from)
        };
        let small = (Thresholds::SMALL.threads_from, Thresholds::SMALL.patches.from);
        assert_eq!(from(&in_memory(options()).unwrap()), small);
        let disk = SimFs::new();
        // The first call creates the store, the next one opens it.
        assert_eq!(from(&open_on(options(), disk.handle()).unwrap()), small);
        assert_eq!(from(&open_on(options(), disk.handle()).unwrap()), small);
        assert_ne!(from(&open_on(Options::new(), disk.handle()).unwrap()), small);
    }
}
