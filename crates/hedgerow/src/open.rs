//! Creating and opening stores.

use std::path::Path;
use std::sync::Arc;

use hedgerow_core::{KeyKind, Timestamp};
use hedgerow_io::{FileId, RealFs, StoreId, Vfs, VfsLock};
use hedgerow_log::{Log, LogOptions, LogPosition, RecoverError, Witness, recover_commits};
use hedgerow_mem::SubgraphTable;
use hedgerow_tier::{LoadedManifest, LogSegmentRef, Manifest};
use hedgerow_txn::Counts;

use crate::checkpoint::runs::Runs;
use crate::durability::{Durable, spawn_syncer};
use crate::error::{Error, Result};
use crate::graph::{Engine, EngineParts, Graph};
use crate::idmap::IdMap;
use crate::options::{Durability, GraphConfig, Options};
use crate::recover::{LAST_TIMESTAMP, Loaded, Replay, load_segments};
use crate::schema::Schema;
use crate::tables::LabelTables;

/// The name of the lock file.
pub(crate) const LOCK: &str = "LOCK";

pub(crate) fn in_memory(options: Options) -> Result<Graph> {
    let parts = empty(options.config(), None, None);
    Ok(Graph { engine: Engine::new(&options, parts) })
}

/// The parts of a store in which nothing was committed yet.
fn empty(config: GraphConfig, durable: Option<Durable>, lock: Option<Box<dyn VfsLock>>) -> EngineParts {
    let subgraphs = SubgraphTable::default();
    EngineParts {
        config,
        last: Timestamp::ZERO,
        counts: Counts::default(),
        labels: LabelTables::new(subgraphs.arena()),
        subgraphs,
        schema: Schema::default(),
        ids: IdMap::new(config.keys),
        durable,
        lock,
    }
}

pub(crate) fn open_path(options: Options, path: &Path) -> Result<Graph> {
    let shown = || path.display().to_string();
    let io = |operation: &str, source| Error::Io { file: shown(), operation: operation.to_owned(), source };
    let fs = match path.symlink_metadata() {
        Ok(found) if found.is_dir() || found.is_symlink() => RealFs::open_dir(path).and_then(|fs| {
            // Whoever made the directory may not have made its entry durable, and a store in it is to last.
            let fresh = !fs.list()?.iter().any(|name| name.ends_with(".man"));
            if fresh && options.create && !options.read_only {
                RealFs::sync_entry(path)?;
            }
            Ok(fs)
        }),
        Ok(_) => return Err(Error::NotAStore { path: shown(), reason: "not a directory".into() }),
        Err(error)
            if error.kind() == std::io::ErrorKind::NotFound && options.create && !options.read_only =>
        {
            RealFs::create_dir(path)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::NotAStore { path: shown(), reason: "no such directory".into() });
        }
        Err(error) => return Err(io("open", error)),
    };
    open_on(options, Arc::new(fs.map_err(|e| io("open", e))?))
}

pub(crate) fn open_on(options: Options, fs: Arc<dyn Vfs>) -> Result<Graph> {
    if (!options.create || options.read_only) && Manifest::load(&fs)?.is_none() {
        return Err(Error::NotAStore { path: fs.path().display().to_string(), reason: "it is empty".into() });
    }
    let lock = take_lock(&fs)?;
    let engine = match Manifest::load(&fs)? {
        Some(loaded) => open_existing(&options, fs, loaded, lock)?,
        None if options.create && !options.read_only => create(&options, fs, lock)?,
        None => {
            return Err(Error::NotAStore {
                path: fs.path().display().to_string(),
                reason: "it is empty".into(),
            });
        }
    };
    if let (Durability::Group(interval), Some(_)) = (options.durability, &engine.durable) {
        spawn_syncer(&engine, interval);
    }
    Ok(Graph { engine })
}

/// Takes the lock of a directory, unless it holds something that is not a store: nothing is left behind there.
fn take_lock(fs: &Arc<dyn Vfs>) -> Result<Box<dyn VfsLock>> {
    let path = || fs.path().display().to_string();
    let io = |operation: &str, source| Error::Io { file: path(), operation: operation.to_owned(), source };
    let names = fs.list().map_err(|e| io("list", e))?;
    if !names.is_empty() && !names.iter().any(|n| n == LOCK) {
        Manifest::load(fs)?;
    }
    fs.lock(LOCK).map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => Error::Locked { path: path() },
        _ => io("lock", error),
    })
}

fn create(options: &Options, fs: Arc<dyn Vfs>, lock: Box<dyn VfsLock>) -> Result<Arc<Engine>> {
    let config = options.config();
    let manifest = Manifest::new(StoreId::generate(), to_tier(config));
    manifest.store(&fs)?;
    start(options, fs, manifest, lock)
}

