//! The lab's LiveGraph as an engine of LinkBench.
//!
//! The edges of the container have only a number. The number of a link is the place of its time and its bytes
//! in a separate table, which only grows. The log of a list has the last committed edges at its end, and a
//! scan begins there (Zhu et al., section 4). With several clients this is nearly the order of their times.
//! The container also keeps incoming lists, which LinkBench does not need. It keeps no log: it is not
//! durable.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow::{Direction, Resident, VertexId, WeightedTopology};
use hedgerow_core::growing::Growing;
use hedgerow_core::sync::Mutex;
use hedgerow_core::{DynamicGraph, GraphSnapshot};
use hedgerow_lab::{GraphForm, LiveGraph};

use super::store::{Found, Link, LinkStore, Open};
use hedgerow_report::failure::Result;

/// The maximum number of nodes, and of links that are ever put.
const MOST: usize = 1 << 28;

/// The time and the bytes of a link.
type Payload = (u64, Box<[u8]>);

/// A graph for each type of links, and the data that the graphs have no room for.
struct Lists {
    graphs: Vec<LiveGraph>,
    payloads: Growing<OnceLock<Payload>, MOST>,
    /// The number of payloads.
    put: AtomicUsize,
    nodes: Growing<Mutex<Option<Box<[u8]>>>, MOST>,
    /// The next number for a node.
    next: AtomicUsize,
}

/// Opens an empty engine.
pub(super) fn open(open: Open<'_>) -> Result<Box<dyn LinkStore>> {
    if open.durable {
        return Err("the lab's LiveGraph keeps no log: it cannot be durable".into());
    }
    let form = GraphForm { directed: true, weighted: true };
    Ok(Box::new(Lists {
        graphs: (0..open.types).map(|_| LiveGraph::new(form)).collect(),
        payloads: Growing::default(),
        put: AtomicUsize::new(0),
        nodes: Growing::default(),
        next: AtomicUsize::new(place(open.nodes)?),
    }))
}

fn place(number: u64) -> Result<usize> {
    let place = usize::try_from(number).ok().filter(|&place| place < MOST);
    place.ok_or_else(|| format!("node {number} is beyond {MOST}").into())
}

fn vertex(node: u64) -> Result<VertexId> {
    Ok(VertexId(place(node)? as u32))
}

impl Lists {
    /// Stores the time and the bytes of a link. Returns their place, as the number of an edge.
    fn keep(&self, time: u64, data: &[u8]) -> Result<f64> {
        let at = self.put.fetch_add(1, Ordering::Relaxed);
        if at >= MOST {
            return Err(format!("more than {MOST} links were put").into());
        }
        let cell = self.payloads.get_or_create(at, |_| {});
        cell.get_or_init(|| (time, data.into()));
        Ok(at as f64)
    }

    fn find(&self, number: f64, dst: VertexId, found: &mut Found) {
        if let Some((time, data)) = self.payloads.get(number as usize).and_then(OnceLock::get) {
            found.push(dst.0.into(), *time, data);
        }
    }

    fn set_node(&self, node: u64, data: &[u8]) -> Result<()> {
        *self.nodes.get_or_create(place(node)?, |_| {}).lock() = Some(data.into());
        Ok(())
    }
}

impl LinkStore for Lists {
    fn load_nodes(&self, first: u64, data: &[Vec<u8>]) -> Result<()> {
        (first..).zip(data).try_for_each(|(node, data)| self.set_node(node, data))
    }

    fn load_links(&self, links: &[Link<'_>]) -> Result<()> {
        links.iter().try_for_each(|link| self.put_link(*link).map(drop))
    }

    fn finish_loading(&self) -> Result<()> {
        Ok(())
    }

    fn add_node(&self, data: &[u8]) -> Result<u64> {
        let node = self.next.fetch_add(1, Ordering::Relaxed) as u64;
        self.set_node(node, data)?;
        Ok(node)
    }

    fn update_node(&self, node: u64, data: &[u8]) -> Result<bool> {
        let Some(cell) = self.nodes.get(place(node)?) else { return Ok(false) };
        let mut found = cell.lock();
        let exists = found.is_some();
        if exists {
            *found = Some(data.into());
        }
        Ok(exists)
    }

    fn delete_node(&self, node: u64) -> Result<bool> {
        let found = self.nodes.get(place(node)?);
        Ok(found.is_some_and(|cell| cell.lock().take().is_some()))
    }

    fn get_node(&self, node: u64, data: &mut Vec<u8>) -> Result<bool> {
        let Some(cell) = self.nodes.get(place(node)?) else { return Ok(false) };
        let found = cell.lock();
        data.extend_from_slice(found.as_deref().unwrap_or_default());
        Ok(found.is_some())
    }

    fn put_link(&self, link: Link<'_>) -> Result<bool> {
        let (src, dst) = (vertex(link.src)?, vertex(link.dst)?);
        let number = self.keep(link.time, link.data)?;
        Ok(self.graphs[link.kind as usize].insert_edge(src, dst, number)?)
    }

    fn delete_link(&self, src: u64, kind: u32, dst: u64) -> Result<bool> {
        Ok(self.graphs[kind as usize].remove_edge(vertex(src)?, vertex(dst)?)?)
    }

    fn get_links(&self, src: u64, kind: u32, targets: &[u64], found: &mut Found) -> Result<()> {
        let (snapshot, src) = (self.graphs[kind as usize].snapshot()?, vertex(src)?);
        for &dst in targets {
            let dst = vertex(dst)?;
            if let Some(number) = snapshot.search_edge(src, dst) {
                self.find(number, dst, found);
            }
        }
        Ok(())
    }

    fn newest_links(&self, src: u64, kind: u32, limit: usize, found: &mut Found) -> Result<()> {
        let snapshot = self.graphs[kind as usize].snapshot()?;
        let mut left = limit;
        let visited = snapshot.visit_weighted([vertex(src)?], Direction::Out, |_, targets, numbers| {
            let newest = targets.iter().zip(numbers).take(left);
            left -= newest.len();
            newest.for_each(|(&dst, &number)| self.find(number, dst, found));
        });
        visited.map_err(|never| match never {})
    }

    fn count_links(&self, src: u64, kind: u32) -> Result<u64> {
        Ok(self.graphs[kind as usize].snapshot()?.degree(vertex(src)?, Direction::Out) as u64)
    }
}
