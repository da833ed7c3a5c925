//! Checks the product for other systems than this one: `cargo check` for Linux on arm64, Linux with musl, and
//! macOS on arm64.
//!
//! A check needs the standard library of the target. If rustup has installed the target, it has this library.
//! Otherwise cargo builds it from source. A check also needs a C compiler for the target, for mimalloc and
//! zstd. This is Zig's compiler, from Python's package index.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::plan::Plan;
use super::python;
use super::shell::Step;

/// The targets, each with its name for Zig's C compiler. A target without such a name uses the C compiler of
/// this machine, because Zig's compiler refuses `-march=x86-64`, which build scripts pass for that target.
const TARGETS: &[(&str, Option<&str>)] = &[
    ("aarch64-unknown-linux-gnu", Some("aarch64-linux-gnu")),
    ("x86_64-unknown-linux-musl", None),
    ("aarch64-apple-darwin", Some("aarch64-macos-none")),
];
/// The packages of the product: facade with kernels, command line, demo, Python package.
const PACKAGES: &[&str] = &["hedgerow", "hedgerow-cli", "hedgerow-demo", "hedgerow-python"];
/// The Python package that contains a C compiler for all targets.
const ZIG: &str = "ziglang";
/// The folder of a compiler from the system's packages, which include the source of the standard library.
const SYSTEM_PROGRAMS: &str = "/usr/bin";

/// Returns the checks of all targets, or the reason why this machine cannot run them.
pub(super) fn plan(root: &Path) -> Plan {
    let mut plan = Plan::default();
    for (target, zig) in TARGETS {
        let Some(toolchain) = Toolchain::of(target) else {
            return Plan::absent(format!(
                "there is no standard library for {target}, nor its source; `rustup target add {target}`, or Debian's \
                 rustc-web, cargo-web and rust-web-src, bring it"
            ));
        };
        plan = plan.run(toolchain.check(root, target, *zig));
    }
    let root = root.to_path_buf();
    plan.prepare(move || python::install(&root, &[ZIG])).judged_by(|outcome| {
        // Cargo's warnings about build scripts concern foreign C code, so they are ignored.
        outcome.counts.passed += if outcome.failures.is_empty() { TARGETS.len() as u64 } else { 0 };
    })
}

/// A compiler that can check a target.
struct Toolchain {
    /// The folder of cargo and rustc, or `None` for the repository's own ones.
    programs: Option<PathBuf>,
    /// True if cargo builds the target's standard library from its source.
    from_source: bool,
}

impl Toolchain {
    fn of(target: &str) -> Option<Toolchain> {
        [None, Some(PathBuf::from(SYSTEM_PROGRAMS))].into_iter().find_map(|programs| {
            let rustlib = rustlib(programs.as_deref())?;
            let is_installed = rustlib.join(target).join("lib").is_dir();
            let has_source = rustlib.join("src/rust/library/Cargo.lock").is_file();
            (is_installed || has_source).then_some(Toolchain { programs, from_source: !is_installed })
        })
    }

    /// Returns the check of `target`. Zig's C compiler calls this target `zig`.
    fn check(&self, root: &Path, target: &str, zig: Option<&str>) -> Step {
        let mut arguments = vec!["check", "--locked", "--target", target];
        arguments.extend(["--features", "hedgerow-python/extension-module,hedgerow/kernels"]);
        arguments.extend(PACKAGES.iter().flat_map(|package| ["--package", package]));
        arguments.extend(self.from_source.then_some("-Zbuild-std=std,panic_unwind"));
        let step = match &self.programs {
            Some(folder) => Step::new(folder.join("cargo"), root, &arguments)
                .env("RUSTC", &folder.join("rustc").to_string_lossy()),
            None => Step::cargo(root, &arguments),
        };
        let step = if self.from_source { step.env("RUSTC_BOOTSTRAP", "1") } else { step };
        let step = step
            .env("RUSTFLAGS", "-D warnings")
            .env("PYO3_NO_PYTHON", "1")
            .env("CARGO_TARGET_DIR", "target/platforms");
        let python = root.join(".venv/bin/python");
        let zig_tool = |tool: &str| format!("{} -m ziglang {tool}", python.display());
        let name = target.replace('-', "_");
        match zig {
            Some(zig) => step
                .env(&format!("CC_{name}"), &format!("{} -target {zig}", zig_tool("cc")))
                .env(&format!("AR_{name}"), &zig_tool("ar")),
            None => step.env(&format!("CC_{name}"), "cc"),
        }
    }
}

/// Returns the folder of the standard libraries of the compiler in `programs`, or of the repository's
/// compiler.
fn rustlib(programs: Option<&Path>) -> Option<PathBuf> {
    let rustc = programs.map_or_else(|| PathBuf::from("rustc"), |folder| folder.join("rustc"));
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    Some(Path::new(String::from_utf8_lossy(&sysroot.stdout).trim()).join("lib/rustlib"))
}
