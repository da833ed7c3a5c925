//! Requests to an engine, and the same requests to plain maps.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow_workload::linkbench::{LinkBench, Mix, Request, Requests};

use super::store::{Found, Link, LinkStore, Open, Rival};
use hedgerow_report::failure::Result;

/// The maximum number of links that a list returns: LinkBench's limit.
pub(super) const MOST_LINKS: usize = 10_000;

/// The answer to a request, in buffers that a client uses again.
#[derive(Default)]
pub(super) struct Answer {
    /// The number of links, the number of a new node, or 1 for true and 0 for false.
    pub(super) count: u64,
    pub(super) found: Found,
    pub(super) data: Vec<u8>,
}

/// Executes a request with this time.
pub(super) fn execute(
    store: &dyn LinkStore,
    request: &Request,
    time: u64,
    answer: &mut Answer,
) -> Result<()> {
    answer.found.clear();
    answer.data.clear();
    answer.count = match request {
        Request::PutLink { link: (src, kind, dst), data } => {
            u64::from(store.put_link(Link { src: *src, kind: *kind, dst: *dst, time, data })?)
        }
        Request::DeleteLink((src, kind, dst)) => u64::from(store.delete_link(*src, *kind, *dst)?),
        Request::CountLinks(src, kind) => store.count_links(*src, *kind)?,
        Request::GetLinks(src, kind, targets) => {
            store.get_links(*src, *kind, targets, &mut answer.found)?;
            answer.found.len() as u64
        }
        Request::GetLinkList(src, kind) => {
            store.newest_links(*src, *kind, MOST_LINKS, &mut answer.found)?;
            answer.found.len() as u64
        }
        Request::AddNode(data) => store.add_node(data)?,
        Request::UpdateNode(node, data) => u64::from(store.update_node(*node, data)?),
        Request::DeleteNode(node) => u64::from(store.delete_node(*node)?),
        Request::GetNode(node) => u64::from(store.get_node(*node, &mut answer.data)?),
    };
    Ok(())
}

/// Loads a graph. Links come in the order of their sources, each with the next time. Returns the first time
/// that no link has.
pub(super) fn load(bench: &LinkBench, store: &dyn LinkStore) -> Result<u64> {
    const PART: u64 = 10_000;
    let mut time = 1;
    for first in (0..bench.nodes()).step_by(PART as usize) {
        let part = first..bench.nodes().min(first + PART);
        let data: Vec<Vec<u8>> = part.clone().map(|node| bench.node_data(node)).collect();
        store.load_nodes(first, &data)?;
    }
    for first in (0..bench.nodes()).step_by(PART as usize) {
        let part = first..bench.nodes().min(first + PART);
        let mut links = Vec::new();
        for src in part {
            for kind in 0..bench.types() {
                for n in 0..bench.links_of(src, kind) {
                    links.push(((src, kind, bench.target(src, n)), time, bench.link_data(src, kind, n)));
                    time += 1;
                }
            }
        }
        let parts = links.iter().map(|((src, kind, dst), time, data)| Link {
            src: *src,
            kind: *kind,
            dst: *dst,
            time: *time,
            data,
        });
        store.load_links(&parts.collect::<Vec<_>>())?;
    }
    store.finish_loading()?;
    Ok(time)
}

/// The time and the bytes of each link of a list, by its destination.
type List = BTreeMap<u64, (u64, Vec<u8>)>;

/// The expected behavior of an engine, as plain maps.
#[derive(Default)]
struct Model {
    nodes: BTreeMap<u64, Vec<u8>>,
    links: BTreeMap<(u64, u32), List>,
    next: u64,
}

impl Model {
    fn of(bench: &LinkBench) -> Model {
        let mut model = Model { next: bench.nodes(), ..Model::default() };
        let mut time = 1;
        for src in 0..bench.nodes() {
            model.nodes.insert(src, bench.node_data(src));
            for kind in 0..bench.types() {
                for n in 0..bench.links_of(src, kind) {
                    let list = model.links.entry((src, kind)).or_default();
                    list.insert(bench.target(src, n), (time, bench.link_data(src, kind, n)));
                    time += 1;
                }
            }
        }
        model
    }

    fn answer(&mut self, request: &Request, time: u64) -> Answer {
        let mut answer = Answer::default();
        answer.count = match request {
            Request::PutLink { link: (src, kind, dst), data } => {
                let list = self.links.entry((*src, *kind)).or_default();
                u64::from(list.insert(*dst, (time, data.clone())).is_none())
            }
            Request::DeleteLink((src, kind, dst)) => {
                let list = self.links.entry((*src, *kind)).or_default();
                u64::from(list.remove(dst).is_some())
            }
            Request::CountLinks(src, kind) => {
                self.links.get(&(*src, *kind)).map_or(0, |list| list.len() as u64)
            }
            Request::GetLinks(src, kind, targets) => {
                let list = self.links.entry((*src, *kind)).or_default();
                let found = targets.iter().filter_map(|dst| Some((dst, list.get(dst)?)));
                found.for_each(|(dst, (time, data))| answer.found.push(*dst, *time, data));
                answer.found.len() as u64
            }
            Request::GetLinkList(src, kind) => {
                let list = self.links.get(&(*src, *kind)).into_iter().flatten();
                let mut list: Vec<_> = list.map(|(dst, (time, data))| (*time, *dst, data)).collect();
                list.sort_unstable_by(|a, b| b.cmp(a));
                let newest = list.into_iter().take(MOST_LINKS);
                newest.for_each(|(time, dst, data)| answer.found.push(dst, time, data));
                answer.found.len() as u64
            }
            Request::AddNode(data) => {
                self.nodes.insert(self.next, data.clone());
                self.next += 1;
                self.next - 1
            }
            Request::UpdateNode(node, data) => {
                let found = self.nodes.get_mut(node);
                u64::from(found.map(|found| found.clone_from(data)).is_some())
            }
            Request::DeleteNode(node) => u64::from(self.nodes.remove(node).is_some()),
            Request::GetNode(node) => {
                let found = self.nodes.get(node);
                answer.data.extend(found.into_iter().flatten());
                u64::from(found.is_some())
            }
        };
        answer
    }
}

/// Compares an engine with plain maps, request by request, on a small graph in an empty directory.
///
/// # Errors
/// Fails at the first difference, or if the engine fails.
pub fn agrees(rival: &Rival, bench: &LinkBench, path: &Path, requests: usize) -> Result<()> {
    let open = Open { path, nodes: bench.nodes(), types: bench.types(), durable: false };
    let store = (rival.open)(open)?;
    let (mut model, mut time) = (Model::of(bench), load(bench, &*store)?);
    let mut mixes = [bench.mix(), Mix::tao()].map(|mix| Requests::new(bench, mix, 77));
    let mut answer = Answer::default();
    for i in 0..requests {
        // Three of four requests are of the mix that writes.
        let request = mixes[usize::from(i % 4 == 0)].next_request();
        execute(&*store, &request, time, &mut answer)?;
        let expected = model.answer(&request, time);
        let same =
            (answer.count, &answer.found, &answer.data) == (expected.count, &expected.found, &expected.data);
        if !same {
            let name = rival.name;
            return Err(format!(
                "{name} answers request {i}, {request:?}, with {}, expected {}",
                answer.count, expected.count
            )
            .into());
        }
        time += 1;
    }
    Ok(())
}
