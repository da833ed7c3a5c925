//! A history of operations on a store, and on a set of pairs: every read agrees, now, at the moments of old
//! snapshots, and after the store was opened again.
#![no_main]

use std::collections::BTreeSet;

use hedgerow::{Graph, Options, Snapshot, Thresholds};
use hedgerow_testkit::SimFs;
use libfuzzer_sys::fuzz_target;

/// The edges that there are.
type Model = BTreeSet<(u64, u64)>;

fn agree(snapshot: &Snapshot, model: &Model) {
    for src in 0..16 {
        for dst in 0..16 {
            let found = snapshot.contains_edge((src, dst)).expect("a snapshot reads");
            assert_eq!(found, model.contains(&(src, dst)), "{src} -> {dst}");
        }
    }
    assert_eq!(snapshot.edge_count().expect("a snapshot counts"), model.len() as u64);
}

fn open(disk: &SimFs) -> Graph {
    let options = Options::new().thresholds(Thresholds::SMALL).background_settling(false);
    options.open_on(disk.handle()).expect("a sound store opens")
}

fuzz_target!(|input: &[u8]| {
    let disk = SimFs::new();
    let (mut graph, mut model) = (open(&disk), Model::new());
    let mut held: Vec<(Snapshot, Model)> = Vec::new();
    // Two bytes an operation: what, and on which pair.
    for bytes in input.chunks_exact(2).take(400) {
        let (src, dst) = (u64::from(bytes[1] >> 4), u64::from(bytes[1] & 15));
        match bytes[0] % 16 {
            0..=8 => assert_eq!(graph.insert_edge((src, dst)).expect("a commit"), model.insert((src, dst))),
            9..=11 => assert_eq!(graph.remove_edge((src, dst)).expect("a commit"), model.remove(&(src, dst))),
            12 => {
                let mut txn = graph.write().expect("an open store");
                txn.remove_vertex(src).expect("a vertex, or none");
                txn.commit().expect("a commit");
                model.retain(|&(from, to)| from != src && to != src);
            }
            13 => held.push((graph.snapshot().expect("an open store"), model.clone())),
            14 => drop(graph.checkpoint().expect("a simulated disk")),
            _ => {
                held.drain(..).for_each(|(snapshot, model)| agree(&snapshot, &model));
                graph.close().expect("a simulated disk");
                graph = open(&disk);
            }
        }
    }
    agree(&graph.snapshot().expect("an open store"), &model);
    held.iter().for_each(|(snapshot, model)| agree(snapshot, model));
    assert!(graph.check().expect("an open store").is_ok());
});
