//! Times as text.

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// The time from 1970 to 1971 in microseconds. A smaller number is more likely a present time in seconds or
/// milliseconds than a time of 1970 in microseconds.
const YEAR_MICROSECONDS: u64 = 365 * 86_400 * 1_000_000;

/// The end of the year 9999 in microseconds. A larger number is more likely in nanoseconds than in
/// microseconds.
const LAST_MICROSECOND: i64 = 253_402_300_799_999_999;

/// The unit of numbers that are times since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second, the unit of a store.
    Microseconds,
    /// Thousand-millionths of a second.
    Nanoseconds,
}

impl TimeUnit {
    /// All units, the longest first.
    pub const ALL: [TimeUnit; 4] =
        [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];

    /// Returns the symbol of the unit: `s`, `ms`, `us` or `ns`.
    pub fn symbol(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
            TimeUnit::Nanoseconds => "ns",
        }
    }

    fn nanoseconds(self) -> i128 {
        match self {
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Microseconds => 1000,
            TimeUnit::Nanoseconds => 1,
        }
    }
}

/// A time that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadTime {
    /// Microseconds since 1970 in UTC.
    pub microseconds: i64,
    /// True if the text is more exact than microseconds.
    pub is_cut: bool,
}

/// The reason why a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeError {
    /// The text is neither a number nor an ISO 8601 time, or out of range.
    NotATime,
    /// The text is a number without a unit, and in microseconds it would be within a year of 1970.
    NearEpoch,
    /// The text is a number without a unit, and in microseconds it would be outside the years 0 to 9999.
    FarAway,
}

/// Reads a number of `unit`s since 1970, or an ISO 8601 date, perhaps with a time and a zone.
///
/// `2024-05-01`, `2024-05-01T12:30`, `2024-05-01 12:30:00.25`, `...Z`, `...+02:00`. Without a zone it is UTC.
/// A number may have decimals. Without a unit it is a whole number of microseconds, if these give a likely
/// time.
///
/// # Errors
/// [`TimeError`], but never for 0, which is the same time in all units.
pub fn read_time(text: &str, unit: Option<TimeUnit>) -> Result<ReadTime, TimeError> {
    let Some(unit) = unit else {
        return match text.parse::<i64>() {
            Ok(0) => Ok(ReadTime { microseconds: 0, is_cut: false }),
            Ok(whole) if whole.unsigned_abs() < YEAR_MICROSECONDS => Err(TimeError::NearEpoch),
            Ok(whole) if show_time(whole).is_none() => Err(TimeError::FarAway),
            Ok(whole) => Ok(ReadTime { microseconds: whole, is_cut: false }),
            Err(_) => of_nanoseconds(date(text).ok_or(TimeError::NotATime)?),
        };
    };
    match decimal(text, unit) {
        Some(time) => time,
        None => of_nanoseconds(date(text).ok_or(TimeError::NotATime)?),
    }
}

fn of_nanoseconds(nanoseconds: i128) -> Result<ReadTime, TimeError> {
    let microseconds = i64::try_from(nanoseconds.div_euclid(1000)).map_err(|_| TimeError::NotATime)?;
    Ok(ReadTime { microseconds, is_cut: nanoseconds.rem_euclid(1000) != 0 })
}

/// Parses a number with or without decimals; `None` for another text.
fn decimal(text: &str, unit: TimeUnit) -> Option<Result<ReadTime, TimeError>> {
    let (is_negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let sign = if is_negative { -1 } else { 1 };
    // Eighteen digits of a fraction give every nanosecond of a second; the digits behind them are cut.
    let (kept, rest) = fraction.split_at(fraction.len().min(18));
    let scale = 10_i128.pow(kept.len() as u32);
    let read = || {
        let whole: i128 = whole.parse::<u64>().ok()?.into();
        let kept: i128 = kept.parse().ok()?;
        let scaled = (whole * scale + kept).checked_mul(unit.nanoseconds())?;
        Some((sign * scaled, rest.bytes().any(|digit| digit != b'0')))
    };
    let Some((scaled, more)) = read() else { return Some(Err(TimeError::NotATime)) };
    let rounded = of_nanoseconds(scaled.div_euclid(scale));
    let is_cut = more || scaled.rem_euclid(scale) != 0;
    Some(rounded.map(|time| ReadTime { is_cut: time.is_cut || is_cut, ..time }))
}

/// Returns the nanoseconds since 1970 of an ISO 8601 date.
fn date(text: &str) -> Option<i128> {
    // Only years of four digits: no other text that a library may accept as a date counts as one.
    let date = text.as_bytes().get(.."2024-05-01".len())?;
    let is_date = date.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let pieces =
        Pieces::parse(text).ok().filter(|pieces| is_date && pieces.time_zone_annotation().is_none())?;
    let local = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
    let ahead = pieces.to_numeric_offset().map_or(0, |offset| i128::from(offset.seconds()));
    Some(local.duration_since(EPOCH).as_nanos() - ahead * 1_000_000_000)
}

/// True if `text` is an ISO 8601 date that [`read_time`] reads.
pub(super) fn is_date(text: &str) -> bool {
    date(text).is_some()
}

/// Returns the whole seconds since 1970 of an ISO 8601 date.
pub(super) fn date_seconds(text: &str) -> Option<i64> {
    i64::try_from(date(text)?.div_euclid(1_000_000_000)).ok()
}

/// Returns a time in the form that [`read_time`] reads: an ISO 8601 date and time in UTC. `None` outside the
/// years 0 to 9999.
pub fn show_time(microseconds: i64) -> Option<String> {
    if microseconds > LAST_MICROSECOND {
        return None;
    }
    let time = EPOCH.checked_add(SignedDuration::from_micros(microseconds)).ok()?;
    (time.year() >= 0).then(|| format!("{time}Z"))
}
