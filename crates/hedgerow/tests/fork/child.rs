//! Making children, and waiting for them.

use std::io::{PipeReader, Read, Write};
use std::time::{Duration, Instant};

use hedgerow_testkit::FOR_EVER;

/// How a child is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `fork()` of the C library.
    Fork,
    /// The system call: no handler runs.
    Clone,
}

/// Keeps the panics of children out of the output: the harness prints them under locks that other threads may
/// have held at the fork.
fn keep_children_quiet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let (parent, print) = (std::process::id(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            if std::process::id() == parent {
                print(panic);
            }
        }));
    });
}

/// A child of this process. Dropping it kills it.
pub(crate) struct Child {
    id: libc::pid_t,
    said: PipeReader,
    ended: bool,
}

impl Child {
    /// Runs `body` in a child with `value`, which the parent gets back. The child says what `body` returns.
    pub(crate) fn with<T>(way: Way, value: T, body: impl FnOnce(T, &mut dyn Write) -> String) -> (T, Child) {
        let (said, mut say) = std::io::pipe().expect("a pipe");
        keep_children_quiet();
        // SAFETY: the child has one thread. It runs what children of this library must be able to run, which
        // is what these tests are about, and leaves without running what the test harness does at its end.
        let id = unsafe {
            match way {
                Way::Fork => libc::fork(),
                Way::Clone => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t,
            }
        };
        assert!(id >= 0, "forking failed");
        if id > 0 {
            return (value, Child { id, said, ended: false });
        }
        let body = std::panic::AssertUnwindSafe(|| body(value, &mut say));
        let text = std::panic::catch_unwind(body).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map_or("", String::as_str);
            format!("panicked: {}", panic.downcast_ref::<&str>().unwrap_or(&text))
        });
        let told = say.write_all(text.as_bytes()).is_ok();
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!told)) }
    }

    /// Forks, and goes on in both processes: the child gets `None`, and must [`leave`].
    pub(crate) fn fork() -> Option<Child> {
        let (said, _) = std::io::pipe().expect("a pipe");
        keep_children_quiet();
        // SAFETY: as in `with`.
        let id = unsafe { libc::fork() };
        assert!(id >= 0, "forking failed");
        (id > 0).then(|| Child { id, said, ended: false })
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.id.unsigned_abs()
    }

    /// Waits until the child has said at least one byte.
    pub(crate) fn first_byte(&mut self) -> u8 {
        let mut byte = [0];
        self.said.read_exact(&mut byte).expect("the child says something");
        byte[0]
    }

    /// Kills the child as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if !self.ended {
            self.ended = true;
            // SAFETY: the own child, which was not waited for yet.
            unsafe {
                libc::kill(self.id, libc::SIGKILL);
                libc::waitpid(self.id, std::ptr::null_mut(), 0);
            }
        }
    }

    /// What the child said, once it has ended by itself.
    pub(crate) fn wait(mut self) -> String {
        let (begun, mut status) = (Instant::now(), 0);
        // SAFETY: the own child; writes to a local variable.
        while unsafe { libc::waitpid(self.id, &raw mut status, libc::WNOHANG) } == 0 {
            if begun.elapsed() > FOR_EVER {
                self.kill();
                return "hangs".to_owned();
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        self.ended = true;
        if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
            return format!("ended with status {status:#x}");
        }
        let mut text = String::new();
        self.said.read_to_string(&mut text).expect("text");
        text
    }
}

/// Ends a child, which says whether all was as it should be.
pub(crate) fn leave(well: bool) -> ! {
    // SAFETY: ends the child.
    unsafe { libc::_exit(i32::from(!well)) }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs `body` in a child; what it says must be nothing.
pub(crate) fn in_child(body: impl FnOnce() -> String) {
    let ((), child) = Child::with(Way::Fork, (), |(), _| body());
    assert_eq!(child.wait(), "", "in a child");
}

/// Keeps the standard library from catching overflows of stacks in this program. It would note each thread
/// that starts or ends in a table behind a lock, and a child that is forked while another thread holds that
/// lock has no thread that can start: a limit of the standard library, which tests of the store are not to
/// run into. An overflow ends the program in any case.
#[used]
#[unsafe(link_section = ".init_array")]
static LEAVE_FAULTS: extern "C" fn() = leave_faults;

extern "C" fn leave_faults() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: sets what a signal does, before any thread but the first one runs. The standard library
        // leaves what is not the default.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}
