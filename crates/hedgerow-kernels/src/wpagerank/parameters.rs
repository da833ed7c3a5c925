//! What PageRank by weights can be told beside what PageRank can.

use crate::KernelError;
use crate::registry::{Absent, Parameter, ParameterKind};

/// Where the surfer starts.
pub(super) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The vertices that the surfer starts at and jumps to",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("every vertex"),
    is_reported: true,
};

/// Returns the error of a call with sources of which there is none.
pub(super) fn none_given<E>() -> KernelError<E> {
    KernelError::OutOfRange { parameter: SOURCES.name, range: "one vertex or more", found: 0.0 }
}
