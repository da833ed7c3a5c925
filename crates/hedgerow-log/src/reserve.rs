//! Room on the disk for the next opening. Recovery writes the tail of the log again before it serves it, and a checkpoint writes before
//! it frees the log: on a full disk neither could begin, and a store that cannot be opened has nothing that can be deleted from it.
//! So a file without content keeps room for the longest tail. It is removed when that room is needed.

use hedgerow_io::{Access, Dir, IoError};

/// The name of the file.
pub const RESERVE: &str = "RESERVE";

/// Room beside that of the tail: the manifest that names the new segment stands beside the one before it for a moment. Manifests are much
/// shorter. On a disk that is full to the last byte not all of it comes back: the manifest and the tail may have become longer.
pub(crate) const OF_MANIFEST: u64 = 64 << 10;
/// What the reserve does without, a step at a time, where the disk has no room for all of it: a block of usual file systems.
pub(crate) const STEP: usize = 4 << 10;

/// Removes the reserve, so that what is written next finds room. Returns whether there was one.
///
/// # Errors
/// Those of the file system.
pub fn spend_reserve(dir: &Dir) -> Result<bool, IoError> {
    dir.unlink_if_there(RESERVE)
}

/// The length of a reserve for a log with an active segment of `segment` bytes: a tail ends within one segment, since each segment is synced
/// before the next one has a record.
pub(crate) fn length_for(segment: u64) -> u64 {
    segment.saturating_add(OF_MANIFEST)
}

/// Makes the reserve `wanted` bytes long, or leaves it longer, and durable. `known` is the length of which the log knows that it is allocated, 0 after an
/// opening: a copied store may have holes there. Nothing is done where that suffices. Syncs the file once where it grows. Returns whether the file is new: then its entry becomes durable
/// with the next sync of the directory.
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

/// Gives back what a store with a closed log, whose next opening begins a segment of `segment` bytes, needs no more. The reserve stays as
/// long as it is where that fails.
pub(crate) fn shrink(dir: &Dir, segment: u64) {
    let wanted = length_for(segment);
    if let Ok(file) = dir.open(RESERVE, Access::ReadWrite)
        && file.byte_len().is_ok_and(|length| length > wanted)
    {
        let _ = file.set_len(wanted);
    }
}
