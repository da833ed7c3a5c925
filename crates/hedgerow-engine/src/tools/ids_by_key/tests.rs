//! Tests that keys name the same ids as in a map in memory, also if keys have equal hashes.

use std::collections::HashMap;
use std::hash::Hasher;

use hedgerow_core::VertexKey;
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use super::*;

/// A hasher with 16 hashes at the end of a table, so that the entries continue at the beginning of the table.
#[derive(Default)]
struct FewHashes;

struct FewHasher(u64);

impl BuildHasher for FewHashes {
    type Hasher = FewHasher;

    fn build_hasher(&self) -> FewHasher {
        FewHasher(0)
    }
}

impl Hasher for FewHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        u64::MAX - ((self.0 % 16) << 52)
    }
}

fn keys(number: u64) -> VertexKey {
    if number.is_multiple_of(2) { VertexKey::U64(number) } else { VertexKey::from(format!("key {number}")) }
}

/// Gives keys to vertices and removes vertices, as the operations of a log do. Compares the ids with a map.
fn compare<S: BuildHasher + Default>(seed: u64, memory: usize, of: u64) {
    let disk = SimFs::new();
    let directory = TemporaryDirectory::new(disk.handle(), "test");
    let mut vertices = VertexMap::new(&directory, memory);
    let mut ids: IdsByKey<S> = IdsByKey::new(&directory, memory, seed % 2 * of);
    let (mut wanted, mut key_of) = (HashMap::new(), HashMap::<u32, VertexKey>::new());
    let mut rng = SplitMix64::new(seed);
    for round in 0..6 * of {
        let (key, id) = (keys(rng.below(of)), rng.below(of) as u32);
        if let Some(before) = key_of.remove(&id) {
            vertices.remove(id).unwrap();
            wanted.remove(&before);
        }
        if rng.eighths(1) {
            continue;
        }
        let before = ids.insert(key.as_ref(), id, &mut vertices).unwrap();
        assert_eq!(before, wanted.insert(key.clone(), id), "round {round}");
        if let Some(before) = before {
            key_of.remove(&before);
            vertices.remove(before).unwrap();
        }
        vertices.insert(id, key.as_ref(), 0, false).unwrap();
        key_of.insert(id, key);
        assert!(!is_full(ids.taken, ids.bits));
    }
    assert!(ids.taken <= of, "{} entries of {of} keys", ids.taken);
    for key in (0..of).map(keys) {
        let hash = ids.hasher.hash_one(key.as_ref());
        let (_, found) = ids.find(hash, key.as_ref(), &mut vertices).unwrap();
        assert_eq!(found, wanted.get(&key).copied());
    }
    assert!(wanted.len() as u64 > of / 4, "{} keys", wanted.len());
    drop((ids, vertices));
    assert!(disk.files().is_empty(), "a file is left");
}

#[test]
fn keys_name_the_ids_that_they_were_given() {
    for seed in 0..4 {
        for memory in [0, 20_000, 1 << 30] {
            compare::<RandomState>(seed, memory, 2_000);
            compare::<FewHashes>(seed, memory, 300);
        }
    }
}
