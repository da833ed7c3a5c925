//! The reads that a transaction makes of its own writes match the state after its commit. Random transactions
//! use all methods that write, for one edge and for many. Between the writes they use every read, and another
//! transaction commits first.

use std::sync::Mutex;

use hedgerow::{CommitError, Direction, EdgeKey, Error, Graph, Isolation, Value, WriteTxn};
use hedgerow_testkit::{BulkOp, Effort, Generator, Model, ModelConfig, ModelOp, RichOp, explored};

use crate::common;
use crate::common::weights::Weights;
use crate::own_reads::{Read, draw};

/// The number of stores in `make test`.
const STORES: u64 = 3_600;
const TRANSACTIONS: u64 = 12;

#[derive(Debug, Default)]
struct Seen {
    stores: u64,
    operations: u64,
    of_many: u64,
    reads: u64,
    /// The number of commits after a commit of another transaction, and the number of those that were refused
    /// for it.
    second: u64,
    conflicts: u64,
    refused: u64,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.stores += other.stores;
        self.operations += other.operations;
        self.of_many += other.of_many;
        self.reads += other.reads;
        self.second += other.second;
        self.conflicts += other.conflicts;
        self.refused += other.refused;
    }
}

/// A step of a transaction, with its answer.
#[derive(Debug)]
enum Step {
    Wrote(ModelOp, bool),
    Read(Read, String),
}

struct Store {
    config: ModelConfig,
    isolation: Isolation,
    graph: Graph,
    model: Model,
    generator: Generator,
    seen: Seen,
}

type Verdict = Result<(), String>;

fn shown(error: Error) -> String {
    error.to_string()
}

impl Store {
    fn new(seed: u64) -> Store {
        let plain = ModelConfig::all().nth((seed % 12) as usize).expect("twelve kinds");
        let config = if seed / 24 % 2 == 1 { plain.with_labels() } else { plain };
        let mut generator = Generator::new(config, seed, 0, 1);
        let universe = [2, 4, 12, 30][generator.rng().below(4) as usize];
        let (reverse, far) = (!generator.rng().eighths(2), generator.rng().eighths(2));
        generator = Generator::new(config, generator.rng().next_u64(), 0, universe).with_bulk();
        if far {
            generator = generator.far_apart();
        }
        let isolation = [Isolation::Serializable, Isolation::Snapshot][(seed / 12 % 2) as usize];
        let graph = common::options(config).isolation(isolation).reverse(reverse).in_memory();
        let graph = graph.expect("a new store");
        if config.rich {
            common::rich::define_labels(&graph).expect("definitions");
        }
        let seen = Seen { stores: 1, ..Seen::default() };
        Store { config, isolation, graph, model: Model::new(config), generator, seen }
    }

    fn run(mut self) -> Result<Seen, String> {
        for _ in 0..TRANSACTIONS {
            self.transaction()?;
            let snapshot = self.graph.snapshot().map_err(shown)?;
            common::same(&snapshot, self.config, &self.model)?;
        }
        common::sound(&self.graph)?;
        Ok(self.seen)
    }

    fn transaction(&mut self) -> Verdict {
        let mut after = self.model.clone();
        let mut tx = self.graph.write().map_err(shown)?;
        let create = !self.generator.rng().eighths(2);
        tx.create_endpoints(create).map_err(shown)?;
        let mut refused = false;
        let mut steps = Vec::new();
        for op in self.generator.transaction(Some(&self.model), 10) {
            refused |= !create && !after.has_endpoints(&op);
            let expected = after.apply(&op);
            let found = self.write(&mut tx, &op)?;
            // The test does not compare results inside a transaction that the commit will refuse.
            if !refused {
                if found != expected {
                    return Err(format!("{op:?} returned {found}, should return {expected}"));
                }
                steps.push(Step::Wrote(op, found));
                self.read(&mut tx, &after, &mut steps)?;
            }
        }
        if self.generator.rng().eighths(1) {
            drop(tx);
            return Ok(());
        }
        // A transaction that only reads has its place in the order at its snapshot, not at its commit.
        let comparable = self.isolation == Isolation::Serializable && !refused && tx.operation_count() > 0;
        if comparable && self.generator.rng().eighths(3) {
            return self.commit_second(tx, create, &steps);
        }
        match tx.commit() {
            Ok(_) if !refused => self.model = after,
            Err(Error::Commit(CommitError::NoSuchVertex { .. })) if refused => self.seen.refused += 1,
            other => return Err(format!("commit: {other:?}, refusal expected: {refused}")),
        }
        Ok(())
    }

