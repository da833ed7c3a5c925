//! The report of a salvage.

use std::fmt;

use hedgerow_core::Timestamp;

/// The most damages, and the most losses, that a report describes one by one.
const MAX_LOSSES: usize = 1000;

/// The saved content of a salvage, its losses, and the saved vertices and edges that are doubtful.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvageReport {
    /// The number of vertices in the new store.
    pub vertices: u64,
    /// The number of edges in the new store.
    pub edges: u64,
    /// The number of subgraphs read from segments.
    pub subgraphs: u64,
    /// The number of commits read from the log.
    pub commits: u64,
    /// The last commit that was read from the log, or that a segment contains.
    pub timestamp: Timestamp,
    /// The number of subgraphs that are lost for certain, or were restored from an older image.
    pub lost_subgraphs: u64,
    /// The most commits that may be lost. This counts timestamps, which may have gaps. If the end of the log
    /// is lost, the number of its commits is unknown, and it counts as one.
    pub lost_commits: u64,
    /// The number of edges left out because one of their ends is lost.
    pub lost_edges: u64,
    /// The number of vertices in the new store that lost commits may have changed or removed.
    pub doubtful_vertices: u64,
    /// The number of edges in the new store that lost commits may have changed or removed.
    pub doubtful_edges: u64,
    /// Damage that `losses` does not name: at most 1,000 items, and the number of others. If damage caused no
    /// loss, `losses` is empty.
    pub damages: Vec<String>,
    /// Losses and doubtful data: at most 1,000 items, the number of others, and the sums. Empty if the new
    /// store has all data of the old one.
    pub losses: Vec<String>,
    /// The number of damages, and of losses, beyond the first 1,000.
    unlisted: [u64; 2],
}

impl SalvageReport {
    /// True if nothing was lost, and nothing is doubtful.
    pub fn is_whole(&self) -> bool {
        self.losses.is_empty()
    }

    /// True if, in addition, nothing was damaged.
    pub fn is_sound(&self) -> bool {
        self.is_whole() && self.damages.is_empty()
    }

    /// Records damage that may or may not have caused a loss.
    pub(super) fn damage(&mut self, what: impl fmt::Display) {
        tell(&mut self.damages, &mut self.unlisted[0], what);
    }

    /// Records a loss.
    pub(super) fn lose(&mut self, what: impl fmt::Display) {
        tell(&mut self.losses, &mut self.unlisted[1], what);
    }

    /// Records lost commits. Returns the largest possible number of them, or `u64::MAX` if it is not known.
    pub(super) fn lose_commits(&mut self, first: Timestamp, last: Option<Timestamp>) -> u64 {
        let before = Timestamp(first.0.saturating_sub(1));
        let Some(last) = last else {
            self.lost_commits += 1;
            self.lose(format_args!("commits after {before} are lost; how many is not known"));
            return u64::MAX;
        };
        let count = last.0.saturating_sub(before.0).max(1);
        self.lost_commits = self.lost_commits.saturating_add(count);
        if count == 1 {
            self.lose(format_args!("commit {last} is lost"));
        } else {
            self.lose(format_args!("the commits {first} to {last} are lost, at most {count} commits"));
        }
        count
    }

    /// Records bytes at the end of the log that are no valid record, and may never have been durable.
    pub(super) fn lose_tail(&mut self, error: &impl fmt::Display, bytes: u64) {
        self.lose(format_args!(
            "{error}; the {bytes} bytes from there on hold no commit: a crash cut short commits that were never \
             acknowledged, or the last commits are damaged"
        ));
    }

    /// Adds the sums, even if there are many losses.
    pub(super) fn sum_up(&mut self, sums: &[(u64, &str)]) {
        let [damages, losses] = self.unlisted;
        if damages > 0 {
            self.damages.push(format!("{damages} more damages"));
        }
        let more = [(losses, "more losses")];
        let sums = more.iter().chain(sums);
        let told = sums.filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        self.losses.extend(told);
        let (vertices, edges) = (self.doubtful_vertices, self.doubtful_edges);
        if vertices + edges > 0 {
            self.losses.push(format!(
                "{vertices} vertices and {edges} edges are saved as they were before a lost commit, which may have \
                 changed or removed them"
            ));
        }
    }
}

impl fmt::Display for SalvageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} vertices and {} edges saved, up to commit {}",
            self.vertices, self.edges, self.timestamp
        )?;
        self.damages.iter().try_for_each(|damage| writeln!(f, "damaged: {damage}"))?;
        self.losses.iter().try_for_each(|loss| writeln!(f, "lost: {loss}"))
    }
}

fn tell(list: &mut Vec<String>, unlisted: &mut u64, what: impl fmt::Display) {
    if list.len() < MAX_LOSSES {
        list.push(what.to_string());
    } else {
        *unlisted += 1;
    }
}
