//! A domain of Xen: made by `xl`, and ended whatever becomes of those who have it.
//!
//! A program of the shell keeps it. It has its input from the host alone: when that ends, in
//! whatever way, the input does, and the domain is destroyed. It makes the domain, too, so that
//! there is no instant at which nobody would end one.
//!
//! ```text
//! host ── input ──► keeper: xl create ─ "made" ─ waits ─ end of input ─ xl destroy
//! ```
//!
//! A keeper may be killed. What is left then has a name of ours and of a process that is no more
//! ([`DomainName`]), and is swept ([`leftovers`](super::leftovers)) before the next domain is made.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_host::Source;
use quietcore_host::facts::Virtualization;
use quietcore_units::{ByteSize, CpuSet};
use quietcore_xen::DomainId;
use rustix::fs::{MemfdFlags, memfd_create};

use super::XenSetting;
use super::leftovers::{self, DomainName};
use crate::process::on_one_line;

/// The keeper. Its name is `$0`; `xl` is `$1`, the configuration `$2`, the domain `$3`.
const KEEPER: &str = "\
    trap '' HUP INT TERM; \
    \"$1\" create -q -e -p \"$2\" >&2 </dev/null || exit 1; \
    echo made; read -r _; \"$1\" destroy \"$3\" </dev/null >/dev/null 2>&1";
/// The keeper's answer when the domain is there.
const MADE: &str = "made";
/// Longest time that `xl` takes to destroy a domain, on a machine that has much to do.
const DESTROY_MAX: Duration = Duration::from_secs(20);
/// Time between two looks whether it has.
const LOOK: Duration = Duration::from_millis(5);
/// The unit in which Xen counts the memory of a domain, in bytes.
const MIB: u64 = 1 << 20;

/// Why there is no domain.
#[derive(Debug, thiserror::Error)]
pub enum DomainError {
    /// The program is not installed.
    #[error("`xl` is not installed; see `quietcore doctor`")]
    NoXl,
    /// Something that it takes on the host can't be had.
    #[error("a domain of Xen can't be started ({what})")]
    System {
        /// The step that failed.
        what: &'static str,
        /// The error of the operating system.
        #[source]
        because: io::Error,
    },
    /// `xl` does not make it.
    #[error("`xl create` failed: {said}")]
    Refused {
        /// The words of `xl` on standard error, on one line.
        said: String,
    },
    /// Its processor may run on other CPUs than it was given.
    #[error("the domain's processor was to run on CPU {asked}, and Xen lets it run on {found}")]
    Affinity {
        /// CPUs that were asked for, as a list.
        asked: String,
        /// Xen's own words for those that it has.
        found: String,
    },
}

/// A domain that waits for its first instruction, or runs. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Domain {
    keeper: Child,
    input: Option<ChildStdin>,
    id: DomainId,
}

impl Domain {
    /// Makes a domain that waits for its first instruction.
    ///
    /// # Errors
    /// [`DomainError`]; then there is none.
    pub(super) fn create(
        name: &DomainName,
        setting: &XenSetting,
        image: &[u8],
    ) -> Result<Self, DomainError> {
        let xl = Xl::find()?;
        leftovers::clear();
        let image = memory_file("quietcore-image", image)?;
        let words = configuration(name, setting, &path(&image));
        let words = memory_file("quietcore-domain", words.as_bytes())?;
        let mut keeper = Command::new("/bin/sh");
        keeper.args(["-c", KEEPER, "quietcore-domain", &xl.path, &path(&words), name.text()]);
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let keeper = keeper.process_group(0).spawn();
        let mut keeper = keeper.map_err(system("the shell"))?;
        let input = keeper.stdin.take();
        let answer = keeper.stdout.take().map(|pipe| {
            let mut line = String::new();
            BufReader::new(pipe).read_line(&mut line).map(|_| line)
        });
        let mut domain = Self { keeper, input, id: DomainId(0) };
        if !matches!(answer, Some(Ok(line)) if line.trim() == MADE) {
            return Err(DomainError::Refused { said: domain.last_words() });
        }
        domain.id = xl.number(name)?;
        Ok(domain)
    }

