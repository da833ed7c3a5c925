//! A real ext4 on a device that can fail and lose power. The device is an image with holes, on a small file
//! system in memory. While that file system is full, bytes written to a hole cannot reach the device, and the
//! sync returns an error. ext4 itself can stop as if power failed.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A program for `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`; no library offers this call without
/// unsafe code. Threads that wait for the disk stop when they return.
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

/// Runs a command and returns its output, or its first error line if it fails.
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
    /// Makes a device with an empty file system, or returns the reason why this is not possible here.
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
        // One probe of a loss of power shows missing abilities before a store depends on them.
        device.lose_power()?;
        Ok(device)
    }

    fn memory(&self) -> PathBuf {
        self.dir.path().join("memory")
    }

    fn image(&self) -> PathBuf {
        self.memory().join("image")
    }

    /// Returns the root of the file system.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("mount")
    }

    /// Returns a directory outside the device, which loses nothing.
    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    fn mount(&self) -> Result<(), String> {
        // The file system commits its journal when the store syncs. Without a sync it commits every five
        // seconds, also while the device fails, and then becomes read-only. On a busy machine a script takes
        // five seconds.
        run("mount", &["-o", "loop,commit=300", text(&self.image()), text(&self.root())])?;
        self.shorten_requests()
    }

    /// Limits each request to one page. If a longer request finds too little room, the image may take only a
    /// part of it. The loop device then reports success, which no store can detect.
    fn shorten_requests(&self) -> Result<(), String> {
        let number = run("findmnt", &["-n", "-o", "MAJ:MIN", text(&self.root())])?;
        let limit = format!("/sys/dev/block/{}/queue/max_sectors_kb", number.trim());
        std::fs::write(&limit, "4").map_err(|e| format!("{limit}: {e}"))
    }

    /// Writes the whole journal once, so that it has no holes. Then only data fails, as on a disk with a few
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

    /// Releases the space of removed files, so that it becomes holes again.
    pub(crate) fn trim(&self) -> Result<(), String> {
        File::open(self.root()).and_then(|root| root.sync_all()).map_err(|e| e.to_string())?;
        run("sync", &["-f", text(&self.root())])?;
        run("fstrim", &[text(&self.root())]).map(drop)
    }

    /// Makes every later sync of bytes in new places fail.
    pub(crate) fn begin_to_fail(&self) {
        let mut filler = File::create(self.memory().join("filler")).expect("a file");
        // The filler takes the space down to the last page.
        let zeros = [0; 1 << 16];
        for size in [1 << 16, 1 << 12, 1] {
            while filler.write_all(&zeros[..size]).is_ok() {}
        }
        std::mem::forget(filler.try_clone());
    }

    /// Makes the device work again, without the lost bytes. It first truncates the filler. A child of another
    /// test that has not started its program yet may have the filler open. A removal alone would then leave
    /// the device full.
    pub(crate) fn heal(&self) {
        let filler = self.memory().join("filler");
        File::create(&filler).and_then(|_| std::fs::remove_file(&filler)).expect("the filler");
    }

    /// True if a file can be made, written, synced and removed.
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

    /// Stops the file system without further writes, not even of its journal. Every later call on it fails.
    /// If a `process` is given, it is stopped first, as by a loss of power. It cannot pass on the results of
    /// calls that return later.
    pub(crate) fn cut_power(&self, process: Option<u32>) -> Result<(), String> {
        let process = process.map_or(String::new(), |id| id.to_string());
        run("python3", &["-c", CUT_POWER, text(&self.root()), &process]).map(drop)
    }

    /// Mounts the file system again from the content of the device and its journal. Only ending threads of a
    /// closed store may still have a file open.
    pub(crate) fn restore_power(&self) -> Result<(), String> {
        let unmount = || run("umount", &[text(&self.root())]);
        let mut last = unmount();
        // The loop takes up to 100 seconds, because these threads may wait for a processor.
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
