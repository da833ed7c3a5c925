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
/// The call waits for recovery. Its time is proportional to the log since the last checkpoint, and to the
/// keys of vertices if the graph has any; the rest of the graph is loaded on demand.
///
/// Parameters
/// ----------
/// path : str or os.PathLike, optional
///     The directory, which is created if it does not exist. Without a path, or with ``":memory:"``, the
///     store has no files, and its content is lost when it is closed.
/// read_only : bool
///     Write nothing. One or several processes may open a store for reading any number of times at once, but
///     not while a writer has it open.
/// directed : bool, optional
///     True if edges have a direction. The default is true for a new store; an existing store must agree.
/// keys : {"u64", "str", "dense"}, optional
///     The type of vertex ids: any int from 0 to 2**64 - 1; any str of at most 64 KiB; or ints counted up
///     from 0, which need no mapping. The default is ``"u64"`` for a new store; an existing store must agree.
/// weighted : bool, optional
///     True if edges have a weight, a float. The default is false for a new store; an existing store must
///     agree.
/// reverse : bool, optional
///     True if a directed graph also stores the incoming edges of each vertex. Without them, reading incoming
///     neighbors or removing a vertex reads all vertices. The default is true for a new store; an existing
///     store must agree.
/// durability : {"sync", "manual"} or tuple of ("group", float)
///     The point at which a commit returns. With ``"sync"`` it is on stable media. With ``("group", 0.05)``
///     it is appended to the log, and a sync follows within this number of seconds, a microsecond to a day.
///     With ``"manual"`` it is appended, and only ``flush`` and ``checkpoint`` sync.
/// isolation : {"serializable", "snapshot"}
///     The effects of concurrent write transactions that a transaction may see.
/// create : bool
///     True to create a store if there is none.
/// checkpoint_log_bytes : int
///     The length of the log since the last checkpoint at which a background thread writes a checkpoint. When
///     the log has twice this length, commits wait for the checkpoint. With 0, neither that thread nor
///     ``close`` writes a checkpoint.
/// log_segment_bytes : int
///     The maximal size of a log file, 4 KiB to 16 GiB. The first file after an opening has 256 KiB, and each
///     following one is twice as long, up to this size. The space is reserved ahead.
/// memory_limit : int or str, optional
///     The memory budget of the store in bytes, at least 16 MiB: an int, or a str such as ``"8GiB"``. A
///     commit or an opening that does not fit into the budget is refused. The default is half of the memory
///     of the machine, or of the control group of the process, and nothing is refused: see
///     ``Stats.memory_limit``. Arrays that kernels and other calls return, or work with, are not part of the
///     budget.
/// views_by_reads : bool
///     True if a snapshot with many reads makes the view that its kernels use, and answers further reads from
///     it. These reads are several times as fast. The one read that makes the view takes longer.
/// mode : int, optional
///     The permissions of a new store's files, independent of the umask: ``0o640`` lets the group read; if
///     not given, only the owner reads and writes. A directory that is created for the store can be entered
///     by every reader of its files. For an existing store ``mode`` must agree with the permissions of its
///     file ``LOCK``, which all new files get. ``mode`` has no effect for a store without files, or with
///     ``read_only``.
///
/// Returns
/// -------
/// Database
///
/// Raises
/// ------
/// LockedError
///     The store is already open in this or another process, and one of the two openings may write.
/// OutOfMemoryError
///     The store needs more than ``memory_limit``; the message names a sufficient limit.
/// CorruptionError
///     A file is damaged.
/// NotSupportedError
///     The store was written by a later version, or by one from before the first release.
/// ProgrammingError
///     An argument contradicts an argument with which the store was created.
/// DataError
///     An argument has no meaning.
/// OperationalError
///     The directory contains something else, or cannot be read or written.
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
        return Err(DataError::new_err("path is empty; for a store without files give no path"));
    }
    let graph = parallel(py, || match &path {
        Some(path) => options.open(path),
        None => options.in_memory(),
    });
    Ok(Database::new(Handle::new(graph.map_err(raise)?, path, read_only)))
}

/// Reads a number of bytes: an int, or a text with a unit such as `8GiB`.
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
        // A number that is no duration gets the store's message for a duration out of range.
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
