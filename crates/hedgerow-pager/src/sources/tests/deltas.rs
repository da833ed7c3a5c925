//! Reads of segments with images and deltas, compared with a model: random operations, written as images or
//! as deltas, and merged segments.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_core::{
    Columns, Direction, GraphConfig, KeyKind, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
};
use hedgerow_io::{FileId, StoreId};
use hedgerow_mem::EdgeOp;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_testkit::SimFs;
use hedgerow_tier::{
    AdjacencyPart, Extent as ImageExtent, ImageId, ImageKeys, ListQuery, ReadCache, SegmentWriter,
    SubgraphDelta, SubgraphImage, SubgraphRecord, TierError,
};
use hedgerow_workload::rng::Rng;

use crate::sources::testing::{image, sound};
use crate::sources::{EdgeAt, InboxBase, InboxView, Inboxes, Sources};

const STORE: StoreId = StoreId(*b"a store to test.");
const CONFIG: GraphConfig =
    GraphConfig { directed: true, keys: KeyKind::Dense, weighted: true, reverse: true };
const STORES: u64 = 120;
const SUBGRAPHS: [u32; 3] = [0, 1, 9];
const LOCALS: [u8; 3] = [0, 7, 63];
const ALL: usize = usize::MAX;

/// The weights of the edges of one subgraph, by direction.
type Edges = BTreeMap<(u8, u8, u32), f64>;

/// Segments, and the edges of each subgraph.
struct Store {
    config: GraphConfig,
    fs: SimFs,
    cache: ReadCache,
    inboxes: Inboxes,
    sources: Sources,
    model: BTreeMap<u32, Edges>,
    now: u64,
    rng: Rng,
}

fn part_of(edges: &Edges, direction: Direction, weighted: bool) -> Option<AdjacencyPart> {
    let of: Vec<_> = edges.iter().filter(|((at, ..), _)| *at == direction as u8).collect();
    let mut offsets = [0; SUBGRAPH_VERTICES + 1];
    for (at, offset) in offsets.iter_mut().enumerate() {
        *offset = of.iter().filter(|((_, local, _), _)| usize::from(*local) < at).count() as u32;
    }
    let neighbors: Vec<VertexId> = of.iter().map(|((.., other), _)| VertexId(*other)).collect();
    let weights = weighted.then(|| of.iter().map(|(_, weight)| **weight).collect());
    let columns = Columns::default();
    let made = AdjacencyPart { direction, offsets, neighbors, weights, ranks: None, columns };
    (!made.neighbors.is_empty()).then_some(made)
}

fn out_edges(edges: &Edges) -> u64 {
    edges.keys().filter(|(direction, ..)| *direction == Direction::Out as u8).count() as u64
}

