//! Numbers of bytes on the command line.

/// A number of bytes, with a unit or without.
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
