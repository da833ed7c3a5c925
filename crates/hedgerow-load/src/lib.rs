//! Loads of graph files into a store, for the command line and for Python: lines of several layouts, tables
//! of Parquet and Arrow, and directories that `hedgerow-export` wrote. `docs/design/import.md` has the rules.
//!
//! If a load fails at a malformed row that it must not skip, or cannot read a whole file, the store is as
//! before. For an existing store, every file is read twice: first to check every row, then to load. A new
//! store is loaded while the rows are checked, and is removed after a failure. Only if a column names labels,
//! the rows are read once before, to find the labels.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "no part of the engine: it reads the files that users name")]

mod as_rel;
mod beside;
mod columns;
mod directory;
mod entry;
mod error;
mod existing;
mod graphml;
mod graphml_items;
mod graphml_reader;
mod input;
mod item;
pub mod keys;
mod kinds;
mod konect;
mod ldbc;
mod matrix;
mod options;
mod passed;
pub mod property;
mod rejects;
mod report;
mod rows;
mod settle;
mod table;
mod table_rows;
mod target;
mod watch;
mod write;
mod xml_source;

#[cfg(test)]
mod tests;

use std::path::Path;

use hedgerow::{Graph, KeyKind};

use existing::{Before, Existing};
use input::{Content, Input};
use item::Rules;
use kinds::{Ends, Kinds};
use rejects::Rejects;
use target::{Target, is_labelled, is_weighted};
use watch::Course;

pub use error::Error;
pub use hedgerow_workload::read::Column;
pub use options::{
    EdgeProperty, FileFormat, LoadOptions, OnError, Repeat, StoreOptions, parse_column, parse_comment,
    parse_delimiter, parse_edge_property,
};
pub use rejects::Reject;
pub use report::{Detected, LoadReport, Note};
pub use watch::{Progress, Watch};

/// Loads files into an open store, by transactions with the durability of the store. It writes no checkpoint.
/// Reads each file twice, on this thread, and commits on another one. Other writers may commit meanwhile;
/// then the counts of new vertices and edges include theirs, and edges whose ranks the load counts may meet
/// theirs. O(size of the files).
///
/// # Errors
/// [`Error::Options`], and an error that names file and line if something cannot be loaded; the store is then
/// as before, except for definitions of labels, kinds and properties. [`Error::Committed`] if it fails later,
/// with the number of rows that stay.
pub fn load(graph: &Graph, options: &LoadOptions, watch: Watch<'_>) -> Result<LoadReport, Error> {
    run(&Target::Open(graph), options, watch).map(|(report, _)| report)
}

/// Loads files into the store at `path`, which is created if there is none. Returns the closed store: its
/// memory is free when it is dropped. O(size of the files); a new store reads them once.
///
/// # Errors
/// As [`load`], and those of opening the store. After a failure there is no new store.
pub fn load_store(
    path: &Path,
    store: &StoreOptions,
    options: &LoadOptions,
    watch: Watch<'_>,
) -> Result<(LoadReport, Graph), Error> {
    run(&Target::At(path, store), options, watch)
}

fn run(target: &Target<'_>, options: &LoadOptions, watch: Watch<'_>) -> Result<(LoadReport, Graph), Error> {
    if let Some(fault) = options.fault() {
        return Err(Error::Options(fault));
    }
    let course = Course::new(watch);
    if let Some(network) = ldbc::recognize(options)? {
        return load_network(target, options, network, &course);
    }
    if let [directory] = &options.files[..]
        && directory.is_dir()
    {
        course.check()?;
        return directory::load(target, options, directory, &course);
    }
    let inputs = graphml::recognize(table::recognize(input::inputs(options)?, options)?, options)?;
    let mut inputs = matrix::recognize(inputs, options)?;
    konect::recognize(&mut inputs, options)?;
    as_rel::recognize(&mut inputs, options)?;
    input::check_directions(&inputs, target.is_new(), target.states_direction())?;
    course.check()?;
    let existing = target.open(&inputs, options)?;
    let config = existing.as_ref().map(Graph::config);
    let asked = is_weighted(options, &inputs);
    let labelled = is_labelled(options);
    let weighted = if labelled { asked } else { config.map_or(asked, |config| config.weighted) };
    if options.repeat == Repeat::Sum && (labelled || !options.property.is_empty()) {
        return Err(Error::Options("--repeat sum: not with --label or --property".to_owned()));
    }
    if options.repeat == Repeat::Sum && !weighted {
        return Err(Error::Options("--repeat sum: the graph has no weights (see --weighted)".to_owned()));
    }
    let directed = config.map_or_else(|| target.is_directed(&inputs), |config| config.directed);
    let keys = config.map_or(target.keys().unwrap_or(KeyKind::U64), |config| config.keys);
    let mut kinds = Kinds::of(existing.as_ref(), keys);
    apply_kinds(options, &mut kinds, &mut inputs)?;
    let rules = Rules {
        kinds: &kinds,
        finite: options.repeat == Repeat::Sum,
        on_error: options.on_error,
        course: &course,
    };
    for input in &mut inputs {
        if input.table.is_some() {
            table::settle(input, options, &kinds, weighted)?;
            continue;
        }
        if input.xml.is_some() {
            graphml::settle(input, options, weighted)?;
            continue;
        }
        settle::settle(input, options, &kinds, weighted)?;
        matrix::settle(input, directed, weighted, &kinds)?;
        konect::check(input, &kinds)?;
    }
    let is_rich = |input: &Input| matches!(&input.content, Content::Edges(table) if table.is_rich());
    if options.repeat == Repeat::Sum && inputs.iter().any(is_rich) {
        let why =
            "--repeat sum: not with properties; --property names the columns of a table that become some";
        return Err(Error::Options(why.to_owned()));
    }
    let checks = existing.is_some() || inputs.iter().any(Input::names_labels);
    finish(target, options, existing, inputs, &rules, checks)
}

