//! Parameters of comparisons.

use hedgerow_core::{Direction, VertexId};

use super::measure::Compared;
use crate::KernelError;
use crate::registry::{Absent, Arguments, CountRange, Parameter, ParameterKind, Value};

/// The vertices that are compared.
pub(crate) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The vertices that are compared",
    kind: ParameterKind::Vertices,
    absent: Absent::Refused,
    is_reported: false,
};

/// The vertices with which they are compared.
pub(crate) const TARGETS: Parameter = Parameter {
    name: "targets",
    summary: "The vertex that each source is compared with, as many as there are sources",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("all others, of which the k most similar are given"),
    is_reported: false,
};

/// The number of similar vertices.
pub(crate) const K: Parameter = Parameter {
    name: "k",
    summary: "How many similar vertices are given for each source, where targets are not",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(10)),
    is_reported: false,
};

/// Returns the vertices that the arguments compare, and the direction.
pub(crate) fn read(arguments: &Arguments) -> Result<(Compared, Direction), KernelError> {
    let direction = arguments.direction(&Parameter::DIRECTION)?;
    let sources = arguments.optional_vertices(&SOURCES);
    let sources = sources.ok_or(KernelError::MissingArgument { parameter: SOURCES.name })?;
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
