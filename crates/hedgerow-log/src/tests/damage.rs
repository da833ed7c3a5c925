use super::*;
use hedgerow_io::FormatError;
use hedgerow_testkit::Damage;
use hedgerow_testkit::sim_fs::SplitMix64;

/// Returns a log of three full segments and a part of a fourth, its last timestamp, and its durable position.
/// The commits have the timestamps from 1 on.
pub(super) fn several_segments(close: bool) -> (SimFs, u64, Lsn) {
    let fs = SimFs::new();
    let log = new_log(&fs);
    let mut ts = 0;
    while log.segments().len() < 4 {
        ts += 1;
        commit(&log, ts);
    }
    (ts + 1..=ts + 4).for_each(|ts| commit(&log, ts));
    let durable = if close { log.close().unwrap() } else { log.durable() };
    (fs, ts + 4, durable)
}

pub(super) fn copy(fs: &SimFs) -> SimFs {
    fs.crash_clone(Damage::KeepAll, 0)
}

/// Returns a log of ten written but not synced commits in one segment, and the offsets where they begin.
fn unsynced() -> (SimFs, Vec<u64>) {
    let fs = SimFs::new();
    let log = new_log(&fs);
    let mut starts = vec![DATA_START];
    starts.extend((1..=10).map(|ts| DATA_START + append(&log, ts).0));
    log.write_out().unwrap();
    (fs, starts)
}

#[test]
fn every_changed_byte_of_a_closed_log_is_found() {
    let (fs, _, durable) = several_segments(true);
    let mut rng = SplitMix64::new(1);
    let mut opened = 0;
    for (name, bytes) in segment_files(&fs) {
        for offset in 0..bytes.len() as u64 {
            let damaged = copy(&fs);
            damaged.corrupt(&name, offset, 1 << rng.below(8));
            for durable in [durable, Lsn::ZERO] {
                assert!(read(&damaged, &[1], durable).is_err(), "{name} byte {offset}");
                opened += 1;
            }
        }
    }
    assert!(opened > 10_000, "{opened}");
}

#[test]
fn every_shortened_or_lengthened_file_of_a_closed_log_is_found() {
    let (fs, _, _) = several_segments(true);
    for (name, bytes) in segment_files(&fs) {
        for len in
            (0..bytes.len() as u64).chain(bytes.len() as u64 + 1..bytes.len() as u64 + 20).chain([1 << 20])
        {
            let damaged = copy(&fs);
            damaged.truncate(&name, len);
            assert!(read(&damaged, &[1], Lsn::ZERO).is_err(), "{name} length {len}");
        }
        let damaged = copy(&fs);
        damaged.remove(&name);
        assert_eq!(corruption(read(&damaged, &[1], Lsn::ZERO)), Some(CorruptionKind::Missing));
    }
}

#[test]
fn changed_bytes_of_an_open_log_are_found_or_cut_what_no_witness_knows() {
    let (fs, last, durable) = several_segments(false);
    let mut rng = SplitMix64::new(2);
    let active = segment_name(FileId(4));
    let (mut cut, mut found) = (0, 0);
    for (name, bytes) in segment_files(&fs) {
        for offset in 0..bytes.len() as u64 {
            let damaged = copy(&fs);
            damaged.corrupt(&name, offset, 1 << rng.below(8));
            match read(&damaged, &[1], Lsn::ZERO) {
                Err(_) => found += 1,
                // The log synced each commit before the next one. So only the last commit has no witness
                // except the manifest.
                Ok((seen, recovered)) => {
                    assert_eq!(name, active);
                    let lost = last - seen.len() as u64;
                    assert!(lost <= 1 && seen == (1..=last - lost).collect::<Vec<_>>());
                    cut += lost;
                    let torn = matches!(recovered.tail, Tail::Torn { .. });
                    assert!(torn, "byte {offset} is not zero any more");
                }
            }
            let with_manifest = read(&damaged, &[1], durable);
            assert!(with_manifest.is_err() || with_manifest.is_ok_and(|(seen, _)| seen.len() as u64 == last));
        }
    }
    assert!(cut > 50 && found > 5000, "{cut} cut, {found} found");
}

#[test]
fn a_log_torn_anywhere_ends_before_the_tear() {
    let (fs, starts) = unsynced();
    let name = segment_name(FileId(1));
    let full = fs.files()[&name].clone();
    let end = *starts.last().unwrap() as usize;
    for n in DATA_START as usize..=end {
        let mut bytes = full.clone();
        bytes[n..].fill(0);
        // A tear that changes only zeros at the end of a record loses no data.
        let whole = starts.iter().filter(|&&s| bytes[..s as usize] == full[..s as usize]).count() - 1;
        let torn = SimFs::new();
        torn.put(&name, &bytes);
        let (seen, recovered) = read(&torn, &[1], Lsn::ZERO).unwrap();
        assert_eq!(seen, (1..=whole as u64).collect::<Vec<_>>(), "torn at {n}");
        let expected = bytes[starts[whole] as usize..].iter().rposition(|&b| b != 0);
        match recovered.tail {
            Tail::Torn { offset, bytes_cut, .. } => {
                assert_eq!((offset, Some(bytes_cut)), (starts[whole], expected.map(|n| n as u64 + 1)));
            }
            tail => assert_eq!((tail, expected), (Tail::Open, None), "torn at {n}"),
        }
        let durable = Lsn(starts[whole] - DATA_START);
        assert!(read(&torn, &[1], durable).is_ok());
        assert!(read(&torn, &[1], Lsn(durable.0 + 1)).is_err(), "the manifest knows better");
    }
}