/// Loads the files of a network of LDBC, whose names and first lines state all that options do for others.
fn load_network(
    target: &Target<'_>,
    options: &LoadOptions,
    network: ldbc::Network,
    course: &Course<'_>,
) -> Result<(LoadReport, Graph), Error> {
    course.check()?;
    if options.repeat == Repeat::Sum {
        return Err(Error::Options("--repeat sum: LDBC's files have no weights".to_owned()));
    }
    let existing = target.open(&network.inputs, options)?;
    let keys = existing.as_ref().map(|graph| graph.config().keys).or(target.keys());
    let mut kinds = Kinds::of(existing.as_ref(), keys.unwrap_or(KeyKind::U64));
    let inputs = network.settle(&mut kinds)?;
    let rules = Rules { kinds: &kinds, finite: false, on_error: options.on_error, course };
    let checks = existing.is_some();
    finish(target, options, existing, inputs, &rules, checks)
}

/// Checks the rows of the inputs, if `checks` is true, and loads them.
fn finish(
    target: &Target<'_>,
    options: &LoadOptions,
    existing: Option<Graph>,
    mut inputs: Vec<Input>,
    rules: &Rules<'_>,
    checks: bool,
) -> Result<(LoadReport, Graph), Error> {
    rules.course.begin(inputs.iter(), checks)?;
    let mut rejects = Rejects::default();
    let before = existing.as_ref().map(Before::of).transpose()?;
    let mut seen = Existing::default();
    for input in inputs.iter_mut().filter(|_| checks) {
        let found = rows::validate(input, rules, &mut rejects, before.as_ref())?;
        input.labels = found.labels;
        seen += found.existing;
    }
    // Dropped here, so that it pins no versions that the load replaces.
    drop(before);
    let unchecked = (!checks).then_some(&mut rejects);
    let (loaded, graph) = match existing {
        Some(graph) => write::into_existing(graph, target.ending(), options, &inputs, rules)?,
        None => {
            let new = target.options(&inputs, options);
            write::into_new(new, target, options, &inputs, rules, unchecked)?
        }
    };
    let report = LoadReport::new(&loaded, seen, &inputs, rejects, rules.kinds.default_keys());
    Ok((report, graph))
}

/// Sets the kinds of the vertices in the files, as the options state them.
fn apply_kinds(options: &LoadOptions, kinds: &mut Kinds, inputs: &mut [Input]) -> Result<(), Error> {
    if let Some(name) = &options.kind {
        let is_end = [&options.from, &options.to].into_iter().flatten().any(|end| end == name);
        if !is_end && !inputs.iter().any(Input::has_vertices) {
            let why = "--kind: nothing uses this kind; give a file of vertices by --vertices or --format vertices, or name the kind by --from or --to";
            return Err(Error::Options(why.to_owned()));
        }
        let id = kinds.define(name, options.kind_keys)?;
        // The edges of GraphML join the nodes of the same file.
        let has_nodes = |input: &&mut Input| input.has_vertices() || input.xml.is_some();
        inputs.iter_mut().filter(has_nodes).for_each(|input| input.kind = id);
    }
    let (Some(from), Some(to)) = (&options.from, &options.to) else { return Ok(()) };
    if options.label.as_ref().is_some_and(String::is_empty) {
        return Err(Error::Options(
            "--from: the default label does not say the kinds of its ends".to_owned(),
        ));
    }
    let named = |option, name| match kinds.find(name) {
        Err(Error::Store(source)) => Err(Error::Kind { option, source }),
        found => found,
    };
    let ends = Ends::Stated([named("from", from)?, named("to", to)?]);
    for input in inputs {
        if let Content::Edges(table) = &mut input.content {
            table.ends = ends;
        }
    }
    Ok(())
}
