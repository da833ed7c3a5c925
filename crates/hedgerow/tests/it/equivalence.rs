//! Random transactions on a store and on the model, over all kinds of graphs. Every result, every snapshot
//! (including old ones) and every reopening must agree.

use std::sync::Mutex;

use hedgerow::{CommitError, Direction, Durability, Error, Graph, Options, Snapshot};
use hedgerow_testkit::{Effort, Generator, Model, ModelConfig, SimFs, explored};

use crate::common;
use crate::common::weights::Weights;

/// The number of sequences in `make test`.
const SEQUENCES: u64 = 2_040;
/// The number of transactions of a sequence, of about three operations each.
const TRANSACTIONS: u64 = 36;

#[derive(Debug, Default)]
pub(crate) struct Seen {
    sequences: u64,
    pub(crate) operations: u64,
    own_reads: u64,
    alone: u64,
    old_snapshots: u64,
    evicted: u64,
    page_versions: u64,
    by_page: u64,
    reopenings: u64,
    rollbacks: u64,
    refused: u64,
}

pub(crate) struct Sequence {
    config: ModelConfig,
    options: Options,
    disk: Option<SimFs>,
    graph: Graph,
    model: Model,
    generator: Generator,
    held: Vec<(Snapshot, Model)>,
    seen: Seen,
}

type Verdict = Result<(), String>;

impl Sequence {
    pub(crate) fn new(seed: u64) -> Sequence {
        let plain = ModelConfig::all().nth((seed % 12) as usize).expect("twelve kinds");
        let config = if seed / 24 % 2 == 1 { plain.with_labels() } else { plain };
        let mut generator = Generator::new(config, seed, 0, 1);
        let universe = [4, 12, 40, 200][generator.rng().below(4) as usize];
        generator = Generator::new(config, generator.rng().next_u64(), 0, universe);
        if seed / 48 % 2 == 1 {
            generator = generator.with_bulk();
        }
        if seed / 96 % 4 == 1 && universe <= 40 {
            generator = generator.far_apart();
        }
        let isolation =
            [hedgerow::Isolation::Serializable, hedgerow::Isolation::Snapshot][(seed / 12 % 2) as usize];
        let durability = [Durability::Sync, Durability::Manual][generator.rng().below(2) as usize];
        let options =
            common::options(config).isolation(isolation).durability(durability).log_segment_bytes(4096);
        let options = common::checkpoints_at_close(options, generator.rng().eighths(4));
        // This option has no effect in an undirected graph.
        let options = options.reverse(!generator.rng().eighths(2));
        // The graphs never reach the limit. It is set because a store with a limit reads single lists from
        // files before it loads data.
        let limit = (seed / 3 % 2 == 1).then_some(4 * hedgerow::LEAST_MEMORY_LIMIT);
        let options = limit.map_or(options.clone(), |limit| options.memory_limit(limit));
        let disk = generator.rng().eighths(5).then(SimFs::new);
        let graph = match &disk {
            Some(disk) => options.clone().open_on(disk.handle()),
            None => options.clone().in_memory(),
        };
        let graph = graph.expect("a new store");
        if config.rich {
            common::rich::define_labels(&graph).expect("definitions");
        }
        Sequence {
            config,
            options,
            disk,
            graph,
            model: Model::new(config),
            generator,
            held: Vec::new(),
            seen: Seen { sequences: 1, ..Seen::default() },
        }
    }

    pub(crate) fn run(mut self) -> Result<Seen, String> {
        for _ in 0..TRANSACTIONS {
            self.transaction()?;
            self.between()?;
        }
        for (snapshot, model) in std::mem::take(&mut self.held) {
            self.compare_old(&snapshot, &model)?;
        }
        self.compare_now()?;
        common::sound(&self.graph)?;
        Ok(self.seen)
    }

    fn transaction(&mut self) -> Verdict {
        let mut after = self.model.clone();
        let mut tx = self.graph.write().map_err(|e| e.to_string())?;
        let create = !self.generator.rng().eighths(1);
        tx.create_endpoints(create).map_err(|e| e.to_string())?;
        let mut refused = false;
        for op in self.generator.transaction(Some(&self.model), 8) {
            refused |= !create && !after.has_endpoints(&op);
            let expected = after.apply(&op);
            let found = common::apply(&mut tx, self.config.weighted, &op).map_err(|e| e.to_string())?;
            // The test does not compare results inside a transaction that the commit will refuse.
            if found != expected && !refused {
                return Err(format!("{op:?} returned {found}, should return {expected}"));
            }
            self.seen.operations += 1;
            if !refused && self.generator.rng().eighths(2) {
                self.read_own(&mut tx, &after)?;
            }
        }
        if self.generator.rng().below(10) == 0 {
            drop(tx);
            self.seen.rollbacks += 1;
            return Ok(());
        }
        match tx.commit() {
            Ok(_) if !refused => self.model = after,
            Err(Error::Commit(CommitError::NoSuchVertex { .. })) if refused => self.seen.refused += 1,
            other => return Err(format!("commit: {other:?}, refusal expected: {refused}")),
        }
        Ok(())
    }

