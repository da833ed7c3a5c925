//! Scripts: transactions as lists of steps that run on the store and on the model, and record every answer.

use std::collections::BTreeSet;

use hedgerow::{Direction, EdgeKey, Value, WriteTxn};

use crate::model::{Edge, KEYS, ModelTxn, Op, State, raw};

/// The continuation after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Go,
    /// The transaction rolls back.
    Abort,
}

pub(crate) type Step = Box<dyn Fn(&mut Ctx<'_>) -> Flow + Send + Sync>;

/// The steps of a transaction. The commit is an additional step.
pub(crate) type Script = Vec<Step>;

/// Makes a step after which the script continues.
pub(crate) fn step(f: impl Fn(&mut Ctx<'_>) + Send + Sync + 'static) -> Step {
    Box::new(move |c| {
        f(c);
        Flow::Go
    })
}

/// Makes a step that does nothing. It gives scripts the same length.
pub(crate) fn pause() -> Step {
    step(|_| ())
}

/// The actions of a transaction and the answers of the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Every answer.
    pub(crate) log: Vec<String>,
    /// Numbers that the script keeps, for its later steps and for the check of the outcome.
    pub(crate) kept: Vec<i64>,
    /// The vertices that the calls named.
    pub(crate) touched: BTreeSet<u64>,
    /// True if the transaction read the whole graph.
    pub(crate) whole: bool,
}

enum Target<'a> {
    Store { txn: &'a mut WriteTxn, offset: u64 },
    Model(&'a mut ModelTxn),
}

/// The context of a step: its target and its trace.
pub(crate) struct Ctx<'a> {
    target: Target<'a>,
    pub(crate) trace: &'a mut Trace,
}

impl<'a> Ctx<'a> {
    pub(crate) fn store(txn: &'a mut WriteTxn, offset: u64, trace: &'a mut Trace) -> Ctx<'a> {
        Ctx { target: Target::Store { txn, offset }, trace }
    }

    pub(crate) fn model(txn: &'a mut ModelTxn, trace: &'a mut Trace) -> Ctx<'a> {
        Ctx { target: Target::Model(txn), trace }
    }

    pub(crate) fn keep(&mut self, number: i64) {
        self.trace.kept.push(number);
    }

    pub(crate) fn kept(&self, i: usize) -> i64 {
        self.trace.kept[i]
    }

    fn told<T: std::fmt::Debug>(&mut self, answer: T) -> T {
        self.trace.log.push(format!("{answer:?}"));
        answer
    }

    pub(crate) fn vertex(&mut self, v: u64) -> bool {
        self.trace.touched.insert(v);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.contains_vertex(*offset + v).unwrap(),
            Target::Model(txn) => txn.state.vertices.contains_key(&v),
        };
        self.told(answer)
    }

    pub(crate) fn insert_vertex(&mut self, v: u64) -> bool {
        self.trace.touched.insert(v);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.insert_vertex(*offset + v).unwrap(),
            Target::Model(txn) => {
                let new = !txn.state.vertices.contains_key(&v);
                if new {
                    txn.push(Op::InsertVertex(v));
                }
                new
            }
        };
        self.told(answer)
    }

    pub(crate) fn remove_vertex(&mut self, v: u64) -> bool {
        self.trace.touched.insert(v);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.remove_vertex(*offset + v).unwrap(),
            Target::Model(txn) => {
                let existed = txn.state.vertices.contains_key(&v);
                if existed {
                    txn.push(Op::RemoveVertex(v));
                }
                existed
            }
        };
        self.told(answer)
    }

    /// Returns a property of a vertex: null if the vertex lacks it, `None` if the vertex does not exist.
    pub(crate) fn property(&mut self, v: u64, name: &'static str) -> Option<Value> {
        self.trace.touched.insert(v);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.vertex_property(*offset + v, name).unwrap(),
            Target::Model(txn) => {
                let row = txn.state.vertices.get(&v);
                row.map(|row| row.get(name).cloned().unwrap_or(Value::Null))
            }
        };
        self.told(answer)
    }

    /// Returns a property as an integer; 0 if there is none.
    pub(crate) fn number(&mut self, v: u64, name: &'static str) -> i64 {
        match self.property(v, name) {
            Some(Value::I64(n)) => n,
            _ => 0,
        }
    }

    pub(crate) fn set(&mut self, v: u64, name: &'static str, value: impl Into<Value>) -> bool {
        self.trace.touched.insert(v);
        let value = value.into();
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.update_vertex(*offset + v, [(name, value)]).unwrap(),
            Target::Model(txn) => {
                let exists = txn.state.vertices.contains_key(&v);
                if exists {
                    txn.push(Op::Set(v, name, value));
                }
                exists
            }
        };
        self.told(answer)
    }

    /// Appends to a list that a vertex stores as text.
    pub(crate) fn append(&mut self, v: u64, name: &'static str, element: i64) {
        let list = appended(self.property(v, name), element);
        self.set(v, name, list);
    }

    /// Appends to a list that an edge stores as text.
    pub(crate) fn append_to_edge(&mut self, edge: Edge, name: &'static str, element: i64) {
        let list = appended(self.edge_property(edge, name), element);
        self.set_edge(edge, name, list);
    }

    pub(crate) fn put_edge(&mut self, edge: Edge) {
        self.touch(edge);
        match &mut self.target {
            Target::Store { txn, offset } => {
                txn.put_edge_with(key(edge, *offset), [] as [(&str, Value); 0]).unwrap();
            }
            Target::Model(txn) => txn.push(Op::Put(edge)),
        }
    }

    pub(crate) fn insert_edge(&mut self, edge: Edge) -> bool {
        self.touch(edge);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => {
                txn.insert_edge_with(key(edge, *offset), [] as [(&str, Value); 0]).unwrap()
            }
            Target::Model(txn) => {
                let new = !txn.state.edges.contains_key(&edge);
                if new {
                    txn.push(Op::Insert(edge));
                }
                new
            }
        };
        self.told(answer)
    }

    pub(crate) fn remove_edge(&mut self, edge: Edge) -> bool {
        self.touch(edge);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.remove_edge(key(edge, *offset)).unwrap(),
            Target::Model(txn) => {
                let existed = txn.state.edges.contains_key(&edge);
                if existed {
                    txn.push(Op::Remove(edge));
                }
                existed
            }
        };
        self.told(answer)
    }

    pub(crate) fn has_edge(&mut self, edge: Edge) -> bool {
        self.touch(edge);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.contains_edge(key(edge, *offset)).unwrap(),
            Target::Model(txn) => txn.state.edges.contains_key(&edge),
        };
        self.told(answer)
    }

    pub(crate) fn edge_property(&mut self, edge: Edge, name: &'static str) -> Option<Value> {
        self.touch(edge);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.edge_property(key(edge, *offset), name).unwrap(),
            Target::Model(txn) => {
                let row = txn.state.edges.get(&edge);
                row.map(|row| row.get(name).cloned().unwrap_or(Value::Null))
            }
        };
        self.told(answer)
    }

    pub(crate) fn set_edge(&mut self, edge: Edge, name: &'static str, value: impl Into<Value>) -> bool {
        self.touch(edge);
        let value = value.into();
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.update_edge(key(edge, *offset), [(name, value)]).unwrap(),
            Target::Model(txn) => {
                let exists = txn.state.edges.contains_key(&edge);
                if exists {
                    txn.push(Op::SetEdge(edge, name, value));
                }
                exists
            }
        };
        self.told(answer)
    }

    /// Returns the edges of a label at a vertex, as other endpoints and ranks.
    pub(crate) fn list(&mut self, label: &'static str, v: u64, direction: Direction) -> Vec<(u64, u64)> {
        self.trace.touched.insert(v);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => {
                let list = txn.edge_list(*offset + v, (label, direction)).unwrap();
                list.map(|list| list.iter().map(|(key, _, rank)| (raw(key, *offset), *rank)).collect())
            }
            Target::Model(txn) => txn.state.list(label, v, direction),
        };
        self.told(answer).unwrap_or_default()
    }

    /// Scans the whole graph, and returns the vertices below `bound` with this property. The scan does not
    /// see the transaction's own writes.
    pub(crate) fn scan(&mut self, bound: u64, name: &'static str) -> Vec<(u64, i64)> {
        self.trace.whole = true;
        let number = |value: &Value| if let Value::I64(n) = value { Some(*n) } else { None };
        let answer: Vec<(u64, i64)> = match &mut self.target {
            Target::Store { txn, offset } => {
                let snapshot = txn.snapshot().unwrap();
                let mut found: Vec<_> =
                    snapshot.vertices().unwrap().map(|vertex| raw(&vertex.unwrap().1, *offset)).collect();
                found.retain(|&v| v < bound);
                found.sort_unstable();
                let value = |v: u64| number(&snapshot.vertex_property(*offset + v, name).unwrap()?);
                found.into_iter().filter_map(|v| Some((v, value(v)?))).collect()
            }
            Target::Model(txn) => {
                let rows = txn.base.vertices.range(..bound);
                rows.filter_map(|(&v, row)| Some((v, number(row.get(name)?)?))).collect()
            }
        };
        self.told(answer)
    }

    /// Returns the number of edges of a label at a vertex.
    pub(crate) fn degree(&mut self, label: &'static str, v: u64, direction: Direction) -> usize {
        self.trace.touched.insert(v);
        let answer = match &mut self.target {
            Target::Store { txn, offset } => txn.degree(*offset + v, (label, direction)).unwrap(),
            Target::Model(txn) => txn.state.list(label, v, direction).map(|list| list.len()),
        };
        self.told(answer).unwrap_or(0)
    }

    /// Reads everything by look-ups and by scans, which must agree. The result excludes the transaction's own
    /// writes.
    pub(crate) fn audit(&mut self) -> State {
        self.trace.whole = true;
        let answer = match &mut self.target {
            Target::Store { txn, offset } => {
                let snapshot = txn.snapshot().unwrap();
                let state = State::of(&snapshot, *offset, KEYS);
                state.agrees_with_scans(&snapshot, *offset, KEYS);
                state
            }
            Target::Model(txn) => txn.base.clone(),
        };
        self.told(answer)
    }

    fn touch(&mut self, edge: Edge) {
        self.trace.touched.extend([edge.1, edge.2]);
    }
}

fn key(edge: Edge, offset: u64) -> EdgeKey<'static> {
    EdgeKey::new(edge.0, offset + edge.1, offset + edge.2).rank(edge.3)
}

fn appended(list: Option<Value>, element: i64) -> Value {
    match list {
        Some(Value::Utf8(list)) if !list.is_empty() => format!("{list},{element}").as_str().into(),
        _ => element.to_string().as_str().into(),
    }
}

/// Parses a list that is stored as text.
pub(crate) fn elements(list: Option<&Value>) -> Vec<i64> {
    match list {
        Some(Value::Utf8(list)) => list.split(',').filter_map(|e| e.parse().ok()).collect(),
        _ => Vec::new(),
    }
}
