//! Tests that vertices are found as they were written, also with ids far apart, and with the least memory.

use std::collections::BTreeMap;

use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use super::*;

fn random_key(rng: &mut SplitMix64) -> VertexKey {
    let most = if rng.eighths(1) { 3_000 } else { 9 };
    let text = "aé".repeat(rng.below(most) as usize);
    let plain = if rng.eighths(4) { VertexKey::U64(rng.next_u64()) } else { VertexKey::from(text) };
    plain.with_kind(KindId(rng.below(3) as u8 * 127))
}

#[test]
fn vertices_are_found_as_they_were_written() {
    for memory in [0, 40_000, 1 << 30] {
        let disk = SimFs::new();
        let mut map = VertexMap::new(&TemporaryDirectory::new(disk.handle(), "test"), memory);
        let mut wanted: BTreeMap<u32, (VertexKey, FoundVertex)> = BTreeMap::new();
        let mut begun: BTreeMap<u32, u32> = BTreeMap::new();
        let mut rng = SplitMix64::new(memory as u64);
        for round in 0..4_000_u32 {
            let id = [0, 1 << 20, u32::MAX - 299][rng.below(3) as usize] + rng.below(300) as u32;
            let known = wanted.get(&id).cloned();
            match (rng.below(8), known) {
                (0..3, _) => {
                    let (key, bare) = (random_key(&mut rng), rng.eighths(4));
                    map.insert(id, key.as_ref(), round, bare).unwrap();
                    let vertex = map.get(id).unwrap().unwrap();
                    assert_eq!(
                        (vertex.kind, vertex.era, vertex.properties, vertex.bare),
                        (key.kind(), round, None, bare)
                    );
                    wanted.insert(id, (key, vertex));
                }
                (3, known) => {
                    wanted.remove(&id);
                    assert_eq!(map.remove(id).unwrap(), known.is_some());
                }
                (4, _) => {
                    begun.insert(id, round);
                    map.set_begun(id, round).unwrap();
                }
                (5, Some((key, mut vertex))) => {
                    vertex.properties = Some(round).filter(|_| rng.eighths(6));
                    vertex.id = VertexId(round);
                    map.update(id, &vertex).unwrap();
                    wanted.insert(id, (key, vertex));
                }
                (_, known) => {
                    let found = map.get(id).unwrap();
                    assert_eq!(found, known.as_ref().map(|(_, vertex)| *vertex), "round {round}");
                    if let (Some(vertex), Some((key, _))) = (found, known) {
                        assert_eq!(map.key(&vertex).unwrap(), key, "round {round}");
                        assert_eq!(
                            vertex.has_text_key(),
                            matches!(key, VertexKey::Str(_) | VertexKey::KindStr(..))
                        );
                    }
                    assert_eq!(map.begun(id).unwrap(), begun.get(&id).copied().unwrap_or(0), "round {round}");
                }
            }
        }
        assert_eq!(map.len(), wanted.len() as u64);
        let mut cursor = VertexCursor::default();
        for (&id, (key, vertex)) in &wanted {
            assert_eq!(cursor.next(&mut map).unwrap(), Some((id, *vertex)));
            assert_eq!(map.key(vertex).unwrap(), *key);
        }
        assert_eq!(cursor.next(&mut map).unwrap(), None);
        assert_eq!(disk.files().is_empty(), memory == 1 << 30, "{memory}");
    }
}
