//! `hedgerow.open`: arguments to options.

use std::path::PathBuf;
use std::time::Duration;

use hedgerow::{Durability, Isolation, KeyKind, Options};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::database::Database;
use bytesize::ByteSize;

use crate::error::{DataError, raise, repr_of};
use crate::handle::Handle;
use crate::key::{count, flag, long_count, shown, type_name};
use crate::pool::parallel;

/// Open the store in a directory, or make a store without files.
///
/// Blocks for recovery, in proportion to the log since the last checkpoint and to the keys of vertices, if
/// they have some; the rest of the graph is loaded on demand.
///
/// Parameters
/// ----------
/// path : str or os.PathLike, optional
///     The directory; it is created if there is none. Without a path, or with ``":memory:"``, the store has
///     no files and its content goes with it.
/// read_only : bool
///     Write nothing. Any number of openings may read a store at once, in one process or several, without a
///     writer meanwhile.
/// directed : bool, optional
///     True if edges have a direction. For a new store true if not given; an existing store must agree.
/// keys : {"u64", "str", "dense"}, optional
///     The type of vertex ids: any int from 0 to 2**64 - 1; any str of at most 64 KiB; or ints counted up
///     from 0, which need no mapping. For a new store ``"u64"`` if not given; an existing store must agree.
/// weighted : bool, optional
///     True if edges carry a float. For a new store false if not given; an existing store must agree.
/// reverse : bool, optional
///     True if a directed graph keeps the incoming edges of each vertex too. Without them a read of incoming
///     neighbors, and the removal of a vertex, reads all vertices. For a new store true if not given; an
///     existing store must agree.
/// durability : {"sync", "manual"} or tuple of ("group", float)
///     The point at which a commit returns: once it is on stable media (``"sync"``); after the append, with a
///     sync within that many seconds (``("group", 0.05)``, a microsecond to a day); or after the append, with
///     a sync at ``flush`` and ``checkpoint`` only.
/// isolation : {"serializable", "snapshot"}
///     The effects of concurrent write transactions that a transaction may see.
/// create : bool
///     True to create a store if there is none.
/// checkpoint_log_bytes : int
///     The length of the log since the last checkpoint beyond which a thread in the background writes a
///     checkpoint. When the log is twice as long, commits wait for the checkpoint. With 0 neither that thread
///     nor ``close`` writes one.
/// log_segment_bytes : int
///     The size of the files of the log, 4 KiB to 16 GiB. The first one after an opening has 256 KiB, and
///     each following one is twice as long, up to this; the space is reserved.
/// memory_limit : int or str, optional
///     The memory budget of the store in bytes, at least 16 MiB: an int, or a str such as ``"8GiB"``. A
///     commit that does not fit is refused, and so is opening a store that does not fit. If not given, it is
///     half of the memory of the machine, or of the control group of the process, and refuses nothing: see
///     ``Stats.memory_limit``. Arrays that kernels and other calls return, or work with, are not part of it.
/// views_by_reads : bool
///     True if a snapshot with many reads makes the graph of its kernels on its own, and answers further
///     calls from it. These are several times as fast then, and the call that makes the graph takes as long
///     as that.
/// mode : int, optional
///     The permissions of a new store's files, independent of the umask: ``0o640`` lets the group read; if
///     not given, only the owner reads and writes. A directory that is made for the store lets every reader
///     of its files enter. For an existing store ``mode`` must agree with the permissions of its file
///     ``LOCK``, which all later files get. No effect in memory, nor with ``read_only``.
///
/// Returns
/// -------
/// Database
///
/// Raises
/// ------
/// LockedError
///     The directory is open already, in this process or another, and not both for reading only.
/// OutOfMemoryError
///     The store needs more than ``memory_limit``; the message names a sufficient limit.
/// CorruptionError
///     A file is damaged.
/// NotSupportedError
///     The store was written by a later version, or by one from before the first release.
/// ProgrammingError
///     The arguments disagree with those with which the store was created.
/// DataError
///     An argument has no meaning.
/// OperationalError
///     The directory holds something else, or cannot be read or written.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> with hedgerow.open(directed=False) as db:
/// ...     db.insert_edge(1, 2)
/// True
#[pyfunction]
#[pyo3(signature = (path=None, *, read_only=false, directed=None, keys=None, weighted=None, reverse=None, durability=None, isolation="serializable", create=true, checkpoint_log_bytes=None, log_segment_bytes=None, memory_limit=None, views_by_reads=None, mode=None), text_signature = "(path=None, *, read_only=False, directed=None, keys=None, weighted=None, reverse=None, durability='sync', isolation='serializable', create=True, checkpoint_log_bytes=268435456, log_segment_bytes=67108864, memory_limit=None, views_by_reads=True, mode=None)")]
#[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
pub(crate) fn open(
    py: Python<'_>,
    path: Option<PathBuf>,
    read_only: bool,
    directed: Option<&Bound<'_, PyAny>>,
    keys: Option<&Bound<'_, PyAny>>,
    weighted: Option<&Bound<'_, PyAny>>,
    reverse: Option<&Bound<'_, PyAny>>,
    durability: Option<&Bound<'_, PyAny>>,
    isolation: &str,
    create: bool,
    checkpoint_log_bytes: Option<&Bound<'_, PyAny>>,
    log_segment_bytes: Option<&Bound<'_, PyAny>>,
    memory_limit: Option<&Bound<'_, PyAny>>,
    views_by_reads: Option<&Bound<'_, PyAny>>,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Database> {
    let mut options = Options::new()
        .read_only(read_only)
        .create(create)
        .isolation(read_isolation(isolation)?)
        .durability(durability.map_or(Ok(Durability::Sync), read_durability)?)
        .after_settling(crate::heap::give_back);
    if let Some(bytes) = checkpoint_log_bytes {
        options = options.checkpoint_log_bytes(long_count("checkpoint_log_bytes", bytes)?);
    }
    if let Some(bytes) = log_segment_bytes {
        options = options.log_segment_bytes(long_count("log_segment_bytes", bytes)?);
    }
    if let Some(limit) = memory_limit {
        options = options.memory_limit(read_size("memory_limit", limit)?);
    }
    if let Some(views_by_reads) = views_by_reads {
        options = options.views_by_reads(flag("views_by_reads", views_by_reads)?);
    }
    if let Some(mode) = mode {
        options = options.mode(count("mode", mode, 0)?);
    }
    if let Some(directed) = directed {
        options = options.directed(flag("directed", directed)?);
    }
    if let Some(keys) = keys {
        options = options.keys(read_kind(keys)?);
    }
    if let Some(weighted) = weighted {
        options = options.weighted(flag("weighted", weighted)?);
    }
    if let Some(reverse) = reverse {
        options = options.reverse(flag("reverse", reverse)?);
    }
    let path = path.filter(|path| path.as_os_str() != ":memory:");
    if path.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
        return Err(DataError::new_err("path is empty; for a store without files give none"));
    }
    let graph = parallel(py, || match &path {
        Some(path) => options.open(path),
        None => options.in_memory(),
    });
    Ok(Database::new(Handle::new(graph.map_err(raise)?, path, read_only)))
}

