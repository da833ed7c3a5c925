//! Functions that make child processes and wait for them.

use std::io::{PipeReader, Read, Write};
use std::time::{Duration, Instant};

use hedgerow_testkit::FOR_EVER;

/// The way to make a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The `fork()` of the C library.
    Fork,
    /// The `clone` system call: no fork handler runs.
    Clone,
}

/// Keeps the panic messages of children out of the output. The test harness prints them under locks that
/// other threads may hold at the fork.
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

/// A child of this process. Its drop kills it.
pub(crate) struct Child {
    id: libc::pid_t,
    said: PipeReader,
    ended: bool,
}

impl Child {
    /// Runs `body` in a child with `value`, and returns `value` to the parent. The child sends the text that
    /// `body` returns.
    pub(crate) fn with<T>(way: Way, value: T, body: impl FnOnce(T, &mut dyn Write) -> String) -> (T, Child) {
        let (said, mut say) = std::io::pipe().expect("a pipe");
        keep_children_quiet();
        // SAFETY: the child has one thread. It runs code that children of this library must be able to run;
        // these tests check that ability. The child exits without the exit work of the test harness.
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
        // SAFETY: the call only ends the child.
        unsafe { libc::_exit(i32::from(!told)) }
    }

    /// Forks, and returns in both processes: the child gets `None`, and must call [`leave`].
    pub(crate) fn fork() -> Option<Child> {
        let (said, _) = std::io::pipe().expect("a pipe");
        keep_children_quiet();
        // SAFETY: the same as in `with`.
        let id = unsafe { libc::fork() };
        assert!(id >= 0, "forking failed");
        (id > 0).then(|| Child { id, said, ended: false })
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.id.unsigned_abs()
    }

    /// Waits for the first byte that the child writes, and returns it.
    pub(crate) fn first_byte(&mut self) -> u8 {
        let mut byte = [0];
        self.said.read_exact(&mut byte).expect("the child says something");
        byte[0]
    }

    /// Kills the child as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if !self.ended {
            self.ended = true;
            // SAFETY: the process is a child of this process, and no call waited for it yet.
            unsafe {
                libc::kill(self.id, libc::SIGKILL);
                libc::waitpid(self.id, std::ptr::null_mut(), 0);
            }
        }
    }

    /// Waits until the child exits, and returns its text; returns a description if the child hangs or fails.
    pub(crate) fn wait(mut self) -> String {
        let (begun, mut status) = (Instant::now(), 0);
        // SAFETY: the process is a child of this process; the call writes to a local variable.
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

/// Ends a child with exit status 0 if `well`, otherwise with 1.
pub(crate) fn leave(well: bool) -> ! {
    // SAFETY: the call only ends the child.
    unsafe { libc::_exit(i32::from(!well)) }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs `body` in a child, and checks that it returns an empty text.
pub(crate) fn in_child(body: impl FnOnce() -> String) {
    let ((), child) = Child::with(Way::Fork, (), |(), _| body());
    assert_eq!(child.wait(), "", "in a child");
}

/// The function that keeps the standard library from catching stack overflows in this program. The standard
/// library would record each thread that starts or ends in a table behind a lock. If a child is forked while
/// another thread holds that lock, no thread can start in the child. This is a limit of the standard library,
/// and tests of the store must not meet it. A stack overflow ends the program in any case.
#[used]
#[unsafe(link_section = ".init_array")]
static LEAVE_FAULTS: extern "C" fn() = leave_faults;

extern "C" fn leave_faults() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: sets the action of a signal before any thread but the first one runs. The standard library
        // does not change an action that is not the default.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}
