#![allow(clippy::disallowed_methods, reason = "these are files, not those of a store")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Descriptor, OwnerProcess, hold_off};

/// The limit of each wait: a longer wait would never end. The waits take milliseconds, on a busy machine
/// seconds.
const FOR_EVER: Duration = Duration::from_secs(180);

/// Runs `body` in a forked child and returns the exit status of the child, which is the result of `body`.
/// Returns 255 if the child does not end.
fn in_child(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the bodies of these tests call only the system and this module. They take no lock except the
    // lock of the allocator, which is sound after a fork. The child exits without running other code of the
    // parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "forking failed");
    if child == 0 {
        let status = body();
        // SAFETY: ends the child.
        unsafe { libc::_exit(status) };
    }
    let begun = Instant::now();
    let mut status = 0;
    // SAFETY: waits for the child of this process, and writes to a local variable.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if begun.elapsed() > FOR_EVER {
            // SAFETY: ends the child of this process, which no call has reaped yet.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &raw mut status, 0);
            }
            return 255;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 254 }
}

fn scratch(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("hedgerow-fork-{}-{name}", std::process::id()))
}

#[test]
fn a_child_and_its_child_are_other_processes() {
    let owner = OwnerProcess::current();
    assert!(owner.is_current() && owner.is_current_by_id());
    let status = in_child(|| {
        let own = OwnerProcess::current();
        if owner.is_current() || !own.is_current_by_id() {
            return 1;
        }
        in_child(|| i32::from(own.is_current() || owner.is_current()))
    });
    assert_eq!(status, 0);
    assert!(owner.is_current());
}

#[test]
fn a_child_gives_up_the_files_and_keeps_their_numbers() {
    let path = scratch("files");
    let mut file = Descriptor::open(|| File::create(&path)).expect("temporary");
    file.try_lock().expect("nobody else has it");
    let fd = file.as_raw_fd();
    let status = in_child(|| {
        if (&*file).write(b"x").is_ok() {
            return 1;
        }
        // SAFETY: only reads the flags of a descriptor.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
        if flags & libc::FD_CLOEXEC == 0 {
            return 2;
        }
        drop(file);
        // The system gives the number of the descriptor to no other file.
        let Ok(other) = Descriptor::open(|| File::open("/dev/zero")) else { return 3 };
        if other.as_raw_fd() == fd {
            return 4;
        }
        // The child can read a file that it opened itself, and dropping the file closes its descriptor.
        let mut byte = [1];
        let read = (&*other).read(&mut byte).is_ok_and(|n| n == 1 && byte == [0]);
        let own = other.as_raw_fd();
        drop(other);
        // SAFETY: only reads the flags of a descriptor.
        let closed = unsafe { libc::fcntl(own, libc::F_GETFD) } == -1;
        i32::from(!read || !closed) * 5
    });
    assert_eq!(status, 0);
    file = Descriptor::open(|| File::open(&path)).expect("there");
    assert_eq!(file.metadata().expect("open").len(), 0, "a child wrote");
    std::fs::remove_file(&path).expect("there");
}

#[test]
fn a_lock_goes_with_its_process_though_a_child_lives() {
    let path = scratch("lock");
    let file = Descriptor::open(|| File::create(&path)).expect("temporary");
    file.try_lock().expect("nobody else has it");
    let (mut told, tell) = std::io::pipe().expect("a pipe");
    // SAFETY: the conditions of `in_child` hold.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // The parent ends the child before this sleep is over.
        std::thread::sleep(FOR_EVER.saturating_mul(2));
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    drop(tell);
    // `drop` closes the file without unlocking it, as the end of a process does.
    drop(file);
    let other = File::open(&path).expect("there");
    let begun = Instant::now();
    while other.try_lock().is_err() {
        assert!(begun.elapsed() < FOR_EVER, "the child keeps the lock");
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: ends the child of this process.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    assert_eq!(told.read(&mut [0]).expect("a pipe"), 0);
    std::fs::remove_file(&path).expect("there");
}

#[test]
fn a_child_without_a_free_descriptor_gives_up_its_files_too() {
    let path = scratch("limit");
    // A child process of its own: its limit affects no other test.
    let status = in_child(|| {
        let files: Vec<_> = (0..4).filter_map(|_| Descriptor::open(|| File::create(&path)).ok()).collect();
        let few = libc::rlimit { rlim_cur: 256, rlim_max: 256 };
        // SAFETY: the call reads a local variable.
        if files.len() < 4 || unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const few) } != 0 {
            return 9;
        }
        // SAFETY: the calls make descriptors until the limit is reached.
        while unsafe { libc::dup(0) } >= 0 {}
        in_child(|| files.iter().filter(|file| (&***file).write(b"x").is_ok()).count() as i32)
    });
    assert_eq!(status, 0);
    std::fs::remove_file(&path).expect("there");
}

#[test]
fn no_fork_comes_into_a_section() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (first, second) = (std::sync::atomic::AtomicU64::new(0), std::sync::atomic::AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let _whole = hold_off();
                    first.fetch_add(1, Ordering::SeqCst);
                    std::hint::black_box(&second);
                    second.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let mut torn = 0;
        for _ in 0..100 {
            torn += in_child(|| i32::from(first.load(Ordering::SeqCst) != second.load(Ordering::SeqCst)));
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(torn, 0, "children found a section half done");
    });
}
