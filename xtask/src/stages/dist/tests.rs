//! Tests of the checks of a release, on text and bytes.

use std::path::Path;

use super::package::{consistent_with, first_python, locked};
use super::program::newest_glibc;
use super::ready::of_page;

#[test]
fn the_newest_glibc_that_a_program_needs_is_found() {
    let table = b"\x7fELF..\0GLIBC_2.2.5\0GLIBC_2.17\0GCC_3.0\0GLIBC_2.9\0GLIBC_PRIVATE\0G";
    assert_eq!(newest_glibc(table), Some((2, 17)));
    assert_eq!(newest_glibc(b"\0GLIBC_2.38\0GLIBC_2.4"), Some((2, 38)));
    assert_eq!(newest_glibc(b"\x7fELF, linked to nothing, GLIBC_"), None);
}

#[test]
fn the_tag_of_a_wheel_is_read_across_lines() {
    let shown = "\nhedgerow-0.1.0-cp311-abi3-linux_x86_64.whl is\nconsistent with the following platform tag:\n\"manylinux_2_34_x86_64\".\n\nThe wheel references";
    assert_eq!(consistent_with(shown).as_deref(), Some("manylinux_2_34_x86_64"));
    assert_eq!(consistent_with("this does not look like a platform wheel"), None);
}

#[test]
fn the_crates_of_a_lock_file_are_read() {
    let own = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
    assert_eq!(locked(own).into_iter().collect::<Vec<_>>(), [("a", "1.0.0"), ("b", "2.0.0")]);
    let taken = own.replace("2.0.0", "2.0.1");
    assert_eq!(locked(&taken).difference(&locked(own)).next(), Some(&("b", "2.0.1")));
}

#[test]
fn the_program_of_readme_is_found() {
    assert_eq!(first_python("a\n```sh\nb\n```\n```python\nc\nd\n```\n```python\ne\n```\n"), Some("c\nd\n"));
    let readme = first_python(include_str!("../../../../README.md")).expect("README has a program");
    assert!(readme.contains("hedgerow.open"));
}

#[test]
fn pages_that_a_release_makes_wrong_are_found() {
    let of = |name: &str, text: &str| of_page(Path::new(name), text, "0.1.0");
    assert_eq!(of("README.md", "A page.\n"), Vec::<String>::new());
    assert_eq!(of("README.md", "There is no\nrelease yet; build it.\n").len(), 1);
    assert_eq!(of("docs/format/common.md", "format 5, which a release tag freezes.\n").len(), 1);
    assert_eq!(of("CHANGELOG.md", "# Changelog\n\n## 0.1.0, 2027-01-31\n"), Vec::<String>::new());
    for heading in ["## 0.1.0, not released yet", "## 0.1.0", "## 0.2.0, 2027-01-31", "## 0.1.0, 2027-1-31"] {
        assert_eq!(of("CHANGELOG.md", heading).len(), 1, "{heading}");
    }
}
