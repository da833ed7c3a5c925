//! The reserve: room on the disk for the next opening. Recovery writes the tail of the log again before it
//! serves it, and a checkpoint writes before it frees the log. On a full disk neither could begin, and a
//! program cannot delete data from a store that it cannot open. So a file without content keeps room for the
//! longest tail; an opening or a checkpoint that needs the room removes it.

use hedgerow_io::{Access, Dir, IoError};

/// The name of the reserve's file.
pub const RESERVE: &str = "RESERVE";

/// Room for a manifest: the new manifest, which names the new segment, exists beside the old one for a
/// moment. Manifests are much shorter than this. On a disk full to the last byte the renewed reserve may lack
/// part of it, since the manifest and the tail may have grown.
pub(crate) const OF_MANIFEST: u64 = 64 << 10;
/// The step by which a reserve is shortened until the disk has room for it: a block of usual file systems.
pub(crate) const STEP: usize = 4 << 10;

/// Removes the reserve, which frees its room for the next write. Returns true if there was a reserve.
///
/// # Errors
/// Those of the file system.
pub fn spend_reserve(dir: &Dir) -> Result<bool, IoError> {
    dir.unlink_if_there(RESERVE)
}

/// Returns the length of the reserve for a log whose active segment has `segment` bytes. A tail lies within
/// one segment, since each segment is synced before the next one gets a record.
pub(crate) fn length_for(segment: u64) -> u64 {
    segment.saturating_add(OF_MANIFEST)
}

/// Makes the reserve at least `wanted` bytes long, and durable. `known` is the length that the log knows to
/// be allocated; if it suffices, nothing is done. It is 0 after an opening, since the reserve of a copied
/// store may have holes. Syncs the file once if it grows. Returns true if the file is new; the next sync of
/// the directory then makes its entry durable.
///
/// # Errors
/// Those of the file system, a full disk among them.
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

/// Shortens the reserve of a closed log, whose next opening begins a segment of `segment` bytes. Leaves the
/// reserve as it is if that fails.
pub(crate) fn shrink(dir: &Dir, segment: u64) {
    let wanted = length_for(segment);
    if let Ok(file) = dir.open(RESERVE, Access::ReadWrite)
        && file.byte_len().is_ok_and(|length| length > wanted)
    {
        let _ = file.set_len(wanted);
    }
}