    /// Reads inside the transaction see the snapshot and its own writes.
    fn read_own(&mut self, tx: &mut hedgerow::WriteTxn, expected: &Model) -> Verdict {
        self.seen.own_reads += 1;
        let (a, b) = (self.generator.key(), self.generator.key());
        let weight = tx.weight(&a, &b).map_err(|e| e.to_string())?;
        if weight.map(f64::to_bits) != expected.weight(&a, &b).map(f64::to_bits) {
            return Err(format!("own weight of {a} to {b}: {weight:?}, not {:?}", expected.weight(&a, &b)));
        }
        if tx.contains_vertex(&a).map_err(|e| e.to_string())? != expected.contains_vertex(&a) {
            return Err(format!("own vertex {a}"));
        }
        if self.config.rich {
            self.read_own_items(tx, &a, expected)?;
        }
        let lists = expected.neighbors(&a);
        for (i, direction) in [Direction::Out, Direction::In].into_iter().enumerate() {
            let found = tx.weighted_neighbors(&a, direction).map_err(|e| e.to_string())?;
            if found != lists.as_ref().map(|l| l[i].clone()) {
                return Err(format!("own {direction:?} of {a}: {found:?}, not {lists:?}"));
            }
        }
        Ok(())
    }

    fn read_own_items(
        &mut self,
        tx: &mut hedgerow::WriteTxn,
        at: &hedgerow::VertexKey,
        expected: &Model,
    ) -> Verdict {
        let existing = expected.items().next().map(|(item, _)| item.clone());
        for item in [Some(self.generator.item()), existing].into_iter().flatten() {
            let found = tx.edge_properties(common::rich::edge(&item)).map_err(|e| e.to_string())?;
            let found = found.map(common::rich::props);
            if found != expected.item_props(&item) {
                return Err(format!("own {item:?}: {found:?}, not {:?}", expected.item_props(&item)));
            }
        }
        let found = tx.vertex_properties(at).map_err(|e| e.to_string())?.map(common::rich::props);
        if found != expected.vertex_props(at) {
            return Err(format!("own properties of {at}: {found:?}, not {:?}", expected.vertex_props(at)));
        }
        for (label, direction) in
            [("knows", Direction::Out), ("calls", Direction::Out), ("calls", Direction::In)]
        {
            let incoming = direction == Direction::In && self.config.directed;
            let wanted = expected.contains_vertex(at).then(|| expected.neighbors_of(label, at, incoming));
            let found = tx.edge_list(at, (label, direction)).map_err(|e| e.to_string())?;
            let found: Option<Vec<_>> =
                found.map(|all| all.into_iter().map(|(key, _, rank)| (key, rank)).collect());
            if found != wanted {
                return Err(format!("own {label} {direction:?} of {at}: {found:?}, not {wanted:?}"));
            }
        }
        Ok(())
    }

    /// Does one of the actions that may happen between two transactions.
    fn between(&mut self) -> Verdict {
        match self.generator.rng().below(16) {
            0..3 if self.held.len() < 6 => {
                let snapshot = self.graph.snapshot().map_err(|e| e.to_string())?;
                self.held.push((snapshot, self.model.clone()));
            }
            3 | 4 if !self.held.is_empty() => {
                let at = self.generator.rng().below(self.held.len() as u64) as usize;
                let (snapshot, model) = self.held.swap_remove(at);
                self.compare_old(&snapshot, &model)?;
            }
            5 => self.graph.settle().map_err(|e| e.to_string())?,
            6 => self.compare_now()?,
            7 if self.disk.is_some() => drop(self.graph.checkpoint().map_err(|e| e.to_string())?),
            8 => self.reopen()?,
            // The store evicts all clean data, and later operations have to load it again.
            12..14 if self.disk.is_some() => {
                if self.generator.rng().eighths(4) {
                    self.graph.checkpoint().map_err(|e| e.to_string())?;
                }
                if self.generator.rng().eighths(4) {
                    let written = self.graph.internals().write_page_versions().map_err(|e| e.to_string())?;
                    self.seen.page_versions += written as u64;
                }
                let taken = if self.seen.evicted.is_multiple_of(2) {
                    self.graph.internals().evict()
                } else {
                    self.graph.internals().cool()
                };
                self.seen.evicted += taken.map_err(|e| e.to_string())? as u64;
            }
            // The account has charged the bytes that a walk over the store finds, after any earlier
            // operations.
            11 => drop(common::account::check(&self.graph)?),
            9..11 => self.autocommit()?,
            _ => {}
        }
        Ok(())
    }

