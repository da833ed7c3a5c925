//! Tests that replay in batches of any size has the same result as one operation at a time: the same graph,
//! or the same error at the same position.

use std::collections::BTreeSet;
use std::sync::Arc;

use hedgerow_catalog::schema::Schema;
use hedgerow_core::{
    Direction, GraphConfig, KeyKind, KindId, LabelId, Op, PropertyId, PropertyType, Row, RowRef, Timestamp,
    Value, VertexId, VertexKeyRef,
};
use hedgerow_io::{FileId, Lsn, StoreId, Vfs};
use hedgerow_log::{Log, LogOptions, LogPosition, RecordBuilder, Witness, encode_row, recover_commits};
use hedgerow_mem::Memory;
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{SimFs, explored};

use super::replay::Replay;
use super::{Loaded, load_segments};
use crate::graph::Graph;
use crate::open::THREADS;
use crate::options::Options;
use crate::state::store::Engine;

const IDS: u64 = 150;
const STORE: StoreId = StoreId([7; 16]);
const LABELS: [(u16, bool, &str); 3] = [(1, false, "plain"), (2, true, "ranked"), (3, false, "rich")];

type EdgeKey = (u16, u32, u32, u64);

/// A generator of commits. Nearly all of their operations are valid.
struct Maker {
    rng: SplitMix64,
    config: GraphConfig,
    vertices: BTreeSet<u32>,
    edges: BTreeSet<EdgeKey>,
    /// One of this number of operations is invalid; with 0, none is.
    misfits: u64,
}

impl Maker {
    fn edge(&mut self) -> Option<EdgeKey> {
        let any: Vec<u32> = self.vertices.iter().copied().collect();
        let mut pick = || any.get(self.rng.below(any.len().max(1) as u64) as usize).copied();
        let (src, dst) = (pick()?, pick()?);
        let (src, dst) = if self.config.directed { (src, dst) } else { (src.min(dst), src.max(dst)) };
        let label = [0, 0, 0, 0, 1, 1, 2, 3][self.rng.below(8) as usize];
        let rank = if label == 2 { self.rng.below(3) } else { 0 };
        Some((label, src, dst, rank))
    }

    fn put(&mut self, record: &mut RecordBuilder, (label, src, dst, rank): EdgeKey) {
        let weight = (self.config.weighted && label == 0).then(|| self.rng.below(50) as f64);
        let (label, src, dst) = (LabelId(label), VertexId(src), VertexId(dst));
        let cell = (PropertyId(0), Value::I64(self.rng.below(9) as i64));
        let row = if label.0 == 3 && self.rng.below(3) > 0 { Row::new(vec![cell]) } else { None };
        let mut bytes = Vec::new();
        if let Some(row) = &row {
            encode_row(RowRef::Row(row), &mut bytes);
        }
        let op = if rank == 0 && row.is_none() {
            Op::PutEdge { label, src, dst, weight }
        } else {
            Op::PutItem { label, src, dst, rank, weight, row: &bytes }
        };
        record.push(op).unwrap();
    }

    fn remove(record: &mut RecordBuilder, (label, src, dst, rank): EdgeKey) {
        let (label, src, dst) = (LabelId(label), VertexId(src), VertexId(dst));
        let op = match rank {
            0 => Op::RemoveEdge { label, src, dst },
            rank => Op::RemoveItem { label, src, dst, rank },
        };
        record.push(op).unwrap();
    }

    fn insert_vertex(&self, record: &mut RecordBuilder, id: u32) {
        let n = if self.config.keys == KeyKind::Dense { u64::from(id) } else { 1000 + u64::from(id) };
        record.push(Op::InsertVertex { id: VertexId(id), key: VertexKeyRef::U64(n) }).unwrap();
    }

    fn step(&mut self, record: &mut RecordBuilder) {
        let id = self.rng.below(IDS) as u32;
        if self.misfits > 0 && self.rng.below(self.misfits) == 0 {
            return self.misfit(record, id);
        }
        match self.rng.below(20) {
            0..=4 if self.vertices.insert(id) => self.insert_vertex(record, id),
            5 if self.vertices.contains(&id) && self.rng.below(3) == 0 => {
                let gone: Vec<EdgeKey> =
                    self.edges.iter().filter(|e| e.1 == id || e.2 == id).copied().collect();
                for edge in gone {
                    self.edges.remove(&edge);
                    Self::remove(record, edge);
                }
                self.vertices.remove(&id);
                record.push(Op::RemoveVertex { id: VertexId(id) }).unwrap();
            }
            6..=9 => {
                let at = self.rng.below(self.edges.len().max(1) as u64) as usize;
                if let Some(edge) = self.edges.iter().nth(at).copied() {
                    self.edges.remove(&edge);
                    Self::remove(record, edge);
                }
            }
            _ => {
                if let Some(edge) = self.edge() {
                    self.edges.insert(edge);
                    self.put(record, edge);
                }
            }
        }
    }

    /// Adds an operation that is probably invalid.
    fn misfit(&mut self, record: &mut RecordBuilder, id: u32) {
        let edge = (0, id.min(149), 149, 0);
        match self.rng.below(5) {
            0 => self.insert_vertex(record, id),
            1 => record.push(Op::RemoveVertex { id: VertexId(id) }).unwrap(),
            2 => Self::remove(record, edge),
            3 => self.put(record, (0, edge.1, 4_000_000, 0)),
            _ => self.put(record, edge),
        }
    }
}

