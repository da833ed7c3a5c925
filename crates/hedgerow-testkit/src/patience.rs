//! How long tests wait for what other threads, processes or the disk are to do.

use std::time::{Duration, Instant};

/// Who waits longer waits for something that does not come. What comes at all comes within a second on an
/// idle machine; beside programs that take every processor a thread may lose its own for a second, again and
/// again. The margin is a hundredfold, and only a test that fails takes it.
pub const FOR_EVER: Duration = Duration::from_secs(180);

/// Waits until `reached` says so; it is asked every millisecond.
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
