//! The table of descriptors that belong to stores, and their replacement in a child.

use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
#[cfg(all(unix, not(any(feature = "model-checking", miri))))]
use std::sync::atomic::Ordering;

/// The number of descriptors in one chunk of the table.
const PART: usize = 1 << 16;
const BITS: usize = u64::BITS as usize;

/// A bit for each descriptor below [`PART`] that belongs to a store. Changed only in sections of
/// [`hold_off`](super::hold_off).
static NEAR: [AtomicU64; PART / BITS] = [const { AtomicU64::new(0) }; PART / BITS];
/// The same for descriptors from [`PART`] on; a chunk exists after a descriptor in it was registered.
static FAR: [OnceLock<Box<[AtomicU64]>>; 255] = [const { OnceLock::new() }; 255];

/// Returns the word with the bit of `fd`, and the bit; `None` beyond the table. If `make` is set, makes a
/// missing chunk of the table; else returns `None` for it.
pub(super) fn bit_of(fd: RawFd, make: bool) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    let (part, place) = (fd / PART, fd % PART);
    let words = match part.checked_sub(1) {
        None => &NEAR[..],
        Some(far) if make => {
            FAR.get(far)?.get_or_init(|| (0..PART / BITS).map(|_| AtomicU64::new(0)).collect())
        }
        Some(far) => FAR.get(far)?.get()?,
    };
    Some((&words[place / BITS], 1 << (place % BITS)))
}

/// Makes every registered descriptor refer to `/dev/null`, and empties the table. Runs in a child.
#[cfg(all(unix, not(any(feature = "model-checking", miri))))]
pub(super) fn give_up_all() {
    let mut null = open_null();
    let mut is_extra = null >= 0;
    let far = FAR.iter().map(|part| part.get().map_or(&[][..], |part| part));
    for (part, words) in std::iter::once(&NEAR[..]).chain(far).enumerate() {
        for (at, word) in words.iter().enumerate() {
            let mut bits = word.load(Ordering::Relaxed);
            word.store(0, Ordering::Relaxed);
            while bits != 0 {
                let fd = (part * PART + at * BITS) as RawFd + bits.trailing_zeros() as RawFd;
                bits &= bits - 1;
                if null < 0 {
                    // No descriptor was free, but this one is now. Without a `/dev/null` the number stays
                    // unused. SAFETY: the descriptor is one of the parent's, which nothing in the child uses.
                    unsafe { libc::close(fd) };
                    null = open_null();
                    is_extra = null >= 0 && null != fd;
                }
                if null >= 0 && null != fd {
                    // SAFETY: as above; the number stays one of ours. `dup2` clears the flag that closes it
                    // in programs that are executed.
                    unsafe {
                        if libc::dup2(null, fd) < 0 {
                            // The number is above the present limit of this process. Closing it also releases
                            // the lock.
                            libc::close(fd);
                        } else {
                            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
                        }
                    }
                }
            }
        }
    }
    if is_extra {
        // SAFETY: opened here, and used by nothing else.
        unsafe { libc::close(null) };
    }
}

/// Returns a new descriptor of `/dev/null`, for reading only; negative if that fails.
#[cfg(all(unix, not(any(feature = "model-checking", miri))))]
fn open_null() -> RawFd {
    // SAFETY: the path is a string that ends with a zero byte.
    unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) }
}
