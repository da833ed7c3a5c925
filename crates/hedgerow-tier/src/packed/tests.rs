//! Tests of encoding and decoding lists, against a model that works bit by bit.

mod hostile;
mod model;

use proptest::prelude::*;

use super::*;
use hedgerow_core::VertexId;

/// All forms of a list.
const FORMS: [Form; 4] = [
    Form { relative: false, repeats: false },
    Form { relative: false, repeats: true },
    Form { relative: true, repeats: false },
    Form { relative: true, repeats: true },
];

fn encoded(list: &[VertexId], source: VertexId, form: Form) -> Vec<u8> {
    let mut out = Vec::new();
    encode_list(list, source, form, &mut out);
    out
}

/// Decodes the list that fills all of `bytes`.
fn decoded(bytes: &[u8], len: usize, source: VertexId, form: Form) -> Result<Vec<VertexId>, Fault> {
    let mut cursor = Bytes::new(bytes);
    let mut list = Vec::new();
    decode_list(&mut cursor, len, source, form, &mut list)?;
    assert_eq!(list.len(), len);
    assert!(cursor.is_empty(), "{} bytes left over", cursor.remaining());
    Ok(list)
}

/// Encodes and decodes `list` in every form that can represent it, with and without bytes after it. Compares
/// the bytes with those of the model.
fn check(list: &[VertexId], source: VertexId) {
    let strict = list.windows(2).all(|pair| pair[0] < pair[1]);
    for form in FORMS.into_iter().filter(|form| strict || form.repeats) {
        let bytes = encoded(list, source, form);
        assert_eq!(bytes, model::encode(list, source, form), "{list:?} of {source:?} as {form:?}");
        assert_eq!(encoded_len(list, source, form), bytes.len());
        for behind in [0, 1, 7, 8, 39, 40, 41, 300] {
            let mut more = bytes.clone();
            more.resize(bytes.len() + behind, 0xff);
            let mut cursor = Bytes::new(&more);
            let mut out = vec![VertexId(7)];
            decode_list(&mut cursor, list.len(), source, form, &mut out).unwrap();
            assert_eq!(out[1..], *list, "{form:?} with {behind} bytes behind");
            assert_eq!((out[0], cursor.remaining()), (VertexId(7), behind));
            let mut cursor = Bytes::new(&more);
            skip_list(&mut cursor, list.len()).unwrap();
            assert_eq!(cursor.remaining(), behind, "{form:?} skipped");
        }
    }
}

/// Returns the list with this first id and these gaps.
fn list_of(first: u32, gaps: impl IntoIterator<Item = u32>) -> Vec<VertexId> {
    let mut list = vec![VertexId(first)];
    let mut id = first;
    for gap in gaps {
        id = id.checked_add(gap).filter(|id| *id <= VertexId::MAX.0).unwrap();
        list.push(VertexId(id));
    }
    list
}

#[test]
fn these_lists_have_these_bytes() {
    let plain = Form::default();
    let list = |ids: &[u32]| ids.iter().copied().map(VertexId).collect::<Vec<_>>();
    for (ids, source, form, bytes) in [
        (list(&[]), 0, plain, &[][..]),
        (list(&[0]), 9, plain, &[0]),
        (list(&[300]), 9, plain, &[0xac, 2]),
        (list(&[300]), 299, Form { relative: true, ..plain }, &[2]),
        (list(&[299]), 300, Form { relative: true, ..plain }, &[1]),
        (list(&[u32::MAX - 1]), 0, plain, &[0xfe, 0xff, 0xff, 0xff, 0x0f]),
        (list(&[5, 6, 7, 8]), 0, plain, &[5, 0]),
        (list(&[5, 5, 5]), 0, Form { repeats: true, ..plain }, &[5, 0]),
        (list(&[5, 6]), 0, Form { repeats: true, ..plain }, &[5, 1, 1]),
        (list(&[1, 3, 5, 10]), 0, plain, &[1, 3, 0b00_001_001, 0b1]),
        (list(&[0, u32::MAX - 1]), 0, plain, &[0, 32, 0xfd, 0xff, 0xff, 0xff]),
    ] {
        assert_eq!(encoded(&ids, VertexId(source), form), bytes, "{ids:?}");
        check(&ids, VertexId(source));
    }
}

