//! Each engine by its name: the one place that knows their types.

use hedgerow_lab::{Adjlst, Aspen, GraphForm, LiveGraph, Llama, LsmGraph, RapidStore, Sortledton, Teseo};

use super::super::work::Engine;
use crate::engines::{HedgerowEngine, Subject, subject};
use crate::failure::Result;

/// An empty graph. The CSR is made of a graph that is known, so it is none of these.
pub(crate) fn open(engine: Engine, form: GraphForm) -> Result<Box<dyn Subject>> {
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
