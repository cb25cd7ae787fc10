//! The kernel's counters of a CPU and a thread, read at one instant.
//!
//! Two readings around a late release say what happened between them: by how much, and not when.
//! What this kernel or this user can't count is told by name and reason.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use quietcore_units::Nanos;

/// The most bytes of a file that are read.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// The register in which Intel's processors count their SMIs.
const SMI_COUNT: u64 = 0x34;
/// The tick in which the kernel counts stolen time (`USER_HZ`).
const TICK: Nanos = Nanos::from_millis(10);

/// Whose counters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The CPU whose stolen time is read.
    pub cpu: u32,
    /// The process, as this process sees it.
    pub process: u32,
    /// The thread whose run delay is read.
    pub thread: u32,
}

/// The counters at one instant. Each is `None` where it can't be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Time since its begin for which the thread could run and did not.
    pub run_delay: Option<Nanos>,
    /// Time for which the hypervisor ran something else on the CPU, in steps of 10 ms.
    pub steal: Option<Nanos>,
    /// Page faults of the thread that needed no disk, and that did.
    pub faults: Option<(u64, u64)>,
    /// Times that the thread was displaced although it could run.
    pub displaced: Option<u64>,
    /// SMIs of the CPU.
    pub smis: Option<u64>,
    /// The frequency of the CPU, in kHz.
    pub frequency_khz: Option<u64>,
    /// Interrupts of the CPU, by name.
    pub interrupts: BTreeMap<String, u64>,
    /// Softirqs of the CPU, by name.
    pub softirqs: BTreeMap<String, u64>,
}

/// Reads the counters again and again, from files that it keeps open.
#[derive(Debug)]
pub struct Reader {
    root: PathBuf,
}

impl Reader {
    /// Those of this machine.
    pub fn live() -> Self {
        Self::below("/")
    }

    /// Those of a tree that is laid out as the machine's.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Reads all counters of a subject.
    pub fn read(&self, subject: Subject) -> Counters {
        let Subject { cpu, process, thread } = subject;
        let task = format!("proc/{process}/task/{thread}");
        let of_task = |name: &str| self.text(&format!("{task}/{name}")).ok();
        Counters {
            run_delay: of_task("schedstat").and_then(|text| run_delay(&text)),
            steal: self.text("proc/stat").ok().and_then(|text| steal(&text, cpu)),
            faults: of_task("stat").and_then(|text| faults(&text)),
            displaced: of_task("status").and_then(|text| displaced(&text)),
            smis: self.smis(cpu).ok(),
            frequency_khz: self
                .text(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"))
                .ok()
                .and_then(|text| text.trim().parse().ok()),
            interrupts: self.table("proc/interrupts", cpu),
            softirqs: self.table("proc/softirqs", cpu),
        }
    }

    /// Which of the counters can't be read of a subject, each with its reason.
    pub fn missing(&self, subject: Subject) -> Vec<(&'static str, String)> {
        let Subject { cpu, process, thread } = subject;
        let read = self.read(subject);
        let mut missing = Vec::new();
        let mut note = |is_missing: bool, what: &'static str, file: String, remedy: &str| {
            if is_missing {
                let reason = match fs::File::open(self.root.join(&file)) {
                    Ok(_) => "it holds no such counter".to_owned(),
                    Err(error) => error.to_string(),
                };
                missing.push((what, format!("/{file}: {reason}; {remedy}")));
            }
        };
        let task = |name: &str| format!("proc/{process}/task/{thread}/{name}");
        let kernel = "it needs a kernel with CONFIG_SCHED_INFO";
        note(read.run_delay.is_none(), "run delay", task("schedstat"), kernel);
        note(read.steal.is_none(), "steal", "proc/stat".to_owned(), "is /proc mounted?");
        note(read.faults.is_none(), "page faults", task("stat"), "is /proc mounted?");
        let msr = format!("dev/cpu/{cpu}/msr");
        let smi = "Intel's processors count SMIs, as root with the module `msr`; others do not";
        note(read.smis.is_none(), "SMIs", msr, smi);
        let frequency = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        let hidden = "this processor's frequency is not the kernel's to see";
        note(read.frequency_khz.is_none(), "frequency", frequency, hidden);
        note(
            read.interrupts.is_empty(),
            "interrupts",
            "proc/interrupts".to_owned(),
            "is /proc mounted?",
        );
        missing
    }

    fn text(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        File::open(self.root.join(path))?.take(TEXT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn smis(&self, cpu: u32) -> io::Result<u64> {
        let mut word = [0; 8];
        let path = Path::new("dev/cpu").join(cpu.to_string()).join("msr");
        File::open(self.root.join(path))?.read_exact_at(&mut word, SMI_COUNT)?;
        Ok(u64::from_ne_bytes(word))
    }

    fn table(&self, path: &str, cpu: u32) -> BTreeMap<String, u64> {
        self.text(path).map(|text| column(&text, cpu)).unwrap_or_default()
    }
}

/// The column of a CPU in a table whose head names the CPUs, such as `/proc/interrupts`.
fn column(text: &str, cpu: u32) -> BTreeMap<String, u64> {
    let mut lines = text.lines();
    let wanted = format!("CPU{cpu}");
    let head: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let Some(place) = head.iter().position(|name| *name == wanted) else {
        return BTreeMap::new();
    };
    let row = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let count = rest.split_whitespace().nth(place)?.parse().ok()?;
        let words: Vec<&str> = rest.split_whitespace().skip(head.len()).collect();
        let name = name.trim();
        let about = match (name.bytes().all(|byte| byte.is_ascii_digit()), words.last()) {
            (true, Some(device)) => format!("{name} {device}"),
            (false, Some(_)) => words.join(" "),
            (_, None) => name.to_owned(),
        };
        Some((about, count))
    };
    lines.filter_map(row).collect()
}

/// The second number of `schedstat`.
fn run_delay(text: &str) -> Option<Nanos> {
    text.split_whitespace().nth(1)?.parse().ok().map(Nanos::new)
}

/// The eighth number of the line of a CPU in `/proc/stat`.
fn steal(text: &str, cpu: u32) -> Option<Nanos> {
    let wanted = format!("cpu{cpu} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&wanted))?;
    let ticks: u64 = line.split_whitespace().nth(7)?.parse().ok()?;
    Some(Nanos::new(TICK.get().saturating_mul(ticks)))
}

/// The 10th and the 12th word of `stat`.
fn faults(text: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some((words.get(7)?.parse().ok()?, words.get(9)?.parse().ok()?))
}

fn displaced(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests;
