//! The way into the sandbox, between `fork` and `exec`: system calls alone, on what was prepared.
//!
//! ```text
//! namespaces ─► user named ─► fork ┬─► keeper: waits
//!                                  └─► trees copied ─► new root ─► /proc ─► old root gone
//!                                        ─► fork ┬─► process 1: waits
//!                                                └─► another user ─► no rights ─► limits ─► exec
//! ```
//!
//! Process 1 ends with the keeper, and all others with process 1. It is none that the program can
//! reach: a program that were it itself could tell the kernel to let it live on.
//!
//! `/proc` is mounted while the old one is still there: the kernel shows a user no more of it than
//! the user saw before. The number of a refused step travels in the error's number, above those
//! that the kernel uses.
// UNSAFETY: changes what belongs to a process as a whole, in a process that has one thread.

use std::ffi::{CStr, CString, NulError};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, mount_remount, move_mount, open_tree, unmount,
};
use rustix::process::{
    Resource, Rlimit, Signal, chdir, chroot, getegid, geteuid, pivot_root,
    set_parent_process_death_signal, setpriority_process, setrlimit, umask,
};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, UnshareFlags, capabilities,
    clear_ambient_capability_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
    unshare_unsafe,
};

use crate::{Limits, keeper};

/// The user and group that programs of root's sandboxes have; nobody else uses the number.
const STRANGER: libc::uid_t = 65_533;

/// The folder on which the new root is put together.
const PLACE: &CStr = c"/tmp";

/// Numbers of errors of the kernel are below.
const STEP_FACTOR: i32 = 1 << 12;

/// The politeness of a program in the sandbox, as of `nice`.
const NICE: i32 = 10;

/// Open files of a process.
const FILE_COUNT_MAX: u64 = 256;

/// A step on the way into the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Namespaces = 1,
    User,
    Process,
    Copies,
    Root,
    Mounts,
    Proc,
    Leave,
    Rights,
    Limits,
    Folder,
}

impl Step {
    const ALL: [Self; 11] = [
        Self::Namespaces,
        Self::User,
        Self::Process,
        Self::Copies,
        Self::Root,
        Self::Mounts,
        Self::Proc,
        Self::Leave,
        Self::Rights,
        Self::Limits,
        Self::Folder,
    ];

    pub(crate) const fn told(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces are taken",
            Self::User => "the user is named in them",
            Self::Process => "a process is made in them",
            Self::Copies => "folders of the system are copied into them",
            Self::Root => "a root of its own is made",
            Self::Mounts => "folders are shown in it",
            Self::Proc => "its own `/proc` is mounted",
            Self::Leave => "the machine's root is left",
            Self::Rights => "rights are given up",
            Self::Limits => "limits are set",
            Self::Folder => "its folder is entered",
        }
    }

    pub(crate) const fn remedy(self) -> &'static str {
        match self {
            Self::Namespaces | Self::User | Self::Process => {
                "run as root, or let users have namespaces \
                 (`sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000`)"
            }
            Self::Proc => {
                "a container that hides parts of `/proc` can't have it; run outside of it"
            }
            Self::Copies | Self::Root | Self::Mounts | Self::Leave => {
                "run outside of a container, or in one that may mount; Linux 5.12 is the oldest"
            }
            Self::Rights | Self::Limits => "run as root, or as a user without such limits",
            Self::Folder => "make the folder readable",
        }
    }
}

/// Returns the refused step that an error of `spawn` holds.
pub(crate) fn refused(error: &io::Error) -> Option<(Step, io::Error)> {
    let number = error.raw_os_error()?;
    let step = Step::ALL.into_iter().find(|step| *step as i32 == number / STEP_FACTOR)?;
    Some((step, io::Error::from_raw_os_error(number % STEP_FACTOR)))
}

fn at<T>(step: Step, result: Result<T, Errno>) -> io::Result<T> {
    result.map_err(|errno| {
        io::Error::from_raw_os_error(step as i32 * STEP_FACTOR + errno.raw_os_error())
    })
}

