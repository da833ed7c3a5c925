//! Tests of bindings over time, and of the ids that are assigned.

use super::*;

const NEVER: Timestamp = Timestamp::ZERO;

fn number(n: u64) -> VertexKeyRef<'static> {
    VertexKeyRef::U64(n)
}

fn bind(ids: &IdMap, n: u64, ts: u64) -> VertexId {
    let id = ids.allocate(KindId::DEFAULT, || None).expect("an id");
    ids.bind(number(n), id, Timestamp(ts), NEVER);
    id
}

#[test]
fn a_key_names_at_each_moment_what_it_was_bound_to_then() {
    let ids = IdMap::new(KeyKind::U64, Arc::default());
    let first = bind(&ids, 77, 5);
    ids.unbind(number(77), first, Timestamp(8));
    let second = bind(&ids, 77, 9);
    assert_ne!(first, second);
    let names = |t| ids.lookup(number(77), Timestamp(t));
    assert_eq!([4, 5, 7, 8, 9].map(names), [None, Some(first), Some(first), None, Some(second)]);
    assert_eq!((ids.last_change(number(77)), ids.last_change(number(78))), (Timestamp(9), Timestamp::ZERO));
    assert!(ids.carries(first, number(77)) && ids.carries(second, number(77)));
    assert_eq!(ids.key_of(second), VertexKey::U64(77));
    assert_eq!(ids.bound(), 2);
}

#[test]
fn strings_are_keys_by_their_content() {
    let ids = IdMap::new(KeyKind::Str, Arc::default());
    let id = ids.allocate(KindId::DEFAULT, || None).expect("an id");
    ids.bind(VertexKeyRef::Str("owl"), id, Timestamp(1), NEVER);
    let named = String::from("owl");
    assert_eq!(ids.lookup(VertexKeyRef::Str(&named), Timestamp(1)), Some(id));
    assert_eq!(ids.lookup(VertexKeyRef::Str("ow"), Timestamp(1)), None);
    assert_eq!(ids.latch_of(VertexKeyRef::Str(&named)), ids.latch_of(VertexKeyRef::Str("owl")));
    assert_eq!(ids.bound_keys(), Some(1));
}

#[test]
fn the_keys_of_a_dense_graph_are_its_ids() {
    let ids = IdMap::new(KeyKind::Dense, Arc::default());
    assert_eq!(ids.lookup(number(9), NEVER), Some(VertexId(9)));
    assert_eq!(ids.lookup(number(1 << 32), NEVER), None, "more than an id has bits");
    ids.include(VertexId(9));
    ids.include(VertexId(3));
    assert_eq!((ids.bound(), ids.bound_keys()), (10, None));
}

#[test]
fn the_id_of_a_removed_vertex_is_reused_once_no_reader_can_see_it() {
    let ids = IdMap::new(KeyKind::U64, Arc::default());
    let (first, second) = (bind(&ids, 1, 1), bind(&ids, 2, 2));
    assert_eq!((first, second), (VertexId(0), VertexId(1)));
    ids.unbind(number(1), first, Timestamp(5));
    // A reader at 4 still sees the vertex.
    assert_eq!(ids.allocate(KindId::DEFAULT, || Some(Timestamp(4))), Some(VertexId(2)));
    assert_eq!(ids.lookup(number(1), Timestamp(4)), Some(first));
    assert_eq!(ids.allocate(KindId::DEFAULT, || Some(Timestamp(5))), Some(first));
    // The binding ends when its id is assigned again.
    assert_eq!((ids.lookup(number(1), Timestamp(4)), ids.bound_keys()), (None, Some(1)));
}

#[test]
fn an_id_that_was_given_back_is_given_out_first() {
    let ids = IdMap::new(KeyKind::U64, Arc::default());
    let taken = ids.allocate(KindId::DEFAULT, || None).expect("an id");
    ids.give_back(taken);
    assert_eq!(ids.allocate(KindId::DEFAULT, || unreachable!("no vertex was removed")), Some(taken));
    ids.include(VertexId(u32::MAX - 2));
    assert_eq!(ids.allocate(KindId::DEFAULT, || None), Some(VertexId::MAX));
    assert_eq!(ids.allocate(KindId::DEFAULT, || None), None, "all ids are in use");
}
