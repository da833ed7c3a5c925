//! The composition of words, in all combinations of kinds.

use hedgerow_core::{LocalVertex, RowRef, VertexId};
use hedgerow_mem::items::ItemRef;

use crate::sources::testing::sound;
use crate::sources::{Identity, Word, WordKind, compose};

const KINDS: [WordKind; 3] = [WordKind::Put, WordKind::PutIfAbsent, WordKind::Remove];

fn item(weight: f64) -> ItemRef<'static> {
    ItemRef { dst: VertexId(7), rank: 0, weight, row: RowRef::Empty }
}

/// Returns three words about one edge, of any kinds, oldest first.
fn threes() -> Vec<[Word<'static>; 3]> {
    let word = |kind, weight| Word { local: LocalVertex(1), kind, item: item(weight) };
    let kinds = KINDS.into_iter().flat_map(|a| KINDS.map(|b| (a, b)));
    kinds.flat_map(|(a, b)| KINDS.map(|c| [word(a, 1.0), word(b, 2.0), word(c, 3.0)])).collect()
}

fn weight(edge: Option<ItemRef<'_>>) -> Option<u64> {
    edge.map(|item| item.weight.to_bits())
}

#[test]
fn a_composed_word_has_the_effect_of_its_words_in_order() {
    let _sound = sound();
    for [oldest, middle, newest] in threes() {
        for base in [None, Some(item(0.0))] {
            let expected = weight(newest.applied(middle.applied(oldest.applied(base))));
            let down = newest.over(middle).over(oldest);
            let up = newest.over(middle.over(oldest));
            assert_eq!(weight(down.applied(base)), expected, "{oldest:?} {middle:?} {newest:?}");
            assert_eq!(weight(up.applied(base)), expected, "{oldest:?} {middle:?} {newest:?}");
            assert_eq!(down.kind, up.kind);
        }
    }
}

#[test]
fn a_word_that_ends_the_search_hides_all_that_is_older() {
    let _sound = sound();
    for [oldest, middle, newest] in threes().into_iter().filter(|words| words[2].ends_search()) {
        let expected = weight(newest.applied(None));
        assert_eq!(weight(newest.applied(middle.applied(oldest.applied(Some(item(0.0)))))), expected);
    }
}

#[test]
fn of_several_puts_if_absent_the_oldest_is_valid() {
    let _sound = sound();
    let word = |weight| Word { local: LocalVertex(1), kind: WordKind::PutIfAbsent, item: item(weight) };
    let mut words = vec![word(3.0), word(2.0), word(1.0)];
    compose(&mut words);
    assert_eq!(words.len(), 1);
    assert_eq!(weight(words[0].applied(None)), Some(1.0f64.to_bits()));
}

#[test]
fn composed_words_ascend_and_keep_their_removes() {
    let _sound = sound();
    let at = |local, other, rank| Identity { local: LocalVertex(local), other: VertexId(other), rank };
    let all = [at(3, 1, 0), at(1, 9, 2), at(1, 9, 0), at(1, 2, 7), at(1, 9, 2)];
    let mut words: Vec<Word<'_>> = all.into_iter().map(Word::remove).collect();
    compose(&mut words);
    let found: Vec<Identity> = words.iter().map(Word::identity).collect();
    assert_eq!(found, [at(1, 2, 7), at(1, 9, 0), at(1, 9, 2), at(3, 1, 0)]);
    assert!(words.iter().all(|word| word.kind == WordKind::Remove));
}
