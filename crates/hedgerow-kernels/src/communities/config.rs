//! Parameters of the kernels that find communities.

use crate::KernelError;
use crate::registry::{Arguments, NumberRange, Parameter};

/// The configuration of a search for communities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommunityConfig {
    /// The resolution, above 0: the higher it is, the smaller are the communities.
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
    pub(super) fn check<E>(&self) -> Result<(), KernelError<E>> {
        RESOLUTION.check_number(self.resolution)
    }
}

/// The resolution.
const RESOLUTION: Parameter = Parameter::number(
    "resolution",
    "The higher, the more and smaller communities",
    NumberRange::POSITIVE,
    1.0,
);

/// The parameters of all these kernels.
pub(super) const PARAMETERS: &[Parameter] = &[RESOLUTION, Parameter::SEED];

/// Returns the configuration that the arguments of a kernel give.
pub(super) fn read(arguments: &Arguments) -> Result<CommunityConfig, KernelError> {
    let seed = u64::from(arguments.count(&Parameter::SEED)?);
    Ok(CommunityConfig { resolution: arguments.number(&RESOLUTION)?, seed })
}