    /// Calls the method for `op`. If a simpler method does the same, sometimes calls the simpler method.
    fn write(&mut self, tx: &mut WriteTxn, op: &ModelOp) -> Result<bool, String> {
        self.seen.operations += 1;
        self.seen.of_many += u64::from(matches!(op, ModelOp::Bulk(_)));
        if self.generator.rng().eighths(4) {
            match op {
                ModelOp::PutEdge(src, dst, 1.0) => {
                    return tx.put_edge((src, dst)).map(|()| true).map_err(shown);
                }
                ModelOp::InsertEdge(src, dst, 1.0) => return tx.insert_edge((src, dst)).map_err(shown),
                ModelOp::Rich(RichOp::Update(item, props)) if props.len() == 1 => {
                    let (name, value) = props[0].clone();
                    return tx.update_edge(common::rich::edge(item), [(&name, value)]).map_err(shown);
                }
                ModelOp::Rich(RichOp::UpdateVertex(v, props)) if props.len() == 1 => {
                    let (name, value) = props[0].clone();
                    return tx.update_vertex(v, [(&name, value)]).map_err(shown);
                }
                _ => {}
            }
        }
        common::apply(tx, self.config.weighted, op).map_err(shown)
    }

    fn read(&mut self, tx: &mut WriteTxn, after: &Model, steps: &mut Vec<Step>) -> Verdict {
        let count = [0, 0, 1, 3][self.generator.rng().below(4) as usize];
        for _ in 0..count {
            let read = draw(&mut self.generator, self.config, after);
            let found = read.of_transaction(tx).map_err(|e| format!("{read:?}: {e}"))?;
            let expected = read.of_model(after, self.config);
            if found != expected {
                return Err(format!("{read:?} answers {found}, after the commit it would be {expected}"));
            }
            self.seen.reads += 1;
            steps.push(Step::Read(read, found));
        }
        Ok(())
    }

    /// Returns the operations of a transaction that commits before a transaction with these steps. Half of
    /// the time they change an edge that the later transaction inserted blindly.
    fn between(&mut self, steps: &[Step]) -> Vec<ModelOp> {
        let blind = steps.iter().filter_map(|step| match step {
            Step::Wrote(ModelOp::Bulk(BulkOp::Insert(edges)), _) => Some(edges),
            _ => None,
        });
        let blind: Vec<_> = blind.flatten().collect();
        if blind.is_empty() || self.generator.rng().eighths(4) {
            return self.generator.transaction(Some(&self.model), 2);
        }
        let (src, dst) = blind[self.generator.rng().below(blind.len() as u64) as usize].clone();
        let weight = if self.config.weighted { self.generator.rng().below(9) as f64 } else { 1.0 };
        let gone = self.generator.rng().eighths(3);
        vec![if gone { ModelOp::RemoveEdge(src, dst) } else { ModelOp::PutEdge(src, dst, weight) }]
    }

