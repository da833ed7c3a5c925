//! The longest wait of a test for another thread, another process, or the disk.

use std::time::{Duration, Instant};

/// The time after which a test concludes that an event does not come. On an idle machine the events of tests
/// come within a second. If other programs use every processor, a thread may lose its processor for a second,
/// repeatedly. The margin is a factor of one hundred, and only a failing test waits this long.
pub const FOR_EVER: Duration = Duration::from_secs(180);

/// Calls `reached` every millisecond until it returns true.
///
/// # Panics
/// After [`FOR_EVER`].
pub fn wait_until(what: &str, mut reached: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !reached() {
        assert!(begun.elapsed() < FOR_EVER, "{what} does not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_asked_until_it_comes() {
        let mut asked = 0;
        wait_until("the third answer", || {
            asked += 1;
            asked == 3
        });
        assert_eq!(asked, 3);
    }
}
