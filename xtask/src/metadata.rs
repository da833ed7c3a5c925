//! The workspace as cargo sees it: packages, their workspace dependencies and their targets.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The builds into which a dependency is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The product. Build dependencies count as product.
    Normal,
    /// Only tests, examples and benches.
    Dev,
}

/// A dependency of one workspace package on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrow {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) kind: Kind,
    /// The required version, or `*` if the manifest states the dependency only by its path.
    pub(crate) version: String,
}

/// A workspace package.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The names of the package's integration-test targets.
    pub(crate) tests: Vec<String>,
    /// The names of the package's examples.
    pub(crate) examples: Vec<String>,
    /// True if the package is a default member of its workspace.
    pub(crate) is_default: bool,
    pub(crate) version: String,
    /// The folder of the package's manifest.
    pub(crate) folder: PathBuf,
    /// True if a release publishes the package.
    pub(crate) is_published: bool,
    /// The keys that a published manifest needs and this manifest lacks.
    pub(crate) missing: Vec<&'static str>,
}

/// The keys of a manifest that a registry displays.
const SHOWN: [&str; 5] = ["description", "license", "readme", "keywords", "categories"];

/// The packages of a workspace and the arrows between them.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    pub(crate) arrows: Vec<Arrow>,
}

impl Workspace {
    /// Returns the default members that have an integration-test target called `target`.
    pub(crate) fn packages_with_test<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a str> {
        let has = move |p: &&Package| p.is_default && p.tests.iter().any(|t| t == target);
        self.packages.iter().filter(has).map(|p| p.name.as_str())
    }

    /// Returns the names of the examples of a package, sorted.
    pub(crate) fn examples_of(&self, package: &str) -> Vec<&str> {
        let package = self.packages.iter().filter(|p| p.name == package);
        let mut names: Vec<&str> = package.flat_map(|p| p.examples.iter().map(String::as_str)).collect();
        names.sort_unstable();
        names
    }

    /// Returns the packages that a release publishes.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.is_published)
    }

    /// Returns the names of all integration-test targets of the default members, sorted, without repetition.
    pub(crate) fn test_targets(&self) -> Vec<&str> {
        let members = self.packages.iter().filter(|p| p.is_default);
        let mut names: Vec<&str> = members.flat_map(|p| p.tests.iter().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The workspaces of the repository, by folder: the product, and the lab.
const WORKSPACES: [&str; 2] = ["", "lab"];

/// Returns the packages and arrows of all workspaces below `root` that have a manifest.
pub(crate) fn load_all(root: &Path) -> Result<Workspace, String> {
    let mut all = Workspace::default();
    for folder in WORKSPACES.map(|folder| root.join(folder)) {
        if folder.join("Cargo.toml").is_file() {
            let Workspace { packages, arrows } = load(&folder)?;
            all.packages.extend(packages);
            all.arrows.extend(arrows);
        }
    }
    Ok(all)
}

/// Asks cargo for the workspace at `root`. Cargo resolves no dependencies, so it needs no network.
pub(crate) fn load(root: &Path) -> Result<Workspace, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let json = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    Ok(parse(&json))
}

/// Reads the output of `cargo metadata`.
pub(crate) fn parse(json: &Value) -> Workspace {
    let default_members = strings(&json["workspace_default_members"]);
    let mut workspace = Workspace::default();
    let packages: Vec<&Value> = json["packages"].as_array().into_iter().flatten().collect();
    for package in packages {
        let from = text(&package["name"]);
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = text(&dependency["name"]);
            // A dependency with a path is a package of this repository, in this workspace or in another one.
            if !dependency["path"].is_null() {
                let kind = if dependency["kind"] == "dev" { Kind::Dev } else { Kind::Normal };
                let version = text(&dependency["req"]);
                workspace.arrows.push(Arrow { from: from.clone(), to, kind, version });
            }
        }
        let targets = || package["targets"].as_array().into_iter().flatten();
        let named = |kind: &str| {
            let of_kind = targets().filter(|t| strings(&t["kind"]).iter().any(|k| k == kind));
            of_kind.map(|t| text(&t["name"])).collect()
        };
        let is_missing = |key: &&str| text(&package[*key]).is_empty() && strings(&package[*key]).is_empty();
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        workspace.packages.push(Package {
            tests: named("test"),
            examples: named("example"),
            is_default: default_members.contains(&text(&package["id"])),
            version: text(&package["version"]),
            folder: manifest.parent().unwrap_or(&manifest).to_path_buf(),
            // Without a list of registries, the package may be published in any registry.
            is_published: package["publish"].is_null(),
            missing: SHOWN.into_iter().filter(is_missing).collect(),
            name: from,
        });
    }
    workspace
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
