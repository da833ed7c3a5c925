//! The program `hedgerow`, stripped and linked to an old glibc, in an archive with its licences.

use std::fs;
use std::path::PathBuf;

use super::release::{GLIBC, Release, broken, done, output};
use crate::stages::plan::target_folder;
use crate::stages::python;
use crate::stages::shell::Step;

/// The files that are packed with the program.
const BESIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds and packs the program, then unpacks and tries it.
pub(super) fn make(release: &Release) -> Result<(), String> {
    let target = format!("{}.{}.{}", release.target, GLIBC.0, GLIBC.1);
    let arguments = ["zigbuild", "--release", "--locked", "--package", "hedgerow-cli", "--bin", "hedgerow"];
    let arguments = [&arguments[..], &["--target", &target]].concat();
    let build = Step::new(python::program(&release.root, "cargo-zigbuild"), &release.root, &arguments);
    done(&release.with_zig(build.env("CARGO_PROFILE_RELEASE_STRIP", "symbols")))?;
    let program = path(release);
    let needed = newest_glibc(&fs::read(&program).map_err(|e| broken(&program, &e))?);
    let needed = needed.ok_or_else(|| format!("{}: names no version of glibc", program.display()))?;
    println!("the program needs glibc {}.{}", needed.0, needed.1);
    if needed > GLIBC {
        return Err(format!("needs glibc {}.{}, and may need {}.{}", needed.0, needed.1, GLIBC.0, GLIBC.1));
    }
    let name = format!("hedgerow-{}-{}", release.version, release.target);
    let folder = release.scratch.join(&name);
    fs::create_dir_all(&folder).map_err(|e| broken(&folder, &e))?;
    let root = |file: &str| release.root.join(file);
    let beside = BESIDE.iter().map(|file| (root(file), folder.join(file)));
    for (from, to) in beside.chain([(program, folder.join("hedgerow"))]) {
        fs::copy(&from, &to).map_err(|e| broken(&from, &e))?;
    }
    release.pack(&release.scratch, &name, &name)?;
    try_out(release, &name)
}

/// Returns the path of the built program.
pub(super) fn path(release: &Release) -> PathBuf {
    target_folder(&release.root).join(&release.target).join("release/hedgerow")
}

/// Unpacks the archive. Loads, ranks and checks a graph with the program.
fn try_out(release: &Release, name: &str) -> Result<(), String> {
    let folder = release.scratch.join("tried");
    fs::create_dir_all(&folder).map_err(|e| broken(&folder, &e))?;
    let archive = release.folder.join(format!("{name}.tar.gz"));
    done(&Step::new("tar", &folder, &["-xzf", &archive.to_string_lossy()]))?;
    let program = folder.join(name).join("hedgerow");
    let version = output(&program, &folder, &["--version"])?;
    if version.trim() != format!("hedgerow {}", release.version) {
        return Err(format!(
            "`hedgerow --version` prints {version:?}, and the release is {}",
            release.version
        ));
    }
    let edges = folder.join("edges.csv");
    fs::write(&edges, "src,dst\n1,2\n2,3\n3,1\n4,1\n").map_err(|e| broken(&edges, &e))?;
    let calls: [&[&str]; 3] = [
        &["load", "links.hedgerow", "edges.csv"],
        &["run", "pagerank", "links.hedgerow", "--top", "3"],
        &["check", "links.hedgerow"],
    ];
    calls.iter().try_for_each(|call| done(&Step::new(&program, &folder, call)))
}

/// Returns the newest version of glibc that a program or library needs, from its table of versions with
/// entries such as `GLIBC_2.17`.
pub(super) fn newest_glibc(elf: &[u8]) -> Option<(u32, u32)> {
    const PREFIX: &[u8] = b"GLIBC_";
    let at =
        |at: usize| elf[at..].starts_with(PREFIX).then(|| version_at(&elf[at + PREFIX.len()..])).flatten();
    (0..elf.len()).filter(|&i| elf[i] == PREFIX[0]).filter_map(at).max()
}

/// Reads a version such as `2.17` up to the terminating zero. Versions with three numbers are too old to
/// matter.
fn version_at(bytes: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(bytes.split(|&b| b == 0).next()?).ok()?;
    let (major, minor) = text.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
