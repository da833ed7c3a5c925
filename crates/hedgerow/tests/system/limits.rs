//! The memory limit under stores of every shape: random labels, keys, hubs, long values and open snapshots.
//! Random calls run on the store and on a model of the graph. After each call, the memory account is within
//! the limit. The store refuses a call only if the call needs more than the limit can provide. Each store
//! runs in a separate process. If possible, the process is in a control group of little more than the limit.

mod plan;

use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow::{
    CommitError, Comparison, Direction, EdgeDirection, EdgeKey, EdgeSelection, Error, Graph, KernelView,
    Shortage, Snapshot, StorageError, Topology, Value,
};
use hedgerow_testkit::{Effort, explored, is_deep, skipped};

use crate::group::{Group, told};
use plan::{MODEL_EDGE, Model, Plan};

/// The variable with the child's arguments: `STORE SEED STEPS GROUP`; the group is `-` if there is none.
const CHILD: &str = "HEDGEROW_SYSTEM_LIMITS";
const STORES: u64 = 20;
const STEPS: u64 = 200;
/// The memory of the process in addition to 110% of the limit and the model: the program, its stacks, and
/// memory that the allocator keeps.
const BESIDE: u64 = 32 << 20;
/// The bytes by which the model may grow during the calls.
const MODEL_GROWTH: u64 = 32 << 20;
/// The number of edges in each transaction of a call with many edges.
const BATCH: usize = 2_000;

/// A store within its limit, and the model of its content.
struct Run {
    plan: Plan,
    graph: Graph,
    model: Model,
    held: Vec<(Snapshot, u64)>,
    path: PathBuf,
    next: i64,
    refused: u64,
    /// The maximum growth of the anonymous memory of the process, measured after each call.
    grown: u64,
}

/// Returns the shortage of a permitted refusal.
fn refusal(error: &Error) -> Option<Shortage> {
    match error {
        Error::Commit(CommitError::MemoryLimit(shortage))
        | Error::Storage(StorageError::MemoryLimit(shortage)) => Some(*shortage),
        _ => None,
    }
}

impl Run {
    /// Returns the result of a call, or `None` if the store refused it for a valid reason.
    fn told<T>(&mut self, what: &str, done: hedgerow::Result<T>) -> Option<T> {
        match done {
            Ok(done) => Some(done),
            Err(Error::Commit(CommitError::TooLarge { needed, most })) => {
                assert!(needed > most, "{what}: {needed} of {most}");
                None
            }
            Err(error) => {
                let shortage = refusal(&error).unwrap_or_else(|| panic!("{what}: {error}"));
                assert!(shortage.needed > shortage.available(), "{what}: {shortage:?}");
                self.refused += 1;
                None
            }
        }
    }

    fn step(&mut self) {
        let kind = self.plan.rng.below(22);
        let begun = std::time::Instant::now();
        self.call(kind);
        let most = self.graph.internals().most_memory_used();
        assert!(most <= self.plan.limit, "{kind}: {most} of {}", self.plan.limit);
        if std::env::var("LOG").is_ok() {
            println!(
                "kind {kind} {:.2} s, rss {} account {} model {}",
                begun.elapsed().as_secs_f64(),
                told("RssAnon") >> 20,
                self.graph.memory_bytes() >> 20,
                self.model.edges.len()
            );
        }
    }

    fn call(&mut self, kind: u64) {
        match kind {
            0..=4 => self.insert(),
            5 => self.update(),
            6 => self.remove_edges(),
            7 => self.remove_vertex(),
            8..=10 => self.read(),
            11 => self.hold(),
            12 => self.let_go(),
            13..=15 => self.view(),
            16 => self.settle(),
            17 => _ = self.graph.checkpoint().expect("written"),
            18 => _ = self.graph.compact().expect("written"),
            19 => self.backup(),
            20 => {
                let checked = self.graph.check();
                if let Some(report) = self.told("check", checked) {
                    assert!(report.is_ok(), "{report:?}");
                }
            }
            _ => self.count(),
        }
    }

    fn insert(&mut self) {
        let count = [1, 50, 1_000, 8_000][self.plan.rng.below(4) as usize] / self.plan.share as i64;
        let count = count.max(1);
        let edges: Vec<_> = (0..count).map(|n| (self.plan.random_edge(), self.next + n)).collect();
        self.next += count;
        for edges in edges.chunks(if self.plan.text > 1_000 { BATCH / 10 } else { BATCH }) {
            self.commit("insert", edges);
        }
    }

    fn commit(&mut self, what: &str, edges: &[((u64, u64, u64), i64)]) {
        let mut tx = self.graph.write().expect("open");
        let put = edges.iter().try_for_each(|&(edge, number)| self.plan.put(&mut tx, edge, number));
        let done = put.and_then(|()| tx.commit().map(drop));
        if self.told(what, done).is_some() {
            edges.iter().for_each(|&(edge, number)| self.model.put(edge, number));
        }
    }