    pub(super) fn id(&self) -> DomainId {
        self.id
    }

    /// Ends the domain, and waits until it is gone or that takes too long.
    pub(super) fn end(&mut self) {
        self.input = None;
        let begun = Instant::now();
        while matches!(self.keeper.try_wait(), Ok(None)) && begun.elapsed() < DESTROY_MAX {
            thread::sleep(LOOK);
        }
    }

    /// Returns what a keeper has said that ends.
    fn last_words(&mut self) -> String {
        let pipe = self.keeper.stderr.take();
        let said = pipe.and_then(|pipe| io::read_to_string(pipe).ok()).unwrap_or_default();
        on_one_line(&said)
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        self.end();
    }
}

/// The program `xl`.
#[derive(Debug)]
pub(super) struct Xl {
    path: String,
}

impl Xl {
    /// Finds the program in the path of programs.
    ///
    /// # Errors
    /// [`DomainError::NoXl`].
    pub(super) fn find() -> Result<Self, DomainError> {
        let path = Virtualization::find_xl(&Source::live()).get().cloned();
        Ok(Self { path: path.ok_or(DomainError::NoXl)? })
    }

    /// Lets a domain begin.
    ///
    /// # Errors
    /// [`DomainError`].
    pub(super) fn unpause(&self, domain: DomainId) -> Result<(), DomainError> {
        self.run(&["unpause", &domain.0.to_string()]).map(drop)
    }

    /// Checks that the processor of a domain runs on these CPUs and no others.
    ///
    /// # Errors
    /// [`DomainError`].
    pub(super) fn check_affinity(
        &self,
        domain: DomainId,
        asked: &CpuSet,
    ) -> Result<(), DomainError> {
        let list = self.run(&["vcpu-list", &domain.0.to_string()])?;
        let found = hard_affinity(&list).unwrap_or("what it does not say");
        if found.parse() == Ok(*asked) {
            return Ok(());
        }
        Err(DomainError::Affinity { asked: asked.to_string(), found: found.to_owned() })
    }

    /// Returns how a domain has ended, in words; `None` while it has not.
    pub(super) fn has_ended(&self, domain: DomainId) -> Option<String> {
        match self.run(&["list", &domain.0.to_string()]) {
            Ok(list) => ended_state(&list).map(str::to_owned),
            Err(_) => Some("it is gone".to_owned()),
        }
    }

    fn number(&self, name: &DomainName) -> Result<DomainId, DomainError> {
        let said = self.run(&["domid", name.text()])?;
        said.trim().parse().map(DomainId).map_err(|_| DomainError::Refused { said })
    }

    /// Destroys a domain at once, whatever it does; its keys in the store go with it.
    ///
    /// # Errors
    /// [`DomainError`], also when there is none.
    pub(super) fn destroy(&self, domain: DomainId) -> Result<(), DomainError> {
        self.run(&["destroy", &domain.0.to_string()]).map(drop)
    }

    /// Returns `true` if Xen knows the domain.
    pub(super) fn knows(&self, domain: DomainId) -> bool {
        self.run(&["list", &domain.0.to_string()]).is_ok()
    }

