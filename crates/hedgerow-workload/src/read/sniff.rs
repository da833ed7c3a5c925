//! Detecting the delimiter of the fields of a file, and a header in its first record.
//!
//! A sample of the first records is split at each candidate; the delimiter that gives all of them the same
//! number of columns is chosen. The first record is a header if its fields differ in kind from the fields
//! below: text above numbers, for instance. If two answers fit, neither is chosen: the error shows the
//! record, and the caller has to choose.

use super::names::are_usual;
use super::records::Records;
use super::time::is_date;
use super::{Column, Delimiter, EdgeFormat, Header, Lines, ReadError};

/// The sample: at most this many lines, which begin within the first `SAMPLE_BYTES` of the file.
const SAMPLE_LINES: usize = 1000;
const SAMPLE_BYTES: usize = 1 << 16;

/// The candidates for the delimiter, with their names in messages. Blanks come last: dates and texts contain
/// some, too.
const CANDIDATES: [(Delimiter, &str); 5] = [
    (Delimiter::Byte(b','), "comma"),
    (Delimiter::Byte(b'\t'), "tab"),
    (Delimiter::Byte(b';'), "semicolon"),
    (Delimiter::Byte(b'|'), "vertical bar"),
    (Delimiter::Whitespace, "blanks"),
];

/// The result of sniffing a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sniffed {
    /// The delimiter of fields.
    pub delimiter: Delimiter,
    /// True if the first record names the columns.
    pub header: bool,
    /// The fields of the first record.
    pub first: Vec<String>,
    /// The kinds of the fields of each column, in the sample below the header.
    pub kinds: Vec<FieldKind>,
}

/// A record of the sample: its line and its fields, nothing for a null.
struct Record {
    line: u64,
    fields: Vec<Option<String>>,
}

/// The sample, split at one delimiter.
struct Split {
    delimiter: Delimiter,
    name: &'static str,
    records: Vec<Record>,
    /// The number of records with the most frequent width above one.
    regular: usize,
}

/// Detects all that `format` leaves open, from a sample of `lines`; `None` if they have no record. `numbers`
/// states that sources and destinations are whole numbers. Reads at most 1,000 lines.
///
/// # Errors
/// [`ReadError::DelimiterUnclear`], [`ReadError::HeaderUnclear`], and the errors of reading.
pub fn sniff(mut lines: Lines, format: &EdgeFormat, numbers: bool) -> Result<Option<Sniffed>, ReadError> {
    let sample = sample(&mut lines)?;
    let split = |(delimiter, name)| split(&lines, &sample, format, delimiter, name);
    let chosen = if format.delimiter == Delimiter::Auto {
        let splits: Vec<Split> = CANDIDATES.into_iter().map(split).collect();
        choose(splits, format, numbers).map_err(|found| unclear_delimiter(&lines, &found))?
    } else {
        split((format.delimiter, ""))
    };
    let Some(first) = chosen.records.first() else { return Ok(None) };
    let header = match format.header {
        Header::Yes => true,
        Header::No => false,
        Header::Auto => is_header(&chosen, format, numbers).map_err(|why| ReadError::HeaderUnclear {
            path: lines.path().to_owned(),
            line: first.line,
            row: shown(first, chosen.delimiter),
            why,
        })?,
    };
    let below = chosen.records.get(usize::from(header)..).unwrap_or_default();
    let kinds = (0..first.fields.len()).map(|column| type_below(below, column)).collect();
    let first =
        first.fields.iter().map(|field| field.as_deref().unwrap_or_default().trim().to_owned()).collect();
    Ok(Some(Sniffed { delimiter: chosen.delimiter, header, first, kinds }))
}

/// Returns the first lines, with their ends. A line that cannot be read is left empty: reading will report
/// it.
fn sample(lines: &mut Lines) -> Result<String, ReadError> {
    let mut sample = String::new();
    for _ in 0..SAMPLE_LINES {
        match lines.advance() {
            Ok(false) => break,
            // A record longer than `SAMPLE_BYTES` ends the sample: the lines before it suffice.
            Ok(true) if !sample.is_empty() && lines.with_end().len() > SAMPLE_BYTES => break,
            Ok(true) => sample += lines.with_end(),
            Err(error) if error.is_row() => sample.push('\n'),
            Err(error) => return Err(error),
        }
        if sample.len() >= SAMPLE_BYTES {
            break;
        }
    }
    Ok(sample)
}