#[test]
fn every_width_at_every_length_of_a_mini_block() {
    for (width, count) in (0..=32u32).flat_map(|width| (1..=MINI_BLOCK).map(move |count| (width, count))) {
        // The widest gap that the ids allow if all other gaps are 0, plus a step for each.
        let widest = ((1u64 << width) - 1).min(u64::from(VertexId::MAX.0) - MINI_BLOCK as u64);
        let room = (u64::from(VertexId::MAX.0) - widest) / count as u64;
        for (place, fill) in [(0, 0), (count - 1, 0), (count / 2, 1), (count - 1, widest)] {
            for step in [0, 1] {
                let fill = fill.min(widest).min(room - step);
                let gap = |nth| if nth == place { widest + step } else { fill + step };
                let list = list_of(0, (0..count).map(|nth| gap(nth) as u32));
                let form = Form { relative: false, repeats: step == 0 };
                assert_eq!(u32::from(encoded(&list, VertexId(77), form)[1]), width);
                check(&list, VertexId(77));
            }
        }
    }
}

#[test]
fn lists_of_many_mini_blocks_of_different_widths() {
    for len in [63, 64, 65, 66, 127, 128, 129, 130, 1000] {
        let gaps = (1..len).map(|nth: u32| 1 + (nth.wrapping_mul(0x9e37_79b9) >> 12 >> (nth / 64 % 20)));
        check(&list_of(3, gaps.clone()), VertexId(500));
        check(&list_of(3, gaps.map(|gap| gap / 3)), VertexId(500));
        check(&list_of(3, (1..len).map(|_| 0)), VertexId(500));
    }
}

#[test]
fn the_limits_of_ids() {
    let max = VertexId::MAX;
    for source in [VertexId(0), VertexId(1 << 31), max] {
        check(&[VertexId(0)], source);
        check(&[max], source);
        check(&[VertexId(0), max], source);
        check(&[max, max], source);
        check(&[VertexId(max.0 - 1), max], source);
        check(&list_of(max.0 - 100, (0..100).map(|_| 1)), source);
    }
}

#[test]
fn the_first_neighbor_decides_whether_relative_is_shorter() {
    let list = list_of(1_000_000, [1, 5]);
    let [plain, _, relative, _] = FORMS;
    for source in [0, 999_990, 5_000_000].map(VertexId) {
        let first = |form| first_len(list[0], source, form) as isize;
        let whole = |form| encoded_len(&list, source, form) as isize;
        assert_eq!(first(plain) - first(relative), whole(plain) - whole(relative));
    }
    assert_eq!(first_len(list[0], VertexId(999_990), relative), 1);
    assert_eq!(first_len(list[0], VertexId(999_990), plain), 3);
}

/// Generates lists like those of graphs: gaps of similar sizes, and a few much larger ones.
fn lists() -> impl Strategy<Value = Vec<VertexId>> {
    (any::<u32>(), 0..24u32, prop::collection::vec((any::<u32>(), 0..40u32), 0..200)).prop_map(
        |(first, bits, gaps)| {
            let mut list = vec![VertexId(first >> (bits % 9).max(1))];
            for (gap, more) in gaps {
                // One gap in twenty is up to 256 times larger.
                let bits = if more < 2 { (bits + 8).min(32) } else { bits };
                let id = list[list.len() - 1].0.checked_add((u64::from(gap) & ((1 << bits) - 1)) as u32);
                list.extend(id.map(VertexId).filter(|id| *id <= VertexId::MAX));
            }
            list
        },
    )
}

proptest! {
    #[test]
    fn any_list_comes_back(mut list in lists(), source in any::<u32>()) {
        let source = VertexId(source.min(VertexId::MAX.0));
        check(&list, source);
        list.dedup();
        check(&list, source);
    }

    #[test]
    fn lists_one_after_another_come_back(lists in prop::collection::vec(lists(), 0..20)) {
        for form in FORMS.into_iter().filter(|form| form.repeats) {
            let mut bytes = Vec::new();
            lists.iter().for_each(|list| encode_list(list, VertexId(9), form, &mut bytes));
            let (mut cursor, mut out) = (Bytes::new(&bytes), Vec::new());
            for list in &lists {
                decode_list(&mut cursor, list.len(), VertexId(9), form, &mut out).unwrap();
            }
            prop_assert_eq!(out, lists.concat());
            prop_assert!(cursor.is_empty());
        }
    }
}
