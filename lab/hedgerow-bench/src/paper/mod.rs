//! The command `paper`: tables and figures of five papers on dynamic graph storage. It runs them again on
//! this machine over all engines, next to the published figures.
//!
//! An experiment is an entry of a catalog: a place in a paper, its content, the kind of drawing, and a
//! function that selects its figures from measurements. A measurement runs once, when the first experiment
//! requests it. All experiments share it.

mod bench;
mod catalog;
mod context;
mod experiment;
mod measure;
mod options;
mod published;
mod render;
mod setting;
mod shown;

#[cfg(test)]
mod tests;

use std::time::Instant;

use crate::record::JsonLines;
use crate::suite::links::Rival;
use crate::suite::{make_folder_of, with_work};
use bench::Bench;
use context::Context;
use hedgerow_report::failure::{Context as _, Result};
pub(crate) use options::PaperOptions;
use published::Paper;
use setting::Setting;
use shown::{PaperRuns, Report, Run};

/// Runs the requested experiments. If an engine failed, fails at the end, after all other engines were
/// measured and written.
pub(crate) fn run(options: &PaperOptions, rivals: &[Rival]) -> Result<()> {
    let shared = options.shared();
    with_work(&shared, |work| {
        let begun = Instant::now();
        let mut lines = options.json.as_deref().map(JsonLines::new).transpose()?;
        let bench = Bench::new(work, options.quick, rivals);
        let context = Context::new(&bench);
        let mut papers = Vec::new();
        for &paper in options.papers() {
            let runs = run_paper(options, paper, (&bench, &context), lines.as_mut())?;
            render::print(&runs);
            papers.push(runs);
        }
        let all = context.all();
        let summary = render::summary(all.iter().map(|(measurement, made)| (*measurement, made.as_slice())));
        render::print_summary(&summary);
        let report = Report { setting: Setting::of(&bench, begun), papers, failed: bench.failed() };
        eprintln!("\n{}", report.setting);
        if let Some(path) = &options.report {
            make_folder_of(path)?;
            std::fs::write(path, render::page(&report, &summary)).context(path.display())?;
            eprintln!("report: {}", path.display());
        }
        match report.failed.iter().filter(|failed| failed.is_fault).count() {
            0 => Ok(()),
            faults => Err(format!("{faults} engines failed in measurements: see the report").into()),
        }
    })
}

fn run_paper(
    options: &PaperOptions,
    paper: Paper,
    (bench, context): (&Bench<'_>, &Context<'_>),
    mut lines: Option<&mut JsonLines>,
) -> Result<PaperRuns> {
    let mut runs = Vec::new();
    for experiment in catalog::experiments(paper).iter().filter(|experiment| options.wants(experiment.place))
    {
        eprintln!("-- {} {}", paper.name(), experiment.place);
        let place = format!("{} {}", paper.name(), experiment.place);
        // A measurement that fails as a whole does not stop the other experiments.
        let mut records = (experiment.rows)(context).unwrap_or_else(|error| {
            bench.note(experiment.place, "all", &error);
            Vec::new()
        });
        records.iter_mut().for_each(|record| record.suite = place.clone());
        // Each record is written at once, and stays if the program is stopped.
        lines.as_mut().map_or(Ok(()), |lines| records.iter().try_for_each(|record| lines.write(record)))?;
        runs.push(Run { experiment, records });
    }
    let absent = catalog::absent(paper).filter(|absent| options.wants(absent.place)).collect();
    Ok(PaperRuns { paper, runs, absent })
}
