//! Tells what the machine is doing when its scenario has taken most of its time.
//!
//! A scenario that hangs is ended by its limit, from outside, and the machine is gone with what
//! would say why. So its first process writes to the console before: each process with the kernel
//! function that it sleeps in, and what each processor runs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The kernel's letter for "backtraces of all processors".
const BACKTRACES: &str = "l";
/// The level of the console from which the kernel's backtraces are shown.
const CONSOLE_LEVEL: &str = "7";
/// Stack frames that are shown of a process.
const FRAMES: usize = 8;

/// Waits until the machine has been running for `duration`, and then tells what hangs.
pub(crate) fn tell_after(duration: Duration) {
    let now = clock_gettime(ClockId::Boottime);
    let running = Duration::try_from(now).unwrap_or_default();
    thread::sleep(duration.saturating_sub(running));
    eprintln!("quietcore-lab: the scenario has taken most of its time; in this machine run");
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes.filter_map(|entry| described(&entry.path())) {
        eprint!("{process}");
    }
    // The kernel's own lines overtake what waits to be written. It fails where that is no terminal.
    let _ = rustix::termios::tcdrain(std::io::stderr());
    // Both fail only where the kernel has neither, and then there is less to read.
    let _ = fs::write("/proc/sys/kernel/printk", CONSOLE_LEVEL);
    let _ = fs::write("/proc/sysrq-trigger", BACKTRACES);
}

/// Describes a process of `/proc` with its threads, a line each and their stacks; `None` for a
/// thread of the kernel.
fn described(process: &Path) -> Option<String> {
    process.file_name()?.to_str()?.parse::<u32>().ok()?;
    let command = fs::read(process.join("cmdline")).ok().filter(|words| !words.is_empty())?;
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    let mut text = format!("  {} {command}\n", process.display());
    for thread in fs::read_dir(process.join("task")).into_iter().flatten().flatten() {
        let file = |name: &str| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
        let status = file("status");
        let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or_default();
        let name = file("comm");
        let _ = writeln!(text, "    thread {}:{state}, in {}", name.trim_end(), file("wchan"));
        for frame in file("stack").lines().take(FRAMES) {
            let _ = writeln!(text, "      {frame}");
        }
    }
    Some(text)
}
