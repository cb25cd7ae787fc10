//! One thing of the machine that has a value, and how the value is read and written.
//!
//! Values are texts in one notation, whatever the kernel's file has: sets of CPUs as lists
//! (`0,2-5`), choices as their word, everything else as it stands. So a value that was read can be
//! kept in the journal, compared, and written back.

pub(super) mod driver;
pub(super) mod namespace;
pub(super) mod policing;
pub(super) mod pool;
pub(super) mod qdisc;
pub(super) mod tool;

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write as _};
use std::time::Duration;

use quietcore_record::reason::{MachineSetting, Refusal};
use quietcore_units::CpuSet;
use rustix::process::Pid;
use rustix::thread::{CpuSet as KernelSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use super::group::{self, CpusetKind, programs};
use quietcore_host::CpuList;
use quietcore_host::process::{ProcessName, began_at};
use quietcore_host::{Source, marked};

/// One thing of the machine that has a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum Setting {
    /// A file of the kernel.
    File {
        /// Its path, which begins with `/`.
        path: String,
        /// The form of a value in it.
        form: Form,
    },
    /// A cpuset of our own.
    Cpuset {
        /// Its folder, which begins with `/`.
        path: String,
        /// The purpose of the cpuset.
        #[serde(rename = "of")]
        kind: CpusetKind,
    },
    /// The cpuset of programs under version 1 of cgroups: the root, or one of our own.
    Programs {
        /// Its folder, which begins with `/`.
        path: String,
    },
    /// The CPUs on which a thread may run.
    Affinity {
        /// Number of the thread.
        thread: u32,
        /// When it began, in the kernel's ticks; a number that is used again is another thread.
        began: u64,
        /// Name of the thread.
        name: String,
    },
    /// The limit of what a network interface sends: the queueing discipline at its root.
    Qdisc {
        /// Name of the interface.
        interface: String,
        /// The network namespace that it is in; `None` where that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        namespace: Option<u64>,
    },
    /// The driver that has a device on the PCI bus.
    Driver {
        /// PCI address of the device, with the domain.
        device: String,
    },
    /// The limit of what Open vSwitch takes from one of its ports.
    Policing {
        /// Name of the interface.
        interface: String,
    },
    /// The pool of Xen that has CPUs.
    Pool {
        /// The CPUs, a list.
        cpus: String,
    },
}

impl Setting {
    /// A file of the kernel.
    pub fn file(path: impl Into<String>, form: Form) -> Self {
        Self::File { path: path.into(), form }
    }

    /// Returns `true` if it is kept on disk, so that a reboot does not undo it.
    pub(super) fn outlives_boot(&self) -> bool {
        matches!(self, Self::Policing { .. })
    }

    /// Returns `true` if nobody else has anything to do with it, so that it is removed in any
    /// state.
    pub(super) const fn is_ours(&self) -> bool {
        matches!(self, Self::Cpuset { .. } | Self::Programs { .. })
    }

    /// Returns `true` if the kernel may carry out a write later and show the value before until
    /// then. The CPUs of an interrupt are moved when the interrupt comes next; while that is done,
    /// neither the pending nor the new CPUs are shown (`irq_move_masked_irq` and
    /// `show_irq_affinity` in Linux 6.1), for as long as a virtual machine's host takes that CPU
    /// away.
    pub(super) fn is_deferred(&self) -> bool {
        matches!(self, Self::File { path, .. } if path.starts_with("/proc/irq/"))
    }
}

impl From<&Setting> for MachineSetting {
    fn from(setting: &Setting) -> Self {
        match setting.clone() {
            Setting::File { path, .. } | Setting::Cpuset { path, .. } => Self::File { path },
            Setting::Programs { path } => Self::Programs { path },
            Setting::Affinity { thread, name, .. } => Self::Affinity { name, thread },
            Setting::Qdisc { interface, .. } => Self::Sending { interface },
            Setting::Driver { device } => Self::Driver { device },
            Setting::Policing { interface } => Self::Switched { interface },
            Setting::Pool { cpus } => Self::Pool { cpus },
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MachineSetting::from(self).fmt(f)
    }
}

/// The form of a value in a file of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The text as it is.
    Text,
    /// CPUs as a list, `0,2-5`.
    CpuList,
    /// CPUs as a mask, `3d`.
    CpuMask,
    /// The word in brackets among those that could be chosen.
    Choice,
    /// Words, of which a group's file takes those to be added and removed.
    Words,
}

