use super::*;
use hedgerow_core::account::Purpose;
use hedgerow_io::{CountingFs, Vfs};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn commits_come_back_in_order() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    (1..=5).for_each(|ts| commit(&log, ts));
    let (seen, recovered) = read(&fs, &[1], log.durable()).unwrap();
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    assert_eq!((recovered.tail, recovered.last_ts), (Tail::Open, Timestamp(5)));
    assert_eq!(log.end(), log.durable());
}

#[test]
fn nothing_is_written_before_the_flush_and_empty_records_never() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    let before = fs.op_count();
    append(&log, 1);
    assert_eq!(fs.op_count(), before);
    assert!(read(&fs, &[1], Lsn::ZERO).unwrap().0.is_empty());
    assert_eq!(log.durable(), Lsn::ZERO);
    let mut empty = RecordBuilder::new();
    let end = log.end();
    assert_eq!(log.reserve(&mut empty).unwrap().append(&mut empty, Timestamp(2)), end);
    log.write_out().unwrap();
    assert_eq!((read(&fs, &[1], Lsn::ZERO).unwrap().0, log.durable()), (vec![1], Lsn::ZERO));
    assert_eq!(log.flush_and_sync().unwrap(), log.end());
    let synced = fs.op_count();
    log.flush_and_sync().unwrap();
    assert_eq!(fs.op_count(), synced, "nothing new, no sync");
}

#[test]
fn full_segments_are_sealed_and_the_seals_lead_on() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    (1..=100).for_each(|ts| {
        append(&log, ts);
    });
    log.flush_and_sync().unwrap();
    let segments = log.segments();
    assert!(segments.len() > 5, "{segments:?}");
    for (i, pair) in segments.windows(2).enumerate() {
        assert_eq!(pair[0].id, FileId(i as u64 + 1));
        assert_eq!(pair[1].first_lsn.0, pair[0].first_lsn.0 + pair[0].bytes - DATA_START);
        assert!(pair[0].sealed && pair[0].bytes <= SEGMENT_BYTES);
        assert_eq!(fs.files()[&segment_name(pair[0].id)].len() as u64, pair[0].bytes, "cut at the seal");
    }
    assert_eq!(read(&fs, &[1], log.durable()).unwrap().0, (1..=100).collect::<Vec<_>>());
    let all: Vec<u64> = segments.iter().map(|s| s.id.0).collect();
    assert_eq!(read(&fs, &all, log.durable()).unwrap().0, (1..=100).collect::<Vec<_>>());
    let third = segments[1].last_ts.0 + 1;
    assert_eq!(read(&fs, &[3], log.durable()).unwrap().0, (third..=100).collect::<Vec<_>>());
}

#[test]
fn covered_segments_are_removed_but_never_the_active_one() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    (1..=60).for_each(|ts| {
        append(&log, ts);
    });
    log.flush_and_sync().unwrap();
    let segments = log.segments();
    let ts = segments[2].last_ts;
    let live = log.live_after(ts);
    assert_eq!(live, segments[3..].iter().map(|s| s.id).collect::<Vec<_>>());
    assert_eq!(log.remove_segments_through(Timestamp(segments[0].last_ts.0 - 1)).unwrap(), []);
    let removed = log.remove_segments_through(ts).unwrap();
    assert_eq!(removed, [FileId(1), FileId(2), FileId(3)]);
    assert_eq!(names(&fs), live.iter().map(|&id| segment_name(id)).collect::<Vec<_>>());
    assert_eq!(read(&fs, &[4], log.durable()).unwrap().0, (ts.0 + 1..=60).collect::<Vec<_>>());
    assert_eq!(log.remove_segments_through(Timestamp(1000)).unwrap(), [], "the manifest names the others");
    log.live_after(Timestamp(1000));
    log.remove_segments_through(Timestamp(1000)).unwrap();
    let active = log.segments();
    assert_eq!((active.len(), names(&fs).len()), (1, 1));
    append(&log, 61);
    log.flush_and_sync().unwrap();
}

#[test]
fn a_segment_that_the_manifest_names_stays_though_it_is_sealed_before_the_removal() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    commit(&log, 1);
    let named = log.live_after(Timestamp(1));
    let mut record = RecordBuilder::new();
    for n in 0..SEGMENT_BYTES as u32 {
        record.push(Op::RemoveVertex { id: VertexId(n) }).unwrap();
    }
    drop(log.reserve(&mut record).unwrap());
    assert!(log.segments()[0].sealed && log.segments()[0].last_ts == Timestamp(1));
    assert_eq!(log.remove_segments_through(Timestamp(1)).unwrap(), []);
    assert_eq!(read(&fs, &[named[0].0], log.durable()).unwrap().0, [1]);
}

