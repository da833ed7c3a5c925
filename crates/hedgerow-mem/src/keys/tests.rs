//! Tests of the key table against lists of bindings, and of its size.

use std::collections::BTreeMap;

use hedgerow_core::{LocalVertex, SubgraphId};
use proptest::prelude::*;

use super::*;

/// A step of the only writer. A key is named by its position among a few keys.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Binds the key to the least free id, or ends its binding.
    Toggle(usize),
    /// Forgets bindings that ended before this share of the elapsed time, in percent. No reader sees them any
    /// more.
    Forget(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![6 => (0usize..12).prop_map(Step::Toggle), 1 => (0u8..=100).prop_map(Step::Forget)];
    proptest::collection::vec(step, 1..160)
}

/// The bindings of one key. Each has an id, a begin timestamp and an end timestamp.
type Spans = Vec<(VertexId, Timestamp, Timestamp)>;

/// All bindings by key. The ids of forgotten bindings are free again.
struct Model {
    names: Vec<VertexKey>,
    table: KeyTable,
    spans: BTreeMap<usize, Spans>,
    free: Vec<VertexId>,
    next: u32,
    /// The distance between two ids that are bound one after another.
    apart: u32,
    now: u64,
    oldest: Timestamp,
    /// The number of bits. The table's timestamps are the model's timestamps, shifted left by it.
    shift: u32,
}

/// Generates the distance of ids and the shift of timestamps. So rows are in one cache line or in many, and
/// the high bits of their timestamps are equal or not.
fn spread() -> impl Strategy<Value = (u32, u32)> {
    (prop_oneof![Just(1u32), Just(300)], prop_oneof![Just(0u32), Just(27), Just(31), Just(50)])
}

impl Model {
    fn new(names: Vec<VertexKey>, (apart, shift): (u32, u32)) -> Model {
        let is_text = matches!(names[0], VertexKey::Str(_));
        let (table, spans) = (KeyTable::new(is_text), BTreeMap::new());
        table.add_kind(KindId(1), !is_text);
        table.add_kind(KindId(2), is_text);
        let (free, oldest) = (Vec::new(), Timestamp::ZERO);
        Model { names, table, spans, free, next: 0, apart, now: 0, oldest, shift }
    }

