//! A domain of Xen: made by `xl`, and ended whatever becomes of those who have it.
//!
//! A program of the shell keeps it. It has its input from the host alone: when that ends, in
//! whatever way, the input does, and the domain is destroyed. It makes the domain, too, so that
//! there is no instant at which nobody would end one.
//!
//! ```text
//! host ── input ──► keeper: xl create ─ "made NUMBER" ─ waits ─ end of input ─ xl destroy
//! ```
//!
//! `xl` waits without end for Xen's store where that has gone. The host looks before it asks, and
//! destroys a domain without `xl` where it must ([`quietcore_xen::destroy`]).
//!
//! A keeper may be killed. What is left then has a name of ours and of a process that is no more
//! ([`DomainName`]), and is swept ([`leftovers`](super::leftovers)) before the next domain is made.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_settings::ToolError;
use quietcore_units::{ByteSize, CpuSet};
use quietcore_xen::{DomainId, Store, StoreError};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};

use super::leftovers::{self, DomainName};
use super::xl::Xl;
use crate::process::on_one_line;

/// The keeper. Its name is `$0`; `xl` is `$1`, the configuration `$2`, the domain `$3`. A host that
/// is killed while the domain is made hears nothing any more, which must not end the keeper. A
/// store that was started anew knows no names, so the domain is destroyed by its number; its status
/// is 0 if that succeeded.
const KEEPER: &str = "\
    trap '' HUP INT TERM PIPE; \
    \"$1\" create -q -e -p \"$2\" >&2 </dev/null || exit 1; \
    number=$(\"$1\" domid \"$3\" </dev/null) || { \"$1\" destroy \"$3\" </dev/null; exit 1; }; \
    echo \"made $number\"; read -r _; \"$1\" destroy \"$number\" </dev/null >/dev/null 2>&1";
/// The keeper's answer when the domain is there, before its number.
const MADE: &str = "made ";
/// Longest time that `xl` takes to make a domain, on a machine that has much to do.
const CREATE_MAX: Duration = Duration::from_secs(120);
/// Longest time that `xl` takes to destroy a domain, on a machine that has much to do.
const DESTROY_MAX: Duration = Duration::from_secs(20);
/// Time between two looks whether it has, and how many there are for each at Xen's store.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS_PER_STORE: u32 = 50;
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
    /// `xl` would wait for Xen's store, which has gone.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// `xl` does not make it.
    #[error("`xl create` failed: {said}")]
    Refused {
        /// The words of `xl` on standard error, on one line.
        said: String,
    },
    /// `xl` does not do something else.
    #[error(transparent)]
    Xl(#[from] ToolError),
    /// `xl` makes none in time.
    #[error("`xl create` did not end within {} s", CREATE_MAX.as_secs())]
    Slow,
    /// Its processor may run on other CPUs than it was given.
    #[error("the domain's processor was to run on CPU {asked}, and Xen lets it run on {found}")]
    Affinity {
        /// CPUs that were asked for, as a list.
        asked: String,
        /// Xen's own words for those that it has.
        found: String,
    },
}

/// The parts that a domain is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// The size of its memory, which Xen counts in MiB.
    pub(super) memory: ByteSize,
    /// CPUs that each of its processors may run on; `None` where those are any.
    pub(super) processors: Vec<Option<CpuSet>>,
    pub(super) start: Image,
}

/// The files that a domain starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Image {
    /// A program of its own.
    Program(&'static [u8]),
    /// A kernel of Linux with the files that it starts from, and words for it.
    Linux { kernel: PathBuf, initramfs: PathBuf, words: &'static str },
}

/// A domain that waits for its first instruction, or runs. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Domain {
    keeper: Child,
    input: Option<ChildStdin>,
    /// Its number, once it is made.
    id: Option<DomainId>,
    /// CPUs that each of its processors may run on; `None` where those are any.
    processors: Vec<Option<CpuSet>>,
    affinity: Mutex<AffinityWatch>,
}

impl Domain {
    /// Makes a domain that waits for its first instruction.
    ///
    /// # Errors
    /// [`DomainError`]; then there is none.
    pub(super) fn create(name: &DomainName, machine: &Machine) -> Result<Self, DomainError> {
        let xl = Xl::find()?;
        Store::connect()?;
        leftovers::clear();
        let open = |path: &PathBuf| File::open(path).map_err(system("the guest's image"));
        // `xl` opens them by their numbers here, whatever their names are.
        let (image, files, words) = match &machine.start {
            Image::Program(bytes) => (memory_file("quietcore-image", bytes)?, None, ""),
            Image::Linux { kernel, initramfs, words } => {
                (open(kernel)?, Some(open(initramfs)?), *words)
            }
        };
        let files = files.as_ref().map(path);
        let files = files.as_deref().zip(Some(words));
        let pool = xl.pool_of(&machine.processors);
        let words = configuration(name, machine, pool.as_deref(), &path(&image), files);
        let words = memory_file("quietcore-domain", words.as_bytes())?;
        let mut keeper = Command::new("/bin/sh");
        keeper.args(["-c", KEEPER, "quietcore-domain", &xl.path, &path(&words), name.text()]);
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let keeper = keeper.process_group(0).spawn();
        let mut keeper = keeper.map_err(system("the shell"))?;
        let input = keeper.stdin.take();
        let answer = keeper.stdout.take().and_then(|pipe| first_line(pipe, CREATE_MAX));
        let number =
            answer.as_deref().and_then(|line| line.strip_prefix(MADE)?.trim().parse().ok());
        let (id, processors) = (number.map(DomainId), machine.processors.clone());
        let mut domain = Self { keeper, input, id, processors, affinity: Mutex::default() };
        match answer {
            Some(_) if domain.id.is_some() => Ok(domain),
            Some(_) => Err(DomainError::Refused { said: domain.last_words() }),
            None => {
                domain.end_keeper();
                leftovers::clear_unfinished(name);
                Err(DomainError::Slow)
            }
        }
    }

