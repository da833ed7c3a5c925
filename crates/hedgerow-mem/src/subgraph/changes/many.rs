//! The differences of many subgraphs, whose cache misses overlap.

use hedgerow_core::{Changes, Direction, SubgraphId, Timestamp};

use crate::subgraph::Subgraph;
use crate::version::NotInMemory;

/// The distance in subgraphs between two links of the chain of misses, the same as in a refresh of a view.
/// Zero under the model checker, where prefetches would only add walks.
const APART: usize = if cfg!(feature = "loom") { 0 } else { 8 };

/// Adds the differences of each of these subgraphs, in their order, like [`Subgraph::changes_between`].
/// Reading one subgraph is a chain of cache misses: header, version, end of the delta. Each link is loaded
/// while other subgraphs are read. `read` is called for a subgraph if memory lacks one of the two states.
///
/// # Errors
/// The error of `read`; the differences of the subgraphs before it were added.
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
