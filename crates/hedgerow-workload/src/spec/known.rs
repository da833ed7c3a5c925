//! The data sets that can be loaded as graphs by name.

use std::path::Path;

use super::load;
use super::loaded::{LoadError, LoadedGraph};
use crate::read::{Column, EdgeFormat};

/// A data set and its format.
pub(super) struct Known {
    /// Its folder below the data folder.
    pub(super) folder: &'static str,
    file: &'static str,
    directed: bool,
    columns: Columns,
}

/// The content of the columns after source and destination.
#[derive(Clone, Copy, PartialEq)]
enum Columns {
    Pair,
    Weight,
    Time,
    WeightTime,
    /// Columns below a first line with counts.
    AfterCounts,
    /// A vertex file beside the edge file.
    Graphalytics,
}

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    Known { folder: "static/law-cnr-2000", file: "cnr-2000.txt.zst", directed: true, columns: Columns::Pair },
    Known { folder: "static/snap-soc-Slashdot0902", file: "soc-slashdot0902-directed.csv.zst", directed: true, columns: Columns::AfterCounts },
    Known { folder: "static/dimacs9-road-NY", file: "NY.gr.zst", directed: false, columns: Columns::Pair },
    Known { folder: "static/dimacs9-road-FLA", file: "FLA.gr.zst", directed: false, columns: Columns::Pair },
    Known { folder: "static/dimacs9-rome99", file: "rome99.gr", directed: true, columns: Columns::Weight },
    Known { folder: "static/snap-ego-Facebook", file: "facebook_combined.txt.zst", directed: false, columns: Columns::Pair },
    Known { folder: "temporal/snap-sx-mathoverflow", file: "sx-mathoverflow.txt.zst", directed: true, columns: Columns::Time },
    Known { folder: "temporal/snap-email-Eu-core-temporal", file: "email-Eu-core-temporal.txt.zst", directed: true, columns: Columns::Time },
    Known { folder: "temporal/snap-CollegeMsg", file: "CollegeMsg.txt.zst", directed: true, columns: Columns::Time },
    Known { folder: "temporal/snap-soc-sign-bitcoin-otc", file: "edges.csv.zst", directed: true, columns: Columns::WeightTime },
    Known { folder: "expected/graphscope-p2p-Gnutella31", file: "p2p-31.e.zst", directed: true, columns: Columns::Graphalytics },
];

/// Returns the data set whose folder is `name`. A Graphalytics test graph is no folder of its own: its name
/// is `file:PATH.properties`.
pub(super) fn find(name: &str) -> Result<&'static Known, LoadError> {
    KNOWN.iter().find(|known| known.folder == name).ok_or_else(|| {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.folder).collect();
        LoadError::UnknownData { name: name.to_owned(), known: names.join(", ") }
    })
}

impl Known {
    pub(super) fn load(&self, name: String, folder: &Path) -> Result<LoadedGraph, LoadError> {
        let path = folder.join(self.file);
        let column = |at| Some(Column::Index(at));
        let mut format = EdgeFormat::of_path(&path);
        match self.columns {
            Columns::Graphalytics => {
                let vertices = folder.join(self.file.replace(".e.", ".v."));
                return load::vertices_and_edges(name, &vertices, &path, self.directed);
            }
            Columns::Pair => {}
            Columns::Weight => format.weight = column(2),
            Columns::Time => format.time = column(2),
            Columns::WeightTime => (format.weight, format.time) = (column(2), column(3)),
            Columns::AfterCounts => format.skip_lines = 1,
        }
        load::edges(name, &path, &format, self.directed)
    }
}
