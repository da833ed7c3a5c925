use super::*;
use crate::dir::{ReadExactError, read_exact_at, write_all_at};
use crate::{BLOCK_BYTES, BlockBuffer, CountingFs, Dir};

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A new directory. Dropping it removes it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("hedgerow-io-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        Scratch(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scratch() -> (Scratch, RealFs) {
    let scratch = Scratch::new();
    let fs = RealFs::create_dir(&scratch.0).expect("create directory");
    (scratch, fs)
}

#[test]
fn files_are_written_read_renamed_listed_and_removed() {
    let (_scratch, fs) = scratch();
    let file = fs.create("a.wal").unwrap();
    write_all_at(&*file, b"hello", 3).unwrap();
    file.allocate(100).unwrap();
    assert_eq!(file.len().unwrap(), 100);
    file.set_len(9).unwrap();
    file.sync_data().unwrap();
    file.sync_all().unwrap();
    let mut buf = [1; 8];
    read_exact_at(&*file, &mut buf, 0).unwrap();
    assert_eq!(&buf, b"\0\0\0hello");
    assert!(matches!(read_exact_at(&*file, &mut buf, 4), Err(ReadExactError::Truncated { read: 5 })));
    assert_eq!(fs.create("a.wal").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    fs.rename("a.wal", "b.wal").unwrap();
    fs.sync_dir().unwrap();
    assert_eq!(fs.list().unwrap(), ["b.wal"]);
    assert_eq!(fs.list().unwrap(), ["b.wal"], "a second listing starts over");
    assert_eq!(fs.open("a.wal", Access::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    let read_only = fs.open("b.wal", Access::Read).unwrap();
    assert!(read_only.write_at(b"x", 0).is_err());
    fs.unlink("b.wal").unwrap();
    assert!(fs.list().unwrap().is_empty());
}

#[test]
fn zeros_take_the_place_of_a_reservation() {
    let (_scratch, fs) = scratch();
    let file = RealFile::new(fs.open_file("z", OFlags::RDWR | OFlags::CREATE, FILE_MODE).unwrap());
    file.write_at(b"abc", 0).unwrap();
    file.fill_with_zeros(200_000).unwrap();
    assert_eq!(file.len().unwrap(), 200_000);
    let mut buf = [9; 4];
    file.read_at(&mut buf, 1).unwrap();
    assert_eq!(&buf, b"bc\0\0");
}

#[test]
fn only_the_owner_may_use_what_is_made() {
    let (scratch, fs) = scratch();
    fs.create("a").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&scratch.0), 0o700);
    assert_eq!(mode(&scratch.0.join("a")), 0o600);
}

#[test]
fn links_directories_devices_and_paths_are_refused() {
    let (scratch, fs) = scratch();
    fs.create("real").unwrap();
    symlink("real", scratch.0.join("link")).unwrap();
    assert!(fs.open("link", Access::Read).is_err());
    assert!(fs.lock("link").is_err());
    std::fs::create_dir(scratch.0.join("sub")).unwrap();
    assert!(fs.open("sub", Access::Read).is_err());
    let device = RealFs::open_dir("/dev").unwrap();
    assert_eq!(device.open("null", Access::Read).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    for name in ["", ".", "..", "../x", "sub/x", "/x", "a\0b"] {
        assert_eq!(fs.create(name).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name:?}");
        assert!(fs.open(name, Access::Read).is_err(), "{name:?}");
        assert!(
            fs.unlink(name).is_err() && fs.rename(name, "y").is_err() && fs.rename("real", name).is_err()
        );
    }
}

#[test]
fn a_directory_is_locked_once_until_dropped() {
    let (scratch, fs) = scratch();
    let lock = fs.lock("LOCK").unwrap();
    let again = RealFs::open_dir(&scratch.0).unwrap();
    assert_eq!(again.lock("LOCK").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(lock);
    let lock = again.lock("LOCK").unwrap();
    assert_eq!(fs.lock("LOCK").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(lock);
    assert_eq!(fs.list().unwrap(), ["LOCK"]);
}

#[test]
fn another_holder_of_the_file_lock_is_respected() {
    let (scratch, fs) = scratch();
    // This lock is not in the registry of the process. It simulates the lock of another process.
    let file = File::create(scratch.0.join("LOCK")).unwrap();
    file.lock().unwrap();
    assert_eq!(fs.lock("LOCK").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(file);
    fs.lock("LOCK").unwrap();
}

#[test]
fn a_lock_is_released_though_a_forked_child_shares_the_file() {
    let (scratch, fs) = scratch();
    let file = fs.open_file("LOCK", OFlags::RDWR | OFlags::CREATE, FILE_MODE).unwrap();
    // The second descriptor of the same open file that a child inherits, if the fork bypassed the C library.
    let inherited = file.try_clone().unwrap();
    let lock = hold(file, Sharing::Alone).unwrap();
    let other = File::open(scratch.0.join("LOCK")).unwrap();
    assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    drop(lock);
    fs.lock("LOCK").unwrap();
    drop(inherited);
}

#[test]
fn a_refused_opener_learns_who_holds_the_lock() {
    let (scratch, fs) = scratch();
    let path = scratch.0.join("LOCK");
    let holder = |fs: &RealFs| LockHeld::holder_in(&fs.lock("LOCK").unwrap_err());
    let lock = fs.lock("LOCK").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
    assert_eq!(holder(&fs), LockHolder::ThisProcess);
    drop(lock);
    assert_eq!(std::fs::read(&path).unwrap(), b"", "an id in the lock of a closed store");
    // The file is locked as if by another process. The holder that the error names depends on the content of
    // the file.
    let file = File::create(&path).unwrap();
    file.lock().unwrap();
    let own = std::process::id();
    let living = format!("{own}\n");
    let ended = format!("{}\n", i32::MAX);
    let texts: [(&[u8], LockHolder); 7] = [
        (living.as_bytes(), LockHolder::Process(own)),
        (ended.as_bytes(), LockHolder::Unknown),
        (b"", LockHolder::Unknown),
        (b"12", LockHolder::Unknown),
        (b"-1\n", LockHolder::Unknown),
        (b"0\n", LockHolder::Unknown),
        (&[0xff; 100], LockHolder::Unknown),
    ];
    for (text, named) in texts {
        std::fs::write(&path, text).unwrap();
        assert_eq!(holder(&fs), named, "{text:?}");
        assert_eq!(std::fs::read(&path).unwrap(), text, "an opener that is refused changes nothing");
    }
}

#[test]
fn a_lock_for_reading_changes_nothing() {
    let (scratch, fs) = scratch();
    let path = scratch.0.join("LOCK");
    std::fs::write(&path, "left by a crash").unwrap();
    let lock = fs.lock_existing("LOCK").unwrap();
    assert_eq!(LockHeld::holder_in(&fs.lock("LOCK").unwrap_err()), LockHolder::ThisProcessReads);
    drop(lock);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "left by a crash");
}

#[test]
fn a_lock_that_must_exist_is_not_made() {
    let (_scratch, fs) = scratch();
    assert!(fs.lock_existing("LOCK").unwrap().is_none());
    assert!(fs.list().unwrap().is_empty());
    drop(fs.lock("LOCK").unwrap());
    let lock = fs.lock_existing("LOCK").unwrap().unwrap();
    assert_eq!(fs.lock("LOCK").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(lock);
    fs.lock("LOCK").unwrap();
}

#[test]
fn readers_share_a_lock_that_excludes_writers() {
    let (scratch, fs) = scratch();
    let holder = |tried: io::Result<Option<Box<dyn VfsLock>>>| tried.err().map(|e| LockHeld::holder_in(&e));
    let lock = |fs: &RealFs| fs.lock("LOCK").map(Some);
    let writer = lock(&fs).unwrap();
    assert_eq!(holder(fs.lock_existing("LOCK")), Some(LockHolder::ThisProcess));
    drop(writer);
    let again = RealFs::open_dir(&scratch.0).unwrap();
    let readers = [&fs, &again, &fs].map(|fs| fs.lock_existing("LOCK").unwrap().unwrap());
    for reader in readers {
        assert_eq!(holder(lock(&again)), Some(LockHolder::ThisProcessReads));
        drop(reader);
    }
    assert_eq!(holder(lock(&again)), None, "the last reader has gone");

    // This lock is not in the list of the process. It simulates the lock of another process.
    let file = File::open(scratch.0.join("LOCK")).unwrap();
    file.lock_shared().unwrap();
    assert_eq!(holder(lock(&fs)), Some(LockHolder::Readers));
    let reader = fs.lock_existing("LOCK").unwrap();
    // The refused opener holds no lock.
    assert!(matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    drop(reader);
    file.try_lock().unwrap();
    std::fs::write(scratch.0.join("LOCK"), format!("{}\n", std::process::id())).unwrap();
    assert_eq!(holder(fs.lock_existing("LOCK")), Some(LockHolder::Process(std::process::id())));
    drop(file);
    // The content that a crashed writer left does not affect the answer about readers.
    let reader = fs.lock_existing("LOCK").unwrap();
    assert_eq!(holder(lock(&again)), Some(LockHolder::ThisProcessReads));
    drop(reader);
    lock(&fs).unwrap();
}

#[test]
fn a_missing_directory_and_a_file_are_not_opened() {
    let scratch = Scratch::new();
    assert_eq!(RealFs::open_dir(&scratch.0).unwrap_err().kind(), io::ErrorKind::NotFound);
    let fs = RealFs::create_dir(&scratch.0).unwrap();
    assert_eq!(RealFs::create_dir(&scratch.0).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    fs.create("file").unwrap();
    assert!(RealFs::open_dir(scratch.0.join("file")).is_err());
}

#[test]
fn calls_and_bytes_are_counted_and_errors_name_the_file() {
    let (_scratch, fs) = scratch();
    let counting = CountingFs::new(Arc::new(fs));
    let counters = counting.counters();
    let dir = Dir::new(Arc::new(counting));
    let file = dir.create("a.wal").unwrap();
    file.write_all_at(&[1; 10], 0).unwrap();
    file.read_exact_at(&mut [0; 4], 2).unwrap();
    file.sync_data().unwrap();
    file.sync_all().unwrap();
    dir.sync().unwrap();
    dir.rename("a.wal", "b.wal").unwrap();
    dir.unlink("b.wal").unwrap();
    let get = |c: &AtomicU64| c.load(Relaxed);
    assert_eq!((get(&counters.writes), get(&counters.written_bytes)), (1, 10));
    assert_eq!((get(&counters.reads), get(&counters.read_bytes)), (1, 4));
    assert_eq!((get(&counters.file_syncs), get(&counters.dir_syncs)), (2, 1));
    assert_eq!((get(&counters.creates), get(&counters.renames), get(&counters.unlinks)), (1, 1, 1));
    let error = dir.open("b.wal", Access::Read).unwrap_err();
    assert!(error.to_string().starts_with("open b.wal: "), "{error}");
    let error = file.read_exact_at(&mut [0; 4], 8).unwrap_err().to_string();
    assert_eq!(error, "a.wal is damaged at byte 8: 4 bytes expected, 2 found");
}

#[test]
fn blocks_and_other_writes_see_each_other() {
    let (_scratch, fs) = scratch();
    let file = fs.create("blocks").unwrap();
    file.allocate(64 << 10).unwrap();
    let mut blocks = BlockBuffer::default();
    let mut expected = vec![0; 64 << 10];
    for round in 1..40u64 {
        let (at, byte) = (round as usize % 14 * BLOCK_BYTES, round as u8);
        blocks.fill([&[byte; 5000][..]].into_iter());
        if !file.write_blocks_at(blocks.blocks(), at as u64).unwrap() {
            assert!(!file.takes_blocks(), "once refused, always refused");
            // The line bypasses the output capture of the test harness, because `make test` counts such
            // lines.
            let line = b"skipped: writes of blocks (the file system of temporary files takes none)\n";
            std::io::Write::write_all(&mut std::io::stdout(), line).unwrap();
            return;
        }
        expected[at..at + 5000].fill(byte);
        expected[at + 5000..at + 2 * BLOCK_BYTES].fill(0);
        // A write through the page cache, across the end of the blocks that were just written.
        write_all_at(&*file, &[byte | 0x80; 300], at as u64 + 4900).unwrap();
        expected[at + 4900..at + 5200].fill(byte | 0x80);
        let mut found = vec![0; 64 << 10];
        read_exact_at(&*file, &mut found, 0).unwrap();
        assert!(found == expected, "round {round}");
        let mut past_the_cache = BlockBuffer::default();
        if let Some(read) = file.read_blocks_at(past_the_cache.room(16), 0).unwrap() {
            assert!(past_the_cache.blocks()[..read] == expected[..read] && read > 0, "round {round}");
        }
    }
    file.sync_data().unwrap();
}

#[test]
fn what_cannot_be_written_as_blocks_is_refused_and_written_otherwise() {
    let (_scratch, fs) = scratch();
    let file = Dir::new(Arc::new(fs)).create("blocks").unwrap();
    let mut blocks = BlockBuffer::default();
    blocks.fill([&[0; 100][..], &[3; 50]].into_iter());
    // The device requires larger blocks, so the length of this write is no multiple of a block.
    file.write_blocks_at(&blocks, 100..150, 1).unwrap();
    let mut found = [0; 50];
    file.read_exact_at(&mut found, 101).unwrap();
    assert_eq!(found, [3; 50]);
}

#[test]
fn what_is_no_block_is_not_read_as_one_and_later_blocks_are() {
    let (_scratch, fs) = scratch();
    let file = fs.create("blocks").unwrap();
    write_all_at(&*file, &[3; 3 * BLOCK_BYTES], 0).unwrap();
    let past_cache = file.reads_past_cache();
    let mut buffer = BlockBuffer::default();
    let room = buffer.room(2);
    assert_eq!(file.read_blocks_at(&mut room[..100], 0).unwrap(), None);
    assert_eq!(file.read_blocks_at(&mut room[8..8 + BLOCK_BYTES], 0).unwrap(), None);
    assert_eq!(file.read_blocks_at(room, 512).unwrap(), None);
    assert_eq!(file.read_blocks_at(room, u64::MAX / BLOCK_BYTES as u64 * BLOCK_BYTES as u64).unwrap(), None);
    assert_eq!(file.reads_past_cache(), past_cache, "a mistake of the caller is no refusal");
    let read = file.read_blocks_at(room, 0).unwrap();
    assert_eq!(read, file.reads_past_cache().then_some(2 * BLOCK_BYTES));
}

#[test]
fn reads_past_the_cache_work_in_files_that_are_open_for_reading_and_have_no_name_any_more() {
    let (_scratch, fs) = scratch();
    fs.create("a").unwrap().write_at(b"abc", 0).unwrap();
    let file = fs.open("a", Access::Read).unwrap();
    fs.unlink("a").unwrap();
    fs.create("a").unwrap();
    let mut buffer = BlockBuffer::default();
    let read = file.read_blocks_at(buffer.room(1), 0).unwrap();
    assert!(read.is_none() || read == Some(3) && buffer.blocks().starts_with(b"abc"));
}

/// Returns the permission bits of a file or directory.
fn permissions(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

#[test]
fn files_and_the_directory_have_the_permissions_that_are_given_whatever_the_umask() {
    let scratch = Scratch::new();
    for (number, (mode, of_dir)) in
        [(0o600, 0o700), (0o640, 0o750), (0o660, 0o770), (0o644, 0o755)].into_iter().enumerate()
    {
        let path = scratch.0.join(number.to_string());
        std::fs::create_dir_all(&scratch.0).unwrap();
        let fs = RealFs::create_dir_with(&path, mode).unwrap();
        assert_eq!(fs.mode_of("LOCK").unwrap(), None);
        drop(fs.lock("LOCK").unwrap());
        fs.create("a").unwrap();
        let found = [&path, &path.join("LOCK"), &path.join("a")].map(|path| permissions(path));
        assert_eq!(found, [of_dir, mode, mode], "{mode:o}");
        assert_eq!(fs.mode_of("LOCK").unwrap(), Some(mode));
        // An existing lock file keeps its permissions. New files have the new permissions.
        let fs = RealFs::open_dir(&path).unwrap().with_mode(0o666);
        drop(fs.lock("LOCK").unwrap());
        fs.create("b").unwrap();
        assert_eq!([permissions(&path.join("LOCK")), permissions(&path.join("b"))], [mode, 0o666]);
    }
}
