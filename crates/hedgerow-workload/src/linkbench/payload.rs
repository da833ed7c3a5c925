//! The bytes of nodes and links.

use crate::rng::Rng;

/// The longest payload.
const MOST_BYTES: f64 = 4096.0;

/// Returns random bytes. Their number is distributed like the logarithm of a normal distribution with
/// deviation 1, as in LinkBench.
pub(super) fn payload(rng: &mut Rng, median: f64) -> Vec<u8> {
    let (radius, angle) = ((-2.0 * (1.0 - rng.unit()).ln()).sqrt(), rng.unit() * std::f64::consts::TAU);
    let len = (median * (radius * angle.cos()).exp()).min(MOST_BYTES) as usize;
    let mut bytes = vec![0; len];
    for part in bytes.chunks_mut(8) {
        let word = rng.next_u64().to_le_bytes();
        part.copy_from_slice(&word[..part.len()]);
    }
    bytes
}