fn write_log(fs: &Arc<dyn Vfs>, maker: &mut Maker, commits: u64) {
    let log = Log::create(fs.clone(), LogOptions::new(STORE), LogPosition::START).unwrap();
    let mut record = RecordBuilder::new();
    for ts in 1..=commits {
        record.clear();
        if ts == 1 {
            for (label, multi, name) in LABELS {
                record.push(Op::DefineLabel { label: LabelId(label), multi, ends: None, name }).unwrap();
            }
        } else if ts == 2 {
            let (label, property, kind) = (LabelId(3), PropertyId(0), PropertyType::I64);
            record
                .push(Op::DefineProperty { label, of: KindId::DEFAULT, property, kind, name: "p" })
                .unwrap();
        } else {
            (0..1 + maker.rng.below(12)).for_each(|_| maker.step(&mut record));
        }
        log.reserve(&mut record).unwrap().append(&mut record, Timestamp(ts));
    }
    log.close().unwrap();
}

fn empty(config: GraphConfig) -> Loaded {
    let manifest = hedgerow_tier::Manifest::new(STORE, config);
    load_segments(
        &SimFs::new().handle(),
        (&manifest, "manifest"),
        Schema::default(),
        config,
        Memory::default(),
    )
    .unwrap()
}

/// Returns the result of a replay in batches of `sides`, as text.
fn replayed(fs: &Arc<dyn Vfs>, config: GraphConfig, sides: usize) -> Result<String, String> {
    let mut state = empty(config);
    let witness = Witness { store: STORE, live: &[FileId(1)], durable: Lsn::ZERO };
    let mut replay = Replay::in_batches(&mut state, sides);
    let read = recover_commits(fs.clone(), witness, |commit, ops| replay.commit(commit, ops));
    replay.finish().map_err(|e| e.to_string())?;
    let last = match read {
        Ok(recovered) => recovered.last_ts,
        Err(hedgerow_log::RecoverError::Visitor { error, .. }) => return Err(error.to_string()),
        Err(other) => panic!("{other}"),
    };
    state.free_unused_ids();
    let parts = state.into_parts(last, None, None, None);
    let graph = Graph { engine: Engine::new(&Options::new().background_settling(false), parts, THREADS) };
    let report = graph.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    Ok(content(&graph))
}

fn content(graph: &Graph) -> String {
    let snapshot = graph.snapshot().unwrap();
    let mut text = format!("{} {}\n", snapshot.vertex_count(), snapshot.edge_count().unwrap());
    for (id, key) in snapshot.vertices().unwrap().map(Result::unwrap) {
        text += &format!("{id:?} {key:?}");
        for label in ["", "plain", "ranked", "rich"] {
            for direction in [Direction::Out, Direction::In] {
                let edges = snapshot.edges(&key, (label, direction)).unwrap().unwrap();
                for edge in edges {
                    text +=
                        &format!(" {label}{direction:?}{:?}#{}{:?}", edge.key, edge.rank, edge.properties);
                }
            }
        }
        text.push('\n');
    }
    let changed: Vec<_> = (0..graph.engine.keys.ids.bound.subgraphs())
        .flat_map(|id| graph.engine.pager.tables().map(move |(label, table)| (id, label, table)))
        .filter_map(|(id, label, table)| {
            Some((id, label, table.get(hedgerow_core::SubgraphId(id), &table.hold())?.stamp().applied()))
        })
        .collect();
    text + &format!("{changed:?}")
}

fn first_difference(found: &Result<String, String>, expected: &Result<String, String>) -> String {
    let (Ok(found), Ok(expected)) = (found, expected) else {
        let brief = |r: &Result<String, String>| r.as_ref().map(|_| "a graph").map_err(Clone::clone);
        return format!("{:?} instead of {:?}", brief(found), brief(expected));
    };
    let differs = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
    format!("{differs:?}")
}

#[test]
fn batches_of_any_size_come_to_the_same() {
    let (mut whole, mut refused, mut commits_in_all) = (0, 0, 0);
    for seed in 0..60 {
        let directed = seed % 3 > 0;
        let config = GraphConfig {
            directed,
            reverse: !directed || seed % 3 == 1,
            weighted: seed % 4 < 2,
            keys: if seed % 5 == 0 { KeyKind::Dense } else { KeyKind::U64 },
        };
        let misfits = if seed % 2 == 0 { 0 } else { 400 };
        let rng = SplitMix64::new(seed);
        let mut maker = Maker { rng, config, vertices: BTreeSet::new(), edges: BTreeSet::new(), misfits };
        let commits = 40 + seed * 10;
        let disk = SimFs::new();
        write_log(&disk.handle(), &mut maker, commits);
        let expected = replayed(&disk.handle(), config, 1);
        for sides in [2, 7, 64, 500, usize::MAX] {
            let found = replayed(&disk.handle(), config, sides);
            let same = found == expected;
            let first = first_difference(&found, &expected);
            assert!(same, "seed {seed}, batches of {sides}: {first}");
        }
        assert!(misfits > 0 || expected.is_ok(), "{expected:?}");
        whole += u64::from(expected.is_ok());
        refused += u64::from(expected.is_err());
        commits_in_all += commits;
    }
    explored("replays in batches, to the end", whole, 30);
    explored("replays in batches, refused", refused, 10);
    explored("commits replayed in batches", commits_in_all, 15_000);
}
