//! Tests of the search for the module that defines a path.

mod rules;

use super::tree::trees;
use super::uses::Graph;
use crate::tidy::report::{File, Report};

/// Returns the files of a crate `sample`. The paths are within `src`.
fn sample(files: &[(&str, &str)]) -> Vec<File> {
    let file = |(path, text): &(&str, &str)| {
        File::new(format!("crates/sample/src/{path}"), (*text).to_owned()).unwrap_or_else(|e| panic!("{e}"))
    };
    files.iter().map(file).collect()
}

/// Returns the arrows of the crate as `from -> to: items`, sorted.
#[track_caller]
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let mut report = Report::default();
    let trees = trees(&sample(files), &mut report);
    assert_eq!(report.errors, Vec::<String>::new());
    let [tree] = trees.as_slice() else { panic!("one crate, not {}", trees.len()) };
    let graph = Graph::of(tree);
    assert_eq!(graph.unknown, Vec::new());
    let mut arrows: Vec<String> = graph
        .arrows
        .iter()
        .map(|(&(from, to), items)| {
            let items: Vec<&str> = items.keys().map(String::as_str).collect();
            format!("{} -> {}: {}", tree.nodes[from].name, tree.nodes[to].name, items.join(" "))
        })
        .collect();
    arrows.sort();
    arrows
}

#[test]
fn a_path_leads_through_re_exports_to_the_module_that_defines() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod user;\npub use a::Thing as Public;"),
        ("a.rs", "mod deep;\npub(crate) use self::deep::Thing;"),
        ("a/deep.rs", "mod deeper;\npub(in crate::a) use deeper::{Thing, Other};"),
        ("a/deep/deeper.rs", "pub struct Thing;\npub struct Other;"),
        ("b.rs", "pub use crate::a::Thing as Renamed;"),
        ("user.rs", "use crate::b::Renamed;\nfn f(_: Renamed, _: crate::Public) {}"),
    ];
    assert_eq!(arrows(&files), ["user -> a::deep::deeper: Thing"]);
}

#[test]
fn a_module_that_uses_what_it_re_exports_depends_on_it() {
    let re_exported = [("lib.rs", "mod a;\npub use a::Thing;"), ("a.rs", "pub struct Thing;")];
    assert_eq!(arrows(&re_exported), Vec::<String>::new());
    let used = [("lib.rs", "mod a;\npub use a::Thing;\nfn f(_: Thing) {}"), ("a.rs", "pub struct Thing;")];
    assert_eq!(arrows(&used), ["lib -> a: Thing"]);
}

#[test]
fn super_self_braces_renames_and_globs_are_followed() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod globs;\nmod plain;"),
        ("a/mod.rs", "mod inner;\npub struct Above;\npub fn free() {}\npub const LIMIT: [u8; 2] = [0; 2];"),
        (
            "a/inner.rs",
            "use super::{Above as Up, super::b::{self, One, two::{Two, make as build}}};\n\
             fn f(_: Up, _: One, _: Two) { build(); b::three(); super::free(); self::g(); }\nfn g() {}",
        ),
        ("b.rs", "pub mod two;\npub struct One;\npub fn three() {}"),
        ("b/two.rs", "pub enum Two { A }\npub fn make() {}"),
        ("globs.rs", "use crate::a::*;\nuse crate::b::two::Two::*;\nfn f(_: Above) -> usize { LIMIT.len() }"),
        ("plain.rs", "fn f() { for _ in 0..crate::a::LIMIT.len() { crate::b::two::Two::A; } }"),
    ];
    assert_eq!(
        arrows(&files),
        [
            "a::inner -> a: Above free",
            "a::inner -> b: One three",
            "a::inner -> b::two: Two make",
            "globs -> a: Above LIMIT",
            "globs -> b::two: Two",
            "plain -> a: LIMIT",
            "plain -> b::two: Two",
        ]
    );
}

