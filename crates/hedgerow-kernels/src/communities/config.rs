//! What can be told to the kernels that find communities.

use crate::KernelError;
use crate::registry::{Absent, Arguments, NumberRange, Parameter, ParameterKind, Value};

/// How to look for communities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommunityConfig {
    /// The higher, the more and smaller communities; above 0.
    pub resolution: f64,
    /// What the order depends on in which vertices are looked at.
    pub seed: u64,
}

impl Default for CommunityConfig {
    fn default() -> Self {
        CommunityConfig { resolution: 1.0, seed: 1 }
    }
}

impl CommunityConfig {
    pub(crate) fn check<E>(&self) -> Result<(), KernelError<E>> {
        RESOLUTION.check_number(self.resolution)
    }
}

/// How fine.
pub(crate) const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    summary: "The higher, the more and smaller communities",
    kind: ParameterKind::Number(NumberRange::POSITIVE),
    absent: Absent::Is(Value::Number(1.0)),
    is_reported: true,
};

/// Returns the arguments of a kernel as its configuration.
pub(crate) fn read(arguments: &Arguments) -> Result<CommunityConfig, KernelError> {
    let seed = u64::from(arguments.count(&Parameter::SEED)?);
    Ok(CommunityConfig { resolution: arguments.number(&RESOLUTION)?, seed })
}
