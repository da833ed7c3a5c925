//! The command `chart`: draws figures that suites wrote as JSON lines. Its footer states the origin of the
//! figures.

mod panels;
mod words;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::record::{Origin, Record};
use crate::suite::make_folder_of;
use hedgerow_report::failure::{Context, Failure, Result};
use hedgerow_report::sheet::Sheet;

/// The figures to draw, and the file of the chart.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ChartOptions {
    /// Files of JSON lines, each of one suite or more
    #[arg(long, required = true, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// Only figures of these suites
    #[arg(long, value_name = "SUITE", value_delimiter = ',')]
    suite: Vec<String>,
    /// Only metrics whose names begin with one of these, in this order
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    only: Vec<String>,
    /// The heading [default: the suites and the graphs]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The measured commit, if the files have another name of it
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// The SVG file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Reads the files, draws the figures that the options choose, and writes the chart.
pub(crate) fn run(options: &ChartOptions) -> Result<()> {
    let mut figures = Figures::default();
    for file in &options.from {
        let text = std::fs::read_to_string(file).context(file.display())?;
        figures.add(&text, &file.display().to_string())?;
    }
    let svg = draw(&figures, options)?;
    make_folder_of(&options.out)?;
    std::fs::write(&options.out, svg).context(options.out.display())?;
    eprintln!("chart: {}", options.out.display());
    Ok(())
}

/// The figures of some files, each with its origin.
#[derive(Debug, Default)]
struct Figures(Vec<Figure>);

impl Figures {
    /// Adds the lines of a file.
    fn add(&mut self, text: &str, file: &str) -> Result<()> {
        let before = self.0.len();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let record = Record::parse(line).ok_or_else(|| {
                let begun: String = line.chars().take(60).collect();
                Failure::from(format!("{file}:{number}: not a figure as `--json` writes them: {begun}"))
            })?;
            self.0.push((record, Origin::parse(line)));
        }
        match self.0.len() > before {
            true => Ok(()),
            false => Err(format!("{file}: no figures").into()),
        }
    }
}

/// A figure and its origin.
type Figure = (Record, Option<Origin>);

/// Returns the figures that the options choose, in the order of their prefixes.
fn chosen<'a>(figures: &'a Figures, options: &ChartOptions) -> Result<Vec<&'a Figure>> {
    for suite in &options.suite {
        if !figures.0.iter().any(|(record, _)| record.suite == *suite) {
            let known = distinct(figures.0.iter().map(|(record, _)| record.suite.as_str())).join(", ");
            return Err(format!("no figures of the suite {suite}: the files have {known}").into());
        }
    }
    let is_of = |record: &Record| options.suite.is_empty() || options.suite.contains(&record.suite);
    let mut rest: Vec<&Figure> = figures.0.iter().filter(|(record, _)| is_of(record)).collect();
    if options.only.is_empty() {
        return Ok(rest);
    }
    let metrics = distinct(rest.iter().map(|(record, _)| record.metric.as_str())).join(", ");
    let mut chosen = Vec::new();
    for prefix in &options.only {
        let (found, others): (Vec<&Figure>, Vec<&Figure>) =
            rest.into_iter().partition(|(record, _)| record.metric.starts_with(prefix));
        if found.is_empty() {
            return Err(format!("no other metric begins with {prefix}: the files have {metrics}").into());
        }
        chosen.extend(found);
        rest = others;
    }
    Ok(chosen)
}

fn draw(figures: &Figures, options: &ChartOptions) -> Result<String> {
    let chosen = chosen(figures, options)?;
    let records: Vec<&Record> = chosen.iter().map(|(record, _)| record).collect();
    let title = options.title.clone().unwrap_or_else(|| {
        let suites = distinct(records.iter().map(|record| words::suite(&record.suite))).join(", ");
        format!("{suites} on {}", distinct(records.iter().map(|record| record.graph.as_str())).join(", "))
    });
    let foot = foot(chosen.iter().map(|(_, origin)| origin.as_ref()), options.commit.as_deref());
    Ok(Sheet::new(&title, panels::of(&records), foot).to_svg())
}

/// Returns lines about the origins of figures: days, machines and commits, then each command.
fn foot<'a>(origins: impl Iterator<Item = Option<&'a Origin>>, commit: Option<&str>) -> Vec<String> {
    let (mut runs, mut commands, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for origin in origins {
        let Some(origin) = origin else {
            warnings.push("Some figures do not say when and where they were measured.".to_owned());
            continue;
        };
        let commit = commit.or(origin.commit.as_deref()).map(|commit| format!("; commit {commit}"));
        runs.push(format!("{}; {}{}", origin.date, origin.machine, commit.unwrap_or_default()));
        commands.push(origin.command.clone());
        if !origin.is_optimised {
            warnings.push("Built for tests: these figures mean nothing.".to_owned());
        }
    }
    let all = [runs, commands, warnings].concat();
    distinct(all.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}

/// Returns the distinct texts, in the order of their first occurrence.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut kept: Vec<&str> = Vec::new();
    for text in texts {
        if !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}