#[test]
fn a_record_longer_than_a_segment_gets_its_own() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    commit(&log, 1);
    let mut record = RecordBuilder::new();
    for n in 0..10_000 {
        let (label, src, dst) = (LabelId(0), VertexId(n), VertexId(n));
        record.push(Op::PutEdge { label, src, dst, weight: None }).unwrap();
    }
    log.reserve(&mut record).unwrap().append(&mut record, Timestamp(2));
    commit(&log, 3);
    let lengths: Vec<u64> = log.segments().iter().map(|s| s.bytes).collect();
    assert_eq!(lengths.len(), 3);
    assert!(lengths[0] < SEGMENT_BYTES && lengths[1] > 80_000 && lengths[2] < SEGMENT_BYTES);
    let mut counts = Vec::new();
    let witness = Witness { store: STORE, live: &[FileId(1)], durable: log.durable() };
    recover(fs.handle(), witness, |ts, ops| {
        counts.push((ts.0, ops.count()));
        Ok::<_, Infallible>(())
    })
    .unwrap();
    assert_eq!(counts, [(1, 5), (2, 10_000), (3, 4)]);
}

#[test]
fn dropped_reservations_give_their_space_back() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    for _ in 0..1000 {
        drop(log.reserve(&mut record_of(6)).unwrap());
    }
    assert_eq!(log.segments().len(), 1);
    let held: Vec<_> = (0..40).map(|_| log.reserve(&mut record_of(6)).unwrap()).collect();
    assert!(log.segments().len() > 1, "held ones do take space");
    for (ts, reservation) in (1..).zip(held) {
        reservation.append(&mut record_of(6), Timestamp(ts));
    }
    log.flush_and_sync().unwrap();
    let witness = Witness { store: STORE, live: &[FileId(1)], durable: log.durable() };
    let recovered = recover(fs.handle(), witness, |_, _| Ok::<_, Infallible>(())).unwrap();
    assert_eq!(recovered.commits, 40, "all of them had room");
}

#[test]
fn a_full_disk_stops_nothing_but_the_commit() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    let mut ts = 0;
    fs.set_quota(Some(SEGMENT_BYTES + 100));
    let refused = loop {
        let mut record = record_of(ts + 1);
        match log.reserve(&mut record) {
            Ok(reservation) => {
                ts += 1;
                reservation.append(&mut record, Timestamp(ts));
            }
            Err(e) => break e,
        }
    };
    assert!(matches!(refused, ReserveError::DiskFull(_)), "{refused}");
    assert_eq!(names(&fs).len(), 1, "the unfinished segment is gone");
    let mut small = RecordBuilder::new();
    small.push(Op::RemoveVertex { id: VertexId(0) }).unwrap();
    log.flush_and_sync().unwrap();
    assert_eq!(read(&fs, &[1], log.durable()).unwrap().0, (1..=ts).collect::<Vec<_>>());
    fs.set_quota(None);
    (ts + 1..=ts + 30).for_each(|ts| commit(&log, ts));
    assert_eq!(read(&fs, &[1], log.durable()).unwrap().0, (1..=ts + 30).collect::<Vec<_>>());
    assert_eq!(log.segments()[1].id, FileId(3), "numbers are not used again");
}

#[test]
fn a_failed_sync_stops_the_log_for_good() {
    for site in ["sync_data:wal", "write:wal"] {
        let fs = SimFs::new();
        let log = new_log(&fs);
        commit(&log, 1);
        let durable = log.durable();
        let (class, repeat) = (FaultClass::Change, Repeat::Once);
        fs.plan_fault(Fault { class, at: 0, site: Some(site), repeat, errno: errno::EIO });
        append(&log, 2);
        let error = log.flush_and_sync().unwrap_err();
        assert!(matches!(&error, LogError::Failed(e) if e.file == segment_name(FileId(1))), "{error}");
        assert!(log.flush_and_sync().is_err() && log.write_out().is_err() && log.close().is_err());
        assert!(matches!(log.reserve(&mut record_of(3)), Err(ReserveError::Log(LogError::Failed(_)))));
        assert_eq!(log.durable(), durable);
        assert!(log.check().is_err());
    }
}

#[test]
fn failures_of_rotation_other_than_a_full_disk_stop_the_log() {
    for (site, errno) in
        [("create:wal", errno::EIO), ("sync_all:wal", errno::EIO), ("sync_dir:dir", errno::ENOSPC)]
    {
        let fs = SimFs::new();
        let log = new_log(&fs);
        commit(&log, 1);
        fs.plan_fault(Fault {
            class: FaultClass::Change,
            at: 0,
            site: Some(site),
            repeat: Repeat::Once,
            errno,
        });
        let stopped = (2..50).find_map(|ts| {
            let mut record = record_of(ts);
            match log.reserve(&mut record) {
                Ok(reservation) => {
                    reservation.append(&mut record, Timestamp(ts));
                    None
                }
                Err(e) => Some(e),
            }
        });
        assert!(matches!(stopped, Some(ReserveError::Log(LogError::Failed(_)))), "{site}: {stopped:?}");
        assert_eq!(read(&fs, &[1], log.durable()).unwrap().0, [1]);
    }
}

