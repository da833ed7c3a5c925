//! Times as text.

use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Microseconds since 1970 in UTC: a whole number of them, or an ISO 8601 date, perhaps with a time and a zone.
///
/// `2024-05-01`, `2024-05-01T12:30`, `2024-05-01 12:30:00.25`, `...Z`, `...+02:00`. Without a zone it is UTC; fractions
/// are cut off behind microseconds. `None` for anything else.
pub fn parse_microseconds(text: &str) -> Option<i64> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole);
    }
    // Years of four digits only: nothing else that a library may take for a date counts as one.
    let date = text.as_bytes().get(.."2024-05-01".len())?;
    let is_date = date.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let pieces =
        Pieces::parse(text).ok().filter(|pieces| is_date && pieces.time_zone_annotation().is_none())?;
    let local = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
    let ahead = pieces.to_numeric_offset().map_or(0, |offset| i128::from(offset.seconds()));
    let nanoseconds = local.duration_since(EPOCH).as_nanos() - ahead * 1_000_000_000;
    i64::try_from(nanoseconds.div_euclid(1000)).ok()
}