impl Store {
    /// Makes an empty store: weighted if the seed is odd.
    fn new(seed: u64) -> Store {
        let account = Arc::new(Account::new(None));
        Store {
            config: GraphConfig { weighted: seed % 2 == 1, ..CONFIG },
            fs: SimFs::new(),
            cache: ReadCache::new(&account, (1 << 16, 1 << 16), 0),
            inboxes: Inboxes::new(&account),
            sources: Sources::default(),
            model: SUBGRAPHS.into_iter().map(|id| (id, Edges::new())).collect(),
            now: 1,
            rng: Rng::new(seed),
        }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    /// Applies random operations to a subgraph, through its inbox.
    fn operate(&mut self, subgraph: u32) {
        for _ in 0..1 + self.below(6) {
            self.now += 1;
            let direction = if self.below(2) == 0 { Direction::Out } else { Direction::In };
            let (local, other) = (LOCALS[self.below(3) as usize], self.below(8) as u32 * 1_000);
            let weight = if self.config.weighted { self.now as f64 } else { 1.0 };
            let removes = self.below(3) == 0;
            let edges = self.model.get_mut(&subgraph).unwrap();
            let at = (direction as u8, local, other);
            let op = match (removes, edges.contains_key(&at)) {
                (true, false) => continue,
                (true, true) => EdgeOp::Remove,
                (false, false) => EdgeOp::Insert,
                (false, true) => EdgeOp::Update,
            };
            if removes {
                edges.remove(&at)
            } else {
                edges.insert(at, weight)
            };
            let op = LocalOp { local: LocalVertex(local), op, dst: VertexId(other), weight };
            let base = || InboxBase { sources: Arc::default(), begin: Timestamp::ZERO };
            self.inboxes.append((image(0, subgraph), direction), Timestamp(self.now), &[op], base);
        }
    }

    fn image_of(&self, subgraph: u32) -> SubgraphImage {
        let parts = [Direction::Out, Direction::In]
            .map(|of| part_of(&self.model[&subgraph], of, self.config.weighted));
        SubgraphImage {
            id: image(0, subgraph),
            as_of: Timestamp(self.now),
            present: u64::MAX,
            keys: ImageKeys::Dense,
            parts: parts.into_iter().flatten().collect(),
        }
    }

    /// Writes a segment that takes in the `depth` newest ones, and has a record of each chosen subgraph.
    fn checkpoint(&mut self, depth: usize) {
        self.now += 1;
        let (file, fs) = (FileId(self.now), self.fs.handle());
        let mut writer = SegmentWriter::create_with(fs.clone(), (file, STORE), self.config, true).unwrap();
        for subgraph in SUBGRAPHS {
            let id = image(0, subgraph);
            let (inbox, image) = (self.inboxes.view(id, Timestamp::INFINITY), self.image_of(subgraph));
            let taken = self.sources.read_record(id, depth, &self.cache, &mut |_| true).unwrap();
            let taken = taken.map(|(record, _)| record);
            if inbox.is_none() && taken.is_none() && !self.is_new(id) {
                continue;
            }
            self.inboxes.remove(id);
            let summaries = self.sources.summaries(id.page()).unwrap();
            let summary = summaries.iter().find(|summary| summary.id == id);
            if summary.is_none() || self.below(4) == 0 {
                image.with_ref(|image| writer.write(image)).unwrap();
                continue;
            }
            let inbox = inbox.as_ref();
            let made = self.sources.record_under(inbox, summary.unwrap(), taken, &mut |_| true).unwrap();
            match made {
                None => {}
                Some(SubgraphRecord::Image(made)) => {
                    assert_eq!(made.parts, image.parts);
                    made.with_ref(|image| writer.write(image)).unwrap();
                }
                Some(SubgraphRecord::Delta(delta)) => {
                    assert_eq!(delta.edges, out_edges(&self.model[&subgraph]));
                    assert!(delta.with_ref(|delta| writer.write_delta(delta)).unwrap().is_some());
                }
            }
        }
        let info = writer.finish().unwrap();
        let older = self.sources.clone().without_newest(depth);
        self.sources = older.behind(&fs, info, STORE).unwrap();
    }

    /// True if no segment has the subgraph yet.
    fn is_new(&self, id: ImageId) -> bool {
        self.sources.summaries(id.page()).unwrap().iter().all(|summary| summary.id != id)
    }

    fn view(&self, id: ImageId) -> Option<InboxView> {
        self.inboxes.view(id, Timestamp::INFINITY)
    }

    /// Compares each kind of read with the model. No subgraph has an inbox.
    fn compare(&self) {
        let page = image(0, 0).page();
        let mut found = BTreeMap::new();
        let read = self.sources.read_page(page, |image, _| {
            found.insert(image.id.subgraph.0, image);
            Ok::<_, TierError>(())
        });
        read.unwrap();
        for subgraph in SUBGRAPHS {
            let (id, expected) = (image(0, subgraph), self.image_of(subgraph));
            assert!(self.view(id).is_none());
            assert_eq!(found[&subgraph].parts, expected.parts);
            let (alone, _) = self.sources.read_image(id, &self.cache, &mut |_| true).unwrap().unwrap();
            assert_eq!((alone.parts, alone.present), (expected.parts.clone(), u64::MAX));
            let summaries = self.sources.summaries(page).unwrap();
            let summary = summaries.iter().find(|summary| summary.id == id).unwrap();
            assert_eq!((summary.edges, summary.present), (out_edges(&self.model[&subgraph]), u64::MAX));
            self.compare_lists(id, &expected);
        }
        self.compare_edges();
    }

    /// Looks for edges of all subgraphs at once, and of all but the first.
    fn compare_edges(&self) {
        let others = (0..8).map(|other| VertexId(other * 1_000));
        let at = |other| {
            LOCALS.map(|local| [Direction::Out, Direction::In].map(|of| (of, LocalVertex(local), other)))
        };
        let edges: Vec<EdgeAt> = others.flat_map(at).flatten().collect();
        let asked: Vec<(SubgraphId, &[EdgeAt])> =
            SUBGRAPHS.into_iter().map(|subgraph| (SubgraphId(subgraph), edges.as_slice())).collect();
        let page = image(0, 0).page();
        for places in [u64::MAX, u64::MAX << 1] {
            let mut dropped = 0;
            let found = self
                .sources
                .find_edges((page, places), &asked, &mut |_| true, |_| {
                    dropped += 1;
                    true
                })
                .unwrap();
            assert!(dropped >= SUBGRAPHS.len() - 1, "{dropped}");
            for (subgraph, weights) in SUBGRAPHS.into_iter().zip(found) {
                let model = &self.model[&subgraph];
                let weight = |&(of, local, other): &EdgeAt| model.get(&(of as u8, local.0, other.0)).copied();
                let is_asked = places >> subgraph & 1 == 1;
                let expected: Vec<Option<f64>> =
                    if is_asked { edges.iter().map(weight).collect() } else { Vec::new() };
                assert_eq!(weights, expected, "subgraph {subgraph}");
            }
        }
    }

    fn compare_lists(&self, id: ImageId, expected: &SubgraphImage) {
        for (direction, local) in [Direction::Out, Direction::In]
            .into_iter()
            .flat_map(|direction| LOCALS.into_iter().map(move |local| (direction, LocalVertex(local))))
        {
            let part = expected.parts.iter().find(|part| part.direction == direction);
            let list = part.map_or(&[][..], |part| part.neighbors_of(local.index()));
            let near = VertexId(3_000);
            for extent in
                [ImageExtent::Vertex, ImageExtent::Degree, ImageExtent::Whole, ImageExtent::Near(near)]
            {
                let query = ListQuery { image: id, local, direction, extent, rows: false };
                let (read, _) = self.sources.read_list(&query, &self.cache, &mut |_| true).unwrap().unwrap();
                assert_eq!(read.present, u64::MAX);
                let read_list = read.part.as_ref().map_or(&[][..], |part| part.neighbors_of(local.index()));
                match extent {
                    ImageExtent::Vertex => {}
                    ImageExtent::Degree => assert_eq!(read.degree as usize, list.len()),
                    ImageExtent::Whole => assert_eq!(read_list, list),
                    ImageExtent::Near(_) => {
                        assert_eq!(read_list.contains(&near), list.contains(&near));
                    }
                }
            }
        }
    }
}

#[test]
fn images_and_deltas_in_segments_are_what_was_written() {
    let _sound = sound();
    let (mut deltas, mut merges) = (0, 0);
    for seed in 0..STORES {
        let mut store = Store::new(seed);
        for _ in 0..6 {
            for subgraph in SUBGRAPHS {
                if store.below(3) > 0 {
                    store.operate(subgraph);
                }
            }
            let count = store.sources.segments().count() as u64;
            let depth = store.below(count + 1) as usize;
            merges += u64::from(depth > 1);
            store.checkpoint(depth);
            store.compare();
            let mut all = 0;
            store.sources.for_each_summary(|_, record| all += u64::from(record.is_delta)).unwrap();
            deltas += all;
        }
    }
    assert!(deltas > 4 * STORES && merges > STORES / 2, "{deltas} deltas, {merges} merges");
}

/// A delta without an image in any segment is damage in each read.
#[test]
fn a_delta_without_an_image_is_damage() {
    let _sound = sound();
    let mut store = Store::new(3);
    SUBGRAPHS.into_iter().for_each(|subgraph| store.operate(subgraph));
    store.checkpoint(0);
    while store.sources.segments().count() < 2 {
        store.operate(0);
        let before = store.sources.clone();
        store.checkpoint(0);
        if store.sources.summaries(image(0, 0).page()).unwrap().iter().all(|summary| !summary.is_delta) {
            store.sources = before;
        }
    }
    let alone = store.sources.clone().only_newest();
    let error = alone.read_image(image(0, 0), &store.cache, &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("a delta without an image"), "{error}");
    let error = alone.read_page(image(0, 0).page(), |_, _| Ok::<_, TierError>(())).unwrap_err();
    assert!(error.to_string().contains("a delta without an image"), "{error}");
    let query = ListQuery {
        image: image(0, 0),
        local: LocalVertex(0),
        direction: Direction::Out,
        extent: ImageExtent::Whole,
        rows: false,
    };
    let error = alone.read_list(&query, &store.cache, &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("a delta without an image"), "{error}");
    let (edge, page) = ([(Direction::Out, LocalVertex(7), VertexId(77))], image(0, 0).page());
    let asked: [(SubgraphId, &[EdgeAt]); 1] = [(SubgraphId(0), &edge)];
    let no_memory = store.sources.find_edges((page, 1), &asked, &mut |_| false, |_| true);
    assert!(matches!(no_memory, Err(TierError::NoRoom { .. })), "{no_memory:?}");
    let no_room = store.sources.find_edges((page, 1), &asked, &mut |_| true, |bytes| bytes == 0);
    assert!(matches!(no_room, Err(TierError::NoRoom { needed: 16.. })), "{no_room:?}");
    let error = find_one(&alone).unwrap_err();
    assert!(error.to_string().contains("a delta without an image"), "{error}");
    let of_all = store.sources.read_record(image(0, 0), ALL, &store.cache, &mut |_| true).unwrap().unwrap();
    assert!(matches!(of_all, (SubgraphRecord::Image(_), _)));
}

/// Looks for one edge of the first subgraph, as a large commit does.
fn find_one(sources: &Sources) -> Result<Vec<Vec<Option<f64>>>, TierError> {
    let edge = (Direction::Out, LocalVertex(7), VertexId(77));
    let id = image(0, 0);
    sources.find_edges((id.page(), 1), &[(id.subgraph, &[edge])], &mut |_| true, |_| true)
}

/// Adds a segment with one delta, made from the present state by `change`, and reads it.
fn read_changed(store: &mut Store, change: impl FnOnce(&mut SubgraphDelta)) -> String {
    store.now += 1;
    let (id, file) = (image(0, 0), FileId(store.now));
    let summaries = store.sources.summaries(id.page()).unwrap();
    let summary = summaries.iter().find(|summary| summary.id == id).unwrap();
    let part = part_of(&Edges::from([((0, 7, 77), 1.0)]), Direction::Out, true).unwrap();
    let (as_of, present, edges) = (Timestamp(store.now + 1), summary.present, summary.edges + 1);
    let mut delta = SubgraphDelta { id, as_of, present, edges, put: vec![part], removed: Vec::new() };
    change(&mut delta);
    let fs = store.fs.handle();
    let mut writer = SegmentWriter::create_with(fs.clone(), (file, STORE), CONFIG, true).unwrap();
    delta.with_ref(|delta| writer.write_delta(delta)).unwrap();
    let info = writer.finish().unwrap();
    let sources = store.sources.behind(&fs, info, STORE).unwrap();
    let (of_page, alone) = (
        sources.read_page(id.page(), |_, _| Ok::<_, TierError>(())),
        sources.read_image(id, &store.cache, &mut |_| true),
    );
    let (of_page, alone) = (of_page.err(), alone.err());
    let found = find_one(&sources);
    let counts_others = alone.as_ref().is_some_and(|error| error.to_string().contains("counts other"));
    match &alone {
        Some(error) if !counts_others => assert_eq!(found.unwrap_err().to_string(), error.to_string()),
        // A look-up does not count edges.
        _ => assert_eq!(found.unwrap(), [[Some(1.0)]]),
    }
    assert_eq!(of_page.as_ref().map(ToString::to_string), alone.as_ref().map(ToString::to_string));
    alone.map_or_else(|| "none".to_owned(), |error| error.to_string())
}

/// A delta must fit its image: the same vertices, the stated number of edges, the form of the graph.
#[test]
fn a_delta_that_does_not_fit_its_image_is_damage() {
    let _sound = sound();
    let mut store = Store::new(1);
    store.checkpoint(0);
    assert_eq!(read_changed(&mut store, |_| ()), "none");
    let error = read_changed(&mut store, |delta| delta.present = u64::MAX - 1);
    assert!(error.contains("a delta of other vertices than its image"), "{error}");
    let error = read_changed(&mut store, |delta| delta.edges += 1);
    assert!(error.contains("a delta that counts other edges than there are"), "{error}");
}
