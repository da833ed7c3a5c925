//! Parameters of the search for cycles, beside the vertex and the direction.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind, Value};

/// The greatest length.
pub(super) const LENGTH: Parameter = Parameter {
    name: "length",
    summary: "The most edges of a cycle",
    kind: ParameterKind::Count(CountRange { least: 1, most: 255, text: "1 to 255" }),
    absent: Absent::Is(Value::Count(4)),
    is_reported: true,
};

/// The greatest number of cycles.
pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    summary: "The most cycles that are given; the result says whether there are more",
    kind: ParameterKind::Count(CountRange::ANY),
    absent: Absent::Is(Value::Count(100)),
    is_reported: false,
};

/// The parameter that makes the search go on past the limit.
pub(super) const COUNT: Parameter = Parameter {
    name: "count",
    summary: "Count all cycles, also past the limit, which may take very long at a vertex with many edges",
    kind: ParameterKind::Flag,
    absent: Absent::Is(Value::Flag(false)),
    is_reported: false,
};