#[test]
fn later_records_are_dropped_if_they_do_not_know_the_lost_one_as_durable() {
    let (fs, starts) = unsynced();
    let name = segment_name(FileId(1));
    for (i, &at) in starts[..10].iter().enumerate() {
        let damaged = copy(&fs);
        damaged.corrupt(&name, at + 60, 1);
        let (seen, recovered) = read(&damaged, &[1], Lsn::ZERO).unwrap();
        assert_eq!(seen.len(), i);
        let bytes_cut = starts[10] - at;
        let Tail::Torn { offset, bytes_cut: cut, .. } = recovered.tail else { panic!("torn") };
        assert!(offset == at && cut <= bytes_cut && cut > bytes_cut - 8, "but for zeros at the end");
    }
}

#[test]
fn a_later_record_that_knows_the_lost_one_as_durable_is_a_witness() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    commit(&log, 1);
    let lost_at = DATA_START + log.end().0;
    commit(&log, 2);
    let durable = log.end();
    append(&log, 3);
    append(&log, 4);
    log.write_out().unwrap();
    fs.corrupt(&segment_name(FileId(1)), lost_at + 8, 0x10);
    let lost = Some(CorruptionKind::DurableRecordLost { durable_lsn: durable.0 });
    assert_eq!(corruption(read(&fs, &[1], Lsn::ZERO)), lost);
    // The frame of the witness is sufficient proof, also if its payload is torn.
    let witness_payload = DATA_START + durable.0 + 60;
    fs.corrupt(&segment_name(FileId(1)), witness_payload, 1);
    assert_eq!(corruption(read(&fs, &[1], Lsn::ZERO)), lost);
}

#[test]
fn a_record_of_another_history_breaks_the_chain() {
    let (fs, starts) = unsynced();
    let (other, name) = (SimFs::new(), segment_name(FileId(1)));
    let log = new_log(&other);
    // The lengths and positions are the same, but the first commit has another timestamp.
    let mut record = record_of(1);
    log.reserve(&mut record).unwrap().append(&mut record, Timestamp(2));
    for ts in 3..=11 {
        let mut record = record_of(ts - 1);
        log.reserve(&mut record).unwrap().append(&mut record, Timestamp(ts));
    }
    log.write_out().unwrap();
    let (mut mixed, theirs) = (fs.files()[&name].clone(), other.files()[&name].clone());
    mixed[starts[4] as usize..].copy_from_slice(&theirs[starts[4] as usize..]);
    fs.put(&name, &mixed);
    assert_eq!(read(&fs, &[1], Lsn::ZERO).unwrap().0, [1, 2, 3, 4]);
}

