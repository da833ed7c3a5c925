//! The report of a check.

/// The most problems that a report describes.
pub(super) const MAX_PROBLEMS: usize = 100;

/// The extent of a check, and its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The number of checked vertices.
    pub vertices: u64,
    /// The number of checked edges; an undirected edge counts once.
    pub edges: u64,
    /// The number of segment files whose every byte was verified.
    pub segments: u64,
    /// Descriptions of problems, at most 100; empty for a sound store.
    pub problems: Vec<String>,
    /// True if `problems` leaves out further problems.
    pub more: bool,
}

impl CheckReport {
    /// True if nothing is wrong. O(1).
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds the description of a problem, unless the report is full.
    pub(super) fn problem(&mut self, text: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(text);
        } else {
            self.more = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_whether_it_left_problems_out() {
        let mut report = CheckReport::default();
        (0..MAX_PROBLEMS).for_each(|at| report.problem(at.to_string()));
        assert_eq!((report.problems.len(), report.more), (MAX_PROBLEMS, false));
        report.problem("one more".to_owned());
        assert_eq!((report.problems.len(), report.more), (MAX_PROBLEMS, true));
    }
}
