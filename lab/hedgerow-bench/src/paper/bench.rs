//! The input of all measurements, and the turns of the engines.

use std::cell::RefCell;
use std::time::Instant;

use hedgerow_core::{Capability, VertexId};
use hedgerow_lab::GraphForm;
use hedgerow_subjects::{Edge, Engine, Share, Subject, fixed};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions};

use crate::record::{Record, Recorder};
use crate::suite::links::Rival;
use crate::suite::{Measured, Work, edges, empty, form};
use hedgerow_report::failure::{Failure, Result};

/// An engine that a measurement left out, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failed {
    pub(super) measurement: &'static str,
    pub(super) engine: String,
    pub(super) reason: String,
    /// True if the engine should be able to run the measurement.
    pub(super) is_fault: bool,
}

/// The input of measurements: the work, its edges, and the engines.
pub(super) struct Bench<'a> {
    pub(super) work: &'a Work<'a>,
    pub(super) quick: bool,
    pub(super) edges: Vec<Edge>,
    pub(super) form: GraphForm,
    /// The additional engines of the program, for LinkBench.
    pub(super) rivals: &'a [Rival],
    failed: RefCell<Vec<Failed>>,
}

/// The name of an engine, and the engine with a graph.
pub(super) type Named = (&'static str, Box<dyn Subject>);

impl<'a> Bench<'a> {
    pub(super) fn new(work: &'a Work<'a>, quick: bool, rivals: &'a [Rival]) -> Bench<'a> {
        let (edges, form) = (edges(work), form(work));
        Bench { work, quick, edges, form, rivals, failed: RefCell::default() }
    }

    /// Returns the engines with a graph that can change: all except the CSR.
    pub(super) fn engines(&self) -> Vec<Engine> {
        self.work.options.engines.iter().copied().filter(|engine| *engine != Engine::Csr).collect()
    }

    /// Returns the maximum number of threads.
    pub(super) fn threads(&self) -> usize {
        self.work.options.threads()
    }

    /// Returns the numbers of threads to measure: the powers of two below the maximum, and the maximum.
    pub(super) fn thread_counts(&self) -> Vec<usize> {
        let most = self.threads();
        let mut counts: Vec<usize> =
            std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < most).collect();
        counts.push(most);
        counts
    }

    /// Converts a number of edges to a number of directed edges.
    pub(super) fn directed(&self, edges: usize) -> f64 {
        edges as f64 * self.work.per_edge
    }

    /// Makes an empty engine that has the vertices.
    pub(super) fn empty(&self, engine: Engine) -> Result<Box<dyn Subject>> {
        empty(self.work, engine)
    }

    /// Makes a CSR of the graph, as a subject that does not change.
    pub(super) fn csr(&self) -> Result<Box<dyn Subject>> {
        self.csr_of(&self.edges)
    }

    /// Makes a CSR of a part of the graph.
    pub(super) fn csr_of(&self, edges: &[Edge]) -> Result<Box<dyn Subject>> {
        let edges: Vec<(u32, u32)> = edges.iter().map(|edge| (edge.0.0, edge.1.0)).collect();
        let options = CsrOptions { directed: self.form.directed, ..CsrOptions::default() };
        Ok(fixed(Csr::from_edges(self.work.graph.vertices, &edges, &options)?))
    }

    /// Inserts these edges one by one into each engine. Notes an engine that fails, and leaves it out.
    pub(super) fn filled(&self, measurement: &'static str, edges: &[Edge]) -> Vec<Named> {
        let fill = |engine: Engine| -> Result<Box<dyn Subject>> {
            let subject = self.empty(engine)?;
            subject.insert(Share::all(edges))?;
            Ok(subject)
        };
        let mut filled = Vec::new();
        for engine in self.engines() {
            match fill(engine) {
                Ok(subject) => filled.push((engine.name(), subject)),
                Err(error) => self.note(measurement, engine.name(), &error),
            }
        }
        filled
    }

    /// Calls `body` with each subject in turns, round after round. Notes a subject that fails, and leaves it
    /// out of later rounds: a figure of a wrong answer is no figure. The figures of the other subjects stay.
    pub(super) fn rounds<T>(
        &self,
        measurement: &'static str,
        rounds: usize,
        mut subjects: Vec<(&'static str, T)>,
        body: impl Fn(&'static str, &T, &mut Measured) -> Result<()>,
    ) -> Result<Vec<Record>> {
        let mut measured = Measured::default();
        for _ in 0..rounds {
            subjects.retain(|(name, subject)| {
                let mut round = Measured::default();
                let outcome = body(name, subject, &mut round);
                match &outcome {
                    Ok(()) => measured.extend(round),
                    Err(error) => self.note(measurement, name, error),
                }
                outcome.is_ok()
            });
        }
        self.records(measurement, &measured)
    }

    /// Converts the measurements to records, with ratios to the CSR if the CSR was measured too.
    pub(super) fn records(&self, measurement: &'static str, measured: &Measured) -> Result<Vec<Record>> {
        let mut recorder = Recorder::new(measurement, self.work.graph.name.clone(), None)?;
        measured.record(&mut recorder)?;
        Ok(recorder.records().to_vec())
    }

    /// Notes that an engine was left out.
    pub(super) fn note(&self, measurement: &'static str, engine: &str, error: &Failure) {
        eprintln!("  {measurement}: {engine} FAILED: {error}");
        let (engine, reason) = (engine.to_owned(), error.to_string());
        self.failed.borrow_mut().push(Failed { measurement, engine, reason, is_fault: true });
    }

    /// True if an engine has the capability that a measurement needs. Notes an engine that lacks it.
    pub(super) fn is_able(
        &self,
        measurement: &'static str,
        engine: &str,
        subject: &dyn Subject,
        capability: Capability,
    ) -> bool {
        let is_able = !subject.lacks(capability);
        if !is_able {
            let (engine, reason) = (engine.to_owned(), format!("it lacks {capability:?}"));
            self.failed.borrow_mut().push(Failed { measurement, engine, reason, is_fault: false });
        }
        is_able
    }

    /// Returns the engines that measurements left out so far.
    pub(super) fn failed(&self) -> Vec<Failed> {
        self.failed.borrow().clone()
    }
}

/// Returns the ends of edges.
pub(super) fn ends(edges: &[Edge]) -> Vec<(VertexId, VertexId)> {
    edges.iter().map(|&(src, dst, _)| (src, dst)).collect()
}

/// Returns the seconds until a snapshot shows the writes. They count as writing time: some engines leave work
/// for the next snapshot.
pub(super) fn shown(subject: &dyn Subject) -> Result<f64> {
    let begun = Instant::now();
    let snapshot = subject.snapshot()?;
    let seconds = begun.elapsed().as_secs_f64();
    drop(snapshot);
    Ok(seconds)
}

/// Draws `count` vertices by their degree: each is one of the two ends of a random edge.
pub(super) fn drawn_by_degree(edges: &[Edge], count: usize, seed: u64) -> Vec<VertexId> {
    let mut rng = Rng::new(seed);
    let mut end = || {
        let end = rng.below(2 * edges.len() as u64) as usize;
        let (src, dst, _) = edges[end / 2];
        if end.is_multiple_of(2) { src } else { dst }
    };
    (0..count).map(|_| end()).collect()
}

/// Sets the graph of records that measure another graph than the graph of the work.
pub(super) fn on(graph: &str, mut records: Vec<Record>) -> Vec<Record> {
    records.iter_mut().for_each(|record| record.graph = graph.to_owned());
    records
}
