//! Counts that test programs print: the tests that passed, failed or were skipped, and the counts of
//! exploring tests.

use std::fmt;

/// An `explored: WHAT COUNT (floor FLOOR)` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Explored {
    pub(super) what: String,
    pub(super) count: u64,
    pub(super) floor: u64,
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (at least {})", grouped(self.count), self.what, grouped(self.floor))
    }
}

/// The sums of the counts in the whole output of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) explored: Vec<Explored>,
    /// The tests, or parts of tests, that the machine cannot run, each with the reason.
    pub(super) skipped: Vec<String>,
    /// The names of the tests that failed.
    pub(super) failed_tests: Vec<String>,
    /// True within the list of failed tests, which is last in the output of a test program.
    in_failures: bool,
}

impl Counts {
    pub(super) fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.explored.extend(other.explored);
        self.skipped.extend(other.skipped);
        self.failed_tests.extend(other.failed_tests);
    }

    /// Reads one line of output. If the output of a test is shown, the text may be in the middle of a line.
    pub(super) fn read(&mut self, line: &str) {
        let name = line.strip_prefix("    ").filter(|name| self.in_failures && !name.starts_with(' '));
        self.failed_tests.extend(name.map(str::to_owned));
        self.in_failures = line == "failures:" || name.is_some();
        if let Some(at) = line.find("explored: ") {
            self.explored.extend(explored(&line[at + "explored: ".len()..]));
        } else if let Some(at) = line.find("skipped: ") {
            self.skipped.push(line[at + "skipped: ".len()..].to_owned());
        } else if let Some(test) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            // This is the short summary of pytest: `FAILED path::name - reason`.
            self.failed_tests.extend(test.split(" - ").next().map(str::to_owned));
        } else if let Some(test) = line.strip_prefix("SKIPPED ") {
            self.skipped.push(test.to_owned());
        } else if line.contains("test result: ") || is_pytest_summary(line) {
            self.passed += number_before(line, " passed");
            self.failed += number_before(line, " failed") + number_before(line, " error");
        }
    }
}

/// True for the last line of pytest, such as `==== 12 passed, 1 skipped in 3.4s ====`. Quiet runs print it
/// without the `=` signs.
fn is_pytest_summary(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    line.contains(" in ") && line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" passed")
}

/// Returns the number directly before the first `word`, or 0 if there is none.
fn number_before(line: &str, word: &str) -> u64 {
    let Some(at) = line.find(word) else { return 0 };
    let digits = line[..at].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    line[digits..at].parse().unwrap_or(0)
}

/// Parses `WHAT COUNT (floor FLOOR)`. The numbers may have commas between groups of three digits.
fn explored(text: &str) -> Option<Explored> {
    let (left, right) = text.split_once("(floor ")?;
    let (what, count) = left.trim_end().rsplit_once(' ')?;
    let floor = right.split(')').next()?;
    Some(Explored { what: what.to_owned(), count: number(count)?, floor: number(floor)? })
}

fn number(text: &str) -> Option<u64> {
    text.trim().replace([',', '_'], "").parse().ok()
}

/// Returns a number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
