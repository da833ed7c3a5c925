//! Tests of tables and their pages.

use hedgerow_core::{LocalVertex, VertexId};

use super::*;
use crate::op::EdgeOp;
use crate::reclaim::testing::KeepAll;
use crate::{Main, Ops, subgraph::LocalOp};

const NOW: Timestamp = Timestamp(9);

fn of(page: usize) -> SubgraphId {
    SubgraphId((page * PAGE) as u32)
}

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

#[test]
fn a_far_id_costs_a_page_not_a_table() {
    let (table, hold) = (SubgraphTable::default(), Hold::none());
    assert!(table.get(SubgraphId(u32::MAX >> 6), hold).is_none());
    assert!(table.get_or_create(SubgraphId(u32::MAX >> 6), hold).is_ok());
    assert!(table.get(SubgraphId(u32::MAX >> 6), hold).is_some());
    assert!(table.bytes() < 256 << 10, "{}", table.bytes());
    assert!(table.get_or_create(SubgraphId(3), hold).is_ok());
    let existing: Vec<u32> = table.existing().map(|id| id.0).collect();
    assert_eq!(existing.len(), 2 * PAGE);
    assert_eq!((existing[0], existing[2 * PAGE - 1]), (0, u32::MAX >> 6));
}

/// A stored page is neither treated as empty nor made again. It is not in memory until a thread loads it. A
/// second load is refused.
#[test]
fn a_stored_page_is_not_in_memory_until_it_is_loaded() {
    let (table, hold) = (SubgraphTable::with_stored(Memory::default(), (vec![9, 2, 2], NOW)), Hold::none());
    assert!(!table.all_loaded() && table.unloaded().eq([2, 9]));
    assert!(matches!(table.find(of(2), hold), Err(NotInMemory)) && table.get(of(2), hold).is_none());
    assert!(matches!(table.find(of(3), hold), Ok(None)) && table.is_absent(3) && !table.is_absent(2));
    assert!(table.get_or_create(of(3), hold).is_ok());
    assert!(table.existing().count() == PAGE && table.possible().count() == 3 * PAGE);
    assert!(table.numbers().eq([2, 3, 9]));
    let page = || table.new_page(PAGE);
    let stored = table.stored_page(2).unwrap();
    assert_eq!(stored, Stored { since: NOW, was_loaded: false });
    assert!(table.load(2, stored, page()) && !table.load(2, stored, page()), "the first one stays");
    assert!(matches!(table.find(of(2), hold), Ok(Some(_))) && table.unloaded().eq([9]));
    assert!(table.get_or_create(of(9), hold).is_err() && table.is_unloaded(9));
    assert!(table.load(9, table.stored_page(9).unwrap(), page()));
    assert!(table.all_loaded() && table.possible().map(|id| id.0).is_sorted());
}

fn evictable() -> SubgraphTable {
    SubgraphTable::evictable(Memory::default(), (Vec::new(), Timestamp::ZERO))
}

fn evict(table: &SubgraphTable, number: usize) -> Option<u64> {
    let hold = table.hold();
    let page = table.page(number, &hold)?;
    table.evict_page(number, (page, &[Direction::Out]), |_| true)
}

