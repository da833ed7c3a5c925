//! The account of a store against what a walk over its parts finds.

use std::time::{Duration, Instant};

use hedgerow::{CommitError, Error, Graph, Stats};

/// What a version may have grown by without being charged.
const UNCHARGED: u64 = 256;
/// So long at most an insertion is tried again. Walks are short: one that lasts has lost its processor, for
/// seconds at the most. What a snapshot keeps is kept for longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Inserts an edge, and tries again where memory has no room for it while something waits to be freed: a walk
/// of another test, in the same process, keeps what is unlinked while it lasts. So what is refused is refused
/// with nothing to be freed.
///
/// # Errors
/// Those of [`Graph::insert_edge`].
pub(crate) fn insert_edge_once_freed(graph: &Graph, src: u64, dst: u64) -> hedgerow::Result<bool> {
    let (begun, mut none_waited) = (Instant::now(), false);
    loop {
        let done = graph.insert_edge(src, dst);
        let is_full = matches!(done, Err(Error::Commit(CommitError::MemoryLimit { .. })));
        let none_waits = !is_full || graph.stats()?.old_version_bytes == 0;
        // What waited when it was refused may be gone by now: it counts if nothing waited before either.
        if !is_full || (none_waited && none_waits) || begun.elapsed() > PATIENCE {
            return done;
        }
        none_waited = none_waits;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Checks that the account of the store explains what it holds; returns the figures.
///
/// # Errors
/// What does not agree.
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
    let sum = stats.arena_bytes + stats.version_bytes + stats.table_bytes + stats.id_map_bytes;
    let rest = stats.view_bytes + stats.log_buffer_bytes + stats.file_buffer_bytes + stats.coordination_bytes;
    if sum + rest != stats.memory_bytes() {
        return Err(format!("the parts are not the whole: {stats:?}"));
    }
    Ok(stats)
}