/// A file, folder or link that is shown in the sandbox.
struct Shown {
    /// The path on the machine, or the target of a link.
    source: CString,
    /// The folders above it in the new root, the outermost first, then its own place.
    places: Vec<CString>,
    kind: ShownKind,
    tree: Option<OwnedFd>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ShownKind {
    Folder,
    File,
    Link,
}

/// Everything that the new process needs on its way, prepared before it exists.
pub(crate) struct Entry {
    shown: Vec<Shown>,
    limits: Limits,
    folder: CString,
    /// Options of the file systems in memory for results and passing files.
    memory: CString,
    /// The user's and the group's line in a namespace for users.
    names: [CString; 2],
    has_rights: bool,
    result: Option<File>,
}

impl Entry {
    pub(crate) fn new(limits: Limits, folder: &CStr) -> Result<Self, NulError> {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        let line = |number: u32| CString::new(format!("{number} {number} 1"));
        let rights = capabilities(None).map(|sets| sets.effective);
        Ok(Self {
            shown: Vec::new(),
            limits,
            folder: folder.to_owned(),
            memory: CString::new(format!("size={},nr_inodes=4096,mode=1777", limits.output_bytes))?,
            names: [line(user)?, line(group)?],
            has_rights: rights.is_ok_and(|rights| rights.contains(CapabilitySet::SYS_ADMIN)),
            result: None,
        })
    }

    /// Shows a file or folder of the machine at its own path.
    pub(crate) fn show(&mut self, path: &CStr, is_folder: bool) -> Result<(), NulError> {
        let kind = if is_folder { ShownKind::Folder } else { ShownKind::File };
        self.add(path, path, kind)
    }

    /// Makes a link as the machine has it.
    pub(crate) fn link(&mut self, target: &CStr, path: &CStr) -> Result<(), NulError> {
        self.add(target, path, ShownKind::Link)
    }

    fn add(&mut self, source: &CStr, path: &CStr, kind: ShownKind) -> Result<(), NulError> {
        let mut places = Vec::new();
        let bytes = path.to_bytes();
        let ends = (1..bytes.len()).filter(|end| bytes[*end] == b'/').chain([bytes.len()]);
        for end in ends {
            places.push(CString::new([PLACE.to_bytes(), &bytes[..end]].concat())?);
        }
        self.shown.push(Shown { source: source.to_owned(), places, kind, tree: None });
        Ok(())
    }

    /// Has the keeper copy the result into this file.
    pub(crate) fn take_result(&mut self, file: File) {
        self.result = Some(file);
    }

    /// Enters the sandbox: returns in the process that is to become the program.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        be_modest();
        let mut wanted = UnshareFlags::NEWNS
            | UnshareFlags::NEWNET
            | UnshareFlags::NEWIPC
            | UnshareFlags::NEWUTS
            | UnshareFlags::NEWCGROUP
            | UnshareFlags::NEWPID;
        if !self.has_rights {
            wanted |= UnshareFlags::NEWUSER;
        }
        // SAFETY: this process has one thread and shares nothing with another by these flags.
        at(Step::Namespaces, unsafe { unshare_unsafe(wanted) })?;
        if !self.has_rights {
            at(Step::User, self.name_user())?;
        }
        // The keeper ends with the thread that waits for it, and the program with the keeper.
        at(Step::Process, set_parent_process_death_signal(Some(Signal::KILL)))?;
        // SAFETY: one thread; the keeper calls nothing but the system.
        match unsafe { libc::fork() } {
            -1 => at(Step::Process, Err(last_errno()))?,
            0 => {}
            program => keeper::keep(program, self.result.as_ref(), self.limits.output_bytes),
        }
        self.make_root()?;
        at(Step::Process, set_parent_process_death_signal(Some(Signal::KILL)))?;
        // SAFETY: one thread; process 1 calls nothing but the system.
        match unsafe { libc::fork() } {
            -1 => at(Step::Process, Err(last_errno()))?,
            0 => {}
            program => keeper::keep(program, None, 0),
        }
        at(Step::Rights, self.give_up_rights())?;
        at(Step::Limits, self.set_limits())?;
        at(Step::Folder, chdir(self.folder.as_c_str()))
    }

    fn name_user(&self) -> Result<(), Errno> {
        write(c"/proc/self/setgroups", b"deny")?;
        write(c"/proc/self/uid_map", self.names[0].to_bytes())?;
        write(c"/proc/self/gid_map", self.names[1].to_bytes())
    }

