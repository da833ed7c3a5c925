//! Checks of the memory account of a store. The expected figures come from a walk over the parts of the
//! store.

use std::time::{Duration, Instant};

use hedgerow::{CommitError, Error, Graph, Stats};

/// The number of bytes that one version may grow by without a charge to the account.
const UNCHARGED: u64 = 256;
/// The longest time for retries of an insertion. A walk is short. Only a walk that loses its processor takes
/// longer, and then seconds at most. A snapshot keeps memory for longer than this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// Inserts an edge. Retries while the memory limit refuses the edge and old versions still wait to be freed.
/// The reason: a walk of another test in the same process keeps unlinked versions until the walk ends. So if
/// the call returns a refusal, no version waits to be freed.
///
/// # Errors
/// The errors of [`Graph::insert_edge`].
pub(crate) fn insert_edge_once_freed(graph: &Graph, src: u64, dst: u64) -> hedgerow::Result<bool> {
    let (begun, mut none_waited) = (Instant::now(), false);
    loop {
        let done = graph.insert_edge((src, dst));
        let is_full = matches!(done, Err(Error::Commit(CommitError::MemoryLimit { .. })));
        let none_waits = !is_full || graph.stats()?.old_version_bytes == 0;
        // The versions that waited at the refusal may be freed by now. So two refusals in a row count: no
        // version waits after either of them.
        if !is_full || (none_waited && none_waits) || begun.elapsed() > PATIENCE {
            return done;
        }
        none_waited = none_waits;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Checks that the memory account of the store explains its memory; returns the figures.
///
/// # Errors
/// A description of the first figure that does not agree.
pub(crate) fn check(graph: &Graph) -> Result<Stats, String> {
    let stats = graph.stats().map_err(|e| e.to_string())?;
    let parts = stats.main_bytes + stats.patch_bytes + stats.property_bytes + stats.delta_bytes;
    let outside = parts + stats.old_version_bytes - stats.arena_block_bytes;
    let charged = stats.version_bytes;
    if charged > outside || outside - charged > stats.versions * UNCHARGED {
        return Err(format!(
            "versions hold {outside} bytes outside the arena and were charged {charged}: {stats:?}"
        ));
    }
    if stats.arena_free_bytes > stats.arena_bytes {
        return Err(format!("more is free than the arena has: {stats:?}"));
    }
    let sum = stats.arena_bytes + stats.version_bytes + stats.inbox_bytes + stats.table_bytes;
    let sum = sum + stats.id_map_bytes;
    let rest = stats.view_bytes + stats.log_buffer_bytes + stats.file_buffer_bytes + stats.coordination_bytes;
    if sum + rest != stats.memory_bytes() {
        return Err(format!("the parts are not the whole: {stats:?}"));
    }
    Ok(stats)
}