    /// Commits `tx` after another transaction. If `tx` succeeds, every answer must equal its answer after the
    /// other transaction. So the transaction has recorded each read of own writes that depends on the
    /// snapshot.
    fn commit_second(&mut self, tx: WriteTxn, create: bool, steps: &[Step]) -> Verdict {
        let mut between = self.graph.write().map_err(shown)?;
        for op in self.between(steps) {
            self.model.apply(&op);
            common::apply(&mut between, self.config.weighted, &op).map_err(shown)?;
        }
        between.commit().map_err(shown)?;
        self.seen.second += 1;
        let mut after = self.model.clone();
        let mut lacks_endpoint = false;
        let mut differs = None;
        for step in steps {
            match step {
                Step::Wrote(op, found) => {
                    lacks_endpoint |= !create && !after.has_endpoints(op);
                    if after.apply(op) != *found {
                        differs.get_or_insert_with(|| format!("{op:?} returned {found}"));
                    }
                }
                Step::Read(read, found) if read.of_model(&after, self.config) != *found => {
                    differs.get_or_insert_with(|| format!("{read:?} answered {found}"));
                }
                Step::Read(..) => {}
            }
        }
        match (tx.commit(), differs) {
            (Ok(_), None) if !lacks_endpoint => self.model = after,
            (Ok(_), differs) => {
                return Err(format!("committed although {differs:?} no longer holds, after {steps:?}"));
            }
            (Err(Error::Commit(CommitError::Conflict { .. })), _) => self.seen.conflicts += 1,
            (Err(Error::Commit(CommitError::NoSuchVertex { .. })), _) if lacks_endpoint => {
                self.seen.refused += 1
            }
            (Err(error), _) => return Err(format!("commit after another: {error}")),
        }
        Ok(())
    }
}

#[test]
fn own_writes_read_as_they_will_be_after_the_commit() {
    let total = Mutex::new(Seen::default());
    let effort = Effort::rounds(STORES);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(seed) = effort.next_seed() {
                    let seen = Store::new(seed).run();
                    let seen = seen.unwrap_or_else(|e| panic!("replay with HEDGEROW_ROUND={seed}: {e}"));
                    total.lock().unwrap().add(&seen);
                }
            });
        }
    });
    let seen = total.into_inner().unwrap();
    explored("stores with reads of own writes of all methods", seen.stores, 3_000);
    explored("writes before these reads", seen.operations, 80_000);
    explored("of these writes of many edges", seen.of_many, 10_000);
    explored("reads of own writes of all methods", seen.reads, 80_000);
    explored("commits after another of these", seen.second, 5_000);
    explored("of these refused with a conflict", seen.conflicts, 500);
    explored("commits of these refused for want of an endpoint", seen.refused, 500);
}

/// If a blind insertion leaves an edge unchanged, a read of this edge depends on the snapshot. The store
/// refuses the commit if the edge changed.
#[test]
fn a_read_of_a_blind_insertion_is_validated() {
    let graph = crate::common::small().weighted(true).in_memory().unwrap();
    graph.put_edge((1, 2, 5.0)).unwrap();
    let inserted = || {
        let mut tx = graph.write().unwrap();
        tx.insert_edges([(1u64, 2u64), (1, 3)]).unwrap();
        tx
    };
    let reads: [fn(&mut WriteTxn) -> hedgerow::Result<bool>; 3] = [
        |tx| Ok(tx.weight(1, 2)? == Some(5.0)),
        |tx| Ok(tx.weighted_neighbors(1, Direction::Out)?.is_some_and(|all| all.len() == 2)),
        |tx| Ok(tx.edge_property(EdgeKey::new("", 1, 2), "weight")? == Some(Value::F64(5.0))),
    ];
    for read in reads {
        let mut tx = inserted();
        assert!(read(&mut tx).unwrap());
        graph.put_edge((1, 2, 6.0)).unwrap();
        assert!(matches!(tx.commit(), Err(Error::Commit(CommitError::Conflict { .. }))));
        graph.put_edge((1, 2, 5.0)).unwrap();
    }
    // Without a read, the blind insertion conflicts with no other transaction.
    let tx = inserted();
    graph.put_edge((1, 2, 7.0)).unwrap();
    tx.commit().unwrap();
    assert_eq!(graph.snapshot().unwrap().default_label().weight_between(1, 2).unwrap(), Some(7.0));
}
