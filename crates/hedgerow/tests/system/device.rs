//! A real ext4 on a device that can fail and lose power: an image, full of holes, on a small file system in
//! memory. While that is full, what is written to a hole cannot reach the device, and the sync says so; and
//! ext4 itself can be told to stop as if power had gone.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`, for which we have no library without unsafe code.
/// Threads that wait for the disk stop when they return.
const CUT_POWER: &str = "
import fcntl, glob, os, signal, struct, sys, time
root = os.open(sys.argv[1], os.O_RDONLY)
if sys.argv[2]:
    os.kill(int(sys.argv[2]), signal.SIGSTOP)
    def state(file):
        try:
            return open(file).read().rsplit(')', 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return 'X'  # a thread that was about to end, and has
    while any(state(file) in 'RS' for file in glob.glob(f'/proc/{sys.argv[2]}/task/*/stat')):
        time.sleep(0.0001)
fcntl.ioctl(root, 0x8004587D, struct.pack('I', 2))
";

pub(crate) struct Device {
    dir: tempfile::TempDir,
}

/// Runs a command, for its output; what it says if it fails.
fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let done = Command::new(program).args(arguments).output().map_err(|e| format!("{program}: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("{program}: {}", said.lines().next().unwrap_or("it failed")))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of a temporary directory")
}

impl Device {
    /// A device with an empty file system, or why there cannot be one here.
    pub(crate) fn new() -> Result<Device, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let device = Device { dir };
        for part in ["memory", "mount"] {
            std::fs::create_dir(device.dir.path().join(part)).map_err(|e| e.to_string())?;
        }
        let memory = device.memory();
        run("mount", &["-t", "tmpfs", "-o", "size=40m,huge=never", "tmpfs", text(&memory)])?;
        let image = device.image();
        File::create(&image).and_then(|file| file.set_len(32 << 20)).map_err(|e| e.to_string())?;
        run("mkfs.ext4", &["-q", "-b", "4096", "-E", "lazy_itable_init=0", text(&image)])?;
        device.mount()?;
        device.warm_journal().map_err(|e| e.to_string())?;
        // Probed once, so that what is missing is known before a store depends on it.
        device.lose_power()?;
        Ok(device)
    }

    fn memory(&self) -> PathBuf {
        self.dir.path().join("memory")
    }

    fn image(&self) -> PathBuf {
        self.memory().join("image")
    }

    /// Where the file system is.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("mount")
    }

    /// A place outside, which loses nothing.
    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    fn mount(&self) -> Result<(), String> {
        // The file system commits its journal when the store syncs. Without a sync it would do so every five
        // seconds, also while the device fails, and then become read-only. On a busy machine a script takes
        // that long.
        run("mount", &["-o", "loop,commit=300", text(&self.image()), text(&self.root())])?;
        self.shorten_requests()
    }

    /// One page to a request. Of a longer one the image may take a part, for want of room, and the loop
    /// device reports that as success: a lie that no store can see through.
    fn shorten_requests(&self) -> Result<(), String> {
        let number = run("findmnt", &["-n", "-o", "MAJ:MIN", text(&self.root())])?;
        let limit = format!("/sys/dev/block/{}/queue/max_sectors_kb", number.trim());
        std::fs::write(&limit, "4").map_err(|e| format!("{limit}: {e}"))
    }

    /// Writes the journal once around, so that it has no holes: only data is to fail, as on a disk with a few
    /// bad sectors.
    fn warm_journal(&self) -> std::io::Result<()> {
        let (root, name) = (File::open(self.root())?, self.root().join("warm"));
        for _ in 0..600 {
            let mut file = File::create(&name)?;
            file.write_all(b"x")?;
            file.sync_all()?;
            std::fs::remove_file(&name)?;
            root.sync_all()?;
        }
        Ok(())
    }

    /// Gives the room of removed files back, so that it is holes again.
    pub(crate) fn trim(&self) -> Result<(), String> {
        File::open(self.root()).and_then(|root| root.sync_all()).map_err(|e| e.to_string())?;
        run("sync", &["-f", text(&self.root())])?;
        run("fstrim", &[text(&self.root())]).map(drop)
    }

    /// From now on what is written to new places fails when it is synced.
    pub(crate) fn begin_to_fail(&self) {
        let mut filler = File::create(self.memory().join("filler")).expect("a file");
        // Down to the last page.
        let zeros = [0; 1 << 16];
        for size in [1 << 16, 1 << 12, 1] {
            while filler.write_all(&zeros[..size]).is_ok() {}
        }
        std::mem::forget(filler.try_clone());
    }

    /// All is well again, but for what was lost. The filler is cut first: a child of another test that has
    /// not begun its program yet may have it open, and then removing it alone would leave the device full.
    pub(crate) fn heal(&self) {
        let filler = self.memory().join("filler");
        File::create(&filler).and_then(|_| std::fs::remove_file(&filler)).expect("the filler");
    }

    /// Whether a file can be made, written to and synced, and is removed again.
    pub(crate) fn takes_writes(&self) -> bool {
        let (root, name) = (self.root(), self.root().join("probe"));
        let write = || {
            let mut file = File::create(&name)?;
            file.write_all(b"x")?;
            file.sync_all()?;
            std::fs::remove_file(&name)?;
            File::open(root)?.sync_all()
        };
        write().is_ok()
    }

    /// Stops the file system without writing anything more, not even its journal; every later call on it
    /// fails. A `process` given is stopped first, as by a loss of power: it cannot pass on the results of
    /// calls that return later.
    pub(crate) fn cut_power(&self, process: Option<u32>) -> Result<(), String> {
        let process = process.map_or(String::new(), |id| id.to_string());
        run("python3", &["-c", CUT_POWER, text(&self.root()), &process]).map(drop)
    }

    /// Mounts again what is on the device, by its journal. Nothing may have a file of it open, but threads of
    /// a store that was closed, which are about to end.
    pub(crate) fn restore_power(&self) -> Result<(), String> {
        let unmount = || run("umount", &[text(&self.root())]);
        let mut last = unmount();
        // For 100 seconds: they may be kept from their processors.
        for _ in 0..5_000 {
            if last.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
            last = unmount();
        }
        last?;
        self.mount()
    }

    pub(crate) fn lose_power(&self) -> Result<(), String> {
        self.cut_power(None)?;
        self.restore_power()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        for part in [self.root(), self.memory()] {
            let _ = run("umount", &["-l", text(&part)]);
        }
    }
}
