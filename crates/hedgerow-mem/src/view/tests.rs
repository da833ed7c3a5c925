use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::{LocalVertex, RowRef, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::Ops;
use crate::op::Attributes;
use crate::reclaim::testing::KeepAll;
use crate::subgraph::LocalOp;
use crate::{Arena, EdgeOp, Hold, Memory, PatchSizes, SubgraphTable};

type Edges = BTreeMap<(u32, u32), f64>;

/// A table, and the state of a model after each commit.
struct World {
    table: SubgraphTable,
    weighted: bool,
    states: Vec<(Edges, BTreeSet<u32>)>,
}

const BOUND: usize = 9000;

impl World {
    fn new(weighted: bool) -> World {
        World::with_patches(weighted, PatchSizes::SMALL)
    }

    fn with_patches(weighted: bool, sizes: PatchSizes) -> World {
        let arena = Arena::new().with_patch_sizes(sizes);
        let table = SubgraphTable::new(Memory::new(arena)).with_weights(weighted);
        World { table, weighted, states: vec![<_>::default()] }
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.states.len() as u64 - 1)
    }

    /// Inserts, reweighs or removes the edge in a commit. If it cannot remove it, marks the subgraph.
    fn commit(&mut self, src: u32, dst: u32, remove: bool) {
        let (mut edges, mut marks) = self.states[self.states.len() - 1].clone();
        let ts = Timestamp(self.states.len() as u64);
        let weight = ts.0 as f64;
        let op = match (edges.contains_key(&(src, dst)), remove) {
            (true, true) => EdgeOp::Remove,
            (true, false) => EdgeOp::Update,
            (false, false) => EdgeOp::Insert,
            (false, true) => EdgeOp::Vertex,
        };
        let src_id = VertexId(src);
        let mut local_op = LocalOp { local: src_id.local(), op, dst: VertexId(dst), weight };
        match op {
            EdgeOp::Remove => _ = edges.remove(&(src, dst)),
            EdgeOp::Vertex => {
                // Vertex 64 * k represents the mark of subgraph k.
                local_op = LocalOp { local: LocalVertex(0), op, dst: VertexId(1), weight: 0.0 };
                marks.insert(src >> 6);
            }
            _ => _ = edges.insert((src, dst), weight),
        }
        let mut latched = self.table.get_or_create(src_id.subgraph(), Hold::none()).unwrap().latch();
        let _ = latched.apply(Direction::Out, Ops::plain(&[local_op]), ts, &KeepAll);
        drop(latched);
        self.states.push((edges, marks));
    }

    /// Inserts new edges of the vertices of one subgraph in one commit.
    fn commit_all(&mut self, new: &[(u32, u32)]) {
        let (mut edges, marks) = self.states[self.states.len() - 1].clone();
        let ts = Timestamp(self.states.len() as u64);
        let weight = ts.0 as f64;
        edges.extend(new.iter().map(|&edge| (edge, weight)));
        self.apply(new, ts);
        self.states.push((edges, marks));
    }

    /// Inserts new edges of the vertices of one subgraph under one latch, at `ts`. Does not change the model.
    fn apply(&mut self, new: &[(u32, u32)], ts: Timestamp) {
        let weight = ts.0 as f64;
        let op = |&(src, dst): &(u32, u32)| LocalOp {
            local: VertexId(src).local(),
            op: EdgeOp::Insert,
            dst: VertexId(dst),
            weight,
        };
        let ops: Vec<LocalOp> = new.iter().map(op).collect();
        let subgraph = self.table.get_or_create(VertexId(new[0].0).subgraph(), Hold::none()).unwrap();
        let _ = subgraph.latch().apply(Direction::Out, Ops::plain(&ops), ts, &KeepAll);
    }

    fn settle(&mut self, subgraph: u32) {
        if let Some(subgraph) = self.table.get(SubgraphId(subgraph), Hold::none()) {
            let _ = subgraph.latch().settle(Direction::Out, false, &KeepAll);
        }
    }

    fn refresh(&self, view: Option<Arc<View>>, t: Timestamp) -> (View, u32) {
        let (mut out, into) = view.map(View::into_sides).unwrap_or_default();
        let page =
            |i| Page { lists: self.table.page(i, Hold::none()), existence: self.table.page(i, Hold::none()) };
        let read = out.refresh(BOUND, page, Direction::Out, t, self.weighted).unwrap();
        let shape = Shape { weighted: self.weighted, vertex_bound: BOUND, ..Shape::default() };
        (View::new(shape, out, into), read)
    }

    fn check(&self, view: &View, t: Timestamp) {
        let (edges, marks) = &self.states[t.0 as usize];
        let mut seen = Edges::new();
        for v in (0..BOUND as u32).map(VertexId) {
            let block = view.block(v.subgraph(), Direction::Out);
            let list: Vec<VertexId> = block.neighbors(v.local()).iter().collect();
            assert_eq!(list.len(), view.degree(v, Direction::Out));
            let mut weighted = Vec::new();
            view.for_each_weighted(v, Direction::Out, |u, w| {
                weighted.push(u);
                seen.insert((v.0, u.0), w);
            });
            assert_eq!(list, weighted);
        }
        let ids = |edges: &Edges| edges.keys().copied().collect::<Vec<_>>();
        assert_eq!(ids(&seen), ids(edges), "at {t:?}");
        if self.weighted {
            assert_eq!(&seen, edges, "at {t:?}");
        }
        assert_eq!(view.directed_edges(), edges.len() as u64);
        let live: Vec<u32> = view.vertices().map(|v| v.0).collect();
        let expected: Vec<u32> = marks.iter().map(|i| i * 64).collect();
        assert_eq!(live, expected, "at {t:?}");
        assert_eq!(view.vertex_count(), expected.len());
    }
}

