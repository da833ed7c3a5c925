//! Parameters of betweenness.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind};

/// The number of sources.
pub(crate) const SAMPLES: Parameter = Parameter {
    name: "samples",
    summary: "How many sources are drawn at random among vertices with edges; with as many as there are the result is exact",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Without(
        "all while vertices with edges, times edges, are at most 10^9, and times ids of the store 10^10; else 64",
    ),
    is_reported: true,
};

/// The sources.
pub(crate) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The sources, in place of a sample; the result is the sum over these",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("all, or a sample"),
    is_reported: false,
};