    fn reopen(&mut self) -> Verdict {
        let Some(disk) = &self.disk else { return Ok(()) };
        self.graph.close().map_err(|e| e.to_string())?;
        // Snapshots of a closed store stay readable.
        if let Some((snapshot, model)) = self.held.first() {
            common::same(snapshot, self.config, model)?;
        }
        self.held.clear();
        let options = self.options.clone();
        self.graph = options.open_on(disk.handle()).map_err(|e| format!("reopen: {e}"))?;
        self.seen.reopenings += 1;
        // Without a comparison the data stays unloaded, so the next transactions have to load it.
        if self.generator.rng().eighths(4) {
            return Ok(());
        }
        self.compare_now()
    }

    /// Makes a few operations, each in its own transaction.
    fn autocommit(&mut self) -> Verdict {
        for op in self.generator.transaction(Some(&self.model), 8) {
            // Vertices have no operations outside of transactions.
            let expected = self.model.clone().apply(&op);
            let Some(found) = common::apply_alone(&self.graph, self.config.weighted, &op) else { continue };
            let found = found.map_err(|e| e.to_string())?;
            self.model.apply(&op);
            if found != expected {
                return Err(format!("alone, {op:?} returned {found}, should return {expected}"));
            }
            self.seen.alone += 1;
        }
        Ok(())
    }

    fn compare_now(&mut self) -> Verdict {
        let snapshot = self.graph.snapshot().map_err(|e| e.to_string())?;
        self.compare_by_page(&snapshot)?;
        common::same_in_all_reads(&snapshot, self.config, &self.model)
    }

    /// Compares tiered reads with other reads, before the other reads load evicted data.
    fn compare_by_page(&mut self, snapshot: &Snapshot) -> Verdict {
        if self.generator.rng().eighths(6) {
            return Ok(());
        }
        self.seen.by_page += 1;
        common::tiered::agrees(snapshot)
    }

    fn compare_old(&mut self, snapshot: &Snapshot, model: &Model) -> Verdict {
        self.seen.old_snapshots += 1;
        self.compare_by_page(snapshot)?;
        // A snapshot with a page version reads list by list: the store does not load whole labels for it.
        let same = match self.seen.page_versions {
            0 => common::same_in_all_reads,
            _ => common::same_without_views,
        };
        same(snapshot, self.config, model)
            .map_err(|e| format!("old snapshot at {}: {e}", snapshot.timestamp()))
    }
}

pub(crate) fn random_transactions_agree_with_the_model() {
    let total = Mutex::new(Seen::default());
    let effort = Effort::rounds(SEQUENCES);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(seed) = effort.next_seed() {
                    let seen = Sequence::new(seed)
                        .run()
                        .unwrap_or_else(|e| panic!("replay with HEDGEROW_ROUND={seed}: {e}"));
                    let mut total = total.lock().unwrap();
                    total.sequences += seen.sequences;
                    total.operations += seen.operations;
                    total.own_reads += seen.own_reads;
                    total.alone += seen.alone;
                    total.old_snapshots += seen.old_snapshots;
                    total.evicted += seen.evicted;
                    total.page_versions += seen.page_versions;
                    total.by_page += seen.by_page;
                    total.reopenings += seen.reopenings;
                    total.rollbacks += seen.rollbacks;
                    total.refused += seen.refused;
                }
            });
        }
    });
    let seen = total.into_inner().unwrap();
    explored("model sequences", seen.sequences, 2_000);
    explored("model operations", seen.operations, 200_000);
    explored("reads of own writes", seen.own_reads, 10_000);
    explored("operations in transactions of their own", seen.alone, 10_000);
    explored("subgraphs taken out of memory", seen.evicted, 4_000);
    explored("page versions of held snapshots", seen.page_versions, 1_000);
    explored("views by the page compared", seen.by_page, 4_000);
    explored("old snapshots compared", seen.old_snapshots, 5_000);
    explored("reopenings compared", seen.reopenings, 1_000);
    explored("transactions rolled back or refused", seen.rollbacks + seen.refused, 1_000);
}