    /// Returns some edges of the model in arbitrary order.
    fn some(&mut self, count: usize) -> Vec<(u64, u64, u64)> {
        let edges = self.model.edges.len().max(1) as u64;
        let skipped = self.plan.rng.below(edges) as usize;
        self.model.edges.keys().skip(skipped).take(count).copied().collect()
    }

    fn update(&mut self) {
        let edges = self.some(300);
        let edges: Vec<_> = edges.into_iter().map(|edge| (edge, self.next)).collect();
        self.next += 1;
        self.commit("update", &edges);
    }

    fn remove_edges(&mut self) {
        let edges = self.some(500);
        let mut tx = self.graph.write().expect("open");
        let removed = edges.iter().try_for_each(|&(label, src, dst)| {
            let name = Plan::label(label);
            assert!(tx.remove_edge(EdgeKey::new(name.as_str(), src, dst))?, "{label} {src} {dst}");
            Ok(())
        });
        let done = removed.and_then(|()| tx.commit().map(drop));
        if self.told("remove", done).is_some() {
            edges.iter().for_each(|edge| _ = self.model.edges.remove(edge));
        }
    }

    fn remove_vertex(&mut self) {
        let Some(&(_, v, _)) = self.some(1).first() else { return };
        let mut tx = self.graph.write().expect("open");
        let done = tx.remove_vertex(v).and_then(|_| tx.commit().map(drop));
        if self.told("remove a vertex", done).is_some() {
            self.model.edges.retain(|&(_, src, dst), _| src != v && dst != v);
        }
    }

    fn read(&mut self) {
        let snapshot = self.graph.snapshot().expect("open");
        for edge in self.some(20) {
            let name = Plan::label(edge.0);
            let found = snapshot.edge_property(EdgeKey::new(name.as_str(), edge.1, edge.2), "n");
            let Some(found) = self.told("read", found) else { continue };
            assert_eq!(found, Some(Value::I64(self.model.edges[&edge])), "{edge:?}");
        }
        let (label, v, _) = self.plan.random_edge();
        let name = Plan::label(label);
        let degree = snapshot.degree(v, (name.as_str(), Direction::Out));
        if let Some(degree) = self.told("degree", degree) {
            let at = |&&(of, src, dst): &&(u64, u64, u64)| {
                of == label && (src == v || !self.plan.directed && dst == v)
            };
            let expected = self.model.edges.keys().filter(at).count();
            assert_eq!(degree.unwrap_or(0), expected, "{label} {v}");
        }
    }

    fn hold(&mut self) {
        if self.held.len() < 3 {
            let (snapshot, count) = (self.graph.snapshot().expect("open"), self.model.count(&[0], None));
            self.held.push((snapshot, count));
        }
    }

    fn let_go(&mut self) {
        if let Some((snapshot, count)) = self.held.pop() {
            let found = snapshot.edge_count_of("");
            if let Some(found) = self.told("count of a held snapshot", found) {
                assert_eq!(found, count);
            }
        }
    }

    fn view(&mut self) {
        let snapshot = self.graph.snapshot().expect("open");
        let labels: Vec<u64> =
            (0..1 + self.plan.rng.below(3)).map(|_| self.plan.rng.below(self.plan.labels)).collect();
        let names: Vec<String> = labels.iter().map(|&label| Plan::label(label)).collect();
        let mut selection = EdgeSelection::of_labels(names.iter().map(String::as_str));
        let below = (self.plan.rng.below(2) == 0).then(|| self.plan.rng.below(self.next as u64 + 1) as i64);
        if let Some(below) = below {
            selection = selection.filter("n", Comparison::Less, below);
        }
        if self.plan.rng.below(3) == 0 {
            selection = selection.weighted_by("n", Some(1.0));
        }
        let directions = [EdgeDirection::Out, EdgeDirection::In, EdgeDirection::Both];
        let direction = directions[self.plan.rng.below(3) as usize];
        selection = selection.direction(direction);
        let view = KernelView::new(&snapshot, &selection);
        let Some(view) = self.told("a view", view) else { return };
        if direction != EdgeDirection::Both {
            assert_eq!(view.edge_count(), self.model.count(&labels, below), "{labels:?} {below:?}");
        }
        // Kernels also read edges in the opposite direction.
        let read = match &view {
            KernelView::Resident(view) => Ok(view.side(Direction::In).chunks().len()),
            KernelView::Tiered(view) => {
                let all = hedgerow_core::SubgraphId(0)
                    ..hedgerow_core::SubgraphId(view.vertex_bound().div_ceil(64) as u32);
                let mut found = 0;
                let scanned = view.scan(all, Direction::In, |_, _| {
                    found += 1;
                    std::ops::ControlFlow::Continue(())
                });
                scanned.map(|()| found)
            }
        };
        self.told("a view against the edges", read);
    }

