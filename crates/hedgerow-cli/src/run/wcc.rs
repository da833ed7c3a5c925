//! `hedgerow run wcc`.

use std::cmp::Reverse;

use hedgerow::VertexId;
use hedgerow_kernels::count_components;

use super::work::{Common, Work};
use crate::error::CliError;
use crate::keys::to_json;
use crate::output::Report;

/// Arguments of `run wcc`.
#[derive(clap::Args)]
pub(super) struct WccArgs {
    #[command(flatten)]
    pub(super) common: Common,
}

/// Components, each named by the key of the vertex in it that has the least internal id, the first one inserted as a
/// rule.
pub(super) fn wcc(args: &WccArgs, work: &Work<'_>) -> Result<Report, CliError> {
    let view = work.view();
    let (components, milliseconds) = work.timed(|| hedgerow_kernels::wcc(view))?;
    let component = |id: VertexId| components.get(id.0 as usize).copied().unwrap_or(id.0);
    work.write_result(|id| {
        let key = work.snapshot.vertex_key(VertexId(component(id)));
        key.map_or_else(String::new, |key| key.to_string())
    })?;
    let mut sizes = vec![0u64; components.len()];
    for id in view.vertices() {
        if let Some(size) = sizes.get_mut(component(id) as usize) {
            *size += 1;
        }
    }
    let mut largest: Vec<(u32, u64)> = (0u32..).zip(sizes).filter(|&(_, size)| size > 0).collect();
    largest.sort_unstable_by_key(|&(id, size)| (Reverse(size), id));
    largest.truncate(args.common.top);
    let row =
        |(id, size): (u32, u64)| Some(vec![to_json(&work.snapshot.vertex_key(VertexId(id))?), size.into()]);
    Ok(work.summary("wcc", milliseconds).field("components", count_components(&components) as u64).table(
        "largest",
        &["component", "vertices"],
        largest.into_iter().filter_map(row).collect(),
    ))
}
