//! `hedgerow run`: the kernels of the registry on the whole graph.

mod arguments;
mod options;
mod report;
mod work;

use std::path::Path;

use clap::FromArgMatches;
use hedgerow::LabelId;
use hedgerow_kernels::registry::{Arguments, Parameter, ParameterKind, Value};

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::store::{label_to_read, open_read_only};
use arguments::{Common, Machine};
use work::Work;

pub(crate) use arguments::RunArgs;

/// Runs one kernel on a snapshot of a store.
pub(crate) fn run(args: &RunArgs, style: Style) -> Result<(), CliError> {
    let wrong = |error: clap::Error| CliError::Usage(error.to_string());
    if args.kernel.result.kind.is_per_vertex() {
        let common = Common::from_arg_matches(&args.matches).map_err(wrong)?;
        common.machine.execute(common.out.as_deref(), style, |work| args.kernel_on(work, Some(&common)))
    } else {
        let machine = Machine::from_arg_matches(&args.matches).map_err(wrong)?;
        machine.execute(None, style, |work| args.kernel_on(work, None))
    }
}

impl RunArgs {
    fn kernel_on(&self, work: &Work<'_>, common: Option<&Common>) -> Result<Report, CliError> {
        let arguments = self.arguments(work)?;
        let weight = if self.kernel.reads_weights { self.given::<String>(options::WEIGHT) } else { None };
        let (outcome, milliseconds) = match weight {
            None => work.timed(&arguments, work.view()?)?,
            Some(property) => {
                let view = work.snapshot.view_weighted_by(work.label, property, None);
                let view =
                    view.map_err(|error| CliError::Failed(format!("--{}: {error}", options::WEIGHT)))?;
                work.timed(&arguments, &view)?
            }
        };
        let (top, graphalytics) = common.map_or((0, false), |common| (common.top, common.graphalytics));
        let begun = report::begin(work, &arguments, milliseconds)?;
        report::finish(begun, work, self.kernel, outcome, top, graphalytics)
    }

    /// What the kernel is told: its defaults, and what was given.
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
                Some(text) => Some(work.vertex(&format!("--{name}"), text)?.into()),
                None => None,
            },
            ParameterKind::Direction => {
                let against = self.given::<bool>(name).is_some_and(|given| *given);
                against.then_some(hedgerow::Direction::In.into())
            }
            ParameterKind::Count => self.given::<u32>(name).map(|count| (*count).into()),
            ParameterKind::Number(_) => self.given::<f64>(name).map(|number| (*number).into()),
        })
    }

    fn given<T: Clone + Send + Sync + 'static>(&self, name: &str) -> Option<&T> {
        self.matches.get_one(name)
    }
}

impl Machine {
    fn execute(
        &self,
        out: Option<&Path>,
        style: Style,
        kernel: impl FnOnce(&Work<'_>) -> Result<Report, CliError> + Send,
    ) -> Result<(), CliError> {
        // Fewer threads than asked for, down to none: the result is the same.
        let pool = self.threads.and_then(|threads| {
            rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build().ok()
        });
        match pool {
            Some(pool) => pool.install(|| self.execute_here(out, style, kernel)),
            None => hedgerow_par::run(|| self.execute_here(out, style, kernel)),
        }
    }

    /// Executes in the pool that is current.
    fn execute_here(
        &self,
        out: Option<&Path>,
        style: Style,
        kernel: impl FnOnce(&Work<'_>) -> Result<Report, CliError>,
    ) -> Result<(), CliError> {
        let graph = open_read_only(&self.store)?;
        let snapshot = graph.snapshot()?;
        let id = label_to_read(&snapshot, self.label.as_deref(), "")?;
        let label = snapshot.schema().find_label(id)?.name().clone();
        let own = (id != LabelId::DEFAULT).then(|| snapshot.view_of(id)).transpose()?;
        let (own, schema, keys) = (own.as_deref(), graph.schema(), graph.config().keys);
        let work = Work { snapshot: &snapshot, label: &label, own, schema: &schema, keys, out, style };
        let report = kernel(&work)?;
        if work.only_result() { Ok(()) } else { report.print(style) }
    }
}
