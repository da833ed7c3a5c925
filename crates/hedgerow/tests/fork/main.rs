//! Forked children of parents whose threads may be anywhere in the store. In a child, each call of each
//! handle answers or returns `StateError::Forked`, as `calls` requires. No call hangs, and no commit that the
//! parent acknowledged is lost.
#![allow(missing_docs, reason = "a test program")]
#![allow(clippy::disallowed_methods, reason = "copies stores as a crash leaves them")]

mod calls;
mod child;
mod reads;

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hedgerow::{
    ArgumentError, Durability, Error, Graph, KeyKind, LockHolder, OpenError, Options, StateError, Thresholds,
};
use hedgerow_testkit::Effort;

use calls::{EDGES, Handles, LABEL, wrong_answers};
use child::{Child, Way, in_child, leave};

/// The number of forks in one test, unless a deep run sets more.
const FORKS: u64 = 40;
/// The number of writer threads of a parent.
const WRITERS: u64 = 2;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a new directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
    }
}

fn set_up(graph: &Graph) -> hedgerow::Result<()> {
    for i in 1..=EDGES {
        graph.insert_edge((0, i))?;
    }
    let mut txn = graph.write()?;
    txn.put_edge_with(hedgerow::EdgeKey::new(LABEL, 0, 1), [("since", 2001)])?;
    txn.commit()?;
    graph.flush()
}

fn options() -> Options {
    Options::new().thresholds(Thresholds::SMALL).weighted(true)
}

/// The threads of a parent: they write, sync, read views, settle and make checkpoints.
struct Busy<'a> {
    graph: &'a Graph,
    stop: AtomicBool,
    /// The number of acknowledged commits of each writer.
    acknowledged: [AtomicU64; WRITERS as usize],
}

impl<'a> Busy<'a> {
    fn new(graph: &'a Graph) -> Busy<'a> {
        Busy { graph, stop: AtomicBool::new(false), acknowledged: Default::default() }
    }

    fn until_stopped(&self, mut turn: impl FnMut(u64) -> hedgerow::Result<()>) {
        for i in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            turn(i).expect("a call of the parent");
        }
    }

    fn write(&self, writer: u64) {
        self.until_stopped(|i| {
            self.graph.insert_edge((1000 + writer, 10_000 + i))?;
            self.acknowledged[writer as usize].store(i + 1, Ordering::SeqCst);
            Ok(())
        });
    }

    /// Runs the threads concurrently with `body`.
    fn beside<R>(&self, body: impl FnOnce() -> R) -> R {
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                scope.spawn(move || self.write(writer));
            }
            scope.spawn(|| {
                self.until_stopped(|i| {
                    let edges: Vec<_> =
                        (0..50).map(|k| (20_000 + (i * 37 + k * k) % 500, 30_000 + k)).collect();
                    self.graph.insert_edges(&edges).map(drop)
                });
            });
            scope.spawn(|| {
                self.until_stopped(|_| {
                    let snapshot = self.graph.snapshot()?;
                    snapshot.default_label().view().unwrap();
                    self.graph.flush()
                });
            });
            scope.spawn(|| {
                self.until_stopped(|i| match self.graph.checkpoint() {
                    Err(Error::Argument(ArgumentError::Invalid(_))) | Ok(_) if i % 2 == 0 => {
                        self.graph.settle()
                    }
                    Err(Error::Argument(ArgumentError::Invalid(_))) | Ok(_) => self.graph.stats().map(drop),
                    Err(error) => Err(error),
                });
            });
            // The threads end even if the body panics.
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            self.stop.store(true, Ordering::Relaxed);
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Checks that a graph contains all acknowledged commits.
    fn assert_all_in(&self, graph: &Graph) {
        let snapshot = graph.snapshot().expect("a snapshot");
        for writer in 0..WRITERS {
            let count = self.acknowledged[writer as usize].load(Ordering::SeqCst);
            let lost =
                (0..count).filter(|i| !snapshot.contains_edge((1000 + writer, 10_000 + i)).unwrap()).count();
            assert_eq!(lost, 0, "of {count} acknowledged commits of writer {writer}");
        }
        assert!(graph.check().expect("a check").is_ok());
    }
}

