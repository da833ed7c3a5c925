//! Inboxes: their operations by timestamp, folding, their bytes; and images with operations over them,
//! compared with a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::{Columns, Direction, LocalVertex, SUBGRAPH_VERTICES, Timestamp, VertexId};
use hedgerow_mem::EdgeOp;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_tier::{AdjacencyPart, ImageId, ImageKeys, SubgraphImage};
use hedgerow_workload::rng::Rng;

use crate::sources::testing::{image, sound};
use crate::sources::{InboxBase, Inboxes, Sources};

const ROUNDS: u64 = 300;
const LOCALS: [u8; 4] = [0, 1, 40, 63];

type Model = BTreeMap<(u8, VertexId), f64>;

fn op(op: EdgeOp, local: u8, dst: u32) -> LocalOp {
    LocalOp { local: LocalVertex(local), op, dst: VertexId(dst), weight: f64::from(dst) }
}

fn base(begin: u64) -> InboxBase {
    InboxBase { sources: Arc::new(Sources::default()), begin: Timestamp(begin) }
}

fn image_of(id: ImageId, model: &Model) -> Option<SubgraphImage> {
    let mut part = AdjacencyPart {
        direction: Direction::Out,
        offsets: [0; SUBGRAPH_VERTICES + 1],
        neighbors: model.keys().map(|(_, other)| *other).collect(),
        weights: None,
        ranks: None,
        columns: Columns::default(),
    };
    for local in 0..SUBGRAPH_VERTICES {
        part.offsets[local + 1] = model.keys().filter(|(of, _)| usize::from(*of) <= local).count() as u32;
    }
    let parts = if model.is_empty() { Vec::new() } else { vec![part] };
    let (as_of, present, keys) = (Timestamp(1), u64::MAX, ImageKeys::Dense);
    (!parts.is_empty()).then_some(SubgraphImage { id, as_of, present, keys, parts })
}

/// An image with the operations up to each timestamp over it is the list of that timestamp.
#[test]
fn operations_apply_to_an_image_up_to_a_timestamp() {
    let _sound = sound();
    let (mut rng, id) = (Rng::new(8), image(0, 3));
    let account = Arc::new(Account::default());
    for _ in 0..ROUNDS {
        let inboxes = Inboxes::new(&account);
        let mut model = Model::new();
        for _ in 0..rng.below(12) {
            model.insert((LOCALS[rng.below(4) as usize], VertexId(rng.below(9) as u32)), 1.0);
        }
        let first = image_of(id, &model);
        let mut states = vec![model.clone()];
        for ts in 2..2 + rng.below(8) {
            let (local, dst) = (LOCALS[rng.below(4) as usize], rng.below(9) as u32);
            let change = match model.insert((local, VertexId(dst)), 1.0) {
                None => EdgeOp::Insert,
                Some(_) if rng.below(3) == 0 => EdgeOp::Update,
                Some(_) => {
                    model.remove(&(local, VertexId(dst)));
                    EdgeOp::Remove
                }
            };
            inboxes.append((id, Direction::Out), Timestamp(ts), &[op(change, local, dst)], || base(1));
            states.push(model.clone());
        }
        for (state, ts) in states.iter().zip(1..) {
            let Some(inbox) = inboxes.view(id, Timestamp(ts)) else { continue };
            let made = Sources::default().image_under(&inbox, id, first.clone(), &mut |_| true).unwrap();
            let made = made.filter(|image| !image.parts.is_empty());
            let parts = |image: Option<SubgraphImage>| image.map(|image| image.parts);
            assert_eq!(parts(made), parts(image_of(id, state)), "at {ts}");
        }
        let last = inboxes.look(id, [&[(LocalVertex(1), VertexId(2))], &[]]);
        if let Some(weight) = last.and_then(|look| look.weights[0][0]) {
            assert_eq!(weight.is_some(), model.contains_key(&(1, VertexId(2))));
        }
    }
    assert_eq!(account.used(), 0);
}

#[test]
fn folding_drops_what_segments_have_unless_a_reader_needs_it() {
    let _sound = sound();
    let account = Arc::new(Account::default());
    let (inboxes, id, other) = (Inboxes::new(&account), image(0, 3), image(0, 70));
    for ts in [4, 6, 8] {
        let new = || base(2);
        inboxes.append((id, Direction::Out), Timestamp(ts), &[op(EdgeOp::Insert, 1, ts as u32)], new);
        inboxes.append((other, Direction::In), Timestamp(4), &[op(EdgeOp::Insert, 1, ts as u32)], new);
    }
    assert_eq!(account.used_for(Purpose::Inboxes), inboxes.bytes() as u64);
    let entries = |t| inboxes.view(id, Timestamp(t)).map(|inbox| inbox.entries(Direction::Out).len());
    assert_eq!([3, 4, 7, 8].map(entries), [Some(0), Some(1), Some(2), Some(3)]);
    let sources = Arc::new(Sources::default().at(Timestamp(6)));
    inboxes.fold(&sources, |last| last == Timestamp(4));
    assert!(!inboxes.has(other), "all of its operations are in the segments");
    assert_eq!(inboxes.base(id).unwrap().begin, Timestamp(2), "a reader is before its last operation there");
    inboxes.fold(&sources, |_| true);
    assert_eq!((inboxes.base(id).unwrap().begin, entries(9)), (Timestamp(6), Some(1)));
    assert_eq!(inboxes.view(id, Timestamp(9)).unwrap().commits(Direction::Out)[0].0, Timestamp(8));
    inboxes.remove(id);
    assert!(inboxes.are_none() && inboxes.bytes() == 0 && account.used() == 0);
}
