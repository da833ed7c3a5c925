//! The store, a CSR and the containers of the lab by the same loops, in turns: what the suites `insert`, `ops` and `analytics` are
//! where a container is among the engines. The store is what [`HedgerowEngine`] makes of it: single edges by calls of their own,
//! reads and kernels on a snapshot with its view.

mod edges;
mod insert;
mod kernels;
mod measured;
mod reads;

use hedgerow_lab::{Adjlst, Csr, RapidStore, StaticCsr};

use super::analytics::sources;
use super::ops::Questions;
use super::work::{Engine, Work};
use crate::engines::HedgerowEngine;
use crate::failure::Result;
use crate::record::Recorder;
use edges::{edges, fill, form};
use measured::Measured;

/// Ingestion by single edges and batches, and memory by the engine's own count.
pub(super) fn insert(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let (edges, form) = (edges(work), form(work));
    let mut measured = Measured::default();
    for _ in 0..work.options.repeat() {
        if work.options.has(Engine::Csr) {
            insert::build(work, &mut measured)?;
        }
        if work.options.has(Engine::Hedgerow) {
            let new = || Ok(HedgerowEngine::new(form.directed, form.weighted)?);
            insert::all(work, &edges, "hedgerow", new, &mut measured)?;
        }
        if work.options.has(Engine::Adjlst) {
            insert::all(work, &edges, "adjlst", || Ok(Adjlst::new(form)), &mut measured)?;
        }
        if work.options.has(Engine::Rapidstore) {
            insert::all(work, &edges, "rapidstore", || Ok(RapidStore::new(form)), &mut measured)?;
        }
    }
    measured.record(recorder)
}

/// Every engine that is asked for, with the graph in it.
struct Engines {
    csr: Csr,
    fixed: StaticCsr,
    hedgerow: Option<HedgerowEngine>,
    adjlst: Option<Adjlst>,
    rapidstore: Option<RapidStore>,
}

impl Engines {
    fn load(work: &Work<'_>) -> Result<Engines> {
        let (edges, form) = (edges(work), form(work));
        let csr = work.csr()?;
        let mut engines = Engines {
            fixed: StaticCsr::new(csr.clone()),
            csr,
            hedgerow: None,
            adjlst: None,
            rapidstore: None,
        };
        if work.options.has(Engine::Hedgerow) {
            let engine = HedgerowEngine::new(form.directed, form.weighted)?;
            fill(work, &edges, &engine)?;
            engines.hedgerow = Some(engine);
        }
        if work.options.has(Engine::Adjlst) {
            let engine = Adjlst::new(form);
            fill(work, &edges, &engine)?;
            engines.adjlst = Some(engine);
        }
        if work.options.has(Engine::Rapidstore) {
            let engine = RapidStore::new(form);
            fill(work, &edges, &engine)?;
            engines.rapidstore = Some(engine);
        }
        Ok(engines)
    }
}

/// Reads of single edges and lists on a snapshot.
pub(super) fn ops(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let engines = Engines::load(work)?;
    let questions = Questions::draw(work, &engines.csr);
    let mut measured = Measured::default();
    // The first round warms up, and is not kept.
    for round in 0..=work.options.repeat() {
        let mut kept = Measured::default();
        reads::all(work, &engines.fixed, "csr", &questions, &mut kept)?;
        if let Some(engine) = &engines.hedgerow {
            reads::all(work, engine, "hedgerow", &questions, &mut kept)?;
        }
        if let Some(engine) = &engines.adjlst {
            reads::all(work, engine, "adjlst", &questions, &mut kept)?;
        }
        if let Some(engine) = &engines.rapidstore {
            reads::all(work, engine, "rapidstore", &questions, &mut kept)?;
        }
        if round > 0 {
            measured.extend(kept);
        }
    }
    measured.record(recorder)
}

/// Kernels on a new snapshot for each round, right after single-edge ingestion.
pub(super) fn analytics(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let engines = Engines::load(work)?;
    let sources = sources(&engines.csr);
    let mut measured = Measured::default();
    for round in 0..=work.options.repeat() {
        let mut kept = Measured::default();
        let expected = kernels::all(work, &engines.fixed, "csr", &sources, &mut kept)?;
        let mut answers = Vec::new();
        if let Some(engine) = &engines.hedgerow {
            answers.push(("hedgerow", kernels::all(work, engine, "hedgerow", &sources, &mut kept)?));
        }
        if let Some(engine) = &engines.adjlst {
            answers.push(("adjlst", kernels::all(work, engine, "adjlst", &sources, &mut kept)?));
        }
        if let Some(engine) = &engines.rapidstore {
            answers.push(("rapidstore", kernels::all(work, engine, "rapidstore", &sources, &mut kept)?));
        }
        if let Some((engine, _)) = answers.iter().find(|(_, answers)| !expected.agrees_with(answers)) {
            return Err(format!("the answers of {engine} differ from those of the CSR").into());
        }
        if round > 0 {
            measured.extend(kept);
        }
    }
    measured.record(recorder)
}
