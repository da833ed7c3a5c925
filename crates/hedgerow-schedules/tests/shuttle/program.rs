//! Random programs: a few threads, each with a few transactions over five vertices.

use hedgerow::{
    CommitError, Direction, EdgePattern, Error, Graph, KindId, LabelOptions, PropertyType, Snapshot, Value,
    WriteTxn,
};
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::Setting;
use crate::history::{Attempt, Done, History};
use crate::names::Names;

/// The vertices of all programs. In a dense graph they belong to four subgraphs, and the last two have pages
/// of their own.
pub(crate) const VERTICES: [u64; 5] = [0, 1, 64, 5_003, 10_006];

/// A step of a transaction. The answer of a read is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    HasVertex(u64),
    HasEdge(u64, u64),
    /// The out-neighbors, as a bit mask over [`VERTICES`].
    Neighbors(u64),
    InsertVertex(u64),
    RemoveVertex(u64),
    PutEdge(u64, u64),
    InsertEdge(u64, u64),
    RemoveEdge(u64, u64),
    /// The following three steps call the operations for many edges, which read nothing.
    PutBlindly(u64, u64),
    InsertBlindly(u64, u64),
    RemoveBlindly(u64, u64),
    /// The following steps use a label: its edges may be parallel, have a rank and a property.
    HasItem(Item),
    /// The edges of the label from a vertex, as a bit mask over [`VERTICES`] and ranks.
    Items(u64),
    ItemProperty(Item),
    PutItem(Item, i64),
    InsertItem(Item, i64),
    UpdateItem(Item, i64),
    RemoveItem(Item),
    VertexProperty(u64),
    SetVertex(u64, i64),
}

/// The source, the destination and the rank of an edge with a label.
pub(crate) type Item = (u64, u64, u64);

/// The bound of the ranks.
pub(crate) const RANKS: u64 = 2;

pub(crate) const LABEL: &str = "calls";
pub(crate) const PROPERTY: &str = "number";

/// Defines the label and the properties of programs with labels.
pub(crate) fn define(graph: &Graph) {
    graph.define_label(LABEL, LabelOptions::new().multi(true)).expect("new");
    graph.define_edge_property(LABEL, PROPERTY, PropertyType::I64).expect("new");
    graph.define_vertex_property(KindId::DEFAULT, PROPERTY, PropertyType::I64).expect("new");
}

/// Returns the answer to a read of a property: 0 without an item, 1 without a value, otherwise two plus the
/// value.
pub(crate) fn property(found: Option<Option<i64>>) -> u64 {
    found.map_or(0, |number| number.map_or(1, |n| n as u64 + 2))
}

fn number(found: Option<Value>) -> u64 {
    property(found.map(|value| if let Value::I64(n) = value { Some(n) } else { None }))
}

#[derive(Clone, Debug)]
enum Unit {
    Write(Vec<Step>),
    Read(Vec<Step>),
    /// Edge operations through a pipeline. Each is a transaction of its own.
    Pipe(Vec<Step>),
}

/// A program: the units of each thread.
pub(crate) struct Program {
    threads: Vec<Vec<Unit>>,
    names: Names,
    directed: bool,
    labels: bool,
}

fn step(rng: &mut SplitMix64, reads_only: bool, labels: bool) -> Step {
    if labels && rng.below(4) != 0 {
        return labelled_step(rng, reads_only);
    }
    let v = VERTICES[rng.below(5) as usize];
    let u = VERTICES[rng.below(5) as usize];
    match rng.below(if reads_only { 5 } else { 18 }) {
        0 => Step::HasVertex(v),
        1 | 2 => Step::HasEdge(v, u),
        3 | 4 => Step::Neighbors(v),
        5 => Step::InsertVertex(v),
        6 => Step::RemoveVertex(v),
        7..=9 => Step::PutEdge(v, u),
        10 | 11 => Step::InsertEdge(v, u),
        12 | 13 => Step::RemoveEdge(v, u),
        14 => Step::PutBlindly(v, u),
        15 => Step::InsertBlindly(v, u),
        _ => Step::RemoveBlindly(v, u),
    }
}

fn labelled_step(rng: &mut SplitMix64, reads_only: bool) -> Step {
    let v = VERTICES[rng.below(5) as usize];
    let item = (v, VERTICES[rng.below(5) as usize], rng.below(RANKS));
    let number = rng.below(100) as i64;
    match rng.below(if reads_only { 5 } else { 13 }) {
        0 => Step::HasItem(item),
        1 | 2 => Step::Items(v),
        3 => Step::ItemProperty(item),
        4 => Step::VertexProperty(v),
        5..=7 => Step::PutItem(item, number),
        8 | 9 => Step::InsertItem(item, number),
        10 => Step::UpdateItem(item, number),
        11 => Step::RemoveItem(item),
        _ => Step::SetVertex(v, number),
    }
}

