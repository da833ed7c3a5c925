//! Counts of the text in a file that a load skips or changes, for the summary.

use hedgerow::KeyKind;
use hedgerow_workload::read::{EdgeReader, Row, Syntax};

/// The maximal number of left-out columns that a note names.
const MAX_NAMED: usize = 5;

/// Counts of the fields and lines that were left out or changed, in rows that could be loaded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passed {
    /// The lines that were treated as comments.
    pub(crate) comments: u64,
    /// True if the format of the file defines comments.
    stated: bool,
    /// The rows with a time. Times are checked, but not stored.
    pub(crate) times: u64,
    /// The rows with a weight in a store without weights.
    pub(crate) weights: u64,
    /// The rows without a weight in a store with weights, where it becomes 1.
    pub(crate) unweighted: u64,
    /// The lines with more text after the key of a vertex.
    pub(crate) behind_keys: u64,
    /// The times that are finer than microseconds, and were cut.
    pub(crate) cut_times: u64,
    /// The rows with a key of text from which spaces were trimmed.
    pub(crate) trimmed: u64,
    /// The rows with a numeric key that has leading zeros or a plus sign, and the first such key.
    pub(crate) respelled: u64,
    first: Option<String>,
    /// The number of arcs that a DIMACS file states, and the number that it contains, if they differ.
    other_arcs: Option<(u64, u64)>,
    /// The positions of the columns of time and weight, from 0.
    time_column: Option<usize>,
    weight_column: Option<usize>,
    /// The names of left-out columns for messages, and the number of these columns.
    columns: Vec<String>,
    column_count: usize,
    first_column: usize,
    /// Further notes.
    pub(crate) others: Vec<String>,
}

impl Passed {
    /// Counts the fields that an edge loses when it is loaded. `weighted` is true if weights are read; `cut`
    /// is the number of times that were cut.
    pub(crate) fn edge(&mut self, row: &Row<'_>, weighted: bool, cut: u64) {
        self.times += u64::from(row.time.is_some());
        self.weights += u64::from(row.weight.is_some() && !weighted);
        self.unweighted += u64::from(row.weight.is_none() && weighted);
        self.cut_times += cut;
    }

    /// Counts a key that is not spelled as the store returns it; `keys` is the type of keys of its kind.
    pub(crate) fn key(&mut self, keys: KeyKind, text: &str) {
        // This runs for every key: two bytes decide most cases.
        let is_respelled = matches!(text.as_bytes(), [b'+', ..] | [b'0', _, ..]);
        if is_respelled && keys != KeyKind::Str {
            self.respelled += 1;
            self.first.get_or_insert_with(|| text.chars().take(40).collect());
        }
    }

    /// Takes over the counts of the reader when the file was read.
    pub(crate) fn finish(&mut self, reader: &EdgeReader) {
        self.comments = reader.comments();
        self.other_arcs = reader.other_arcs();
        self.stated = reader.syntax() != Syntax::Rows;
        (self.weight_column, self.time_column) = (reader.column(2), reader.column(3));
        for (at, name) in reader.columns_left_out() {
            if self.column_count == 0 {
                self.first_column = at;
            }
            self.column_count += 1;
            if self.columns.len() < MAX_NAMED {
                let named = name.map(|name| format!(" ({name})")).unwrap_or_default();
                self.columns.push(format!("{}{named}", at + 1));
            }
        }
    }

    /// Returns the notes of the summary, a sentence each. For a file of edges they name the option that loads
    /// a left-out column.
    pub(crate) fn notes(&self, of_edges: bool) -> Vec<String> {
        let mut notes = self.others.clone();
        if self.comments > 0 && !self.stated {
            let (lines, are) = plural(self.comments, "line is", "lines are");
            notes.push(format!("{lines} {are} left out as comments; --comment none makes rows of them"));
        }
        if self.column_count > 0 {
            let more = self.column_count - self.columns.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let (columns, are) = if self.column_count == 1 { ("column", "is") } else { ("columns", "are") };
            let (shown, first) = (self.columns.join(", "), self.first_column + 1);
            let keep =
                if of_edges { format!("; --property NAME:TYPE={first} keeps it") } else { String::new() };
            notes.push(format!("{columns} {shown}{more} {are} left out{keep}"));
        }
        if let Some(at) = self.time_column.filter(|_| self.times > 0) {
            let keep = format!("--property NAME:timestamp_s={} keeps them", at + 1);
            notes.push(format!("times in column {} are left out; {keep}", at + 1));
        }
        if let Some(at) = self.weight_column.filter(|_| self.weights > 0) {
            let keep = format!("--property NAME:f64={} keeps them", at + 1);
            notes.push(format!("weights in column {} are left out, the store has none; {keep}", at + 1));
        }
        if self.unweighted > 0 {
            let (rows, have) = plural(self.unweighted, "row has", "rows have");
            let get = if self.unweighted == 1 { "gets" } else { "get" };
            notes.push(format!("{rows} {have} no weight and {get} 1"));
        }
        if self.behind_keys > 0 {
            let (lines, have) = plural(self.behind_keys, "line has", "lines have");
            notes.push(format!(
                "{lines} {have} more behind the key, which is left out; --vertices reads properties"
            ));
        }
        if let Some((said, found)) = self.other_arcs {
            notes.push(format!("the problem line says {said} arcs, the file has {found}"));
        }
        if self.cut_times > 0 {
            let (times, are) = plural(self.cut_times, "time is", "times are");
            notes.push(format!("{times} {are} cut to microseconds"));
        }
        if self.trimmed > 0 {
            let (rows, have) = plural(self.trimmed, "row has", "rows have");
            notes.push(format!("{rows} {have} blanks around a key, which are left out; quotes keep them"));
        }
        if let Some(first) = &self.first {
            let (keys, are) = plural(self.respelled, "key is", "keys are");
            let what = "written with leading zeros or a plus sign and read as numbers";
            notes.push(format!("{keys} {are} {what}, the first {first}; --keys str keeps them apart"));
        }
        notes
    }
}

/// Returns a number with its noun, and the verb that follows.
fn plural(count: u64, one: &'static str, many: &'static str) -> (String, &'static str) {
    let (noun, verb) = if count == 1 { one } else { many }.split_once(' ').unwrap_or_default();
    (format!("{count} {noun}"), verb)
}
