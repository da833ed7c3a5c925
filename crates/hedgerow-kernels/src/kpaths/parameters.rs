//! Parameters of the search for several paths, beside its ends.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind, Value};

/// The number of paths.
pub(super) const K: Parameter = Parameter {
    name: "k",
    summary: "How many paths",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(3)),
    is_reported: true,
};
