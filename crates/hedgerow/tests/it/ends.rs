//! Labels with kinds of their ends, in every way to write edges. Each way refuses an edge with other ends and
//! leaves nothing of it. An accepted edge has the ends that the label defines.

use std::collections::BTreeMap;

use hedgerow::{
    ArgumentError, EdgeKey, Error, Graph, KeyKind, KindId, LabelOptions, Options, Result, Value,
    VertexKeyRef, WriteTxn,
};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, explored};

const ROUNDS: u64 = 40;
const TRANSACTIONS: u64 = 20;
/// The bound of the keys of each kind.
const KEYS: u64 = 4;
const PROPERTY: &str = "n";
/// The labels, with the kinds of source and destination; 0 is the default kind.
const LABELS: [(&str, [u8; 2]); 4] = [("ab", [1, 2]), ("aa", [1, 1]), ("ca", [3, 1]), ("plain a", [0, 1])];
const KINDS: [&str; 3] = ["a", "b", "c"];

/// A key, and its kind if the call names the kind.
type End = (Option<KindId>, u64);
/// The number of a label, and both ends with their kinds.
type Item = (usize, [(KindId, u64); 2]);

struct World {
    graph: Graph,
    directed: bool,
    rng: SplitMix64,
    edges: BTreeMap<Item, i64>,
    refused: u64,
    accepted: u64,
}

fn key((kind, n): End) -> VertexKeyRef<'static> {
    kind.unwrap_or(KindId::DEFAULT).key(n)
}

impl World {
    fn new(seed: u64) -> World {
        let directed = seed.is_multiple_of(2);
        let graph = Options::new().directed(directed).in_memory().unwrap();
        KINDS.iter().for_each(|name| _ = graph.define_kind(name, KeyKind::U64).unwrap());
        for (name, [src, dst]) in LABELS {
            graph.define_label(name, LabelOptions::new().ends(KindId(src), KindId(dst))).unwrap();
        }
        World { graph, directed, rng: SplitMix64::new(seed), edges: BTreeMap::new(), refused: 0, accepted: 0 }
    }

    fn end(&mut self) -> End {
        let kind = self.rng.below(KINDS.len() as u64 * 2 + 1) as u8;
        (Some(KindId(kind)).filter(|kind| (1..=3).contains(&kind.0)), self.rng.below(KEYS))
    }

    /// Returns the edge of a label between two keys, if the kinds of the keys fit the label.
    fn item(&self, label: usize, ends: [End; 2]) -> Option<Item> {
        let fits = |[from, to]: [u8; 2]| {
            let at = |(kind, n): End, of: u8| kind.is_none_or(|kind| kind.0 == of).then_some((KindId(of), n));
            Some([at(ends[0], from)?, at(ends[1], to)?])
        };
        let said = LABELS[label].1;
        let turned = || fits([said[1], said[0]]).filter(|_| !self.directed);
        let mut ends = fits(said).or_else(turned)?;
        if !self.directed {
            ends.sort();
        }
        Some((label, ends))
    }

    /// Checks the result of a call: the result of the model, or a refusal if the ends do not fit.
    fn judge(&mut self, what: &str, found: Result<Option<bool>>, expected: Option<bool>) -> bool {
        match (found, expected) {
            (Ok(found), Some(expected)) => {
                assert!(found.is_none_or(|found| found == expected), "{what}: {found:?}");
                self.accepted += 1;
                true
            }
            (Err(Error::Argument(ArgumentError::EndOfKind { .. })), None) => {
                self.refused += 1;
                false
            }
            (found, _) => panic!("{what} gave {found:?}, should give {expected:?}"),
        }
    }