    pub(super) fn id(&self) -> DomainId {
        self.id.expect("a domain that was made has a number")
    }

    /// Returns what is not as it should be, while the domain runs; as a sentence.
    pub(super) fn drift(&self) -> Option<String> {
        if let Err(gone) = Store::connect() {
            return Some(format!(
                "{gone}; the domain goes on, and Xen starts no other one until it does"
            ));
        }
        let (id, processors) = (self.id?, &self.processors);
        let mut affinity = self.affinity.lock().unwrap_or_else(PoisonError::into_inner);
        affinity.look(|| {
            let processors = processors.clone();
            move |wanted| match Xl::find().ok()?.check_affinity_while(wanted, id, &processors) {
                Err(moved @ DomainError::Affinity { .. }) => Some(moved.to_string()),
                // It has just ended, or `xl` has no time; either is seen elsewhere.
                _ => None,
            }
        })
    }

    /// Ends the domain, and waits until it is gone. Where Xen's store has gone, or `xl` takes too
    /// long, it is destroyed without both.
    pub(super) fn end(&mut self) {
        self.input = None;
        let begun = Instant::now();
        for look in 0_u32.. {
            match self.keeper.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) if status.success() => return,
                // It could not destroy the domain, or was killed.
                Ok(Some(_)) | Err(_) => break,
            }
            let is_hopeless = look.is_multiple_of(LOOKS_PER_STORE) && Store::connect().is_err();
            if is_hopeless || begun.elapsed() > DESTROY_MAX {
                break;
            }
            thread::sleep(LOOK);
        }
        self.end_keeper();
        // There is nobody to be told; a later look at what is left will find it.
        let _ = self.id.map(quietcore_xen::destroy);
    }

    /// Kills the keeper, and `xl` with it, unless it has ended.
    fn end_keeper(&mut self) {
        if !matches!(self.keeper.try_wait(), Ok(None)) {
            return;
        }
        if let Some(group) = Pid::from_raw(self.keeper.id().cast_signed()) {
            // It fails only where nobody is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.keeper.wait();
    }

    /// Ends a keeper that has made no domain, and returns what it has said.
    fn last_words(&mut self) -> String {
        self.end();
        let pipe = self.keeper.stderr.take();
        let said = pipe.and_then(|pipe| io::read_to_string(pipe).ok()).unwrap_or_default();
        on_one_line(&said)
    }
}

/// Looks if a domain's processors are where they should be, by a thread that asks `xl`: Xen's store
/// may keep `xl` waiting, and the keeper of a partition looks at much else. `xl` and the thread end
/// with the watch.
#[derive(Debug, Default)]
struct AffinityWatch {
    asking: Option<JoinHandle<Option<String>>>,
    ends: Arc<AtomicBool>,
    /// The newest answer, which the next one replaces.
    found: Option<String>,
}

impl AffinityWatch {
    /// Returns the newest answer, and has a thread `ask` again if none is asking. `ask` gets the
    /// question whether its answer is wanted.
    fn look<A>(&mut self, ask: impl FnOnce() -> A) -> Option<String>
    where
        A: FnOnce(&dyn Fn() -> bool) -> Option<String> + Send + 'static,
    {
        if self.asking.as_ref().is_some_and(|asking| !asking.is_finished()) {
            return self.found.clone();
        }
        if let Some(Ok(found)) = self.asking.take().map(JoinHandle::join) {
            self.found = found;
        }
        let (ask, ends) = (ask(), Arc::clone(&self.ends));
        self.asking = Some(thread::spawn(move || ask(&|| !ends.load(Ordering::Relaxed))));
        self.found.clone()
    }
}

