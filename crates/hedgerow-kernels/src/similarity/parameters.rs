//! Parameters of comparisons.

use hedgerow_core::{Direction, VertexId};

use super::measure::Compared;
use crate::KernelError;
use crate::registry::{Absent, Arguments, CountRange, Parameter};

/// The vertices that are compared.
const SOURCES: Parameter =
    Parameter::vertices("sources", "The vertices that are compared", Absent::Refused).unreported();

/// The vertices with which the sources are compared.
const TARGETS: Parameter = Parameter::vertices(
    "targets",
    "The vertex that each source is compared with, as many as there are sources",
    Absent::Without("all others, of which the k most similar are given"),
)
.unreported();

/// The number of similar vertices.
pub(super) const K: Parameter = Parameter::count(
    "k",
    "How many similar vertices are given for each source, where targets are not",
    CountRange::POSITIVE,
    10,
)
.unreported();

/// The parameters of both measures.
pub(super) const PARAMETERS: &[Parameter] = &[SOURCES, TARGETS, K, Parameter::DIRECTION];

/// Returns the vertices that the arguments compare, and the direction.
pub(super) fn read(arguments: &Arguments) -> Result<(Compared, Direction), KernelError> {
    let direction = arguments.direction(&Parameter::DIRECTION)?;
    let sources = arguments.vertices(&SOURCES)?;
    let Some(targets) = arguments.optional_vertices(&TARGETS) else {
        return Ok((Compared::Nearest { sources, k: arguments.count(&K)? }, direction));
    };
    if targets.len() != sources.len() {
        return Err(KernelError::OutOfRange {
            parameter: TARGETS.name,
            range: "as many vertices as sources",
            found: targets.len() as f64,
        });
    }
    let pairs: Vec<(VertexId, VertexId)> = sources.into_iter().zip(targets).collect();
    Ok((Compared::Pairs(pairs), direction))
}
