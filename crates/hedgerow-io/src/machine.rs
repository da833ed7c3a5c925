//! The memory that this process may use: the memory of the machine, or the limit of a control group.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const MEMORY: &str = "/proc/meminfo";
const GROUPS: &str = "/proc/self/cgroup";

/// Returns the bytes of memory that this process may use: the machine's memory, or the least limit of the
/// process's control groups and their ancestors if that is less. `None` if the system does not report any of
/// these. Reads the files of the system once per process; knows control groups of version 1 and 2.
pub fn memory_bytes() -> Option<u64> {
    static FOUND: OnceLock<Option<u64>> = OnceLock::new();
    // These files belong to no store, and only the real file system has them.
    #[allow(clippy::disallowed_methods)]
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    *FOUND.get_or_init(|| least(read))
}

/// Does the work of [`memory_bytes`], on the files of a system that `read` reads.
fn least(read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let machine = read(Path::new(MEMORY)).as_deref().and_then(total);
    let groups = read(Path::new(GROUPS)).unwrap_or_default();
    let files = groups.lines().filter_map(limit_file).flat_map(|(mount, file, group)| {
        // In a container the path may be a path of the host that is not mounted in the container. Then the
        // mount itself has the limit.
        let above = Path::new(group).ancestors().map(|at| at.strip_prefix("/").unwrap_or(at));
        above.map(|at| Path::new(mount).join(at).join(file)).collect::<Vec<PathBuf>>()
    });
    let limits = files.filter_map(|path| read(&path)?.trim().parse::<u64>().ok());
    limits.chain(machine).min()
}

/// Returns `MemTotal` of `/proc/meminfo`, in bytes.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Reads a line of `/proc/self/cgroup`. For a group that bounds memory it returns the mount, the name of the
/// file with the limit, and the path of the group. Without a limit that file contains "max", or in version 1
/// a number larger than any machine's memory.
fn limit_file(line: &str) -> Option<(&'static str, &'static str, &str)> {
    let mut parts = line.splitn(3, ':');
    let (hierarchy, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
    if hierarchy == "0" && controllers.is_empty() {
        return Some(("/sys/fs/cgroup", "memory.max", group));
    }
    let memory = controllers.split(',').any(|controller| controller == "memory");
    memory.then_some(("/sys/fs/cgroup/memory", "memory.limit_in_bytes", group))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the memory of a machine with these files.
    fn told(files: &[(&str, &str)]) -> Option<u64> {
        least(|path| {
            let found = files.iter().find(|(of, _)| Path::new(of) == path);
            found.map(|(_, content)| (*content).to_owned())
        })
    }

    const MACHINE: (&str, &str) = (MEMORY, "MemTotal:       16000000 kB\nMemFree:  1 kB\n");
    const MACHINE_BYTES: u64 = 16_000_000 * 1024;

    #[test]
    fn without_groups_the_machine_bounds() {
        assert_eq!(told(&[MACHINE]), Some(MACHINE_BYTES));
        assert_eq!(told(&[]), None, "nothing is told");
        assert_eq!(told(&[(MEMORY, "MemTotal: lots\n")]), None);
        assert_eq!(told(&[MACHINE, (GROUPS, "nothing\n0::\n")]), Some(MACHINE_BYTES));
    }

    #[test]
    fn the_least_limit_of_a_group_and_those_above_it_counts() {
        let group = (GROUPS, "0::/user.slice/job\n");
        let above = ("/sys/fs/cgroup/user.slice/memory.max", "1073741824\n");
        assert_eq!(
            told(&[MACHINE, group, ("/sys/fs/cgroup/user.slice/job/memory.max", "max\n"), above]),
            Some(1 << 30)
        );
        let own = ("/sys/fs/cgroup/user.slice/job/memory.max", "4096\n");
        assert_eq!(told(&[MACHINE, group, own, above]), Some(4096));
    }

    #[test]
    fn groups_of_version_1_and_those_of_a_container_count() {
        let groups = (GROUPS, "12:cpu,cpuacct:/\n5:memory:/docker/abc\n0::/\n");
        let mount = ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
        assert_eq!(told(&[MACHINE, groups, mount]), Some(2 << 30), "the mount is the container's own group");
        let none = ("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(told(&[MACHINE, groups, none]), Some(MACHINE_BYTES));
    }

    #[test]
    fn this_machine_tells() {
        assert!(cfg!(not(target_os = "linux")) || memory_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