    /// Converts a timestamp of the model into a timestamp of the table.
    fn far(&self, t: Timestamp) -> Timestamp {
        if t == Timestamp::INFINITY { t } else { Timestamp(t.0 << self.shift) }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Toggle(at) => {
                self.now += 1;
                let (ts, name) = (Timestamp(self.now), self.names[at].as_ref());
                let (far, oldest) = (self.far(ts), self.far(self.oldest));
                let spans = self.spans.entry(at).or_default();
                if let Some((id, _, died @ Timestamp::INFINITY)) = spans.last_mut() {
                    *died = ts;
                    self.table.unbind(*id, far);
                    return;
                }
                let id = self.free.pop().unwrap_or_else(|| {
                    self.next += 1;
                    VertexId(self.next * self.apart)
                });
                self.table.bind(name, id, far, oldest);
                spans.push((id, ts, Timestamp::INFINITY));
            }
            Step::Forget(share) => {
                self.oldest = self.oldest.max(Timestamp(self.now * u64::from(share) / 100));
                for spans in self.spans.values_mut() {
                    let over = spans.iter().take_while(|(.., died)| *died <= self.oldest).count();
                    for (id, ..) in spans.drain(..over) {
                        self.table.forget(id);
                        self.free.push(id);
                    }
                }
            }
        }
    }

    /// Returns the key of an id by the functions that read columns.
    fn key_at(&self, id: VertexId, t: Timestamp) -> Result<VertexKey, VertexId> {
        let t = self.far(t);
        if self.names.iter().any(|name| name.kind() != KindId::DEFAULT) {
            let mut found = None;
            self.table.keys_at(&[id], t, |key| found = Some(key))?;
            return Ok(found.expect("a key"));
        }
        if matches!(self.names[0], VertexKey::Str(_)) {
            let mut texts = TextColumn::default();
            self.table.texts_at(&[id], t, &mut texts)?;
            return Ok(texts.get(0).expect("a text").into());
        }
        let mut number = None;
        self.table.numbers_at(&[id], t, |n| number = Some(n))?;
        Ok(VertexKey::U64(number.expect("a number")))
    }

    fn check(&self) {
        for (at, name) in self.names.iter().enumerate() {
            let none = Spans::new();
            let spans = self.spans.get(&at).unwrap_or(&none);
            for t in (self.oldest.0..=self.now + 1).map(Timestamp) {
                let expected = spans.iter().find(|(_, born, died)| *born <= t && t < *died);
                assert_eq!(
                    self.table.at(name.as_ref(), self.far(t)),
                    expected.map(|(id, ..)| *id),
                    "{name:?} at {t:?}"
                );
            }
            for t in (self.oldest.0..=self.now + 1).map(Timestamp) {
                for &(id, born, died) in spans {
                    let expected = if born <= t && t < died { Ok(name.clone()) } else { Err(id) };
                    assert_eq!(self.key_at(id, t), expected, "{id:?} at {t:?}");
                }
            }
            let last =
                spans.last().map(|&(_, born, died)| if died == Timestamp::INFINITY { born } else { died });
            assert_eq!(self.table.changed(name.as_ref()), last.map(|t| self.far(t)), "{name:?}");
            for (id, ..) in spans {
                assert_eq!(&self.table.key_of(*id), name);
                assert!(self.table.carries(*id, name.as_ref()) && self.table.kind_of(*id) == name.kind());
            }
        }
        let all: [VertexKeyRef<'_>; 12] = std::array::from_fn(|at| self.names[at].as_ref());
        for t in (self.oldest.0..=self.now + 1).map(Timestamp) {
            let t = self.far(t);
            assert_eq!(
                self.table.at_all(all, t, |_, _, _| ()),
                all.map(|key| self.table.at(key, t)),
                "{t:?}"
            );
        }
        assert_eq!(self.table.len(), self.spans.values().filter(|spans| !spans.is_empty()).count());
    }
}

fn texts() -> Vec<VertexKey> {
    let texts = ["", "a", "ab", "abc", "abcd", "abce", "äöü", "00000000-1111", "a\0", "\0a"];
    let long = ["x".repeat(100), "y".repeat(65_536)];
    texts.iter().map(|s| s.to_string()).chain(long).map(|s| VertexKey::Str(s.as_str().into())).collect()
}

proptest! {
    #[test]
    fn numbers_name_at_each_moment_what_they_were_bound_to(steps in steps(), spread in spread()) {
        let mut model = Model::new((0..12).map(|n| VertexKey::U64(n << 40 | n)).collect(), spread);
        for step in steps {
            model.step(step);
        }
        model.check();
    }

    /// Equal keys of three kinds and of both types: ids go from one key to another.
    #[test]
    fn keys_of_kinds_name_at_each_moment_what_they_were_bound_to(steps in steps(), spread in spread()) {
        let texts = ["", "0", "\0\0"].map(|s| VertexKey::Str(s.into()));
        let numbers = [0, 1 << 17, 48].map(VertexKey::U64);
        let of = |keys: &[VertexKey; 3], kind: u8| keys.clone().map(|key| key.with_kind(KindId(kind)));
        let names = [of(&numbers, 0), of(&texts, 1), of(&numbers, 2), of(&texts, 1).map(|key| match key {
            VertexKey::KindStr(kind, s) => VertexKey::KindStr(kind, format!("{s}.").into()),
            key => key,
        })];
        let mut model = Model::new(names.concat(), spread);
        for step in steps {
            model.step(step);
        }
        model.check();
        for name in ["", "0", "1"] {
            prop_assert_eq!(model.table.at(VertexKeyRef::Str(name), model.far(Timestamp(model.now))), None);
            prop_assert_eq!(model.table.at(KindId(2).key(name), model.far(Timestamp(model.now))), None);
        }
        prop_assert_eq!(model.table.at(KindId(1).key(0), model.far(Timestamp(model.now))), None);
    }

    #[test]
    fn texts_name_at_each_moment_what_they_were_bound_to(steps in steps(), spread in spread()) {
        let mut model = Model::new(texts(), spread);
        for step in steps {
            model.step(step);
        }
        model.check();
    }
}

