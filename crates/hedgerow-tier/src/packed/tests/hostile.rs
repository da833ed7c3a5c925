//! Tests with bytes that no encoder wrote. Decoding must return a fault or a valid list, and agree with the
//! model.

use proptest::prelude::*;

use super::*;

/// Decodes with the decoder and with the model, and checks the promises of a decoded list. Returns whether
/// the bytes are a list.
fn agrees(bytes: &[u8], len: usize, source: VertexId, form: Form) -> bool {
    let mut cursor = Bytes::new(bytes);
    let mut out = vec![VertexId(1), VertexId(0)];
    let found = decode_list(&mut cursor, len, source, form, &mut out);
    let expected = model::decode(bytes, len, source, form);
    assert_eq!(&out[..2], [VertexId(1), VertexId(0)]);
    match (found, expected) {
        (Ok(()), Some((list, rest))) => {
            assert_eq!(out[2..], list);
            assert_eq!(cursor.remaining(), rest.len());
            let ascends = |pair: &[VertexId]| pair[0] < pair[1] || (form.repeats && pair[0] == pair[1]);
            assert!(list.windows(2).all(ascends) && list.iter().all(|id| *id <= VertexId::MAX));
            let mut skipped = Bytes::new(bytes);
            assert_eq!(skip_list(&mut skipped, len), Ok(()));
            assert_eq!(skipped.remaining(), rest.len());
            true
        }
        (Err(fault), None) => {
            assert!(fault.position <= bytes.len());
            assert_eq!(out.len(), 2, "what was decoded before {fault}");
            false
        }
        (found, expected) => panic!("{found:?}, and the model {expected:?}, of {bytes:?}, {len}, {form:?}"),
    }
}

fn fault(bytes: &[u8], len: usize, form: Form) -> &'static str {
    assert!(!agrees(bytes, len, VertexId(0), form));
    // With more bytes after the list, the decoder takes another loop.
    let more = [bytes, &[0; 64]].concat();
    let with = decode_list(&mut Bytes::new(&more), len, VertexId(0), form, &mut Vec::new());
    let without = decoded(bytes, len, VertexId(0), form).unwrap_err();
    if without.what != "bytes missing" {
        assert_eq!(with, Err(without));
    }
    without.what
}

const PLAIN: Form = Form { relative: false, repeats: false };
const RELATIVE: Form = Form { relative: true, repeats: false };

#[test]
fn each_rule_has_its_fault() {
    assert_eq!(fault(&[1, 33, 0, 0, 0, 0, 0], 2, PLAIN), "gaps of more than 32 bits");
    assert_eq!(fault(&[1, 255], 2, PLAIN), "gaps of more than 32 bits");
    assert_eq!(fault(&[], 1, PLAIN), "bytes missing");
    assert_eq!(fault(&[1], 2, PLAIN), "bytes missing");
    assert_eq!(fault(&[1, 8], 2, PLAIN), "bytes missing");
    assert_eq!(fault(&[0x80], 1, PLAIN), "bytes missing");
    assert_eq!(fault(&[0x80, 0], 1, PLAIN), "number longer than it need be");
    assert_eq!(fault(&[0x81, 0x80, 0], 1, PLAIN), "number longer than it need be");
    assert_eq!(fault(&[0x80, 0x80, 0x80, 0x80, 0x80, 1], 1, PLAIN), "number longer than five bytes");
    assert_eq!(fault(&[0xff; 12], 1, PLAIN), "number longer than five bytes");
    // u32::MAX and larger numbers are not ids.
    assert_eq!(fault(&[0xff, 0xff, 0xff, 0xff, 0x0f], 1, PLAIN), "first neighbor is no id");
    assert_eq!(fault(&[0xff, 0xff, 0xff, 0xff, 0x7f], 1, PLAIN), "first neighbor is no id");
    // The id would be one below the source, which is 0.
    assert_eq!(fault(&[1], 1, RELATIVE), "first neighbor is no id");
    assert_eq!(fault(&[0xff, 0xff, 0xff, 0xff, 0x7f], 1, RELATIVE), "first neighbor is no id");
    assert_eq!(fault(&[0xfe, 0xff, 0xff, 0xff, 0x7f], 1, RELATIVE), "first neighbor is no id");
    assert_eq!(fault(&[0, 3, 0b1000], 2, PLAIN), "bits behind the last gap");
    assert_eq!(fault(&[0, 3, 0, 0b1000_0000], 5, PLAIN), "bits behind the last gap");
}

