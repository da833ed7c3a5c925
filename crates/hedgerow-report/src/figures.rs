//! Medians, percentiles, and numbers formatted for people.

#[cfg(test)]
mod tests;

/// Returns the middle value, or the mean of the two middle ones; NaN without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n.is_multiple_of(2) => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

/// Returns the least of the values that at least the share `p` (0 to 1) of the values do not exceed; NaN
/// without values. `sorted` must be ascending.
pub fn percentile<T: Copy + Into<f64>>(sorted: &[T], p: f64) -> f64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).map_or(f64::NAN, |&v| v.into())
}

/// Returns the geometric mean; NaN without values.
pub fn geomean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Returns the least and the greatest value.
pub fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &v| (lo.min(v), hi.max(v)))
}

/// Returns a whole number with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with about three digits, in groups of three from 1,000 on; "-" for NaN.
pub fn rounded(v: f64) -> String {
    match v {
        v if !v.is_finite() => "-".to_owned(),
        0.0 => "0".to_owned(),
        v if v >= 99.95 => grouped(v.round() as u64),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Returns a time in a suitable unit; "-" for NaN.
pub fn seconds(s: f64) -> String {
    let (units, unit) = match s {
        s if !s.is_finite() => return rounded(s),
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        s if s >= 1e-6 => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", rounded(s * units))
}

/// Returns a number of mebibytes.
pub fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", rounded(bytes as f64 / f64::from(1 << 20)))
}