/// The guess is right for nearly every bound key, and the caller gets the id early. The exception is another
/// entry with the same tag before the entry of the key.
#[test]
fn nearly_every_key_that_is_bound_is_guessed_right() {
    let table = filled(20_000, false, |n| VertexKey::U64(shuffled(n)));
    let (mut right, mut heard) = (0, 0);
    for n in (0..20_000).step_by(2) {
        let keys = [n, n + 1].map(|n| VertexKeyRef::U64(shuffled(n)));
        let ids = [n, n + 1].map(|n| VertexId(n as u32));
        let mut early = [None, None];
        assert_eq!(table.at_all(keys, Timestamp(1), |_, at, id| early[at] = Some(id)), ids.map(Some));
        heard += early.iter().zip(ids).filter(|&(&early, id)| early == Some(id)).count();
        let mut early = [None, None];
        if let Some(guess) = table.guess(&keys, |_, at, id| early[at] = Some(id)) {
            assert_eq!(early, guess.map(Some));
            let carry = guess.iter().zip(keys).all(|(&id, key)| table.carries(id, key));
            assert_eq!(carry, guess == ids);
            right += u32::from(carry);
        }
    }
    assert!(right > 9_000 && heard > 18_500, "{right} of 10,000 pairs, {heard} of 20,000 keys");
}

fn shuffled(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns a table with the keys of `0..count`, which are bound one after another.
fn filled(count: u32, is_text: bool, key: impl Fn(u64) -> VertexKey) -> KeyTable {
    let table = KeyTable::new(is_text);
    for n in 0..count {
        table.bind(key(u64::from(n)).as_ref(), VertexId(n), Timestamp(1), Timestamp::ZERO);
    }
    assert_eq!(table.account.used() as usize, table.bytes());
    table
}

#[test]
fn many_keys_are_found_and_absent_ones_are_not() {
    let key = |n| VertexKey::U64(shuffled(n));
    let table = filled(200_000, false, key);
    for n in 0..200_000 {
        assert_eq!(table.at(key(n).as_ref(), Timestamp(1)), Some(VertexId(n as u32)));
        assert_eq!(table.at(key(n + 200_000).as_ref(), Timestamp(1)), None);
    }
    // Every second key is removed. The other keys remain at their places.
    for n in (0..200_000).step_by(2) {
        table.unbind(VertexId(n), Timestamp(2));
        table.forget(VertexId(n));
    }
    assert_eq!(table.len(), 100_000);
    for n in 0..200_000 {
        let expected = (n % 2 == 1).then_some(VertexId(n as u32));
        assert_eq!(table.at(key(n).as_ref(), Timestamp(2)), expected);
    }
}

/// The table never takes more bytes for a key than the page on vertices promises, with any number of keys.
#[test]
fn a_key_takes_few_bytes() {
    for count in [200_000, 270_000, 360_000] {
        let each = |table: &KeyTable| table.bytes() as f64 / f64::from(count);
        let numbers = each(&filled(count, false, |n| VertexKey::U64(shuffled(n))));
        assert!(numbers < 21.5, "{numbers} bytes for each of {count}");
        let texts =
            each(&filled(count, true, |n| VertexKey::Str(format!("{:036x}", shuffled(n)).as_str().into())));
        assert!(texts < 21.5 + 36.0, "{texts} bytes for each of {count}");
    }
}

/// With enough room reserved, keys are bound without a larger table, and earlier keys are still found.
#[test]
fn room_is_made_for_keys_that_are_about_to_come() {
    let table = filled(1_000, false, VertexKey::U64);
    let before = table.default.index.bytes();
    (0..PARTS).for_each(|part| table.reserve(KindId::DEFAULT, part, 50_000));
    table.reserve(KindId(7), 0, 50_000);
    let reserved = table.default.index.bytes();
    assert!(reserved > before);
    for n in 1_000..36_000u32 {
        table.bind(VertexKeyRef::U64(n.into()), VertexId(n), Timestamp(2), Timestamp::ZERO);
    }
    assert_eq!(table.default.index.bytes(), reserved);
    for n in 0..36_000u32 {
        assert_eq!(table.at(VertexKeyRef::U64(n.into()), Timestamp(2)), Some(VertexId(n)));
    }
}

/// The table reuses the words of removed texts.
#[test]
fn texts_that_come_and_go_take_no_more() {
    let table = KeyTable::new(true);
    let mut least = usize::MAX;
    for round in 1..200 {
        let id = VertexId(round % 3);
        let text = format!("{round:0>60000}");
        table.bind(VertexKeyRef::Str(&text), id, Timestamp(u64::from(round)), Timestamp::ZERO);
        assert_eq!(table.at(VertexKeyRef::Str(&text), Timestamp(u64::from(round))), Some(id));
        table.unbind(id, Timestamp(u64::from(round) + 1));
        table.forget(id);
        least = least.min(table.bytes());
        assert!(table.bytes() < least * 2, "{} bytes after {round} rounds", table.bytes());
    }
    assert!(table.is_empty());
}

/// Readers find all bound keys while larger tables replace the tables that they read.
#[test]
fn readers_find_keys_while_tables_grow() {
    let table = KeyTable::new(false);
    let bound = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..300_000 {
                table.bind(VertexKeyRef::U64(shuffled(n)), VertexId(n as u32), Timestamp(n), Timestamp::ZERO);
                bound.store(n + 1, std::sync::atomic::Ordering::Release);
            }
        });
        scope.spawn(|| {
            let mut step = 0;
            loop {
                let count = bound.load(std::sync::atomic::Ordering::Acquire);
                if count == 300_000 {
                    break;
                }
                step += 1;
                if let Some(n) = shuffled(step).checked_rem(count) {
                    let found = table.at(VertexKeyRef::U64(shuffled(n)), Timestamp(count));
                    assert_eq!(found, Some(VertexId(n as u32)));
                }
            }
        });
    });
}

