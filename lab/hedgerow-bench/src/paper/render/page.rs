//! The report as a self-contained page.

use super::super::catalog::about;
use super::super::published::{Paper, Published};
use super::super::shown::{PaperRuns, Report, Run};
use super::counted::CLASSES;
use super::glossary::{COUNTING, ENGINES, KERNELS, WORDS};
use super::lines::{lines, others};
use super::plot::drawings;
use super::score::Score;
use super::summary::Summary;
use super::text::{sentence, standings_table};
use hedgerow_report::Page;

/// Makes the page of a report.
pub(in crate::paper) fn page(report: &Report, summary: &Summary) -> String {
    let mut page = Page::new("The experiments of five papers on dynamic graphs, run again");
    page.paragraph(
        "Each section below repeats a table or figure of a paper on storing graphs that change, on one machine, for the store Hedgerow and for \
         containers that follow published systems. This page opens with how all engines stand; the words are explained after that.",
    );
    summary_of(&mut page, summary);
    words(&mut page);
    page.heading("How it was made");
    page.table(
        &["", ""],
        report.setting.facts.iter().map(|(what, fact)| vec![(*what).to_owned(), fact.clone()]),
    );
    for paper in &report.papers {
        paper_of(&mut page, paper);
    }
    if !report.failed.is_empty() {
        page.heading("Engines that were left out");
        let rows = report
            .failed
            .iter()
            .map(|failed| vec![failed.measurement.to_owned(), failed.engine.clone(), failed.reason.clone()]);
        page.table(&["measurement", "engine", "reason"], rows);
    }
    missed(&mut page, &summary.score);
    page.finish()
}

fn summary_of(page: &mut Page, summary: &Summary) {
    page.heading("Summary");
    let (met, all) = summary.score.count(None);
    let text = sentence(met, all);
    page.paragraph(&format!(
        "Among the containers that change, {text}. The rows in which another container is first are at the end of this page."
    ));
    let rows = CLASSES.into_iter().map(|(class, name)| {
        let (met, all) = summary.score.count(Some(class));
        vec![name.to_owned(), met.to_string(), all.to_string()]
    });
    page.table(&["kind", "first or within 5 %", "rows"], rows);
    page.paragraph(COUNTING);
    page.subheading("Engine against engine");
    page.paragraph(
        "How far each engine is behind the best, which may be another one in each row: its time or its bytes by those of the best, or the best's rate by \
         its own; the geometric mean over the rows of a kind. 1.00 is the best in every row; 2.00 takes twice as long on average, or does half as much in a second. \
         Rows count that all engines share which have any of the kind; their number is in parentheses.",
    );
    let mut table = standings_table(summary).into_iter();
    let head = table.next().unwrap_or_default();
    page.table(&head.iter().map(String::as_str).collect::<Vec<_>>(), table);
}

fn words(page: &mut Page) {
    page.heading("The words of this page");
    for (heading, words) in [("engine", &ENGINES[..]), ("kernel", &KERNELS[..]), ("word", &WORDS[..])] {
        let rows = words.iter().map(|(word, meaning)| vec![(*word).to_owned(), (*meaning).to_owned()]);
        page.table(&[heading, "what it is"], rows);
    }
}

fn missed(page: &mut Page, score: &Score) {
    page.heading("Where the store is behind");
    let rows = score
        .missed()
        .map(|row| vec![row.name.clone(), row.ours.clone(), row.best_engine.clone(), row.best.clone()]);
    page.table(&["row", "hedgerow", "first", "its figure"], rows);
}

fn paper_of(page: &mut Page, paper: &PaperRuns) {
    page.heading(paper.paper.title());
    page.paragraph(about(paper.paper));
    page.paragraph(&format!(
        "{}. Its figures were measured on {}.{}",
        paper.paper.citation(),
        paper.paper.machine(),
        graphs_of(paper.paper)
    ));
    paper.runs.iter().for_each(|run| run_of(page, run));
    if !paper.absent.is_empty() {
        page.subheading("Not run");
        let rows = paper
            .absent
            .iter()
            .map(|absent| vec![absent.place.to_owned(), absent.title.to_owned(), absent.reason.to_owned()]);
        page.table(&["place", "what it shows", "why not"], rows);
    }
}

/// Returns a sentence on the short names of the paper's graphs.
fn graphs_of(paper: Paper) -> String {
    let names: Vec<String> =
        paper.graphs().iter().map(|(short, graph, _)| format!("{short} is {graph}")).collect();
    if names.is_empty() { String::new() } else { format!(" Its graphs: {}.", names.join(", ")) }
}

fn run_of(page: &mut Page, run: &Run) {
    let experiment = run.experiment;
    page.subheading(&format!("{}: {}", experiment.place, experiment.title));
    if !experiment.differs.is_empty() {
        page.paragraph(&format!("Unlike the paper: {}", experiment.differs));
    }
    if run.records.is_empty() {
        page.paragraph("No figures: nothing could be measured here, see the engines that were left out, or the data are absent.");
    }
    for drawing in drawings(run) {
        page.paragraph(&drawing.title);
        page.drawing(&drawing.svg);
    }
    page.details("Figures", |page| {
        let rows = lines(run)
            .into_iter()
            .map(|line| vec![line.row, line.threads, line.engine, line.ours, line.ratio, line.published]);
        page.table(&["row", "threads", "engine", "ours", "by", "published"], rows);
    });
    let others = others(run);
    if !others.is_empty() {
        page.details("What the paper has of other graphs, engines and settings", |page| {
            others_of(page, &others)
        });
    }
}

/// Adds a table with a line for each row, engine and setting, and a column for each graph.
fn others_of(page: &mut Page, others: &[(Published, String)]) {
    let mut graphs: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, &str, &str)> = Vec::new();
    let row = |figure: &Published| (figure.row, figure.system, figure.setting);
    for (figure, _) in others {
        if !graphs.contains(&figure.graph) {
            graphs.push(figure.graph);
        }
        if !rows.contains(&row(figure)) {
            rows.push(row(figure));
        }
    }
    let names = graphs.iter().map(|graph| if graph.is_empty() { "published" } else { *graph });
    let head: Vec<&str> = ["row", "engine", "setting"].into_iter().chain(names).collect();
    let lines = rows.iter().map(|&of| {
        let cell = |graph: &&str| {
            let found = others.iter().find(|(figure, _)| row(figure) == of && figure.graph == *graph);
            found.map_or(String::new(), |(_, shown)| shown.clone())
        };
        let (what, engine, setting) = of;
        [what, engine, setting].into_iter().map(str::to_owned).chain(graphs.iter().map(cell)).collect()
    });
    page.table(&head, lines);
}
