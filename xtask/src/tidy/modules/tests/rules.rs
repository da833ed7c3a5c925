//! Tests of cycles, rooms and the list of arrows: the refused ones, the permitted ones, and the printed
//! lines.

use super::sample;
use crate::tidy::modules::known::{KnownCycle, Room, Rooms};
use crate::tidy::modules::{check, list};
use crate::tidy::report::{File, Report};

fn errors(files: &[(&str, &str)], known: &[KnownCycle], rooms: &[Rooms]) -> Vec<String> {
    let mut report = Report::default();
    check(&sample(files), known, rooms, &mut report);
    report.errors
}

#[track_caller]
fn only_error(files: &[(&str, &str)], known: &[KnownCycle], rooms: &[Rooms]) -> String {
    let errors = errors(files, known, rooms);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].clone()
}

#[test]
fn impl_blocks_of_another_modules_type_are_counted() {
    let files = sample(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub struct Core<T>(T);\npub trait Act {}\nimpl<T: Copy> Core<T> where T: Send {}"),
        (
            "b.rs",
            "use crate::a::{Act, Core};\nimpl<T: Fn(u8) -> u8> Core<T> {}\nimpl Core<u8> {}\nstruct Own;\n\
             impl Own {}\nimpl<T> Act for Core<T> {}",
        ),
    ]);
    let lines = list(&files, "sample").unwrap_or_else(|message| panic!("{message}"));
    let expected = "sample: 3 modules, 1 arrow, no cycle, 2 impl blocks of another module's type";
    assert_eq!(lines.last().map(String::as_str), Some(expected));
}

#[test]
fn the_arrows_of_a_crate_are_listed_with_their_lines() {
    let files = sample(&[
        ("lib.rs", "mod b;\nmod a;"),
        ("a.rs", "//! Sound.\n\nuse crate::b::{\n    One,\n    Two,\n};\nfn f(_: Two, _: One) {}"),
        ("b.rs", "pub struct One;\npub struct Two;\nfn f() {\n    crate::a::f();\n}"),
    ]);
    let lines = list(&files, "sample").unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(
        lines[..3],
        ["a -> b  crates/sample/src/a.rs:4  One, Two", "b -> a  crates/sample/src/b.rs:4  f", "cycle: a, b"]
    );
    assert_eq!(
        lines.last().map(String::as_str),
        Some("sample: 3 modules, 2 arrows, 1 cycle (modules: 2), 0 impl blocks of another module's type")
    );
    assert_eq!(list(&files, "none"), Err("there is no crate `none`, only sample".to_owned()));
}

#[test]
fn a_cycle_of_top_level_modules_may_be_none_of_files() {
    let files = sample(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub mod high;\npub mod low;"),
        ("a/high.rs", "fn f() { crate::b::middle(); }"),
        ("a/low.rs", "pub fn low() {}"),
        ("b.rs", "pub fn middle() { crate::a::low::low(); }"),
    ]);
    let lines = list(&files, "sample").unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(lines[2], "cycle of top-level modules: a, b");
    assert!(lines[3].contains("no cycle"), "{lines:?}");
}

#[test]
fn paths_that_tidy_cannot_follow_are_listed_and_modules_without_a_file_refused() {
    let files = sample(&[("lib.rs", "mod a;"), ("a.rs", "fn f() { crate::none::f(); }")]);
    let lines = list(&files, "sample").unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(lines[0], "not followed: crate::none::f  crates/sample/src/a.rs:1");
    let error = only_error(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", "")], &[], &[]);
    assert_eq!(error, "crates/sample/src/lib.rs:2: there is no file of the module `b`");
    let error = only_error(&[("lib.rs", "#[path = \"c.rs\"]\nmod a;"), ("a.rs", "")], &[], &[]);
    assert!(error.contains("lib.rs:1: tidy does not follow `#[path]`"), "{error}");
}

#[test]
fn a_file_that_is_no_rust_is_refused() {
    assert!(
        only_error(&[("lib.rs", "\nstruct;")], &[], &[]).starts_with("crates/sample/src/lib.rs:2: expected")
    );
    let refused = File::new("crates/sample/src/lib.rs".to_owned(), "\nfn f() { ( }".to_owned());
    assert!(refused.is_err_and(|message| message.starts_with("crates/sample/src/lib.rs:2: ")));
}

/// The modules `a`, `b` and `c` use each other in a cycle. Module `d` uses them, but is in no cycle.
const THREE: [(&str, &str); 5] = [
    ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
    ("a.rs", "pub struct A;\nfn f(_: crate::b::B) {}"),
    ("b.rs", "pub struct B;\nfn f(_: crate::c::C) {}"),
    ("c.rs", "pub struct C;\n\nfn f(_: crate::a::A) {}"),
    ("d.rs", "fn f(_: crate::a::A) {}"),
];

const fn known(modules: &'static [&'static str]) -> KnownCycle {
    KnownCycle { krate: "sample", modules, plan: "move A" }
}

#[test]
fn a_cycle_is_found_with_a_line_for_each_arrow() {
    let error = only_error(&THREE, &[], &[]);
    assert!(error.starts_with("sample: 3 modules use each other in a cycle: a, b, c; cut"), "{error}");
    let arrows: Vec<&str> = error.lines().skip(1).map(str::trim).collect();
    let (ab, bc, ca) = (
        "a -> b  crates/sample/src/a.rs:2  B",
        "b -> c  crates/sample/src/b.rs:2  C",
        "c -> a  crates/sample/src/c.rs:3  A",
    );
    assert_eq!(arrows, [ab, bc, ca]);
}

