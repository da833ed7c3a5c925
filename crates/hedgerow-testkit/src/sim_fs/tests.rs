use super::*;
use hedgerow_io::{Access, Dir, is_disk_full, read_exact_at, write_all_at};
use std::collections::HashSet;

fn dir(fs: &SimFs) -> Dir {
    Dir::new(fs.handle())
}

fn bytes_of(fs: &SimFs, name: &str) -> Option<Vec<u8>> {
    fs.files().get(name).cloned()
}

/// Makes a durable file of 3,000 bytes `a`.
fn with_file() -> SimFs {
    let fs = SimFs::new();
    let file = dir(&fs).create("f.wal").unwrap();
    file.write_all_at(&[b'a'; 3000], 0).unwrap();
    file.sync_all().unwrap();
    dir(&fs).sync().unwrap();
    fs
}

fn write(fs: &SimFs, data: &[u8], offset: u64) {
    dir(fs).open("f.wal", Access::ReadWrite).unwrap().write_all_at(data, offset).unwrap();
}

#[test]
fn what_is_synced_survives_every_damage() {
    let fs = with_file();
    for damage in Damage::ALL {
        for seed in 0..50 {
            assert_eq!(bytes_of(&fs.crash_clone(damage, seed), "f.wal").unwrap(), [b'a'; 3000], "{damage:?}");
        }
    }
}

#[test]
fn a_file_needs_its_directory_entry() {
    let fs = SimFs::new();
    let file = dir(&fs).create("f.wal").unwrap();
    file.write_all_at(b"x", 0).unwrap();
    file.sync_all().unwrap();
    assert!(fs.crash_clone(Damage::LoseAll, 0).files().is_empty());
    let kept = (0..100).filter(|&s| !fs.crash_clone(Damage::RandomSubset, s).files().is_empty()).count();
    assert!((20..80).contains(&kept), "{kept}");
    dir(&fs).sync().unwrap();
    assert_eq!(bytes_of(&fs.crash_clone(Damage::LoseAll, 0), "f.wal").unwrap(), b"x");
}

#[test]
fn unsynced_writes_are_lost_kept_or_torn_by_sector_and_nothing_else_is_touched() {
    let fs = with_file();
    write(&fs, &[b'b'; 2000], 500);
    let now = bytes_of(&fs, "f.wal").unwrap();
    let after = |damage, seed| bytes_of(&fs.crash_clone(damage, seed), "f.wal").unwrap();
    assert_eq!(after(Damage::LoseAll, 1), [b'a'; 3000]);
    assert_eq!(after(Damage::KeepAll, 1), now);
    let (mut seen, mut garbage) = (HashSet::new(), 0);
    for seed in 0..500 {
        let prefix = after(Damage::Prefix, seed);
        assert!(prefix.windows(2).skip(500).take(1999).all(|w| w[0] >= w[1]), "a prefix");
        let subset = after(Damage::RandomSubset, seed);
        assert!(subset == now || subset == [b'a'; 3000]);
        let torn = after(Damage::Tear512, seed);
        for sector in [500..512, 512..1024, 1024..1536, 1536..2048, 2048..2500] {
            assert!(torn[sector.clone()].windows(2).all(|w| w[0] == w[1]), "sector {sector:?}");
        }
        let garbled = after(Damage::Garbage, seed);
        garbage += usize::from(garbled.iter().any(|b| !b"ab".contains(b)));
        for bytes in [&torn, &garbled, &prefix] {
            assert!(bytes[..500] == now[..500] && bytes[2500..] == now[2500..]);
        }
        seen.insert(torn);
        assert_eq!(after(Damage::Garbage, seed), garbled, "a seed decides");
    }
    assert!(seen.len() > 16 && garbage > 100, "{} torn forms, {garbage} with garbage", seen.len());
}

#[test]
fn renames_and_removals_happen_wholly_and_at_the_latest_with_the_sync() {
    let fs = with_file();
    fs.put("g.man", b"old");
    dir(&fs).rename("f.wal", "g.man").unwrap();
    fs.put("h", b"h");
    dir(&fs).unlink("h").unwrap();
    let mut seen = HashSet::new();
    for seed in 0..200 {
        let files = fs.crash_clone(Damage::RandomSubset, seed).files();
        assert_eq!(files["g.man"] == b"old", files.contains_key("f.wal"));
        seen.insert(files.into_keys().collect::<Vec<_>>());
    }
    assert_eq!(seen.len(), 4);
    dir(&fs).sync().unwrap();
    let files = fs.crash_clone(Damage::LoseAll, 0).files();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["g.man"]);
}

#[test]
fn lengths_are_changes_too() {
    let fs = with_file();
    let file = dir(&fs).open("f.wal", Access::ReadWrite).unwrap();
    file.set_len(10).unwrap();
    file.allocate(5000).unwrap();
    assert_eq!(file.byte_len().unwrap(), 5000);
    let lengths: HashSet<usize> =
        (0..200).map(|s| bytes_of(&fs.crash_clone(Damage::Tear512, s), "f.wal").unwrap().len()).collect();
    assert_eq!(lengths, HashSet::from([10, 3000, 5000]));
    let mut after_cut = [1; 4];
    file.read_exact_at(&mut after_cut, 8).unwrap();
    assert_eq!(&after_cut, b"aa\0\0");
}

