//! The second reading of the files, which puts rows into transactions.

use std::collections::HashMap;
use std::path::Path;

use hedgerow::{EdgeKey, Graph, LabelOptions, Options, StorageError, Timestamp, Value, WriteTxn};
use hedgerow_export::text::is_vacant;

use super::args::{LoadArgs, OnError, Repeat};
use super::beside::{Sink, commit_beside};
use super::input::{Content, EdgeTable, Input};
use super::item::{EdgeItem, Item, Rules};
use super::kinds::{Ends, Kinds};
use super::passed::Passed;
use super::rejects::Rejects;
use super::rows::for_each;
use crate::error::CliError;

/// The result of a load.
#[derive(Clone, Debug)]
pub(super) struct Loaded {
    /// The number of committed rows.
    pub(super) rows: u64,
    /// The numbers of rows of edges, and of rows in tables of vertices, which are loaded first.
    pub(super) edge_rows: u64,
    pub(super) table_rows: u64,
    pub(super) new_vertices: u64,
    /// The number of new vertices that these tables defined.
    pub(super) table_vertices: u64,
    pub(super) new_edges: u64,
    pub(super) vertices: u64,
    pub(super) edges: u64,
    pub(super) transactions: u64,
    pub(super) timestamp: Timestamp,
    /// The size of the segment that the load's checkpoint wrote; `None` without a checkpoint.
    pub(super) segment_bytes: Option<u64>,
    /// The counts of text that was not loaded, for each file.
    pub(super) passed: Vec<Passed>,
}

/// Opens the store if it exists. Its type of keys decides which rows are malformed; and if another process
/// has locked it, the load fails before it reads.
pub(super) fn open_existing(args: &LoadArgs, options: Options) -> Result<Option<Graph>, CliError> {
    if is_vacant(&args.store) { Ok(None) } else { Ok(Some(options.create(false).open(&args.store)?)) }
}

/// Loads into an existing store. Transactions committed before a failure stay, and the error reports them.
pub(super) fn into_existing(
    graph: Graph,
    args: &LoadArgs,
    inputs: &[Input],
    rules: &Rules<'_>,
) -> Result<Loaded, CliError> {
    let mut loader = Loader::new(&graph, args, None);
    let result = loader.load(inputs, rules);
    let committed = loader.rows;
    if result.is_ok() {
        leave(graph);
    }
    result.map_err(|error| match (committed, error) {
        (0, error) => error,
        (rows, CliError::Interrupted { signal, .. }) => CliError::Interrupted { signal, committed: rows },
        (rows, error) => CliError::Failed(format!("{error} (the first {rows} rows are committed)")),
    })
}

/// Creates the store and loads into it. After a failure the store is removed, so the rows need no earlier
/// check. `unchecked` collects the malformed rows, if they were not checked.
pub(super) fn into_new(
    options: Options,
    args: &LoadArgs,
    inputs: &[Input],
    rules: &Rules<'_>,
    unchecked: Option<&mut Rejects>,
) -> Result<Loaded, CliError> {
    let existed = args.store.exists();
    let graph = match options.open(&args.store) {
        Ok(graph) => graph,
        Err(error @ hedgerow::Error::Storage(StorageError::DiskFull { .. } | StorageError::Io { .. })) => {
            remove(&args.store, existed);
            return Err(error.into());
        }
        // Another process created the store meanwhile: this load must not remove it.
        Err(error) => return Err(error.into()),
    };
    if graph.published_ts() != Timestamp::ZERO {
        return Err(CliError::Failed(format!(
            "{}: created by another process meanwhile",
            args.store.display()
        )));
    }
    let result = Loader::new(&graph, args, unchecked).load(inputs, rules);
    if result.is_err() {
        // The store is removed before the handle releases the lock, so that no other process can have opened
        // it.
        remove(&args.store, existed);
    } else {
        leave(graph);
    }
    result
}

/// Leaks the memory of a closed store. The process ends soon, and freeing the memory takes a tenth of the
/// time of a load.
fn leave(graph: Graph) {
    std::mem::forget(graph);
}

/// Removes a store that this load created. If its directory existed before, only the content is removed.
fn remove(store: &Path, existed: bool) {
    // Errors of the removal are ignored: the failure of the load is reported.
    for entry in std::fs::read_dir(store).into_iter().flatten().flatten() {
        let _ = std::fs::remove_file(entry.path());
    }
    if !existed {
        let _ = std::fs::remove_dir(store);
    }
}

