//! Tests of times: dates, numbers with and without a unit, and the text that shows a time.

use super::super::{ReadTime, TimeError, TimeUnit, read_time, show_time};

const DAY: i64 = 86_400_000_000;

fn plain(text: &str) -> Result<i64, TimeError> {
    read_time(text, None).map(|time| time.microseconds)
}

#[test]
fn dates() {
    for (text, expected) in [
        ("1970-01-02", Some(DAY)),
        ("1970-01-02T00:00:00Z", Some(DAY)),
        ("1970-01-02 00:00", Some(DAY)),
        ("1970-01-02T00:00:00.25", Some(DAY + 250_000)),
        ("1970-01-02T02:00:00+02:00", Some(DAY)),
        ("1970-01-01T22:30:00-01:30", Some(DAY)),
        ("1969-12-31T23:59:59.9999999Z", Some(-1)),
        ("9999-12-31T23:59:59Z", Some(253_402_300_799_000_000)),
        ("1970-02-30", None),
        ("1970-01-02T25:00:00", None),
        ("1970-01-02T00:00:00+99:00", None),
        ("1970-01", None),
        ("02.01.1970", None),
        ("1970-01-02x", None),
        ("1970-01-02T00:00:00+01:00[Europe/Paris]", None),
        ("é970-01-02", None),
        ("", None),
    ] {
        assert_eq!(plain(text), expected.ok_or(TimeError::NotATime), "{text}");
        // A column with a unit may contain dates too.
        let read = read_time(text, Some(TimeUnit::Seconds)).map(|time| time.microseconds);
        assert_eq!(read, expected.ok_or(TimeError::NotATime), "{text}");
    }
    let cut = |text: &str| read_time(text, None).expect("a time").is_cut;
    assert!(cut("1970-01-02T00:00:00.0000001Z") && !cut("1970-01-02T00:00:00.000001000Z"));
}

#[test]
fn numbers_without_a_unit_must_be_likely_microseconds() {
    for whole in [0, 365 * DAY, -365 * DAY, 1_448_928_000_000_000, 253_402_300_799_999_999] {
        assert_eq!(plain(&whole.to_string()), Ok(whole));
    }
    // Seconds and milliseconds of present dates, and other numbers near the epoch.
    for near in ["1448928000", "1616976024321", "-17", "1", "31535999999999"] {
        assert_eq!(plain(near), Err(TimeError::NearEpoch), "{near}");
    }
    // Nanoseconds of present dates.
    for far in ["1448928000000000000", "253402300800000000", "-9223372036854775808"] {
        assert_eq!(plain(far), Err(TimeError::FarAway), "{far}");
    }
    for none in ["1.5e9", "1448928000.5", "12x", "9223372036854775808"] {
        assert_eq!(plain(none), Err(TimeError::NotATime), "{none}");
    }
}

#[test]
fn numbers_with_a_unit() {
    use TimeUnit::{Microseconds, Milliseconds, Nanoseconds, Seconds};
    for (text, unit, microseconds, is_cut) in [
        ("1448928000", Seconds, 1_448_928_000_000_000, false),
        ("+1448928000.25", Seconds, 1_448_928_000_250_000, false),
        ("-0.0000001", Seconds, -1, true),
        ("1616976024321", Milliseconds, 1_616_976_024_321_000, false),
        ("5", Microseconds, 5, false),
        ("-5", Microseconds, -5, false),
        ("9223372036854775807", Microseconds, i64::MAX, false),
        ("1616976024321000999", Nanoseconds, 1_616_976_024_321_000, true),
        ("0.00000000000000000000001", Seconds, 0, true),
    ] {
        assert_eq!(read_time(text, Some(unit)), Ok(ReadTime { microseconds, is_cut }), "{text}");
    }
    for text in ["9223372036854775808", "9223372036855", "1e9", "1.", ".5", "-", "--1", "1,5"] {
        assert_eq!(read_time(text, Some(Seconds)), Err(TimeError::NotATime), "{text}");
    }
    assert_eq!(TimeUnit::ALL.map(TimeUnit::symbol), ["s", "ms", "us", "ns"]);
}

#[test]
fn what_is_shown_is_read_back() {
    for (microseconds, expected) in [
        (0, Some("1970-01-01T00:00:00Z")),
        (-1, Some("1969-12-31T23:59:59.999999Z")),
        (1_448_928_000_250_000, Some("2015-12-01T00:00:00.25Z")),
        (253_402_300_799_999_999, Some("9999-12-31T23:59:59.999999Z")),
        (-62_167_219_200_000_000, Some("0000-01-01T00:00:00Z")),
        (-62_167_219_200_000_001, None),
        (253_402_300_800_000_000, None),
        (i64::MAX, None),
        (i64::MIN, None),
    ] {
        let shown = show_time(microseconds);
        assert_eq!(shown.as_deref(), expected, "{microseconds}");
        if let Some(shown) = shown {
            assert_eq!(plain(&shown), Ok(microseconds));
        }
    }
}