#[derive(Clone, Debug)]
enum Step {
    Commit(u32, u32, bool),
    Settle(u32),
    /// Makes the next view at this share of all timestamps, and keeps the view before it or not.
    View(f64, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few sources, so that deltas fill up and merge. The sources are on both sides of a chunk's end.
    let source = prop_oneof![0..3u32, 62..66u32, 4094..4098u32, Just(8999u32)];
    let step = prop_oneof![
        12 => (source, 0..12u32, any::<bool>()).prop_map(|(s, d, r)| Step::Commit(s, d, r)),
        1 => prop_oneof![Just(0u32), Just(1), Just(63), Just(64)].prop_map(Step::Settle),
        2 => (0.0..1.3f64, any::<bool>()).prop_map(|(at, keep)| Step::View(at.min(1.0), keep)),
    ];
    proptest::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_view_made_of_another_is_exact(steps in steps(), weighted in any::<bool>()) {
        let mut world = World::new(weighted);
        let mut kept: Vec<(Arc<View>, Timestamp)> = Vec::new();
        let mut last: Option<(Arc<View>, Timestamp)> = None;
        for step in steps {
            match step {
                Step::Commit(src, dst, remove) => world.commit(src, dst, remove),
                Step::Settle(subgraph) => world.settle(subgraph),
                Step::View(share, keep) => {
                    let t = Timestamp((share * world.now().0 as f64).round() as u64);
                    if let Some(one) = last.as_ref().filter(|_| keep) {
                        kept.push(one.clone());
                    }
                    let (view, _) = world.refresh(last.take().map(|l| l.0), t);
                    world.check(&view, t);
                    let again = Arc::new(view);
                    let (same, read) = world.refresh(Some(again.clone()), t);
                    let (changed, _) = world.refresh(None, t);
                    prop_assert_eq!(same.directed_edges(), changed.directed_edges());
                    prop_assert!(t < world.now() || read == 0, "nothing changed, {} read", read);
                    last = Some((again, t));
                }
            }
        }
        kept.iter().for_each(|(view, t)| world.check(view, *t));
    }
}

#[test]
fn a_refresh_reads_what_changed_and_shares_the_rest() {
    let mut world = World::new(false);
    for v in 0..BOUND as u32 {
        world.commit(v, v + 1, false);
    }
    let (first, read) = world.refresh(None, world.now());
    assert_eq!(read, 3 * 64, "all that have a page");
    let first = Arc::new(first);
    for v in [5, 6, 70, 5000] {
        world.commit(v, v + 2, false);
    }
    let (second, read) = world.refresh(Some(first.clone()), world.now());
    assert_eq!(read, 3);
    let shared: Vec<bool> =
        first.out.chunks.iter().zip(&second.out.chunks).map(|(a, b)| Arc::ptr_eq(a, b)).collect();
    assert_eq!(shared, [false, false, true]);
    assert_eq!((first.directed_edges(), second.directed_edges()), (9000, 9004));

    // A refresh changes the chunks in place if no other view shares them.
    let before: Vec<*const Chunk> = second.out.chunks.iter().map(Arc::as_ptr).collect();
    drop(first);
    world.commit(7, 9, false);
    let (third, read) = world.refresh(Some(Arc::new(second)), world.now());
    assert_eq!(read, 1);
    assert!(third.out.chunks.iter().map(Arc::as_ptr).eq(before));

    // Settling changes no content, but a refresh reads the subgraph again.
    world.settle(0);
    let (_, read) = world.refresh(Some(Arc::new(third)), world.now());
    assert_eq!(read, 1);
}

#[test]
fn corrections_are_right_however_many_there_are() {
    // The main part is so large that a delta is never a share at which a view copies lists, nor becomes a
    // patch.
    let mut world = World::with_patches(false, PatchSizes { from: usize::MAX, ..PatchSizes::default() });
    world.commit_all(&(0..40_000).map(|i| (64 + i * 7 % 64, i * 3)).collect::<Vec<_>>());
    world.settle(1);
    let mut last = None;
    // A delta of 200 entries. The corrections are stored in place or not, and sorted in different ways.
    for i in 0..160 {
        world.commit(64 + i * 29 % 64, 5000 + i * 11 % 97, i % 3 == 0);
        if i % 4 == 1 {
            world.commit(64 + i * 7 % 64, i * 3, true);
        }
        let (view, read) = world.refresh(last.take(), world.now());
        world.check(&view, world.now());
        assert!(i == 0 || read == 1, "{read} read");
        assert_eq!(view.out.chunks[0].copy(1), None);
        last = Some(Arc::new(view));
    }
}

#[test]
fn a_delta_that_is_a_large_share_is_copied_once_and_what_comes_after_it_corrects_the_copy() {
    for weighted in [false, true] {
        let mut world = World::new(weighted);
        for i in 0..1400 {
            world.commit(64 + i * 7 % 64, i * 3, false);
        }
        world.settle(1);
        let mut last: Option<Arc<View>> = None;
        let mut copies = BTreeSet::new();
        for i in 0..38 {
            // A vertex begins to exist before the copy. Edges are inserted and removed after it.
            world.commit(64 + i * 29 % 64, 5000 + i * 11 % 31, i == 0 || i % 5 == 4);
            let (view, _) = world.refresh(last.take(), world.now());
            world.check(&view, world.now());
            if let Some(copy) = view.out.chunks[0].copy(1) {
                copies.insert(copy);
                let whole = view.block(SubgraphId(1), Direction::Out).whole().is_some();
                assert!(whole || i > 21, "a copy has no corrections until something comes after it");
            }
            // A view older than the copy, and a newer one again.
            if i % 16 == 15 {
                let (older, _) = world.refresh(Some(Arc::new(view.clone())), Timestamp(world.now().0 - 20));
                world.check(&older, Timestamp(world.now().0 - 20));
                let (newer, _) = world.refresh(Some(Arc::new(older)), world.now());
                world.check(&newer, world.now());
            }
            last = Some(Arc::new(view));
        }
        assert_eq!(copies.len(), 1, "1400 edges are copied at 22 entries, and those after them are too few");
        assert!(last.is_some_and(|view| view.kept_bytes() >= 1400 * 4), "the copy is the view's");
    }
}

#[test]
fn a_patch_is_copied_with_the_lists_it_corrects() {
    for weighted in [false, true] {
        // Patches that take several deltas.
        let mut world = World::with_patches(weighted, PatchSizes { least: 300, ..PatchSizes::SMALL });
        for i in 0..600 {
            world.commit(64 + i * 7 % 64, i * 3, false);
        }
        world.settle(1);
        let (mut last, mut copies): (Option<Arc<View>>, _) = (None, BTreeSet::new());
        // Edges of main part and patch are removed, reweighed and inserted again, over several deltas.
        for i in 0..300 {
            let of_main = (64 + i * 7 % 64, i * 3);
            let (src, dst) = if i % 2 == 0 { of_main } else { (64 + i % 40 * 29 % 64, 5000 + i % 40) };
            world.commit(src, dst, i % 3 == 0 && (i % 2 == 0 || i >= 40));
            if i == 150 {
                // The edge does not exist, so `commit` logs a vertex instead.
                world.commit(64, 9999, true);
            }
            let (view, _) = world.refresh(last.take(), world.now());
            world.check(&view, world.now());
            let subgraph = world.table.get_or_create(SubgraphId(1), Hold::none()).unwrap();
            let patched = subgraph.read(Direction::Out, world.now(), |read| read.version().patch.is_some());
            copies.extend(view.out.chunks[0].copy(1).filter(|_| patched.unwrap() == Some(true)));
            last = Some(Arc::new(view));
        }
        assert!(copies.len() > 2, "{} copies of versions with a patch", copies.len());
    }
}

#[test]
fn few_removals_are_copied_where_as_many_insertions_are_not() {
    for (remove, copied) in [(false, false), (true, true)] {
        let mut world = World::with_patches(false, PatchSizes::default());
        world.commit_all(&(0..1000).map(|i| (64 + i % 64, i)).collect::<Vec<_>>());
        world.settle(1);
        (0..9).for_each(|i| world.commit(64 + i, if remove { i } else { 5000 + i }, remove));
        let (view, _) = world.refresh(None, world.now());
        world.check(&view, world.now());
        assert_eq!(view.out.chunks[0].copy(1).is_some(), copied);
    }
}

#[test]
fn a_copy_is_of_one_version_though_the_next_one_begins_at_the_same_timestamp() {
    let mut world = World::new(false);
    // Two turns of one commit. The first does not fit the delta and makes a version; the second goes into the
    // delta of that version.
    let ts = Timestamp(1);
    for part in [&[(64, 1), (64, 2), (65, 1), (66, 1), (67, 1), (68, 1), (69, 1), (70, 1)][..], &[(71, 1)]] {
        world.apply(part, ts);
    }
    let first = world.states[0].0.clone();
    let all = (64..72).map(|src| ((src, 1), 1.0)).chain([((64, 2), 1.0)]);
    world.states.push((first.into_iter().chain(all).collect(), BTreeSet::new()));
    let (view, _) = world.refresh(None, ts);
    world.check(&view, ts);
    assert!(view.out.chunks[0].copy(1).is_some());
    world.settle(1);
    world.commit(72, 1, false);
    let (view, _) = world.refresh(Some(Arc::new(view)), world.now());
    world.check(&view, world.now());
}

#[test]
fn a_copy_of_edges_without_ranks_is_left_once_one_has_a_rank() {
    let mut world = World::new(false);
    for dst in 0..20 {
        world.commit(64, dst, false);
    }
    let (view, _) = world.refresh(None, world.now());
    assert!(view.out.chunks[0].copy(1).is_some());
    // A second edge between two vertices, and an edge to another vertex.
    let op = |dst| LocalOp { local: LocalVertex(0), op: EdgeOp::Insert, dst: VertexId(dst), weight: 1.0 };
    let (ops, ranked) = ([op(3), op(30)], [Attributes { rank: 7, row: RowRef::Empty }; 2]);
    let ts = Timestamp(world.now().0 + 1);
    let mut latched = world.table.get_or_create(SubgraphId(1), Hold::none()).unwrap().latch();
    let _ = latched.apply(Direction::Out, Ops::with(&ops, &ranked), ts, &KeepAll);
    drop(latched);
    let (view, _) = world.refresh(Some(Arc::new(view)), ts);
    let found: Vec<u32> = view.neighbors(VertexId(64), Direction::Out).iter().map(|v| v.0).collect();
    let expected: Vec<u32> = (0..=3).chain(3..20).chain([30]).collect();
    assert_eq!((found, view.directed_edges()), (expected, 22));
}

#[test]
fn a_far_id_costs_a_chunk_not_a_view() {
    let table = SubgraphTable::default();
    let far = VertexId(u32::MAX - 7);
    let op = LocalOp { local: far.local(), op: EdgeOp::Insert, dst: VertexId(1), weight: 0.0 };
    let subgraph = table.get_or_create(far.subgraph(), Hold::none()).unwrap();
    let _ = subgraph.latch().apply(Direction::Out, Ops::plain(&[op]), Timestamp(1), &KeepAll);
    let mut out = DirectionView::default();
    let page = |i| Page { lists: table.page(i, Hold::none()), existence: table.page(i, Hold::none()) };
    out.refresh(u32::MAX as usize, page, Direction::Out, Timestamp(1), false).unwrap();
    let shape = Shape { vertex_bound: u32::MAX as usize, ..Shape::default() };
    let view = View::new(shape, out, DirectionView::default());
    assert!(view.neighbors(far, Direction::Out).contains(VertexId(1)));
    assert!(view.bytes() < 16 << 20, "{} bytes", view.bytes());
}

#[test]
fn a_view_of_some_vertices_has_the_lists_of_all_and_the_next_one_has_all() {
    let mut world = World::new(true);
    for subgraph in [0, 1, 70, 140] {
        world.commit(subgraph * 64, 1, true);
    }
    world.commit(64, 0, false);
    let (view, _) = world.refresh(None, world.now());
    let all: Vec<VertexId> = view.vertices().collect();
    assert_eq!(all.len(), 4);
    let (account, mut words) = (Arc::<Account>::default(), vec![0; 100]);
    all[..3].iter().for_each(|v| words[v.subgraph().index()] |= v.local().bit());
    let mask = Arc::new(VertexMask::new(words, &account));
    assert_eq!(account.used(), 800);
    let some = view.clone().restricted(mask.clone());
    assert_eq!((some.vertices().collect::<Vec<_>>(), some.vertex_count()), (all[..3].to_vec(), 3));
    let contains = |view: &View| all.iter().map(|&v| view.contains(v)).collect::<Vec<_>>();
    assert_eq!((contains(&some), contains(&view)), (vec![true, true, true, false], vec![true; 4]));
    assert_eq!((mask.count(), mask.contains(all[0]), mask.contains(all[3])), (3, true, false));
    assert_eq!(some.edge_count(), view.edge_count());
    assert!(Arc::ptr_eq(&some.out.chunks[0], &view.out.chunks[0]), "chunks are shared");
    assert_eq!(some.neighbors(VertexId(64), Direction::Out).iter().collect::<Vec<_>>(), [VertexId(0)]);
    let (next, read) = world.refresh(Some(Arc::new(some)), world.now());
    assert_eq!((next.vertices().collect::<Vec<_>>(), read), (all, 0));
    drop(mask);
    assert_eq!(account.used(), 0);
}