#[test]
fn an_import_for_the_modules_below_is_no_dependency_of_the_module_above() {
    let files = [
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "mod inner;\nuse crate::b::Thing;"),
        ("a/inner.rs", "use super::Thing;\nfn f(_: Thing) {}"),
        ("b.rs", "pub struct Thing;"),
    ];
    assert_eq!(arrows(&files), ["a::inner -> b: Thing"]);
}

#[test]
fn a_trait_counts_though_no_code_names_it() {
    let user = |import: &str| {
        let user = format!("use crate::b::{import};\nfn f() {{ 1.twice() }}");
        arrows(&[
            ("lib.rs", "mod a;\nmod b;"),
            ("a.rs", &user),
            ("b.rs", "pub trait Twice {}\npub struct Unused;"),
        ])
    };
    assert_eq!(user("Twice"), ["a -> b: Twice"]);
    assert_eq!(user("Twice as _"), ["a -> b: Twice"]);
    assert_eq!(user("Unused"), Vec::<String>::new());
}

#[test]
fn code_of_tests_does_not_count() {
    let with = |text: &str| {
        let mut files = vec![
            ("lib.rs", "mod a;\nmod b;"),
            ("b.rs", "pub struct Thing;\npub fn made() -> Thing { Thing }"),
            ("a/tests.rs", "fn f() { crate::b::made(); }"),
            ("a/helpers.rs", "fn f() { crate::b::made(); }"),
        ];
        files.push(("a.rs", text));
        arrows(&files)
    };
    let none = Vec::<String>::new();
    assert_eq!(with("#[cfg(test)]\nmod tests { use crate::b::made; fn f() { made(); } }"), none);
    assert_eq!(with("#[cfg(all(test, not(any(loom, miri))))]\nmod helpers;"), none);
    assert_eq!(with("mod tests;"), none);
    assert_eq!(
        with("#[cfg(test)]\nuse crate::b::made;\n#[test]\nfn f<A, B>(_: A, _: B) { crate::b::made(); }"),
        none
    );
    assert_eq!(
        with("struct S;\nimpl S {\n#[cfg(test)]\n#[inline]\npub(crate) fn f() { crate::b::made(); }\n}"),
        none
    );
    assert_eq!(with("#![cfg(test)]\nfn f() {}\nfn g() { crate::b::made(); }"), none);
    let one = ["a -> b: made"];
    assert_eq!(with("#[cfg(any(test, unix))]\nfn f() { crate::b::made(); }"), one);
    assert_eq!(with("#[cfg(not(test))]\nfn f() { crate::b::made(); }"), one);
    assert_eq!(with("#[cfg(test)]\nfn g() {}\nfn f() { crate::b::made(); }"), one);
    assert_eq!(with("#[cfg(all(unix, not(test)))]\nfn f() { crate::b::made(); }"), one);
    assert_eq!(with("#[cfg(unix)]\nmod helpers;"), ["a::helpers -> b: made"]);
}

#[test]
fn comments_strings_attributes_and_variables_do_not_count() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\npub use b::{made, Thing};"),
        (
            "a.rs",
            "//! See [`crate::b::Thing`].\n/* crate::b::made() */\npub use crate::b::made;\n\
             #[doc(alias = crate::b::Thing)]\nfn f(made: &str) -> &str { let _ = \"crate::b::Thing\"; made }\n\
             struct S { made: u8 }\nfn made_up(s: &S) -> u8 { s.made + S::made() }\nimpl S { fn made() -> u8 { 1 } }",
        ),
        ("b.rs", "pub struct Thing;\npub fn made() -> u8 { 1 }"),
    ];
    assert_eq!(arrows(&files), Vec::<String>::new());
    let mut files = files;
    files[1].1 = "pub use crate::b::made;\nfn f(s: &S) -> u8 { s.made() }";
    assert_eq!(arrows(&files), Vec::<String>::new());
    files[1].1 = "pub use crate::b::made;\nfn f() -> u8 { made() }";
    assert_eq!(arrows(&files), ["a -> b: made"]);
}