    fn run(&self, arguments: &[&str]) -> Result<String, DomainError> {
        let output = Command::new(&self.path).args(arguments).stdin(Stdio::null()).output();
        let output = output.map_err(system("xl"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = on_one_line(&String::from_utf8_lossy(&output.stderr));
        Err(DomainError::Refused { said })
    }
}

/// Returns the configuration of a domain, as `xl.cfg(5)` has it. Its counter is the processor's,
/// and an end leaves it as it is, for its host to look at.
fn configuration(name: &DomainName, setting: &XenSetting, image: &str) -> String {
    let memory = setting.memory.get().div_ceil(MIB);
    let cpus = setting.cpus.map_or_else(|| "all".to_owned(), |cpus| cpus.to_string());
    let mut words = format!(
        "name = \"{}\"\ntype = \"pvh\"\nkernel = \"{image}\"\nmemory = {memory}\nvcpus = 1\n\
         cpus = \"{cpus}\"\ntsc_mode = \"native\"\n",
        name.text()
    );
    for end in ["poweroff", "reboot", "crash", "watchdog", "soft_reset"] {
        words += &format!("on_{end} = \"preserve\"\n");
    }
    words
}

/// Returns the CPUs that the first processor may run on, of a list with a line of titles: name,
/// number, processor, CPU, state, time, CPUs, `/` …
fn hard_affinity(list: &str) -> Option<&str> {
    list.lines().nth(1)?.split_whitespace().nth(6)
}

/// Returns the state of the domain in a list with a line of titles, if it has ended: name, number,
/// memory, processors, state; `-` for each that it is not of running, blocked, paused, shut down,
/// crashed, dying.
fn ended_state(list: &str) -> Option<&'static str> {
    let state = list.lines().nth(1)?.split_whitespace().nth(4)?;
    let is = |letter: char| state.contains(letter);
    match () {
        () if is('c') => Some("it crashed"),
        () if is('s') => Some("it shut down"),
        () if is('d') => Some("it is dying"),
        () => None,
    }
}

fn memory_file(name: &str, bytes: &[u8]) -> Result<File, DomainError> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC);
    let mut file = File::from(file.map_err(|errno| system("a memory file")(errno.into()))?);
    file.write_all(bytes).map_err(system("a memory file"))?;
    Ok(file)
}

/// Returns the path of an open file of this process for other processes.
fn path(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

fn system(what: &'static str) -> impl Fn(io::Error) -> DomainError {
    move |because| DomainError::System { what, because }
}

/// Returns the size of a domain's memory as the domain has it: whole MiB.
pub(super) fn memory_of(setting: &XenSetting) -> ByteSize {
    ByteSize::new(setting.memory.get().next_multiple_of(MIB))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_has_the_partitions_memory_and_cpus() {
        let memory = ByteSize::new((16 << 20) + 1);
        let setting = XenSetting { memory, cpus: "1,3".parse().ok() };
        let words = configuration(&DomainName::of("axis"), &setting, "/proc/7/fd/9");
        for line in ["kernel = \"/proc/7/fd/9\"", "memory = 17", "cpus = \"1,3\"", "vcpus = 1"] {
            assert!(words.lines().any(|it| it == line), "{line} in {words}");
        }
        assert_eq!(memory_of(&setting), ByteSize::new(17 << 20));
        let words =
            configuration(&DomainName::of("axis"), &XenSetting { cpus: None, ..setting }, "");
        assert!(words.contains("cpus = \"all\""), "{words}");
    }

    /// The lists are those of Xen 4.17 in the lab.
    #[test]
    fn lists_of_xl_are_read() {
        let list = "Name                                ID  VCPU   CPU State   Time(s) Affinity\n\
                    quietcore.7.axis                     1     0    1   ---       0.0  1 / all\n";
        assert_eq!(hard_affinity(list), Some("1"));
        assert_eq!(hard_affinity("nonsense"), None);
        let list = |state: &str| {
            format!("Name    ID   Mem VCPUs\tState\tTime(s)\nquietcore.7.axis 1 16 1 {state} 0.0\n")
        };
        let ended = |state: &str| ended_state(&list(state));
        assert_eq!([ended("r-----"), ended("--p---"), ended("------")], [None; 3]);
        assert_eq!(ended("---s--"), Some("it shut down"));
        assert_eq!(ended("---sc-"), Some("it crashed"));
        assert_eq!(ended("---s-d"), Some("it shut down"));
        assert_eq!(ended_state(""), None);
    }
}
