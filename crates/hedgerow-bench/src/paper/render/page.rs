//! The report as a page that stands by itself.

use super::super::catalog::about;
use super::super::shown::{PaperRuns, Report, Run};
use super::lines::lines;
use super::plot::drawings;
use super::score::{CLASSES, Score};
use super::text::sentence;
use crate::report::Page;

/// The page.
pub(in crate::paper) fn page(report: &Report, score: &Score) -> String {
    let mut page = Page::new("The experiments of five papers on dynamic graphs, run again");
    page.paragraph(
        "Each section below repeats a table or figure of a paper on storing graphs that change, on this machine, for the store Hedgerow \
         (hedgerow) and for containers that follow published systems, written anew behind one interface: adjlst is a sorted array for each \
         vertex, csr compressed rows that cannot change, the others are called after their papers. All run the same kernels on the same edges, \
         in turns. Figures are medians; edges are directed, so an undirected edge counts as two.",
    );
    page.paragraph(
        "\"By the CSR\" is our figure divided by that of the compressed rows; where those have none, by the figure of the engine that is named, \
         the best of the row. Rates are better if greater, times and bytes if smaller. Published figures are of other machines and of larger \
         graphs: compare ratios, not values.",
    );
    page.paragraph(&report.setting);
    score_of(&mut page, score);
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
    page.heading("Where the store is behind");
    let rows = score
        .missed()
        .map(|row| vec![row.name.clone(), row.ours.clone(), row.best_engine.clone(), row.best.clone()]);
    page.table(&["row", "hedgerow", "first", "its figure"], rows);
    page.finish()
}

fn score_of(page: &mut Page, score: &Score) {
    page.heading("Score");
    let (met, all) = score.count(None);
    let text = sentence(met, all);
    page.paragraph(&format!(
        "Among the containers that change, {text}. Rows are all that was measured of six kinds, each once, however many tables show it. The rows in which another container is first are at the end of this page."
    ));
    let rows = CLASSES.into_iter().map(|(class, name)| {
        let (met, all) = score.count(Some(class));
        vec![name.to_owned(), met.to_string(), all.to_string()]
    });
    page.table(&["kind", "first or within 5 %", "rows"], rows);
}

fn paper_of(page: &mut Page, paper: &PaperRuns) {
    page.heading(paper.paper.title());
    page.paragraph(about(paper.paper));
    page.paragraph(&format!(
        "{}. Its figures were measured on {}.",
        paper.paper.citation(),
        paper.paper.machine()
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
}
