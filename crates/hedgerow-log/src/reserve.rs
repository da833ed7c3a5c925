//! The reserve: room on the disk for the next opening. Recovery writes the tail of the log again before the
//! store can be used, and a checkpoint writes before it frees the log. On a full disk neither could begin,
//! and a program cannot delete data from a store that it cannot open. So a file without content takes as much
//! room as the longest tail. An opening or a checkpoint that needs the room removes this file.

use hedgerow_io::{Access, Dir, IoError};

/// The name of the reserve's file.
pub const RESERVE: &str = "RESERVE";

/// Bytes of the reserve for a manifest: for a moment the new manifest exists together with the old one.
/// Manifests are much shorter than this. On a completely full disk the renewed reserve may be shorter,
/// because the manifest and the tail may have grown.
pub(crate) const OF_MANIFEST: u64 = 64 << 10;
/// The step by which a reserve is shortened until the disk has room for it: the usual block of file systems.
pub(crate) const STEP: usize = 4 << 10;

/// Removes the reserve, which frees its room for the next write. Returns true if there was a reserve.
///
/// # Errors
/// The errors of the file system.
pub fn spend_reserve(dir: &Dir) -> Result<bool, IoError> {
    dir.unlink_if_there(RESERVE)
}

/// Returns the length of the reserve for a log whose active segment has `segment` bytes. A tail is within one
/// segment, because each segment is synced before the next one gets a record.
pub(crate) fn length_for(segment: u64) -> u64 {
    segment.saturating_add(OF_MANIFEST)
}

/// Makes the reserve at least `wanted` bytes long, and durable. `known` is the length that the log knows to
/// be allocated; if it is at least `wanted`, nothing is done. It is 0 after an opening, because the reserve
/// of a copied store may have holes. Syncs the file once if it grows. Returns true if the file is new; then
/// the next sync of the directory makes its entry durable.
///
/// # Errors
/// The errors of the file system, also of a full disk.
pub(crate) fn grow(dir: &Dir, known: &mut u64, wanted: u64) -> Result<bool, IoError> {
    if *known >= wanted {
        return Ok(false);
    }
    let (file, is_new) = match dir.open(RESERVE, Access::ReadWrite) {
        Err(e) if e.source.kind() == std::io::ErrorKind::NotFound => (dir.create(RESERVE)?, true),
        opened => (opened?, false),
    };
    let length = file.byte_len()?;
    let is_grown = length < wanted;
    let allocated = file.allocate(length.max(wanted));
    if let Err(error) = allocated.and_then(|()| if is_grown { file.sync_all() } else { Ok(()) }) {
        if is_new {
            let _ = dir.unlink(RESERVE);
        }
        return Err(error);
    }
    *known = length.max(wanted);
    Ok(is_new)
}

/// Shortens the reserve of a closed log, whose next opening begins a segment of `segment` bytes. If that
/// fails, the reserve is unchanged.
pub(crate) fn shrink(dir: &Dir, segment: u64) {
    let wanted = length_for(segment);
    if let Ok(file) = dir.open(RESERVE, Access::ReadWrite)
        && file.byte_len().is_ok_and(|length| length > wanted)
    {
        let _ = file.set_len(wanted);
    }
}
