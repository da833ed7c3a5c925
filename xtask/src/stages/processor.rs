//! The processor time of child processes. The wall time of a stage does not show its cost, because other
//! stages build and run at the same time.

use std::time::Duration;

/// The number of ticks per second in Linux's processor times. It is equal on all machines.
const TICKS_A_SECOND: f64 = 100.0;
/// The interval between two checks for the end of a child.
const PAUSE: Duration = Duration::from_millis(2);

/// Returns the user and system time of a child, including its own children for which it waited. Waits for the
/// end of the child, whose parent must not have waited for it yet. Returns zero on a system without `/proc`.
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
    /// The child has ended, and its parent has not waited for it.
    Ended,
}

/// Parses a line of `/proc/ID/stat`. The name of the program is in parentheses, and may contain any
/// character.
pub(super) fn parse(stat: &str) -> Option<(State, Duration)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // The fields are `utime`, `stime`, `cutime` and `cstime` of proc(5). The state is the first field after
    // the name.
    let ticks = fields.get(11..15)?.iter().map(|ticks| ticks.parse::<u64>());
    let ticks: u64 = ticks.sum::<Result<_, _>>().ok()?;
    let state = if fields.first() == Some(&"Z") { State::Ended } else { State::Runs };
    Some((state, Duration::from_secs_f64(ticks as f64 / TICKS_A_SECOND)))
}
