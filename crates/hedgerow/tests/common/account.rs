//! The account of a store against what a walk over its parts finds.

use hedgerow::{Graph, Stats};

/// What a version may have grown by without being charged.
const UNCHARGED: u64 = 256;

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
