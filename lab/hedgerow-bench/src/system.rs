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
