//! A trace of our own: an instance below `instances` of the kernel's tracing files.
//!
//! Traces of others are not touched: an instance has its own buffers, events and switch. Its name
//! tells whose it is (`quietcore-PROCESS-BEGIN-NUMBER`, the begin as in `/proc/PROCESS/stat`), so
//! those whose process is dead are removed when the next one is made. Dropping it removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use quietcore_units::CpuSet;

use crate::tracefs::Tracefs;

/// The buffer of each CPU, in KiB: at 1 ms and some ten events a cycle, a second or more.
const BUFFER_KIB: u32 = 512;
/// Bytes of a buffer's text that are read at most. An event of some 30 bytes in the buffer takes
/// some 100 as text.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// Prefix of the names of our instances.
const PREFIX: &str = "quietcore-";

/// Events, or groups of them, that are switched on; where the kernel has them.
const EVENTS: [&str; 7] = [
    "sched/sched_switch",
    "sched/sched_waking",
    "irq",
    "irq_vectors",
    "nmi",
    "power/cpu_frequency",
    // They come while somebody runs one of the tracers `osnoise` and `timerlat`.
    "osnoise",
];
/// Events that say more than is asked for, switched off again within their groups.
const TOO_MUCH: [&str; 3] = ["irq/softirq_raise", "irq/tasklet_entry", "irq/tasklet_exit"];
/// Without these there is no ledger.
const NEEDED: [&str; 2] = ["sched/sched_switch", "sched/sched_waking"];

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
#[error("`{}`: {what}", file.display())]
pub struct InstanceError {
    /// The file of the trace.
    pub file: PathBuf,
    /// The action that failed, in words.
    pub what: &'static str,
    /// The error of the kernel.
    #[source]
    pub source: io::Error,
}

/// A trace of our own. Dropping it removes it; files of it that are still open keep the kernel from
/// that, and then the next one that is made removes it.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
    /// Kept for its mount: without that the instance's folder would be gone.
    _tracefs: Arc<Tracefs>,
    /// The events that are on, and what the kernel has not.
    events: Vec<&'static str>,
    missing: Vec<&'static str>,
}

