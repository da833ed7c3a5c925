//! The origin of figures. Each line of JSON repeats it, so that files of several runs can be joined.

use serde_json::Value;

use crate::system::{command, commit, machine};
use hedgerow_report::today;

/// The day, the machine, the commit and the command of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) date: String,
    /// The class of the machine, never its name.
    pub(crate) machine: String,
    /// The commit of the checkout in which the program ran; `None` outside of a checkout.
    pub(crate) commit: Option<String>,
    /// The command line without the paths of its files.
    pub(crate) command: String,
    /// False for a test build: its figures mean nothing.
    pub(crate) is_optimised: bool,
}

/// The options that name paths; paths belong to one machine.
const PLACES: [&str; 3] = ["--json", "--report", "--dir"];

impl Origin {
    /// Returns the origin of the figures of this process.
    pub(crate) fn of_this_run() -> Origin {
        Origin {
            date: today(),
            machine: machine(),
            commit: commit(),
            command: command(without_places(std::env::args()).into_iter()),
            is_optimised: !cfg!(debug_assertions),
        }
    }

    /// Returns the origin that a line of JSON names; `None` if the line has no origin.
    pub(crate) fn parse(line: &str) -> Option<Origin> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Origin {
            date: text("date")?,
            machine: text("machine")?,
            commit: text("commit"),
            command: text("command")?,
            is_optimised: value["optimised"].as_bool()?,
        })
    }
}

/// Returns the arguments without the options that name paths.
fn without_places(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut is_value = false;
    for argument in arguments {
        let with_value =
            PLACES.iter().any(|place| argument.strip_prefix(place).is_some_and(|rest| rest.starts_with('=')));
        let is_option = PLACES.contains(&argument.as_str());
        if !is_value && !is_option && !with_value {
            kept.push(argument);
        }
        is_value = is_option;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_places;

    #[test]
    fn places_are_left_out() {
        let line = "p insert --json out.json --graph kron:16 --report=x.html --dir d --repeat 1";
        let kept = without_places(line.split(' ').map(str::to_owned));
        assert_eq!(kept.join(" "), "p insert --graph kron:16 --repeat 1");
    }
}
