//! Random stacks of sources. They are compared with the model by whole chain, list, neighbor, edge, degree
//! and mask.

use hedgerow_core::{LabelId, LocalVertex, PropertyId, Row, Timestamp, Value, VertexId};
use hedgerow_mem::items::ItemRef;
use hedgerow_testkit::explored;
use hedgerow_tier::{ImageId, TierError};
use hedgerow_workload::rng::Rng;

use crate::sources::testing::model::{Model, WholeImages};
use crate::sources::testing::operations::Operations;
use crate::sources::testing::records::{DeltaRecords, encode};
use crate::sources::testing::stack::{Layer, Stack};
use crate::sources::testing::{Change, Edge, chains, image, sound};
use crate::sources::{ChainId, Extent, Identity, Query, WordKind, merge, merge_mask};

const LOCALS: [u8; 3] = [0, 1, 63];
const OTHERS: [u32; 4] = [0, 1, 70, 4_000_000];
const RANKS: [u64; 3] = [0, 1, u64::MAX];

/// Two subgraphs of the default label, on different pages, and one subgraph of a `multi` label.
fn images() -> [ImageId; 3] {
    [image(0, 0), image(0, 65), image(1, 0)]
}

/// An edge: its identity, the bits of its weight, and its properties.
type Shown = (Identity, u64, Option<Row>);

/// A stack, and the model of the state that its merge must return.
struct Case {
    stack: Stack,
    model: Model,
    rng: Rng,
    now: Timestamp,
}

