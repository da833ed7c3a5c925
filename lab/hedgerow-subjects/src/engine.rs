//! Each engine by its name: the one place that knows their types.

use hedgerow_lab::{
    Adjlst, Aspen, GraphForm, LiveGraph, Llama, LsmGraph, RapidStore, Sortledton, StaticCsr, Teseo,
};
use hedgerow_workload::Csr;

use crate::Result;
use crate::store::HedgerowEngine;
use crate::subject::{Subject, subject};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// The store.
    Hedgerow,
    /// A plain static CSR under the same kernels.
    Csr,
    /// Sorted adjacency lists with versions, of the lab.
    Adjlst,
    /// RapidStore, of the lab.
    Rapidstore,
    /// LiveGraph, of the lab.
    Livegraph,
    /// Sortledton, of the lab.
    Sortledton,
    /// Teseo, of the lab.
    Teseo,
    /// Aspen, of the lab.
    Aspen,
    /// LLAMA, of the lab.
    Llama,
    /// LSMGraph, of the lab.
    Lsmgraph,
}

impl Engine {
    /// Whether this is a container of the lab that changes.
    pub fn is_container(self) -> bool {
        !matches!(self, Engine::Hedgerow | Engine::Csr)
    }

    /// Its name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Hedgerow => "hedgerow",
            Engine::Csr => "csr",
            Engine::Adjlst => "adjlst",
            Engine::Rapidstore => "rapidstore",
            Engine::Livegraph => "livegraph",
            Engine::Sortledton => "sortledton",
            Engine::Teseo => "teseo",
            Engine::Aspen => "aspen",
            Engine::Llama => "llama",
            Engine::Lsmgraph => "lsmgraph",
        }
    }
}

/// An empty graph.
///
/// # Errors
/// For [`Engine::Csr`], which is made of a graph that is known: [`fixed`] makes it. And where the store
/// cannot be opened.
pub fn open(engine: Engine, form: GraphForm) -> Result<Box<dyn Subject>> {
    Ok(match engine {
        Engine::Csr => return Err("the CSR takes no updates".into()),
        Engine::Hedgerow => subject(HedgerowEngine::new(form.directed, form.weighted)?),
        Engine::Adjlst => subject(Adjlst::new(form)),
        Engine::Rapidstore => subject(RapidStore::new(form)),
        Engine::Livegraph => subject(LiveGraph::new(form)),
        Engine::Sortledton => subject(Sortledton::new(form)),
        Engine::Teseo => subject(Teseo::new(form)),
        Engine::Aspen => subject(Aspen::new(form)),
        Engine::Llama => subject(Llama::new(form)),
        Engine::Lsmgraph => subject(LsmGraph::new(form)),
    })
}

/// A CSR as a graph that takes no updates.
pub fn fixed(csr: Csr) -> Box<dyn Subject> {
    subject(StaticCsr::new(csr))
}
