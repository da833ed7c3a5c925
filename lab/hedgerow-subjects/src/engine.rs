//! The engines by name. Only this module knows their types.

use hedgerow_lab::{
    Adjlst, Aspen, GraphForm, LiveGraph, Llama, LsmGraph, RapidStore, Sortledton, StaticCsr, Teseo,
};
use hedgerow_workload::Csr;

use crate::Result;
use crate::store::HedgerowEngine;
use crate::subject::{Subject, subject};

/// An engine to measure.
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
    /// True if this is a container of the lab that can change.
    pub fn is_container(self) -> bool {
        !matches!(self, Engine::Hedgerow | Engine::Csr)
    }

    /// Returns the name in figures.
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

/// Makes an empty graph.
///
/// # Errors
/// Fails for [`Engine::Csr`], because a CSR needs a known graph; [`fixed`] makes it. Fails if the store
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

/// Makes a graph of a CSR, which takes no updates.
pub fn fixed(csr: Csr) -> Box<dyn Subject> {
    subject(StaticCsr::new(csr))
}