impl Case {
    fn new(seed: u64) -> Result<Case, TierError> {
        let (stack, model, rng) = (Stack::new(), Model::default(), Rng::new(seed));
        let mut case = Case { stack, model, rng, now: Timestamp::ZERO };
        for _ in 0..=case.rng.below(6) {
            case.add_layer()?;
        }
        // The newest layer also has operations after `upto`. The reader does not see them, and the model
        // lacks them.
        let mut operations = case.operations();
        let (model, upto) = (case.model.clone(), case.now);
        operations.entries.extend(case.operations().entries);
        case.stack.layers.push(Layer::Operations { operations, upto });
        case.model = model;
        Ok(case)
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.rng.below(values.len() as u64) as usize]
    }

    fn add_layer(&mut self) -> Result<(), TierError> {
        let (kind, chosen) = (self.rng.below(4), self.rng.below(8));
        let operations = self.operations();
        if kind < 2 {
            self.stack.layers.push(match kind {
                0 => Layer::Operations { operations, upto: Timestamp(u64::MAX) },
                _ => Layer::Records(DeltaRecords::decode("records", &encode(&operations)?)?),
            });
            return Ok(());
        }
        // Images of all changed subgraphs, and of some others.
        let images = images().into_iter().zip(0..).filter(|(_, at)| chosen >> at & 1 == 1);
        let images = images.map(|(image, _)| image).chain(operations.images());
        let whole = WholeImages { state: self.model.clone(), images: images.collect() };
        if kind == 2 {
            self.stack.layers.push(Layer::Whole(whole));
            return Ok(());
        }
        self.now = Timestamp(self.now.0 + 1);
        self.stack.add_segment(&whole, self.now)
    }

    /// Applies random operations to the model, and returns them.
    fn operations(&mut self) -> Operations {
        let mut operations = Operations::default();
        for _ in 0..self.rng.below(20) {
            let local = LocalVertex(self.one_of(&LOCALS));
            let image = self.one_of(&images());
            let of_vertices = ImageId { label: LabelId::DEFAULT, ..image };
            if self.rng.below(12) == 0 {
                self.remove_vertex(of_vertices, local, &mut operations);
                continue;
            }
            if self.model.mask(of_vertices) & local.bit() == 0 {
                self.apply(Change::Vertex { image: of_vertices, local, exists: true }, &mut operations);
            }
            let chain = self.one_of(&chains(image));
            let rank = if image.label == LabelId::DEFAULT { 0 } else { self.one_of(&RANKS) };
            let at = Identity { local, other: VertexId(self.one_of(&OTHERS)), rank };
            let kind = self.one_of(&[WordKind::Put, WordKind::PutIfAbsent, WordKind::Remove]);
            let edge = Edge { weight: self.rng.below(1000) as f64, row: self.row() };
            self.apply(Change::Edge { chain, at, kind, edge }, &mut operations);
        }
        operations
    }

    /// Removes a vertex and all its edges.
    fn remove_vertex(&mut self, vertices: ImageId, local: LocalVertex, to: &mut Operations) {
        for chain in images().into_iter().filter(|image| image.subgraph == vertices.subgraph).flat_map(chains)
        {
            let edges: Vec<Identity> =
                self.model.edges(chain).map(|(at, _)| at).filter(|at| at.local == local).collect();
            for at in edges {
                let edge = Edge { weight: 1.0, row: None };
                self.apply(Change::Edge { chain, at, kind: WordKind::Remove, edge }, to);
            }
        }
        self.apply(Change::Vertex { image: vertices, local, exists: false }, to);
    }

    fn apply(&mut self, change: Change, to: &mut Operations) {
        self.now = Timestamp(self.now.0 + 1);
        self.model.apply(&change);
        to.entries.push((self.now, change));
    }

    /// Returns a row with some of three properties, or `None`. So a merge that mixes the properties of two
    /// rows returns a wrong row.
    fn row(&mut self) -> Option<Row> {
        let (has, number) = (self.rng.below(8), self.rng.below(1000));
        let cells = [Value::I64(number as i64), Value::from(number.to_string().as_str()), Value::Bool(true)];
        let cells = cells.into_iter().zip(0..).filter(|(_, id)| has >> id & 1 == 1);
        Row::new(cells.map(|(value, id)| (PropertyId(id), value)).collect::<Vec<_>>())
    }

    /// Compares the answer to a query with the model; returns the difference.
    fn check(&self, query: &Query) -> Result<(), String> {
        let expected: Vec<Shown> = self
            .model
            .edges(query.chain)
            .filter(|(at, _)| query.extent.has(*at))
            .map(|(at, edge)| (at, edge.weight.to_bits(), edge.row.clone()))
            .collect();
        let sources = self.stack.sources(query.chain.image.page());
        let merged = merge(sources, query, &mut |_| true).map_err(|error| error.to_string())?;
        if let Extent::Degree(local) = query.extent {
            let (found, expected) = (merged.degree(local), expected.len() as u64);
            return if found == expected {
                Ok(())
            } else {
                Err(format!("{query:?}: {found} for {expected}"))
            };
        }
        let mut found: Vec<Shown> = Vec::new();
        merged.for_each(|local, item: ItemRef<'_>| {
            found.push((Identity::of(local, &item), item.weight.to_bits(), item.row.to_row()));
        });
        let counted: u64 = LOCALS.into_iter().map(|local| merged.degree(LocalVertex(local))).sum();
        let is_counted = counted == found.len() as u64 || matches!(query.extent, Extent::List(_));
        if found == expected && is_counted {
            return Ok(());
        }
        Err(format!("{query:?}: {found:?} for {expected:?}, {counted} counted"))
    }

    fn check_chain(&self, chain: ChainId) -> Result<(), String> {
        let check = |extent| self.check(&Query { chain, extent, rows: true });
        check(Extent::Chain)?;
        for local in LOCALS.map(LocalVertex) {
            check(Extent::Vertex(local))?;
            check(Extent::Degree(local))?;
            check(Extent::List(local))?;
            for other in OTHERS.map(VertexId) {
                check(Extent::Near(local, other))?;
                RANKS
                    .into_iter()
                    .try_for_each(|rank| check(Extent::Edge(Identity { local, other, rank })))?;
            }
        }
        Ok(())
    }

    fn check_mask(&self, image: ImageId) -> Result<(), String> {
        let sources = self.stack.sources(image.page());
        let found = merge_mask(sources, image, &mut |_| true).map_err(|error| error.to_string())?;
        let expected = self.model.mask(image);
        if found.unwrap_or(0) == expected {
            return Ok(());
        }
        Err(format!("vertices of {image}: {found:?} for {expected:b}"))
    }
}

/// Checks the stack of a seed; returns the first difference from the model.
pub(super) fn check_stack(seed: u64) -> Result<(), String> {
    let case = Case::new(seed).map_err(|error| error.to_string())?;
    for image in images() {
        chains(image).into_iter().try_for_each(|chain| case.check_chain(chain))?;
        if image.label == LabelId::DEFAULT {
            case.check_mask(image)?;
        }
    }
    Ok(())
}

/// The number of random stacks.
pub(super) const STACKS: u64 = 2_000;

#[test]
fn stacks_of_sources_equal_the_model() {
    let _sound = sound();
    for seed in 0..STACKS {
        check_stack(seed).unwrap_or_else(|difference| panic!("seed {seed}: {difference}"));
    }
    explored("stacks of sources compared with the model", STACKS, 2_000);
}
