//! What betweenness can be told.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind, Value};

/// How many sources.
pub(crate) const SAMPLES: Parameter = Parameter {
    name: "samples",
    summary: "How many sources are drawn at random; with as many as there are vertices the result is exact",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(64)),
    is_reported: true,
};

/// Which sources.
pub(crate) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The sources, in place of a sample; the result is the sum over these",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("drawn at random"),
    is_reported: false,
};