/// Gives a store whose manifest names no log yet its first log. Nothing was ever committed to it.
fn start(
    options: &Options,
    fs: Arc<dyn Vfs>,
    mut manifest: Manifest,
    lock: Box<dyn VfsLock>,
) -> Result<Arc<Engine>> {
    let config = from_tier(manifest.config);
    remove_unnamed_logs(&fs)?;
    let log = Log::create(fs.clone(), log_options(options, manifest.store), LogPosition::START)?;
    manifest.logs = log_refs(&log, Timestamp::ZERO);
    manifest.sequence += 1;
    manifest.store(&fs)?;
    manifest.remove_older(&fs)?;
    let durable = Durable::new(fs, log, manifest, Runs::default(), Timestamp::ZERO);
    let parts = empty(config, Some(durable), Some(lock));
    Ok(Engine::new(options, parts))
}

/// The first opening was interrupted between its first manifest and its second: a log file of that time holds nothing.
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
    lock: Box<dyn VfsLock>,
) -> Result<Arc<Engine>> {
    let LoadedManifest { manifest, stray, file: manifest_file } = loaded;
    let config = from_tier(manifest.config);
    options.agrees(config)?;
    check_manifest(&manifest_file, &manifest)?;
    if manifest.logs.is_empty() && !options.read_only {
        return start(options, fs, manifest, lock);
    }
    let schema = crate::sections::schema(&manifest).map_err(|what| {
        hedgerow_io::Corruption::new(&manifest_file, 0, hedgerow_io::CorruptionKind::Invalid(what))
    })?;
    let mut state = load_segments(&fs, &manifest, schema, config)?;
    let recovered = if manifest.logs.is_empty() {
        None
    } else {
        let live: Vec<FileId> = manifest.logs.iter().map(|log| log.id).collect();
        let witness = Witness { store: manifest.store, live: &live, durable: manifest.durable_lsn };
        let mut replay = Replay::new(&mut state);
        let recovered = recover_commits(fs.clone(), witness, |commit, ops| replay.commit(commit, ops));
        // What was read before the log turned out to be damaged may be damaged itself: the first place is named.
        replay.finish()?;
        Some(recovered.map_err(from_recovery)?)
    };
    state.free_unused_ids();
    let last = recovered.as_ref().map_or(manifest.checkpoint, |r| r.last_ts.max(manifest.checkpoint));
    let durable = match recovered {
        Some(recovered) if !options.read_only => {
            let runs = std::mem::take(&mut state.runs);
            Some(resume(options, fs, manifest, recovered, &stray, (runs, last))?)
        }
        _ => None,
    };
    let Loaded { config, subgraphs, labels, schema, ids, counts, .. } = state;
    let parts =
        EngineParts { config, last, counts, subgraphs, labels, schema, ids, durable, lock: Some(lock) };
    Ok(Engine::new(options, parts))
}

/// What no manifest of this version says, though its checksum is right.
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
    Err(hedgerow_io::Corruption::new(file, 0, hedgerow_io::CorruptionKind::Invalid(reason)).into())
}

/// Makes durable what recovery believed, then serves: the recipe of [`hedgerow_log`].
fn resume(
    options: &Options,
    fs: Arc<dyn Vfs>,
    mut manifest: Manifest,
    recovered: hedgerow_log::Recovered,
    stray: &[String],
    (runs, last): (Runs, Timestamp),
) -> Result<Durable> {
    let resumed = recovered.resume(log_options(options, manifest.store))?;
    manifest.logs = log_refs(&resumed.log, manifest.checkpoint);
    manifest.durable_lsn = resumed.log.durable();
    manifest.sequence += 1;
    manifest.store(&fs)?;
    manifest.remove_older(&fs)?;
    let log = resumed.remove_obsolete()?;
    let dir = hedgerow_io::Dir::new(fs.clone());
    for name in stray.iter().filter(|name| name.ends_with(".csr")) {
        dir.unlink(name)?;
    }
    Ok(Durable::new(fs, log, manifest, runs, last))
}

fn log_options(options: &Options, store: StoreId) -> LogOptions {
    LogOptions { segment_bytes: options.log_segment_bytes, ..LogOptions::new(store) }
}

/// The log segments that a manifest must name whose checkpoint is at `checkpoint`.
pub(crate) fn log_refs(log: &Log, checkpoint: Timestamp) -> Vec<LogSegmentRef> {
    let live = log.live_after(checkpoint);
    let segments = log.segments();
    let named = segments.iter().filter(|s| live.contains(&s.id));
    named.map(|s| LogSegmentRef { id: s.id, first_lsn: s.first_lsn }).collect()
}

fn from_recovery(error: RecoverError<Error>) -> Error {
    match error {
        RecoverError::File(error) => error.into(),
        RecoverError::Visitor { error, .. } => error,
        other => Error::InvalidArgument(other.to_string()),
    }
}

pub(crate) fn to_tier(config: GraphConfig) -> hedgerow_tier::GraphConfig {
    hedgerow_tier::GraphConfig {
        directed: config.directed,
        key_kind: config.keys,
        weighted: config.weighted,
        reverse: config.directed && config.reverse,
    }
}

pub(crate) fn from_tier(config: hedgerow_tier::GraphConfig) -> GraphConfig {
    let keys: KeyKind = config.key_kind;
    let hedgerow_tier::GraphConfig { directed, weighted, reverse, .. } = config;
    GraphConfig { directed, keys, weighted, reverse: reverse || !directed }
}