/// Why a setting can't be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such setting, or no longer.
    #[error("it is not there")]
    Gone,
    /// The kernel refused, or holds what can't be understood.
    #[error("{0}")]
    Refused(String),
}

impl From<SettingError> for Refusal {
    fn from(error: SettingError) -> Self {
        Self::Machine { error: error.to_string() }
    }
}

impl From<io::Error> for SettingError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Gone,
            _ => Self::Refused(quietcore_host::error_text(&error)),
        }
    }
}

/// Whoever reads and writes settings.
pub trait Settings: Clone {
    /// Reads the present value.
    ///
    /// # Errors
    /// Those of the setting.
    fn read(&self, setting: &Setting) -> Result<String, SettingError>;

    /// Writes a value. That it was accepted does not say that it holds: read it back.
    ///
    /// # Errors
    /// Those of the setting.
    fn write(&self, setting: &Setting, value: &str) -> Result<(), SettingError>;

    /// Waits, between two readings of a value that is on its way.
    fn pause(&self, duration: Duration);

    /// Which boot of the machine this is.
    fn boot(&self) -> String;

    /// Returns the identity of this process.
    fn own(&self) -> ProcessName;

    /// Returns `true` if a process still runs.
    fn lives(&self, process: &ProcessName) -> bool;
}

/// The settings of this machine, or of a copy of its trees below another root.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    source: Source,
}

impl LiveSettings {
    /// Uses files below this root.
    pub fn below(source: Source) -> Self {
        Self { source }
    }

    /// Why a file is not there: some of a CPU are not while it is offline, and come back as they
    /// were left.
    fn missing(&self, path: &str) -> SettingError {
        let of_cpu = path.strip_prefix("/sys/devices/system/cpu/cpu");
        let number = of_cpu.and_then(|rest| rest.split('/').next());
        let is_offline = |number: &&str| {
            let state = self.source.text(&format!("/sys/devices/system/cpu/cpu{number}/online"));
            state.get().is_some_and(|state| state.trim() == "0")
        };
        match number.filter(is_offline) {
            None => SettingError::Gone,
            Some(number) => SettingError::Refused(format!("CPU {number} is offline")),
        }
    }

    fn is_there(&self, thread: u32, began: u64) -> Result<Pid, SettingError> {
        if began_at(&self.source, thread) != Some(began) {
            return Err(SettingError::Gone);
        }
        i32::try_from(thread).ok().and_then(Pid::from_raw).ok_or(SettingError::Gone)
    }
}

impl Settings for LiveSettings {
    fn read(&self, setting: &Setting) -> Result<String, SettingError> {
        match setting {
            Setting::File { path, form } => {
                let reading = self.source.text(path);
                if let Some(reason) = reading.unreadable() {
                    return Err(SettingError::Refused(reason.to_owned()));
                }
                let text = reading.get().ok_or_else(|| self.missing(path))?;
                form.value(text)
            }
            Setting::Cpuset { path, kind } => group::read(&self.source.place(path), *kind),
            Setting::Programs { path } => programs::read(&self.source, path),
            Setting::Affinity { thread, began, .. } => {
                let thread = self.is_there(*thread, *began)?;
                let set = sched_getaffinity(Some(thread)).map_err(io::Error::from)?;
                let cpus = (0..KernelSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
                let cpus = cpus.filter_map(|cpu| quietcore_units::CpuId::new(cpu as u32));
                Ok(cpus.collect::<CpuSet>().to_string())
            }
            Setting::Qdisc { interface, namespace } => {
                namespace::within(&self.source, *namespace, || qdisc::read(interface))
            }
            Setting::Driver { device } => driver::read(&self.source, device),
            Setting::Policing { interface } => policing::read(&self.source, interface),
            Setting::Pool { cpus } => pool::read(&self.source, cpus),
        }
    }

    fn write(&self, setting: &Setting, value: &str) -> Result<(), SettingError> {
        match setting {
            Setting::File { path, form } => {
                // Neither created nor cut: where there is no such file, there is no such setting.
                let file = OpenOptions::new().write(true).open(self.source.place(path));
                let mut file = file.map_err(|error| match SettingError::from(error) {
                    SettingError::Gone => self.missing(path),
                    other @ SettingError::Refused(_) => other,
                })?;
                let before = if *form == Form::Words { self.read(setting)? } else { String::new() };
                Ok(file.write_all(form.text(value, &before)?.as_bytes())?)
            }
            Setting::Cpuset { path, kind } => group::write(&self.source.place(path), *kind, value),
            Setting::Programs { path } => programs::write(&self.source, path, value),
            Setting::Affinity { thread, began, .. } => {
                let thread = self.is_there(*thread, *began)?;
                let mut set = KernelSet::new();
                for cpu in cpus(value)?.iter() {
                    set.set(cpu.get() as usize);
                }
                Ok(sched_setaffinity(Some(thread), &set).map_err(io::Error::from)?)
            }
            Setting::Qdisc { interface, namespace } => {
                namespace::within(&self.source, *namespace, || qdisc::write(interface, value))
            }
            Setting::Driver { device } => driver::write(&self.source, device, value),
            Setting::Policing { interface } => policing::write(&self.source, interface, value),
            Setting::Pool { cpus } => pool::write(&self.source, cpus, value),
        }
    }

    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }

