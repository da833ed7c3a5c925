//! Tests of raising the version in the text of manifests.

use super::{is_version, raised};

const MANIFEST: &str = r#"[workspace.package]
version = "0.1.0"
rust-version = "1.95"

[workspace.dependencies]
hedgerow = { path = "crates/hedgerow", version = "=0.1.0" }
hedgerow-report = { path = "crates/hedgerow-report" }
adya = { version = "=0.1.0", default-features = false }
"#;

#[test]
fn the_version_is_raised_at_each_place_and_no_other_one_is() {
    let expected = MANIFEST.replacen("0.1.0", "0.2.0-rc.1", 2);
    assert_eq!(raised(MANIFEST, "0.2.0-rc.1"), Some(expected));
    assert_eq!(raised("[package]\nversion = \"0.1.0\"\n", "0.2.0"), None);
}

/// The manifests of the repository have the places that [`raised`] looks for.
#[test]
fn the_versions_of_this_repository_are_raised() {
    let root = include_str!("../../../Cargo.toml");
    let own = raised(root, "9.8.7").expect("the root states a version");
    assert_eq!(
        own.matches("\"=9.8.7\"").count(),
        root.matches("version = \"=").count() - 1,
        "all but adya's"
    );
    assert!(raised(include_str!("../../../lab/Cargo.toml"), "9.8.7").is_some());
}

#[test]
fn versions_are_three_numbers() {
    for good in ["0.1.0", "10.20.30", "1.0.0-rc.1"] {
        assert!(is_version(good), "{good}");
    }
    for bad in ["", "1.0", "1.0.0.0", "v1.0.0", "1.0.x", "1.0.0-", "1.0.0\"", "1..0"] {
        assert!(!is_version(bad), "{bad}");
    }
}
