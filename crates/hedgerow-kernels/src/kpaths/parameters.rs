//! What the search for several paths can be told beside its ends.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind, Value};

/// How many paths.
pub(super) const K: Parameter = Parameter {
    name: "k",
    summary: "How many paths",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(3)),
    is_reported: true,
};
