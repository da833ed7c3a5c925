//! Tests of the sorter: records come back sorted through any number of sorted files, and damage in these is
//! found.

use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use super::*;

type Records = Vec<(Vec<u8>, Vec<u8>)>;

fn read(sorted: &Sorted) -> Result<Records, TierError> {
    let mut merge = sorted.merge()?;
    let mut all = Vec::new();
    while let Some(record) = merge.next_record()? {
        all.push((record.key.to_vec(), record.payload.to_vec()));
    }
    Ok(all)
}

/// Returns random records. A few are longer than a chunk, a block, or the range of a length of one byte.
fn records(count: u64, seed: u64) -> Records {
    let mut rng = SplitMix64::new(seed);
    let mut record = |i: u64| {
        let mut key = vec![0; rng.below(4) as usize];
        key.fill_with(|| rng.below(3) as u8);
        key.extend(i.to_be_bytes());
        let len = if rng.below(500) == 0 { rng.below(20_000) } else { rng.below(300) };
        (key, vec![i as u8; len as usize])
    };
    (0..count).map(&mut record).collect()
}

fn sort(disk: &SimFs, memory: usize, records: &Records) -> (Sorted, u64) {
    let directory = TemporaryDirectory::new(disk.handle(), "sort");
    let mut sorter = Sorter::new(&directory, memory);
    records.iter().for_each(|(key, payload)| sorter.push(key, payload).unwrap());
    (sorter.finish().unwrap(), directory.made())
}

#[test]
fn records_come_back_in_order() {
    let mut wanted = records(20_000, 1);
    let disk = SimFs::new();
    for (memory, runs) in [(0, 300..5_000), (1 << 20, 2..16), (1 << 30, 0..1)] {
        let (sorted, made) = sort(&disk, memory, &wanted);
        assert!(runs.contains(&made), "{memory}: {made} runs");
        assert!(sorted.runs.len() <= FAN_IN, "{} runs are merged at a time", sorted.runs.len());
        let mut once = wanted.clone();
        once.sort();
        assert!(read(&sorted).unwrap() == once, "{memory}");
        assert!(read(&sorted).unwrap() == once, "{memory}: read again");
        drop(sorted);
        assert!(disk.files().is_empty(), "runs are left");
    }
    wanted.clear();
    assert!(read(&sort(&disk, 0, &wanted).0).unwrap().is_empty());
}

#[test]
fn a_damaged_run_is_found() {
    let wanted = records(500, 2);
    let mut found = 0;
    for seed in 0..200 {
        let disk = SimFs::new();
        let (sorted, _) = sort(&disk, 0, &wanted);
        let mut rng = SplitMix64::new(seed);
        let files = disk.files();
        let (name, bytes) = files.iter().nth(rng.below(files.len() as u64) as usize).unwrap();
        disk.corrupt(name, rng.below(bytes.len() as u64), 1 << rng.below(8));
        match read(&sorted) {
            Err(error) if error.corruption().is_some() => found += 1,
            other => panic!("{seed}: {:?}", other.map(|all| all.len())),
        }
    }
    assert_eq!(found, 200);
}

#[test]
fn numbers_keep_their_order() {
    let numbers = [0, 1, 255, 256, 65_535, 1 << 40, u64::MAX - 1, u64::MAX];
    let bytes = numbers.map(|number| {
        let mut bytes = Vec::new();
        put_ordered(&mut bytes, number);
        assert_eq!(take_ordered(&mut &bytes[..]), Some(number));
        bytes
    });
    assert!(bytes.is_sorted_by(|a, b| a < b), "{bytes:?}");
}
