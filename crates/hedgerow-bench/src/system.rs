//! What the operating system says about this process.

use rustix::time::{ClockId, clock_gettime};

/// The processor time of the calling thread in seconds.
pub(crate) fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Whether the system offers counters of the processor's events.
pub(crate) fn has_event_counters() -> bool {
    std::path::Path::new("/sys/bus/event_source/devices/cpu").exists()
}

/// The resident memory of this process in bytes, where the system tells.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
