//! Tiered views of chosen edges, compared with the model and with resident views, whatever is in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hedgerow::{
    Comparison, CsrOptions, Direction, Durability, EdgeDirection, EdgeKey, EdgeSelection, Error, Graph,
    KHopOptions, KernelView, KeyKind, LabelOptions, Options, PropertyType, RowOrder, Snapshot, StorageError,
    TieredView, Topology, Value, VertexId, WeightedTopology,
};
use hedgerow_analytics::{run_by_page, run_resident};
use hedgerow_core::{Block, LocalVertex, SubgraphId};
use hedgerow_kernels::registry::{self, Outcome};
use hedgerow_kernels::{Cancel, KernelError};
use hedgerow_testkit::effort::{Effort, explored, is_deep};
use hedgerow_testkit::{SimFs, sim_fs::SplitMix64};
use hedgerow_workload::rng::Rng;

use super::model::{Chosen, Edges, VERTICES, World, lists};

type Entries = BTreeMap<u32, Vec<(u32, f64)>>;

fn in_order(mut entries: Entries) -> Entries {
    // Parallel edges have no order, and all NaNs are equal.
    let order = |a: &(u32, f64), b: &(u32, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
    entries.values_mut().for_each(|list| list.sort_by(order));
    entries
}

fn bits(entries: &Entries) -> Vec<(u32, Vec<(u32, u64)>)> {
    let list = |list: &[(u32, f64)]| list.iter().map(|&(v, weight)| (v, weight.to_bits())).collect();
    entries.iter().map(|(&v, entries)| (v, list(entries))).collect()
}

/// Returns the result of visits, for each vertex in a shuffled order.
fn visited(view: &impl WeightedTopology, direction: Direction, rng: &mut Rng) -> Entries {
    let bound = view.vertex_bound() as u32;
    let start = rng.below(u64::from(bound)) as u32;
    let frontier = (0..bound).map(|at| VertexId((at * 7 + start) % bound)).filter(|&v| view.contains(v));
    let frontier: Vec<VertexId> = frontier.collect();
    let mut found: Vec<(u32, Vec<(u32, f64)>)> = Vec::new();
    let run = |v: VertexId, run: &[VertexId], weights: &[f64]| {
        // A run has no order if its delta only inserts.
        assert!(weights.is_empty() || weights.len() == run.len());
        assert!(view.has_weights() || weights.is_empty());
        let entries = run.iter().enumerate().map(|(at, u)| (u.0, weights.get(at).copied().unwrap_or(1.0)));
        match found.last_mut() {
            Some((last, list)) if *last == v.0 => list.extend(entries),
            _ => found.push((v.0, entries.collect())),
        }
    };
    view.visit_weighted(frontier.iter().copied(), direction, run).unwrap();
    assert_eq!(found.len(), frontier.len(), "the runs of a vertex follow each other");
    in_order(found.into_iter().filter(|(_, list)| !list.is_empty()).collect())
}

/// Returns the result of scans, without weights.
fn scanned(view: &impl WeightedTopology, direction: Direction) -> Vec<(u32, Vec<u32>)> {
    let all = SubgraphId(0)..SubgraphId(view.vertex_bound().div_ceil(64) as u32);
    let (mut found, mut next) = (Vec::new(), 0);
    let block = |id: SubgraphId, lists: &dyn Fn(LocalVertex) -> Vec<u32>| {
        assert_eq!(id.0, next);
        next += 1;
        for local in (0..64).map(LocalVertex) {
            let list = lists(local);
            assert!(list.is_sorted());
            found.extend((!list.is_empty()).then(|| (id.vertex(local).0, list)));
        }
    };
    let mut block = block;
    let scanned = view.scan(all, direction, |id, lists| {
        block(id, &|local| {
            let mut list = Vec::new();
            let _ = lists.for_each_run(local, |run| {
                list.extend(run.iter().map(|u| u.0));
                ControlFlow::Continue(())
            });
            assert_eq!(list.len(), lists.degree(local));
            list.sort_unstable();
            list
        });
        ControlFlow::Continue(())
    });
    scanned.unwrap();
    found
}

fn check(snapshot: &Snapshot, edges: &Edges, chosen: &Chosen, directed: bool, rng: &mut Rng) {
    let view = TieredView::new(snapshot, &chosen.selection()).unwrap();
    let mut along = Entries::new();
    for (v, list) in lists(edges, chosen, directed) {
        along.insert(v as u32, list.iter().map(|entry| (entry.0 as u32, entry.3)).collect());
    }
    let mut against = Entries::new();
    for (&v, list) in &along {
        list.iter().for_each(|&(u, weight)| against.entry(u).or_default().push((v, weight)));
    }
    assert_eq!(view.vertices().count() as u64, VERTICES);
    assert_eq!(view.is_directed(), directed && chosen.direction != EdgeDirection::Both);
    let taken = edges.iter().filter(|(key, edge)| chosen.takes(key, edge)).count();
    assert_eq!(view.edge_count(), taken as u64, "{chosen:?}");
    let (along, against) = (in_order(along), in_order(against));
    let ways =
        [(Direction::Out, &along), (Direction::In, if view.is_directed() { &against } else { &along })];
    for (direction, wanted) in ways {
        assert_eq!(bits(&visited(&view, direction, rng)), bits(wanted), "{direction:?} of {chosen:?}");
        let ends = |list: &[(u32, f64)]| list.iter().map(|entry| entry.0).collect();
        let wanted: Vec<(u32, Vec<u32>)> = wanted.iter().map(|(&v, list)| (v, ends(list))).collect();
        assert_eq!(scanned(&view, direction), wanted, "{direction:?} of {chosen:?}");
    }
}

#[test]
fn selections_by_the_page_agree_with_a_model_whatever_is_in_memory() {
    let effort = Effort::rounds(12);
    let (mut checked, mut evicted) = (0, 0);
    while let Some(seed) = effort.next_seed() {
        let mut rng = Rng::new(seed);
        let (directed, reverse) = [(true, true), (true, false), (false, true)][rng.below(3) as usize];
        let kind = (directed, reverse, rng.below(2) == 0);
        let mut world = World::on(SimFs::new().handle(), kind, rng.next_u64());
        let mut held: Option<(Snapshot, Edges)> = None;
        for round in 0..5 {
            (0..1 + rng.below(12)).for_each(|_| world.commit());
            if rng.below(3) > 0 {
                world.graph.checkpoint().unwrap();
            }
            let now = (world.graph.snapshot().unwrap(), world.edges.clone());
            for (snapshot, edges) in held.iter().chain([&now]) {
                for _ in 0..6 {
                    evicted += world.graph.internals().evict().unwrap() as u64;
                    check(snapshot, edges, &Chosen::draw(&mut rng, world.weighted), directed, &mut rng);
                    checked += 1;
                    // Some lists come back into memory, in one label.
                    let v = world.vertex();
                    (0..3).for_each(|_| _ = snapshot.edge_list(v, Direction::Out).unwrap());
                }
            }
            held = if round % 2 == 0 { Some(now) } else { None };
        }
    }
    explored("selections of edges by the page", checked, 100);
    explored("subgraphs taken out of memory before edges were chosen by the page", evicted, 300);
}

fn options(directed: bool, keys: KeyKind) -> Options {
    let options = crate::common::small().keys(keys).directed(directed);
    options.durability(Durability::Manual).background_settling(false)
}

/// Makes a store with two labels on five pages, with a property, in files.
fn store(directed: bool, keys: KeyKind, edges: u64) -> SimFs {
    const BOUND: u64 = 5 * 4096;
    let disk = SimFs::new();
    let graph = options(directed, keys).open_on(disk.handle()).unwrap();
    graph.define_label("road", LabelOptions::new().property("length", PropertyType::F64)).unwrap();
    graph
        .define_label("rail", LabelOptions::new().multi(true).property("length", PropertyType::F64))
        .unwrap();
    let mut rng = SplitMix64::new(edges);
    for _ in 0..edges.div_ceil(10_000) {
        let mut tx = graph.write().unwrap();
        for at in 0..10_000 {
            let src = if rng.below(8) == 0 { rng.below(3) * 6_000 } else { rng.below(BOUND) };
            let key = match at % 3 {
                0 => EdgeKey::new("rail", src, rng.below(BOUND)).rank(rng.below(3)),
                _ => EdgeKey::new("road", src, rng.below(BOUND)),
            };
            tx.put_edge_with(key, [("length", (1 + rng.below(50)) as f64)]).unwrap();
        }
        tx.commit().unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

/// Returns selections with several labels, weights, a filter, and other directions.
fn selections() -> [EdgeSelection<'static>; 5] {
    let both = EdgeSelection::of_labels(["road", "rail"]);
    [
        both.clone().weighted_by("length", None),
        both.clone().direction(EdgeDirection::Both),
        EdgeSelection::of("rail").ranks(1..=1).direction(EdgeDirection::In),
        both.clone().filter("length", Comparison::Less, 30.0).weighted_by("length", None),
        EdgeSelection::of("road").filter("length", Comparison::Greater, 9.0).direction(EdgeDirection::Both),
    ]
}

/// The kernels that read lists in each of the existing ways: a frontier, weights, all lists, the first
/// neighbors of all.
const TRIED: [&str; 4] = ["bfs", "sssp", "pagerank", "wcc"];

fn kernels(run: impl Fn(&registry::Arguments) -> Outcome) -> Vec<Outcome> {
    let outcomes =
        TRIED.iter().map(|name| run(&registry::find(name).unwrap().trial(VertexId(0), VertexId(1))));
    outcomes.collect()
}

/// The limit has no room for the labels. Kernels on chosen edges use tiered views, return the same results as
/// in memory, and leave nothing in memory.
#[test]
fn kernels_on_chosen_edges_within_a_limit_give_what_they_give_in_memory() {
    // An undirected graph reads lists as a directed graph reads outgoing lists.
    for directed in [true, false].into_iter().filter(|directed| *directed || is_deep()) {
        let disk = store(directed, KeyKind::Dense, 1_000_000);
        let whole = options(directed, KeyKind::Dense).open_on(disk.handle()).unwrap();
        let snapshot = whole.snapshot().unwrap();
        let expected = selections().map(|selection| {
            let view = snapshot.view(&selection).unwrap();
            (view.edge_count(), kernels(|arguments| run_resident(arguments, &view, &Cancel::new()).unwrap()))
        });
        drop((snapshot, whole));
        let limit = hedgerow::LEAST_MEMORY_LIMIT;
        let graph = options(directed, KeyKind::Dense).memory_limit(limit).open_on(disk.handle()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        let mut by_page = 0;
        // In an undirected graph there is only one way to read an edge.
        let some = if directed { 5 } else { 1 };
        for (selection, (edges, expected)) in selections().iter().zip(&expected).take(some) {
            let view = match KernelView::new(&snapshot, selection).unwrap() {
                KernelView::Tiered(view) => view,
                KernelView::Resident(_) => continue,
            };
            by_page += 1;
            assert_eq!(view.edge_count(), *edges, "{selection:?}");
            let found = kernels(|arguments| run_by_page(arguments, &view, &Cancel::new()).unwrap());
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.agrees_with(expected, 1e-9), "{:?} of {selection:?}", expected.kind());
            }
            // Each thread keeps a window of incoming edges, of one page or more, in addition to a full
            // memory.
            let (used, threads) =
                (graph.stats().unwrap().memory_bytes(), rayon::current_num_threads() as u64);
            let bound = limit + threads * edges / 5 * 12 * 5 / 4;
            assert!(used <= bound, "{used} of {limit}, and of {bound} with windows: {selection:?}");
            drop(view);
            let used = graph.stats().unwrap().memory_bytes();
            assert!(used <= limit, "{used} of {limit}, {selection:?}");
        }
        assert!(by_page >= some.div_ceil(2), "what is of both labels does not fit");
        drop(snapshot);
        assert_eq!(graph.stats().unwrap().view_bytes, 0);
    }
}

/// Copied rows of labels that do not fit, and neighborhoods with most of the graph, are the same as without a
/// limit.
#[test]
fn compressed_rows_and_wide_neighborhoods_within_a_limit_are_those_of_memory() {
    let disk = store(true, KeyKind::U64, 2_400_000);
    let limit = hedgerow::LEAST_MEMORY_LIMIT;
    let options_of_csr = || {
        let (plain, by_key) = (CsrOptions::new(), CsrOptions::new().order(RowOrder::Key));
        [plain.clone(), plain.direction(Direction::In).weight("length"), by_key.direction(Direction::In)]
    };
    let hops = [
        (EdgeSelection::of("road"), 3),
        (EdgeSelection::of("road").filter("length", Comparison::Less, 40.0), 4),
        (EdgeSelection::of_labels(["road", "rail"]).direction(EdgeDirection::Both), 2),
    ];
    let answers = |limit: Option<u64>| {
        let options = options(true, KeyKind::U64);
        let options = limit.map_or(options.clone(), |limit| options.memory_limit(limit));
        let graph = options.open_on(disk.handle()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        let by_page = matches!(KernelView::new(&snapshot, "road"), Ok(KernelView::Tiered(_)));
        assert_eq!(by_page, limit.is_some());
        let copies = options_of_csr().map(|options| snapshot.csr("road", options).unwrap());
        let near = hops.clone().map(|(selection, hops)| {
            snapshot.k_hop(&[0u64, 6_000], &selection, KHopOptions::new(hops)).unwrap()
        });
        let refused = snapshot.csr("road", CsrOptions::new().weight("width")).map(drop).unwrap_err();
        assert!(refused.to_string().contains("width"), "{refused}");
        assert!(near.iter().all(|near| near.distances.len() > 10_000));
        if let Some(limit) = limit {
            let used = graph.stats().unwrap().memory_bytes();
            assert!(used <= limit, "{used} of {limit}");
        }
        (copies, near)
    };
    assert!(answers(Some(limit)) == answers(None), "rows or neighborhoods differ");
}

/// An edge without a number for its weight is the same error in a tiered view. The same is true for a
/// selection that makes no sense.
#[test]
fn edges_without_a_weight_are_refused_by_the_page() {
    let graph: Graph = options(true, KeyKind::Dense).open_on(SimFs::new().handle()).unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edge_with(EdgeKey::new("road", 1, 2), [("length", 4.0)]).unwrap();
    tx.put_edge_with(EdgeKey::new("road", 2, 3), [("length", Value::Null)]).unwrap();
    tx.commit().unwrap();
    graph.checkpoint().unwrap();
    let snapshot = graph.snapshot().unwrap();
    for selection in [
        EdgeSelection::of("road").weighted_by("length", None),
        EdgeSelection::of("road").filter("width", Comparison::Less, 1.0),
        EdgeSelection::of_labels([""; 0]),
    ] {
        let resident = snapshot.view(&selection).map(drop).unwrap_err();
        graph.internals().evict().unwrap();
        let by_page = TieredView::new(&snapshot, &selection).map(drop).unwrap_err();
        assert_eq!(by_page.to_string(), resident.to_string());
    }
    let filled = EdgeSelection::of("road").weighted_by("length", Some(2.0));
    assert_eq!(TieredView::new(&snapshot, &filled).unwrap().edge_count(), 2);
}

/// Damage in a page is an error of the kernel that reads it. When the page is sound again, the view reads it.
#[test]
fn damage_fails_kernels_on_chosen_edges() {
    let disk = store(true, KeyKind::Dense, 100_000);
    let sound = disk.files();
    let segment = sound.keys().find(|name| name.ends_with(".csr")).unwrap().clone();
    let graph = options(true, KeyKind::Dense).open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let views = selections().map(|selection| TieredView::new(&snapshot, &selection).unwrap());
    let pagerank = registry::find("pagerank").unwrap().arguments();
    let mut failed = 0;
    for part in 1..6 {
        let at = sound[&segment].len() as u64 * part / 7;
        assert!(disk.corrupt(&segment, at, 0x10));
        for view in &views {
            let outcome = run_by_page(&pagerank, view, &Cancel::new());
            match outcome {
                Err(KernelError::Topology(Error::Storage(StorageError::Corruption(damage)))) => {
                    assert_eq!(damage.file, segment);
                    failed += 1;
                }
                Ok(_) => {} // in a label or a place that the kernel did not read
                other => panic!("{other:?}"),
            }
        }
        assert!(disk.corrupt(&segment, at, 0x10), "the same bit again");
    }
    assert!(failed > 5, "{failed}");
    for (view, selection) in views.iter().zip(selections()) {
        let resident = snapshot.view(&selection).unwrap();
        let found = kernels(|arguments| run_by_page(arguments, view, &Cancel::new()).unwrap());
        let expected = kernels(|arguments| run_resident(arguments, &resident, &Cancel::new()).unwrap());
        assert!(found.iter().zip(&expected).all(|(found, expected)| found.agrees_with(expected, 1e-9)));
    }
}
