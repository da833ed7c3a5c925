//! What closeness can be told.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind, Value};

/// How many vertices distances are measured to.
pub(crate) const SAMPLES: Parameter = Parameter {
    name: "samples",
    summary: "How many vertices are drawn at random to measure distances to; with as many as there are the result is exact",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(64)),
    is_reported: true,
};

/// Which vertices.
pub(crate) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The vertices whose exact closeness is wanted, in place of estimates for all; others get 0",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("all, estimated by the sample"),
    is_reported: false,
};
