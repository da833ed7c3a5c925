//! The account of the memory of a store.

use hedgerow::{Durability, EdgeKey, KeyKind};
use hedgerow_testkit::{SimFs, wait_until};
use hedgerow_workload::rng::Rng;

use crate::common::account;

/// The account explains the memory of a store with data of every kind: text keys, two labels, ranks, and
/// properties of any width. The store also has removed vertices, open snapshots and views, and unwritten log
/// records.
pub(crate) fn the_account_explains_what_a_store_holds() {
    let disk = SimFs::new();
    let options = crate::common::small().keys(KeyKind::Str).durability(Durability::Manual);
    let graph = options.background_settling(false).open_on(disk.handle()).unwrap();
    graph.define_label("ranked", hedgerow::LabelOptions::new().multi(true)).unwrap();
    let mut rng = Rng::new(7);
    let mut held = Vec::new();
    for round in 0..30_u64 {
        let mut tx = graph.write().unwrap();
        for _ in 0..400 {
            let (src, dst) = (format!("vertex {}", rng.below(900)), format!("{}", rng.below(900)));
            match rng.below(6) {
                0 => {
                    let edge = EdgeKey::new("ranked", &src, &dst).rank(rng.below(9));
                    tx.put_edge_with(edge, [("text", "some words")]).unwrap();
                }
                1 => {
                    let edge = EdgeKey::new("", &src, &dst);
                    tx.put_edge_with(edge, [("number", rng.below(9) as i64)]).unwrap();
                }
                2 => tx.put_vertex_with(&src, [("name", format!("{src} of {round}"))]).unwrap(),
                3 => _ = tx.remove_vertex(&src).unwrap(),
                _ => tx.put_edge((&src, &dst)).unwrap(),
            }
        }
        tx.commit().unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert!(snapshot.default_label().view().unwrap().directed_edges() > 0);
        held.push(snapshot);
        let stats = account::check(&graph).unwrap();
        assert!(stats.view_bytes > 0 && stats.id_map_bytes > 0 && stats.table_bytes > 0);
        if round % 7 == 6 {
            held.clear();
            graph.settle().unwrap();
            account::check(&graph).unwrap();
        }
    }
    // Unwritten records are in memory. The test has appended at least this number of bytes since the last
    // write.
    let mut tx = graph.write().unwrap();
    (0..5_000).for_each(|v| tx.put_edge((&format!("more {v}"), "more")).unwrap());
    tx.commit().unwrap();
    let stats = account::check(&graph).unwrap();
    assert!(stats.log_buffer_bytes > 100_000, "{stats:?}");
    // A view ends with its last user. Another thread frees some of the views, and lists that a walk may still
    // read are freed later.
    held.clear();
    graph.forget_views();
    wait_until("the end of the views", || account::check(&graph).unwrap().view_bytes == 0);
}
