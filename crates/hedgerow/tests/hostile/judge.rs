//! Checks of damaged stores: opens the files, reads all content and returns a verdict.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use hedgerow::{
    CheckReport, Direction, Error, Graph, OpenError, Snapshot, StorageError, VertexId, VertexKey,
};
use hedgerow_testkit::{FOR_EVER, SimFs};

use crate::common;
use crate::stores::{Files, Store};

/// The result of an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Verdict {
    /// An error.
    Refused,
    /// The right content.
    Right,
    /// The content after an earlier commit.
    Older,
    /// It opened with other content, in which `check` finds no fault.
    Sound,
    /// It opened, and `check` reported a fault.
    Reported,
}

/// The number of stores by verdict.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(std::collections::BTreeMap<Verdict, u64>);

impl Tally {
    pub(crate) fn add(&mut self, verdict: Verdict) {
        *self.0.entry(verdict).or_default() += 1;
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        for (verdict, count) in &other.0 {
            *self.0.entry(*verdict).or_default() += count;
        }
    }

    pub(crate) fn of(&self, verdict: Verdict) -> u64 {
        self.0.get(&verdict).copied().unwrap_or(0)
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// Opens `files` and reads everything. Panics, hangs and errors without information fail the test.
pub(crate) fn open(store: &Store, files: &Files, read_only: bool, what: &dyn Fn() -> String) -> Verdict {
    let started = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| look(store, files, read_only)));
    // An opening takes milliseconds on an idle machine.
    assert!(started.elapsed() < FOR_EVER, "{}: {}: took {:?}", store.name, what(), started.elapsed());
    match result {
        Err(_) => panic!("{}, read-only {read_only}: {}: a panic", store.name, what()),
        Ok(Ok(verdict)) => verdict,
        Ok(Err(
            Error::Storage(StorageError::Corruption(_))
            | Error::Open(OpenError::NotAStore { .. })
            | Error::Open(OpenError::FutureVersion { .. } | OpenError::OldVersion { .. })
            | Error::Open(OpenError::ConfigMismatch { .. })
            | Error::Storage(StorageError::Io { .. }),
        )) => Verdict::Refused,
        Ok(Err(error)) => panic!("{}: {}: an error that says nothing: {error}", store.name, what()),
    }
}

fn look(store: &Store, files: &Files, read_only: bool) -> Result<Verdict, Error> {
    let disk = SimFs::from_files(files);
    let graph = store.options().read_only(read_only).open_on(disk.handle())?;
    let report = checked_twice(&graph)?;
    let snapshot = graph.snapshot()?;
    if !report.is_ok() {
        // The check reports the fault. A read must still do no harm.
        let mut edges = 0u64;
        snapshot.default_label().for_each_edge(|_, _, _| edges += 1).unwrap();
        return Ok(Verdict::Reported);
    }
    let found = graph.config();
    let same_kind = (found.directed, found.weighted, found.keys)
        == (store.config.directed, store.config.weighted, store.config.keys);
    sides_agree(&snapshot)?;
    if !same_kind {
        return Ok(Verdict::Sound);
    }
    let known =
        (!store.config.rich || knows_labels(&graph)).then(|| common::content(&snapshot, store.config));
    drop(snapshot);
    if !read_only {
        go_on(graph, &disk, store)?;
    }
    Ok(match known {
        Some(content) if Some(&content) == store.states.last() => Verdict::Right,
        Some(content) if store.states.contains(&content) => Verdict::Older,
        _ => Verdict::Sound,
    })
}

/// Checks a store twice: its lists are in files, then in memory. Both checks must find the same problems, and
/// damage if there is any.
fn checked_twice(graph: &Graph) -> Result<CheckReport, Error> {
    let checked = graph.check();
    match (&checked, common::load_lists(graph).and_then(|()| graph.check())) {
        (Ok(checked), Ok(again)) => {
            let [mut expected, mut found] = [checked, &again].map(|report| report.problems.clone());
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "in memory");
            let counted = |report: &CheckReport| (report.vertices, report.edges);
            assert_eq!(counted(&again), counted(checked), "in memory");
        }
        (Ok(_), Err(error)) => panic!("not found in files: {error}"),
        (Err(error), Ok(_)) => panic!("found in files alone: {error}"),
        (Err(_), Err(_)) => {}
    }
    checked
}

/// Checks that each edge of the default label is at both endpoints, in a store that `check` calls sound.
fn sides_agree(snapshot: &Snapshot) -> Result<(), Error> {
    let mut ends = std::collections::BTreeSet::<VertexId>::new();
    snapshot.default_label().for_each_edge(|v, u, _| ends.extend([v, u]))?;
    let (mut out, mut into) = (Vec::new(), Vec::new());
    for &v in &ends {
        snapshot
            .default_label()
            .for_each_neighbor(v, Direction::Out, |u, w| out.push((v, u, w.to_bits())))?;
        snapshot
            .default_label()
            .for_each_neighbor(v, Direction::In, |u, w| into.push((u, v, w.to_bits())))?;
    }
    out.sort_unstable();
    into.sort_unstable();
    assert_eq!(out, into, "check found the two sides equal");
    Ok(())
}

/// True if the store has every label of the model, each with or without parallel edges as in the model.
fn knows_labels(graph: &Graph) -> bool {
    let snapshot = graph.snapshot().expect("an open store");
    let schema = snapshot.schema();
    hedgerow_testkit::LABELS
        .iter()
        .all(|(name, multi)| schema.label(name).is_some_and(|label| label.is_multi() == *multi))
}

/// Checks that a store opened for writing can be written, closed and reopened.
fn go_on(graph: Graph, disk: &SimFs, store: &Store) -> Result<(), Error> {
    let key = match graph.config().keys {
        hedgerow::KeyKind::Str => VertexKey::from("one more"),
        _ => VertexKey::U64(77),
    };
    let mut tx = graph.write()?;
    tx.insert_vertex(&key)?;
    tx.commit()?;
    let vertices = graph.snapshot()?.vertex_count();
    graph.close()?;
    drop(graph);
    let graph = store.options().open_on(disk.handle())?;
    assert_eq!(graph.snapshot()?.vertex_count(), vertices, "what was written is there");
    assert!(graph.check()?.is_ok(), "and is sound");
    Ok(())
}