impl Step {
    fn is_edge_write(self) -> bool {
        matches!(self, Step::PutEdge(..) | Step::InsertEdge(..) | Step::RemoveEdge(..))
    }
}

impl Program {
    pub(crate) fn generate(seed: u64, setting: Setting) -> Program {
        let Setting { directed, keys, durable, labels, .. } = setting;
        let mut rng = SplitMix64::new(seed);
        let unit = |rng: &mut SplitMix64| {
            let kind = rng.below(5);
            let steps = (0..1 + rng.below(3)).map(|_| step(rng, kind == 0, labels));
            match kind {
                0 => Unit::Read(steps.collect()),
                // Not in a durable store, because the scheduler does not control the thread that syncs for
                // pipelines.
                1 if !durable => Unit::Pipe(steps.filter(|s| s.is_edge_write()).collect()),
                _ => Unit::Write(steps.collect()),
            }
        };
        // In some programs, two threads write so much that several merges happen during the transaction of
        // the third.
        let long = rng.below(4) == 0;
        let thread = |rng: &mut SplitMix64, i: u64| {
            let units = if long && i > 0 { 8 } else { 1 + rng.below(3) };
            (0..units).map(|_| unit(rng)).collect()
        };
        Program {
            threads: (0..3).map(|i| thread(&mut rng, i)).collect(),
            names: Names::of(seed, keys),
            directed,
            labels,
        }
    }

