//! Messages of a running ingestion to its parent: one JSON object per line on the child's standard output.

use serde_json::{Value, json};

use hedgerow_report::failure::{Context, Result};

/// A report of the child. Times are seconds since the child started, unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// The state of the ingestion, several times a second.
    Sample(Sample),
    /// One round of the analyst.
    Analysis(Analysis),
    /// A checkpoint was written.
    Checkpoint {
        /// The time that the checkpoint took.
        taken: f64,
        /// The timestamp of the checkpoint.
        timestamp: u64,
        /// The size of the segment.
        bytes: u64,
    },
    /// The measurements on the live store at the end of the stream: name, value, unit.
    Final(Vec<(String, f64, String)>),
}

/// The state of the ingestion at one moment. `commits` was read before `syncs`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    pub(crate) at: f64,
    /// The number of this child's commits that wrote something, and therefore had to be synced.
    pub(crate) commits: u64,
    /// The number of fsync and fdatasync calls of this child's store.
    pub(crate) syncs: u64,
    pub(crate) conflicts: u64,
    /// The memory of the process.
    pub(crate) resident_bytes: u64,
    /// The part of this memory that the store accounts for.
    pub(crate) store_bytes: u64,
}

/// The results of the analyst on one snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Analysis {
    pub(crate) at: f64,
    /// The time from opening the snapshot to the last result.
    pub(crate) taken: f64,
    /// The time to open the snapshot.
    pub(crate) opened: f64,
    /// The number of commits published since the snapshot was opened.
    pub(crate) behind: u64,
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
    pub(crate) components: u64,
    /// Keys and scores of the top PageRank vertices.
    pub(crate) top: Vec<(String, f64)>,
}

impl Message {
    /// Returns the message as a line of JSON, without the line break.
    pub(crate) fn to_line(&self) -> String {
        match self {
            Message::Sample(s) => json!({
                "kind": "sample", "at": s.at, "commits": s.commits, "syncs": s.syncs, "conflicts": s.conflicts,
                "resident_bytes": s.resident_bytes, "store_bytes": s.store_bytes,
            }),
            Message::Analysis(a) => json!({
                "kind": "analysis", "at": a.at, "taken": a.taken, "opened": a.opened, "behind": a.behind,
                "vertices": a.vertices, "edges": a.edges, "components": a.components, "top": a.top,
            }),
            Message::Checkpoint { taken, timestamp, bytes } => json!({
                "kind": "checkpoint", "taken": taken, "timestamp": timestamp, "bytes": bytes,
            }),
            Message::Final(figures) => json!({ "kind": "final", "figures": figures }),
        }
        .to_string()
    }

    /// Parses a line of [`to_line`](Self::to_line).
    pub(crate) fn parse(line: &str) -> Result<Message> {
        let value: Value = serde_json::from_str(line).context(format!("message of the child {line:?}"))?;
        let number = |name: &str| value[name].as_f64().unwrap_or(f64::NAN);
        let count = |name: &str| value[name].as_u64().unwrap_or(0);
        Ok(match value["kind"].as_str() {
            Some("sample") => Message::Sample(Sample {
                at: number("at"),
                commits: count("commits"),
                syncs: count("syncs"),
                conflicts: count("conflicts"),
                resident_bytes: count("resident_bytes"),
                store_bytes: count("store_bytes"),
            }),
            Some("analysis") => Message::Analysis(Analysis {
                at: number("at"),
                taken: number("taken"),
                opened: number("opened"),
                behind: count("behind"),
                vertices: count("vertices"),
                edges: count("edges"),
                components: count("components"),
                top: list(&value["top"], |item| Some((item[0].as_str()?.to_owned(), item[1].as_f64()?))),
            }),
            Some("checkpoint") => Message::Checkpoint {
                taken: number("taken"),
                timestamp: count("timestamp"),
                bytes: count("bytes"),
            },
            Some("final") => Message::Final(list(&value["figures"], |item| {
                Some((item[0].as_str()?.to_owned(), item[1].as_f64()?, item[2].as_str()?.to_owned()))
            })),
            _ => return Err(format!("message of the child {line:?} has no known kind").into()),
        })
    }
}

fn list<T>(value: &Value, item: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    value.as_array().into_iter().flatten().filter_map(item).collect()
}
