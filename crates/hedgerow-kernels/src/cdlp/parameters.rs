//! Parameters of the kernel.

use crate::registry::{Absent, CountRange, Parameter, ParameterKind, Value};

/// The number of iterations.
pub(super) const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    summary: "The number of iterations; fewer are made only where no label changes any more",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(10)),
    is_reported: true,
};
