//! Tests that each check can fail. Each test plants one fault in a small sound workspace.

use std::fs;
use std::path::{Path, PathBuf};

use super::report::Report;
use super::tokens::tokens;
use super::{Tables, check};

mod prose;

/// A sound workspace in a folder of its own. Dropping it removes the folder.
struct Tree {
    root: PathBuf,
}

const LINTS: &str = "\n[lints]\nworkspace = true\n";

impl Tree {
    fn sound(name: &str) -> Tree {
        let root = std::env::temp_dir().join(format!("hedgerow-tidy-{}-{name}", std::process::id()));
        let tree = Tree { root };
        let members = ["hedgerow-core", "hedgerow-io", "hedgerow-mem", "hedgerow-testkit"];
        let inherited: String =
            members.iter().map(|m| format!("{m} = {{ path = \"crates/{m}\" }}\n")).collect();
        tree.write("Cargo.toml", &format!("[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n[workspace.lints.rust]\n[workspace.dependencies]\n{inherited}"));
        for member in members {
            tree.manifest(
                member,
                if member == "hedgerow-core" { "" } else { "hedgerow-core.workspace = true" },
            );
            let attribute =
                if matches!(member, "hedgerow-io" | "hedgerow-testkit") { "forbid" } else { "deny" };
            tree.write(
                &format!("crates/{member}/src/lib.rs"),
                &format!("//! Sound.\n#![{attribute}(unsafe_code)]\n"),
            );
        }
        tree.write("crates/hedgerow-mem/src/delta.rs", "//! Sound.\nfn f() { unsafe { g() } }\n");
        tree.write(
            "docs/README.md",
            "# Index\n\n[a page](design/page.md) and [the map](../ARCHITECTURE.md)\n",
        );
        tree.write("docs/design/page.md", "# Page\n");
        tree.write("ARCHITECTURE.md", "# Map\n");
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        let written =
            fs::create_dir_all(path.parent().unwrap_or(&self.root)).and_then(|()| fs::write(&path, text));
        written.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    fn manifest(&self, member: &str, dependencies: &str) {
        let path = format!("crates/{member}/Cargo.toml");
        let package = format!(
            "[package]\nname = \"{member}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n"
        );
        self.write(&path, &format!("{package}{LINTS}\n[dependencies]\n{dependencies}\n"));
    }

    fn report(&self) -> Report {
        self.report_with(&[])
    }

    /// Returns the findings of the checks with `long_files` as the files that were long before the rule.
    fn report_with(&self, long_files: &'static [(&'static str, usize)]) -> Report {
        let tables = Tables { long_files, ..Tables::default() };
        check(&self.root, tables).unwrap_or_else(|message| panic!("{message}"))
    }

    /// Returns the only error of this tree.
    fn only_error(&self) -> String {
        let report = self.report();
        assert_eq!(report.errors.len(), 1, "{:?}", report.errors);
        report.errors[0].clone()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // A remaining folder is harmless.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Plants `text` at `path` in a sound tree and expects one error that contains `expected`.
#[track_caller]
fn finds(name: &str, path: &str, text: &str, expected: &str) {
    let tree = Tree::sound(name);
    tree.write(path, text);
    let error = tree.only_error();
    assert!(error.contains(expected) && error.contains(path), "{error}");
}

#[test]
fn a_sound_tree_passes_and_its_unsafe_blocks_are_counted() {
    let report = Tree::sound("sound").report();
    assert_eq!(report.errors, Vec::<String>::new());
    let mem = "hedgerow-mem: 1 module, 0 arrows, no cycle, 0 impl blocks of another module's type";
    assert!(report.modules.iter().any(|line| line == mem), "{:?}", report.modules);
    assert_eq!(report.unsafe_blocks, [("crates/hedgerow-mem/src/delta.rs".to_owned(), 1)]);
}

#[test]
fn methods_of_handles_without_a_cost_are_found() {
    let root = "//! Sound.\n#![forbid(unsafe_code)]\n";
    let method = |docs: &str| format!("{root}impl Ticket {{\n    {docs}\n    pub fn f(&self) {{}}\n}}\n");
    let path = "crates/hedgerow-engine/src/lib.rs";
    let tree = Tree::sound("costs");
    tree.manifest("hedgerow-engine", "");
    tree.write(path, &method("/// Waits."));
    assert!(tree.only_error().starts_with(&format!("{path}:5: this method of a handle does not say")));
    let fine = ["/// Waits. O(1).", "/// As\n    /// [`g`](Self::g).", "#[doc(hidden)]"].map(method);
    for text in fine.into_iter().chain([method("/// Waits.").replace("Ticket", "Drop for Ticket")]) {
        tree.write(path, &text);
        assert_eq!(tree.report().errors, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn arrows_outside_the_table_are_found() {
    let tree = Tree::sound("arrow");
    tree.manifest("hedgerow-mem", "hedgerow-io.workspace = true");
    assert!(
        tree.only_error()
            .starts_with("hedgerow-mem -> hedgerow-io: this arrow is not in the dependency table")
    );
}

#[test]
fn the_testkit_is_for_tests_alone() {
    let tree = Tree::sound("testkit");
    tree.manifest("hedgerow-mem", "hedgerow-testkit.workspace = true");
    assert!(tree.only_error().contains("only tests may use it"));
    tree.manifest("hedgerow-mem", "\n[dev-dependencies]\nhedgerow-testkit.workspace = true");
    assert_eq!(tree.report().errors, Vec::<String>::new());
}

#[test]
fn arrows_of_a_target_table_count_as_well() {
    let tree = Tree::sound("target-arrow");
    tree.manifest("hedgerow-core", "\n[target.'cfg(loom)'.dependencies]\nhedgerow-io.workspace = true");
    tree.manifest("hedgerow-io", "");
    assert!(tree.only_error().starts_with("hedgerow-core -> hedgerow-io"));
}

#[test]
fn a_crate_without_a_row_is_found() {
    let tree = Tree::sound("row");
    tree.manifest("hedgerow-extra", "hedgerow-core.workspace = true");
    tree.write("crates/hedgerow-extra/src/lib.rs", "//! Sound.\n#![forbid(unsafe_code)]\n");
    assert!(tree.only_error().contains("not in the dependency table; add it"));
}

#[test]
fn dependencies_outside_the_workspace_table_are_found() {
    for (name, lines) in [
        ("direct", "hedgerow-core = { path = \"../hedgerow-core\" }"),
        ("table", "\n[dependencies.hedgerow-core]\npath = \"../hedgerow-core\""),
    ] {
        let tree = Tree::sound(name);
        tree.manifest("hedgerow-io", lines);
        assert!(tree.only_error().contains("dependency `hedgerow-core` is not from the workspace"), "{name}");
    }
    let tree = Tree::sound("inherited-table");
    let of_tests = "\n[dev-dependencies]\nhedgerow-testkit = { path = \"../hedgerow-testkit\" }\n";
    for sound in ["\n[dependencies.hedgerow-core]\nworkspace = true\n", of_tests] {
        tree.manifest("hedgerow-io", sound);
        assert_eq!(tree.report().errors, Vec::<String>::new());
    }
}

#[test]
fn a_manifest_without_the_lints_is_found() {
    let manifest =
        "[package]\nname = \"hedgerow-io\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n";
    finds("lints", "crates/hedgerow-io/Cargo.toml", manifest, "no `[lints] workspace = true`");
}

#[test]
fn unsafe_outside_its_modules_is_found() {
    let text = "//! Sound.\nfn f() {\n    unsafe { g() }\n}\n";
    finds("unsafe-crate", "crates/hedgerow-io/src/a.rs", text, "a.rs:3: `unsafe` may occur only in");
    finds("unsafe-lab", "lab/hedgerow-lab/src/a.rs", text, "`unsafe` may occur only in");
    finds("unsafe-module", "crates/hedgerow-mem/src/reclaim.rs", text, "`unsafe` may occur only in");
}

#[test]
fn unsafe_in_comments_and_strings_is_none() {
    let tree = Tree::sound("unsafe-words");
    let text = "//! Sound: unsafe { }\nconst A: &str = \"unsafe {\";\nconst B: &str = r#\"\" unsafe {\"#; // unsafe {\n";
    tree.write("crates/hedgerow-io/src/a.rs", text);
    assert_eq!(tree.report().errors, Vec::<String>::new());
}

#[test]
fn a_root_without_its_attribute_is_found() {
    finds(
        "forbid",
        "crates/hedgerow-io/src/lib.rs",
        "//! Sound.\n",
        "does not say `#![forbid(unsafe_code)]`",
    );
    finds("deny", "crates/hedgerow-mem/src/lib.rs", "//! Sound.\n", "does not say `#![deny(unsafe_code)]`");
}

#[test]
fn a_module_without_a_summary_is_found() {
    finds("summary", "crates/hedgerow-io/src/a.rs", "use std::fmt;\n", "does not begin with a `//!` summary");
    finds("placeholder", "crates/hedgerow-io/src/a.rs", "//! Placeholder.\n", "is a placeholder");
}

#[test]
fn unfinished_work_is_found() {
    let faults = [
        ("macro", "fn f() { todo!() }"),
        ("debug", "fn f() { dbg!(1); }"),
        ("ignored", "#[ignore = \"slow\"]\nfn f() {}"),
        ("comment", concat!("// FIX", "ME: later")),
    ];
    for (name, code) in faults {
        finds(name, "crates/hedgerow-io/src/a.rs", &format!("//! Sound.\n{code}\n"), "a.rs:2: `");
    }
}

/// Returns a file of `count` lines that begins with `summary`.
fn lines(summary: &str, count: usize) -> String {
    format!("{summary}\n{}", "const A: u8 = 1;\n".repeat(count - summary.lines().count()))
}

const LONG: &str = "crates/hedgerow-io/src/a.rs";

#[test]
fn a_long_file_says_why_and_none_is_longer_than_the_limit() {
    finds("long", LONG, &lines("//! Sound.", 401), "401 lines; split it by concept, or say");
    finds(
        "longest",
        LONG,
        &lines("//! Sound.\n//! Long because it can.", 801),
        "801 lines, the limit is 800",
    );
    finds("long-late", LONG, &lines("//! Sound.\n\n// Long because", 401), "401 lines");
    let tree = Tree::sound("long-enough");
    tree.write(LONG, &lines("//! Sound.", 400));
    tree.write("crates/hedgerow-io/src/b.rs", &lines("//! Sound.\n//!\n//! Long because it can.", 800));
    assert_eq!(tree.report().errors, Vec::<String>::new());
}

#[test]
fn a_file_that_was_long_may_shrink_and_hardly_grow() {
    const BEFORE: &[(&str, usize)] = &[(LONG, 500)];
    let tree = Tree::sound("long-before");
    for (count, expected) in [
        (551, Some("551 lines, which were 500")),
        (550, None),
        (401, None),
        (400, Some("the file is not long; remove it from LONG_FILES")),
    ] {
        tree.write(LONG, &lines("//! Sound.", count));
        let errors = tree.report_with(BEFORE).errors;
        assert_eq!(errors.len(), usize::from(expected.is_some()), "{errors:?}");
        assert!(expected.is_none_or(|expected| errors[0].contains(expected)), "{errors:?}");
    }
    tree.write(LONG, &lines("//! Sound.\n//! Long because it can.", 500));
    assert!(tree.report_with(BEFORE).errors[0].contains("the file says why it is long; remove it"));
    tree.write(LONG, &lines("//! Sound.", 801));
    assert!(tree.report_with(&[(LONG, 790)]).errors[0].contains("801 lines, the limit is 800"));
    assert!(
        tree.report_with(&[("gone.rs", 500)]).errors.iter().any(|e| e.starts_with("gone.rs: there is no"))
    );
}

#[test]
fn a_long_function_says_why() {
    let function = |above: &str, inside: &str, lines: usize| {
        let body = "    g();\n".repeat(lines - 2 - usize::from(!inside.is_empty()));
        format!("//! Sound.\n{above}fn f(a: [u8; 2]) {{\n{inside}{body}}}\nfn g();\n")
    };
    finds(
        "function",
        LONG,
        &function("", "", 71),
        "a.rs:2: a function of 71 lines; tell it in steps, or say",
    );
    let apart = "// Long because: of another line.\nconst A: u8 = 1;\n";
    finds("function-apart", LONG, &function(apart, "", 71), "a.rs:4: a function of 71 lines");
    let tree = Tree::sound("function-reasons");
    let reason = "// Long because its steps share much.\n";
    for text in [
        function("", "", 70),
        function(reason, "", 80),
        function(&format!("/// Sound.\n{reason}#[inline]\n"), "", 80),
        function("", &format!("    {reason}"), 80),
    ] {
        tree.write(LONG, &text);
        assert_eq!(tree.report().errors, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn boundaries_of_crates_are_kept() {
    let text = "//! Sound.\nfn f() { std::fs::read(\"a\"); }\n";
    finds("files", "crates/hedgerow-mem/src/a.rs", text, "through `hedgerow_io::Vfs` alone");
    let text = "//! Sound.\nfn f() { Instant::now(); }\n";
    finds("clock", "crates/hedgerow-mem/src/a.rs", text, "reads no clock");
    finds(
        "word",
        "crates/hedgerow-io/src/a.rs",
        "//! Sound.\nfn neighbours() {}\n",
        "the API says `neighbors`",
    );
}

#[test]
fn paths_of_a_machine_are_found() {
    let path = concat!("/ho", "me/somebody");
    finds("path", "docs/README.md", &format!("[p](design/page.md) {path}\n"), "is a folder of some machine");
    finds("path-code", "crates/hedgerow-io/src/a.rs", &format!("//! Sound.\n// {path}\n"), "a.rs:2");
    let outside = concat!("../sha", "red/other");
    finds("outside", "docs/guide.md", &format!("{outside}\n"), "may be named outside the repository");
    let tree = Tree::sound("inside");
    tree.write("docs/guide.md", concat!("target/wo", "rk/ and ../sha", "red/data are fine\n"));
    assert_eq!(tree.report().errors, Vec::<String>::new());
}

#[test]
fn dead_links_and_orphans_are_found() {
    finds("dead", "ARCHITECTURE.md", "# Map\n\n[gone](docs/gone)\n", "ARCHITECTURE.md:3: dead link");
    finds("orphan", "docs/design/lonely.md", "# Lonely\n", "no link leads here");
    let tree = Tree::sound("linked");
    tree.write("docs/design/README.md", "[l](lonely.md) ![x](https://example.org/x)\n\n```\n[a](b)\n```\n");
    tree.write("docs/design/lonely.md", "[up](../../ARCHITECTURE.md#map)\n");
    assert_eq!(tree.report().errors, Vec::<String>::new());
}

#[test]
fn pages_that_are_not_there_are_found() {
    finds(
        "page",
        "crates/hedgerow-io/src/a.rs",
        "//! Sound (NOTES.md, rule 1).\n",
        "there is no page `NOTES.md`",
    );
    let tree = Tree::sound("page-kept");
    tree.write(
        "crates/hedgerow-io/src/a.rs",
        "//! See `docs/design/page.md`, page.md and `../ARCHITECTURE.md`.\n",
    );
    assert_eq!(tree.report().errors, Vec::<String>::new());
}

#[test]
fn contract_sentences_need_their_tests() {
    finds("contract", "docs/contract.md", "A promise (test `a::nobody_wrote_this`).\n", "does not exist");
    let tree = Tree::sound("contract-kept");
    tree.write("docs/contract.md", "A promise (test `crash::holds`).\n");
    tree.write("crates/hedgerow-io/tests/it/main.rs", "//! Sound.\n#[test]\nfn holds() {}\n");
    assert_eq!(tree.report().errors, Vec::<String>::new());
}

#[test]
fn comments_and_literals_are_no_tokens() {
    let source = "a /* x /* y */ z */ b '\"' c::d<'e> f b\"\\\"\" g..'\\'' br##\"\"#\"## 'é' h != i // x\n";
    let stream = source.parse().unwrap_or_else(|error| panic!("{error}"));
    let words: Vec<String> = tokens(stream).into_iter().map(|token| token.text).collect();
    assert_eq!(words, ["a", "b", "c", "::", "d", "<", "'e", ">", "f", "g", "..", "h", "!=", "i"]);
}

#[test]
fn this_repository_states_each_crate_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let workspace = crate::metadata::load_all(&root).unwrap_or_else(|message| panic!("{message}"));
    let mut report = Report::default();
    super::arrows::check(&workspace.arrows, &mut report);
    assert_eq!(report.errors, Vec::<String>::new());
}

#[test]
fn comments_without_a_noun_are_found() {
    let path = "crates/hedgerow-mem/src/words.rs";
    let found = |name, text: &str, expected| finds(name, path, &format!("//! Sound.\n{text}"), expected);
    found("words-what", "/// What a thing is.\nfn f() {}\n", "begins with `What`");
    found("words-many", "/// Sound.\nfn f() {}\n/// So many bytes.\nfn g() {}\n", "begins with `So many`");
    found("words-nobody", "fn f() {} \n    // Here nobody waits.\n", "`nobody` stands for a noun");
    let sound = "/// Sound.\n/// What follows is read on.\nfn f() {}\n// SAFETY: nobody\n// and whoever.\nfn g() {}\n#[cfg(test)]\nmod tests {\n/// What is it.\n}\n";
    let tree = Tree::sound("words-sound");
    tree.write(path, &format!("//! Sound.\n{sound}"));
    assert_eq!(tree.report().errors, Vec::<String>::new());
}
