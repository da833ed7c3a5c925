//! The command line of `run`, built from the registry: a subcommand for each kernel, an option for each
//! parameter.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use hedgerow_kernels::registry::{Absent, KERNELS, Kernel, Parameter, ParameterKind, find};

use super::arguments::{Common, Machine, RunArgs};

/// The option for the weights of edges, for kernels that read weights.
pub(super) const WEIGHT: &str = "weight";
/// The name of the direction option among the arguments.
pub(super) const DIRECTION: &str = "along";

impl FromArgMatches for RunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen = matches.subcommand().and_then(|(name, matches)| Some((find(name).ok()?, matches)));
        let (kernel, matches) = chosen.ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        Ok(RunArgs { kernel, matches: matches.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = RunArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for RunArgs {
    fn augment_args(run: Command) -> Command {
        // Without a kernel, the error lists the kernels.
        let run = run.subcommand_required(true).arg_required_else_help(false);
        let mut kernels = KERNELS.to_vec();
        kernels.sort_unstable_by_key(|kernel| kernel.name);
        kernels.into_iter().fold(run, |run, kernel| run.subcommand(command(kernel)))
    }

    fn augment_args_for_update(run: Command) -> Command {
        RunArgs::augment_args(run)
    }
}

fn command(kernel: &Kernel) -> Command {
    let command = Command::new(kernel.name);
    let command = if kernel.result.kind.has_rows() {
        Common::augment_args(command)
    } else {
        Machine::augment_args(command)
    };
    let command = kernel.parameters.iter().fold(command, |command, parameter| command.arg(option(parameter)));
    let command = if kernel.reads_weights { command.arg(weight()) } else { command };
    command.about(kernel.summary).long_about(None)
}

fn option(parameter: &Parameter) -> Arg {
    let option = Arg::new(parameter.name).long(parameter.name).required(parameter.absent == Absent::Refused);
    match parameter.kind {
        // A flag. Without it, edges are followed along their direction.
        ParameterKind::Direction => {
            let option = option.long("in").action(ArgAction::SetTrue).conflicts_with(DIRECTION);
            option.help("Follow the edges against their direction, as --direction in")
        }
        ParameterKind::Vertex => option.value_name("KEY").help(help(parameter)),
        ParameterKind::Vertices => {
            let option = option.value_name("KEY").action(ArgAction::Append);
            option.help(format!("{} (once for each)", help(parameter)))
        }
        ParameterKind::Count(_) => {
            option.value_name("N").value_parser(value_parser!(u32)).help(help(parameter))
        }
        ParameterKind::Flag => option.action(ArgAction::SetTrue).help(parameter.summary),
        ParameterKind::Number(_) => {
            let option = option.value_name(initial(parameter.name));
            option.value_parser(value_parser!(f64)).help(help(parameter))
        }
    }
}

/// Returns the first letter of a name, in upper case: the name of a number in help.
fn initial(name: &str) -> &'static str {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let place =
        name.bytes().next().map_or(0, |letter| usize::from(letter.to_ascii_uppercase().saturating_sub(b'A')));
    LETTERS.get(place..=place).unwrap_or("X")
}

fn help(parameter: &Parameter) -> String {
    match &parameter.absent {
        Absent::Refused | Absent::Without("") => parameter.summary.to_owned(),
        Absent::Without(instead) => format!("{} [default: {instead}]", parameter.summary),
        Absent::Is(value) => format!("{} [default: {value}]", parameter.summary),
    }
}

fn weight() -> Arg {
    let help = "The property that is the length of an edge \
                [default: the weight of a weighted store, and of other labels than the default one their property `weight`]";
    Arg::new(WEIGHT).long(WEIGHT).value_name("PROPERTY").help(help)
}
