//! The differences of many subgraphs, whose cache misses overlap.

use hedgerow_core::{Changes, Direction, SubgraphId, Timestamp};

use crate::subgraph::Subgraph;
use crate::version::NotInMemory;

/// How many subgraphs lie between one link of the chain of misses and the next, as where a view is refreshed. None under the model checker,
/// where steps that only load would be more walks.
const APART: usize = if cfg!(feature = "loom") { 0 } else { 8 };

/// As [`Subgraph::changes_between`] of each of these subgraphs, in their order. To read one is a chain of misses: header, version, end of the delta. Each link is
/// loaded while others are read. `read` is called for a subgraph of which memory lacks one of the two states.
///
/// # Errors
/// What `read` returned; the differences of the subgraphs before it were added.
pub fn changes_of_many<E>(
    subgraphs: &[(SubgraphId, &Subgraph)],
    direction: Direction,
    between: (Timestamp, Timestamp),
    found: &mut Changes,
    mut read: impl FnMut(SubgraphId, &mut Changes) -> Result<(), E>,
) -> Result<(), E> {
    for step in 0..subgraphs.len() + 3 * APART {
        let at = |stage: usize| subgraphs.get(step.wrapping_sub(stage * APART)).copied();
        if !cfg!(feature = "loom") {
            at(0).into_iter().for_each(|(_, subgraph)| subgraph.prefetch_header());
            at(1).into_iter().for_each(|(_, subgraph)| subgraph.prefetch_version(direction, false));
            at(2).into_iter().for_each(|(_, subgraph)| subgraph.prefetch_last_entry(direction));
        }
        let Some((id, subgraph)) = at(3) else { continue };
        if subgraph.changes_between(id, direction, between, found) == Err(NotInMemory) {
            read(id, found)?;
        }
    }
    Ok(())
}
