//! The parameter of a matching.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind, Value};

/// The choice of a maximum matching.
pub(super) const MAXIMUM: Parameter = Parameter {
    name: "maximum",
    summary: "1 for as many pairs as can be, of a bipartite graph; 0 for pairs to which no edge can be added, of any graph",
    kind: ParameterKind::Count(CountRange { least: 0, most: 1, text: "0 or 1" }),
    absent: Absent::Is(Value::Count(1)),
    is_reported: true,
};
