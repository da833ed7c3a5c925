//! Parameters of PageRank by weights, beside those of PageRank.

use crate::KernelError;
use crate::registry::{Absent, Parameter, ParameterKind};

/// The vertices at which the surfer starts.
pub(super) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The vertices that the surfer starts at and jumps to",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("every vertex"),
    is_reported: true,
};

/// Returns the error of a call with an empty list of sources.
pub(super) fn none_given<E>() -> KernelError<E> {
    KernelError::OutOfRange { parameter: SOURCES.name, range: "one vertex or more", found: 0.0 }
}
