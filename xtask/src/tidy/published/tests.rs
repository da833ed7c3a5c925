//! Tests that plant one fault at a time in a sound workspace of two published crates and one unpublished
//! crate.

use serde_json::{Value, json};

use super::check;
use crate::metadata;
use crate::tidy::report::Report;

/// Returns the output of `cargo metadata` for a sound workspace. Each folder is the folder of a crate with
/// its licences.
fn sound() -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/hedgerow/Cargo.toml");
    let package = |name: &str, publish: Value, dependencies: Value| {
        json!({
            "name": name, "version": "0.3.0", "publish": publish, "manifest_path": folder, "targets": [],
            "dependencies": dependencies, "description": "a", "license": "MIT", "readme": "README.md",
            "keywords": ["a"], "categories": ["a"],
        })
    };
    let needs =
        |name: &str, req: &str, kind: Value| json!({"name": name, "req": req, "kind": kind, "path": "a"});
    let low = package(
        "low",
        Value::Null,
        json!([needs("high", "*", json!("dev")), needs("kit", "*", json!("dev"))]),
    );
    let high = package("high", Value::Null, json!([needs("low", "=0.3.0", Value::Null)]));
    let kit = package("kit", json!([]), json!([needs("low", "=0.3.0", Value::Null)]));
    json!({"packages": [low, high, kit], "workspace_default_members": []})
}

/// Returns the errors after `change`.
fn errors(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut json = sound();
    change(&mut json["packages"]);
    let mut report = Report::default();
    check(&metadata::parse(&json), &mut report);
    report.errors
}

#[track_caller]
fn finds(expected: &str, change: impl FnOnce(&mut Value)) {
    let errors = errors(change);
    assert!(errors.len() == 1 && errors[0].contains(expected), "{errors:?}");
}

#[test]
fn a_sound_workspace_passes() {
    assert_eq!(errors(|_| ()), Vec::<String>::new());
}

#[test]
fn what_a_registry_would_refuse_is_found() {
    finds("high: published without `readme`", |packages| packages[1]["readme"] = Value::Null);
    finds("low: published without `keywords`", |packages| packages[0]["keywords"] = json!([]));
    let missing = |packages: &mut Value| packages[0]["manifest_path"] = json!("/nowhere/Cargo.toml");
    assert_eq!(errors(missing).len(), super::LICENCES.len());
    assert_eq!(errors(|packages| packages[2]["license"] = Value::Null), Vec::<String>::new());
}

#[test]
fn dependencies_that_no_registry_has_are_found() {
    finds("high -> low: requires version * and", |packages| {
        packages[1]["dependencies"][0]["req"] = json!("*")
    });
    finds("requires version =0.2.0", |packages| packages[1]["dependencies"][0]["req"] = json!("=0.2.0"));
    finds("low -> kit: a published crate needs one", |packages| {
        packages[0]["dependencies"][1]["kind"] = Value::Null;
    });
    finds("low -> kit: a published crate needs one", |packages| {
        packages[0]["dependencies"][1]["req"] = json!("=0.3.0");
    });
}

#[test]
fn crates_that_need_each_other_are_found() {
    finds("low, high: each needs another one", |packages| {
        packages[0]["dependencies"][0]["req"] = json!("=0.3.0")
    });
}

#[test]
fn a_crate_of_another_version_is_found() {
    finds("kit: version 0.2.9, of others 0.3.0", |packages| packages[2]["version"] = json!("0.2.9"));
}
