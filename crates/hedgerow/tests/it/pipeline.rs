//! Commits without a wait of the caller: pipelines of single operations, and tickets.

use std::cell::RefCell;
use std::sync::Arc;

use hedgerow::{Ack, CommitError, Durability, Error, Graph, KeyKind, Options, Pipeline, StateError};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use hedgerow_testkit::{Effort, Generator, Model, ModelConfig, ModelOp, SimFs, explored};

use crate::common;

/// Submits an operation if it is an operation on an edge.
fn submit<F: FnMut(Ack)>(
    pipeline: &mut Pipeline<F>,
    weighted: bool,
    op: &ModelOp,
) -> Option<hedgerow::Result<u64>> {
    Some(match op {
        ModelOp::InsertVertex(_) | ModelOp::RemoveVertex(_) | ModelOp::Rich(_) | ModelOp::Bulk(_) => {
            return None;
        }
        ModelOp::PutEdge(src, dst, weight) if weighted => pipeline.put_weighted_edge(src, dst, *weight),
        ModelOp::PutEdge(src, dst, _) => pipeline.put_edge(src, dst),
        ModelOp::InsertEdge(src, dst, weight) if weighted => pipeline.insert_weighted_edge(src, dst, *weight),
        ModelOp::InsertEdge(src, dst, _) => pipeline.insert_edge(src, dst),
        ModelOp::RemoveEdge(src, dst) => pipeline.remove_edge(src, dst),
    })
}

struct Round {
    config: ModelConfig,
    disk: Option<SimFs>,
    graph: Graph,
    model: Model,
    generator: Generator,
}

fn round(seed: u64) -> Result<u64, String> {
    let config = ModelConfig::all().nth((seed % 12) as usize).expect("twelve kinds");
    let universe = [4, 40, 200, 1000][(seed / 12 % 4) as usize];
    let disk = (seed / 48).is_multiple_of(2).then(SimFs::new);
    let options =
        common::options(config).durability([Durability::Sync, Durability::Manual][(seed % 2) as usize]);
    let graph = match &disk {
        Some(disk) => options.open_on(disk.handle()),
        None => options.in_memory(),
    };
    let generator = Generator::new(config, seed, 0, universe);
    let graph = graph.map_err(|e| e.to_string())?;
    Round { config, disk, graph, model: Model::new(config), generator }.run()
}

impl Round {
    fn run(mut self) -> Result<u64, String> {
        let mut acknowledged = 0;
        for window in [1, 5, 16, 64] {
            acknowledged += self.pipeline(window)?;
            let snapshot = self.graph.snapshot().map_err(|e| e.to_string())?;
            common::same_in_all_reads(&snapshot, self.config, &self.model)?;
            self.remove_a_vertex()?;
        }
        common::sound(&self.graph)?;
        if let Some(disk) = self.disk {
            self.graph.close().map_err(|e| e.to_string())?;
            let graph = common::options(self.config).open_on(disk.handle()).map_err(|e| e.to_string())?;
            common::same(&graph.snapshot().map_err(|e| e.to_string())?, self.config, &self.model)?;
        }
        Ok(acknowledged)
    }

    /// Removes a vertex, so that its id can go to another vertex between two pipelines.
    fn remove_a_vertex(&mut self) -> Result<(), String> {
        let op = ModelOp::RemoveVertex(self.generator.key());
        self.model.apply(&op);
        let mut tx = self.graph.write().map_err(|e| e.to_string())?;
        common::apply(&mut tx, self.config.weighted, &op).map_err(|e| e.to_string())?;
        tx.commit().map(|_| ()).map_err(|e| e.to_string())
    }

