//! The identity of a process: its number, and when it began, as numbers are used again. In a
//! container that has numbers of its own, also the namespace of these numbers.

use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::source::Source;

/// Flags of a task (Linux, `include/linux/sched.h`), the ninth field of its `stat`.
const KERNEL_THREAD: u64 = 0x0020_0000;
const IS_BOUND: u64 = 0x0400_0000;

/// The namespace of process numbers that the machine began with (Linux,
/// `include/linux/proc_ns.h`).
const FIRST_NAMESPACE: u64 = 0xEFFF_FFFC;
/// The same, as the link of a process says it.
pub const IN_FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// A process that can be told from a later one with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessName {
    /// Number of the process, in that namespace.
    pub process: u32,
    /// When it began, in the kernel's ticks since the machine did.
    pub began: u64,
    /// The namespace of its number; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
}

impl ProcessName {
    /// Returns the name of this process.
    pub fn own(source: &Source) -> Self {
        let process = std::process::id();
        let began = began_at(source, process).unwrap_or_default();
        Self { process, began, namespace: namespace_of(source, "self") }
    }

    /// Returns whether it still runs; one that can't be seen from here is assumed to.
    pub fn lives(&self, source: &Source) -> bool {
        let own = namespace_of(source, "self");
        match (self.namespace, own) {
            (Some(theirs), Some(own)) if theirs != own => {
                own != FIRST_NAMESPACE || self.lives_in(theirs, source)
            }
            _ => began_at(source, self.process) == Some(self.began),
        }
    }

    /// Returns whether it runs in another namespace; this process is in the first, which sees all.
    fn lives_in(&self, namespace: u64, source: &Source) -> bool {
        source.numbered("/proc", "").into_iter().any(|process| {
            namespace_of(source, &process.to_string()) == Some(namespace)
                && innermost_number(source, process) == Some(self.process)
                && began_at(source, process) == Some(self.began)
        })
    }
}

/// As it stands in names of files and in arguments: `4711-883721-4026531836`.
impl fmt::Display for ProcessName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.process, self.began)?;
        self.namespace.map_or(Ok(()), |namespace| write!(f, "-{namespace}"))
    }
}

impl FromStr for ProcessName {
    type Err = std::num::ParseIntError;

    /// Reads it. What earlier versions did not write is taken for a process that is gone where it
    /// is the time, and for one of this namespace where it is that.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut numbers = text.splitn(3, '-');
        Ok(Self {
            process: numbers.next().unwrap_or_default().parse()?,
            began: numbers.next().map_or(Ok(0), str::parse)?,
            namespace: numbers.next().map(str::parse).transpose()?,
        })
    }
}

/// The namespace of a process's number.
fn namespace_of(source: &Source, process: &str) -> Option<u64> {
    let link = source.link(&format!("/proc/{process}/ns/pid"))?;
    let text = std::str::from_utf8(link.as_os_str().as_bytes()).ok()?;
    text.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// The number that a process has in its own namespace.
fn innermost_number(source: &Source, process: u32) -> Option<u32> {
    let status = source.text(&format!("/proc/{process}/status"));
    let numbers = status.get()?.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().last()?.parse().ok()
}

/// When a process or a thread began, in the kernel's ticks. One that has ended and nobody has
/// waited for is gone, too.
pub fn began_at(source: &Source, process: u32) -> Option<u64> {
    ThreadFacts::read(source, process).map(|facts| facts.began)
}

/// The kernel's facts about a thread that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadFacts {
    /// Its name; that of a kernel thread may be longer than 15 bytes.
    pub name: String,
    /// `true` if it is one of the kernel's own.
    pub is_of_kernel: bool,
    /// `true` if the kernel keeps it on its CPUs.
    pub is_bound: bool,
    /// When it began, in the kernel's ticks since the machine did.
    pub began: u64,
}

impl ThreadFacts {
    /// Those of a thread's `stat`; `None` when it has ended.
    pub fn read(source: &Source, thread: u32) -> Option<Self> {
        let text = source.text(&format!("/proc/{thread}/stat"));
        // The second field is a name in parentheses, in which there may be anything.
        let (head, fields) = text.get()?.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        if matches!(*fields.first()?, "Z" | "X") {
            return None;
        }
        let flags: u64 = fields.get(6)?.parse().ok()?;
        Some(Self {
            name: name.to_owned(),
            is_of_kernel: flags & KERNEL_THREAD != 0,
            is_bound: flags & IS_BOUND != 0,
            began: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_that_has_ended_is_gone_before_somebody_waits_for_it() {
        let source = Source::live();
        assert!(ProcessName::own(&source).lives(&source));
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let began = began_at(&source, child.id()).unwrap();
        let name = ProcessName { process: child.id(), began, namespace: None };
        assert!(name.lives(&source));
        child.kill().unwrap();
        // Killing takes a moment.
        let gone = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            !name.lives(&source)
        });
        assert!(gone);
        child.wait().unwrap();
        assert!(!name.lives(&source));
    }

    /// Goal: a process in a container is not taken for gone because its number is no number here.
    #[test]
    fn a_process_with_numbers_of_its_own_is_found_by_those() {
        let source = Source::live();
        if namespace_of(&source, "self") != Some(FIRST_NAMESPACE) {
            quietcore_skip::skip!("this is a container; processes of others can't be seen");
            return;
        }
        let mut unshare = Command::new("unshare");
        unshare.args(["--pid", "--fork", "--kill-child", "cat"]).stdin(Stdio::piped());
        let mut child = unshare.stderr(Stdio::null()).spawn().unwrap();
        let inner = (0..1000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            source.numbered("/proc", "").into_iter().find(|process| {
                let parent = source.text(&format!("/proc/{process}/status"));
                let parent = parent.get().cloned().unwrap_or_default();
                parent.contains(&format!("PPid:\t{}\n", child.id()))
            })
        });
        let Some(inner) = inner else {
            quietcore_skip::skip!("there are no namespaces for this user");
            let _ = child.kill();
            child.wait().unwrap();
            return;
        };
        let name = ProcessName {
            process: 1,
            began: began_at(&source, inner).unwrap(),
            namespace: namespace_of(&source, &inner.to_string()),
        };
        assert_ne!(name.namespace, Some(FIRST_NAMESPACE));
        assert!(name.lives(&source));
        assert!(!ProcessName { process: 2, ..name }.lives(&source));
        assert!(!ProcessName { namespace: Some(1), ..name }.lives(&source));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!name.lives(&source));
    }
}
