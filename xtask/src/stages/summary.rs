//! The last output of a run: a table of the stages, their explored counts, the skipped tests, and every
//! failure.

use super::outcome::{Outcome, Taken};

/// Prints the summary. Returns an error if a stage failed.
pub(super) fn print(done: &[(&str, Outcome)]) -> Result<(), String> {
    print!("{}", text(done));
    match done.iter().all(|(_, outcome)| outcome.failures.is_empty()) {
        true => Ok(()),
        false => Err("not every stage passed".to_owned()),
    }
}

/// Returns the summary. Its last line has the form of other test runners.
pub(super) fn text(done: &[(&str, Outcome)]) -> String {
    let mut text = format!(
        "\n{:<10} {:>8} {:>8} {:>8} {:>8} {:>6}  result\n",
        "stage", "build s", "cpu s", "run s", "cpu s", "tests"
    );
    let mut total = Outcome::default();
    for (name, outcome) in done {
        let tests = outcome.counts.passed + outcome.counts.failed;
        let (build, run) = (columns(outcome.build), columns(outcome.run));
        text += &format!("{name:<10} {build} {run} {tests:>6}  {}\n", outcome.verdict());
        total.build += outcome.build;
        total.run += outcome.run;
        total.counts.add(outcome.counts.clone());
    }
    text += &format!("{:<10} {} {}\n", "all", columns(total.build), columns(total.run));
    let explored = lines(done, |outcome| outcome.counts.explored.iter().map(ToString::to_string).collect());
    text += &section("explored, each at least as often as its floor says:", &explored);
    let skipped =
        lines(done, |outcome| outcome.counts.skipped.iter().chain(&outcome.absent).cloned().collect());
    text += &section("SKIPPED, because this machine cannot run it:", &skipped);
    let mut failures = Vec::new();
    for (name, outcome) in done {
        for failure in &outcome.failures {
            failures.push(format!("{name}: {}\n    repeat it: {}", failure.what, failure.command(name)));
        }
    }
    text += &section("FAILED:", &failures);
    let failed = total.counts.failed.max(failures.len() as u64);
    text + &format!("{} passed, {failed} failed, {} skipped\n", total.counts.passed, skipped.len())
}

/// Returns the lines that `of` finds in each stage, each after the name of the stage.
fn lines(done: &[(&str, Outcome)], of: impl Fn(&Outcome) -> Vec<String>) -> Vec<String> {
    let of_stage = |(name, outcome): &(&str, Outcome)| {
        of(outcome).into_iter().map(|line| format!("{name}: {line}")).collect::<Vec<_>>()
    };
    done.iter().flat_map(of_stage).collect()
}

/// Returns lines below a heading, or an empty text if there are no lines.
fn section(heading: &str, lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n{heading}\n  {}\n", lines.join("\n  ")) }
}

/// Returns wall and processor time in seconds.
fn columns(taken: Taken) -> String {
    format!("{:>8.1} {:>8.1}", taken.wall.as_secs_f64(), taken.processor.as_secs_f64())
}