/// A loader that gathers rows into transactions.
struct Loader<'a> {
    graph: &'a Graph,
    args: &'a LoadArgs,
    weighted: bool,
    /// The next rank of each label whose edges get ranks by counting.
    next_ranks: HashMap<String, u64>,
    /// The collector of malformed rows; `None` if the rows were checked before.
    unchecked: Option<&'a mut Rejects>,
    /// The sink for filled transactions; `None` if this thread commits them.
    sink: Option<Sink>,
    txn: Option<WriteTxn>,
    /// The number of rows in the transaction.
    pending: usize,
    rows: u64,
    /// The number of rows of edges that were read.
    edge_rows: u64,
    transactions: u64,
    /// The counts of text that was not loaded, for each file.
    passed: Vec<Passed>,
}

impl<'a> Loader<'a> {
    fn new(graph: &'a Graph, args: &'a LoadArgs, unchecked: Option<&'a mut Rejects>) -> Loader<'a> {
        Loader {
            graph,
            args,
            weighted: graph.config().weighted,
            next_ranks: HashMap::new(),
            unchecked,
            sink: None,
            txn: None,
            pending: 0,
            rows: 0,
            edge_rows: 0,
            transactions: 0,
            passed: Vec::new(),
        }
    }

    /// Defines the kinds, labels and properties of the files before any row is loaded. The store refuses
    /// definitions that contradict its own.
    fn define(&mut self, inputs: &[Input], kinds: &Kinds) -> Result<(), CliError> {
        for input in inputs {
            let Content::Edges(table) = &input.content else { continue };
            for label in table.label.iter().chain(&input.labels) {
                kinds.check_ends(table.ends, label)?;
            }
        }
        kinds.define_in(self.graph)?;
        for input in inputs {
            match &input.content {
                Content::Vertices => {}
                Content::VertexTable(_, properties) => {
                    for (name, kind) in properties {
                        self.graph.define_vertex_property(input.kind, name, kind.property)?;
                    }
                }
                Content::Edges(table) => {
                    for label in table.label.iter().chain(&input.labels) {
                        self.define_label(table, label)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn define_label(&mut self, table: &EdgeTable, label: &str) -> Result<(), CliError> {
        if !table.is_rich() {
            return Ok(());
        }
        let is_multi = || self.graph.schema().label(label).is_some_and(hedgerow::Label::is_multi);
        let mut options = LabelOptions::new().multi(table.multi.unwrap_or_else(is_multi));
        if let Ends::Stated([from, to]) = table.ends {
            options = options.ends(from, to);
        }
        for (name, kind) in &table.properties {
            options = options.property(name, kind.property);
        }
        self.graph.define_label(label, options)?;
        if table.is_counted() {
            let next = self.graph.snapshot()?.edge_count_of(label)?;
            self.next_ranks.insert(label.to_owned(), next);
        }
        Ok(())
    }

    fn load(&mut self, inputs: &[Input], rules: &Rules<'_>) -> Result<Loaded, CliError> {
        let before = self.graph.snapshot()?;
        let (vertices, edges) = (before.vertex_count(), before.edge_count()?);
        drop(before);
        self.define(inputs, rules.kinds)?;
        // The vertices that tables define are counted before edges are loaded, which define vertices too.
        let tables = inputs.iter().take_while(|input| input.has_vertices()).count();
        let (tables, others) = inputs.split_at(tables);
        self.read_all(tables, rules)?;
        let (table_rows, table_vertices) = (self.rows, self.graph.snapshot()?.vertex_count());
        self.read_all(others, rules)?;
        rules.interrupts.check()?;
        let segment_bytes = if self.args.no_checkpoint {
            // `--no-checkpoint` also applies to closing the store.
            self.graph.internals().skip_checkpoint_at_close();
            self.graph.flush()?;
            None
        } else {
            Some(self.graph.checkpoint()?.bytes)
        };
        // A signal does not interrupt the checkpoint.
        rules.interrupts.check()?;
        let after = self.graph.snapshot()?;
        let loaded = Loaded {
            rows: self.rows,
            edge_rows: self.edge_rows,
            table_rows,
            table_vertices: table_vertices.saturating_sub(vertices),
            new_vertices: after.vertex_count().saturating_sub(vertices),
            new_edges: after.edge_count()?.saturating_sub(edges),
            vertices: after.vertex_count(),
            edges: after.edge_count()?,
            transactions: self.transactions,
            timestamp: after.timestamp(),
            segment_bytes,
            passed: std::mem::take(&mut self.passed),
        };
        drop(after);
        self.graph.close()?;
        Ok(loaded)
    }

    fn read_all(&mut self, inputs: &[Input], rules: &Rules<'_>) -> Result<(), CliError> {
        if inputs.is_empty() {
            return Ok(());
        }
        if self.is_blind(inputs) { self.read_beside(inputs, rules) } else { self.read(inputs, rules) }
    }

    /// True if no transaction reads what another transaction wrote.
    fn is_blind(&self, inputs: &[Input]) -> bool {
        self.args.repeat == Repeat::Last
            && !inputs.iter().any(|input| matches!(input.content, Content::Vertices))
    }

    /// Reads the files like [`read`](Self::read), but commits on another thread.
    fn read_beside(&mut self, inputs: &[Input], rules: &Rules<'_>) -> Result<(), CliError> {
        let (committed, read) = commit_beside(|sink| {
            self.sink = sink;
            let read = self.read(inputs, rules);
            self.sink = None;
            read
        });
        self.rows += committed.rows;
        self.transactions += committed.transactions;
        committed.error.map_or(read, |error| Err(error.into()))
    }

    /// Reads the files into transactions.
    fn read(&mut self, inputs: &[Input], rules: &Rules<'_>) -> Result<(), CliError> {
        let mut unchecked = self.unchecked.take();
        for input in inputs {
            let passed = for_each(
                input,
                rules,
                "loading",
                |item| self.add(item),
                |line, reason| match (&mut unchecked, rules.on_error) {
                    (Some(rejects), on_error) => rejects.add(input, line, reason, on_error),
                    // The row passed the check, but is malformed now.
                    (None, OnError::Raise) => Err(CliError::Failed(format!(
                        "{}:{line}: {reason}; the file has changed",
                        input.path.display()
                    ))),
                    (None, OnError::Skip | OnError::Collect) => Ok(()),
                },
            )?;
            self.passed.push(passed);
        }
        self.unchecked = unchecked;
        self.commit()
    }

    fn add(&mut self, item: Item<'_>) -> Result<(), CliError> {
        self.edge_rows += u64::from(matches!(item, Item::Edge(..)));
        let txn = match &mut self.txn {
            Some(txn) => txn,
            none => none.insert(self.graph.write()?),
        };
        match item {
            Item::Vertex(key) => {
                txn.insert_vertex(key)?;
            }
            Item::VertexRow(key, properties, values) => {
                let cells = properties.iter().map(|(name, _)| name).zip(values);
                let cells = cells.filter(|(_, value)| !value.is_null()).map(|(n, v)| (n, v.clone()));
                txn.put_vertex_with(key, cells)?;
            }
            Item::Edge(edge, table) if table.is_rich() => {
                let counted = self.next_ranks.get_mut(edge.label).filter(|_| table.is_counted());
                let rank = counted.map(|next| std::mem::replace(next, *next + 1)).or(edge.rank);
                put_rich(txn, self.args, table, &edge, rank.unwrap_or(0))?;
            }
            Item::Edge(EdgeItem { src, dst, .. }, _) if !self.weighted => txn.put_edge((src, dst))?,
            Item::Edge(EdgeItem { src, dst, weight, .. }, _) => match self.args.repeat {
                Repeat::Last => txn.put_edge((src, dst, weight))?,
                Repeat::First => {
                    txn.insert_edge((src, dst, weight))?;
                }
                Repeat::Sum => {
                    let sum = match txn.edge_property((src, dst), "weight")? {
                        Some(Value::F64(old)) => old + weight,
                        _ => weight,
                    };
                    txn.put_edge((src, dst, sum))?;
                }
            },
        }
        self.pending += 1;
        if self.args.batch != 0 && self.pending >= self.args.batch { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), CliError> {
        let Some(txn) = self.txn.take() else { return Ok(()) };
        let rows = std::mem::take(&mut self.pending) as u64;
        if let Some(sink) = &self.sink {
            // The error of the failed commit is reported.
            return sink.send((txn, rows)).map_err(|_| CliError::Failed("a commit failed".to_owned()));
        }
        txn.commit()?;
        self.transactions += 1;
        self.rows += rows;
        Ok(())
    }
}

/// Puts an edge with label, rank and properties, including its weight.
fn put_rich(
    txn: &mut WriteTxn,
    args: &LoadArgs,
    table: &EdgeTable,
    edge: &EdgeItem<'_>,
    rank: u64,
) -> Result<(), CliError> {
    let weight = table.weighted.then_some(("weight", Value::F64(edge.weight)));
    let cells = table.properties.iter().map(|(name, _)| name.as_str()).zip(edge.values.iter().cloned());
    let cells = weight.into_iter().chain(cells.filter(|(_, value)| !value.is_null()));
    let key = EdgeKey::new(edge.label, edge.src, edge.dst).rank(rank);
    if args.repeat == Repeat::First {
        txn.insert_edge_with(key, cells)?;
    } else {
        txn.put_edge_with(key, cells)?;
    }
    Ok(())
}
