//! Takes rights from a process before its guest runs, so that a break-out from the guest gains
//! little.
//!
//! ```text
//! open everything ─► enclose ─► threads: pin, policy ─► give_up ─► seal ─► resume the guest
//!                    │           (each its own)          │          └ seccomp filter of the thread
//!                    │                                   └ capabilities of the thread
//!                    └ namespaces, an empty root: once, while there is one thread
//! ```
//!
//! | step | what is gone then | may be refused where |
//! |---|---|---|
//! | namespaces | the host's mounts, network, IPC objects, host name, cgroup tree | no root, and no namespaces for users |
//! | root | every file: the root is an empty, read-only tmpfs | the step before was |
//! | capabilities | all rights of root, for good | never |
//! | filter | every system call but those of the thread's list ([`Calls`]) | no seccomp |
//!
//! A PID namespace is not among them: a process that has asked for one can start no threads any
//! more. No thread of the guest may signal another process, because its filter does not let it.
//!
//! A step that the system refuses is reported ([`Report`]), and is an error only for a caller that
//! asks for all of them.
//!
//! A sealed process dies plainly: a fault of its own ends it by the signal of that fault, and a
//! panic writes its message and nothing else. Rust's own handlers of both make system calls that
//! are on no list, so that the end would be told as a violation.
// UNSAFETY: takes namespaces, which the libraries leave to us.
#![expect(unsafe_code, reason = "unshare can part a thread from its files; it does not here")]

mod calls;
mod faults;

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, mount_remount, unmount,
};
use rustix::process::{chdir, chroot, getgid, getuid, pivot_root};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, unshare_unsafe,
};

pub use calls::{Calls, Violation};

/// Folders on which an empty file system may be mounted, of which each system has one.
const PLACES: [&str; 4] = ["/tmp", "/proc", "/run", "/dev"];

/// Why a thread can't be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The filter can't be made: a list that is too long.
    #[error("the list of system calls can't be made a filter")]
    Filter(#[from] seccompiler::BackendError),
    /// The kernel refuses it. The library's errors repeat their cause, so the text has them, and
    /// the chain does not.
    #[error("the kernel refuses a seccomp filter: {0}")]
    Seccomp(seccompiler::Error),
    /// Rights can't be given up.
    #[error("the rights of a thread can't be given up: {0}")]
    Rights(io::Error),
    /// Steps that were asked for were refused.
    #[error("the sandbox is not whole: {0}")]
    Missing(String),
}

impl From<SandboxError> for io::Error {
    fn from(error: SandboxError) -> Self {
        Self::other(error)
    }
}

/// One step, and what came of it.
#[derive(Debug)]
pub struct Step {
    /// The right or resource.
    pub what: &'static str,
    /// The change that takes it away.
    pub done: &'static str,
    /// Why it is not done.
    pub refused: Option<io::Error>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, done, refused } = self;
        match refused {
            None => write!(f, "{what} {done}"),
            Some(because) => write!(f, "{what} not {done} ({because})"),
        }
    }
}

/// The results of the steps of [`enclose`].
#[derive(Debug, Default)]
pub struct Report {
    steps: Vec<Step>,
}

impl Report {
    /// The steps, in their order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns `true` if no step was refused.
    pub fn is_whole(&self) -> bool {
        self.steps.iter().all(|step| step.refused.is_none())
    }

    /// An error that names the steps that were refused, if any was.
    ///
    /// # Errors
    /// [`SandboxError::Missing`].
    pub fn require_all(self) -> Result<(), SandboxError> {
        let refused = self.steps.iter().filter(|step| step.refused.is_some());
        let missing: Vec<String> = refused.map(Step::to_string).collect();
        if missing.is_empty() { Ok(()) } else { Err(SandboxError::Missing(missing.join("; "))) }
    }

    fn add(&mut self, what: &'static str, done: &'static str, result: io::Result<()>) {
        self.steps.push(Step { what, done, refused: result.err() });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{step}")?;
        }
        Ok(())
    }
}

