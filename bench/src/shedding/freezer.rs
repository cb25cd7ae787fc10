//! The freezer of cgroups: a group of its own with one process in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Time that the kernel may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A group that can be frozen. Dropping it moves its process out, and removes it.
pub(super) struct Freezer {
    group: PathBuf,
    is_v1: bool,
    process: u32,
}

impl Freezer {
    /// Makes a group with this process in it.
    pub(super) fn with(process: u32) -> Result<Self, String> {
        let (v1, v2) = (Path::new("/sys/fs/cgroup/freezer"), Path::new("/sys/fs/cgroup"));
        let is_v1 = !v2.join("cgroup.controllers").exists();
        let group = if is_v1 { v1 } else { v2 };
        let group = group.join(format!("quietcore-bench-{process}"));
        fs::create_dir(&group).map_err(|error| format!("{}: {error}", group.display()))?;
        let freezer = Self { group, is_v1, process };
        freezer.write("cgroup.procs", &process.to_string())?;
        Ok(freezer)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.group.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Freezes the group; returns when the kernel says that all of it stands.
    pub(super) fn freeze(&self) -> Result<(), String> {
        let (file, said) = if self.is_v1 {
            self.write("freezer.state", "FROZEN")?;
            ("freezer.state", "FROZEN")
        } else {
            self.write("cgroup.freeze", "1")?;
            ("cgroup.events", "frozen 1")
        };
        let (path, end) = (self.group.join(file), Instant::now() + PATIENCE);
        while !fs::read_to_string(&path).is_ok_and(|text| text.contains(said)) {
            if Instant::now() >= end {
                return Err(format!("{} does not become `{said}`", path.display()));
            }
            thread::yield_now();
        }
        Ok(())
    }

    /// Lets it go on.
    pub(super) fn thaw(&self) -> Result<(), String> {
        if self.is_v1 {
            self.write("freezer.state", "THAWED")
        } else {
            self.write("cgroup.freeze", "0")
        }
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _ = self.thaw();
        if let Some(parent) = self.group.parent() {
            let _ = fs::write(parent.join("cgroup.procs"), self.process.to_string());
        }
        let _ = fs::remove_dir(&self.group);
    }
}