    fn make_root(&mut self) -> io::Result<()> {
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        at(Step::Root, mount_change(c"/", private))?;
        // They are copied first: the new root may cover them.
        for shown in self.shown.iter_mut().filter(|shown| shown.kind != ShownKind::Link) {
            shown.tree = Some(at(Step::Copies, copy_read_only(&shown.source))?);
        }
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let of_root = c"size=1m,nr_inodes=4096,mode=0755";
        at(Step::Root, mount(c"none", PLACE, c"tmpfs", flags, of_root))?;
        for place in [c"/tmp/out", c"/tmp/tmp"] {
            at(Step::Mounts, make_folder(place))?;
            let memory = self.memory.as_c_str();
            let flags = flags | MountFlags::NOEXEC;
            at(Step::Mounts, mount(c"none", place, c"tmpfs", flags, memory))?;
        }
        // What is shown may lie below `/tmp`.
        for shown in &mut self.shown {
            at(Step::Mounts, shown.mount())?;
        }
        at(Step::Proc, make_folder(c"/tmp/proc"))?;
        let flags = flags | MountFlags::NOEXEC;
        // Processes alone: the rest of it is the machine's.
        at(Step::Proc, mount(c"proc", c"/tmp/proc", c"proc", flags, c"subset=pid"))?;
        at(Step::Leave, leave_root())
    }

    fn give_up_rights(&self) -> Result<(), Errno> {
        if self.has_rights {
            // SAFETY: no memory is passed; this process has one thread.
            call(unsafe { libc::syscall(libc::SYS_setgroups, 0, 0) })?;
            // SAFETY: as above.
            call(unsafe { libc::syscall(libc::SYS_setresgid, STRANGER, STRANGER, STRANGER) })?;
            // SAFETY: as above.
            call(unsafe { libc::syscall(libc::SYS_setresuid, STRANGER, STRANGER, STRANGER) })?;
        }
        if !self.has_rights {
            // The user of this namespace may be its root, who would get all rights by `exec`.
            set_capabilities_secure_bits(CapabilitiesSecureBits::NO_ROOT)?;
        }
        clear_ambient_capability_set()?;
        let none = CapabilitySet::empty();
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, sets)?;
        set_no_new_privs(true)?;
        // A change of user forgets it, so it comes last.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // SAFETY: closes no file now; what else is open ends with this program.
        call(unsafe {
            libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
        })
    }

    fn set_limits(&self) -> Result<(), Errno> {
        let Limits { memory_bytes, output_bytes, process_count, processor_s } = self.limits;
        for (resource, value) in [
            (Resource::As, memory_bytes),
            (Resource::Fsize, output_bytes),
            (Resource::Nproc, process_count),
            (Resource::Cpu, processor_s),
            (Resource::Nofile, FILE_COUNT_MAX),
            (Resource::Core, 0),
        ] {
            setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })?;
        }
        Ok(())
    }
}

impl Shown {
    fn mount(&mut self) -> Result<(), Errno> {
        let Some((place, above)) = self.places.split_last() else { return Ok(()) };
        for folder in above {
            make_folder(folder)?;
        }
        match self.kind {
            ShownKind::Link => return symlinkat(self.source.as_c_str(), CWD, place.as_c_str()),
            ShownKind::Folder => make_folder(place)?,
            ShownKind::File => {
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
                drop(openat(CWD, place.as_c_str(), flags, Mode::from_raw_mode(0o444))?);
            }
        }
        let Some(tree) = self.tree.take() else { return Ok(()) };
        move_mount(&tree, c"", CWD, place.as_c_str(), MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    }
}

/// Lets everybody else go first, and be spared when memory ends; neither is a matter of safety.
/// What is made from here on can be read by the program, whatever mask its caller has.
fn be_modest() {
    umask(Mode::from_raw_mode(0o022));
    let _ = setpriority_process(None, NICE);
    let _ = write(c"/proc/self/oom_score_adj", b"1000");
}

/// Copies a file or folder with all that is mounted below it as a tree of its own, read-only.
fn copy_read_only(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(CWD, path, flags)?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is empty and ends in zero, and the structure is of the size that is given.
    call(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(tree)
}

/// Makes the place the root, and forgets the old one.
fn leave_root() -> Result<(), Errno> {
    chdir(PLACE)?;
    match pivot_root(c".", c".") {
        Ok(()) => unmount(c".", UnmountFlags::DETACH)?,
        // A root that is the kernel's first file system can't be left so.
        Err(_) => chroot(c".")?,
    }
    chdir(c"/")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
    mount_remount(c"/", flags, c"")
}

fn make_folder(path: &CStr) -> Result<(), Errno> {
    match mkdirat(CWD, path, Mode::from_raw_mode(0o755)) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

fn write(path: &CStr, content: &[u8]) -> Result<(), Errno> {
    let file = openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, content).map(|_| ())
}

fn call(result: libc::c_long) -> Result<(), Errno> {
    if result == -1 { Err(last_errno()) } else { Ok(()) }
}

fn last_errno() -> Errno {
    let error = io::Error::last_os_error();
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
