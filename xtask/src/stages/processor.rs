//! The processor time of child processes. A stage's wall time says little about its cost, because others
//! build and run beside it.

use std::time::Duration;

/// Ticks a second in which Linux states processor times, on every machine.
const TICKS_A_SECOND: f64 = 100.0;
/// The time between two looks for the end of a child.
const PAUSE: Duration = Duration::from_millis(2);

/// Returns the time that a child, and all of its children for which it waited, have taken, user and system
/// time together. Waits for the end of the child, which its parent must not have waited for yet. Zero where
/// the system has no `/proc`.
pub(super) fn time_of_child(id: u32) -> Duration {
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        match parse(&stat) {
            Some((State::Runs, _)) => std::thread::sleep(PAUSE),
            Some((State::Ended, time)) => return time,
            None => return Duration::ZERO,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Runs,
    /// Its parent has not waited for it.
    Ended,
}

/// Reads a line of `/proc/ID/stat`. The name of the program, in parentheses, may hold anything.
pub(super) fn parse(stat: &str) -> Option<(State, Duration)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // `utime`, `stime`, `cutime` and `cstime` of proc(5); the state is the first field behind the name.
    let ticks = fields.get(11..15)?.iter().map(|ticks| ticks.parse::<u64>());
    let ticks: u64 = ticks.sum::<Result<_, _>>().ok()?;
    let state = if fields.first() == Some(&"Z") { State::Ended } else { State::Runs };
    Some((state, Duration::from_secs_f64(ticks as f64 / TICKS_A_SECOND)))
}