fn split(
    lines: &Lines,
    sample: &str,
    format: &EdgeFormat,
    delimiter: Delimiter,
    name: &'static str,
) -> Split {
    let format = EdgeFormat { delimiter, ..format.clone() };
    let sample = std::io::Cursor::new(sample.to_owned().into_bytes());
    let mut reader = Records::of(Lines::of(lines.path(), sample), &format);
    let mut records = Vec::new();
    // A malformed record, such as the one at which the sample is cut off, does not decide about the others.
    while let Ok(true) | Err(ReadError::Row { .. }) = advance(&mut reader, &mut records, &format) {}
    let mut widths: Vec<usize> = records.iter().map(|r: &Record| r.fields.len()).filter(|&w| w > 1).collect();
    widths.sort_unstable();
    let regular = widths.chunk_by(|a, b| a == b).map(<[usize]>::len).max().unwrap_or(0);
    Split { delimiter, name, records, regular }
}

fn advance(reader: &mut Records, records: &mut Vec<Record>, format: &EdgeFormat) -> Result<bool, ReadError> {
    if !reader.advance()? {
        return Ok(false);
    }
    let text = reader.text();
    let is_null = |text: &str| text.is_empty() || format.nulls.iter().any(|null| null == text);
    let field = |field: &super::fields::Field| {
        let text = field.of(text);
        (field.quoted || !is_null(text.trim())).then(|| text.to_owned())
    };
    records.push(Record { line: reader.line(), fields: reader.fields().iter().map(field).collect() });
    Ok(true)
}

/// Returns the split that fits if there is only one; else all splits that fit.
fn choose(splits: Vec<Split>, format: &EdgeFormat, numbers: bool) -> Result<Split, Vec<Split>> {
    let is_blank = |split: &Split| split.delimiter == Delimiter::Whitespace;
    let share = |split: &Split| split.regular as f64 / split.records.len().max(1) as f64;
    let fits = |split: &Split| !numbers || split.records.iter().skip(1).any(|r| are_numbers(r, format));
    let (mut whole, partial): (Vec<Split>, Vec<Split>) =
        splits.into_iter().partition(|split| split.regular > 0 && share(split) == 1.0);
    if whole.iter().any(fits) {
        whole.retain(fits);
    }
    if whole.iter().any(|split| !is_blank(split)) {
        whole.retain(|split| !is_blank(split));
    }
    let likely = |split: &&Split| share(split) >= 0.5 && !is_blank(split) && fits(split);
    let is_tab = |split: &Split| split.delimiter == Delimiter::Byte(b'\t');
    match whole.len() {
        // Blanks fit every record. If tabs fit some records, they are among these blanks; but if another
        // delimiter fits some, the blanks may be parts of texts.
        1 if is_blank(&whole[0]) && partial.iter().filter(likely).any(|split| !is_tab(split)) => {
            whole.extend(partial.into_iter().filter(|split| likely(&split)));
            Err(whole)
        }
        1 => whole.pop().ok_or_else(Vec::new),
        0 => best(partial, share),
        _ => Err(whole),
    }
}

/// Returns the split that most records fit, though not all: reading reports the other records. If no split
/// fits any record, returns the first one.
fn best(splits: Vec<Split>, share: impl Fn(&Split) -> f64) -> Result<Split, Vec<Split>> {
    let most = splits.iter().map(&share).fold(0.0, f64::max);
    let mut best: Vec<Split> = splits.into_iter().filter(|split| share(split) == most).collect();
    if best.len() > 1 && most > 0.0 {
        best.retain(|split| split.delimiter != Delimiter::Whitespace);
    }
    if best.len() == 1 || most == 0.0 { Ok(best.swap_remove(0)) } else { Err(best) }
}

fn unclear_delimiter(lines: &Lines, found: &[Split]) -> ReadError {
    let names: Vec<&str> = found.iter().map(|split| split.name).collect();
    let first = found.first().and_then(|split| split.records.first().map(|r| (r, split.delimiter)));
    ReadError::DelimiterUnclear {
        path: lines.path().to_owned(),
        line: first.map_or(0, |(record, _)| record.line),
        row: first.map_or_else(String::new, |(record, delimiter)| shown(record, delimiter)),
        candidates: names.join(" or "),
    }
}

/// Returns a record for a message.
fn shown(record: &Record, delimiter: Delimiter) -> String {
    let fields: Vec<&str> = record.fields.iter().map(|f| f.as_deref().unwrap_or_default()).collect();
    let between = match delimiter {
        Delimiter::Byte(byte) => char::from(byte).to_string(),
        Delimiter::Auto | Delimiter::Whitespace => " ".to_owned(),
    };
    fields.join(&between).chars().take(100).collect()
}