    fn pipeline(&mut self, window: usize) -> Result<u64, String> {
        let acks = RefCell::new(Vec::new());
        let pipeline = self.graph.pipeline(|ack| acks.borrow_mut().push(ack)).map_err(|e| e.to_string())?;
        let mut pipeline = pipeline.with_window(window);
        let mut expected = Vec::new();
        while expected.len() < 150 {
            let op = self.generator.op(Some(&self.model));
            let Some(ticket) = submit(&mut pipeline, self.config.weighted, &op) else { continue };
            if ticket.map_err(|e| e.to_string())? != expected.len() as u64 {
                return Err("tickets count up from 0".into());
            }
            let before = self.model.edge_count();
            self.model.apply(&op);
            expected.push(self.model.edge_count() as i64 - before as i64);
            if expected.len() == 70 {
                pipeline.flush().map_err(|e| e.to_string())?;
                if acks.borrow().len() != 70 {
                    return Err(format!("{} of 70 acknowledged by a flush", acks.borrow().len()));
                }
            }
        }
        pipeline.flush().map_err(|e| e.to_string())?;
        drop(pipeline);
        let mut last = hedgerow::Timestamp::ZERO;
        for (i, ack) in acks.into_inner().into_iter().enumerate() {
            let applied = ack.result.map_err(|e| e.to_string())?;
            if ack.ticket != i as u64 || applied.edges != expected[i] || applied.timestamp < last {
                return Err(format!("ack {i}: ticket {}, {applied:?}, expected {}", ack.ticket, expected[i]));
            }
            last = applied.timestamp;
        }
        Ok(expected.len() as u64)
    }
}

#[test]
fn pipelined_operations_agree_with_the_model_one_by_one() {
    let effort = Effort::rounds(240);
    let mut acknowledged = 0;
    while let Some(seed) = effort.next_seed() {
        acknowledged += round(seed).unwrap_or_else(|e| panic!("replay with HEDGEROW_ROUND={seed}: {e}"));
    }
    explored("pipelined operations", acknowledged, 100_000);
}

#[test]
fn what_two_pipelines_were_told_is_new_is_new_once() {
    let graph = crate::common::small().directed(false).keys(KeyKind::Dense).in_memory().unwrap();
    let fill = |from: u64| {
        let graph = graph.clone();
        move || {
            let mut new = 0;
            let mut pipeline = graph.pipeline(|ack| new += ack.result.unwrap().edges).unwrap();
            for i in 0..20_000u64 {
                // Both threads write the same edges, from different ends and in different orders; 0 is a hub.
                let v = (i * 7919 + from) % 5000;
                pipeline.insert_edge(if i % 3 == 0 { 0 } else { v / 3 }, v).unwrap();
            }
            pipeline.flush().unwrap();
            drop(pipeline);
            new
        }
    };
    let (first, second) = (std::thread::spawn(fill(0)), std::thread::spawn(fill(2500)));
    let new = first.join().unwrap() + second.join().unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.edge_count().unwrap() as i64, new);
    common::sound(&graph).unwrap();
}

#[test]
fn a_pipeline_that_is_dropped_executes_what_was_submitted() {
    let disk = SimFs::new();
    let graph = crate::common::small().open_on(disk.handle()).unwrap();
    let mut pipeline = graph.pipeline(|_| ()).unwrap();
    for v in 0..10u64 {
        pipeline.put_edge(v, v + 1).unwrap();
    }
    drop(pipeline);
    graph.close().unwrap();
    let graph = crate::common::small().open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 10);
}

fn put(graph: &Graph, v: u64) -> hedgerow::Ticket {
    let mut tx = graph.write().unwrap();
    tx.put_edge((v, v + 1)).unwrap();
    tx.put_edge((v, v + 2)).unwrap();
    tx.submit().unwrap()
}

#[test]
fn submitted_transactions_become_durable_although_nobody_waits() {
    let disk = SimFs::new();
    let graph = crate::common::small().open_on(disk.handle()).unwrap();
    let tickets: Vec<_> = (0..50).map(|v| put(&graph, v * 10)).collect();
    assert!(tickets.is_sorted_by(|a, b| a.timestamp() < b.timestamp()), "in the order of submission");
    let begun = std::time::Instant::now();
    while !tickets.iter().all(hedgerow::Ticket::is_done) {
        assert!(begun.elapsed() < hedgerow_testkit::FOR_EVER, "nobody syncs for tickets");
        std::thread::yield_now();
    }
    // The files after a crash, without a close.
    let crashed = disk.crash_clone(hedgerow_testkit::Damage::LoseAll, 1);
    let recovered = crate::common::small().open_on(crashed.handle()).unwrap();
    assert_eq!(recovered.snapshot().unwrap().edge_count().unwrap(), 100);
}