/// Forks repeatedly while the threads run; every child tries every call.
fn try_every_call(graph: &Graph, aside: &Path) -> u64 {
    set_up(graph).expect("commits");
    let busy = Busy::new(graph);
    let effort = Effort::rounds(FORKS);
    let mut forks = 0;
    busy.beside(|| {
        while let Some(seed) = effort.next_seed() {
            std::thread::sleep(Duration::from_micros(seed.wrapping_mul(2_654_435_761) % 3000));
            let handles = Handles::new(graph).expect("handles");
            let (handles, child) =
                Child::with(Way::Fork, handles, |handles, _| wrong_answers(handles, aside).join(", "));
            assert_eq!(child.wait(), "", "fork {forks}: these calls, in a child");
            // The parent's handles still work.
            let Handles { mut pipeline, ticket, txns: [first, ..], .. } = handles;
            pipeline.flush().expect("a flush");
            ticket.wait().expect("a commit");
            assert!(first.commit().map_or_else(|error| error.is_conflict(), |_| true));
            forks += 1;
        }
    });
    busy.assert_all_in(graph);
    forks
}

#[test]
fn every_call_in_children_of_a_durable_store() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, aside) = (dir.path().join("store"), dir.path().join("aside"));
    std::fs::create_dir(&aside).expect("a directory");
    let graph = options().open(&path).expect("a store");
    let forks = try_every_call(&graph, &aside);
    assert!(forks >= FORKS.min(1));
    // A copy of the files has the state after `kill -9` of the parent.
    copy(&path, &dir.path().join("copy"));
    let snapshot = graph.snapshot().expect("a snapshot");
    let again = options().open(dir.path().join("copy")).expect("the copy opens");
    assert_eq!(again.snapshot().expect("a snapshot").edge_count().unwrap(), snapshot.edge_count().unwrap());
    assert!(again.check().expect("a check").is_ok());
    graph.close().expect("closed");
}

#[test]
fn every_call_in_children_of_a_store_synced_in_groups() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, aside) = (dir.path().join("store"), dir.path().join("aside"));
    std::fs::create_dir(&aside).expect("a directory");
    let group = Durability::Group(Duration::from_millis(2));
    let graph = options().durability(group).open(&path).expect("a store");
    try_every_call(&graph, &aside);
    graph.flush().expect("a flush");
    copy(&path, &dir.path().join("copy"));
    let edges = graph.snapshot().expect("a snapshot").edge_count().unwrap();
    let again = options().open(dir.path().join("copy")).expect("the copy opens");
    assert_eq!(again.snapshot().expect("a snapshot").edge_count().unwrap(), edges);
}

#[test]
fn every_call_in_children_of_a_store_without_files() {
    let aside = tempfile::tempdir().expect("a directory");
    let graph = options().in_memory().expect("a store");
    try_every_call(&graph, aside.path());
}

/// A view may be the last owner of lists. A child that drops it does not wait for the lock of the parent's
/// memory.
#[test]
fn children_drop_views_beside_busy_parents() {
    let graph = options().in_memory().expect("a store");
    set_up(&graph).expect("commits");
    let busy = Busy::new(&graph);
    let effort = Effort::rounds(FORKS);
    busy.beside(|| {
        while effort.next_seed().is_some() {
            let view = graph.snapshot().and_then(|snapshot| snapshot.view("")).expect("a view");
            graph.forget_views();
            // Merges replace the lists that the view refers to.
            std::thread::sleep(Duration::from_millis(5));
            let (view, child) = Child::with(Way::Fork, view, |view, _| {
                drop(view);
                String::new()
            });
            assert_eq!(child.wait(), "");
            drop(view);
        }
    });
    busy.assert_all_in(&graph);
}