/// Returns the source and the destination of a record, if their positions are known.
fn keys<'a>(record: &'a Record, format: &EdgeFormat) -> [Option<&'a str>; 2] {
    [(&format.src, 0), (&format.dst, 1)].map(|(column, end)| {
        let at = column.as_ref().and_then(Column::position).unwrap_or_else(|| format.usual_key(end));
        record.fields.get(at).and_then(|field| field.as_deref())
    })
}

fn are_numbers(record: &Record, format: &EdgeFormat) -> bool {
    keys(record, format).iter().all(|key| key.is_some_and(|key| key.trim().parse::<u64>().is_ok()))
}

/// True if the first record is a header; else an error with the reason why that is not clear.
fn is_header(split: &Split, format: &EdgeFormat, numbers: bool) -> Result<bool, &'static str> {
    let [first, below @ ..] = &split.records[..] else { return Ok(false) };
    let names: Vec<String> = first.fields.iter().map(|f| f.clone().unwrap_or_default()).collect();
    let chosen = [&format.src, &format.dst, &format.weight, &format.time].into_iter().flatten();
    if chosen.chain(&format.extra).any(|column| matches!(column, Column::Name(_))) || are_usual(&names) {
        return Ok(true);
    }
    if numbers {
        // Keys are numbers, names of columns are not. A row with neither is malformed, and reading reports
        // it.
        let is_number = |key: Option<&str>| key.is_some_and(|key| key.trim().parse::<u64>().is_ok());
        let none = !keys(first, format).into_iter().any(is_number);
        return Ok(none && below.iter().any(|record| are_numbers(record, format)));
    }
    let kinds =
        || (0..first.fields.len()).map(|column| (kind_of(&first.fields[column]), kind_below(below, column)));
    let names = kinds().any(|(first, below)| first == FieldKind::Text && below.is_telling());
    let values =
        kinds().any(|(first, below)| first.is_telling() && (first.fits(below) || below == FieldKind::Null));
    match (names, values) {
        (true, false) => Ok(true),
        (false, true) => Ok(false),
        (true, true) => Err("some of its fields have the type of the fields below them, and some do not"),
        (false, false) => Err("its fields and the fields below them are all text"),
    }
}

/// The kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A null.
    Null,
    /// `true` or `false`.
    Truth,
    /// A whole number.
    Integer,
    /// Another number.
    Number,
    /// An ISO 8601 date, perhaps with a time.
    Time,
    /// Anything else.
    Text,
}

impl FieldKind {
    /// True if a field of this kind cannot be the name of a column, so that its row is no header.
    fn is_telling(self) -> bool {
        !matches!(self, FieldKind::Null | FieldKind::Text)
    }

    fn fits(self, other: FieldKind) -> bool {
        let is_number = |kind| matches!(kind, FieldKind::Integer | FieldKind::Number);
        self == other || is_number(self) && is_number(other)
    }
}

fn kind_of(field: &Option<String>) -> FieldKind {
    let Some(text) = field.as_deref().map(str::trim) else { return FieldKind::Null };
    let is_digit = |b: u8| b.is_ascii_digit();
    if text.parse::<i128>().is_ok() {
        FieldKind::Integer
    } else if text.bytes().any(is_digit) && text.parse::<f64>().is_ok() {
        FieldKind::Number
    } else if is_date(text) {
        FieldKind::Time
    } else if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        FieldKind::Truth
    } else {
        FieldKind::Text
    }
}

/// Returns the kind of all fields of a column; text if they differ.
fn kind_below(records: &[Record], column: usize) -> FieldKind {
    let kinds = records.iter().filter_map(|record| record.fields.get(column)).map(kind_of);
    kinds.filter(|kind| *kind != FieldKind::Null).fold(FieldKind::Null, |all, kind| match (all, kind) {
        (FieldKind::Null, kind) => kind,
        (all, kind) if kind.fits(all) => all,
        _ => FieldKind::Text,
    })
}

/// Returns the kind of all fields of a column as values; text for numbers that would lose their leading
/// zeros.
fn type_below(records: &[Record], column: usize) -> FieldKind {
    let kind = kind_below(records, column);
    let fields = || records.iter().filter_map(|record| record.fields.get(column)?.as_deref()).map(str::trim);
    let keeps = |text: &str| {
        let digits = text.trim_start_matches('-');
        let leads = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        !leads && !text.starts_with('+') && (text.parse::<i128>().is_err() || text.parse::<i64>().is_ok())
    };
    let is_number = matches!(kind, FieldKind::Integer | FieldKind::Number);
    // A column with whole and other numbers is a column of numbers.
    let kind = match kind {
        FieldKind::Integer if fields().any(|text| text.parse::<i128>().is_err()) => FieldKind::Number,
        kind => kind,
    };
    if is_number && !fields().all(keeps) { FieldKind::Text } else { kind }
}