#[test]
fn operations_of_a_piece_of_work_are_listed_once_each() {
    let fs = with_file();
    let first = fs.op_count();
    let operations = fs.operations_of(|| {
        write(&fs, b"bb", 0);
        dir(&fs).sync().unwrap();
        dir(&fs).unlink("f.wal").unwrap();
    });
    fs.put("f.wal", b"");
    write(&fs, b"bb", 0);
    let found: Vec<(u64, &str)> = operations.iter().map(|(index, site)| (index.0, &**site)).collect();
    assert_eq!(found, [(first, "write:wal"), (first + 1, "sync_dir:dir"), (first + 2, "unlink:wal")]);
}

#[test]
fn the_observer_sees_before_inside_and_after() {
    let fs = with_file();
    let first = fs.op_count();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    fs.set_observer(Some(Box::new(move |event, fs| {
        let clone = fs.crash_clone(Damage::KeepAll, 0);
        let durable = fs.crash_clone(Damage::LoseAll, 0);
        let b = |fs: &SimFs| fs.files()["f.wal"].iter().filter(|&&b| b == b'b').count();
        log.lock().push((event.index.0, event.phase, event.site.to_string(), b(&clone), b(&durable)));
    })));
    write(&fs, b"bbbb", 0);
    write(&fs, b"bb", 100);
    dir(&fs).open("f.wal", Access::ReadWrite).unwrap().sync_data().unwrap();
    fs.set_observer(None);
    write(&fs, b"bb", 200);
    use Phase::{After, Before, Inside};
    let w = "write:wal".to_owned();
    let s = "sync_data:wal".to_owned();
    let expected = [
        (first, Before, w.clone(), 0, 0),
        (first, Inside, w.clone(), 2, 0),
        (first, After, w.clone(), 4, 0),
        (first + 1, Before, w.clone(), 4, 0),
        (first + 1, Inside, w.clone(), 5, 0),
        (first + 1, After, w, 6, 0),
        (first + 2, Before, s.clone(), 6, 0),
        (first + 2, Inside, s.clone(), 6, 4),
        (first + 2, After, s, 6, 6),
    ];
    assert_eq!(*seen.lock(), expected);
}

#[test]
fn faults_strike_where_planned() {
    let fs = with_file();
    let d = dir(&fs);
    let file = d.open("f.wal", Access::ReadWrite).unwrap();
    let at = fs.op_count() + 1;
    let fault = |at, site, repeat, errno| Fault { class: FaultClass::Change, at, site, repeat, errno };
    fs.plan_fault(fault(at, None, Repeat::Once, errno::EIO));
    file.write_all_at(b"x", 0).unwrap();
    assert_eq!(file.write_all_at(b"x", 0).unwrap_err().source.raw_os_error(), Some(errno::EIO));
    file.write_all_at(b"x", 0).unwrap();
    fs.plan_fault(fault(0, Some("create:csr"), Repeat::Forever, errno::ENOSPC));
    d.create("g.wal").unwrap();
    assert!(d.create("g.csr").unwrap_err().is_disk_full() && d.create("h.csr").is_err());
    fs.clear_faults();
    d.create("g.csr").unwrap();
    fs.plan_fault(fault(0, None, Repeat::Once, errno::EINTR));
    fs.plan_fault(Fault {
        class: FaultClass::Read,
        ..fault(fs.read_count(), None, Repeat::Once, errno::EINTR)
    });
    fs.clear_faults();
    fs.plan_fault(fault(fs.op_count(), None, Repeat::Once, errno::EINTR));
    file.write_all_at(b"interrupted", 0).unwrap();
    let read = Fault { class: FaultClass::Read, ..fault(fs.read_count(), None, Repeat::Once, errno::EIO) };
    fs.plan_fault(read);
    assert!(file.read_exact_at(&mut [0; 4], 0).is_err() && file.read_exact_at(&mut [0; 4], 0).is_ok());
    assert_eq!(fs.sites()["create:csr"], 3);
}

#[test]
fn a_failed_sync_drops_what_can_still_be_read() {
    for keep in [false, true] {
        let fs = with_file();
        fs.keep_changes_of_failed_sync(keep);
        let file = dir(&fs).open("f.wal", Access::ReadWrite).unwrap();
        file.write_all_at(b"lost", 0).unwrap();
        let at = fs.op_count();
        let (class, site, repeat, errno) = (FaultClass::Change, None, Repeat::Once, errno::EIO);
        fs.plan_fault(Fault { class, at, site, repeat, errno });
        assert!(file.sync_data().is_err());
        file.write_all_at(b"later", 10).unwrap();
        file.sync_data().unwrap();
        assert!(bytes_of(&fs, "f.wal").unwrap().starts_with(b"lostaaaaaalater"));
        let disk = bytes_of(&fs.crash_clone(Damage::KeepAll, 0), "f.wal").unwrap();
        assert_eq!(disk.starts_with(b"lostaaaaaalater"), keep);
        assert_eq!(disk.starts_with(b"aaaaaaaaaalater"), !keep);
    }
}

