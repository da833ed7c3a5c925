//! The store, a CSR and the containers of the lab in the same loops, in turns. The suites `insert`, `update`,
//! `ops`, `analytics` and `mixed` run these loops if a container is among the engines. The store is the
//! engine of `hedgerow-subjects`: each single edge is its own call, and reads and kernels use a snapshot with
//! its view.

mod beside;
mod edges;
mod insert;
mod kernels;
mod measured;
mod reads;
mod threads;
mod update;

use hedgerow_subjects::{Engine, Share, Subject, fixed};

use super::analytics::sources;
use super::mixed::share;
use super::ops::Questions;
use super::work::Work;
use crate::record::Recorder;
pub(crate) use beside::phase as beside;
pub(crate) use edges::{edges, empty, form};
use hedgerow_report::failure::Result;
pub(crate) use insert::check_count;
pub(crate) use measured::Measured;
use reads::reads;
pub(crate) use threads::timed;

/// Measures ingestion by single edges and batches, and memory by the engine's own count.
pub(super) fn insert(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let edges = edges(work);
    let mut measured = Measured::default();
    for _ in 0..work.options.repeat() {
        for &engine in &work.options.engines {
            match engine {
                Engine::Csr => insert::build(work, &mut measured)?,
                engine => insert::all(work, &edges, engine, &mut measured)?,
            }
        }
    }
    measured.record(recorder)
}

/// Removes a fifth of the edges and inserts it again, five rounds.
pub(super) fn update(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let edges = edges(work);
    let mut measured = Measured::default();
    for _ in 0..work.options.repeat() {
        for &engine in work.options.engines.iter().filter(|engine| **engine != Engine::Csr) {
            let subject = empty(work, engine)?;
            update::course(work, &edges, (engine.name(), &*subject), &mut measured)?;
        }
    }
    measured.record(recorder)
}

/// Measures PageRank on new snapshots concurrent with one writer, each compared with its run alone.
pub(super) fn mixed(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let edges = edges(work);
    let fifth = &edges[..edges.len().div_ceil(5)];
    let subjects = subjects(work)?;
    let mut measured = Measured::default();
    for _ in 0..work.options.repeat() {
        for &(name, ref subject) in &subjects {
            let of = |readers, writers| beside(work, &**subject, fifth, (readers, writers));
            let (alone, writer, both) = (of(1, 0)?.reader, of(0, 1)?.updates_per_s, of(1, 1)?);
            let figures = alone.zip(both.reader).zip(writer.zip(both.updates_per_s));
            let Some(((reader, reader_beside), (writer, writer_beside))) = figures else { continue };
            measured.add(name, "reader.seconds", "s", 1, reader);
            measured.add(name, "reader.slowdown", "x", 2, reader_beside / reader / share());
            measured.add(name, "writer.edges_per_s", "edges/s", 1, writer * work.per_edge);
            measured.add(name, "writer.slowdown", "x", 2, writer / writer_beside / share());
            check_count(&**subject, edges.len(), name)?;
        }
    }
    measured.record(recorder)
}

/// Makes the requested engines except the CSR, with the graph in them.
fn subjects(work: &Work<'_>) -> Result<Vec<(&'static str, Box<dyn Subject>)>> {
    let edges = edges(work);
    let mut subjects = Vec::new();
    for &engine in work.options.engines.iter().filter(|engine| **engine != Engine::Csr) {
        let subject = empty(work, engine)?;
        subject.insert(Share::all(&edges))?;
        subjects.push((engine.name(), subject));
    }
    Ok(subjects)
}

/// Measures reads of single edges and lists on a snapshot.
pub(super) fn ops(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let (csr, subjects) = (work.csr()?, subjects(work)?);
    let questions = Questions::draw(work, &csr);
    let fixed = fixed(csr);
    let mut measured = Measured::default();
    // The first round warms up, and is not kept.
    for round in 0..=work.options.repeat() {
        let mut kept = Measured::default();
        let expected = reads(&*fixed, "csr", &questions, &mut kept)?;
        for &(name, ref subject) in &subjects {
            let sums = reads(&**subject, name, &questions, &mut kept)?;
            if sums != expected {
                return Err(format!("{name} reads {sums:?}, the CSR {expected:?}").into());
            }
        }
        if round > 0 {
            measured.extend(kept);
        }
    }
    measured.record(recorder)
}

/// Measures kernels on a new snapshot for each round, right after single-edge ingestion.
pub(super) fn analytics(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let (csr, subjects) = (work.csr()?, subjects(work)?);
    let sources = sources(&csr);
    let fixed = fixed(csr);
    let mut measured = Measured::default();
    for round in 0..=work.options.repeat() {
        let mut kept = Measured::default();
        let expected = kernels::all(work, &*fixed, "csr", &sources, &mut kept)?;
        for &(name, ref subject) in &subjects {
            let answers = kernels::all(work, &**subject, name, &sources, &mut kept)?;
            if !kernels::agree(&expected, &answers) {
                return Err(format!("the answers of {name} differ from those of the CSR").into());
            }
        }
        if round > 0 {
            measured.extend(kept);
        }
    }
    measured.record(recorder)
}