#[test]
fn files_of_other_stores_other_numbers_and_other_kinds_are_refused() {
    let (fs, _, _) = several_segments(false);
    let name = segment_name(FileId(1));
    let refused = |fs: &SimFs| match read(fs, &[1], Lsn::ZERO).unwrap_err() {
        RecoverError::File(FileError::Format { error, .. }) => error,
        RecoverError::File(FileError::Corruption(c)) => match c.kind {
            CorruptionKind::Header(error) => error,
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    };
    let foreign = SimFs::new();
    let options = LogOptions::new(StoreId([1; 16]));
    Log::create(foreign.handle(), options, LogPosition::START).unwrap();
    assert!(matches!(refused(&foreign), FormatError::WrongStore { .. }));
    let swapped = copy(&fs);
    swapped.put(&name, &fs.files()[&segment_name(FileId(2))]);
    assert!(matches!(refused(&swapped), FormatError::WrongFile { .. }));
    let strange = copy(&fs);
    strange.put(&name, &[7; 4000]);
    assert_eq!(refused(&strange), FormatError::NotOurs);
    for len in [0, 63, 64, 127] {
        let short = copy(&fs);
        short.truncate(&name, len);
        assert!(read(&short, &[1], Lsn::ZERO).is_err(), "{len} bytes");
    }
}

#[test]
fn stale_copies_and_gaps_are_found() {
    let fs = SimFs::new();
    let log = new_log(&fs);
    commit(&log, 1);
    let stale = fs.files()[&segment_name(FileId(1))].clone();
    (2..40).for_each(|ts| commit(&log, ts));
    let old = copy(&fs);
    old.put(&segment_name(FileId(1)), &stale);
    assert!(read(&old, &[1, 2], Lsn::ZERO).is_err(), "the next segment begins later");
    assert!(read(&old, &[1], Lsn::ZERO).is_err(), "records of the next segment are witnesses");
    assert!(read(&old, &[1], log.durable()).is_err());
    let gap = corruption(read(&fs, &[1, 3], Lsn::ZERO));
    assert!(matches!(gap, Some(CorruptionKind::DurableRecordLost { .. })), "{gap:?}");
    let twice = corruption(read(&fs, &[1, 1], Lsn::ZERO));
    assert!(matches!(twice, Some(CorruptionKind::Mismatch { .. })), "{twice:?}");
    assert!(read(&fs, &[], Lsn::ZERO).is_err());
    assert_eq!(corruption(read(&fs, &[99], Lsn::ZERO)), Some(CorruptionKind::Missing));
}

#[test]
fn a_damaged_seal_does_not_hide_the_segments_behind_it() {
    let (fs, _, _) = several_segments(false);
    let name = segment_name(FileId(3));
    let sealed = fs.files()[&name].len() as u64;
    for offset in sealed - 72..sealed {
        let damaged = copy(&fs);
        damaged.corrupt(&name, offset, 0x40);
        // The length that a crash between the seal and the cut leaves.
        damaged.truncate(&name, SEGMENT_BYTES);
        assert!(corruption(read(&damaged, &[1], Lsn::ZERO)).is_some(), "byte {offset}");
    }
}

#[test]
fn a_visitor_can_refuse() {
    let (fs, _) = unsynced();
    let witness = Witness { store: STORE, live: &[FileId(1)], durable: Lsn::ZERO };
    let refuse = |ts: Timestamp, _: Ops<'_>| if ts.0 < 3 { Ok(()) } else { Err("no") };
    let error = recover(fs.handle(), witness, refuse).unwrap_err();
    assert!(matches!(&error, RecoverError::Visitor { ts: Timestamp(3), error: "no", .. }), "{error}");
}

#[test]
fn claimed_lengths_do_not_allocate() {
    let (fs, starts) = unsynced();
    let name = segment_name(FileId(1));
    let mut bytes = fs.files()[&name].clone();
    // A complete frame that claims the largest possible payload.
    let at = starts[10] as usize;
    let previous = u64::from_le_bytes(bytes[starts[9] as usize + 48..][..8].try_into().unwrap());
    let frame = crate::record::Frame {
        kind: crate::record::RecordType::Commit,
        length: u32::MAX,
        lsn: Lsn(starts[10] - DATA_START),
        ts: Timestamp(11),
        durable: Lsn::ZERO,
        payload_checksum: 0,
        previous,
    };
    let mut out = Vec::new();
    frame.encode(STORE, FileId(1), &mut out);
    bytes[at..at + out.len()].copy_from_slice(&out);
    fs.put(&name, &bytes);
    let (seen, recovered) = read(&fs, &[1], Lsn::ZERO).unwrap();
    assert!(seen.len() == 10 && matches!(recovered.tail, Tail::Torn { .. }));
}

#[test]
fn nonsense_under_right_checksums_is_damage() {
    use crate::record::{Frame, RecordType, Seal};
    use hedgerow_io::checksum::checksum64;
    let (fs, starts) = unsynced();
    let name = segment_name(FileId(1));
    let bytes = fs.files()[&name].clone();
    let previous = u64::from_le_bytes(bytes[starts[9] as usize + 48..][..8].try_into().unwrap());
    let seal = |next, records| Seal { next: FileId(next), records }.encode().to_vec();
    let good = Frame {
        kind: RecordType::RotationSeal,
        length: 16,
        lsn: Lsn(starts[10] - DATA_START),
        ts: Timestamp(10),
        durable: Lsn::ZERO,
        payload_checksum: 0,
        previous,
    };
    let commit = Frame { kind: RecordType::Commit, ts: Timestamp(11), ..good };
    let closing = Frame { kind: RecordType::ClosingSeal, ..good };
    let row = vec![3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
    let cases = [
        ("durable before it was written", Frame { durable: Lsn(good.lsn.0 + 8), ..commit }, row.clone()),
        ("time stands still", Frame { ts: Timestamp(10), ..commit }, row.clone()),
        ("malformed payload", commit, vec![7; 16]),
        ("leads to itself", good, seal(1, 10)),
        ("counts another number", good, seal(2, 9)),
        ("another last timestamp", Frame { ts: Timestamp(9), ..good }, seal(2, 10)),
        ("closing, but leads on", closing, seal(2, 10)),
        ("seal of another length", Frame { length: 8, ..good }, vec![2, 0, 0, 0, 0, 0, 0, 0]),
        ("leads nowhere", good, seal(2, 10)),
    ];
    for (what, frame, payload) in cases {
        let mut out = Vec::new();
        Frame { payload_checksum: checksum64(&payload), ..frame }.encode(STORE, FileId(1), &mut out);
        out.extend_from_slice(&payload);
        let mut changed = bytes.clone();
        changed[starts[10] as usize..][..out.len()].copy_from_slice(&out);
        fs.put(&name, &changed);
        let mut seen = 0;
        let witness = Witness { store: STORE, live: &[FileId(1)], durable: Lsn::ZERO };
        let result = recover(fs.handle(), witness, |_, _| {
            seen += 1;
            Ok::<_, Infallible>(())
        });
        assert!(corruption(result).is_some() && seen == 10, "{what}");
    }
}