/// A page is evicted after its chains. It stays readable under a hold, and is loaded again with marks.
#[test]
fn a_page_without_chains_is_evicted_and_loaded_again() {
    let table = evictable();
    let account = table.memory().account().clone();
    let hold = table.hold();
    let subgraph = table.get_or_create(of(5), &hold).unwrap();
    let op = LocalOp { local: LocalVertex(0), op: EdgeOp::Insert, dst: VertexId(1), weight: 1.0 };
    let mut latched = subgraph.latch();
    let _ = latched.apply(Direction::Out, Ops::plain(&[op]), NOW, &KeepAll);
    drop(latched);
    assert_eq!(evict(&table, 5), None, "a chain is in memory");
    subgraph.latch().evict(Direction::Out);
    let latched = subgraph.latch();
    assert_eq!(evict(&table, 5), None, "a latch is held");
    drop(latched);
    let refused = |since: Timestamp| {
        assert_eq!(since, NOW);
        false
    };
    let page = table.page(5, &hold).unwrap();
    assert_eq!(table.evict_page(5, (page, &[Direction::Out]), refused), None);
    let before = account.used();
    assert_eq!(evict(&table, 5), Some(1));
    assert!(!table.free_pages() && account.used() == before, "a hold keeps it");
    assert!(!page[7].is_resident(), "a chain that never had a version has the mark too");
    let main = Main::from_parts(0, &[0; 65], &[], None, table.arena()).unwrap();
    assert!(!page[0].latch().reload(Direction::Out, main), "nothing comes back to it");
    assert!(matches!(table.find(of(5), &hold), Err(NotInMemory)));
    assert!(table.get_or_create(of(5), &hold).is_err() && !table.is_absent(5));
    drop(hold);
    assert!(frees_pages(&table) && account.used() <= before - SubgraphPage::bytes() as u64);
    let stored = table.stored_page(5).unwrap();
    assert_eq!(stored, Stored { since: NOW, was_loaded: true });
    assert!(table.numbers().eq([5]) && table.unloaded().eq([5]) && !table.all_loaded());
    let page = table.marked_page(stored, &[Direction::Out]);
    assert!(table.load(5, stored, page) && table.all_loaded());
    let hold = table.hold();
    let page = table.page(5, &hold).unwrap();
    assert!(page.iter().all(|it| !it.is_resident() && it.stamp().applied() == NOW));
}

/// One thread looks at a page again and again while another thread loads it. Files held the page when the
/// table was made. So the first thread finds the page stored or loaded, and never absent.
#[test]
fn a_page_that_is_loaded_for_the_first_time_never_looks_absent() {
    const ROUNDS: usize = 20_000;
    let memory = Memory::default();
    for _ in 0..ROUNDS / 1000 {
        let table = || SubgraphTable::with_stored(memory.clone(), (vec![0], NOW));
        let tables: Vec<SubgraphTable> = (0..1000).map(|_| table()).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for table in &tables {
                    let stored = table.stored_page(0).unwrap();
                    assert!(table.load(0, stored, table.new_page(1)));
                }
            });
            for table in &tables {
                while table.find(SubgraphId(0), Hold::none()).map_or(true, |found| {
                    assert!(found.is_some(), "a stored page looks absent");
                    false
                }) {}
            }
        });
    }
}

/// Views recognise the versions that they have copied by the numbers of the versions. If files have no image
/// of a chain, the chain is loaded without a version. Its next version must not get the number of an earlier
/// version.
#[test]
fn a_chain_that_was_loaded_as_empty_gets_versions_of_new_numbers() {
    let subgraph = Subgraph::default();
    let apply = |op, ts| {
        let op = LocalOp { local: LocalVertex(0), op, dst: VertexId(1), weight: 1.0 };
        let ops = [op];
        let _ = subgraph.latch().apply(Direction::Out, Ops::plain(&ops), Timestamp(ts), &KeepAll);
        subgraph.version(Direction::Out, Timestamp(ts)).unwrap().unwrap().number
    };
    let before = [apply(EdgeOp::Insert, 1), apply(EdgeOp::Remove, 2)];
    subgraph.latch().evict(Direction::Out);
    assert!(subgraph.latch().reload_empty(Direction::Out) && subgraph.is_resident());
    assert!(!subgraph.latch().reload_empty(Direction::Out), "it is in memory");
    assert!(!before.contains(&apply(EdgeOp::Insert, 3)));
}

#[test]
#[should_panic(expected = "without a hold")]
fn pages_that_may_be_evicted_need_a_hold() {
    let _ = evictable().get(of(0), Hold::none()).is_some();
}