/// The table of calls names every public method of every handle.
#[test]
fn no_call_is_missing_from_the_table() {
    let table = include_str!("calls.rs");
    let mut seen = 0;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("src"), here.join("../hedgerow-engine/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let text = std::fs::read_to_string(&entry).expect("text");
            let mut handle = None;
            let mut lines = text.lines().peekable();
            while let Some(line) = lines.next() {
                if line.starts_with("impl") {
                    let handles = ["Graph", "Snapshot", "DefaultLabel", "WriteTxn", "Pipeline", "Ticket"];
                    let named =
                        line.rsplit([' ', '>']).find_map(|word| word.strip_suffix('{').or(Some(word)));
                    let named = named.filter(|word| !word.is_empty());
                    let after = line.trim_end_matches(" {");
                    let last = after.rsplit(' ').next().and_then(|word| word.split('<').next()).or(named);
                    handle = last.filter(|last| handles.contains(last) && !line.contains(" for "));
                }
                let Some(name) =
                    line.strip_prefix("    pub fn ").and_then(|rest| rest.split(['<', '(']).next())
                else {
                    continue;
                };
                let mut head = line.to_owned();
                while !head.contains('{')
                    && let Some(next) = lines.next_if(|_| true)
                {
                    head.push_str(next);
                }
                if let Some(handle) = handle.filter(|_| head.contains("self")) {
                    seen += 1;
                    assert!(
                        table.contains(&format!("\"{handle}::{name}\"")),
                        "{handle}::{name} is not in calls.rs"
                    );
                }
            }
        }
    }
    assert!(seen > 90, "{seen} methods found");
}

/// A child does not execute, sync or wait for the operations that its parent submitted. This holds for each
/// way to make the child.
#[test]
fn children_leave_what_was_submitted_to_the_parent() {
    let dir = tempfile::tempdir().expect("a directory");
    for what in ["ticket", "flush", "drop", "close", "all"] {
        leave_to_the_parent(Way::Fork, what, &dir.path().join(format!("fork-{what}")));
        // No handler repairs the allocator in a child that the plain system call makes. The parent of such a
        // child therefore has no threads that allocate.
        in_child(|| {
            leave_to_the_parent(Way::Clone, what, &dir.path().join(format!("clone-{what}")));
            String::new()
        });
    }
}

/// If the function of a pipeline forks, it returns in the child into the call that executes operations. The
/// child executes nothing.
#[test]
fn a_child_made_by_the_function_of_a_pipeline_executes_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    for last in ["flush", "drop", "submit"] {
        in_child(|| {
            // In a store without files, some operations are acknowledged while other operations are executed.
            // In a store with files, acknowledgements follow a sync.
            fork_in_the_function_of_a_pipeline(&options().in_memory().expect("a store"), last);
            let path = dir.path().join(last);
            fork_in_the_function_of_a_pipeline(&options().open(path).expect("a store"), last);
            String::new()
        });
    }
}

fn fork_in_the_function_of_a_pipeline(graph: &Graph, last: &str) {
    let forked: RefCell<Option<(Option<Child>, hedgerow::Timestamp)>> = RefCell::default();
    let acks_of_the_child = Cell::new(0);
    let on_ack = |_| {
        let mut forked = forked.borrow_mut();
        match &*forked {
            None => *forked = Some((Child::fork(), graph.published_ts())),
            Some((None, _)) => acks_of_the_child.set(acks_of_the_child.get() + 1),
            Some(_) => {}
        }
    };
    let mut pipeline = graph.pipeline(on_ack).expect("a pipeline");
    let mut refused = None;
    let operations = if last == "submit" { 2_000 } else { 12 };
    for end in 0..operations {
        refused = refused.or(pipeline.insert_edge(1, end).err());
    }
    let flushed = if last == "flush" { pipeline.flush() } else { Err(StateError::Forked.into()) };
    if last == "submit" {
        // Acknowledgements come after a sync of the log.
        while forked.borrow().is_none() && pipeline.insert_edge(2, 3).is_ok() {}
        refused = refused.or(pipeline.insert_edge(2, 3).err());
    }
    drop(pipeline);
    let Some((child, published)) = forked.take() else {
        // A dropped pipeline waits for no sync, so its function may not have run.
        assert_eq!(last, "drop");
        return;
    };
    let Some(child) = child else {
        let well = matches!(flushed, Err(Error::State(StateError::Forked)))
            && (last != "submit" || matches!(refused, Some(Error::State(StateError::Forked))))
            && acks_of_the_child.get() == 0
            && graph.published_ts() == published;
        leave(well)
    };
    assert_eq!(child.wait(), "", "{last}");
    graph.flush().expect("durable");
    let edges = graph.snapshot().expect("a snapshot").edge_count().unwrap();
    assert!(edges >= operations, "{edges} edges");
}