    fn boot(&self) -> String {
        self.source.text("/proc/sys/kernel/random/boot_id").get().cloned().unwrap_or_default()
    }

    fn own(&self) -> ProcessName {
        ProcessName::own(&self.source)
    }

    fn lives(&self, process: &ProcessName) -> bool {
        process.lives(&self.source)
    }
}

impl Default for LiveSettings {
    fn default() -> Self {
        Self::below(Source::live())
    }
}

impl Form {
    /// The value that a file's text stands for.
    fn value(self, text: &str) -> Result<String, SettingError> {
        let nonsense = |what: &str| SettingError::Refused(format!("`{text}` is no {what}"));
        match self {
            Self::Text => Ok(text.to_owned()),
            Self::CpuList => {
                let list = text.parse::<CpuList>().map_err(|_| nonsense("list of CPUs"))?;
                Ok(list.0.to_string())
            }
            Self::CpuMask => {
                let list = CpuList::from_mask(text).map_err(|_| nonsense("mask of CPUs"))?;
                Ok(list.0.to_string())
            }
            Self::Words => {
                let mut words: Vec<&str> = text.split_whitespace().collect();
                words.sort_unstable();
                Ok(words.join(" "))
            }
            Self::Choice => marked(text).map(str::to_owned).ok_or_else(|| nonsense("choice")),
        }
    }

