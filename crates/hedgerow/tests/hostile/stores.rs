//! The small sound stores that the tests damage.

use std::collections::BTreeMap;

use hedgerow::{KeyKind, Options};
use hedgerow_testkit::{Generator, Model, ModelConfig, SimFs};

use crate::common;

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A store, its states and its files after each commit.
pub(crate) struct Store {
    pub(crate) name: &'static str,
    pub(crate) config: ModelConfig,
    pub(crate) closed: bool,
    pub(crate) files: Files,
    pub(crate) states: Vec<Model>,
    pub(crate) earlier: Vec<Files>,
}

struct Kind {
    name: &'static str,
    directed: bool,
    weighted: bool,
    keys: KeyKind,
    rich: bool,
    one_way: bool,
    closed: bool,
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "labels",
        directed: true,
        weighted: true,
        keys: KeyKind::U64,
        rich: true,
        one_way: false,
        closed: true,
    },
    Kind {
        name: "undirected labels",
        directed: false,
        weighted: false,
        keys: KeyKind::Str,
        rich: true,
        one_way: false,
        closed: true,
    },
    Kind {
        name: "one way",
        directed: true,
        weighted: false,
        keys: KeyKind::Dense,
        rich: false,
        one_way: true,
        closed: true,
    },
    Kind {
        name: "weighted",
        directed: true,
        weighted: true,
        keys: KeyKind::Str,
        rich: false,
        one_way: false,
        closed: true,
    },
    Kind {
        name: "crashed",
        directed: false,
        weighted: true,
        keys: KeyKind::U64,
        rich: true,
        one_way: false,
        closed: false,
    },
];

/// Makes one store of each kind.
pub(crate) fn all(seed: u64) -> Vec<Store> {
    KINDS.iter().map(|kind| make(kind, seed)).collect()
}

fn make(kind: &Kind, seed: u64) -> Store {
    let Kind { name, directed, weighted, keys, rich, one_way, closed } = *kind;
    let config = ModelConfig { directed, weighted, keys, rich };
    let disk = SimFs::new();
    let options = common::options(config).reverse(!one_way).log_segment_bytes(4096);
    let graph = options.open_on(disk.handle()).unwrap();
    if rich {
        common::rich::define_all(&graph).unwrap();
    }
    let mut generator = Generator::new(config, seed, 0, 12);
    let mut model = Model::new(config);
    let (mut states, mut earlier) = (vec![model.clone()], Vec::new());
    for i in 0..8 {
        let mut tx = graph.write().unwrap();
        for op in generator.transaction(Some(&model), 12) {
            model.apply(&op);
            common::apply(&mut tx, weighted, &op).unwrap();
        }
        tx.commit().unwrap();
        states.push(model.clone());
        if i == 4 {
            graph.checkpoint().unwrap();
        }
        earlier.push(common::files_with_content(&disk));
    }
    if closed {
        graph.close().unwrap();
    }
    Store { name, config, closed, files: common::files_with_content(&disk), states, earlier }
}

impl Store {
    /// Returns the name of the last file with this extension.
    pub(crate) fn file(&self, extension: &str) -> &str {
        self.files.keys().rfind(|name| name.ends_with(extension)).expect("a file of every kind")
    }

    pub(crate) fn options(&self) -> Options {
        crate::common::small().create(false).background_settling(false)
    }
}
