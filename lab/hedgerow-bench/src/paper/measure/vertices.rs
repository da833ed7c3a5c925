//! Indexes of vertices: a dense array, a hash table and a tree alone, and the vertices of each engine.

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::time::Instant;

use hedgerow_core::VertexId;
use hedgerow_subjects::{Engine, open};
use hedgerow_workload::rng::Rng;

use super::super::bench::{Bench, on};
use crate::record::Record;
use crate::suite::Measured;
use hedgerow_report::failure::Result;

/// The number of vertices, as a power of two: without `--quick`, and with it. It is never more than the
/// number of edges of the graph.
const VERTICES: (u32, u32) = (22, 20);

/// The measured index: an index alone, or the index of an engine.
enum Index {
    Dense,
    Hash,
    Tree,
    Of(Engine),
}

/// Measures the indexes.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let most = if bench.quick { VERTICES.1 } else { VERTICES.0 };
    let count = 1u32 << most.min(bench.edges.len().max(2).ilog2());
    let mut rng = Rng::new(31);
    let asked: Vec<u32> = (0..count).map(|_| rng.below(u64::from(count)) as u32).collect();
    let mut indexes =
        vec![("dynamic array", Index::Dense), ("hash table", Index::Hash), ("tree", Index::Tree)];
    indexes.extend(bench.engines().into_iter().map(|engine| (engine.name(), Index::Of(engine))));
    let records = bench.rounds(
        "vertices",
        bench.work.options.repeat(),
        indexes,
        |name, index, measured| match index {
            Index::Dense => {
                let scan = |all: &Vec<u32>| all.iter().copied().map(u64::from).sum::<u64>();
                by_itself(name, &asked, measured, Vec::new(), Vec::push, |all, v| all[v as usize], scan)
            }
            Index::Hash => by_itself(
                name,
                &asked,
                measured,
                HashMap::<u32, u32>::new(),
                |all, v| {
                    all.insert(v, v);
                },
                |all, v| all[&v],
                |all| all.values().copied().map(u64::from).sum(),
            ),
            Index::Tree => by_itself(
                name,
                &asked,
                measured,
                BTreeMap::<u32, u32>::new(),
                |all, v| {
                    all.insert(v, v);
                },
                |all, v| all[&v],
                |all| all.values().copied().map(u64::from).sum(),
            ),
            Index::Of(engine) => of_engine(name, *engine, bench, &asked, measured),
        },
    )?;
    Ok(on(&format!("{count} vertices"), records))
}

/// Measures an index of the ids `0..asked.len()`; each id leads to itself.
fn by_itself<I>(
    name: &'static str,
    asked: &[u32],
    measured: &mut Measured,
    mut index: I,
    insert: impl Fn(&mut I, u32),
    search: impl Fn(&I, u32) -> u32,
    scan: impl Fn(&I) -> u64,
) -> Result<()> {
    let rate = |begun: Instant| asked.len() as f64 / begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    (0..asked.len() as u32).for_each(|v| insert(&mut index, v));
    measured.add(name, "insert of a vertex", "1/s", 1, rate(begun));
    let begun = Instant::now();
    black_box(asked.iter().map(|&v| u64::from(search(&index, v))).sum::<u64>());
    measured.add(name, "search of a vertex", "1/s", 1, rate(begun));
    let begun = Instant::now();
    black_box(scan(&index));
    measured.add(name, "scan of vertices", "1/s", 1, rate(begun));
    Ok(())
}

/// Inserts the vertices of an engine, many to a transaction, and searches for them at random.
fn of_engine(
    name: &'static str,
    engine: Engine,
    bench: &Bench<'_>,
    asked: &[u32],
    measured: &mut Measured,
) -> Result<()> {
    let subject = open(engine, bench.form)?;
    let rate = |begun: Instant| asked.len() as f64 / begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    subject.insert_vertices(asked.len())?;
    measured.add(name, "insert of a vertex", "1/s", 1, rate(begun));
    let snapshot = subject.snapshot()?;
    let vertices: Vec<VertexId> = asked.iter().copied().map(VertexId).collect();
    let begun = Instant::now();
    let found = snapshot.contains(&vertices);
    measured.add(name, "search of a vertex", "1/s", 1, rate(begun));
    if found != asked.len() {
        return Err(format!("{name} finds {found} of {} vertices", asked.len()).into());
    }
    Ok(())
}