/// Reads a number of bytes: an int, or a text with a unit.
pub(crate) fn read_size(name: &str, object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let Ok(text) = object.cast::<PyString>() else { return long_count(name, object) };
    text.to_str()?.parse().map(|ByteSize(bytes)| bytes).map_err(|_| {
        let found = shown(object);
        DataError::new_err(format!("{name} must be a number of bytes, such as \"8GiB\", found {found}"))
    })
}

fn read_kind(object: &Bound<'_, PyAny>) -> PyResult<KeyKind> {
    let text = object.cast::<PyString>().ok().map(|text| text.to_str()).transpose()?;
    match text {
        Some("u64") => Ok(KeyKind::U64),
        Some("str") => Ok(KeyKind::Str),
        Some("dense") => Ok(KeyKind::Dense),
        other => {
            let message = format!("keys must be \"u64\", \"str\" or \"dense\", found {}", shown(object));
            Err(if other.is_some() { DataError::new_err(message) } else { PyTypeError::new_err(message) })
        }
    }
}

fn read_isolation(text: &str) -> PyResult<Isolation> {
    match text {
        "serializable" => Ok(Isolation::Serializable),
        "snapshot" => Ok(Isolation::Snapshot),
        other => Err(DataError::new_err(format!(
            "isolation must be \"serializable\" or \"snapshot\", found {other:?}"
        ))),
    }
}

fn read_durability(object: &Bound<'_, PyAny>) -> PyResult<Durability> {
    if let Ok(text) = object.cast::<PyString>() {
        match text.to_str()? {
            "sync" => return Ok(Durability::Sync),
            "manual" => return Ok(Durability::Manual),
            _ => {}
        }
    } else if let Ok(pair) = object.cast::<PyTuple>()
        && let Ok((word, seconds)) = pair.extract::<(String, f64)>()
        && word == "group"
    {
        // A number that is no duration at all is refused with the store's words for one out of range.
        let interval = Duration::try_from_secs_f64(seconds);
        return interval.map(Durability::Group).map_err(|_| {
            DataError::new_err(format!(
                "the interval of group durability must be 0.000001 to 86400 seconds, found {seconds}"
            ))
        });
    }
    let found = repr_of(object).unwrap_or_else(|| type_name(object));
    Err(DataError::new_err(format!(
        "durability must be \"sync\", \"manual\" or (\"group\", seconds), found {found}"
    )))
}
