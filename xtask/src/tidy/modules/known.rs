//! The exceptions of the checks of modules: known cycles, and the module rooms of crates. No other file
//! repeats them.

/// A known cycle of modules of a crate, which a later change must cut.
#[derive(Debug)]
pub(in crate::tidy) struct KnownCycle {
    pub(in crate::tidy) krate: &'static str,
    /// The modules of the cycle, sorted.
    pub(in crate::tidy) modules: &'static [&'static str],
    /// The reason for the cycle, and a plan to cut it.
    pub(in crate::tidy) plan: &'static str,
}

/// The top-level modules of a crate. The list has each module before the modules that use it.
#[derive(Debug)]
pub(in crate::tidy) struct Rooms {
    pub(in crate::tidy) krate: &'static str,
    pub(in crate::tidy) rooms: &'static [Room],
}

/// A top-level module. `lib` is the code of the root file.
#[derive(Debug)]
pub(in crate::tidy) struct Room {
    pub(in crate::tidy) name: &'static str,
    /// The other top-level modules whose items the code of this module may name.
    pub(in crate::tidy) may_use: &'static [&'static str],
}

/// The known cycles, as a ratchet. A change that cuts an arrow shortens or removes its entry. No change may
/// add a module or an entry.
pub(in crate::tidy) const KNOWN_CYCLES: &[KnownCycle] = &[];

/// The crates with module rooms.
pub(in crate::tidy) const ROOMS: &[Rooms] = &[
    Rooms {
        krate: "hedgerow-engine",
        rooms: &[
            room("config", &[]),
            room("options", &["config"]),
            room("files", &[]),
            room("state", &["config", "files", "options"]),
            room("read", &["state"]),
            room("commit", &["config", "files", "read", "state"]),
            room("durable", &["config", "files", "state"]),
            room("background", &["durable", "state"]),
            room("open", &["background", "config", "durable", "files", "options", "state"]),
            room("graph", &["background", "commit", "durable", "open", "options", "read", "state"]),
            room("stats", &["durable", "graph"]),
            room("tools", &["durable", "files", "graph", "open", "options", "read", "state"]),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-core",
        rooms: &[
            room("account", &[]),
            room("faults", &[]),
            room("fork", &[]),
            room("growing", &[]),
            room("id", &[]),
            room("key", &[]),
            room("property", &[]),
            room("simd", &["id"]),
            room("spans", &[]),
            room("suggest", &[]),
            room("sync", &[]),
            room("time", &[]),
            room("config", &["key"]),
            room("key_column", &["key"]),
            room("row", &["property"]),
            room("column", &["property", "row"]),
            room("row_ref", &["column", "property", "row"]),
            room("assemble", &["column", "property", "row_ref"]),
            room("predicate", &["column", "property", "row_ref", "simd"]),
            room("op", &["id", "key", "property"]),
            room("search", &["id", "simd"]),
            room("view", &["id", "search"]),
            room("changes", &["id", "view"]),
            room("dynamic", &["id", "time", "view"]),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-io",
        rooms: &[
            room("vfs", &[]),
            room("blocks", &[]),
            room("checksum", &[]),
            room("codec", &[]),
            room("failpoint", &[]),
            room("lsn", &[]),
            room("machine", &[]),
            room("header", &["checksum", "codec"]),
            room("error", &["header"]),
            room("counting", &["vfs"]),
            room("dir", &["blocks", "error", "vfs"]),
            room("read_pool", &["blocks", "dir", "error"]),
            room("real", &["blocks", "vfs"]),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-log",
        rooms: &[
            room("record", &[]),
            room("row", &[]),
            room("segment", &["record"]),
            room("ops", &["record", "row"]),
            room("reserve", &[]),
            room("writer", &["record", "reserve", "segment"]),
            room("recover", &["ops", "record", "segment"]),
            room("resume", &["record", "recover", "segment", "writer"]),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-mem",
        rooms: &[
            room("patch_sizes", &[]),
            room("arena", &["patch_sizes"]),
            room("op", &[]),
            room("items", &[]),
            room("reclaim", &[]),
            room("takings", &[]),
            room("change", &["op"]),
            room("delta", &["arena", "items", "op"]),
            room("main_part", &["arena", "items"]),
            room("patch", &["change", "items", "main_part", "op"]),
            room("merge", &["arena", "change", "items", "main_part", "op", "patch"]),
            room("grace", &["arena", "delta", "items", "main_part", "patch"]),
            room("keys", &["grace"]),
            room(
                "version",
                &["arena", "change", "delta", "grace", "items", "main_part", "merge", "op", "patch"],
            ),
            room(
                "fold",
                &["arena", "change", "delta", "grace", "main_part", "merge", "op", "patch", "version"],
            ),
            room(
                "subgraph",
                &["arena", "delta", "fold", "grace", "items", "main_part", "op", "reclaim", "version"],
            ),
            room("table", &["arena", "grace", "subgraph"]),
            room(
                "view",
                &["arena", "change", "grace", "items", "main_part", "op", "subgraph", "table", "version"],
            ),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-catalog",
        rooms: &[
            room("directions", &[]),
            room("error", &[]),
            room("label", &[]),
            room("kinds", &["error"]),
            room("schema", &["error", "kinds", "label"]),
            room("schema_cell", &["schema"]),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-pager",
        rooms: &[
            room("budget", &[]),
            room("ids", &[]),
            room("limits", &[]),
            room("sources", &[]),
            room("tables", &[]),
            room("order", &["tables"]),
            room("eviction", &["order", "sources"]),
            room("pager", &["budget", "eviction", "ids", "limits", "order", "sources", "tables"]),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-tier",
        rooms: &[
            room("bytes", &[]),
            room("config", &[]),
            room("id", &[]),
            room("error", &["id"]),
            room("packed", &["bytes"]),
            room("temporary", &["error"]),
            room("sorter", &["error", "temporary"]),
            room("segment", &["bytes", "config", "error", "id", "packed", "sorter", "temporary"]),
            room("manifest", &["bytes", "config", "error", "id", "segment"]),
            room("lib", &[]),
        ],
    },
    Rooms {
        krate: "hedgerow-workload",
        rooms: &[
            room("rng", &[]),
            room("csr", &[]),
            room("data", &[]),
            room("read", &[]),
            room("generate", &["rng"]),
            room("linkbench", &["rng"]),
            room("spec", &["csr", "data", "generate", "read"]),
            room("stream", &["read", "rng"]),
            room("scheduler", &["stream"]),
            room("replay", &["rng", "spec", "stream"]),
            room("lib", &[]),
        ],
    },
];

const fn room(name: &'static str, may_use: &'static [&'static str]) -> Room {
    Room { name, may_use }
}
