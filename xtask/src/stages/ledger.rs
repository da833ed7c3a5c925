//! The ledger of deep runs: a permanent record of explored counts, by commit, stage and seed.
//!
//! It is a table in the repository, with one line for each `explored:` line of a run. A new run has a seed
//! that no earlier line of the stage has. Test programs number their rounds from a million times the seed, so
//! no two runs have a common round.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::outcome::Outcome;

/// The path of the table, from the root of the repository.
pub(super) const LEDGER: &str = "docs/ledger.tsv";

const HEADER: &str = "commit\tstage\tseed\tseconds\twhat\tcount\tresult";
const PASSED: &str = "passed";

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) commit: String,
    pub(super) stage: String,
    pub(super) seed: u64,
    pub(super) seconds: u64,
    pub(super) what: String,
    pub(super) count: u64,
    pub(super) passed: bool,
}

impl Entry {
    fn line(&self) -> String {
        let Entry { commit, stage, seed, seconds, what, count, passed } = self;
        let result = if *passed { PASSED } else { "FAILED" };
        format!("{commit}\t{stage}\t{seed}\t{seconds}\t{what}\t{count}\t{result}\n")
    }

    fn parse(line: &str) -> Option<Entry> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [commit, stage, seed, seconds, what, count, result] = fields[..] else { return None };
        Some(Entry {
            commit: commit.to_owned(),
            stage: stage.to_owned(),
            seed: seed.parse().ok()?,
            seconds: seconds.parse().ok()?,
            what: what.to_owned(),
            count: count.parse().ok()?,
            passed: result == PASSED,
        })
    }
}

/// Returns all lines of the table, or no lines if the table does not exist yet.
pub(super) fn read(root: &Path) -> Result<Vec<Entry>, String> {
    let text = match fs::read_to_string(root.join(LEDGER)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{LEDGER}: {error}")),
    };
    let lines = text.lines().enumerate().filter(|(_, line)| *line != HEADER && !line.is_empty());
    lines
        .map(|(n, line)| Entry::parse(line).ok_or_else(|| format!("{LEDGER}:{}: not an entry", n + 1)))
        .collect()
}

/// Returns the first seed at or after `wished` that no earlier run used.
pub(super) fn unused_seed(entries: &[Entry], wished: u64) -> u64 {
    entries.iter().map(|entry| entry.seed + 1).max().unwrap_or(0).max(wished)
}

/// Adds the counts that a stage explored. One write adds all lines, so that concurrent runs do not mix their
/// lines.
pub(super) fn append(root: &Path, stage: &str, seed: u64, outcome: &Outcome) -> Result<(), String> {
    let commit = commit(root);
    let entries = outcome.counts.explored.iter().map(|explored| Entry {
        commit: commit.clone(),
        stage: stage.to_owned(),
        seed,
        seconds: outcome.run.wall.as_secs(),
        what: explored.what.replace('\t', " "),
        count: explored.count,
        passed: outcome.failures.is_empty(),
    });
    let lines: String = entries.map(|entry| entry.line()).collect();
    let path = root.join(LEDGER);
    let text = if path.exists() { lines } else { format!("{HEADER}\n{lines}") };
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|e| format!("{LEDGER}: {e}"))
}

/// Returns the sums over all runs that passed, by stage and by the kind of count.
pub(super) fn totals(entries: &[Entry]) -> BTreeMap<(String, String), (u64, u64)> {
    let mut totals = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.passed) {
        let (count, runs) = totals.entry((entry.stage.clone(), entry.what.clone())).or_insert((0, 0));
        *count += entry.count;
        *runs += 1;
    }
    totals
}

/// Prints the sums.
pub(super) fn print_totals(root: &Path) -> Result<(), String> {
    println!("\nledger, runs that passed:");
    for ((stage, what), (count, runs)) in totals(&read(root)?) {
        println!("{stage:<10} {what}: {count} in {runs} runs");
    }
    Ok(())
}

/// Returns the tested commit, with `+` if files differ from it.
fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".to_owned() };
    let others = format!(":!{LEDGER}");
    let changed = git(&["status", "--porcelain", "-uno", "--", ".", &others]);
    if changed.is_some_and(|files| files.is_empty()) { commit } else { commit + "+" }
}