    /// The text that a file gets for a value in place of `before`.
    fn text<'v>(self, value: &'v str, before: &'v str) -> Result<String, SettingError> {
        match self {
            Self::Text | Self::Choice => Ok(value.to_owned()),
            Self::CpuList => Ok(cpus(value)?.to_string()),
            Self::CpuMask => Ok(mask(&cpus(value)?)),
            Self::Words => {
                let words = |text: &'v str| text.split_whitespace();
                let lacks = |text: &'v str, word: &str| !words(text).any(|other| other == word);
                let more = words(value).filter(|word| lacks(before, word));
                let more = more.map(|word| format!("+{word}"));
                let less = words(before).filter(|word| lacks(value, word));
                let less = less.map(|word| format!("-{word}"));
                Ok(more.chain(less).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// Bytes of the name of a network interface, as the kernel allows.
const INTERFACE_BYTES_MAX: usize = 15;

/// Refuses a name that can't be one of a network interface, or would be an option of a program that
/// gets it.
fn check_interface(name: &str) -> Result<(), SettingError> {
    let is_odd = |it: char| it.is_whitespace() || it.is_control() || it == '/';
    let is_sound = !name.is_empty() && name.len() <= INTERFACE_BYTES_MAX && !name.contains(is_odd);
    if is_sound && !name.starts_with('-') && name != "." && name != ".." {
        return Ok(());
    }
    let name = name.escape_debug();
    Err(SettingError::Refused(format!(
        "`{name}` is no name of an interface: 1 to {INTERFACE_BYTES_MAX} bytes, no blank, no `/`, \
         no `-` in front"
    )))
}

/// The CPUs of a value.
pub(super) fn cpus(value: &str) -> Result<CpuSet, SettingError> {
    let nonsense = || SettingError::Refused(format!("`{value}` is no list of CPUs"));
    value.parse::<CpuList>().map(|list| list.0).map_err(|_| nonsense())
}

/// The kernel's mask notation: words of 32 bits, the highest first.
fn mask(cpus: &CpuSet) -> String {
    let highest = cpus.iter().last().map_or(0, |cpu| cpu.get() / 32);
    let word = |index: u32| {
        let bits = cpus.iter().filter(|cpu| cpu.get() / 32 == index).map(|cpu| cpu.get() % 32);
        bits.fold(0_u32, |word, bit| word | 1 << bit)
    };
    let rest = (0..highest).rev().map(|index| format!(",{:08x}", word(index)));
    format!("{:x}{}", word(highest), rest.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use quietcore_units::{CPU_LIMIT, CpuId};

    use super::*;

    fn tree(text: &str) -> (tempfile::TempDir, LiveSettings) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sys")).unwrap();
        fs::write(folder.path().join("sys/setting"), text).unwrap();
        let settings = LiveSettings::below(Source::below(folder.path()));
        (folder, settings)
    }

    #[test]
    fn a_value_is_read_and_written_in_the_form_of_its_file() {
        for (form, before, value, written) in [
            (Form::Text, "950000\n", "950000", "-1"),
            (Form::CpuList, "0-1,3\n", "0,1,3", "0,2"),
            (Form::CpuMask, "0000000b\n", "0,1,3", "5"),
            (Form::Choice, "always [madvise] never\n", "madvise", "never"),
        ] {
            let (folder, settings) = tree(before);
            let setting = Setting::file("/sys/setting", form);
            assert_eq!(settings.read(&setting).as_deref(), Ok(value));
            let wish = if form == Form::CpuMask { "0,2" } else { written };
            settings.write(&setting, wish).unwrap();
            let text = fs::read_to_string(folder.path().join("sys/setting")).unwrap();
            assert!(text.starts_with(written), "{text}");
        }
    }

    #[test]
    fn of_words_those_are_written_that_differ() {
        let words = Form::Words;
        assert_eq!(words.value("memory cpu\n").as_deref(), Ok("cpu memory"));
        assert_eq!(words.text("cpu cpuset", "cpu memory").as_deref(), Ok("+cpuset -memory"));
        assert_eq!(words.text("", "cpu").as_deref(), Ok("-cpu"));
        assert_eq!(words.text("cpu", "").as_deref(), Ok("+cpu"));
    }

    #[test]
    fn what_is_not_there_is_not_made_and_nonsense_is_told() {
        let (folder, settings) = tree("many");
        let other = Setting::file("/sys/other", Form::Text);
        assert_eq!(settings.read(&other), Err(SettingError::Gone));
        assert_eq!(settings.write(&other, "1"), Err(SettingError::Gone));
        assert!(!folder.path().join("sys/other").exists());
        for (form, what) in [
            (Form::CpuList, "`many` is no list of CPUs"),
            (Form::CpuMask, "`many` is no mask of CPUs"),
            (Form::Choice, "`many` is no choice"),
        ] {
            let error = settings.read(&Setting::file("/sys/setting", form)).unwrap_err();
            assert_eq!(error.to_string(), what);
        }
    }

    #[test]
    fn what_an_offline_cpu_has_is_not_gone() {
        let folder = tempfile::tempdir().unwrap();
        let cpu = folder.path().join("sys/devices/system/cpu/cpu1");
        fs::create_dir_all(&cpu).unwrap();
        let settings = LiveSettings::below(Source::below(folder.path()));
        let path = "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
        let governor = Setting::file(path, Form::Text);
        for (online, error) in
            [("1\n", SettingError::Gone), ("0\n", SettingError::Refused("CPU 1 is offline".into()))]
        {
            fs::write(cpu.join("online"), online).unwrap();
            assert_eq!(settings.read(&governor), Err(error.clone()));
            assert_eq!(settings.write(&governor, "performance"), Err(error));
        }
    }

    #[test]
    fn the_affinity_of_a_thread_is_read_and_one_that_ended_is_gone() {
        let settings = LiveSettings::below(Source::live());
        let thread = std::process::id();
        let began = began_at(&Source::live(), thread).unwrap();
        let own = |began| Setting::Affinity { thread, began, name: "test".into() };
        let before = settings.read(&own(began)).unwrap();
        assert!(!cpus(&before).unwrap().is_empty());
        settings.write(&own(began), &before).unwrap();
        assert_eq!(settings.read(&own(began)), Ok(before));
        assert_eq!(settings.read(&own(began + 1)), Err(SettingError::Gone));
    }

    proptest! {
        #[test]
        fn a_mask_names_the_same_cpus(numbers in prop::collection::vec(0..CPU_LIMIT, 0..20)) {
            let set: CpuSet = numbers.into_iter().filter_map(CpuId::new).collect();
            prop_assert_eq!(CpuList::from_mask(&mask(&set)).unwrap().0, set);
        }
    }
}
