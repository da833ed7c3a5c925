//! Tests of reading keys while memory is full.

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{KeyColumn, KeyKind, VertexId};
use hedgerow_pager::limits::LEAST_MEMORY_LIMIT;
use hedgerow_testkit::SimFs;

use crate::config::Durability;
use crate::options::Options;

/// The number of vertices: a page and a part of the next one.
const VERTICES: u64 = 5_000;
/// The distance of the vertices that the test reads. They are on both pages, and too few to cause a read of
/// all keys.
const STEP: usize = 997;

fn options() -> Options {
    Options::new().keys(KeyKind::U64).durability(Durability::Manual).background_settling(false)
}

fn key(v: u64) -> u64 {
    v.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn files() -> SimFs {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    let mut tx = graph.write().unwrap();
    (0..VERTICES).for_each(|v| assert!(tx.insert_vertex(key(v)).unwrap()));
    tx.commit().unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    disk
}

/// The test fills memory with different data. If keys have most of it, reads do not try to keep more keys.
#[test]
fn keys_are_read_where_memory_has_no_room_to_keep_them() {
    let disk = files();
    for full_of in [Purpose::Arena, Purpose::Keys] {
        let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
        let (core, snapshot) = (&graph.engine.core, graph.snapshot().unwrap());
        let account = core.pager.account();
        let full = Charge::new(account, full_of, account.room() as usize);
        let used = || [Purpose::Keys, Purpose::Reads].map(|purpose| account.used_for(purpose));
        let before = used();
        let keys: Vec<u64> = (0..VERTICES).step_by(STEP).map(key).collect();
        let ids: Vec<VertexId> =
            keys.iter().map(|&key| snapshot.vertex_id(key).unwrap().expect("it is there")).collect();
        assert_eq!(snapshot.vertex_id(key(VERTICES)).unwrap(), None);
        assert_eq!(snapshot.vertex_keys(&ids).unwrap(), KeyColumn::U64(keys.clone()));
        for (&id, &key) in ids.iter().zip(&keys) {
            assert_eq!(core.keys.key_of(&core.pager, id).unwrap(), key.into());
        }
        // More keys of one page than one call reads at a time.
        let page: Vec<VertexId> = (0..4_000).map(VertexId).collect();
        assert_eq!(core.keys.find_keys_of(&core.pager, &page).unwrap().len(), page.len());
        assert_eq!(used(), before, "none of them is kept");
        drop(full);
        assert_eq!(snapshot.vertex_id(keys[1]).unwrap(), Some(ids[1]));
        assert!(core.keys.ids.knows(ids[1]), "what there is room for is");
    }
}