#[test]
fn a_sum_beyond_the_largest_id_is_noticed_wherever_it_is_passed() {
    let beyond = "neighbor beyond the largest id";
    assert_eq!(fault(&[0, 32, 0xfe, 0xff, 0xff, 0xff], 2, PLAIN), beyond);
    assert_eq!(fault(&[0, 32, 0xff, 0xff, 0xff, 0xff], 2, Form { repeats: true, ..PLAIN }), beyond);
    assert_eq!(fault(&[0xfe, 0xff, 0xff, 0xff, 0x0f, 0], 2, PLAIN), beyond);
    for len in [3, 5, 6, 9, 10, 17, 64, 65, 66, 130, 200] {
        for place in 1..len {
            // Two gaps of 2^32 - 1 in a list of zeros have a sum below 2^33, whose low 32 bits are a small
            // id.
            let gap = |nth: usize| if nth == place || nth == 1 { [0xff; 4] } else { [0; 4] };
            let mut bytes = vec![0];
            for block in (1..len).collect::<Vec<_>>().chunks(MINI_BLOCK) {
                bytes.push(32);
                bytes.extend(block.iter().flat_map(|nth| gap(*nth)));
            }
            assert_eq!(fault(&bytes, len, PLAIN), beyond, "{place} of {len}");
        }
    }
}

#[test]
fn a_width_larger_than_need_be_is_accepted() {
    for form in [PLAIN, Form { repeats: true, ..PLAIN }] {
        let step = u32::from(!form.repeats);
        assert!(agrees(&[0, 32, 1, 0, 0, 0], 2, VertexId(0), form));
        assert_eq!(decoded(&[0, 9, 1, 0], 2, VertexId(0), form).unwrap()[1], VertexId(1 + step));
    }
}

#[test]
fn a_length_takes_no_memory_that_the_bytes_do_not_justify() {
    for len in [70, 1 << 20, u32::MAX as usize, u32::MAX as usize + 1, usize::MAX] {
        let mut out = Vec::new();
        let bytes = [0, 0];
        assert!(decode_list(&mut Bytes::new(&bytes), len, VertexId(0), PLAIN, &mut out).is_err());
        assert_eq!(out.capacity(), 0, "{len}");
        assert!(skip_list(&mut Bytes::new(&bytes), len).is_err());
    }
    let bytes = [0; 101];
    let list = decoded(&bytes, 1 + 64 * 100, VertexId(0), PLAIN).unwrap();
    assert!(list.capacity() * size_of::<VertexId>() <= 256 * bytes.len());
}

/// Returns encoded lists of a few lengths and widths, in each form.
fn small_encodings() -> Vec<(Vec<u8>, usize, Form)> {
    let mut found = Vec::new();
    for form in FORMS {
        for (len, shift) in [(1, 4), (2, 4), (5, 9), (8, 27), (9, 0), (12, 13), (70, 6), (100, 25)] {
            let gap = |nth: u32| 1 + (nth.wrapping_mul(0x9e37_79b9) >> (32 - shift).min(31));
            let gaps = (1..len).map(|nth| gap(nth) / if shift > 24 { len } else { 1 } + 1);
            let list = list_of(1000, gaps);
            found.push((encoded(&list, VertexId(1010), form), list.len(), form));
        }
    }
    found
}

#[test]
fn every_flipped_bit_gives_a_fault_or_another_valid_list() {
    let (mut faults, mut lists) = (0, 0);
    for (bytes, len, form) in small_encodings() {
        for behind in [0, 64] {
            let mut flipped = bytes.clone();
            flipped.resize(bytes.len() + behind, 0x5a);
            for bit in 0..bytes.len() * 8 {
                flipped[bit / 8] ^= 1 << (bit % 8);
                let valid = agrees(&flipped, len, VertexId(1010), form);
                flipped[bit / 8] ^= 1 << (bit % 8);
                *(if valid { &mut lists } else { &mut faults }) += 1;
            }
        }
    }
    assert!(faults > 100 && lists > 100, "{faults} faults, {lists} lists");
}

#[test]
fn every_truncation_is_a_fault() {
    for (bytes, len, form) in small_encodings() {
        for end in 0..bytes.len() {
            assert!(!agrees(&bytes[..end], len, VertexId(1010), form), "{end} bytes of {}", bytes.len());
            assert!(skip_list(&mut Bytes::new(&bytes[..end]), len).is_err());
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_as_the_model_reads_them(
        bytes in prop::collection::vec(prop_oneof![0..=34u8, any::<u8>()], 0..400),
        len in prop_oneof![0..20usize, 0..300usize],
        source in 0..=VertexId::MAX.0,
        relative: bool,
        repeats: bool,
    ) {
        agrees(&bytes, len, VertexId(source), Form { relative, repeats });
    }

    /// A damaged encoding passes more checks than arbitrary bytes do.
    #[test]
    fn damaged_lists_are_read_as_the_model_reads_them(
        list in lists(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        shorter in 0..3usize,
        form in 0..FORMS.len(),
    ) {
        let form = Form { repeats: true, ..FORMS[form] };
        let mut bytes = encoded(&list, VertexId(9), form);
        damage.iter().for_each(|(place, byte)| *place.get_mut(&mut bytes) = *byte);
        for repeats in [false, true] {
            agrees(&bytes, list.len() - shorter.min(list.len()), VertexId(9), Form { repeats, ..form });
            agrees(&bytes, list.len() + shorter, VertexId(9), Form { repeats, ..form });
        }
    }
}
