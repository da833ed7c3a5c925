//! `hedgerow run`: the kernels of the registry on the whole graph.

mod arguments;
mod options;
mod report;
mod work;

use std::path::Path;

use clap::FromArgMatches;
use hedgerow::{EdgeDirection, EdgeSelection, Schema, VertexId};
use hedgerow_kernels::registry::{Arguments, Kernel, Parameter, ParameterKind, ResultKind, Value};

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::show::Show;
use crate::store::open_within;
use arguments::{Common, Machine};
use work::Work;

pub(crate) use arguments::RunArgs;

/// Runs one kernel on a snapshot of a store.
pub(crate) fn run(args: &RunArgs, style: Style) -> Result<(), CliError> {
    let wrong = |error: clap::Error| CliError::Usage(error.to_string());
    if args.kernel.result.kind.has_rows() {
        let common = Common::from_arg_matches(&args.matches).map_err(wrong)?;
        let asked = args.asked(&common.machine)?;
        let out = common.out.as_deref();
        asked.execute(out, &common.show, style, |work| args.kernel_on(work, Some(&common)))
    } else {
        let machine = Machine::from_arg_matches(&args.matches).map_err(wrong)?;
        args.asked(&machine)?.execute(None, &Show::default(), style, |work| args.kernel_on(work, None))
    }
}

impl RunArgs {
    fn kernel_on(&self, work: &Work<'_>, common: Option<&Common>) -> Result<Report, CliError> {
        self.check_show(work)?;
        let arguments = self.arguments(work)?;
        let (outcome, milliseconds) = work.timed(&arguments)?;
        let (top, graphalytics) = common.map_or((0, false), |common| (common.top, common.graphalytics));
        let begun = report::begin(work, &arguments, milliseconds)?;
        report::finish(begun, work, self.kernel, outcome, top, graphalytics)
    }

    /// Refuses properties that no vertex has, and properties that the kernel's result cannot show.
    fn check_show(&self, work: &Work<'_>) -> Result<(), CliError> {
        if work.show.is_empty() {
            return Ok(());
        }
        work.show.check(work.schema, work.keys)?;
        let (name, kind) = (self.kernel.name, self.kernel.result.kind);
        match (kind, work.out) {
            (ResultKind::Hops | ResultKind::Numbers, None) => {
                let message =
                    format!("--show: the table of {name} counts vertices and names none; --out FILE has all");
                Err(CliError::Usage(message))
            }
            (ResultKind::Paths, Some(_)) if work.style == Style::Text => {
                let message = "--show: a file of paths has columns with --csv or --json alone".to_owned();
                Err(CliError::Usage(message))
            }
            _ => Ok(()),
        }
    }

    /// Returns the arguments of the kernel: the given values, and defaults for the others.
    fn arguments(&self, work: &Work<'_>) -> Result<Arguments, CliError> {
        let mut arguments = self.kernel.arguments();
        for parameter in self.kernel.parameters {
            if let Some(value) = self.value(work, parameter)? {
                arguments.set(parameter.name, value).map_err(|error| CliError::Usage(error.to_string()))?;
            }
        }
        Ok(arguments)
    }

    fn value(&self, work: &Work<'_>, parameter: &Parameter) -> Result<Option<Value>, CliError> {
        let name = parameter.name;
        Ok(match parameter.kind {
            ParameterKind::Vertex => match self.given::<String>(name) {
                Some(text) => Some(work.vertex(parameter, text)?.into()),
                None => None,
            },
            ParameterKind::Vertices => match self.matches.get_many::<String>(name) {
                Some(texts) => {
                    let vertices = texts.map(|text| work.vertex(parameter, text));
                    Some(vertices.collect::<Result<Vec<VertexId>, CliError>>()?.into())
                }
                None => None,
            },
            ParameterKind::Direction => self.is_against().then_some(hedgerow::Direction::In.into()),
            ParameterKind::Count(_) => self.given::<u32>(name).map(|count| (*count).into()),
            ParameterKind::Number(_) => self.given::<f64>(name).map(|number| (*number).into()),
            ParameterKind::Flag => self.given::<bool>(name).map(|flag| (*flag).into()),
        })
    }