impl Drop for AffinityWatch {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // An answer after the domain's end is worth nothing.
        let _ = self.asking.take().map(JoinHandle::join);
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the configuration of a domain, as `xl.cfg(5)` has it. Its counter is the processor's,
/// and an end leaves it as it is, for its host to look at.
///
/// `pool` has the CPUs of its processors, where that isn't dom0's; `linux` are the files that a
/// kernel of Linux starts from, and its words.
fn configuration(
    name: &DomainName,
    machine: &Machine,
    pool: Option<&str>,
    image: &str,
    linux: Option<(&str, &str)>,
) -> String {
    let memory = machine.memory.get().div_ceil(MIB);
    let affinity = |cpus: &Option<CpuSet>| {
        cpus.map_or_else(|| "\"all\"".to_owned(), |cpus| format!("\"{cpus}\""))
    };
    let cpus: Vec<String> = machine.processors.iter().map(affinity).collect();
    let mut words = format!(
        "name = \"{}\"\ntype = \"pvh\"\nkernel = \"{image}\"\nmemory = {memory}\nvcpus = {}\n\
         cpus = [{}]\ntsc_mode = \"native\"\n",
        name.text(),
        cpus.len(),
        cpus.join(", ")
    );
    if let Some(pool) = pool {
        words += &format!("pool = \"{pool}\"\n");
    }
    if let Some((files, line)) = linux {
        words += &format!("ramdisk = \"{files}\"\ncmdline = \"{line}\"\n");
    }
    for end in ["poweroff", "reboot", "crash", "watchdog", "soft_reset"] {
        words += &format!("on_{end} = \"preserve\"\n");
    }
    words
}

/// Returns the first line that comes through a pipe; `None` if none comes for so long.
fn first_line(pipe: impl Read + Send + 'static, longest: Duration) -> Option<String> {
    let (to, from) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        // An error is the end of what is there. Nobody listens where it took too long.
        let _ = BufReader::new(pipe).read_line(&mut line);
        let _ = to.send(line);
    });
    from.recv_timeout(longest).ok()
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
pub(super) fn whole(memory: ByteSize) -> ByteSize {
    ByteSize::new(memory.get().next_multiple_of(MIB))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_has_the_partitions_memory_and_cpus() {
        let memory = ByteSize::new((16 << 20) + 1);
        let start = Image::Program(&[]);
        let machine = Machine { memory, processors: vec!["1,3".parse().ok()], start };
        let name = DomainName::of("axis");
        let words = configuration(&name, &machine, None, "/proc/7/fd/9", None);
        for line in ["kernel = \"/proc/7/fd/9\"", "memory = 17", "cpus = [\"1,3\"]", "vcpus = 1"] {
            assert!(words.lines().any(|it| it == line), "{line} in {words}");
        }
        assert!(!words.contains("ramdisk") && !words.contains("pool"), "{words}");
        assert_eq!(whole(memory), ByteSize::new(17 << 20));
        let processors = vec!["1".parse().ok(), None];
        let machine = Machine { processors, ..machine };
        let linux = Some(("/proc/7/fd/10", "quiet -- guest"));
        let words = configuration(&name, &machine, Some("own"), "k", linux);
        let expected = ["cpus = [\"1\", \"all\"]", "vcpus = 2", "ramdisk = \"/proc/7/fd/10\""];
        for line in expected.into_iter().chain(["cmdline = \"quiet -- guest\"", "pool = \"own\""]) {
            assert!(words.lines().any(|it| it == line), "{line} in {words}");
        }
    }

    /// Goal: whoever looks never waits, and sees each answer once it is there; the last question,
    /// which gets none, ends with the watch. Method: answers come through a channel, one when the
    /// test sends it.
    #[test]
    fn an_answer_is_asked_for_in_a_thread_and_not_waited_for() {
        let (answer, answers) = mpsc::channel::<Option<String>>();
        let answers = Arc::new(Mutex::new(answers));
        let ask = || {
            let answers = Arc::clone(&answers);
            move |wanted: &dyn Fn() -> bool| loop {
                match answers.lock().unwrap().recv_timeout(LOOK) {
                    Ok(answer) => return answer,
                    Err(_) if wanted() => {}
                    Err(_) => return None,
                }
            }
        };
        let mut watch = AffinityWatch::default();
        for _ in 0..3 {
            assert_eq!(watch.look(ask), None, "nothing is known yet");
        }
        let mut until = |expected: Option<&str>| {
            let end = Instant::now() + CREATE_MAX;
            while watch.look(ask).as_deref() != expected {
                assert!(Instant::now() < end, "never {expected:?}");
                thread::sleep(LOOK);
            }
        };
        answer.send(Some("moved".to_owned())).unwrap();
        until(Some("moved"));
        until(Some("moved"));
        answer.send(None).unwrap();
        until(None);
        assert_eq!(Arc::strong_count(&answers), 2, "a question stands");
        drop(watch);
        assert_eq!(Arc::strong_count(&answers), 1, "its thread has ended");
    }

    #[test]
    fn a_line_is_waited_for_and_not_for_ever() {
        let [line, end] = ["made 7\nmore\n", ""].map(|text| io::Cursor::new(text.to_owned()));
        assert_eq!(first_line(line, CREATE_MAX).as_deref(), Some("made 7\n"));
        assert_eq!(first_line(end, CREATE_MAX).as_deref(), Some(""));
        let (silent, _end) = io::pipe().unwrap();
        assert_eq!(first_line(silent, Duration::from_millis(20)), None);
    }
}