#[test]
fn a_dropped_ticket_loses_nothing_and_a_waited_one_is_visible() {
    let disk = SimFs::new();
    let graph = crate::common::small().open_on(disk.handle()).unwrap();
    for v in 0..20 {
        let _ = put(&graph, v * 10);
    }
    let ts = put(&graph, 1000).wait().unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert!(snapshot.timestamp() >= ts);
    assert_eq!(snapshot.edge_count().unwrap(), 42, "those submitted before are visible with it");
    drop(snapshot);
    let _ = put(&graph, 2000);
    drop(graph);
    let graph = crate::common::small().open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 44);
}

#[test]
fn a_reader_that_missed_a_submitted_transaction_is_refused() {
    let graph = Graph::in_memory().unwrap();
    put(&graph, 1).wait().unwrap();
    let mut reader = graph.write().unwrap();
    assert!(!reader.contains_edge((1, 9)).unwrap());
    reader.put_edge((5, 6)).unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edge((1, 9)).unwrap();
    let ticket = tx.submit().unwrap();
    assert!(reader.submit().unwrap_err().is_conflict());
    ticket.wait().unwrap();
}

#[test]
fn a_failed_log_is_told_to_every_ticket() {
    let disk = SimFs::new();
    let graph = crate::common::small().open_on(disk.handle()).unwrap();
    graph.insert_edge((1, 2)).unwrap();
    let fault =
        |at| Fault { class: FaultClass::Change, at, site: None, repeat: Repeat::Forever, errno: errno::EIO };
    disk.plan_fault(fault(disk.op_count()));
    let results = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = results.clone();
    let mut pipeline = graph.pipeline(move |ack| seen.lock().unwrap().push(ack)).unwrap();
    let mut submitted = 0;
    for v in 0..100u64 {
        match pipeline.insert_edge(v, v + 1) {
            Ok(_) => submitted += 1,
            Err(Error::State(StateError::Poisoned)) => break,
            Err(error) => panic!("{error}"),
        }
    }
    let _ = pipeline.flush();
    drop(pipeline);
    let results = std::mem::take(&mut *results.lock().unwrap());
    assert_eq!(results.len(), submitted, "every ticket has an answer");
    for (i, ack) in results.iter().enumerate() {
        assert_eq!(ack.ticket, i as u64);
        // The edge 1 to 2 exists. Its insertion changes nothing, and does not wait for the sync of another
        // operation.
        let unknown = matches!(
            ack.result,
            Err(Error::Commit(CommitError::OutcomeUnknown) | Error::State(StateError::Poisoned))
        );
        assert!(unknown || ack.result.as_ref().is_ok_and(|applied| applied.edges == 0), "{ack:?}");
    }
    assert!(results.iter().any(|ack| matches!(ack.result, Err(Error::Commit(CommitError::OutcomeUnknown)))));
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 1, "nothing of it is visible");
    assert!(matches!(graph.write().err(), Some(Error::State(StateError::Poisoned))));
}

#[test]
fn commits_wait_while_too_much_is_not_synced_and_snapshots_do_not() {
    let disk = SimFs::new();
    let open = |bytes| {
        crate::common::small()
            .keys(KeyKind::U64)
            .max_unsynced_bytes(bytes)
            .open_on(disk.handle())
            .expect("opens")
    };
    let graph = open(0);
    let mut tickets = Vec::new();
    for i in 0..300u64 {
        let mut txn = graph.write().expect("open");
        txn.put_edge((i, i + 1)).expect("fits");
        let before = graph.durable_ts();
        tickets.push(txn.submit().expect("accepted"));
        // With no byte to spare, each submission waits for the sync of the submission before it.
        assert!(
            graph.published_ts().0 + 1 >= i,
            "{before:?}: more than one commit is not published after {i}"
        );
        graph.snapshot().expect("never waits");
    }
    for ticket in tickets {
        ticket.wait().expect("becomes durable");
    }
    assert!(graph.stats().expect("open").commit_waits > 0);
    graph.close().expect("closes");
    drop(graph);
    let graph = open(64 << 20);
    assert_eq!(graph.snapshot().expect("open").edge_count().unwrap(), 300);
}