    fn given<T: Clone + Send + Sync + 'static>(&self, name: &str) -> Option<&T> {
        self.matches.get_one(name)
    }
}

/// The graph that the kernel works on.
struct Asked<'a> {
    machine: &'a Machine,
    /// The direction in which the view is built.
    direction: EdgeDirection,
    /// The direction in which edges are followed, because of the view's direction or by the kernel.
    along: EdgeDirection,
    /// The property that is the weight of an edge.
    weight: Option<&'a str>,
    kernel: &'static Kernel,
}

impl RunArgs {
    fn asked<'a>(&'a self, machine: &'a Machine) -> Result<Asked<'a>, CliError> {
        let weight = if self.kernel.reads_weights { self.given::<String>(options::WEIGHT) } else { None };
        let direction = machine.chosen.along.unwrap_or_default();
        // A kernel that can follow edges against their direction needs no reversed view.
        let (direction, along) = match self.is_against() {
            true => (EdgeDirection::Out, EdgeDirection::In),
            false => (direction, direction),
        };
        Ok(Asked { machine, direction, along, weight: weight.map(String::as_str), kernel: self.kernel })
    }

    /// True if the kernel follows edges against their direction.
    fn is_against(&self) -> bool {
        let told = |parameter: &Parameter| parameter.kind == ParameterKind::Direction;
        let Some(parameter) = self.kernel.parameters.iter().find(|parameter| told(parameter)) else {
            return false;
        };
        let along = self.given::<EdgeDirection>(options::DIRECTION);
        self.given::<bool>(parameter.name).is_some_and(|given| *given) || along == Some(&EdgeDirection::In)
    }
}

impl Asked<'_> {
    fn execute(
        &self,
        out: Option<&Path>,
        show: &Show,
        style: Style,
        kernel: impl FnOnce(&Work<'_>) -> Result<Report, CliError> + Send,
    ) -> Result<(), CliError> {
        // If the pool cannot be made, the kernel runs without it. The result is the same.
        let pool = self.machine.threads.and_then(|threads| {
            rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build().ok()
        });
        match pool {
            Some(pool) => pool.install(|| self.execute_here(out, show, style, kernel)),
            None => hedgerow_par::run(|| self.execute_here(out, show, style, kernel)),
        }
    }

    /// Restricts the selection to vertices of the given kinds, if kinds are given.
    fn in_kinds<'s>(
        &self,
        selection: EdgeSelection<'s>,
        schema: &Schema,
    ) -> Result<EdgeSelection<'s>, CliError> {
        let kinds = &self.machine.kinds;
        if kinds.is_empty() {
            return Ok(selection);
        }
        let kinds = kinds.iter().map(|name| schema.find_kind(name)).collect::<hedgerow::Result<Vec<_>>>()?;
        Ok(selection.kinds(kinds))
    }

    /// Runs the kernel in the current thread pool.
    fn execute_here(
        &self,
        out: Option<&Path>,
        show: &Show,
        style: Style,
        kernel: impl FnOnce(&Work<'_>) -> Result<Report, CliError>,
    ) -> Result<(), CliError> {
        let graph = open_within(&self.machine.store, self.machine.memory_limit)?;
        let (snapshot, config) = (graph.snapshot()?, graph.config());
        let chosen = &self.machine.chosen;
        let selection = chosen.selection(&snapshot, config.weighted, self.direction)?;
        let selection = self.in_kinds(selection, &snapshot.schema())?;
        let ends = selection.clone().direction(self.along);
        let view =
            |selection: &EdgeSelection<'_>| hedgerow_analytics::view(&snapshot, self.kernel, selection);
        let view = match self.weight {
            None => view(&selection)?,
            Some(property) => view(&selection.weighted_by(property, None))
                .map_err(|error| CliError::Failed(format!("--{}: {error}", options::WEIGHT)))?,
        };
        let (labels, schema, keys) = (&chosen.label[..], graph.schema(), config.keys);
        let snapshot = &snapshot;
        let work = Work { snapshot, labels, ends, view: &view, schema: &schema, keys, out, style, show };
        let report = kernel(&work)?;
        if work.only_result() { Ok(()) } else { report.print(style) }
    }
}
