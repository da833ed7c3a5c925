//! Stores with many labels within a small memory limit: pages of tables leave memory, and are loaded again
//! (rule P6 of `docs/design/pages.md`).

use std::collections::BTreeSet;

use hedgerow::{Direction, Durability, EdgeKey, KeyKind, LEAST_MEMORY_LIMIT, Options, Snapshot, VertexId};
use hedgerow_core::{LocalVertex, SubgraphId, Timestamp};
use hedgerow_mem::op::LocalOp;
use hedgerow_mem::{EdgeOp, Main, Memory, Ops, SubgraphPage, SubgraphTable};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::common;
use crate::cooled_copies::Nobody;

const OUT: Direction = Direction::Out;
const ID: SubgraphId = SubgraphId(5 * 64 + 3);

/// Frees the evicted pages of a table; false if some are left after a second. Holds of other tests of this
/// process delay that.
fn frees_pages(table: &SubgraphTable) -> bool {
    (0..10_000).any(|_| {
        let is_free = table.free_pages();
        if !is_free {
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        is_free
    })
}

/// Tests that an evicted page stays readable under a hold, and that no chain is loaded into it: another page
/// may have its place.
pub(crate) fn a_page_that_left_stays_under_a_hold_and_is_not_filled() {
    let table = SubgraphTable::evictable(Memory::default(), (Vec::new(), Timestamp::ZERO));
    let account = table.memory().account().clone();
    let hold = table.hold();
    let chain = table.get_or_create(ID, &hold).unwrap();
    let op = LocalOp { local: LocalVertex(0), op: EdgeOp::Insert, dst: VertexId(1), weight: 0.0 };
    let _ = chain.latch().apply(OUT, Ops::plain(&[op]), Timestamp(1), &Nobody);
    let evict = || table.evict_page(5, (table.page(5, &hold).unwrap(), &[OUT]), |_| true);
    assert_eq!(evict(), None, "a chain is in memory");
    chain.latch().evict(OUT);
    assert_eq!(evict(), Some(1));
    let before = account.used();
    assert!(!table.free_pages() && account.used() == before, "a page is freed under a hold");
    let image = Main::from_parts(0, &[0; 65], &[], None, table.arena()).unwrap();
    assert!(!chain.latch().reload(OUT, image), "a page that left is filled");
    drop(hold);
    assert!(frees_pages(&table));
    assert!(account.used() + SubgraphPage::bytes() as u64 <= before);
}

const LABELS: u64 = 40;
const VERTICES: u64 = 400_000;

type Edges = BTreeSet<(u64, u64, u64)>;

fn label(number: u64) -> String {
    format!("l{number}")
}

/// Compares all edges of three labels in a snapshot with the expected edges.
fn compare_labels(snapshot: &Snapshot, expected: &Edges, rng: &mut SplitMix64) {
    for number in [rng.below(LABELS), rng.below(LABELS), rng.below(LABELS)] {
        let mut all = Edges::new();
        snapshot
            .for_each_edge(&*label(number), |e| _ = all.insert((number, e.src().0.into(), e.dst().0.into())))
            .unwrap();
        assert!(all.iter().eq(expected.range((number, 0, 0)..(number + 1, 0, 0))), "label {number}");
    }
}

/// Compares point reads of a snapshot with the expected edges.
fn compare(snapshot: &Snapshot, expected: &Edges, rng: &mut SplitMix64, reads: usize) {
    for _ in 0..reads {
        let from = (rng.below(LABELS), rng.below(VERTICES), 0);
        let some = expected.range(from..).next().or(expected.first()).copied();
        let (number, a, b) = some.unwrap_or(from);
        let (of, c) = (label(number), rng.below(VERTICES));
        assert!(snapshot.contains_edge(EdgeKey::new(&*of, a, b)).unwrap(), "{of} {a} {b} is lost");
        let is_there = snapshot.contains_edge(EdgeKey::new(&*of, a, c)).unwrap();
        assert_eq!(is_there, expected.contains(&(number, a, c)), "{of} {a} {c}");
        let degree = snapshot.degree(a, (&*of, OUT)).unwrap();
        let listed = expected.range((number, a, 0)..=(number, a, u64::MAX)).count();
        assert_eq!(degree, Some(listed), "{of} {a}");
    }
}

fn options() -> Options {
    let options = Options::new().keys(KeyKind::Dense).durability(Durability::Manual);
    options.memory_limit(LEAST_MEMORY_LIMIT).checkpoint_log_bytes(1 << 20)
}

/// Compares the reported changes between two snapshots, in one label, with the differences of their expected
/// edges.
fn compare_changes(number: u64, (earlier, before): (&Snapshot, &Edges), (later, after): (&Snapshot, &Edges)) {
    let changes = later.changes_since(earlier, &*label(number)).unwrap();
    let found: Vec<_> =
        changes.edges.iter().map(|edge| (u64::from(edge.src.0), u64::from(edge.dst.0))).collect();
    let of_label =
        |edges: &Edges| edges.range((number, 0, 0)..(number + 1, 0, 0)).copied().collect::<Edges>();
    let (before, after) = (of_label(before), of_label(after));
    let expected: Vec<_> = before.symmetric_difference(&after).map(|&(_, a, b)| (a, b)).collect();
    assert!(found == expected, "label {number}: {} and {} changes", found.len(), expected.len());
}

/// Tests commits whose pages together take several times the limit. No commit is refused. All reads see the
/// expected edges, and so do reads of a held snapshot. Checkpoints, `compact`, a backup and `check` find each
/// page.
pub(crate) fn commits_over_many_labels_go_on_within_a_small_limit() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    let mut rng = SplitMix64::new(8);
    let (mut expected, mut held) = (Edges::new(), None::<(Snapshot, Edges)>);
    let mut most_pages = 0;
    for round in 0..400 {
        let number = round % LABELS;
        let of = label(number);
        if round < LABELS {
            graph.define_label(&of, hedgerow::LabelOptions::new()).unwrap();
        }
        let mut tx = graph.write().unwrap();
        for _ in 0..100 {
            let (a, b) = (rng.below(VERTICES), rng.below(VERTICES));
            tx.put_edge_with(EdgeKey::new(&*of, a, b), [] as [(&str, i64); 0]).unwrap();
            expected.insert((number, a, b));
        }
        let removed: Vec<_> = expected.range((number, rng.below(VERTICES), 0)..).take(20).copied().collect();
        for edge @ (of, a, b) in removed {
            assert!(tx.remove_edge(EdgeKey::new(&*label(of), a, b)).unwrap());
            expected.remove(&edge);
        }
        tx.commit().unwrap();
        most_pages = most_pages.max(graph.stats().unwrap().table_bytes);
        if round % 40 == 17 {
            compare(&graph.snapshot().unwrap(), &expected, &mut rng, 20);
            if let Some((snapshot, seen)) = &held {
                compare(snapshot, seen, &mut rng, 20);
            }
        }
        match round {
            100 | 250 => held = Some((graph.snapshot().unwrap(), expected.clone())),
            200 => _ = graph.compact().unwrap(),
            _ => {}
        }
    }
    assert!(most_pages < LEAST_MEMORY_LIMIT, "{most_pages}");
    let (snapshot, seen) = held.unwrap();
    compare_labels(&snapshot, &seen, &mut rng);
    let later = graph.snapshot().unwrap();
    (0..3).for_each(|label| compare_changes(label, (&snapshot, &seen), (&later, &expected)));
    drop((snapshot, later));
    compare_labels(&graph.snapshot().unwrap(), &expected, &mut rng);
    let backup = SimFs::new();
    graph.backup_on(backup.handle()).unwrap();
    let report = graph.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    common::account::check(&graph).unwrap();
    graph.close().unwrap();
    for disk in [disk, backup] {
        let graph = options().open_on(disk.handle()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.edge_count().unwrap(), expected.len() as u64);
        compare_labels(&snapshot, &expected, &mut rng);
        drop(snapshot);
        graph.close().unwrap();
    }
}
