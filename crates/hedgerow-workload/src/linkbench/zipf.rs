//! Random numbers by Zipf's distribution: the first numbers are the most frequent.

use crate::rng::Rng;

/// The numbers `0..bound`, number `k` with a probability in proportion to `1 / (k + 1)^exponent`:
/// rejection-inversion (W. Hörmann, G. Derflinger, *Rejection-Inversion to Generate Variates from Monotone
/// Discrete Distributions*, 1996). O(1) expected, without tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipf {
    bound: f64,
    exponent: f64,
    /// The integral of the density up to the end of the first number, and up to the end of the last.
    first: f64,
    last: f64,
    /// The distance below the next number within which candidates are accepted without computing the density.
    near: f64,
}

impl Zipf {
    pub(super) fn new(bound: u64, exponent: f64) -> Zipf {
        let mut zipf = Zipf { bound: bound.max(1) as f64, exponent, first: 0.0, last: 0.0, near: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(zipf.bound + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.last + rng.unit() * (self.first - self.last);
            let x = self.inverse(u);
            let k = x.round().clamp(1.0, self.bound);
            if k - x <= self.near || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    fn integral(&self, x: f64) -> f64 {
        match (1.0 - self.exponent).abs() < 1e-9 {
            true => x.ln(),
            false => (x.powf(1.0 - self.exponent) - 1.0) / (1.0 - self.exponent),
        }
    }

    fn inverse(&self, y: f64) -> f64 {
        match (1.0 - self.exponent).abs() < 1e-9 {
            true => y.exp(),
            false => (1.0 + y * (1.0 - self.exponent)).max(0.0).powf(1.0 / (1.0 - self.exponent)),
        }
    }
}
