//! The store as an engine of LinkBench.

use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{
    Direction, Durability, EdgeKey, Graph, KeyKind, KindId, LabelId, LabelOptions, Lent, Options,
    PropertyType, Value, ValueRef, WriteTxn,
};

use super::store::{Found, Link, LinkStore, Open};
use hedgerow_report::failure::Result;

/// The one property of vertices and edges.
const DATA: &str = "data";
/// The maximum number of retries of a request after conflicts.
const RETRIES: u32 = 10_000;
/// The number of nodes or links in a transaction during loading.
const BATCH: usize = 1_000;

/// A directed graph without incoming edges. A link type is a `multi` label, and the rank of an edge is its
/// time.
pub(super) struct Store {
    graph: Graph,
    labels: Vec<LabelId>,
    /// The next number for a node.
    next: AtomicU64,
}

fn data_of(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !matches!(value, Value::Null))
}

fn bytes(value: &Value) -> &[u8] {
    if let Value::Bytes(bytes) = value { bytes } else { &[] }
}

fn lent_bytes(value: ValueRef<'_>) -> &[u8] {
    if let ValueRef::Bytes(bytes) = value { bytes } else { &[] }
}

/// Opens an empty store.
pub(super) fn open(open: Open<'_>) -> Result<Box<dyn LinkStore>> {
    let durability = if open.durable { Durability::Sync } else { Durability::Manual };
    let options = Options::new().directed(true).reverse(false).keys(KeyKind::Dense).durability(durability);
    let graph = options.open(open.path)?;
    graph.define_vertex_property(KindId::DEFAULT, DATA, PropertyType::Bytes)?;
    let label = |kind: u32| {
        let options = LabelOptions::new().multi(true).property(DATA, PropertyType::Bytes);
        graph.define_label(&format!("links_{kind}"), options)
    };
    let labels = (0..open.types).map(label).collect::<hedgerow::Result<_>>()?;
    Ok(Box::new(Store { graph, labels, next: AtomicU64::new(open.nodes) }))
}

impl Store {
    fn edge(&self, src: u64, kind: u32, dst: u64) -> EdgeKey<'static> {
        EdgeKey::new(self.labels[kind as usize], src, dst)
    }

    /// Removes a link in a transaction. Returns whether the link existed.
    fn remove(&self, txn: &mut WriteTxn, src: u64, kind: u32, dst: u64) -> hedgerow::Result<bool> {
        let ranks = txn.ranks_between(self.labels[kind as usize], src, dst)?;
        for &rank in &ranks {
            txn.remove_edge(self.edge(src, kind, dst).rank(rank))?;
        }
        Ok(!ranks.is_empty())
    }
}

impl LinkStore for Store {
    fn load_nodes(&self, first: u64, data: &[Vec<u8>]) -> Result<()> {
        for (nth, part) in data.chunks(BATCH).enumerate() {
            let mut txn = self.graph.write()?;
            for (id, data) in (first + (nth * BATCH) as u64..).zip(part) {
                txn.put_vertex_with(id, [(DATA, Value::Bytes(data.as_slice().into()))])?;
            }
            txn.commit()?;
        }
        Ok(())
    }

    fn load_links(&self, links: &[Link<'_>]) -> Result<()> {
        for part in links.chunks(BATCH) {
            let mut txn = self.graph.write()?;
            for link in part {
                let edge = self.edge(link.src, link.kind, link.dst).rank(link.time);
                txn.put_edge_with(edge, [(DATA, Value::Bytes(link.data.into()))])?;
            }
            txn.commit()?;
        }
        Ok(())
    }

    fn finish_loading(&self) -> Result<()> {
        self.graph.settle()?;
        Ok(self.graph.flush()?)
    }

    fn add_node(&self, data: &[u8]) -> Result<u64> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut txn = self.graph.write()?;
        txn.put_vertex_with(id, [(DATA, Value::Bytes(data.into()))])?;
        txn.commit()?;
        Ok(id)
    }

    fn update_node(&self, node: u64, data: &[u8]) -> Result<bool> {
        let update = |txn: &mut WriteTxn| {
            let exists = data_of(txn.vertex_property(node, DATA)?).is_some();
            if exists {
                txn.update_vertex(node, [(DATA, Value::Bytes(data.into()))])?;
            }
            Ok(exists)
        };
        Ok(self.graph.transact(RETRIES, update)?.0)
    }

    fn delete_node(&self, node: u64) -> Result<bool> {
        let delete = |txn: &mut WriteTxn| {
            let existed = data_of(txn.vertex_property(node, DATA)?).is_some();
            if existed {
                txn.update_vertex(node, [(DATA, Value::Null)])?;
            }
            Ok(existed)
        };
        Ok(self.graph.transact(RETRIES, delete)?.0)
    }

    fn get_node(&self, node: u64, data: &mut Vec<u8>) -> Result<bool> {
        let copy = |value: ValueRef<'_>| {
            data.extend_from_slice(lent_bytes(value));
            !value.is_null()
        };
        Ok(Lent::new(&self.graph.snapshot()?).vertex_property(node, DATA, copy)? == Some(true))
    }

    fn put_link(&self, link: Link<'_>) -> Result<bool> {
        let put = |txn: &mut WriteTxn| {
            let existed = self.remove(txn, link.src, link.kind, link.dst)?;
            let edge = self.edge(link.src, link.kind, link.dst).rank(link.time);
            txn.put_edge_with(edge, [(DATA, Value::Bytes(link.data.into()))])?;
            Ok(!existed)
        };
        Ok(self.graph.transact(RETRIES, put)?.0)
    }

    fn delete_link(&self, src: u64, kind: u32, dst: u64) -> Result<bool> {
        Ok(self.graph.transact(RETRIES, |txn| self.remove(txn, src, kind, dst))?.0)
    }

    fn get_links(&self, src: u64, kind: u32, targets: &[u64], found: &mut Found) -> Result<()> {
        let snapshot = self.graph.snapshot()?;
        for &dst in targets {
            for time in snapshot.ranks_between(self.labels[kind as usize], src, dst)? {
                let data = snapshot.edge_property(self.edge(src, kind, dst).rank(time), DATA)?;
                found.push(dst, time, data.as_ref().map_or(&[], bytes));
            }
        }
        Ok(())
    }

    fn newest_links(&self, src: u64, kind: u32, limit: usize, found: &mut Found) -> Result<()> {
        let (snapshot, edges) = (self.graph.snapshot()?, (self.labels[kind as usize], Direction::Out));
        Lent::new(&snapshot).newest_edges(src, edges, limit, |edge| {
            found.push(edge.other().0.into(), edge.rank(), lent_bytes(edge.property(DATA)));
        })?;
        Ok(())
    }

    fn count_links(&self, src: u64, kind: u32) -> Result<u64> {
        let degree = self.graph.snapshot()?.degree(src, (self.labels[kind as usize], Direction::Out))?;
        Ok(degree.unwrap_or(0) as u64)
    }
}