impl Instance {
    /// Makes one that traces these CPUs, switched off. Empty are all CPUs.
    ///
    /// # Errors
    /// [`InstanceError`]; then nothing is left.
    pub fn create(tracefs: &Arc<Tracefs>, cpus: CpuSet) -> Result<Self, InstanceError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        remove_leftovers(tracefs);
        let process = std::process::id();
        let begin = begin_of(process).unwrap_or_default();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{process}-{begin}-{number}");
        let folder = tracefs.root().join("instances").join(name);
        fs::create_dir(&folder).map_err(|source| InstanceError {
            file: folder.clone(),
            what: "a trace of its own can't be made",
            source,
        })?;
        let mut instance =
            Self { folder, _tracefs: Arc::clone(tracefs), events: Vec::new(), missing: Vec::new() };
        instance.set_up(cpus)?;
        Ok(instance)
    }

    fn set_up(&mut self, cpus: CpuSet) -> Result<(), InstanceError> {
        self.write("tracing_on", "0", "the trace can't be switched off")?;
        self.write("trace_clock", "mono", "the trace can't use the monotonic clock")?;
        self.write("buffer_size_kb", &BUFFER_KIB.to_string(), "there is no buffer for it")?;
        if !cpus.is_empty() {
            self.write("tracing_cpumask", &mask(cpus), "it can't be limited to its CPUs")?;
        }
        for event in EVENTS {
            let file = format!("events/{event}/enable");
            let needed = NEEDED.contains(&event);
            if !needed && !self.folder.join(&file).exists() {
                self.missing.push(event);
                continue;
            }
            self.write(&file, "1", "an event can't be switched on")?;
            self.events.push(event);
        }
        for event in TOO_MUCH {
            let _ = fs::write(self.folder.join(format!("events/{event}/enable")), "0");
        }
        Ok(())
    }

    /// Traces also what concerns these threads alone: their page faults, and where the kernel was
    /// when they were woken. Returns what the kernel refused, with its reason.
    pub fn follow(&self, threads: &[u32]) -> Vec<(&'static str, String)> {
        let mut refused = Vec::new();
        for event in ["exceptions/page_fault_user", "exceptions/page_fault_kernel"] {
            if let Err(error) = self.filtered(event, &any("common_pid", threads)) {
                refused.push((event, error));
            }
        }
        let trigger = format!("stacktrace if {}", any("pid", threads));
        if let Err(error) = self.write_plain("events/sched/sched_waking/trigger", &trigger) {
            refused.push(("stacks at sched_waking", error.to_string()));
        }
        refused
    }

    /// Traces also when these threads leave the guests that they run, and enter them again. Returns
    /// what the kernel refused, with its reason.
    pub fn follow_exits(&self, threads: &[u32]) -> Vec<(&'static str, String)> {
        let own = any("common_pid", threads);
        let events = ["kvm/kvm_exit", "kvm/kvm_entry"].into_iter();
        events.filter_map(|event| Some((event, self.filtered(event, &own).err()?))).collect()
    }

    /// Switches an event on where a filter lets it through.
    fn filtered(&self, event: &str, filter: &str) -> Result<(), String> {
        self.write_plain(&format!("events/{event}/filter"), filter)
            .and_then(|()| self.write_plain(&format!("events/{event}/enable"), "1"))
            .map_err(|error| error.to_string())
    }

    /// Forgets what was traced, and switches the trace on.
    ///
    /// # Errors
    /// [`InstanceError`].
    pub fn arm(&self) -> Result<(), InstanceError> {
        // Opening it to be written forgets all.
        self.write("trace", "", "the trace can't be cleared")?;
        self.write("tracing_on", "1", "the trace can't be switched on")
    }

    /// Switches the trace off.
    ///
    /// # Errors
    /// [`InstanceError`].
    pub fn halt(&self) -> Result<(), InstanceError> {
        self.write("tracing_on", "0", "the trace can't be switched off")
    }

    /// The file that switches the trace, for a partition.
    ///
    /// # Errors
    /// [`InstanceError`].
    pub fn switch(&self) -> Result<File, InstanceError> {
        let file = self.folder.join("tracing_on");
        OpenOptions::new().write(true).open(&file).map_err(|source| InstanceError {
            file,
            what: "the switch of the trace can't be opened",
            source,
        })
    }

    /// The text of the trace of a CPU, while the trace is off; at most its first 16 MiB.
    ///
    /// # Errors
    /// [`InstanceError`].
    pub fn read(&self, cpu: u32) -> Result<String, InstanceError> {
        let file = self.folder.join(format!("per_cpu/cpu{cpu}/trace"));
        let mut bytes = Vec::new();
        let read = File::open(&file)
            .and_then(|open| open.take(TEXT_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|source| InstanceError { file, what: "the trace can't be read", source });
        read.map(|_| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The events that are on.
    pub fn events(&self) -> &[&'static str] {
        &self.events
    }

    /// The events that this kernel has not.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    fn write(&self, name: &str, text: &str, what: &'static str) -> Result<(), InstanceError> {
        self.write_plain(name, text).map_err(|source| InstanceError {
            file: self.folder.join(name),
            what,
            source,
        })
    }

    fn write_plain(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.folder.join(name), text)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes the instances of ours whose process is dead. What can't be removed stays for the next.
fn remove_leftovers(tracefs: &Tracefs) {
    let folder = tracefs.root().join("instances");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_left_over) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Returns `true` if an instance is one of ours whose process is dead.
fn is_left_over(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let mut numbers = rest.splitn(3, '-').map(str::parse::<u64>);
    let (Some(Ok(process)), Some(Ok(begin)), Some(Ok(_))) =
        (numbers.next(), numbers.next(), numbers.next())
    else {
        return false;
    };
    let Ok(process) = u32::try_from(process) else { return false };
    // A process that can't be looked at is taken for one that lives.
    match begin_of(process) {
        Ok(now) => now != begin,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// When a process began, in the kernel's ticks since its own start.
fn begin_of(process: u32) -> io::Result<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"))?;
    // The name may hold anything; behind its parenthesis it is the 20th word.
    let begin = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19));
    begin.and_then(|word| word.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// A filter that one of these threads passes.
fn any(field: &str, threads: &[u32]) -> String {
    let each: Vec<String> = threads.iter().map(|thread| format!("{field}=={thread}")).collect();
    each.join("||")
}

/// CPUs as the kernel takes them: groups of eight hexadecimal digits, the highest first.
fn mask(cpus: CpuSet) -> String {
    let highest = cpus.iter().map(quietcore_units::CpuId::get).max().unwrap_or(0);
    let mut groups = vec![0_u32; highest as usize / 32 + 1];
    for cpu in cpus.iter() {
        groups[cpu.get() as usize / 32] |= 1 << (cpu.get() % 32);
    }
    let groups: Vec<String> = groups.iter().rev().map(|group| format!("{group:08x}")).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests;
