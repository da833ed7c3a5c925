//! The scale of the axis of values: linear from 0, or logarithmic.

use crate::figures::range;

/// The ratio of the greatest to the least value above which the small ones look like 0 on a linear axis.
const WIDE: f64 = 50.0;
/// The maximal number of powers of ten that each have a line.
const MOST_DECADES: i32 = 8;

/// The scale of an axis, with its limits.
pub(super) enum Scale {
    /// An axis from 0 to this value.
    Linear(f64),
    /// An axis from one power of ten to another, by their exponents.
    Log(i32, i32),
}

impl Scale {
    /// Returns the scale for these values. It is logarithmic if that is allowed, all values are greater than
    /// 0, and they differ much.
    pub(super) fn of(values: &[f64], may_be_log: bool) -> Scale {
        let (least, most) = range(values);
        match may_be_log && least > 0.0 && most.is_finite() && most / least > WIDE {
            // The lower limit is below the least value, so that its bar is visible.
            true => Scale::Log((least * 0.8).log10().floor() as i32, most.log10().ceil() as i32),
            false => Scale::Linear(ceiling(most)),
        }
    }

    pub(super) fn is_log(&self) -> bool {
        matches!(self, Scale::Log(..))
    }

    /// Returns the position of a value: 0 is the lower limit of the axis, 1 the upper one.
    pub(super) fn share(&self, value: f64) -> f64 {
        match *self {
            Scale::Linear(most) => value / most,
            Scale::Log(from, to) => (value.log10() - f64::from(from)) / f64::from(to - from),
        }
    }

    /// Returns the values that get a line, ascending.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match *self {
            Scale::Linear(most) => (0..=4).map(|i| most * f64::from(i) / 4.0).collect(),
            Scale::Log(from, to) => {
                let step = ((to - from) / MOST_DECADES + 1) as usize;
                (from..=to).step_by(step).map(|power| 10f64.powi(power)).collect()
            }
        }
    }
}

/// Returns the least round number that is not below `v`; 1 if there is none.
pub(super) fn ceiling(v: f64) -> f64 {
    if !v.is_finite() || v <= 0.0 {
        return 1.0;
    }
    let unit = 10f64.powf(v.log10().floor());
    let step = [1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 5.0, 6.0, 8.0, 10.0];
    step.into_iter().map(|s| s * unit).find(|&s| s >= v * (1.0 - 1e-9)).unwrap_or(10.0 * unit)
}
