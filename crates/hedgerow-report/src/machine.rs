//! The memory of this process, and the date.

#[cfg(test)]
mod tests;

/// Returns the resident memory of this process in bytes; `None` on a system without `/proc`.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// Returns today's date in UTC, as `2026-03-01`.
pub fn today() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    date(now.map_or(0, |since| since.as_secs()))
}

/// Returns the date that is `seconds` after the start of 1970.
fn date(seconds: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut day) = (1970, seconds / 86_400);
    let days = |year: u64| if is_leap(year) { 366 } else { 365 };
    while day >= days(year) {
        day -= days(year);
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}