#[test]
fn a_glob_brings_no_private_import() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod user;"),
        ("a.rs", "use crate::b::Thing;\npub fn f(_: Thing) {}"),
        ("b.rs", "pub struct Thing;"),
        ("c.rs", "pub struct Thing;"),
        ("user.rs", "use crate::a::*;\nuse crate::c::*;\nfn g(_: Thing) { f() }"),
    ];
    assert_eq!(arrows(&files), ["a -> b: Thing", "user -> a: f", "user -> c: Thing"]);
}

#[test]
fn a_function_and_a_module_of_one_name_are_told_apart() {
    let user = |code: &str| {
        let user = format!("use crate::work;\nfn f() {{ {code} }}");
        arrows(&[
            ("lib.rs", "mod a;\nmod b;\nmod work;\npub use b::work;"),
            ("a.rs", &user),
            ("b.rs", "pub fn work() {}"),
            ("work.rs", "pub fn begin() {}"),
        ])
    };
    assert_eq!(user("work()"), ["a -> b: work"]);
    assert_eq!(user("work::begin()"), ["a -> work: begin"]);
    let elsewhere = [
        ("lib.rs", "mod a;\nmod work;\npub use other::work;"),
        ("a.rs", "fn f() { crate::work::begin(); crate::work(); }"),
        ("work.rs", "pub fn begin() {}"),
    ];
    assert_eq!(arrows(&elsewhere), ["a -> work: begin"]);
}

#[test]
fn macros_and_what_they_define_are_found() {
    let files = [
        ("lib.rs", "#[macro_use]\nmod a;\nmod b;\nmod c;\nmod d;"),
        (
            "a.rs",
            "macro_rules! plain { ($name:ident) => { $crate::c::Named } }\npub(crate) use plain as simple;",
        ),
        ("b.rs", "fn f() { crate::a::simple!(y); crate::c::MADE; }"),
        ("c.rs", "pub struct Named;\nthread_local! { pub static MADE: u8 = 1; }"),
        ("d.rs", "fn f() { plain!(x); }"),
    ];
    assert_eq!(arrows(&files), ["a -> c: Named", "b -> a: plain", "b -> c: MADE", "d -> a: plain"]);
}

#[test]
fn each_import_that_cfg_selects_among_counts() {
    let files = [
        ("lib.rs", "mod a;\nmod user;"),
        (
            "a.rs",
            "mod one;\nmod two;\n#[cfg(unix)]\npub use one::Lock;\n#[cfg(windows)]\npub use two::Lock;\n\
             #[cfg(loom)]\npub use loom::Lock;",
        ),
        ("a/one.rs", "pub struct Lock;"),
        ("a/two.rs", "pub struct Lock;"),
        ("user.rs", "use crate::a::Lock;\nfn f(_: Lock) {}"),
    ];
    assert_eq!(arrows(&files), ["user -> a::one: Lock", "user -> a::two: Lock"]);
}

#[test]
fn a_module_in_braces_belongs_to_its_file() {
    let files = [
        ("lib.rs", "mod a;\nmod b;"),
        (
            "a.rs",
            "pub struct Own;\npub mod part { use super::Own; use crate::b::Thing; pub fn f(_: Own, _: Thing) {} }",
        ),
        ("b.rs", "pub struct Thing;\nfn f() { crate::a::part::f(); }"),
    ];
    assert_eq!(arrows(&files), ["a -> b: Thing", "b -> a: f"]);
}

#[test]
fn names_of_other_crates_make_no_arrow() {
    // In `a`, which has no module `b`, `b` is another crate. `sample` is this crate.
    let files = [
        ("lib.rs", "mod a;\nmod b;\npub use other as io;"),
        (
            "a.rs",
            "use std::fmt;\nuse crate::io::Vfs;\nuse b::Thing;\n\
             fn f(_: fmt::Error, _: Vfs, _: Thing, _: crate::io::X) { sample::b::g(); }",
        ),
        ("b.rs", "pub struct Thing;\npub fn g() {}"),
    ];
    assert_eq!(arrows(&files), ["a -> b: g"]);
}
