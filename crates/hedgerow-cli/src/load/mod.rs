//! `hedgerow load`.
//!
//! If a load fails at a malformed row that it must not skip, or cannot read a whole file, the store is as
//! before. For an existing store, every file is read twice: first to check every row, then to load. A new
//! store is loaded while the rows are checked, and is removed after a failure. Only if a column names labels,
//! the rows are read once before, to find the labels.

mod args;
mod beside;
mod columns;
mod directory;
mod entry;
mod existing;
mod input;
mod interrupt;
mod item;
mod kinds;
mod matrix;
mod passed;
mod rejects;
mod report;
mod rows;
mod settle;
mod table;
mod table_rows;
mod write;

#[cfg(test)]
mod tests;

use args::{Repeat, durability, key_kind, keys_of_kind, with_mode};
use existing::{Before, Existing};
use hedgerow::{Graph, KeyKind, Options};
use hedgerow_export::text::is_vacant;
use input::{Content, Input};
use interrupt::Interrupts;
use item::Rules;
use kinds::{Ends, Kinds};
use rejects::Rejects;
use report::{Clock, Told};
use write::open_existing;

use crate::error::CliError;
use crate::output::Style;

pub(crate) use args::LoadArgs;

/// Loads files into a store.
pub(crate) fn load(args: &LoadArgs, style: Style) -> Result<(), CliError> {
    let clock = Clock::start();
    if let [directory] = &args.files[..]
        && directory.is_dir()
    {
        return directory::load(args, directory, style, clock, &Interrupts::watch());
    }
    let mut inputs = matrix::recognize(table::recognize(input::inputs(args)?, args)?, args)?;
    input::check_directions(&inputs, args)?;
    // Signals are watched only after standard input was read, since that read does not check for signals.
    let interrupts = Interrupts::watch();
    let existing = open_existing(args, options(args, &inputs))?;
    let config = existing.as_ref().map(Graph::config);
    let asked = is_weighted(args, &inputs);
    let labelled = is_labelled(args);
    let weighted = if labelled { asked } else { config.map_or(asked, |config| config.weighted) };
    if args.repeat == Repeat::Sum && (labelled || !args.property.is_empty()) {
        return Err(CliError::Usage("--repeat sum: not with --label or --property".to_owned()));
    }
    if args.repeat == Repeat::Sum && !weighted {
        return Err(CliError::Usage("--repeat sum: the graph has no weights (see --weighted)".to_owned()));
    }
    let directed = config.map_or_else(|| is_directed(args, &inputs), |config| config.directed);
    let keys = config.map_or(key_kind(args).unwrap_or(KeyKind::U64), |config| config.keys);
    let mut kinds = Kinds::of(existing.as_ref(), keys);
    apply_kinds(args, &mut kinds, &mut inputs)?;
    let rules = Rules {
        kinds: &kinds,
        finite: args.repeat == Repeat::Sum,
        on_error: args.on_error,
        interrupts: &interrupts,
    };
    let mut rejects = Rejects::default();
    for input in &mut inputs {
        if input.table.is_some() {
            table::settle(input, args, &kinds, weighted)?;
            continue;
        }
        settle::settle(input, args, &kinds, weighted)?;
        matrix::settle(input, directed, weighted, &kinds)?;
    }
    let is_rich = |input: &Input| matches!(&input.content, Content::Edges(table) if table.is_rich());
    if args.repeat == Repeat::Sum && inputs.iter().any(is_rich) {
        let why =
            "--repeat sum: not with properties; --property names the columns of a table that become some";
        return Err(CliError::Usage(why.to_owned()));
    }
    let checks = existing.is_some() || inputs.iter().any(Input::names_labels);
    let before = existing.as_ref().map(Before::of).transpose()?;
    let mut seen = Existing::default();
    for input in inputs.iter_mut().filter(|_| checks) {
        let found = rows::validate(input, &rules, &mut rejects, before.as_ref())?;
        input.labels = found.labels;
        seen += found.existing;
    }
    // Dropped here, so that it pins no versions that the load replaces.
    drop(before);
    let unchecked = (!checks).then_some(&mut rejects);
    let loaded = match existing {
        Some(graph) => write::into_existing(graph, args, &inputs, &rules)?,
        None => write::into_new(options(args, &inputs), args, &inputs, &rules, unchecked)?,
    };
    report::print(
        &Told { loaded: &loaded, existing: seen, inputs: &inputs, rejects: &rejects },
        &rules,
        clock,
        style,
    )
}

/// True if the edges get a label other than the default one.
fn is_labelled(args: &LoadArgs) -> bool {
    args.label_column.is_some() || args.label.as_ref().is_some_and(|label| !label.is_empty())
}

/// Sets the kinds of the vertices in the files, as the arguments state them.
fn apply_kinds(args: &LoadArgs, kinds: &mut Kinds, inputs: &mut [Input]) -> Result<(), CliError> {
    if let Some(name) = &args.kind {
        let is_end = [&args.from, &args.to].into_iter().flatten().any(|end| end == name);
        if !is_end && !inputs.iter().any(Input::has_vertices) {
            let why = "--kind: nothing uses this kind; give a file of vertices by --vertices or --format vertices, or name the kind by --from or --to";
            return Err(CliError::Usage(why.to_owned()));
        }
        let id = kinds.define(name, keys_of_kind(args))?;
        inputs.iter_mut().filter(|input| input.has_vertices()).for_each(|input| input.kind = id);
    }
    let (Some(from), Some(to)) = (&args.from, &args.to) else { return Ok(()) };
    if args.label.as_ref().is_some_and(String::is_empty) {
        return Err(CliError::Usage(
            "--from: the default label does not say the kinds of its ends".to_owned(),
        ));
    }
    let named = |option, name| kinds.find(name).map_err(|why| CliError::Failed(format!("--{option}: {why}")));
    let ends = Ends::Stated([named("from", from)?, named("to", to)?]);
    for input in inputs {
        if let Content::Edges(table) = &mut input.content {
            table.ends = ends;
        }
    }
    Ok(())
}

/// Returns true if edges have a direction; `None` if neither an argument nor a file states it.
fn stated_direction(args: &LoadArgs, inputs: &[Input]) -> Option<bool> {
    let is_new = is_vacant(&args.store);
    let stated = || inputs.iter().find_map(|input| input.direction(is_new));
    (args.directed || args.undirected).then_some(args.directed).or_else(stated)
}

/// True if edges of a new store have a direction.
fn is_directed(args: &LoadArgs, inputs: &[Input]) -> bool {
    stated_direction(args, inputs).unwrap_or(true)
}

/// Returns the options of the store. An existing store determines the options that the arguments leave open.
fn options(args: &LoadArgs, inputs: &[Input]) -> Options {
    let mut options = Options::new().durability(durability(args));
    if let Some(directed) = stated_direction(args, inputs) {
        options = options.directed(directed);
    }
    if let Some(kind) = key_kind(args) {
        options = options.keys(kind);
    }
    if args.no_reverse {
        options = options.reverse(false);
    }
    if is_weighted(args, inputs) && !is_labelled(args) {
        options = options.weighted(true);
    }
    with_mode(options, args)
}

/// True if the load reads weights: because of an option, a column, or the format of a file.
fn is_weighted(args: &LoadArgs, inputs: &[Input]) -> bool {
    args.weighted || args.weight_col.is_some() || inputs.iter().any(|input| input.weighted)
}
