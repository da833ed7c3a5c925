//! What test programs print: how many tests passed, and how much was explored.

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
        write!(f, "explored: {} {} (floor {})", self.what, self.count, self.floor)
    }
}

/// The sums over everything that a stage printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) explored: Vec<Explored>,
}

impl Counts {
    pub(super) fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.explored.extend(other.explored);
    }

    /// Reads one line of output. Tests whose output is shown may print in the middle of a line.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(at) = line.find("explored: ") {
            self.explored.extend(explored(&line[at + "explored: ".len()..]));
        } else if line.contains("test result: ") || is_pytest_summary(line) {
            self.passed += number_before(line, " passed");
            self.failed += number_before(line, " failed") + number_before(line, " error");
        }
    }
}

/// The last line of pytest, as in `==== 12 passed, 1 skipped in 3.4s ====`; quiet runs leave the rules out.
fn is_pytest_summary(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    line.contains(" in ") && line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" passed")
}

/// The number that stands directly before the first `word`; 0 if there is none.
fn number_before(line: &str, word: &str) -> u64 {
    let Some(at) = line.find(word) else { return 0 };
    let digits = line[..at].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    line[digits..at].parse().unwrap_or(0)
}

/// `WHAT COUNT (floor FLOOR)`; thousands may be set apart by commas.
fn explored(text: &str) -> Option<Explored> {
    let (left, right) = text.split_once("(floor ")?;
    let (what, count) = left.trim_end().rsplit_once(' ')?;
    let floor = right.split(')').next()?;
    Some(Explored { what: what.to_owned(), count: number(count)?, floor: number(floor)? })
}

fn number(text: &str) -> Option<u64> {
    text.trim().replace([',', '_'], "").parse().ok()
}
