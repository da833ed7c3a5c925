//! Numbers of bytes on the command line.

/// Parses a number of bytes, with or without a unit.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text.get(digits.len()..).unwrap_or("").trim() {
        "" | "B" => Some(1),
        "kB" => Some(1_000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        "TiB" => Some(1 << 40),
        _ => None,
    };
    let number = digits.parse::<u64>().ok();
    let size = number.zip(unit).and_then(|(number, unit): (u64, u64)| number.checked_mul(unit));
    size.ok_or_else(|| "a size is a whole number of bytes, or of MiB, GiB or the like, as 8GiB".to_owned())
}

const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Formats a number of bytes for people, rounded. Below 10 units it has one decimal digit.
pub(crate) fn shown(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut number, mut unit) = (bytes as f64 / 1024.0, 0);
    // The rounded number decides the unit: 1023.6 KiB would be printed as 1024 KiB.
    while number >= 1023.5 && unit + 1 < UNITS.len() {
        (number, unit) = (number / 1024.0, unit + 1);
    }
    let digits = usize::from(number < 9.95);
    format!("{number:.digits$} {}", UNITS.get(unit).unwrap_or(&"EiB"))
}