/// Gives up the host's namespaces and files, for this thread and those that it starts from now on:
/// call it while there is no other. What is open stays open.
///
/// A user who is not root gets a namespace for users first, in which it may do the rest. It is not
/// taken by who may schedule in real time by a capability (`CAP_SYS_NICE`), which would be lost.
pub fn enclose() -> Report {
    let mut report = Report::default();
    let names = (getuid().as_raw(), getgid().as_raw());
    let taken = take_namespaces();
    let root = match &taken {
        // The user is to have a name before it owns files.
        Ok(Namespaces::OfUser) => {
            report.add("namespaces", "given up", Ok(()));
            report.add("a user in them", "named", name_user(names));
            leave_root()
        }
        Ok(Namespaces::OfRoot) => {
            report.add("namespaces", "given up", Ok(()));
            leave_root()
        }
        Err(_) => Err(io::ErrorKind::PermissionDenied.into()),
    };
    if let Err(error) = taken {
        report.add("namespaces", "given up", Err(error));
    }
    report.add("files", "given up", root);
    report
}

/// Whose namespaces a process has taken.
enum Namespaces {
    OfRoot,
    /// With one for users, in which this one is to be named.
    OfUser,
}

fn take_namespaces() -> io::Result<Namespaces> {
    let rights = capabilities(None)?.effective;
    let wanted = UnshareFlags::NEWNS
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if rights.contains(CapabilitySet::SYS_ADMIN) {
        // SAFETY: open files stay common to all threads.
        unsafe { unshare_unsafe(wanted) }?;
        return Ok(Namespaces::OfRoot);
    }
    if rights.contains(CapabilitySet::SYS_NICE) {
        let text = "a namespace for users would cost the right to real-time priority";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    await_last_thread();
    // SAFETY: open files stay common to all threads.
    unsafe { unshare_unsafe(wanted | UnshareFlags::NEWUSER) }?;
    Ok(Namespaces::OfUser)
}

/// Waits until this thread is the only one: the kernel counts one that was joined for a moment
/// longer, and gives a namespace for users to the last one only.
fn await_last_thread() {
    for _ in 0..100 {
        if fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Names the user and the group in their namespace: without that they own no file. As whom the
/// process began is to be asked before: inside they have no number yet.
fn name_user((user, group): (u32, u32)) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Makes an empty file system the root, and forgets the old one.
fn leave_root() -> io::Result<()> {
    // Nothing of what follows reaches the namespace that this one was copied from.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let place = PLACES.iter().find(|place| Path::new(place).is_dir());
    let place = *place.ok_or(io::ErrorKind::NotFound)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("none", place, "tmpfs", flags, c"size=4k,nr_inodes=2,mode=0555")?;
    chdir(place)?;
    match pivot_root(".", ".") {
        Ok(()) => unmount(".", UnmountFlags::DETACH)?,
        // A root that is the kernel's first file system can't be left so.
        Err(_) => chroot(".")?,
    }
    chdir("/")?;
    Ok(mount_remount("/", flags | MountFlags::RDONLY, c"")?)
}

/// Gives up all capabilities of the calling thread, for good. After pinning and policy.
///
/// # Errors
/// [`SandboxError::Rights`].
pub fn give_up() -> Result<(), SandboxError> {
    give_up_but(CapabilitySet::empty())
}

/// Gives up all capabilities of the calling thread but these, as far as it has them: a thread that
/// takes new memory in a process whose memory is locked needs `IPC_LOCK` for it.
///
/// # Errors
/// [`SandboxError::Rights`].
pub fn give_up_but(kept: CapabilitySet) -> Result<(), SandboxError> {
    let told = |errno: rustix::io::Errno| SandboxError::Rights(errno.into());
    set_no_new_privs(true).map_err(told)?;
    // Who has none of it may not change these two, and need not.
    for one in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(one);
    }
    let _ = clear_ambient_capability_set();
    let kept =
        if kept.is_empty() { kept } else { kept & capabilities(None).map_err(told)?.effective };
    let inheritable = CapabilitySet::empty();
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable };
    set_capabilities(None, sets).map_err(told)
}

/// Lets the calling thread make these system calls from now on, and no others. The last step. The
/// first thread that is sealed has the process die plainly from then on.
///
/// # Errors
/// [`SandboxError`].
pub fn seal(calls: &Calls, violation: Violation) -> Result<(), SandboxError> {
    faults::die_plainly();
    seccompiler::apply_filter(&calls.filter(violation)?).map_err(SandboxError::Seccomp)
}