fn leave_to_the_parent(way: Way, what: &str, path: &Path) {
    let graph = options().open(path).expect("a store");
    if what != "drop" {
        graph.insert_edge((0, 0)).expect("a commit");
    }
    let mut pipeline = graph.pipeline(|_| ()).expect("a pipeline");
    (0..10u64).for_each(|i| _ = pipeline.insert_edge(1, 2 + i).expect("submitted"));
    let mut txn = graph.write().expect("a transaction");
    txn.put_edge((50, 51)).expect("an operation");
    let ticket = txn.submit().expect("submitted");
    let (mut after_r, mut after_w) = std::io::pipe().expect("a pipe");
    let handles = (graph, pipeline, ticket);
    let ((graph, mut pipeline, ticket), child) = Child::with(way, handles, |handles, _| {
        let (graph, mut pipeline, ticket) = handles;
        // The child waits until the parent has written more.
        _ = after_r.read(&mut [0]);
        let done = match what {
            "ticket" => ticket.clone().wait().map(drop),
            "flush" => pipeline.flush(),
            "close" => graph.close(),
            _ => Err(StateError::Forked.into()),
        };
        if what == "drop" {
            drop(pipeline);
        } else if what == "all" {
            drop((pipeline, ticket, graph));
        }
        std::thread::sleep(Duration::from_millis(30));
        if matches!(done, Err(Error::State(StateError::Forked))) {
            String::new()
        } else {
            format!("{done:?}")
        }
    });
    (0..5u64).for_each(|i| assert!(graph.insert_edge((100, 200 + i)).expect("a commit")));
    _ = after_w.write(&[1]).expect("the child reads");
    assert_eq!(child.wait(), "", "{way:?} {what}");
    // A copy of the files has the state after `kill -9` of the parent.
    let aside = path.with_extension("copy");
    copy(path, &aside);
    let again = options().open(&aside).expect("the copy opens");
    let snapshot = again.snapshot().expect("a snapshot");
    let there = (0..5u64).filter(|i| snapshot.contains_edge((100, 200 + i)).unwrap()).count();
    assert_eq!(there, 5, "acknowledged commits: {way:?} {what}");
    pipeline.flush().expect("a flush");
    ticket.wait().expect("a commit");
    assert_eq!(graph.snapshot().expect("a snapshot").degree(1, hedgerow::Direction::Out).unwrap(), Some(10));
}

/// A living child does not keep the directory of its dead parent locked.
#[test]
fn the_directory_of_a_killed_parent_can_be_opened_though_its_child_lives() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("store");
    // Both processes live until this process closes its end of a pipe, or ends. No timeout sets their
    // lifetime.
    let (mut lives, ends) = std::io::pipe().expect("a pipe");
    let (ends, mut parent) = Child::with(Way::Fork, ends, |ends, say| {
        drop(ends);
        let graph = Graph::open(&path).expect("a store");
        graph.insert_edge((1, 2)).expect("a commit");
        let (graph, child) = Child::with(Way::Fork, graph, |graph, _| {
            _ = say.write_all(&[1]);
            _ = lives.read(&mut [0]);
            drop(graph);
            String::new()
        });
        // The grandchild outlives this process.
        std::mem::forget(child);
        _ = lives.read(&mut [0]);
        drop(graph);
        String::new()
    });
    assert_eq!(parent.first_byte(), 1);
    let refused = Graph::open(&path).err();
    assert!(
        matches!(refused, Some(Error::Open(OpenError::Locked { holder: LockHolder::Process(id), .. })) if id == parent.id()),
        "{refused:?}"
    );
    parent.kill();
    let graph = Graph::open(&path).expect("nobody has it open");
    assert!(graph.snapshot().expect("a snapshot").contains_edge((1, 2)).unwrap());
    drop(ends);
}

