//! Parameters of closeness.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind};

/// The number of vertices to which distances are measured.
pub(crate) const SAMPLES: Parameter = Parameter {
    name: "samples",
    summary: "How many vertices are drawn at random, among those with edges, to measure distances to; with as many as there are the result is \
              exact",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Without(
        "all while vertices with edges, times edges, are at most 10^9, and times ids of the store 10^10; else 64",
    ),
    is_reported: true,
};

/// The vertices whose closeness is computed.
pub(crate) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The vertices whose exact closeness is wanted, in place of estimates for all; others get 0",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("all, exactly or by a sample"),
    is_reported: false,
};
