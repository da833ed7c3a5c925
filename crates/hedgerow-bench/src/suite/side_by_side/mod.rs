//! The store, a CSR and the containers of the lab by the same loops, in turns: what the suites `insert`, `ops` and `analytics` are
//! where a container is among the engines. The store is what [`HedgerowEngine`] makes of it: single edges by calls of their own,
//! reads and kernels on a snapshot with its view.

mod edges;
mod insert;
mod kernels;
mod measured;
mod reads;

use hedgerow_core::{DynamicGraph, VertexId};
use hedgerow_lab::{Adjlst, Aspen, GraphForm, LiveGraph, RapidStore, Sortledton, StaticCsr, Teseo};

use super::analytics::sources;
use super::ops::Questions;
use super::work::{Engine, Work};
use crate::engines::HedgerowEngine;
use crate::failure::Result;
use crate::record::Recorder;
use edges::{Edge, edges, fill, form};
use kernels::Answers;
use measured::Measured;
use reads::Sums;

/// Ingestion by single edges and batches, and memory by the engine's own count.
pub(super) fn insert(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let (edges, form) = (edges(work), form(work));
    let mut measured = Measured::default();
    for _ in 0..work.options.repeat() {
        for &engine in &work.options.engines {
            insert_into(work, &edges, (engine, form), &mut measured)?;
        }
    }
    measured.record(recorder)
}

fn insert_into(
    work: &Work<'_>,
    edges: &[Edge],
    (engine, form): (Engine, GraphForm),
    measured: &mut Measured,
) -> Result<()> {
    let store = || Ok(HedgerowEngine::new(form.directed, form.weighted)?);
    let name = engine.name();
    match engine {
        Engine::Csr => insert::build(work, measured),
        Engine::Hedgerow => insert::all(work, edges, name, store, measured),
        Engine::Adjlst => insert::all(work, edges, name, || Ok(Adjlst::new(form)), measured),
        Engine::Rapidstore => insert::all(work, edges, name, || Ok(RapidStore::new(form)), measured),
        Engine::Livegraph => insert::all(work, edges, name, || Ok(LiveGraph::new(form)), measured),
        Engine::Sortledton => insert::all(work, edges, name, || Ok(Sortledton::new(form)), measured),
        Engine::Teseo => insert::all(work, edges, name, || Ok(Teseo::new(form)), measured),
        Engine::Aspen => insert::all(work, edges, name, || Ok(Aspen::new(form)), measured),
    }
}

/// An engine with the graph in it, of any type.
trait Subject {
    /// Reads of single edges and lists on a new snapshot.
    fn reads(&self, work: &Work<'_>, questions: &Questions, measured: &mut Measured) -> Result<Sums>;
    /// Kernels on a new snapshot.
    fn kernels(&self, work: &Work<'_>, sources: &[VertexId], measured: &mut Measured) -> Result<Answers>;
}

/// An engine and its name.
struct Named<G>(&'static str, G);

impl<G: DynamicGraph> Subject for Named<G> {
    fn reads(&self, work: &Work<'_>, questions: &Questions, measured: &mut Measured) -> Result<Sums> {
        reads::all(work, &self.1, self.0, questions, measured)
    }

    fn kernels(&self, work: &Work<'_>, sources: &[VertexId], measured: &mut Measured) -> Result<Answers> {
        kernels::all(work, &self.1, self.0, sources, measured)
    }
}

fn filled<G: DynamicGraph + 'static>(
    work: &Work<'_>,
    edges: &[Edge],
    engine: Engine,
    graph: G,
) -> Result<Box<dyn Subject>> {
    fill(work, edges, &graph)?;
    Ok(Box::new(Named(engine.name(), graph)))
}

/// The engines that are asked for, but for the CSR.
fn subjects(work: &Work<'_>) -> Result<Vec<(Engine, Box<dyn Subject>)>> {
    let (edges, form) = (edges(work), form(work));
    let mut subjects = Vec::new();
    for &engine in work.options.engines.iter().filter(|engine| **engine != Engine::Csr) {
        let subject = match engine {
            Engine::Csr => continue,
            Engine::Hedgerow => {
                filled(work, &edges, engine, HedgerowEngine::new(form.directed, form.weighted)?)
            }
            Engine::Adjlst => filled(work, &edges, engine, Adjlst::new(form)),
            Engine::Rapidstore => filled(work, &edges, engine, RapidStore::new(form)),
            Engine::Livegraph => filled(work, &edges, engine, LiveGraph::new(form)),
            Engine::Sortledton => filled(work, &edges, engine, Sortledton::new(form)),
            Engine::Teseo => filled(work, &edges, engine, Teseo::new(form)),
            Engine::Aspen => filled(work, &edges, engine, Aspen::new(form)),
        };
        subjects.push((engine, subject?));
    }
    Ok(subjects)
}

/// Reads of single edges and lists on a snapshot.
pub(super) fn ops(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let (csr, subjects) = (work.csr()?, subjects(work)?);
    let questions = Questions::draw(work, &csr);
    let fixed = Named("csr", StaticCsr::new(csr));
    let mut measured = Measured::default();
    // The first round warms up, and is not kept.
    for round in 0..=work.options.repeat() {
        let mut kept = Measured::default();
        let expected = fixed.reads(work, &questions, &mut kept)?;
        for (engine, subject) in &subjects {
            let sums = subject.reads(work, &questions, &mut kept)?;
            if sums != expected {
                let name = engine.name();
                return Err(format!("{name} reads {sums:?}, the CSR {expected:?}").into());
            }
        }
        if round > 0 {
            measured.extend(kept);
        }
    }
    measured.record(recorder)
}

/// Kernels on a new snapshot for each round, right after single-edge ingestion.
pub(super) fn analytics(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let (csr, subjects) = (work.csr()?, subjects(work)?);
    let sources = sources(&csr);
    let fixed = Named("csr", StaticCsr::new(csr));
    let mut measured = Measured::default();
    for round in 0..=work.options.repeat() {
        let mut kept = Measured::default();
        let expected = fixed.kernels(work, &sources, &mut kept)?;
        for (engine, subject) in &subjects {
            if !expected.agrees_with(&subject.kernels(work, &sources, &mut kept)?) {
                return Err(format!("the answers of {} differ from those of the CSR", engine.name()).into());
            }
        }
        if round > 0 {
            measured.extend(kept);
        }
    }
    measured.record(recorder)
}