#[test]
fn a_refused_opener_learns_who_has_the_store_open() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("store");
    let graph = Graph::open(&path).expect("a store");
    let message = Graph::open(&path).err().map(|error| error.to_string());
    let shown = path.display();
    assert_eq!(message, Some(format!("{shown} is locked: this process has it open already")));
    let parent = std::process::id();
    in_child(|| {
        let message = Graph::open(&path).err().map(|error| error.to_string());
        let wanted = format!("{shown} is locked: process {parent} has it open");
        if message.as_ref() == Some(&wanted) { String::new() } else { format!("{message:?}") }
    });
    graph.close().expect("closed");
    // A child that inherited the closed store opens it.
    in_child(|| match Graph::open(&path).and_then(|own| own.insert_edge((1, 2))) {
        Ok(true) => String::new(),
        other => format!("{other:?}"),
    });
    assert!(
        Graph::open(&path)
            .and_then(|graph| graph.snapshot())
            .expect("a snapshot")
            .contains_edge((1, 2))
            .unwrap()
    );
}

/// The child is a separate process: it shares no lock with its parent.
#[test]
fn readers_of_two_processes_share_a_store() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("store");
    Graph::open(&path).and_then(|graph| graph.insert_edge((1, 2))).expect("a store");
    let read = || Options::new().read_only(true).open(&path);
    let reader = read().expect("nobody writes");
    let shown = path.display();
    in_child(|| {
        let message = Graph::open(&path).err().map(|error| error.to_string());
        if message != Some(format!("{shown} is locked: another process has it open for reading")) {
            return format!("{message:?}");
        }
        match read().and_then(|own| own.snapshot()).map(|snapshot| snapshot.contains_edge((1, 2)).unwrap()) {
            Ok(true) => String::new(),
            other => format!("{other:?}"),
        }
    });
    // The end of the child and its refused openings did not release the parent's lock.
    assert!(matches!(
        Graph::open(&path).err(),
        Some(Error::Open(OpenError::Locked { holder: LockHolder::ThisProcessReads, .. }))
    ));
    drop(reader);
    let writer = Graph::open(&path).expect("no reader is left");
    let parent = std::process::id();
    in_child(|| match read().err() {
        Some(Error::Open(OpenError::Locked { holder: LockHolder::Process(id), .. })) if id == parent => {
            String::new()
        }
        other => format!("{other:?}"),
    });
    writer.close().expect("closed");
}

/// Uses a store of the child's own, and returns an empty text if it works. It works in any state of the
/// parent's threads.
fn use_own_store(path: &Path) -> hedgerow::Result<String> {
    for round in 0..2u64 {
        let graph = options().keys(KeyKind::U64).open(path)?;
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|writer: u64| {
                    let graph = &graph;
                    scope.spawn(move || {
                        (0..20).try_for_each(|i| graph.insert_edge((writer, round * 100 + i)).map(drop))
                    })
                })
                .collect();
            writers.into_iter().try_for_each(|writer| writer.join().expect("a writer"))
        })?;
        let mut pipeline = graph.pipeline(|_| ())?;
        for i in 0..100 {
            pipeline.put_edge(50, round * 100 + i)?;
        }
        pipeline.flush()?;
        graph.checkpoint()?;
        graph.settle()?;
        let snapshot = graph.snapshot()?;
        let seen = snapshot.default_label().view().unwrap().vertices().count() as u64;
        if snapshot.edge_count().unwrap() != (round + 1) * 180 || seen != snapshot.vertex_count() {
            return Ok(format!("{} edges, {seen} vertices", snapshot.edge_count().unwrap()));
        }
        if !graph.check()?.is_ok() {
            return Ok("the check failed".to_owned());
        }
        drop((pipeline, snapshot));
        graph.close()?;
    }
    Ok(String::new())
}