    pub(crate) fn names(&self) -> Names {
        self.names
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn run_thread(&self, thread: usize, graph: &Graph, history: &History) {
        for unit in &self.threads[thread] {
            match unit {
                Unit::Read(steps) => read(graph, self.names, history, steps),
                Unit::Write(steps) => write(graph, self.names, history, steps),
                Unit::Pipe(steps) => pipe(graph, self.names, history, steps),
            }
        }
    }

    /// Reads the whole graph after all threads have ended.
    pub(crate) fn run_last(&self, graph: &Graph, history: &History) {
        let mut steps: Vec<Step> = VERTICES.iter().map(|&v| Step::HasVertex(v)).collect();
        steps.extend(VERTICES.iter().map(|&v| Step::Neighbors(v)));
        if self.labels {
            steps.extend(VERTICES.iter().flat_map(|&v| [Step::Items(v), Step::VertexProperty(v)]));
            let items = VERTICES.iter().flat_map(|&v| VERTICES.iter().map(move |&u| (v, u)));
            steps.extend(items.flat_map(|(v, u)| (0..RANKS).map(move |r| Step::ItemProperty((v, u, r)))));
        }
        read(graph, self.names, history, &steps);
        let snapshot = graph.snapshot().expect("open");
        history.last_counts(snapshot.vertex_count(), snapshot.edge_count().unwrap());
        if self.directed {
            for v in VERTICES.map(|v| self.names.key(v)) {
                let into = snapshot.neighbors(v, ("", Direction::In)).unwrap().unwrap_or_default();
                assert!(
                    into.iter().all(|u| snapshot
                        .contains_edge(EdgePattern::between(u.as_ref(), v).label(""))
                        .unwrap()),
                    "the two sides of an edge differ"
                );
            }
        }
    }
}

/// Returns a list of the label as a bit mask.
fn items(names: Names, list: Vec<(hedgerow::VertexKey, hedgerow::LabelId, u64)>) -> u64 {
    list.iter().fold(0, |m, (key, _, rank)| {
        let place = names.mask([key]).trailing_zeros() as u64 * RANKS + rank;
        assert!(m & 1 << place == 0, "an edge is listed twice");
        m | 1 << place
    })
}

fn read(graph: &Graph, names: Names, history: &History, steps: &[Step]) {
    let began = history.tick();
    let snapshot = graph.snapshot().expect("open");
    // Writers merge and reclaim in the meantime.
    (0..steps.len() * 4).for_each(|_| shuttle::thread::yield_now());
    let answers = steps.iter().map(|&step| answer(&snapshot, names, step)).collect();
    let ts = snapshot.timestamp();
    history.push(Attempt {
        began,
        ended: history.tick(),
        steps: steps.to_vec(),
        done: Done::Read { ts, answers },
    });
}

fn answer(snapshot: &Snapshot, names: Names, step: Step) -> u64 {
    let key = |v| names.key(v);
    match step {
        Step::HasVertex(v) => u64::from(snapshot.contains_vertex(key(v)).unwrap()),
        Step::HasEdge(v, u) => {
            u64::from(snapshot.contains_edge(EdgePattern::between(key(v), key(u)).label("")).unwrap())
        }
        Step::Neighbors(v) => {
            names.mask(&snapshot.neighbors(key(v), ("", Direction::Out)).unwrap().unwrap_or_default())
        }
        Step::HasItem(item) => u64::from(snapshot.contains_edge(names.edge(item)).expect("defined")),
        Step::Items(v) => items(
            names,
            snapshot.edge_list(key(v), (LABEL, Direction::Out)).expect("defined").unwrap_or_default(),
        ),
        Step::ItemProperty(item) => {
            number(snapshot.edge_property(names.edge(item), PROPERTY).expect("defined"))
        }
        Step::VertexProperty(v) => number(snapshot.vertex_property(key(v), PROPERTY).unwrap()),
        _ => unreachable!("a snapshot only reads"),
    }
}

fn write(graph: &Graph, names: Names, history: &History, steps: &[Step]) {
    let began = history.tick();
    let mut txn = graph.write().expect("open");
    let run = |txn: &mut WriteTxn| -> hedgerow::Result<Vec<u64>> {
        steps.iter().map(|&s| perform(txn, names, s)).collect()
    };
    let answers = run(&mut txn).expect("steps do not fail");
    let done = match txn.commit() {
        Ok(ts) => Done::Written { ts, answers },
        Err(Error::Commit(CommitError::Conflict { .. })) => Done::Refused,
        Err(other) => panic!("{other}"),
    };
    history.push(Attempt { began, ended: history.tick(), steps: steps.to_vec(), done });
}

fn perform(txn: &mut WriteTxn, names: Names, step: Step) -> hedgerow::Result<u64> {
    let key = |v| names.key(v);
    Ok(match step {
        Step::HasVertex(v) => u64::from(txn.contains_vertex(key(v))?),
        Step::HasEdge(v, u) => u64::from(txn.contains_edge(EdgePattern::between(key(v), key(u)).label(""))?),
        Step::Neighbors(v) => names.mask(&txn.neighbors(key(v), ("", Direction::Out))?.unwrap_or_default()),
        Step::InsertVertex(v) => u64::from(txn.insert_vertex(key(v))?),
        Step::RemoveVertex(v) => u64::from(txn.remove_vertex(key(v))?),
        Step::PutEdge(v, u) => txn.put_edge((key(v), key(u))).map(|()| 0)?,
        Step::InsertEdge(v, u) => u64::from(txn.insert_edge((key(v), key(u)))?),
        Step::RemoveEdge(v, u) => u64::from(txn.remove_edge((key(v), key(u)))?),
        Step::PutBlindly(v, u) => txn.put_edges([(key(v), key(u))]).map(|()| 0)?,
        Step::InsertBlindly(v, u) => txn.insert_edges([(key(v), key(u))]).map(|()| 0)?,
        Step::RemoveBlindly(v, u) => txn.remove_edges([(key(v), key(u))]).map(|()| 0)?,
        Step::HasItem(item) => u64::from(txn.contains_edge(names.edge(item))?),
        Step::Items(v) => items(names, txn.edge_list(key(v), (LABEL, Direction::Out))?.unwrap_or_default()),
        Step::ItemProperty(item) => number(txn.edge_property(names.edge(item), PROPERTY)?),
        Step::PutItem(item, n) => txn.put_edge_with(names.edge(item), [(PROPERTY, n)]).map(|()| 0)?,
        Step::InsertItem(item, n) => u64::from(txn.insert_edge_with(names.edge(item), [(PROPERTY, n)])?),
        Step::UpdateItem(item, n) => u64::from(txn.update_edge(names.edge(item), [(PROPERTY, n)])?),
        Step::RemoveItem(item) => u64::from(txn.remove_edge(names.edge(item))?),
        Step::VertexProperty(v) => number(txn.vertex_property(key(v), PROPERTY)?),
        Step::SetVertex(v, n) => u64::from(txn.update_vertex(key(v), [(PROPERTY, n)])?),
    })
}

/// Runs a pipeline with a window of four. The acknowledgement of an operation has its timestamp and its
/// answer.
fn pipe(graph: &Graph, names: Names, history: &History, steps: &[Step]) {
    let (since, began) = (graph.published_ts(), history.tick());
    let acknowledge = |ack: hedgerow::Ack| {
        let (step, applied) = (steps[ack.ticket as usize], ack.result.expect("nothing fails here"));
        let answer = match step {
            Step::InsertEdge(..) => u64::from(applied.edges > 0),
            Step::RemoveEdge(..) => u64::from(applied.edges < 0),
            _ => 0,
        };
        let (ts, answers) = (applied.timestamp, vec![answer]);
        let done = match applied.edges {
            0 => Done::Unchanged { since, ts, answers },
            _ => Done::Written { ts, answers },
        };
        history.push(Attempt { began, ended: history.tick(), steps: vec![step], done });
    };
    let key = |v| names.key(v);
    let mut pipeline = graph.pipeline(acknowledge).expect("open").with_window(4);
    for &step in steps {
        match step {
            Step::PutEdge(v, u) => pipeline.put_edge(key(v), key(u)),
            Step::InsertEdge(v, u) => pipeline.insert_edge(key(v), key(u)),
            Step::RemoveEdge(v, u) => pipeline.remove_edge(key(v), key(u)),
            _ => unreachable!("only edge writes"),
        }
        .expect("nothing fails here");
    }
    pipeline.flush().expect("nothing fails here");
}
