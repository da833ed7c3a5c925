//! The shares of the kinds of requests.

use super::error::LinkBenchError;
use super::properties::Properties;
use crate::rng::Rng;

/// The percentages of the kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix([f64; 10]);

/// The names of the kinds in the file of properties, in the order of [`Mix`].
const NAMES: [&str; 10] = [
    "addlink",
    "deletelink",
    "updatelink",
    "countlink",
    "getlink",
    "getlinklist",
    "addnode",
    "updatenode",
    "deletenode",
    "getnode",
];

impl Mix {
    pub(super) fn of(properties: &Properties) -> Result<Mix, LinkBenchError> {
        let mut shares = [0.0; 10];
        for (share, name) in shares.iter_mut().zip(NAMES) {
            *share = properties.number(name)?;
        }
        Ok(Mix(shares))
    }

    /// Returns the mix of TAO: 99.8 % reads. Its requests for a range of times are requests for lists here,
    /// and its changes of a type are updates.
    pub fn tao() -> Mix {
        let (reads, writes) = (0.998, 0.002);
        Mix([
            52.5 * writes,
            8.3 * writes,
            0.9 * writes,
            11.7 * reads,
            15.7 * reads,
            (40.9 + 2.8) * reads,
            16.5 * writes,
            20.7 * writes,
            2.0 * writes,
            28.9 * reads,
        ])
    }

    /// Draws a kind; returns its place among [`NAMES`].
    pub(super) fn draw(&self, rng: &mut Rng) -> usize {
        let mut rest = rng.unit() * self.0.iter().sum::<f64>();
        let below = |share: &f64| {
            rest -= share;
            rest < 0.0
        };
        self.0.iter().position(below).unwrap_or(NAMES.len() - 1)
    }
}
