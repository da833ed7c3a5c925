//! Parameters of the kernels that find communities.

use crate::KernelError;
use crate::registry::{Absent, Arguments, NumberRange, Parameter, ParameterKind, Value};

/// The configuration of a search for communities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommunityConfig {
    /// The resolution, above 0: the higher it is, the more and smaller are the communities.
    pub resolution: f64,
    /// The seed of the order in which nodes move.
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

/// The resolution.
pub(crate) const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    summary: "The higher, the more and smaller communities",
    kind: ParameterKind::Number(NumberRange::POSITIVE),
    absent: Absent::Is(Value::Number(1.0)),
    is_reported: true,
};

/// Returns the configuration that the arguments of a kernel give.
pub(crate) fn read(arguments: &Arguments) -> Result<CommunityConfig, KernelError> {
    let seed = u64::from(arguments.count(&Parameter::SEED)?);
    Ok(CommunityConfig { resolution: arguments.number(&RESOLUTION)?, seed })
}
