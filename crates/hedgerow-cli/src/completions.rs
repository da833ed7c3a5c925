//! `hedgerow completions`.

use clap::ValueEnum;
use clap_complete::Shell as Generator;
use hedgerow_export::target::Target;

use crate::error::CliError;
use crate::output::{Report, Style};

/// Arguments of `completions`.
#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    /// A script for `source`, or for the folder of bash-completion
    Bash,
    /// A file `_hedgerow` for a folder of fpath
    Zsh,
    /// A file for ~/.config/fish/completions
    Fish,
}

/// Prints the script that completes commands and options of `program` in a shell.
pub(crate) fn completions(
    args: &CompletionsArgs,
    mut program: clap::Command,
    style: Style,
) -> Result<(), CliError> {
    let (name, shell) = match args.shell {
        Shell::Bash => ("bash", Generator::Bash),
        Shell::Zsh => ("zsh", Generator::Zsh),
        Shell::Fish => ("fish", Generator::Fish),
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "hedgerow", &mut script);
    if style == Style::Text {
        let mut out = Target::stdout();
        out.write(|w| w.write_all(&script))?;
        return Ok(out.finish()?);
    }
    let script = String::from_utf8_lossy(&script).into_owned();
    Report::default().field("shell", name).field("script", script).print(style)
}
