//! Tests that bytes are read as they were written, with any number of pages in memory, and that damage is
//! found.

use hedgerow_catalog::error::{Error, StorageError};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, SplitMix64, errno};

use super::*;

/// Returns a stretch of up to three pages: at the beginning, across pages, or far away.
fn stretch(rng: &mut SplitMix64) -> (u64, usize) {
    let area = [0, 1 << 17, 1 << 36][rng.below(3) as usize];
    let len = if rng.eighths(1) { rng.below(3 * PAGE_BYTES as u64) } else { rng.below(40) };
    (area + rng.below(20 * PAGE_BYTES as u64), len as usize)
}

#[test]
fn bytes_are_read_as_they_were_written() {
    for (slots, files) in [(0, 1), (1, 1), (7, 1), (1000, 0)] {
        let disk = SimFs::new();
        let directory = TemporaryDirectory::new(disk.handle(), "test");
        let mut paged = PagedBytes::new(&directory, slots * SLOT_BYTES);
        let mut wanted: BTreeMap<u64, u8> = BTreeMap::new();
        let mut rng = SplitMix64::new(slots as u64);
        for round in 0..3_000 {
            let (at, len) = stretch(&mut rng);
            if rng.eighths(4) {
                let bytes: Vec<u8> = (0..len).map(|i| (round + i) as u8).collect();
                paged.write(at, &bytes).unwrap();
                wanted.extend((at..).zip(bytes));
            } else {
                let mut bytes = vec![1; len];
                paged.read(at, &mut bytes).unwrap();
                let was = (at..).take(len).map(|at| wanted.get(&at).copied().unwrap_or(0));
                assert!(bytes.iter().copied().eq(was), "{slots} slots, round {round}");
            }
            let page = wanted.range(at / PAGE_BYTES as u64 * PAGE_BYTES as u64..).next();
            let first = page.map(|(&place, _)| at.max(place / PAGE_BYTES as u64 * PAGE_BYTES as u64));
            assert_eq!(paged.first_written(at), first, "{slots} slots, round {round}");
            assert!(paged.slots.len() <= slots.max(1), "{} slots", paged.slots.len());
        }
        assert_eq!((directory.made(), disk.files().len()), (files, files as usize), "{slots} slots");
        drop(paged);
        assert!(disk.files().is_empty(), "a file is left");
    }
}

/// Writes eight pages, of which only the last one is in memory.
fn eight_pages(disk: &SimFs) -> Result<PagedBytes> {
    let mut paged = PagedBytes::new(&TemporaryDirectory::new(disk.handle(), "test"), 0);
    for page in 0..8_u64 {
        paged.write(page * PAGE_BYTES as u64, &[page as u8; PAGE_BYTES])?;
    }
    Ok(paged)
}

fn read_all(paged: &mut PagedBytes) -> Result<Vec<u8>> {
    let mut bytes = vec![0; 8 * PAGE_BYTES];
    paged.read(0, &mut bytes)?;
    Ok(bytes)
}

#[test]
fn a_damaged_page_is_found() {
    let is_found = |disk: &SimFs, paged: &mut PagedBytes, what: &str| match read_all(paged) {
        Err(Error::Storage(StorageError::Corruption(found))) => assert!(disk.file(&found.file).is_some()),
        other => panic!("{what}: {:?}", other.map(|all| all.len())),
    };
    let mut rng = SplitMix64::new(3);
    for round in 0..200 {
        let disk = SimFs::new();
        let mut paged = eight_pages(&disk).unwrap();
        let (name, bytes) = disk.files().pop_first().unwrap();
        assert_eq!(bytes.len(), 7 * ROOM_BYTES);
        disk.corrupt(&name, rng.below(bytes.len() as u64), 1 << rng.below(8));
        is_found(&disk, &mut paged, &format!("round {round}"));
    }
    // A page with its checksum at the position of another page.
    let disk = SimFs::new();
    let mut paged = eight_pages(&disk).unwrap();
    let (name, mut bytes) = disk.files().pop_first().unwrap();
    bytes.copy_within(ROOM_BYTES..2 * ROOM_BYTES, 0);
    disk.overwrite(&name, &bytes);
    is_found(&disk, &mut paged, "exchanged");
    // A file that ends early.
    let disk = SimFs::new();
    let mut paged = eight_pages(&disk).unwrap();
    disk.truncate(disk.files().keys().next().unwrap(), 7 * ROOM_BYTES as u64 - 1);
    is_found(&disk, &mut paged, "cut");
}

#[test]
fn what_the_disk_refuses_is_an_error() {
    let disk = SimFs::new();
    disk.set_quota(Some(3 * ROOM_BYTES as u64));
    let full = eight_pages(&disk);
    assert!(matches!(full, Err(Error::Storage(StorageError::DiskFull { .. }))), "{full:?}");
    assert!(disk.files().is_empty(), "a file is left");

    // A failed call changes no written data: the next call reads it.
    let disk = SimFs::new();
    let mut paged = eight_pages(&disk).unwrap();
    for class in [FaultClass::Read, FaultClass::Change] {
        let at = if class == FaultClass::Read { disk.read_count() } else { disk.op_count() };
        disk.plan_fault(Fault { class, at, site: None, repeat: Repeat::Once, errno: errno::EIO });
        let failed = paged
            .read(0, &mut [0])
            .and_then(|()| paged.write(0, &[0]))
            .and_then(|()| paged.read(8000, &mut [0]));
        assert!(matches!(failed, Err(Error::Storage(StorageError::Io { .. }))), "{failed:?}");
        let wanted: Vec<u8> = (0..8).flat_map(|page| [page; PAGE_BYTES]).collect();
        assert!(read_all(&mut paged).unwrap() == wanted, "{class:?}");
    }
}