/// Opens and closes stores with keys concurrently with the children. The process-wide state of stores is then
/// in use at any fork.
fn open_and_close_stores_with_keys(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let graph = Options::new().keys(KeyKind::U64).in_memory().expect("a store");
        (0..300).for_each(|i| _ = graph.insert_edge((i, i + 1)).expect("a commit"));
        graph.close().expect("closed");
    }
}

#[test]
fn children_use_stores_of_their_own_beside_stores_that_come_and_go() {
    let dir = tempfile::tempdir().expect("a directory");
    let effort = Effort::rounds(FORKS / 2);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        (0..WRITERS).for_each(|_| _ = scope.spawn(|| open_and_close_stores_with_keys(&stop)));
        let _stopped = StopAtEnd(&stop);
        while let Some(seed) = effort.next_seed() {
            std::thread::sleep(Duration::from_micros(seed.wrapping_mul(2_654_435_761) % 2000));
            let own = dir.path().join(format!("child-{seed}"));
            in_child(|| use_own_store(&own).unwrap_or_else(|error| error.to_string()));
        }
    });
}

/// The first store of a process probes the abilities of the system. A child is forked during this probe.
///
/// Each round is a separate process that runs this test again.
#[test]
fn children_use_stores_of_their_own_of_parents_that_open_their_first() {
    const DIRECTORY: &str = "HEDGEROW_TEST_FIRST_STORES";
    if let Some(dir) = std::env::var_os(DIRECTORY) {
        return fork_beside_the_first_stores(Path::new(&dir));
    }
    let dir = tempfile::tempdir().expect("a directory");
    let name = "children_use_stores_of_their_own_of_parents_that_open_their_first";
    let effort = Effort::rounds(FORKS / 2);
    while let Some(seed) = effort.next_seed() {
        let path = dir.path().join(seed.to_string());
        std::fs::create_dir(&path).expect("a directory");
        let mut again = std::process::Command::new(std::env::current_exe().expect("this program"));
        let output =
            again.args(["--exact", name, "--nocapture"]).env(DIRECTORY, &path).output().expect("run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn fork_beside_the_first_stores(dir: &Path) {
    let stop = AtomicBool::new(false);
    let seed = dir.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok()).unwrap_or(0);
    std::thread::scope(|scope| {
        (0..WRITERS).for_each(|_| _ = scope.spawn(|| open_and_close_stores_with_keys(&stop)));
        let _stopped = StopAtEnd(&stop);
        std::thread::sleep(Duration::from_micros(seed.wrapping_mul(2_654_435_761) % 1500));
        in_child(|| use_own_store(&dir.join("own")).unwrap_or_else(|error| error.to_string()));
    });
}

/// A guard that raises the flag when it is dropped, also in a test that fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn children_use_stores_of_their_own_beside_busy_parents() {
    let dir = tempfile::tempdir().expect("a directory");
    let graph = options().open(dir.path().join("parent")).expect("a store");
    set_up(&graph).expect("commits");
    let busy = Busy::new(&graph);
    let effort = Effort::rounds(FORKS / 2);
    busy.beside(|| {
        while let Some(seed) = effort.next_seed() {
            std::thread::sleep(Duration::from_micros(seed.wrapping_mul(2_654_435_761) % 5000));
            let own = dir.path().join(format!("child-{seed}"));
            in_child(|| use_own_store(&own).unwrap_or_else(|error| error.to_string()));
        }
    });
    busy.assert_all_in(&graph);
}