#[test]
fn a_closed_log_says_so() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    commit(&log, 1);
    append(&log, 2);
    let end = log.close().unwrap();
    assert_eq!(end, log.end());
    assert!(matches!(log.flush_and_sync(), Err(LogError::Closed)));
    assert!(matches!(log.reserve(&mut record_of(3)), Err(ReserveError::Log(LogError::Closed))));
    let (seen, recovered) = read(&fs, &[1], end).unwrap();
    assert_eq!((seen, recovered.tail), (vec![1, 2], Tail::Closed));
}

/// A writer that panics loses the data that it took from the buffer, so no later sync may succeed.
#[test]
fn a_panic_of_a_writer_stops_the_log_before_others_get_in() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    append(&log, 1);
    std::thread::scope(|scope| {
        let (held, has) = std::sync::mpsc::channel();
        let writer = scope.spawn({
            let log = &log;
            move || {
                let _io = log.io().unwrap();
                held.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(50));
                panic!("planted");
            }
        });
        has.recv().unwrap();
        assert!(matches!(log.flush_and_sync(), Err(LogError::Closed)));
        assert!(writer.join().is_err());
    });
}

/// A sync during the unwinding of an unrelated panic does not make the log fail.
#[test]
fn a_log_can_be_synced_while_unwinding() {
    struct Syncs<'a>(&'a crate::Log);
    impl Drop for Syncs<'_> {
        fn drop(&mut self) {
            self.0.flush_and_sync().unwrap();
        }
    }
    let fs = SimFs::new();
    let log = new_log(&fs);
    let end = append(&log, 1);
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _syncs = Syncs(&log);
        panic!("for another reason");
    }));
    assert!(unwound.is_err());
    assert!(log.flush_and_sync().unwrap() >= end);
}

#[test]
fn many_threads_append_and_sync() {
    let fs = SimFs::new();
    let counting = CountingFs::new(fs.handle());
    let counters = counting.counters();
    let fs_under_test: Arc<dyn Vfs> = Arc::new(counting);
    let log = Log::create(fs_under_test, options(), LogPosition::START).unwrap();
    let next = Mutex::new(1);
    let syncs = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..250 {
                    let mut order = next.lock().unwrap();
                    let mut record = record_of(*order);
                    let reservation = log.reserve(&mut record).unwrap();
                    let end = reservation.append(&mut record, Timestamp(*order));
                    *order += 1;
                    drop(order);
                    if log.durable() < end {
                        assert!(log.flush_and_sync().unwrap() >= end);
                        syncs.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(read(&fs, &[1], log.durable()).unwrap().0, (1..=1000).collect::<Vec<_>>());
    assert!(counters.file_syncs.load(Ordering::Relaxed) <= syncs.load(Ordering::Relaxed) + 2 * 100);
}

#[test]
fn large_buffers_are_written_by_the_next_reservation() {
    let fs = SimFs::new();
    let log = Log::create(fs.handle(), LogOptions::new(STORE), LogPosition::START).unwrap();
    let mut record = RecordBuilder::new();
    for n in 0..50_000 {
        record.push(Op::RemoveVertex { id: VertexId(n) }).unwrap();
    }
    // Appends until a segment has room for all following records.
    let mut all = 1..;
    while segment_files(&fs).into_values().all(|file| file.len() < 8 << 20) {
        let ts = Timestamp(all.next().unwrap());
        log.reserve(&mut record).unwrap().append(&mut record, ts);
    }
    let durable = log.flush_and_sync().unwrap();
    let before = fs.op_count();
    for ts in all.take(8) {
        log.reserve(&mut record).unwrap().append(&mut record, Timestamp(ts));
    }
    assert_eq!(fs.op_count(), before + 1);
    assert_eq!(log.durable(), durable);
}

#[test]
fn names_of_segments_are_read_strictly() {
    assert_eq!(segment_name(FileId(255)), "log-00000000000000ff.wal");
    assert_eq!(parse_segment_name("log-00000000000000ff.wal"), Some(FileId(255)));
    for name in [
        "log-ff.wal",
        "log-00000000000000FF.wal",
        "log-00000000000000ff.csr",
        "x",
        "log-+0000000000000ff.wal",
    ] {
        assert_eq!(parse_segment_name(name), None, "{name}");
    }
}

/// Returns the bytes of buffers that the log charged to its account.
fn buffered(log: &Log) -> usize {
    log.account().used_for(Purpose::Log) as usize
}

/// The log reports the bytes that wait to be written, and the buffers that it keeps. Both are at most the
/// bytes of one write.
#[test]
fn a_log_tells_the_bytes_of_its_buffers() {
    let fs = SimFs::new();
    let log = Log::create(fs.handle(), LogOptions::new(STORE), LogPosition::START).expect("create log");
    assert_eq!(buffered(&log), 0);
    for ts in 1..=2_000 {
        append(&log, ts);
    }
    let waiting = (log.end().0 - LogPosition::START.lsn.0) as usize;
    assert!((waiting..waiting * 3 / 2).contains(&buffered(&log)), "{waiting} in {}", buffered(&log));
    log.write_out().expect("write");
    assert!((waiting..waiting * 3 / 2).contains(&buffered(&log)), "{waiting} in {}", buffered(&log));
}
