//! Weights and times of rows.

use super::RowError;
use super::time::date_seconds;

/// Parses a number as an `f64`. O(length).
///
/// # Errors
/// [`RowError::NotANumber`], also for NaN; [`RowError::Rounded`] for a whole number that no `f64` equals, and
/// for one beyond the largest.
pub fn parse_weight(text: &str) -> Result<f64, RowError> {
    match text.parse::<f64>() {
        Ok(weight) if weight.is_nan() => Err(RowError::not_a_number("weight", text)),
        Ok(weight) if is_rounded(text, weight) => Err(RowError::rounded("weight", text)),
        Ok(weight) => Ok(weight),
        Err(_) => Err(RowError::not_a_number("weight", text)),
    }
}

/// True if `text` is a whole number that differs from `value`, the nearest `f64`, or a number beyond the
/// largest one.
pub fn is_rounded(text: &str, value: f64) -> bool {
    let unsigned = text.trim_start_matches(['-', '+']);
    if value.is_infinite() {
        return unsigned.bytes().any(|byte| byte.is_ascii_digit());
    }
    let unsigned = match unsigned.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => unsigned,
    };
    // 2^53 has 16 digits; below it every whole number is an `f64`.
    if unsigned.len() < 16 || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let digits = unsigned.trim_start_matches('0');
    !digits.is_empty() && format!("{:.0}", value.abs()) != digits
}

/// Parses seconds as an integer, or an ISO 8601 time. A fraction, which some data sets have, is cut off.
pub(super) fn parse_time(text: &str) -> Result<i64, RowError> {
    if let Ok(time) = text.parse::<i64>() {
        return Ok(time);
    }
    match text.parse::<f64>() {
        Ok(time) if time.abs() < i64::MAX as f64 => Ok(time.trunc() as i64),
        _ => date_seconds(text).ok_or_else(|| RowError::not_a_number("time", text)),
    }
}