    /// Makes one call, in the transaction if there is one; `after` becomes the model after the call.
    fn write(&mut self, tx: Option<&mut WriteTxn>, after: &mut BTreeMap<Item, i64>) {
        let (label, ends, n) =
            (self.rng.below(4) as usize, [self.end(), self.end()], self.rng.below(100) as i64);
        let edge = EdgeKey::new(LABELS[label].0, key(ends[0]), key(ends[1]));
        let (item, way) = (self.item(label, ends), self.rng.below(6));
        let exists = item.map(|item| after.contains_key(&item));
        let row = [(PROPERTY, Value::I64(n))];
        let (found, expected) = match (way, tx) {
            (0, Some(tx)) => (tx.put_edge_with(edge, row).map(|()| None), exists),
            (0, None) => (self.graph.put_edge_with(edge, row).map(Some), exists.map(|exists| !exists)),
            (1, Some(tx)) => (tx.insert_edge_with(edge, row).map(Some), exists.map(|exists| !exists)),
            (1, None) => (self.graph.insert_edge_with(edge, row).map(Some), exists.map(|exists| !exists)),
            (2, Some(tx)) => (tx.update_edge(edge, row).map(Some), exists),
            (3, Some(tx)) => (tx.update_edge(edge, [(PROPERTY, n)]).map(Some), exists),
            (2 | 3, None) => (self.graph.update_edge(edge, row).map(Some), exists),
            (4, Some(tx)) => return self.write_rows(tx, after),
            (_, Some(tx)) => (tx.remove_edge(edge).map(Some), exists),
            (_, None) => (self.graph.remove_edge(edge).map(Some), exists),
        };
        if !self.judge(&format!("way {way} of {edge:?}"), found, expected) {
            return;
        }
        let Some(item) = item else { return };
        match (way, exists) {
            (0, _) | (1, Some(false)) | (2 | 3, Some(true)) => _ = after.insert(item, n),
            (4.., _) => _ = after.remove(&item),
            _ => {}
        }
    }

    /// Writes edges as rows: if one row does not fit, the call adds none.
    fn write_rows(&mut self, tx: &mut WriteTxn, after: &mut BTreeMap<Item, i64>) {
        let label = self.rng.below(4) as usize;
        let rows: Vec<([End; 2], i64)> =
            (0..self.rng.below(3)).map(|_| ([self.end(), self.end()], self.rng.below(100) as i64)).collect();
        let items: Option<Vec<(Item, i64)>> =
            rows.iter().map(|&(ends, n)| Some((self.item(label, ends)?, n))).collect();
        let edges = rows.iter().map(|&([src, dst], n)| (key(src), key(dst), [n]));
        let found = tx.put_edges_with(LABELS[label].0, &[PROPERTY], edges).map(|()| None);
        if self.judge(&format!("rows {rows:?}"), found, items.is_some().then_some(true)) {
            after.extend(items.into_iter().flatten());
        }
    }

    fn compare(&self) {
        let now = self.graph.snapshot().unwrap();
        assert_eq!(now.edge_count().unwrap(), self.edges.len() as u64);
        for (&(label, [src, dst]), &n) in &self.edges {
            let edge = EdgeKey::new(LABELS[label].0, src.0.key(src.1), dst.0.key(dst.1));
            assert_eq!(now.edge_property(edge, PROPERTY).unwrap(), Some(Value::I64(n)), "{edge:?}");
        }
    }

    fn run(mut self) -> (u64, u64) {
        for _ in 0..TRANSACTIONS {
            let mut after = self.edges.clone();
            if self.rng.eighths(3) {
                self.write(None, &mut after);
            } else {
                let mut tx = self.graph.write().unwrap();
                (0..1 + self.rng.below(6)).for_each(|_| self.write(Some(&mut tx), &mut after));
                tx.commit().unwrap();
            }
            self.edges = after;
            self.compare();
        }
        assert_eq!(self.graph.check().unwrap().problems, [] as [String; 0]);
        (self.accepted, self.refused)
    }
}

pub(crate) fn every_way_of_writing_keeps_to_the_kinds_of_a_label() {
    let (effort, mut accepted, mut refused) = (Effort::rounds(ROUNDS), 0, 0);
    while let Some(seed) = effort.next_seed() {
        let (a, r) = World::new(seed).run();
        (accepted, refused) = (accepted + a, refused + r);
    }
    explored("edges whose ends their label accepts", accepted, 500);
    explored("edges whose ends their label refuses", refused, 500);
}
