//! The store that a load fills: one that the caller has open, or a path.

use std::path::Path;

use hedgerow::{Graph, KeyKind, Options};
use hedgerow_export::text::is_vacant;

use crate::Error;
use crate::input::Input;
use crate::options::{LoadOptions, StoreOptions};

/// The store of a load.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// A store that the caller has open.
    Open(&'a Graph),
    /// A directory, which may have a store.
    At(&'a Path, &'a StoreOptions),
}

/// The end of a successful load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Leaves the store open.
    Leave,
    /// Writes a checkpoint, and closes the store.
    Checkpoint,
    /// Closes the store without a checkpoint.
    Flush,
}

impl<'a> Target<'a> {
    /// True if the load creates the store.
    pub(crate) fn is_new(self) -> bool {
        matches!(self, Target::At(path, _) if is_vacant(path))
    }

    fn store(self) -> Option<&'a StoreOptions> {
        match self {
            Target::Open(_) => None,
            Target::At(_, store) => Some(store),
        }
    }

    /// True if the options of the store state if edges have a direction.
    pub(crate) fn states_direction(self) -> bool {
        self.store().is_some_and(|store| store.directed.is_some())
    }

    /// Returns the type of keys that the options state.
    pub(crate) fn keys(self) -> Option<KeyKind> {
        self.store()?.keys
    }

    pub(crate) fn ending(self) -> Ending {
        match self.store() {
            None => Ending::Leave,
            Some(store) if store.checkpoint => Ending::Checkpoint,
            Some(_) => Ending::Flush,
        }
    }

    /// Returns an option of the store that an export decides, if the options have one.
    pub(crate) fn foreign_option(self) -> Option<&'static str> {
        let store = self.store()?;
        let given = [
            ("--directed", store.directed == Some(true)),
            ("--undirected", store.directed == Some(false)),
            ("--no-reverse", !store.reverse),
            ("--keys", store.keys.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Returns true if edges have a direction; `None` if neither an option nor a file states it.
    fn direction(self, inputs: &[Input]) -> Option<bool> {
        let is_new = self.is_new();
        let stated = || inputs.iter().find_map(|input| input.direction(is_new));
        self.store().and_then(|store| store.directed).or_else(stated)
    }

    /// True if edges of a new store have a direction.
    pub(crate) fn is_directed(self, inputs: &[Input]) -> bool {
        self.direction(inputs).unwrap_or(true)
    }

    /// Returns the options of the store. An existing store determines those that are left open.
    pub(crate) fn options(self, inputs: &[Input], load: &LoadOptions) -> Options {
        let mut options = self.with_files(Options::new());
        if let Some(directed) = self.direction(inputs) {
            options = options.directed(directed);
        }
        if let Some(kind) = self.keys() {
            options = options.keys(kind);
        }
        if self.store().is_some_and(|store| !store.reverse) {
            options = options.reverse(false);
        }
        if is_weighted(load, inputs) && !is_labelled(load) {
            options = options.weighted(true);
        }
        options
    }

    /// Adds to `options` those that do not depend on the files.
    pub(crate) fn with_files(self, options: Options) -> Options {
        let Some(store) = self.store() else { return options };
        let options = options.durability(store.durability);
        store.mode.map_or(options.clone(), |mode| options.mode(mode))
    }

    /// Opens the store if it exists. Its type of keys decides which rows are malformed; and if another
    /// process has locked it, the load fails before it reads. An open store must be as the files state.
    pub(crate) fn open(self, inputs: &[Input], load: &LoadOptions) -> Result<Option<Graph>, Error> {
        match self {
            Target::At(..) => self.open_with(self.options(inputs, load)),
            Target::Open(graph) => {
                self.check(graph, inputs, load)?;
                Ok(Some(graph.clone()))
            }
        }
    }

    /// Opens the store with these options, if it exists.
    pub(crate) fn open_with(self, options: Options) -> Result<Option<Graph>, Error> {
        match self {
            Target::Open(graph) => Ok(Some(graph.clone())),
            Target::At(path, _) if is_vacant(path) => Ok(None),
            Target::At(path, _) => Ok(Some(options.create(false).open(path)?)),
        }
    }

    fn check(self, graph: &Graph, inputs: &[Input], load: &LoadOptions) -> Result<(), Error> {
        let config = graph.config();
        let differs = |input: &&Input| input.direction(false).is_some_and(|stated| stated != config.directed);
        if let Some(input) = inputs.iter().find(differs) {
            let [file, store] =
                if config.directed { ["no direction", "one"] } else { ["a direction", "none"] };
            return Err(Error::file(
                &input.path,
                format!("its edges have {file}, those of the store have {store}"),
            ));
        }
        if !is_weighted(load, inputs) || is_labelled(load) || config.weighted {
            return Ok(());
        }
        let hint = "edges of this store have none; --label NAME makes them a property of a label";
        match inputs.iter().find(|input| input.weighted) {
            Some(input) => Err(Error::file(&input.path, format!("its edges have weights, and {hint}"))),
            None => {
                let option = if load.weighted { "--weighted" } else { "--weight-col" };
                Err(Error::Options(format!("{option}: {hint}")))
            }
        }
    }
}

/// True if the edges get a label other than the default one.
pub(crate) fn is_labelled(options: &LoadOptions) -> bool {
    options.label_column.is_some() || options.label.as_ref().is_some_and(|label| !label.is_empty())
}

/// True if the load reads weights: because of an option, a column, or the format of a file.
pub(crate) fn is_weighted(options: &LoadOptions, inputs: &[Input]) -> bool {
    options.weighted || options.weight_col.is_some() || inputs.iter().any(|input| input.weighted)
}