/// Replay may mark ids as free that the log later gives to other keys.
#[test]
fn what_is_bound_is_not_forgotten() {
    let table = KeyTable::new(false);
    let (id, key) = (VertexId(9), VertexKeyRef::U64(90));
    table.bind(VertexKeyRef::U64(9), id, Timestamp(1), Timestamp::ZERO);
    table.unbind(id, Timestamp(2));
    table.bind(key, id, Timestamp(3), Timestamp::INFINITY);
    table.forget(id);
    assert_eq!(table.at(key, Timestamp(3)), Some(id));
    assert_eq!((table.at(VertexKeyRef::U64(9), Timestamp(3)), table.len()), (None, 1));
}

/// The subgraphs are in pages with kinds, in other pages, and in a page without an id of another kind.
#[test]
fn the_kinds_of_a_subgraph_are_those_of_its_vertices() {
    let table = KeyTable::new(false);
    table.add_kind(KindId(1), false);
    table.add_kind(KindId(2), false);
    let vertices = 0x8000_00ff_00ff_0f0f_u64;
    for subgraph in [0, 1, 127, 128, 300].map(SubgraphId) {
        let bits = || (0..64_u8).filter(|bit| vertices >> bit & 1 != 0);
        for bit in bits() {
            let id = subgraph.vertex(LocalVertex(bit));
            let kind = if subgraph.0 == 300 { KindId::DEFAULT } else { KindId(bit / 8 % 3) };
            table.bind(kind.key(u64::from(id.0)), id, Timestamp(1), Timestamp(1));
        }
        let mut found: BTreeMap<KindId, u64> = BTreeMap::new();
        table.kinds_of(subgraph, vertices, |kind, of| assert_eq!(found.insert(kind, of), None));
        assert_eq!(found.values().fold(0, |all, of| all | of), vertices, "{subgraph:?}");
        for bit in bits() {
            let kind = table.kind_of(subgraph.vertex(LocalVertex(bit)));
            assert!(found[&kind] >> bit & 1 != 0, "{subgraph:?}, {bit}");
        }
        assert_eq!(found.len(), if subgraph.0 == 300 { 1 } else { 3 });
    }
}
