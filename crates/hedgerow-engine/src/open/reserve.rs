//! The room in which an opening writes: that of the disk, or if the disk is full that of the reserve.

use hedgerow_catalog::error::Result;
use hedgerow_io::{Dir, IoError};
use hedgerow_log::{FIRST_SEGMENT_BYTES, LEAST_SEGMENT_BYTES, spend_reserve};

/// The room in which an opening writes.
#[derive(Clone, Copy)]
pub(super) enum Room {
    Free,
    /// The room of the reserve, of which the next opening needs as much as possible.
    OfReserve,
}

impl Room {
    /// Returns the least length of the log segment in which the log continues.
    pub(super) fn segment(self) -> u64 {
        match self {
            Room::Free => FIRST_SEGMENT_BYTES,
            Room::OfReserve => LEAST_SEGMENT_BYTES,
        }
    }
}

/// Calls `write`. If the disk is full, removes the strays, spends the reserve and calls `write` once more.
/// Strays are files of an opening or a checkpoint that was killed after it had spent the reserve.
pub(super) fn with_reserve<T>(
    dir: &Dir,
    remove_strays: impl Fn() -> std::result::Result<(), IoError>,
    write: impl Fn(Room) -> Result<T>,
) -> Result<T> {
    match write(Room::Free) {
        Err(error) if error.is_file_without_room() => {
            remove_strays()?;
            spend_reserve(dir)?;
            write(Room::OfReserve)
        }
        done => done,
    }
}