#[test]
fn planted_faults_ignore_syncs() {
    let fs = SimFs::new();
    fs.ignore_sync_data(true);
    fs.put("f.wal", b"");
    write(&fs, b"x", 0);
    dir(&fs).open("f.wal", Access::ReadWrite).unwrap().sync_data().unwrap();
    assert_eq!(bytes_of(&fs.crash_clone(Damage::LoseAll, 0), "f.wal").unwrap(), b"");
    fs.ignore_sync_dir(true);
    dir(&fs).unlink("f.wal").unwrap();
    dir(&fs).sync().unwrap();
    assert!(bytes_of(&fs.crash_clone(Damage::LoseAll, 0), "f.wal").is_some());
}

#[test]
fn quotas_and_short_transfers() {
    let fs = with_file();
    fs.set_quota(Some(4000));
    let file = fs.handle().open("f.wal", Access::ReadWrite).unwrap();
    assert!(
        is_disk_full(&file.allocate(4001).unwrap_err()) && is_disk_full(&file.set_len(9999).unwrap_err())
    );
    assert_eq!(file.write_at(&[1; 2000], 2500).unwrap(), 1500);
    assert!(is_disk_full(&file.write_at(&[1], 4000).unwrap_err()));
    file.write_at(&[2; 100], 0).unwrap();
    dir(&fs).unlink("f.wal").unwrap();
    assert_eq!(fs.used_bytes(), 0);

    let fs = with_file();
    fs.set_short_transfers(Some(7));
    let file = fs.handle().open("f.wal", Access::ReadWrite).unwrap();
    let before = fs.op_count();
    write_all_at(&*file, &[b'c'; 3000], 0).unwrap();
    assert!(fs.op_count() > before + 1);
    let mut buf = [0; 3000];
    read_exact_at(&*file, &mut buf, 0).unwrap();
    assert_eq!(buf, [b'c'; 3000]);
}

#[test]
fn files_can_be_damaged_by_hand_and_locks_exclude() {
    let fs = SimFs::from_files(&BTreeMap::from([("f".to_owned(), b"abc".to_vec())]));
    assert!(fs.corrupt("f", 1, 1) && !fs.corrupt("f", 3, 1) && !fs.corrupt("g", 0, 1));
    assert_eq!(bytes_of(&fs.crash_clone(Damage::LoseAll, 0), "f").unwrap(), b"acc");
    // An open handle sees an overwrite, but not another file with the same name.
    let open = dir(&fs).open("f", Access::Read).unwrap();
    assert!(fs.overwrite("f", b"longer") && !fs.overwrite("g", b"") && fs.file("g").is_none());
    fs.put("f", b"other");
    let mut read = [0; 6];
    open.read_exact_at(&mut read, 0).unwrap();
    assert_eq!((&read, fs.file("f").unwrap().as_slice()), (b"longer", b"other".as_slice()));
    assert!(fs.truncate("f", 1) && fs.remove("f") && !fs.remove("f"));
    let lock = fs.handle().lock("LOCK").unwrap();
    assert_eq!(fs.handle().lock("LOCK").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    fs.crash_clone(Damage::KeepAll, 0).handle().lock("LOCK").unwrap();
    assert_eq!(fs.handle().lock_existing("LOCK").unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(lock);
    let readers = [(); 2].map(|()| fs.handle().lock_existing("LOCK").unwrap());
    for reader in readers {
        assert_eq!(fs.handle().lock("LOCK").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(reader);
    }
    fs.handle().lock("LOCK").unwrap();
    let read_only = fs.handle().open("LOCK", Access::Read).unwrap();
    assert!(read_only.write_at(b"x", 0).is_err());
}

/// A clone copies nothing of files without unsynced changes, independent of their size.
#[test]
fn clones_are_cheap() {
    let fs = SimFs::new();
    let names: Vec<String> = (0..10).map(|i| format!("f{i}.wal")).collect();
    names.iter().zip(0..).for_each(|(name, byte)| fs.put(name, &[byte; 20_000]));
    fs.put("f.wal", &[0; 20_000]);
    let content = |fs: &SimFs, name: &str| {
        let state = fs.shared.state.lock();
        state.inode(state.lookup(name).unwrap()).now.clone()
    };
    for seed in 0..20_000 {
        if seed % 100 == 0 {
            write(&fs, &[1; 700], seed % 20_000);
        }
        let clone = fs.crash_clone(Damage::ALL[seed as usize % 7], seed);
        for name in &names {
            assert!(content(&clone, name).is_shared_with(&content(&fs, name)), "{name} is copied");
        }
    }
}