#[test]
fn a_module_and_one_below_it_make_a_cycle_like_any_other() {
    let child = ("a/inner.rs", "pub struct Inner(super::Shared);");
    let used =
        [("lib.rs", "mod a;"), ("a.rs", "mod inner;\npub struct Shared;\nfn f(_: inner::Inner) {}"), child];
    assert!(only_error(&used, &[], &[]).contains("2 modules use each other in a cycle: a, a::inner"));
    let re_exported =
        [("lib.rs", "mod a;"), ("a.rs", "mod inner;\npub struct Shared;\npub use inner::Inner;"), child];
    assert_eq!(errors(&re_exported, &[], &[]), Vec::<String>::new());
}

#[test]
fn two_cycles_that_do_not_meet_are_two() {
    let mut files = THREE.to_vec();
    files[0].1 = "mod a;\nmod b;\nmod c;\nmod d;\nmod e;";
    files[4].1 = "pub struct D(crate::e::E, crate::a::A);";
    files.push(("e.rs", "pub struct E;\nfn f(_: crate::d::D) {}"));
    let errors = errors(&files, &[known(&["a", "b", "c"])], &[]);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("2 modules use each other in a cycle: d, e;"), "{errors:?}");
}

#[test]
fn a_known_cycle_is_permitted_and_no_module_beyond_it() {
    assert_eq!(errors(&THREE, &[known(&["a", "b", "c"])], &[]), Vec::<String>::new());
    let error = only_error(&THREE, &[known(&["a", "b"])], &[]);
    assert!(error.contains("the known cycle is without c (its plan: move A)"), "{error}");
    // The cycle of another crate permits nothing here. The check also refuses it, because there is no such
    // crate.
    let other = KnownCycle { krate: "other", modules: &["a", "b", "c"], plan: "" };
    let errors = errors(&THREE, &[other], &[]);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[1].starts_with("other: there is no such crate"), "{errors:?}");
}

#[test]
fn an_entry_of_a_cycle_that_is_gone_or_smaller_is_refused() {
    let mut files = THREE;
    files[3].1 = "pub struct C;";
    let error = only_error(&files, &[known(&["a", "b", "c"])], &[]);
    assert!(error.starts_with("sample: the cycle of a, b, c is gone; remove its entry"), "{error}");
    files[2].1 = "pub struct B;\nfn f(_: crate::a::A) {}";
    let error = only_error(&files, &[known(&["a", "b", "c"])], &[]);
    assert!(error.contains("the cycle of a, b, c is smaller; shorten its entry to a, b"), "{error}");
}

const fn room(name: &'static str, may_use: &'static [&'static str]) -> Room {
    Room { name, may_use }
}

const ROOMED: [(&str, &str); 5] = [
    ("lib.rs", "mod low;\nmod high;\nmod side;\npub use high::High;"),
    ("low.rs", "pub struct Low;"),
    ("high.rs", "mod part;\npub struct High(crate::low::Low);"),
    ("high/part.rs", "fn f(_: super::High) {}"),
    ("side.rs", "pub struct Side;"),
];

#[test]
fn an_arrow_that_the_rooms_do_not_permit_is_refused() {
    const TABLE: &[Rooms] = &[Rooms {
        krate: "sample",
        rooms: &[room("low", &[]), room("side", &[]), room("high", &["low"]), room("lib", &[])],
    }];
    assert_eq!(errors(&ROOMED, &[], TABLE), Vec::<String>::new());
    let mut files = ROOMED;
    files[3].1 = "fn f(_: crate::side::Side) {}";
    let error = only_error(&files, &[], TABLE);
    let expected =
        "sample: high may not use side: high::part -> side  crates/sample/src/high/part.rs:1  Side";
    assert!(error.starts_with(expected), "{error}");
    files[3].1 = "";
    files[0].1 = "mod low;\nmod high;\nmod side;\nfn f(_: low::Low) {}";
    assert!(only_error(&files, &[], TABLE).starts_with("sample: lib may not use low: lib -> low"));
}

#[test]
fn a_table_of_rooms_that_does_not_fit_is_refused() {
    let refuses = |rooms: &'static [Room], expected: &str| {
        let error = only_error(&ROOMED, &[], &[Rooms { krate: "sample", rooms }]);
        assert!(error.contains(expected), "{error}");
    };
    refuses(
        const { &[room("low", &[]), room("high", &["low"]), room("lib", &[])] },
        "no room for the module `side`",
    );
    refuses(
        const {
            &[
                room("low", &[]),
                room("side", &[]),
                room("high", &["low"]),
                room("lib", &[]),
                room("gone", &[]),
            ]
        },
        "there is no module `gone`",
    );
    refuses(
        const { &[room("side", &[]), room("high", &["low"]), room("low", &[]), room("lib", &[])] },
        "`high` may use `low`, which is not above it",
    );
    let elsewhere = Rooms { krate: "other", rooms: &[] };
    assert!(only_error(&ROOMED, &[], &[elsewhere]).starts_with("other: there is no such crate"));
}
