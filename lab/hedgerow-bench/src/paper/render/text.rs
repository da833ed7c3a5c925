//! The report as text, on the standard error.

use super::super::shown::PaperRuns;
use super::counted::CLASSES;
use super::lines::{lines, others};
use super::score::GOAL;
use super::summary::Summary;

/// Prints the tables of a paper.
pub(in crate::paper) fn print(paper: &PaperRuns) {
    eprintln!("\n== {} ({})", paper.paper.title(), paper.paper.citation());
    for run in &paper.runs {
        eprintln!("\n{}: {}", run.experiment.place, run.experiment.title);
        for line in lines(run) {
            eprintln!(
                "  {:<36} {:>4} {:<22} {:>18}  {:<20} {}",
                line.row,
                format!("x{}", line.threads),
                line.engine,
                line.ours,
                line.ratio,
                line.published
            );
        }
        for (figure, shown) in others(run) {
            let engine = format!("{} {}", figure.graph, figure.setting);
            eprintln!("  {:<36} {:<27} published: {shown} ({})", figure.row, figure.system, engine.trim());
        }
    }
    for absent in &paper.absent {
        eprintln!("\n{}: {}. Not run: {}", absent.place, absent.title, absent.reason);
    }
}

/// Prints the score, the rows in which another container is first, and the standings of the engines.
pub(in crate::paper) fn print_summary(summary: &Summary) {
    let score = &summary.score;
    let (met, all) = score.count(None);
    eprintln!("\n== score: {}", sentence(met, all));
    for (class, name) in CLASSES {
        let (met, all) = score.count(Some(class));
        eprintln!("  {name:<12} {met:>4} of {all}");
    }
    for row in score.missed() {
        eprintln!("  behind: {:<60} {:>18}, {} has {}", row.name, row.ours, row.best_engine, row.best);
    }
    eprintln!(
        "\n== how many times the best's each engine takes, by the geometric mean of the rows that all share"
    );
    for row in standings_table(summary) {
        let cells: String = row.iter().map(|cell| format!("{cell:>14}")).collect();
        eprintln!("  {cells}");
    }
}

/// Returns the score in words.
pub(super) fn sentence(met: usize, all: usize) -> String {
    let share = 100.0 * met as f64 / all.max(1) as f64;
    format!(
        "the store is first, or within 5 % of the first, in {met} of {all} rows ({share:.1} %; the goal is {:.0} %)",
        100.0 * GOAL
    )
}

/// Returns the standings as cells: a head with the kinds and the number of their rows, then a line for each
/// engine.
pub(super) fn standings_table(summary: &Summary) -> Vec<Vec<String>> {
    let standings = &summary.standings;
    let head = standings.classes.iter().map(|standing| format!("{} ({})", standing.class, standing.rows));
    let mut table = vec![std::iter::once("engine".to_owned()).chain(head).collect()];
    for (nth, engine) in standings.engines.iter().enumerate() {
        let means = standings.classes.iter().map(|standing| standing.means[nth]);
        let cells = means.map(|mean| mean.map_or("-".to_owned(), |mean| format!("{mean:.2}")));
        table.push(std::iter::once(engine.clone()).chain(cells).collect());
    }
    table
}