    fn settle(&mut self) {
        let settled = self.graph.settle();
        self.told("settle", settled);
        let label = self.plan.rng.below(self.plan.labels);
        let found = self.graph.snapshot().expect("open").edge_count_of(Plan::label(label).as_str());
        if let Some(found) = self.told("count after settling", found) {
            assert_eq!(found, self.model.count(&[label], None));
        }
    }

    fn backup(&mut self) {
        let to = self.path.with_extension("backup");
        let done = self.graph.backup(&to);
        self.told("backup", done);
        let _ = std::fs::remove_dir_all(&to);
    }

    fn count(&mut self) {
        let label = self.plan.rng.below(self.plan.labels);
        let found = self.graph.snapshot().expect("open").edge_count_of(Plan::label(label).as_str());
        if let Some(found) = self.told("count", found) {
            assert_eq!(found, self.model.count(&[label], None), "label {label}");
        }
    }
}

/// A child process opens the store within its limit, makes the calls, and compares the results.
#[test]
fn child() {
    let Ok(part) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = part.split(' ').collect();
    let [store, seed, steps, group] = words[..] else { panic!("{part}") };
    let (seed, steps): (u64, u64) = (seed.parse().expect("a number"), steps.parse().expect("a number"));
    let mut plan = Plan::new(seed);
    let mut model = Model { directed: plan.directed, ..Model::default() };
    plan.first_edges().into_iter().for_each(|(edge, number)| model.put(edge, number));
    let (growth, of_model) = (plan.limit + plan.limit / 10 + BESIDE, model.bytes());
    let before = told("RssAnon");
    println!(
        "seed {seed} limit {} labels {} vertices {} edges {} text {} hub {} directed {} reverse {} dense {}; rss {}",
        plan.limit,
        plan.labels,
        plan.vertices,
        plan.edges,
        plan.text,
        plan.hub,
        plan.directed,
        plan.reverse,
        plan.dense,
        before >> 20
    );
    if group != "-" {
        let to = Path::new(group).join("cgroup.procs");
        std::fs::write(to, std::process::id().to_string()).expect("the group");
    }
    let graph = plan.options().memory_limit(plan.limit).open(store).expect("the store opens");
    let (held, path, next) = (Vec::new(), PathBuf::from(store), 1 << 20);
    let mut run = Run { plan, graph, model, held, path, next, refused: 0, grown: 0 };
    for step in 0..steps {
        run.step();
        let grown = told("RssAnon").saturating_sub(before + run.model.bytes().saturating_sub(of_model));
        run.grown = grown.max(run.grown);
        assert!(grown <= growth, "step {step}: grown by {grown} of {growth}");
    }
    run.held.clear();
    for label in 0..run.plan.labels {
        let found = run.graph.snapshot().expect("open").edge_count_of(Plan::label(label).as_str());
        if let Some(found) = run.told("count at the end", found) {
            assert_eq!(found, run.model.count(&[label], None), "label {label}");
        }
    }
    run.graph.close().expect("written");
    let graph = run.plan.options().memory_limit(run.plan.limit).open(store).expect("the store opens again");
    assert!(graph.check().is_ok_and(|report| report.is_ok()));
    println!("limits of seed {seed}: {steps} steps, {} refused, grown by {} at most", run.refused, run.grown);
}

/// Runs one store; returns true if it was in a control group.
fn run(seed: u64, steps: u64) -> bool {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let store = dir.path().join("store");
    let mut plan = Plan::new(seed);
    plan.make(&store);
    let model = (plan.edges + plan.hub) * MODEL_EDGE * 3;
    let bytes = plan.limit + plan.limit / 10 + BESIDE + MODEL_GROWTH + model;
    let group = Group::new(bytes);
    let of_group = group.as_ref().map_or("-".to_owned(), |group| group.0.display().to_string());
    let status = Command::new(std::env::current_exe().expect("this program"))
        .args(["limits::child", "--exact", "--nocapture"])
        .env(CHILD, format!("{} {seed} {steps} {of_group}", store.display()))
        .env("MALLOC_ARENA_MAX", "1")
        .status()
        .expect("a child");
    assert!(status.success(), "seed {seed}: {status}");
    group.is_ok()
}

#[test]
fn stores_of_every_shape_stay_within_their_limits() {
    let effort = Effort::rounds(STORES);
    let (mut stores, mut bounded) = (0, 0);
    let steps = if is_deep() { 2 * STEPS } else { STEPS };
    while let Some(seed) = effort.next_seed() {
        bounded += u64::from(run(seed, steps));
        stores += 1;
    }
    if bounded == 0 {
        skipped("stores in a control group", "there can be no group");
    }
    explored("steps of stores within a limit", stores * steps, STORES * STEPS);
}
