//! Parameters of shortest paths, beside source and direction, and their range.

use crate::registry::{Absent, NumberRange, Parameter, ParameterKind};

/// The width of a bucket.
pub(super) const DELTA: Parameter = Parameter {
    name: "delta",
    summary: "The width of a bucket of distances: changes the time, not the result",
    kind: ParameterKind::Number(NumberRange::POSITIVE),
    absent: Absent::Without("by a sample of the weights"),
    is_reported: false,
};
