//! The report as text, on the standard error.

use super::super::shown::PaperRuns;
use super::lines::lines;
use super::score::{CLASSES, GOAL, Score};

/// Prints the tables of a paper.
pub(in crate::paper) fn print(paper: &PaperRuns) {
    eprintln!("\n== {} ({})", paper.paper.title(), paper.paper.citation());
    for run in &paper.runs {
        eprintln!("\n{}: {}", run.experiment.place, run.experiment.title);
        for line in lines(run) {
            let threads = if line.threads.is_empty() { String::new() } else { format!("x{}", line.threads) };
            eprintln!(
                "  {:<36} {threads:>4} {:<22} {:>18}  {:<20} {}",
                line.row, line.engine, line.ours, line.ratio, line.published
            );
        }
    }
    for absent in &paper.absent {
        eprintln!("\n{}: {}. Not run: {}", absent.place, absent.title, absent.reason);
    }
}

/// Prints the score and the rows in which another container is first.
pub(in crate::paper) fn print_score(score: &Score) {
    let (met, all) = score.count(None);
    eprintln!("\n== score: {}", sentence(met, all));
    for (class, name) in CLASSES {
        let (met, all) = score.count(Some(class));
        eprintln!("  {name:<12} {met:>4} of {all}");
    }
    for row in score.missed() {
        eprintln!("  behind: {:<60} {:>18}, {} has {}", row.name, row.ours, row.best_engine, row.best);
    }
}

/// The score in words.
pub(super) fn sentence(met: usize, all: usize) -> String {
    let share = 100.0 * met as f64 / all.max(1) as f64;
    format!(
        "the store is first, or within 5 % of the first, in {met} of {all} rows ({share:.1} %; the goal is {:.0} %)",
        100.0 * GOAL
    )
}
