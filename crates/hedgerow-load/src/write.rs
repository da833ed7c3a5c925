//! The second reading of the files, which puts rows into transactions.

use std::collections::HashMap;
use std::path::Path;

use hedgerow::{EdgeKey, Graph, LabelOptions, Options, StorageError, Timestamp, Value, WriteTxn};

use crate::Error;
use crate::beside::{Sink, commit_beside};
use crate::input::{Content, EdgeTable, Input};
use crate::item::{EdgeItem, Item, Rules};
use crate::kinds::{Ends, Kinds};
use crate::options::{LoadOptions, OnError, Repeat};
use crate::passed::Passed;
use crate::rejects::Rejects;
use crate::rows::for_each;
use crate::target::{Ending, Target};

/// The result of a load.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The number of committed rows.
    pub(crate) rows: u64,
    /// The numbers of rows of edges, and of rows in tables of vertices, which are loaded first.
    pub(crate) edge_rows: u64,
    pub(crate) table_rows: u64,
    pub(crate) new_vertices: u64,
    /// The number of new vertices that these tables defined.
    pub(crate) table_vertices: u64,
    pub(crate) new_edges: u64,
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
    pub(crate) transactions: u64,
    pub(crate) timestamp: Timestamp,
    /// The size of the segment that the load's checkpoint wrote; `None` without a checkpoint.
    pub(crate) segment_bytes: Option<u64>,
    /// The counts of text that was not loaded, for each file.
    pub(crate) passed: Vec<Passed>,
}

/// Loads into an existing store, and returns it. Transactions committed before a failure stay, and the error
/// reports them.
pub(crate) fn into_existing(
    graph: Graph,
    ending: Ending,
    options: &LoadOptions,
    inputs: &[Input],
    rules: &Rules<'_>,
) -> Result<(Loaded, Graph), Error> {
    let mut loader = Loader::new(&graph, options, None);
    let result = loader.load(ending, inputs, rules);
    let rows = loader.rows;
    match result {
        Ok(loaded) => Ok((loaded, graph)),
        Err(error) if rows == 0 => Err(error),
        Err(error) => Err(Error::Committed { rows, source: Box::new(error) }),
    }
}

/// Creates the store and loads into it. After a failure the store is removed, so the rows need no earlier
/// check. `unchecked` collects the malformed rows, if they were not checked.
pub(crate) fn into_new(
    new: Options,
    target: &Target<'_>,
    options: &LoadOptions,
    inputs: &[Input],
    rules: &Rules<'_>,
    unchecked: Option<&mut Rejects>,
) -> Result<(Loaded, Graph), Error> {
    let path = match target {
        Target::At(path, _) => *path,
        Target::Open(graph) => {
            return into_existing((*graph).clone(), target.ending(), options, inputs, rules);
        }
    };
    let existed = path.exists();
    let graph = match new.open(path) {
        Ok(graph) => graph,
        Err(error @ hedgerow::Error::Storage(StorageError::DiskFull { .. } | StorageError::Io { .. })) => {
            remove(path, existed);
            return Err(error.into());
        }
        // Another process created the store meanwhile: this load must not remove it.
        Err(error) => return Err(error.into()),
    };
    if graph.published_ts() != Timestamp::ZERO {
        return Err(Error::file(path, "created by another process meanwhile"));
    }
    let result = Loader::new(&graph, options, unchecked).load(target.ending(), inputs, rules);
    if result.is_err() {
        // The store is removed before the handle releases the lock, so that no other process can have opened
        // it.
        remove(path, existed);
    }
    result.map(|loaded| (loaded, graph))
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
    options: &'a LoadOptions,
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
    fn new(graph: &'a Graph, options: &'a LoadOptions, unchecked: Option<&'a mut Rejects>) -> Loader<'a> {
        Loader {
            graph,
            options,
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
    fn define(&mut self, inputs: &[Input], kinds: &Kinds) -> Result<(), Error> {
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

    fn define_label(&mut self, table: &EdgeTable, label: &str) -> Result<(), Error> {
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

    fn load(&mut self, ending: Ending, inputs: &[Input], rules: &Rules<'_>) -> Result<Loaded, Error> {
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
        rules.course.check()?;
        let segment_bytes = match ending {
            Ending::Leave => None,
            Ending::Flush => {
                // `--no-checkpoint` also applies to closing the store.
                self.graph.internals().skip_checkpoint_at_close();
                self.graph.flush()?;
                None
            }
            Ending::Checkpoint => Some(self.graph.checkpoint()?.bytes),
        };
        // The caller does not interrupt the checkpoint.
        rules.course.check()?;
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
        if ending != Ending::Leave {
            self.graph.close()?;
        }
        Ok(loaded)
    }

    fn read_all(&mut self, inputs: &[Input], rules: &Rules<'_>) -> Result<(), Error> {
        if inputs.is_empty() {
            return Ok(());
        }
        if self.is_blind(inputs) { self.read_beside(inputs, rules) } else { self.read(inputs, rules) }
    }

    /// True if no transaction reads what another transaction wrote.
    fn is_blind(&self, inputs: &[Input]) -> bool {
        self.options.repeat == Repeat::Last
            && !inputs.iter().any(|input| matches!(input.content, Content::Vertices))
    }

    /// Reads the files like [`read`](Self::read), but commits on another thread.
    fn read_beside(&mut self, inputs: &[Input], rules: &Rules<'_>) -> Result<(), Error> {
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
    fn read(&mut self, inputs: &[Input], rules: &Rules<'_>) -> Result<(), Error> {
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
                    (None, OnError::Raise) => {
                        Err(Error::row(&input.path, line, format!("{reason}; the file has changed")))
                    }
                    (None, OnError::Skip | OnError::Collect) => Ok(()),
                },
            )?;
            self.passed.push(passed);
        }
        self.unchecked = unchecked;
        self.commit()
    }

    fn add(&mut self, item: Item<'_>) -> Result<(), Error> {
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
                put_rich(txn, self.options, table, &edge, rank.unwrap_or(0))?;
            }
            Item::Edge(EdgeItem { src, dst, .. }, _) if !self.weighted => txn.put_edge((src, dst))?,
            Item::Edge(EdgeItem { src, dst, weight, .. }, _) => match self.options.repeat {
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
        if self.options.batch != 0 && self.pending >= self.options.batch { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), Error> {
        let Some(txn) = self.txn.take() else { return Ok(()) };
        let rows = std::mem::take(&mut self.pending) as u64;
        if let Some(sink) = &self.sink {
            // The error of the failed commit is reported.
            return sink.send((txn, rows)).map_err(|_| Error::CommitFailed);
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
    options: &LoadOptions,
    table: &EdgeTable,
    edge: &EdgeItem<'_>,
    rank: u64,
) -> Result<(), Error> {
    let weight = table.weighted.then_some(("weight", Value::F64(edge.weight)));
    let cells = table.properties.iter().map(|(name, _)| name.as_str()).zip(edge.values.iter().cloned());
    let cells = weight.into_iter().chain(cells.filter(|(_, value)| !value.is_null()));
    let key = EdgeKey::new(edge.label, edge.src, edge.dst).rank(rank);
    if options.repeat == Repeat::First {
        txn.insert_edge_with(key, cells)?;
    } else {
        txn.put_edge_with(key, cells)?;
    }
    Ok(())
}