/// The call in which a function of a pipeline panics; in the last case, the pipeline is dropped during
/// another panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PanicIn {
    Submit,
    Flush,
    Drop,
    DropBesideAnother,
}

/// Submits edges to a pipeline whose function panics at each call from the acknowledgement `first` on.
/// Returns the number of submitted edges, the number of calls of the function, and the message of the panic.
fn panic_in(graph: &Graph, place: PanicIn, first: u64) -> (u64, u64, String) {
    let (submitted, calls) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let run = || {
        let on_ack = |ack: Ack| {
            calls.set(calls.get() + 1);
            assert!(ack.ticket < first, "in the function");
        };
        // In a window of 64, the pipeline executes a few operations only at the end.
        let few = place != PanicIn::Submit;
        let mut pipeline = graph.pipeline(on_ack).expect("open").with_window(if few { 64 } else { 8 });
        for i in 0..if few { 30 } else { 100 } {
            submitted.set(submitted.get() + 1);
            pipeline.insert_edge(i, i + 1).expect("submitted");
        }
        match place {
            PanicIn::Flush => pipeline.flush().expect("it panics"),
            PanicIn::DropBesideAnother => panic!("another"),
            PanicIn::Submit | PanicIn::Drop => {}
        }
    };
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("a panic");
    let said = panic.downcast_ref::<&str>().map_or("", |text| text);
    (submitted.get(), calls.get(), said.to_owned())
}

#[test]
fn a_function_that_panicked_is_not_called_again_and_loses_no_operation() {
    for place in [PanicIn::Submit, PanicIn::Flush, PanicIn::Drop, PanicIn::DropBesideAnother] {
        for first in [0, 20] {
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join("store");
            let graph = crate::common::small().durability(Durability::Manual).open(&path).expect("new");
            let (submitted, calls, said) = panic_in(&graph, place, first);
            let wanted = if place == PanicIn::DropBesideAnother { "another" } else { "in the function" };
            assert_eq!((calls, said.as_str()), (first + 1, wanted), "{place:?} {first}");
            let snapshot = graph.snapshot().expect("open");
            assert_eq!(snapshot.edge_count().unwrap(), submitted, "{place:?} {first}");
            graph.close().expect("whole");
            let again = crate::common::small().open(&path).expect("whole");
            assert_eq!(again.snapshot().expect("open").edge_count().unwrap(), submitted);
        }
    }
}

#[test]
fn a_pipeline_whose_function_panicked_takes_nothing_more() {
    for options in
        [crate::common::small().keys(KeyKind::Dense), Options::new(), Options::new().keys(KeyKind::Str)]
    {
        let text = options.clone().in_memory().expect("new").config().keys == KeyKind::Str;
        let graph = options.in_memory().expect("new");
        let calls = std::cell::Cell::new(0);
        let mut pipeline = graph
            .pipeline(|_| {
                calls.set(calls.get() + 1);
                panic!("in the function")
            })
            .expect("open");
        let mut submitted = 0;
        let insert = |pipeline: &mut Pipeline<_>, i: u64| match text {
            true => pipeline.insert_edge(i.to_string().as_str(), "end"),
            false => pipeline.insert_edge(i, 1000),
        };
        let panicked = (0..100).any(|i| {
            submitted += 1;
            let call = std::panic::AssertUnwindSafe(|| insert(&mut pipeline, i));
            std::panic::catch_unwind(call).is_err()
        });
        assert!(panicked);
        assert!(matches!(insert(&mut pipeline, 500), Err(Error::State(StateError::AckPanicked))));
        assert!(matches!(pipeline.flush(), Err(Error::State(StateError::AckPanicked))));
        // The pipeline has executed all operations, and they are visible.
        assert_eq!((graph.snapshot().expect("open").edge_count().unwrap(), calls.get()), (submitted, 1));
        drop(pipeline);
        assert_eq!((graph.snapshot().expect("open").edge_count().unwrap(), calls.get()), (submitted, 1));
    }
}
