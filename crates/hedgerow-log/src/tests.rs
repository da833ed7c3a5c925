//! Tests of the log as a whole. The timestamp of a commit determines its content, so the tests can compare
//! recovered commits without storing them.

mod blocks;
mod crash;
mod damage;
mod faults;
mod records;
mod salvage;
mod store;
mod writing;

use std::collections::BTreeMap;
use std::convert::Infallible;

use hedgerow_core::{LabelId, Op, Timestamp, VertexId, VertexKeyRef};
use hedgerow_io::{CorruptionKind, FileError};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat};

use super::*;

const STORE: StoreId = StoreId([9; 16]);
const SEGMENT_BYTES: u64 = 2048;

fn options() -> LogOptions {
    LogOptions { segment_bytes: SEGMENT_BYTES, ..LogOptions::new(STORE) }
}

fn new_log(fs: &SimFs) -> Log {
    Log::create(fs.handle(), options(), LogPosition::START).expect("create log")
}

/// Returns the key of the vertex that commit `ts` inserts.
fn key_of(ts: u64) -> String {
    "k".repeat((ts % 41) as usize)
}

/// Returns the operations of commit `ts`.
fn ops_of(ts: u64, key: &str) -> Vec<Op<'_>> {
    let v = |n: u64| VertexId((ts * 7 + n) as u32);
    let label = LabelId((ts % 3) as u16);
    let mut ops = vec![Op::InsertVertex { id: v(0), key: VertexKeyRef::Str(key) }];
    for n in 0..ts % 7 {
        let weight = ts.is_multiple_of(2).then_some(n as f64 / 4.0);
        ops.push(Op::PutEdge { label, src: v(n), dst: v(n + 1), weight });
    }
    if ts % 4 == 1 {
        ops.push(Op::RemoveEdge { label, src: v(0), dst: v(1) });
        ops.push(Op::RemoveVertex { id: v(0) });
        ops.push(Op::InsertVertex { id: v(9), key: VertexKeyRef::U64(u64::MAX - ts) });
    }
    ops
}

fn record_of(ts: u64) -> RecordBuilder {
    let mut record = RecordBuilder::new();
    for op in ops_of(ts, &key_of(ts)) {
        record.push(op).expect("a small record");
    }
    record
}

fn append(log: &Log, ts: u64) -> Lsn {
    let mut record = record_of(ts);
    log.reserve(&mut record).expect("reserve").append(&mut record, Timestamp(ts))
}

fn commit(log: &Log, ts: u64) {
    let end = append(log, ts);
    assert!(log.flush_and_sync().expect("sync") >= end);
}

/// Recovers, checks the content of each commit, and returns the timestamps of the commits.
fn read(fs: &SimFs, live: &[u64], durable: Lsn) -> Result<(Vec<u64>, Recovered), RecoverError<Infallible>> {
    let live: Vec<FileId> = live.iter().copied().map(FileId).collect();
    let mut seen = Vec::new();
    let witness = Witness { store: STORE, live: &live, durable };
    let recovered = recover(fs.handle(), witness, |Timestamp(ts), ops| {
        assert_eq!(ops.collect::<Vec<_>>(), ops_of(ts, &key_of(ts)), "commit {ts}");
        seen.push(ts);
        Ok(())
    })?;
    assert_eq!(recovered.commits, seen.len() as u64);
    Ok((seen, recovered))
}

fn corruption<T>(result: Result<T, RecoverError<Infallible>>) -> Option<CorruptionKind> {
    match result.err()? {
        RecoverError::File(FileError::Corruption(c)) => Some(c.kind),
        other => panic!("not corruption: {other}"),
    }
}

/// Returns the segments of the log. The reserve is left out, because it has no content.
fn segment_files(fs: &SimFs) -> BTreeMap<String, Vec<u8>> {
    let mut files = fs.files();
    files.retain(|name, _| parse_segment_name(name).is_some());
    files
}

fn names(fs: &SimFs) -> Vec<String> {
    segment_files(fs).into_keys().collect()
}

/// The computation of a segment's length does not wrap around, and no segment is longer than a reader
/// accepts.
#[test]
fn no_segment_is_longer_than_a_reader_believes() {
    use crate::segment::{DATA_START, allocated_len};
    const MOST: u64 = 1 << 61;
    assert_eq!(allocated_len(0, 0).map(|len| len % 8), Some(0));
    assert_eq!((allocated_len(MOST - 1, 0), allocated_len(MOST, 0)), (Some(MOST), Some(MOST)));
    assert_eq!((allocated_len(MOST + 1, 0), allocated_len(0, MOST)), (None, None));
    assert_eq!((allocated_len(u64::MAX, 0), allocated_len(u64::MAX - 6, 0)), (None, None));
    assert_eq!((allocated_len(0, u64::MAX), allocated_len(0, u64::MAX - DATA_START)), (None, None));
}

/// Returns the lengths in the preambles of the segments, in order.
fn allocated(fs: &SimFs) -> Vec<u64> {
    let of = |bytes: Vec<u8>| u64::from_le_bytes(bytes[96..104].try_into().expect("eight bytes"));
    segment_files(fs).into_values().map(of).collect()
}

#[test]
fn segments_begin_short_and_double_until_they_are_as_long_as_the_options_say() {
    const KIB: u64 = 1 << 10;
    for (most, expected) in [(1024, &[256, 512, 1024, 1024][..]), (700, &[256, 512, 700]), (64, &[64, 64])] {
        let fs = SimFs::new();
        let options = LogOptions { segment_bytes: most * KIB, ..LogOptions::new(STORE) };
        let log = Log::create(fs.handle(), options.clone(), LogPosition::START).expect("create log");
        assert_eq!(allocated(&fs), [expected[0] * KIB]);
        for ts in 1.. {
            append(&log, ts);
            // The segment that a checkpoint begins is not longer than the one before it.
            if ts == 100 {
                log.flush_and_sync().expect("sync");
                log.begin_segment(1).expect("sync");
            }
            if log.segments().len() > expected.len() {
                break;
            }
        }
        let found = allocated(&fs);
        let expected: Vec<u64> = expected[..1].iter().chain(expected).map(|kib| kib * KIB).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn without_a_file_descriptor_for_the_next_segment_the_log_goes_on_later() {
    const EMFILE: i32 = 24;
    let fs = SimFs::new();
    let log = new_log(&fs);
    let strike = |repeat| {
        let fault =
            Fault { class: FaultClass::Change, at: 0, site: Some("create:wal"), repeat, errno: EMFILE };
        fs.plan_fault(fault);
    };
    strike(Repeat::Forever);
    let mut ts = 1;
    let refused = loop {
        let mut record = record_of(ts);
        match log.reserve(&mut record) {
            Ok(reservation) => _ = reservation.append(&mut record, Timestamp(ts)),
            Err(error) => break error,
        }
        ts += 1;
    };
    assert!(matches!(refused, ReserveError::TooManyFiles(_)), "{refused}");
    log.flush_and_sync().expect("what was appended is written");
    log.begin_segment(1).expect("a checkpoint leaves the segment as it is");
    assert!(log.reserve(&mut record_of(ts)).is_err());
    fs.clear_faults();
    (ts..ts + 50).for_each(|ts| commit(&log, ts));
    let durable = log.close().expect("close");
    let live: Vec<u64> = log.segments().iter().map(|segment| segment.id.0).collect();
    let (seen, _) = read(&fs, &live, durable).expect("sound");
    assert_eq!(seen, (1..ts + 50).collect::<Vec<_>>());
}
